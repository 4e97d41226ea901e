# SPDX-License-Identifier: BSD-3-Clause
if HAVE_CMOCKA
check_PROGRAMS += tests/config/config_test
TESTS += tests/config/config_test
endif
tests_config_config_test_CFLAGS = $(test_cflags)
tests_config_config_test_LDADD = config/libpcconfigtext.la config/libpcconfig.la base/libpcbase.la \
    $(CMOCKA_LIBS)

check_PROGRAMS += tests/config/print_manual
tests_config_print_manual_LDADD = config/libpcconfigtext.la config/libpcconfig.la base/libpcbase.la
TESTS += tests/config/manual.test
EXTRA_DIST += tests/config/manual.test
