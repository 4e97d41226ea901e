# SPDX-License-Identifier: BSD-3-Clause
unit_tests += tests/sample/source_test
tests_sample_source_test_LDADD = libcollect/libpccore.la config/libpcconfig.la base/libpcbase.la $(CMOCKA_LIBS)
script_tests += tests/sample/truth.test tests/sample/intervals.test tests/sample/cost.test tests/sample/times.test tests/sample/reasons.test \
    tests/sample/waits.test tests/sample/added.test tests/sample/own_signals.test tests/sample/jumps.test tests/sample/confined.test tests/sample/storm.test tests/sample/programs.test tests/sample/counters.test tests/sample/cells.test \
    tests/sample/openmp.test tests/sample/odd.test tests/sample/foreign.test \
    tests/sample/shown.test tests/sample/written.test tests/sample/workers.test tests/sample/silent.test tests/sample/bindings.test tests/sample/seldom.test
EXTRA_DIST += tests/sample/locked_clock.c tests/sample/sampled_truth.c tests/sample/mixture.c tests/sample/cost.c tests/sample/times.c \
    tests/sample/times.h tests/sample/times_inner.c tests/sample/reasons.c tests/sample/waits.c tests/sample/added.c tests/sample/waits_bare.inc tests/sample/transfers.c tests/sample/bad_addresses.c tests/sample/own_signals.c tests/sample/jumps.c tests/sample/stepped.c tests/sample/confined.c tests/sample/waits_library.c tests/sample/storm.cc \
    tests/sample/storm_library.c tests/sample/execs.c \
    tests/sample/program.c tests/sample/children.c tests/sample/counted.c tests/sample/rate.awk tests/sample/cells.c tests/sample/openmp.c tests/sample/odd.c \
    tests/sample/foreign.cc tests/sample/foreign.f90 tests/sample/openmp_tool.c tests/sample/openmp_regions.c tests/sample/silent.c tests/sample/workers.c tests/sample/written.c
