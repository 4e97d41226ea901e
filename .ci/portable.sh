# SPDX-License-Identifier: BSD-3-Clause
# What other processors and C libraries use, forced on this machine: stubs in C, modules from a snapshot of
# the load map. The unit tests and whole jobs of both MPIs. Stubs and walks of other processors are in the
# step check (tests/mpi/adapter.test, tests/walk/processors.test), a whole one is the step aarch64.
. .ci/common.sh

folder=$work/portable

build() {
    mkdir -p "$folder" && cd "$folder" || return
    "$top/configure" -q --disable-assembly --disable-dl-find-object --enable-werror CC=gcc CFLAGS='-O2 -g' &&
        building make -s -j"$n_jobs" all && building make -s -j"$n_jobs" check TESTS=
}

has_no_assembly() {
    ! readelf -sW "$folder/stage/lib/libpcollect.so" | grep -w resolve_common &&
        ! readelf -sW "$folder/stage/lib/libpcollect.so" | grep -w _dl_find_object
}

# Whole jobs: programs that keep their own account, contexts through dlopen and dlclose.
jobs='tests/mpi/adapter.test tests/mpi/examples.test tests/mpi/truth_c.test tests/mpi/truth_paths.test'

[ -x configure ] || check 'autogen.sh' ./autogen.sh
check 'build with stubs in C and without _dl_find_object' build &&
    check 'the library has neither' has_no_assembly &&
    run_tests "$folder" 'of jobs, with stubs in C and without _dl_find_object' "$jobs"
closing
