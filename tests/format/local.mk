# SPDX-License-Identifier: BSD-3-Clause
unit_tests += tests/format/profile_test tests/format/pcol_test tests/format/kept_test \
    tests/format/columns_test tests/format/late_test tests/format/rounded_test tests/format/later_test \
    tests/format/steps_test tests/format/runs_test tests/format/contexts_test
EXTRA_DIST += tests/format/older-1.0.pcol tests/format/golden-1.2.pcol
format_test_random = tests/format/random_profile.c tests/format/told_facts.c \
    tests/format/random_profile.h

tests_format_profile_test_SOURCES = tests/format/profile_test.c $(format_test_random)
tests_format_pcol_test_SOURCES = tests/format/pcol_test.c $(format_test_random)
tests_format_late_test_SOURCES = tests/format/late_test.c $(format_test_random)
tests_format_rounded_test_SOURCES = tests/format/rounded_test.c $(format_test_random)
tests_format_runs_test_SOURCES = tests/format/runs_test.c $(format_test_random)
tests_format_contexts_test_SOURCES = tests/format/contexts_test.c tests/format/mend.c tests/format/mend.h \
    $(format_test_random)
tests_format_later_test_SOURCES = tests/format/later_test.c $(format_test_random)
tests_format_steps_test_SOURCES = tests/format/steps_test.c tests/format/mend.c tests/format/mend.h \
    $(format_test_random)
tests_format_kept_test_SOURCES = tests/format/kept_test.c $(format_test_random)
tests_format_columns_test_SOURCES = tests/format/columns_test.c tests/format/mend.c tests/format/mend.h \
    $(format_test_random)
