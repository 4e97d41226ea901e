# SPDX-License-Identifier: BSD-3-Clause
# Code that other processors and C libraries use, forced on this machine: stubs in C, which have to be optimised (they
# jump), and modules from a snapshot of the load map. Whole jobs of both MPIs, which need no test program. Stubs and
# walks of other processors are in the step check (tests/mpi/adapter.test, tests/walk/processors.test), a whole one is
# the step aarch64.
. .ci/common.sh

folder=$work/portable

has_no_assembly() {
    ! readelf -sW "$folder/stage/lib/libpcollect.so" | grep -w resolve_common &&
        ! readelf -sW "$folder/stage/lib/libpcollect.so" | grep -w _dl_find_object
}

# Whole jobs: programs that keep their own account, contexts through dlopen and dlclose.
jobs='tests/mpi/adapter.test tests/mpi/examples.test tests/mpi/truth_c.test tests/mpi/truth_paths.test'

[ -x configure ] || check 'autogen.sh' ./autogen.sh
check 'build with stubs in C and without _dl_find_object' \
    build_in "$folder" --disable-assembly --disable-dl-find-object CC=gcc CFLAGS='-O2 -g' -- check_PROGRAMS= &&
    check 'the library has neither' has_no_assembly &&
    run_tests "$folder" 'of jobs, with stubs in C and without _dl_find_object' "$jobs"
closing
