# SPDX-License-Identifier: BSD-3-Clause
# The sanitizers of gcc: addresses and undefined behaviour in the unit tests and in the whole command, as its
# scripts call it; data races in the unit tests. The library that is preloaded cannot bring a sanitizer along.
. .ci/lib.sh

build_with() { # SANITIZERS FOLDER
    mkdir -p "$2" && cd "$2" || return
    "$top/configure" -q --enable-sanitizer="$1" CFLAGS='-O1 -g' && make -s -j"$n_jobs" all &&
        make -s -j"$n_jobs" check TESTS=
}

# Those that need no job.
command_scripts=
for script in tools/command tools/config tools/model report/golden report/report; do
    command_scripts="$command_scripts tests/$script.test"
done

[ -x configure ] || check 'autogen.sh' ./autogen.sh
for sanitizers in address,undefined thread; do
    folder=$work/san-$sanitizers
    check "build with -fsanitize=$sanitizers" build_with $sanitizers "$folder" || continue
    unit_tests "$folder" "with -fsanitize=$sanitizers"
    # A call that is refused ends with what it has allocated.
    [ $sanitizers = thread ] ||
        ASAN_OPTIONS=detect_leaks=0 run_tests "$folder" "of the command with -fsanitize=$sanitizers" "$command_scripts"
done
closing
