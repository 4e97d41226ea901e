# SPDX-License-Identifier: BSD-3-Clause
report_test_sample = tests/report/sample.c tests/report/sample.h

unit_tests += tests/report/fit_test tests/report/classes_test tests/report/estimate_test \
    tests/report/rank_times_test tests/report/totals_test tests/report/open_calls_test tests/report/traits_test tests/report/samples_test \
    tests/report/scale_test tests/report/scale_sizes_test tests/report/scale_threads_test tests/report/scale_models_test tests/report/scale_branches_test tests/report/compare_test tests/report/diff_test tests/report/scatter_test tests/report/topology_test tests/report/directions_test tests/report/counters_test \
    tests/report/findings_test tests/report/blame_test tests/report/head_test tests/report/messages_test tests/report/call_place_test tests/report/turns_test tests/report/other_jobs_test tests/report/system_calls_test tests/report/ranks_test tests/report/shared_test tests/report/thread_times_test tests/report/statement_test tests/report/text_test tests/report/names_test tests/report/hash_index_test \
    tests/report/by_rank_test tests/report/in_order_test tests/report/fit_lines_test tests/report/rust_name_test tests/report/folds_test
if HAVE_LIBDW
check_PROGRAMS += tests/report/ask_lines
script_tests += tests/report/symbols.test tests/report/tail_calls.test tests/report/stripped.test
endif
EXTRA_DIST += tests/report/symbols.test tests/report/tail_calls.test tests/report/stripped.test
check_PROGRAMS += tests/report/show tests/report/json_check tests/report/grown
script_tests += tests/report/golden.test tests/report/report.test tests/report/choice.test \
    tests/report/findings.test tests/report/planted.test tests/report/filter.test tests/report/parts.test tests/report/growth.test tests/report/screens.test tests/report/page.test tests/report/page_runs.test tests/report/page_names.test tests/report/page_text.test tests/report/page_objects.test tests/report/page_several.test tests/report/firefox.test tests/report/cube.test tests/report/team.test tests/report/nested.test tests/report/width.test tests/report/alike.test tests/report/passing.test tests/report/bound.test \
    tests/report/room.test
EXTRA_DIST += \
    tests/report/chromium.sh \
    tests/report/fault.awk \
    tests/report/golden \
    tests/report/page_address_check.py \
    tests/report/page_alike_check.py \
    tests/report/page_check.py \
    tests/report/page_communication_check.py \
    tests/report/page_compare_check.py \
    tests/report/page_contexts_check.py \
    tests/report/page_driver.py \
    tests/report/page_firefox_check.py \
    tests/report/page_memory_check.py \
    tests/report/page_objects_check.py \
    tests/report/page_ranks_check.py \
    tests/report/page_source_check.py \
    tests/report/page_tables_check.py \
    tests/report/page_text_check.py \
    tests/report/page_window_check.py \
    tests/report/program/alike.cc \
    tests/report/program/amdahl.c \
    tests/report/program/cube.c \
    tests/report/program/mixed.cc \
    tests/report/program/mixed.f90 \
    tests/report/program/nested.c \
    tests/report/program/part.c \
    tests/report/program/part.f90 \
    tests/report/program/part.h \
    tests/report/program/part_main.cc \
    tests/report/program/split.c \
    tests/report/program/tail.c \
    tests/report/program/tail.f90 \
    tests/report/program/tail_cxx.cc \
    tests/report/program/tail_library.c \
    tests/report/program/tail_mpi.c \
    tests/report/program/team.c \
    tests/report/schema_check.py \
    tests/report/serve.py

tests_report_samples_test_LDADD = plugins/libpcplugins.la $(LDADD)
tests_report_counters_test_SOURCES = tests/report/counters_test.c $(report_test_sample)
tests_report_diff_test_SOURCES = tests/report/diff_test.c $(report_test_sample)
tests_report_compare_test_SOURCES = tests/report/compare_test.c tests/report/scale_rows.h $(report_test_sample)
tests_report_findings_test_SOURCES = tests/report/findings_test.c tests/report/made_run.c \
    tests/report/made_run.h $(report_test_sample)
tests_report_blame_test_SOURCES = tests/report/blame_test.c tests/report/made_run.c \
    tests/report/made_run.h $(report_test_sample)
tests_report_head_test_SOURCES = tests/report/head_test.c tests/report/made_run.c \
    tests/report/made_run.h $(report_test_sample)
tests_report_messages_test_SOURCES = tests/report/messages_test.c tests/report/made_run.c \
    tests/report/made_run.h $(report_test_sample)
tests_report_call_place_test_SOURCES = tests/report/call_place_test.c tests/report/made_run.c \
    tests/report/made_run.h $(report_test_sample)
tests_report_turns_test_SOURCES = tests/report/turns_test.c tests/report/made_run.c \
    tests/report/made_run.h $(report_test_sample)
tests_report_other_jobs_test_SOURCES = tests/report/other_jobs_test.c tests/report/made_run.c \
    tests/report/made_run.h $(report_test_sample)
tests_report_system_calls_test_SOURCES = tests/report/system_calls_test.c tests/report/made_run.c \
    tests/report/made_run.h $(report_test_sample)
tests_report_ranks_test_SOURCES = tests/report/ranks_test.c tests/report/made_run.c \
    tests/report/made_run.h $(report_test_sample)
tests_report_thread_times_test_SOURCES = tests/report/thread_times_test.c tests/report/made_run.c \
    tests/report/made_run.h $(report_test_sample)
tests_report_shared_test_SOURCES = tests/report/shared_test.c tests/report/made_run.c \
    tests/report/made_run.h $(report_test_sample)
tests_report_scale_test_SOURCES = tests/report/scale_test.c tests/report/scale_rows.h $(report_test_sample)
tests_report_scale_sizes_test_SOURCES = tests/report/scale_sizes_test.c tests/report/scale_rows.h $(report_test_sample)
tests_report_scale_threads_test_SOURCES = tests/report/scale_threads_test.c tests/report/scale_rows.h $(report_test_sample)
tests_report_scale_branches_test_SOURCES = tests/report/scale_branches_test.c tests/report/scale_rows.h $(report_test_sample)
tests_report_scale_models_test_SOURCES = tests/report/scale_models_test.c tests/report/scale_rows.h $(report_test_sample)
tests_report_by_rank_test_SOURCES = tests/report/by_rank_test.c $(report_test_sample)
tests_report_statement_test_SOURCES = tests/report/statement_test.c $(report_test_sample)
tests_report_totals_test_SOURCES = tests/report/totals_test.c $(report_test_sample)
tests_report_in_order_test_SOURCES = tests/report/in_order_test.c $(report_test_sample)
tests_report_open_calls_test_SOURCES = tests/report/open_calls_test.c $(report_test_sample)

# Prints the report of a profile made by hand; with -w it writes the profile.
tests_report_show_SOURCES = tests/report/show.c $(report_test_sample)
tests_report_show_LDADD = command/libpccommand.la view/libpcview.la analysis/libpcanalysis.la merge/libpcmerge.la \
    format/libpcformat.la config/libpcconfigtext.la config/libpcconfig.la counting/libpccounting.la base/libpcbase.la \
    $(JANSSON_LIBS) $(ZLIB_LIBS)
