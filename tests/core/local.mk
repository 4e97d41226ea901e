# SPDX-License-Identifier: BSD-3-Clause
unit_tests += tests/core/path_test tests/core/cpu_list_test tests/core/partners_test tests/core/series_test \
    tests/core/program_path_test
tests_core_path_test_LDADD = libcollect/libpccore.la config/libpcconfig.la base/libpcbase.la $(CMOCKA_LIBS)
tests_core_program_path_test_LDADD = libcollect/libpccore.la config/libpcconfig.la base/libpcbase.la $(CMOCKA_LIBS)
tests_core_cpu_list_test_LDADD = libcollect/libpccore.la base/libpcbase.la $(CMOCKA_LIBS)
tests_core_partners_test_LDADD = plugins/libpcplugins.la base/libpcbase.la $(CMOCKA_LIBS) -lpthread -lm
tests_core_series_test_LDADD = plugins/libpcplugins.la base/libpcbase.la $(CMOCKA_LIBS)
