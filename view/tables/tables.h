/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The tables of the report, each defined in the file that has its columns. tables.c puts them in
 * order.
 */
#ifndef PCT_TABLES_H
#define PCT_TABLES_H

#include "view/table.h"

/* The members of a table that follow from its list of columns. */
#define PCT_COLUMNS(list) .columns = list, .n_columns = PC_ARRAY_LEN(list)

extern const struct pct_table pct_header_table, pct_findings_table, pct_primitives_table,
    pct_ranks_table, pct_programs_table, pct_classes_table, pct_class_times_table,
    pct_thread_times_table, pct_contexts_table, pct_call_sites_table, pct_callers_table,
    pct_lines_table, pct_function_calls_table, pct_sources_table, pct_module_calls_table,
    pct_communicator_calls_table, pct_flat_table, pct_functions_table, pct_computation_table,
    pct_sample_callers_table, pct_counts_table, pct_estimates_table, pct_ratios_table,
    pct_modules_table, pct_lost_table, pct_frames_table;

/* Table of PCT_DATA_TREE, and one of the page; not in the list. */
extern const struct pct_table pct_nodes_table, pct_called_table;

/* The error of a part of the samples; none, and "few", if there are too few. */
struct pct_sampled;
void pct_sample_error(const struct pct_data *d, struct pct_sampled part, struct pct_value *out);

#endif
