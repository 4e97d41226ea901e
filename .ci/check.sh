# SPDX-License-Identifier: BSD-3-Clause
# What every user can do: ./quickstart.sh check, which ends in the totals of make check.
. .ci/lib.sh

# LLVM's libunwind stands where quickstart.sh, which removes nothing, would put the walker's oracle.
if command -v apt-get >/dev/null && ! pkg-config --exists libunwind 2>/dev/null; then
    need no-such-program libunwind-dev
fi
exec ./quickstart.sh check
