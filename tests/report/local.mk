# SPDX-License-Identifier: BSD-3-Clause
report_test_ldadd = report/libpcreport.la format/libpcformat.la
report_test_sample = tests/report/sample.c tests/report/sample.h

if HAVE_CMOCKA
report_unit_tests = tests/report/text_test tests/report/model_test tests/report/fit_test \
    tests/report/scale_test tests/report/diff_test tests/report/topology_test \
    tests/report/estimate_test tests/report/counters_test tests/report/findings_test \
    tests/report/samples_test
check_PROGRAMS += $(report_unit_tests)
TESTS += $(report_unit_tests)
endif
if HAVE_LIBDW
check_PROGRAMS += tests/report/where
TESTS += tests/report/symbols.test
endif
check_PROGRAMS += tests/report/show tests/report/json_check
TESTS += tests/report/golden.test tests/report/report.test tests/report/choice.test
EXTRA_DIST += tests/report/choice.test tests/report/golden tests/report/golden.test tests/report/report.test \
    tests/report/schema_check.py tests/report/serve.py tests/report/symbols.test tests/report/program/part.c tests/report/program/part.h \
    tests/report/program/part_main.cc tests/report/program/part.f90

tests_report_text_test_CFLAGS = $(test_cflags) $(PC_SANITIZE)
tests_report_text_test_LDFLAGS = $(PC_SANITIZE)
tests_report_text_test_LDADD = $(report_test_ldadd) $(CMOCKA_LIBS) -lm

tests_report_estimate_test_CFLAGS = $(test_cflags) $(PC_SANITIZE)
tests_report_estimate_test_LDFLAGS = $(PC_SANITIZE)
tests_report_estimate_test_LDADD = $(report_test_ldadd) $(CMOCKA_LIBS) -lm

tests_report_samples_test_CFLAGS = $(test_cflags) $(PC_SANITIZE)
tests_report_samples_test_LDFLAGS = $(PC_SANITIZE)
tests_report_samples_test_LDADD = plugins/libpcplugins.la $(report_test_ldadd) $(CMOCKA_LIBS) -lm

tests_report_counters_test_SOURCES = tests/report/counters_test.c $(report_test_sample)
tests_report_counters_test_CFLAGS = $(test_cflags) $(PC_SANITIZE)
tests_report_counters_test_LDFLAGS = $(PC_SANITIZE)
tests_report_counters_test_LDADD = $(report_test_ldadd) $(CMOCKA_LIBS) -lm

tests_report_topology_test_CFLAGS = $(test_cflags) $(PC_SANITIZE)
tests_report_topology_test_LDFLAGS = $(PC_SANITIZE)
tests_report_topology_test_LDADD = $(report_test_ldadd) $(CMOCKA_LIBS) -lm

tests_report_fit_test_CFLAGS = $(test_cflags) $(PC_SANITIZE)
tests_report_fit_test_LDFLAGS = $(PC_SANITIZE)
tests_report_fit_test_LDADD = $(report_test_ldadd) $(CMOCKA_LIBS) -lm

tests_report_diff_test_SOURCES = tests/report/diff_test.c $(report_test_sample)
tests_report_diff_test_CFLAGS = $(test_cflags) $(PC_SANITIZE)
tests_report_diff_test_LDFLAGS = $(PC_SANITIZE)
tests_report_diff_test_LDADD = $(report_test_ldadd) $(CMOCKA_LIBS) -lm

tests_report_findings_test_SOURCES = tests/report/findings_test.c $(report_test_sample)
tests_report_findings_test_CFLAGS = $(test_cflags) $(PC_SANITIZE)
tests_report_findings_test_LDFLAGS = $(PC_SANITIZE)
tests_report_findings_test_LDADD = $(report_test_ldadd) $(CMOCKA_LIBS) -lm

tests_report_scale_test_SOURCES = tests/report/scale_test.c $(report_test_sample)
tests_report_scale_test_CFLAGS = $(test_cflags) $(PC_SANITIZE)
tests_report_scale_test_LDFLAGS = $(PC_SANITIZE)
tests_report_scale_test_LDADD = $(report_test_ldadd) $(CMOCKA_LIBS) -lm

tests_report_model_test_SOURCES = tests/report/model_test.c $(report_test_sample)
tests_report_model_test_CFLAGS = $(test_cflags) $(PC_SANITIZE)
tests_report_model_test_LDFLAGS = $(PC_SANITIZE)
tests_report_model_test_LDADD = $(report_test_ldadd) $(CMOCKA_LIBS)

# The report of a profile made by hand; with -w it writes the profile.
tests_report_show_SOURCES = tests/report/show.c $(report_test_sample)
tests_report_show_CFLAGS = $(PC_FLAGS) $(PC_SANITIZE)
tests_report_show_LDFLAGS = $(PC_SANITIZE)
tests_report_show_LDADD = $(report_test_ldadd)

tests_report_json_check_SOURCES = tests/report/json_check.c

tests_report_where_SOURCES = tests/report/where.c
tests_report_where_CFLAGS = $(PC_FLAGS) $(PC_SANITIZE)
tests_report_where_LDFLAGS = $(PC_SANITIZE)
tests_report_where_LDADD = $(report_test_ldadd)
TESTS += tests/report/findings.test
EXTRA_DIST += tests/report/findings.test tests/report/fault.awk
TESTS += tests/report/filter.test
EXTRA_DIST += tests/report/filter.test
TESTS += tests/report/parts.test
EXTRA_DIST += tests/report/parts.test
