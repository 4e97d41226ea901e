#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The library, the command and the test programs without a warning, by gcc and by clang.
. .ci/common.sh

need clang clang libclang-rt-14-dev

# With the build of the step check, as users do, if there is one.
gcc_gives_no_warning() {
    if [ ! -f "$top/build/quickstart.check" ]; then
        build_in "$work/gcc" CC=gcc CFLAGS='-O2 -g'
        return
    fi
    sed -n '/^==> make -j[0-9]*$/,/^==> make install/p; /^==> make check: build/,/^==> make -j[0-9]* check-all$/p' \
        "$top/build/quickstart.log" >"$work/gcc-O2.log"
    grep -q ' CC ' "$work/gcc-O2.log" && ! grep -n 'warning:' "$work/gcc-O2.log"
}

[ -x configure ] || check 'autogen.sh' ./autogen.sh
check 'gcc -O2 gives no warning' gcc_gives_no_warning
check 'clang -O2 gives no warning' build_in "$work/clang" CC=clang CFLAGS='-O2 -g'
closing
