# SPDX-License-Identifier: BSD-3-Clause
noinst_LTLIBRARIES += report/libpcreport.la
report_libpcreport_la_SOURCES = report/report.h report/report_private.h report/report.c report/filter.h report/filter.c \
    report/options.c report/text.h report/text.c report/student.h report/student.c report/model.h report/model.c \
    report/symbols.h report/symbols_private.h report/symbols.c report/symbols_stored.c \
    report/stored.h report/stored.c report/annotate/annotate.h report/annotate/source.c \
    report/annotate/lines.c report/annotate/assembly.c \
    report/tree.h report/tree.c report/table.h report/table.c report/value.c report/choice.h report/choice.c report/data.c report/columns.c report/rows.c \
    report/series.c report/keys.h report/keys.c report/figures.h report/figures.c \
    report/calls.h report/calls.c report/columns_calls.c \
    report/columns_samples.c report/samples.h report/samples.c report/print_samples.c \
    report/columns_header.c report/head.c report/outline.c report/print.c report/picture.c report/markdown.c report/json.c \
    report/fit/fit.h report/fit/fit_private.h report/fit/fit.c report/fit/solve.c report/fit/band.c \
    report/fit/data.h report/fit/data.c report/fit/read.c report/fit/read_text.c report/fit/read_json.c \
    report/topology/topology.h report/topology/topology_private.h report/topology/matrix.c \
    report/topology/places.c report/topology/pattern.c report/topology/seats.c \
    report/topology/placement.c report/topology/print.c report/topology/svg.c \
    report/compare/join.h report/compare/join_private.h report/compare/join.c \
    report/compare/computation.c report/compare/scale.h report/compare/scale.c \
    report/compare/scale_columns.c report/compare/scale_print.c \
    report/compare/repeats.h report/compare/repeats.c report/compare/repeats_print.c \
    report/compare/diff.h report/compare/diff.c report/compare/diff_print.c \
    report/findings/findings.h report/findings/facts.c report/findings/findings.c report/findings/rules_ranks.c report/findings/rules_counters.c \
    report/findings/system_calls.c \
    report/findings/rules_calls.c report/findings/rules_machine.c \
    report/counters/attribution.h report/counters/attribution.c report/counters/attribution_columns.c \
    report/counters/estimate.h report/counters/estimate.c report/counters/metrics.h \
    report/counters/metrics.c report/counters/estimates.h report/counters/estimates.c \
    report/counters/estimates_columns.c
report_libpcreport_la_CFLAGS = $(PC_FLAGS) $(LIBDW_CFLAGS) $(JANSSON_CFLAGS)
report_libpcreport_la_LIBADD = base/libpcbase.la $(JANSSON_LIBS) -lm
if HAVE_LIBDW
report_libpcreport_la_SOURCES += report/symbols_dw.c report/symbols_fetch.c report/demangle.c
report_libpcreport_la_LIBADD += $(LIBDW_LIBS) -ldl
endif
dist_man_MANS += report/pcollect-report.1
