# SPDX-License-Identifier: BSD-3-Clause
# The tarball: builds, passes the tests, installs and uninstalls from a read-only source folder, and
# leaves nothing behind.
. .ci/common.sh

# The step check has run all tests from the same files. Here: those of the command, of the project (the
# tarball has every file), and a whole job on each MPI.
tests=$(echo tests/tools/*.test tests/project/*.test tests/report/golden.test \
    tests/mpi/truth_example.test tests/safety/bystanders.test)

distcheck() {
    mkdir -p "$work/dist" && cd "$work/dist" || return
    [ -f Makefile ] || "$top/configure" -q || return
    make -j"$n_jobs" distcheck TESTS="$tests"
}

[ -x configure ] || check 'autogen.sh' ./autogen.sh
check 'make distcheck' distcheck
closing
