# SPDX-License-Identifier: BSD-3-Clause
# Each target is a plain program here, and one of libFuzzer's in libfuzzer.test.
if HAVE_CMOCKA
fuzz_tests = tests/fuzz/fuzz_config tests/fuzz/fuzz_pcol tests/fuzz/fuzz_profile tests/fuzz/fuzz_arena
check_PROGRAMS += $(fuzz_tests)
TESTS += $(fuzz_tests)
endif
TESTS += tests/fuzz/libfuzzer.test
EXTRA_DIST += tests/fuzz/libfuzzer.test tests/fuzz/corpus

fuzz_common = tests/fuzz/fuzz.h tests/fuzz/main.c tests/fuzz/file.c tests/fuzz/seeds.c $(merge_test_common)
fuzz_ldadd = config/libpcconfig.la $(merge_test_ldadd)
tests_fuzz_fuzz_config_SOURCES = tests/fuzz/config_target.c $(fuzz_common)
tests_fuzz_fuzz_config_CFLAGS = $(test_cflags) $(ZLIB_CFLAGS)
tests_fuzz_fuzz_config_LDADD = $(fuzz_ldadd)
tests_fuzz_fuzz_pcol_SOURCES = tests/fuzz/pcol_target.c $(fuzz_common)
tests_fuzz_fuzz_pcol_CFLAGS = $(test_cflags) $(ZLIB_CFLAGS)
tests_fuzz_fuzz_pcol_LDADD = $(fuzz_ldadd)
tests_fuzz_fuzz_profile_SOURCES = tests/fuzz/profile_target.c $(fuzz_common)
tests_fuzz_fuzz_profile_CFLAGS = $(test_cflags) $(ZLIB_CFLAGS)
tests_fuzz_fuzz_profile_LDADD = $(fuzz_ldadd)
tests_fuzz_fuzz_arena_SOURCES = tests/fuzz/arena_target.c $(fuzz_common)
tests_fuzz_fuzz_arena_CFLAGS = $(test_cflags) $(ZLIB_CFLAGS)
tests_fuzz_fuzz_arena_LDADD = $(fuzz_ldadd)
