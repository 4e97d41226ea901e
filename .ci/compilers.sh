# SPDX-License-Identifier: BSD-3-Clause
# The library, the command and the test programs without a warning, by gcc and by clang, optimised
# and not: which warnings a compiler gives depends on what its optimiser has seen.
. .ci/common.sh

need clang clang libclang-rt-14-dev

build_without_warnings() { # FOLDER CC CFLAGS
    mkdir -p "$work/$1" && cd "$work/$1" || return
    "$top/configure" -q --enable-werror CC="$2" CFLAGS="$3" &&
        building make -s -j"$n_jobs" all &&
        building make -s -j"$n_jobs" check TESTS=
}

[ -x configure ] || check 'autogen.sh' ./autogen.sh
check 'gcc -O2 gives no warning' build_without_warnings gcc gcc '-O2 -g'
check 'clang -O2 gives no warning' build_without_warnings clang clang '-O2 -g'
check 'gcc -O0 gives no warning' build_without_warnings gcc-O0 gcc '-O0 -g'
closing
