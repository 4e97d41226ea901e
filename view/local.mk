# SPDX-License-Identifier: BSD-3-Clause
# Makes text, tables, JSON and pictures from figures.
noinst_LTLIBRARIES += view/libpcview.la
view_libpcview_la_SOURCES = \
    view/table.h view/table.c view/cell.c view/query.h view/query.c view/report_print.h view/report_print.c \
    view/summary_private.h view/summary_item.c view/summary_counted.c view/summary_missing.c view/summary.c view/hottest_print.c view/tree_print.c view/estimates_print.c view/series_picture.c view/picture.c view/markdown.c \
    view/json.c view/findings_print.c view/compare_print.h view/diff_print.c view/diff_told.c view/scale_print.c view/scale_reason.c view/scale_private.h view/repeats_print.c \
    view/topology_print.h view/topology_print.c view/svg.h view/svg.c view/topology_svg.c view/scale_svg.c \
    view/viewers/viewers.h view/viewers/viewer_stacks.c view/viewers/folded.c view/viewers/speedscope.c view/viewers/pprof.c \
    view/viewers/hatchet.c view/viewers/chrome.c \
    view/page.h view/page_private.h view/page.c view/page_compare.c view/page_bytes.h view/page_names.h view/page_names.c view/page_column.h view/page_column.c view/page_nodes.h view/page_nodes.c view/page_ranks.h view/page_ranks.c view/page_code.h view/page_code.c view/page_sources.h view/page_sources.c \
    view/browse/browser.h view/browse/browser.c view/browse/browser_text.c \
    view/annotate/annotate.h view/annotate/assembly.c view/annotate/source_lines.c \
    view/annotate/source.c view/annotate/statement.c \
    view/tables/figures.h view/tables/figures.c view/tables/tables.h view/tables/tables.c view/tables/primitive_columns.c \
    view/tables/rank_columns.c view/tables/program_columns.c view/tables/class_columns.c view/tables/thread_columns.c view/tables/context_columns.c view/tables/frame_columns.c view/tables/module_columns.c view/tables/node_columns.c view/tables/lost_columns.c \
    view/folds.h view/folds.c view/branches.h view/branches.c view/node_text.h view/node_text.c view/node_figures.h view/node_figures.c view/where_print.h view/where_print.c view/sentence.h view/sentence.c view/join_tree_print.c view/fit_lines.h view/fit_lines.c \
    view/tables/calls_columns.c view/tables/cube_columns.c \
    view/tables/samples_columns.c view/tables/header_columns.c view/tables/findings_columns.c view/tables/plugin_columns.c view/tables/described_tables.c \
    view/tables/attribution_columns.c view/tables/estimates_columns.c view/tables/scale_columns.c \
    view/stat_print.h view/stat_print.c view/rows.h view/rows.c
view_libpcview_la_CFLAGS = $(PC_FLAGS)
view_libpcview_la_LIBADD = plugins/libpccommplugins.la libcollect/libpctables.la
