/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Tables of plugins and of the library's own parts, in the arena.
 */
#ifndef PC_PLUGIN_TABLE_H
#define PC_PLUGIN_TABLE_H

#include "libcollect/state/state.h"

/* Registers a table; `plugin` is a plugin's name, or that of a part of the library. Must come
 * before its first row. Does nothing if the table is registered already. The name is that of no
 * other table. PC_ENOMEM: no room in the arena, or more than PC_MAX_TABLES. Waits for another
 * thread that does the same: not in handlers. */
int pc_table_add(const char *plugin, const struct pcollect_table *table);
/* Finds a row as struct pcollect_host does, for a thread that is known; for NULL it finds none. */
uint64_t *pc_table_row(void *thread, const struct pcollect_table *table, const uint64_t *keys);
uint64_t *pc_table_row_at(void *thread, uint32_t node, const struct pcollect_table *table,
                          const uint64_t *keys);
uint32_t pc_table_string(const char *text);

#endif
