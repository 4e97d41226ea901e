# SPDX-License-Identifier: BSD-3-Clause
cct_test_libs = cct/libpccct.la base/libpcbase.la
cct_test_helpers = tests/cct/arena_image.c tests/cct/arena_image.h tests/cct/place.c tests/cct/place.h

unit_tests += tests/cct/tree_test tests/cct/arena_test tests/cct/quiet_test tests/cct/kill_test \
    tests/cct/rows_test tests/cct/bins_test
tests_cct_tree_test_SOURCES = tests/cct/tree_test.c $(cct_test_helpers)
tests_cct_tree_test_LDADD = $(cct_test_libs) $(CMOCKA_LIBS)
tests_cct_arena_test_SOURCES = tests/cct/arena_test.c $(cct_test_helpers)
tests_cct_arena_test_LDADD = $(cct_test_libs) $(CMOCKA_LIBS)
tests_cct_quiet_test_SOURCES = tests/cct/quiet_test.c $(cct_test_helpers)
tests_cct_quiet_test_LDADD = $(cct_test_libs) $(CMOCKA_LIBS)
tests_cct_kill_test_SOURCES = tests/cct/kill_test.c $(cct_test_helpers)
tests_cct_kill_test_LDADD = $(cct_test_libs) $(CMOCKA_LIBS)
tests_cct_bins_test_SOURCES = tests/cct/bins_test.c
tests_cct_bins_test_LDADD = $(cct_test_libs) $(CMOCKA_LIBS)
tests_cct_rows_test_SOURCES = tests/cct/rows_test.c $(cct_test_helpers)
tests_cct_rows_test_LDADD = $(cct_test_libs) $(CMOCKA_LIBS) -lpthread

check_PROGRAMS += tests/cct/adopt_race
tests_cct_adopt_race_LDADD = $(cct_test_libs)
script_tests += tests/cct/adopt.test
