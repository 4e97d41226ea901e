# SPDX-License-Identifier: BSD-3-Clause
if HAVE_CMOCKA
check_PROGRAMS += tests/core/path_test tests/core/series_test
TESTS += tests/core/path_test tests/core/series_test
endif
tests_core_path_test_CFLAGS = $(test_cflags)
tests_core_path_test_LDADD = libcollect/libpccore.la base/libpcbase.la $(CMOCKA_LIBS)
tests_core_series_test_CFLAGS = $(test_cflags)
tests_core_series_test_LDADD = plugins/libpcplugins.la base/libpcbase.la $(CMOCKA_LIBS)
