# SPDX-License-Identifier: BSD-3-Clause
# The unit tests with the sanitizers of gcc: addresses and undefined behaviour, then data races.
. .ci/lib.sh

build_with() { # SANITIZERS FOLDER
    mkdir -p "$2" && cd "$2" || return
    "$top/configure" -q --enable-sanitizer="$1" CFLAGS='-O1 -g' && make -s -j"$n_jobs" all &&
        make -s -j"$n_jobs" check TESTS=
}

[ -x configure ] || check 'autogen.sh' ./autogen.sh
for sanitizers in address,undefined thread; do
    check "build with -fsanitize=$sanitizers" build_with $sanitizers "$work/san-$sanitizers" &&
        unit_tests "$work/san-$sanitizers" "with -fsanitize=$sanitizers"
done
closing
