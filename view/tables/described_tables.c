/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Meaning of the tables of the library, of its communication plugins and of `pcollect embed`, and
 * of their columns. A profile has the names alone, so the descriptions from which the tables are
 * made are linked into the command as well.
 */
#include "analysis/symbols/stored_table.h"
#include "libcollect/state/own_tables.h"
#include "plugins/plugins.h"
#include "view/annotate/annotate.h"

#include <string.h>

#define LIST(name, answers) &pc_plugin_##name,
static const struct pcollect_comm_plugin *const plugins[] = {PC_COMM_PLUGINS(LIST)};
#undef LIST

#define LIST(name) &pct_##name##_table,
static const struct pcollect_table *const stored[] = {PC_STORED_TABLES(LIST)};
#undef LIST

const struct pcollect_table *pct_described_at(size_t k)
{
    for (size_t i = 0; i < PC_ARRAY_LEN(plugins); i++) {
        if (k < plugins[i]->n_tables)
            return &plugins[i]->tables[k];
        k -= plugins[i]->n_tables;
    }
    if (k < pc_n_own_tables)
        return pc_own_tables[k];
    k -= pc_n_own_tables;
    return k < PC_ARRAY_LEN(stored) ? stored[k] : NULL;
}

const struct pcollect_table *pct_described(const char *name)
{
    const struct pcollect_table *t;
    for (size_t k = 0; (t = pct_described_at(k)); k++)
        if (!strcmp(t->name, name))
            return t;
    return NULL;
}

const char *pct_described_column(const struct pcollect_table *t, const char *name)
{
    for (unsigned i = 0; t && i < t->n_keys + t->n_values; i++)
        if (!strcmp(t->columns[i].name, name))
            return t->columns[i].doc;
    return t && t->flags & PCOLLECT_TABLE_BY_PHASE && !strcmp(name, "phase")
               ? "phase of MPI_Pcontrol in which it was; 0: none"
               : "";
}
