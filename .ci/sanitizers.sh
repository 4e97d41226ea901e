# SPDX-License-Identifier: BSD-3-Clause
# The sanitizers of gcc: addresses and undefined behaviour in the unit tests and in the whole command, as its scripts
# call it; data races in the unit tests that start threads. A preloaded library cannot be built with a sanitizer.
. .ci/common.sh

# Only tests that start no job.
command_scripts=
for script in tools/command tools/config tools/model report/golden report/report; do
    command_scripts="$command_scripts tests/$script.test"
done

[ -x configure ] || check 'autogen.sh' ./autogen.sh
folder=$work/san-address,undefined
if check 'gcc -fsanitize=address,undefined builds all' \
    build_in "$folder" --disable-werror --enable-sanitizer=address,undefined CC=gcc CFLAGS='-O1 -g'; then
    unit_tests "$folder" 'with -fsanitize=address,undefined'
    # A refused call ends without freeing its memory.
    ASAN_OPTIONS=detect_leaks=0 run_tests "$folder" 'of the command with -fsanitize=address,undefined' "$command_scripts"
fi

# The tests that start threads, by the build of the step check; all tests if there is none.
threaded_tests() {
    for test in $(unit_test_names "$folder"); do
        [ -x "$top/build/$test" ] && ! nm -u "$top/build/$test" | grep -qw pthread_create || echo "$test"
    done
}

folder=$work/san-thread
build_threaded() {
    mkdir -p "$folder" && cd "$folder" && "$top/configure" -q --enable-sanitizer=thread CFLAGS='-O1 -g' || return
    tests=$(threaded_tests | tr '\n' ' ')
    # shellcheck disable=SC2046,SC2086 # words
    [ -n "$tests" ] && building make -s -j"$n_jobs" $(make_variable "$folder" BUILT_SOURCES) &&
        building make -s -j"$n_jobs" $tests
}

if check 'gcc -fsanitize=thread builds the tests that have threads' build_threaded; then
    run_tests "$folder" 'with -fsanitize=thread' "$tests"
fi
closing
