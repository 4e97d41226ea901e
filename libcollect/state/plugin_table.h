/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Tables of plugins and of the library's own parts, in the arena.
 */
#ifndef PC_PLUGIN_TABLE_H
#define PC_PLUGIN_TABLE_H

#include "libcollect/state/state.h"

/* NULL, or why this table cannot be used. */
const char *pc_table_refused(const struct pcollect_table *table);
/* Registers a table; `plugin` is a plugin's name, or that of a part of the library. Before the
 * first row of it. Does nothing a second time, or if the name is taken, which is said once.
 * PC_ENOMEM: no room. Waits for another thread that does the same: not in handlers. */
int pc_table_add(const char *plugin, const struct pcollect_table *table);
/* As in struct pcollect_host, for a thread that is known; NULL finds no row. */
uint64_t *pc_table_row(void *thread, const struct pcollect_table *table, const uint64_t *keys);
uint64_t *pc_table_row_at(void *thread, uint32_t node, const struct pcollect_table *table,
                          const uint64_t *keys);
uint32_t pc_table_string(const char *text);

#endif
