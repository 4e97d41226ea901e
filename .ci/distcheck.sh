# SPDX-License-Identifier: BSD-3-Clause
# The tarball: builds, passes the tests, installs and uninstalls from a read-only source folder, and
# leaves nothing behind.
. .ci/common.sh

# The step check has run all tests from the same files, and tests/project/tarball.test has seen that the tarball has
# every file. This step checks that it works, unpacked in a folder that cannot be written, with the test programs
# that these tests need.
tests='tests/tools/command.test tests/tools/config.test tests/report/golden.test tests/mpi/truth_example.test
    tests/safety/bystanders.test'
programs='tests/report/show tests/report/json_check'

distcheck() {
    mkdir -p "$work/dist" && cd "$work/dist" || return
    [ -f Makefile ] || "$top/configure" -q || return
    make -j"$n_jobs" distcheck TESTS="$(echo $tests)" check_PROGRAMS="$programs" check_LTLIBRARIES=
}

[ -x configure ] || check 'autogen.sh' ./autogen.sh
check 'make distcheck' distcheck
closing
