# SPDX-License-Identifier: BSD-3-Clause
# Computes figures from a profile.
noinst_LTLIBRARIES += analysis/libpcanalysis.la
analysis_libpcanalysis_la_SOURCES = \
    analysis/allocation.h analysis/allocation.c analysis/buffer.h analysis/buffer.c analysis/hash_index.h analysis/hash_index.c analysis/student.h analysis/student.c analysis/gather.h analysis/gather.c \
    analysis/clusters.h analysis/clusters_private.h analysis/clusters.c analysis/cluster_tree.c analysis/cluster_parts.c analysis/rank_classes.h analysis/rank_classes.c \
    analysis/rank_times.h analysis/rank_times.c analysis/thread_times.h analysis/thread_times.c \
    analysis/runtime_work.h analysis/runtime_work.c analysis/open_calls.h analysis/open_calls.c \
    analysis/symbols/symbols.h analysis/symbols/symbols_private.h analysis/symbols/symbols.c \
    analysis/symbols/short_name.h analysis/symbols/rust_name.c analysis/symbols/short_name.c analysis/symbols/vdso.h analysis/symbols/vdso.c \
    analysis/symbols/symbols_stored.c analysis/symbols/origin.c analysis/symbols/remarks.c analysis/symbols/stored_table.h analysis/symbols/stored_table.c \
    analysis/tree/totals.h analysis/tree/totals.c analysis/tree/programs.h analysis/tree/programs.c analysis/tree/label.h analysis/tree/label.c analysis/tree/tree.h analysis/tree/tree.c analysis/tree/context_count.h analysis/tree/context_count.c \
    analysis/tree/filter.h analysis/tree/filter.c analysis/tree/keys.h analysis/tree/keys.c \
    analysis/tree/samples.h analysis/tree/samples.c analysis/tree/roll_up.h analysis/tree/roll_up.c analysis/tree/fields.h analysis/tree/fields.c \
    analysis/counters/attribution.h analysis/counters/attribution.c \
    analysis/counters/estimate.h analysis/counters/estimate.c \
    analysis/counters/estimates.h analysis/counters/estimates.c \
    analysis/counters/metrics.h analysis/counters/metrics.c \
    analysis/compare/call_sites.h analysis/compare/call_sites.c analysis/compare/join_tree.h analysis/compare/join_tree.c analysis/compare/compared_run.h analysis/compare/compared_run_private.h analysis/compare/compared_run.c analysis/compare/join.h analysis/compare/join_private.h analysis/compare/join.c analysis/compare/join_places.c analysis/compare/join_programs.c \
    analysis/compare/computation.c analysis/compare/scaling.h analysis/compare/scaling.c analysis/compare/scaling_tree.c \
    analysis/compare/repeats.h analysis/compare/repeats.c analysis/compare/scatter.h analysis/compare/scatter.c \
    analysis/compare/difference.h analysis/compare/difference.c \
    analysis/fit/fit.h analysis/fit/fit_private.h analysis/fit/segments.c analysis/fit/fit.c analysis/fit/solve.c analysis/fit/band.c \
    analysis/findings/findings.h analysis/findings/findings.c analysis/findings/finding_list.c analysis/findings/fact_kind.c analysis/findings/fact_text.c analysis/findings/call_place.c analysis/findings/polling_loop.c analysis/findings/run_figures.c \
    analysis/findings/rules_calls.c analysis/findings/rules_counters.c analysis/findings/rules_machine.c analysis/findings/rules_objects.c \
    analysis/findings/rules_ranks.c analysis/findings/rules_threads.c analysis/findings/rules_ends.c analysis/findings/rules_jobs.c \
    analysis/findings/busy_place.c analysis/findings/system_calls.c \
    analysis/traffic/traffic.h analysis/traffic/traffic_private.h analysis/traffic/matrix.c analysis/traffic/partners.c \
    analysis/traffic/places.c analysis/traffic/pattern.c analysis/traffic/placement.c \
    analysis/traffic/placement_nodes.c
analysis_libpcanalysis_la_CFLAGS = $(PC_FLAGS) $(LIBDW_CFLAGS)
analysis_libpcanalysis_la_LIBADD = libcollect/libpcops.la -lm
if HAVE_LIBDW
analysis_libpcanalysis_la_SOURCES += analysis/symbols/dw_private.h analysis/symbols/file_names.c analysis/symbols/file_names.h \
    analysis/symbols/symbols_dw.c analysis/symbols/file_dw.c analysis/symbols/rows_dw.c analysis/symbols/debug_file.c \
    analysis/symbols/names_dw.c analysis/symbols/regions_dw.c analysis/symbols/symbols_fetch.c \
    analysis/symbols/stubs_dw.c analysis/symbols/starts_dw.c analysis/symbols/python_methods_dw.c \
    analysis/symbols/unwind_dw.c analysis/symbols/demangle.c analysis/symbols/tail_calls.c
analysis_libpcanalysis_la_LIBADD += $(LIBDW_LIBS)
endif
