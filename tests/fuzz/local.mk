# SPDX-License-Identifier: BSD-3-Clause
# Each target is a plain program here, and one of libFuzzer's in libfuzzer.test.
unit_tests += tests/fuzz/fuzz_config tests/fuzz/fuzz_pcol tests/fuzz/fuzz_profile tests/fuzz/fuzz_arena
script_tests += tests/fuzz/libfuzzer.test
EXTRA_DIST += tests/fuzz/corpus

fuzz_common = tests/fuzz/fuzz.h tests/fuzz/fuzz_main.c tests/fuzz/file.c tests/fuzz/seeds.c $(merge_test_common)
tests_fuzz_fuzz_config_SOURCES = tests/fuzz/config_target.c $(fuzz_common)
tests_fuzz_fuzz_pcol_SOURCES = tests/fuzz/pcol_target.c $(fuzz_common)
tests_fuzz_fuzz_profile_SOURCES = tests/fuzz/profile_target.c $(fuzz_common)
tests_fuzz_fuzz_arena_SOURCES = tests/fuzz/arena_target.c $(fuzz_common)
