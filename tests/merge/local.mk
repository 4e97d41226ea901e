# SPDX-License-Identifier: BSD-3-Clause
if HAVE_CMOCKA
merge_unit_tests = tests/merge/arena_test tests/merge/reduce_test tests/merge/damage_test \
    tests/merge/files_test
check_PROGRAMS += $(merge_unit_tests)
TESTS += $(merge_unit_tests)
endif
merge_test_common = tests/merge/made_arena.c tests/merge/made_arena.h \
    tests/format/random_profile.c tests/format/told_facts.c \
    tests/format/random_profile.h tests/format/mend.c tests/format/mend.h
merge_test_ldadd = merge/libpcmerge.la cct/libpccct.la base/libpcbase.la $(CMOCKA_LIBS) \
    $(ZLIB_LIBS) -lpthread

tests_merge_arena_test_SOURCES = tests/merge/arena_test.c $(merge_test_common)
tests_merge_arena_test_CFLAGS = $(test_cflags)
tests_merge_arena_test_LDADD = $(merge_test_ldadd)
tests_merge_reduce_test_SOURCES = tests/merge/reduce_test.c tests/merge/net.c tests/merge/net.h \
    merge/module.c $(merge_test_common)
tests_merge_reduce_test_CFLAGS = $(test_cflags)
tests_merge_reduce_test_LDADD = $(merge_test_ldadd)
tests_merge_damage_test_SOURCES = tests/merge/damage_test.c $(merge_test_common)
tests_merge_damage_test_CFLAGS = $(test_cflags)
tests_merge_damage_test_LDADD = $(merge_test_ldadd)
tests_merge_files_test_SOURCES = tests/merge/files_test.c $(merge_test_common)
tests_merge_files_test_CFLAGS = $(test_cflags)
tests_merge_files_test_LDADD = $(merge_test_ldadd)

merge_script_tests = tests/merge/unwritten.test tests/merge/tables.test
TESTS += $(merge_script_tests)
EXTRA_DIST += $(merge_script_tests) tests/merge/exchange.c tests/merge/tables_plug.c
