# SPDX-License-Identifier: BSD-3-Clause
if HAVE_CMOCKA
format_tests = tests/format/profile_test tests/format/pcol_test tests/format/kept_test \
    tests/format/columns_test
check_PROGRAMS += $(format_tests)
TESTS += $(format_tests)
endif
EXTRA_DIST += tests/format/golden-1.pcol tests/format/golden-1.1.pcol tests/format/golden-1.2.pcol
format_test_ldadd = format/libpcformat.la base/libpcbase.la $(CMOCKA_LIBS) $(ZLIB_LIBS)
format_test_random = tests/format/random_profile.c tests/format/told_facts.c \
    tests/format/random_profile.h

tests_format_profile_test_SOURCES = tests/format/profile_test.c $(format_test_random)
tests_format_profile_test_CFLAGS = $(test_cflags)
tests_format_profile_test_LDADD = $(format_test_ldadd)

tests_format_pcol_test_SOURCES = tests/format/pcol_test.c $(format_test_random)
tests_format_pcol_test_CFLAGS = $(test_cflags) $(ZLIB_CFLAGS)
tests_format_pcol_test_LDADD = $(format_test_ldadd)

tests_format_kept_test_SOURCES = tests/format/kept_test.c $(format_test_random)
tests_format_kept_test_CFLAGS = $(test_cflags)
tests_format_kept_test_LDADD = $(format_test_ldadd)

tests_format_columns_test_SOURCES = tests/format/columns_test.c tests/format/mend.c tests/format/mend.h \
    $(format_test_random)
tests_format_columns_test_CFLAGS = $(test_cflags) $(ZLIB_CFLAGS)
tests_format_columns_test_LDADD = $(format_test_ldadd)
