# SPDX-License-Identifier: BSD-3-Clause
if HAVE_CMOCKA
check_PROGRAMS += tests/base/base_test
TESTS += tests/base/base_test
endif
tests_base_base_test_CFLAGS = $(test_cflags)
tests_base_base_test_LDADD = base/libpcbase.la $(CMOCKA_LIBS)
