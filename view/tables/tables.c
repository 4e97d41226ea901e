/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The tables of the report in the order in which they are listed. Scripts rely on names and
 * meanings: columns may be added at the end of a table, but none may be changed or removed.
 */
#include "view/tables/tables.h"

/* clang-format off */
const struct pct_table *const pct_tables[] = {
    &pct_header_table,
    &pct_findings_table,
    &pct_primitives_table,
    &pct_ranks_table,
    &pct_classes_table,
    &pct_class_times_table,
    &pct_thread_times_table,
    &pct_contexts_table,
    &pct_call_sites_table,
    &pct_callers_table,
    &pct_lines_table,
    &pct_function_calls_table,
    &pct_sources_table,
    &pct_module_calls_table,
    &pct_communicator_calls_table,
    &pct_flat_table,
    &pct_functions_table,
    &pct_computation_table,
    &pct_sample_callers_table,
    &pct_counts_table,
    &pct_estimates_table,
    &pct_ratios_table,
    &pct_modules_table,
    &pct_lost_table,
};
/* clang-format on */

const size_t pct_n_tables = PC_ARRAY_LEN(pct_tables);
