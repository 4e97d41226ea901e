/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Tables of plugins, and of the library's own parts, for figures that are not per context. A table
 * is known by the address of its description, which leads by a small hash table to its place in the
 * arena; rows are the trees' (cct/rows_async.c).
 *
 * pc_table_row runs on the measured path. If the row is known, it must not call malloc, take a lock
 * or make a system call.
 */
#include "libcollect/state/plugin_table.h"
#include "libcollect/state/state.h"

#include <sched.h>
#include <string.h>

static struct pc_loaded_table *find_slot(const struct pcollect_table *table)
{
    uint32_t i = (uint32_t)((uintptr_t)table >> 4) * 0x9e3779b1u >> 16;
    struct pc_loaded_table *slots = pc_process.tables;
    const struct pcollect_table *at;
    while ((at = atomic_load_explicit(&slots[i % PC_TABLE_SLOTS].table, memory_order_acquire)) &&
           at != table)
        i++;
    return &slots[i % PC_TABLE_SLOTS];
}

static void describe(const struct pcollect_column *c, struct pcollect_column_rec *out)
{
    memset(out, 0, sizeof *out);
    pc_format(out->name, sizeof out->name, "%s", c->name);
    out->type = c->type;
    out->combine = c->combine;
    out->unit = c->unit;
}

static int add_table(const char *plugin, const struct pcollect_table *table)
{
    static const struct pcollect_column phase = {
        .name = "phase", .type = PCOLLECT_COLUMN_NUMBER, .unit = PCOLLECT_UNIT_COUNT};
    struct pc_loaded_table *slot = find_slot(table);
    struct pcollect_table_rec record = {
        .n_keys = table->n_keys, .n_values = table->n_values, .flags = table->flags};
    struct pcollect_column_rec columns[PCOLLECT_MAX_KEYS + PCOLLECT_MAX_VALUES], *out = columns;
    if (slot->table)
        return PC_OK;
    if (pc_process.n_tables >= PC_MAX_TABLES)
        return PC_ENOMEM;
    pc_format(record.name, sizeof record.name, "%s", table->name);
    pc_format(record.plugin, sizeof record.plugin, "%s", plugin);
    for (unsigned i = 0; i < table->n_keys; i++)
        describe(&table->columns[i], out++);
    if (table->flags & PCOLLECT_TABLE_BY_PHASE) {
        describe(&phase, out++);
        record.n_keys++;
    }
    for (unsigned i = 0; i < table->n_values; i++)
        describe(&table->columns[table->n_keys + i], out++);
    slot->ref = pc_arena_add_table(&pc_process.arena, &record, columns);
    if (!slot->ref)
        return PC_ENOMEM;
    pc_process.n_tables++;
    atomic_store_explicit(&slot->table, table, memory_order_release);
    return PC_OK;
}

int pc_table_add(const char *plugin, const struct pcollect_table *table)
{
    static atomic_flag adding = ATOMIC_FLAG_INIT;
    while (atomic_flag_test_and_set(&adding))
        sched_yield();
    int err = add_table(plugin, table);
    atomic_flag_clear(&adding);
    return err;
}

/* Number of the phase that contains the context `node`, 0 if none does; node 0 stands for the
 * thread's current phase. */
static uint64_t level_of(const struct pc_thread *t, pcollect_ref node)
{
    if (!node || !t->scopes)
        return t->level;
    const struct pcollect_node *n = pc_arena_at(&pc_process.arena, node);
    while (n->kind != PCOLLECT_NODE_PHASE && n->parent)
        n = pc_arena_at(&pc_process.arena, n->parent);
    return n->kind == PCOLLECT_NODE_PHASE ? n->offset : 0;
}

static uint64_t *row_by_phase(struct pc_thread *t, const struct pc_loaded_table *slot,
                              pcollect_ref node, const uint64_t *keys)
{
    const struct pcollect_table *table = slot->table;
    uint64_t all[PCOLLECT_MAX_KEYS];
    memcpy(all, keys, table->n_keys * sizeof *keys);
    all[table->n_keys] = level_of(t, node);
    return pc_tree_row(t->tree, slot->ref, table->n_keys + 1u, table->n_values, all);
}

uint64_t *pc_table_row_at(void *thread, uint32_t node, const struct pcollect_table *table,
                          const uint64_t *keys)
{
    const struct pc_loaded_table *slot = find_slot(table);
    struct pc_thread *t = thread;
    uint64_t *values = NULL;
    if (PC_LIKELY(t && slot->table))
        values = table->flags & PCOLLECT_TABLE_BY_PHASE
                     ? row_by_phase(t, slot, node, keys)
                     : pc_tree_row(t->tree, slot->ref, table->n_keys, table->n_values, keys);
    if (PC_UNLIKELY(!values) && pc_header())
        pc_lost(PCOLLECT_LOST_ROWS, 1);
    return values;
}

uint64_t *pc_table_row(void *thread, const struct pcollect_table *table, const uint64_t *keys)
{
    return pc_table_row_at(thread, 0, table, keys);
}

uint32_t pc_table_string(const char *text)
{
    return text ? pc_arena_string(&pc_process.arena, text, strlen(text)) : 0;
}
