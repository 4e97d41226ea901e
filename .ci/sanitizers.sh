# SPDX-License-Identifier: BSD-3-Clause
# The sanitizers of gcc: addresses and undefined behaviour in the unit tests and in the whole command, as its
# scripts call it; data races in the unit tests that start threads. The library that is preloaded cannot bring a
# sanitizer along.
. .ci/common.sh

build_with() { # SANITIZERS FOLDER
    mkdir -p "$2" && cd "$2" || return
    "$top/configure" -q --enable-sanitizer="$1" CFLAGS='-O1 -g' &&
        building make -s -j"$n_jobs" all && building make -s -j"$n_jobs" check TESTS=
}

# Those that need no job.
command_scripts=
for script in tools/command tools/config tools/model report/golden report/report; do
    command_scripts="$command_scripts tests/$script.test"
done

[ -x configure ] || check 'autogen.sh' ./autogen.sh
folder=$work/san-address,undefined
if check 'build with -fsanitize=address,undefined' build_with address,undefined "$folder"; then
    unit_tests "$folder" 'with -fsanitize=address,undefined'
    # A call that is refused ends with what it has allocated.
    ASAN_OPTIONS=detect_leaks=0 run_tests "$folder" 'of the command with -fsanitize=address,undefined' "$command_scripts"
fi

threaded_tests() { # FOLDER
    for test in $(unit_test_names "$1"); do
        ! nm -u "$1/$test" 2>/dev/null | grep -qw pthread_create || echo "$test"
    done
}

folder=$work/san-thread
if check 'build with -fsanitize=thread' build_with thread "$folder"; then
    tests=$(threaded_tests "$folder" | tr '\n' ' ')
    check 'there are tests with threads' [ -n "$tests" ]
    run_tests "$folder" 'with -fsanitize=thread' "$tests"
fi
closing
