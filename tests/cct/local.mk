# SPDX-License-Identifier: BSD-3-Clause
if HAVE_CMOCKA
cct_unit_tests = tests/cct/tree_test
check_PROGRAMS += $(cct_unit_tests)
TESTS += $(cct_unit_tests)
endif
cct_test_libs = cct/libpccct.la base/libpcbase.la $(CMOCKA_LIBS)
tests_cct_tree_test_SOURCES = tests/cct/tree_test.c tests/cct/image.c tests/cct/image.h
tests_cct_tree_test_CFLAGS = $(test_cflags)
tests_cct_tree_test_LDADD = $(cct_test_libs)
