/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Tables of plugins, and of the library's own parts: what is not per context. A table is known by
 * the address of its description, which leads by a small hash table to its place in the arena; rows
 * are the trees' (cct/rows_async.c).
 *
 * pc_table_row runs on the measured path. Must not there: call malloc, lock, make a system call
 * where the row is known.
 */
#include "libcollect/core_private.h"

#include <string.h>

static struct pc_loaded_table *find_slot(const struct pcollect_table *table)
{
    uint32_t i = (uint32_t)((uintptr_t)table >> 4) * 0x9e3779b1u >> 16;
    struct pc_loaded_table *slots = pc_process.tables;
    while (slots[i % PC_TABLE_SLOTS].table && slots[i % PC_TABLE_SLOTS].table != table)
        i++;
    return &slots[i % PC_TABLE_SLOTS];
}

static const char *why_column_refused(const struct pcollect_column *c, bool is_key)
{
    if (!c->name || !*c->name || strlen(c->name) >= PCOLLECT_NAME_BYTES)
        return "a column of a table has no name or a long one";
    if (c->type < PCOLLECT_COLUMN_NUMBER || c->type > PCOLLECT_COLUMN_DOMAIN)
        return "a column of a table has no type";
    if (c->unit < PCOLLECT_UNIT_COUNT || c->unit > PCOLLECT_UNIT_NS)
        return "a column of a table has no unit";
    if (is_key ? c->combine != 0 : c->combine < PCOLLECT_SUM || c->combine > PCOLLECT_MAX)
        return "a column of a table does not say how it is combined, or is a key and does";
    if (c->unit == PCOLLECT_UNIT_TICKS && (is_key || c->type != PCOLLECT_COLUMN_NUMBER))
        return "a key of a table, or what is no number, cannot be in ticks";
    return NULL;
}

const char *pc_table_refused(const struct pcollect_table *t)
{
    if (!t->name || !*t->name || strlen(t->name) >= PCOLLECT_NAME_BYTES)
        return "a table has no name or a long one";
    if (!t->columns || t->n_keys < 1 || t->n_keys > PCOLLECT_MAX_KEYS || t->n_values < 1 ||
        t->n_values > PCOLLECT_MAX_VALUES)
        return "a table has no columns, or too many";
    const char *why = NULL;
    for (unsigned i = 0; !why && i < t->n_keys + t->n_values; i++)
        why = why_column_refused(&t->columns[i], i < t->n_keys);
    return why;
}

int pc_table_add(const char *plugin, const struct pcollect_table *table)
{
    struct pc_loaded_table *slot = find_slot(table);
    struct pcollect_table_rec record = {.n_keys = table->n_keys, .n_values = table->n_values};
    struct pcollect_column_rec columns[PCOLLECT_MAX_KEYS + PCOLLECT_MAX_VALUES];
    if (slot->table)
        return PC_OK;
    if (pc_process.n_tables >= PC_TABLE_SLOTS / 2)
        return PC_ENOMEM;
    memset(columns, 0, sizeof columns);
    pc_format(record.name, sizeof record.name, "%s", table->name);
    pc_format(record.plugin, sizeof record.plugin, "%s", plugin);
    for (unsigned i = 0; i < (unsigned)table->n_keys + table->n_values; i++) {
        const struct pcollect_column *c = &table->columns[i];
        pc_format(columns[i].name, sizeof columns[i].name, "%s", c->name);
        columns[i].type = c->type;
        columns[i].combine = c->combine;
        columns[i].unit = c->unit;
    }
    slot->ref = pc_arena_add_table(&pc_process.arena, &record, columns);
    if (!slot->ref)
        return PC_ENOMEM;
    slot->table = table;
    pc_process.n_tables++;
    return PC_OK;
}

/* The calling thread's state, for callers outside of hooks; NULL: it is in a hook, has none, or
 * nothing is collected (yet: plugins start before). */
static struct pc_thread *calling_thread(void)
{
    struct pc_thread *t = pc_self;
    if ((t && t->busy) || !atomic_load_explicit(&pc_live->phase, memory_order_acquire))
        return NULL;
    if (!t)
        return pc_thread_enter();
    return pc_thread_refresh(t) ? t : NULL;
}

uint64_t *pc_table_row(void *thread, const struct pcollect_table *table, const uint64_t *keys)
{
    const struct pc_loaded_table *slot = find_slot(table);
    struct pc_thread *t = thread ? thread : calling_thread();
    uint64_t *values = NULL;
    if (PC_LIKELY(t && slot->table))
        values = pc_tree_row(t->tree, slot->ref, table->n_keys, table->n_values, keys);
    if (PC_UNLIKELY(!values) && pc_header())
        pc_lost(PCOLLECT_LOST_ROWS, 1);
    return values;
}

uint32_t pc_table_string(const char *text)
{
    return text ? pc_arena_string(&pc_process.arena, text, strlen(text)) : 0;
}
