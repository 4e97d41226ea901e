# SPDX-License-Identifier: BSD-3-Clause
unit_tests += tests/config/config_test
tests_config_config_test_LDADD = config/libpcconfigtext.la config/libpcconfig.la base/libpcbase.la \
    $(CMOCKA_LIBS)
