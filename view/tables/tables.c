/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The tables of the report in the order in which they are listed. Scripts rely on names and
 * meanings: columns may be added at the end of a table, but none may be changed or removed.
 */
#include "view/tables/tables.h"
#include "plugins/names.h"

#define ENTRY(name) &pct_##name##_table,
const struct pct_table *const pct_tables[] = {PC_REPORT_TABLES(ENTRY)};

const size_t pct_n_tables = PC_ARRAY_LEN(pct_tables);
