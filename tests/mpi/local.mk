# SPDX-License-Identifier: BSD-3-Clause
script_tests += tests/mpi/jobs.test tests/mpi/large.test tests/mpi/examples.test tests/mpi/refused.test tests/mpi/requests.test tests/mpi/scopes.test tests/mpi/coroutines.test tests/mpi/series.test tests/mpi/objects.test tests/mpi/bounded.test tests/mpi/histograms.test tests/mpi/truth_c.test \
    tests/mpi/main_thread.test tests/mpi/truth_fortran.test tests/mpi/truth_paths.test tests/mpi/truth_example.test \
    tests/mpi/truth_signals.test tests/mpi/coverage.test tests/mpi/truth_calls.test tests/mpi/volume.test tests/mpi/several_programs.test
EXTRA_DIST += tests/mpi/truth.sh tests/mpi/truth.c tests/mpi/truth.h tests/mpi/truth_f.F90 \
    tests/mpi/mix.c tests/mpi/mix.h tests/mpi/mix_callbacks.c tests/mpi/mix_collectives.c \
    tests/mpi/mix_communicators.c tests/mpi/mix_nonblocking.c tests/mpi/mix_p2p.c \
    tests/mpi/main_thread.c tests/mpi/paths.c tests/mpi/paths.h tests/mpi/paths_frames.c tests/mpi/paths_jumps.c \
    tests/mpi/paths_plug.c tests/mpi/paths_register.c tests/mpi/paths_reload.c \
    tests/mpi/paths_threads.c tests/mpi/paths_throw.cc tests/mpi/rank_map.c tests/mpi/requests_off.c tests/mpi/requests_places.c tests/mpi/requests_reused.c tests/mpi/requests_store.c tests/mpi/requests_threads.c tests/mpi/requests_tool.c \
    tests/mpi/signals.c tests/mpi/calls.c tests/mpi/calls.h tests/mpi/calls_objects.c \
    tests/mpi/calls.tbl tests/mpi/calls.awk tests/mpi/large.c tests/mpi/volume.c tests/mpi/jobs.c

# ---- The adapters, against a small host in place of the core ------------------------------------
check_LTLIBRARIES += tests/mpi/libadapterhost.la
tests_mpi_libadapterhost_la_SOURCES = tests/mpi/adapter_host.c tests/mpi/adapter_host.h
tests_mpi_libadapterhost_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere -Wl,-z,defs
tests_mpi_libadapterhost_la_LIBADD = libcollect/libpcmpi.la libcollect/libpcinterpose.la \
    merge/libpcmessage.la base/libpcbase.la
script_tests += tests/mpi/adapter.test
EXTRA_DIST += tests/mpi/adapter_rules.c tests/mpi/adapter_rules.h tests/mpi/adapter_ended.c \
    tests/mpi/adapter_fake.c \
    tests/mpi/adapter_fortran.F90 tests/mpi/adapter_fortran.expect tests/mpi/adapter_local.c \
    tests/mpi/adapter_local_module.c tests/mpi/adapter_missing.c tests/mpi/adapter_prototypes.c \
    tests/mpi/adapter_pending.c tests/mpi/adapter_bare.c tests/mpi/adapter_stubs.c tests/mpi/adapter_tool.c \
    tests/mpi/adapter_who.c

# Shows phases and regions of a profile.
check_PROGRAMS += tests/mpi/scopes_show
tests_mpi_scopes_show_LDADD = format/libpcformat.la base/libpcbase.la $(ZLIB_LIBS)
EXTRA_DIST += tests/mpi/scopes.c tests/mpi/early_regions.c tests/mpi/coroutines.c tests/mpi/paused.c tests/mpi/scopes_f.F90 tests/mpi/series.c tests/mpi/course.c tests/mpi/course.awk tests/mpi/open_regions.c \
    tests/mpi/objects.c tests/mpi/bounded.c tests/mpi/histograms.c

# ---- Topology and communicators -----------------------------------------------------------------
script_tests += tests/mpi/topology.test tests/mpi/domains.test tests/mpi/nodes.test
EXTRA_DIST += tests/mpi/talk.c tests/mpi/domains.c tests/mpi/freed.c tests/mpi/wire.c tests/mpi/tree_edges.c
