# SPDX-License-Identifier: BSD-3-Clause
unit_tests += tests/base/base_test
tests_base_base_test_LDADD = base/libpcbase.la $(CMOCKA_LIBS)
tests_base_base_test_LDFLAGS = -pthread
