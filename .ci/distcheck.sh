# SPDX-License-Identifier: BSD-3-Clause
# The tarball: builds, passes the tests, installs and uninstalls from a read-only source folder, and
# leaves nothing behind.
. .ci/lib.sh

distcheck() {
    mkdir -p "$work/dist" && cd "$work/dist" || return
    [ -f Makefile ] || "$top/configure" -q || return
    make -j"$n_jobs" distcheck
}

[ -x configure ] || check 'autogen.sh' ./autogen.sh
check 'make distcheck' distcheck
closing
