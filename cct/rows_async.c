/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rows of tables, which plugins book beside the contexts. Each thread has its own part of every
 * table, found by (table, keys) in a hash table in private memory that belongs to its tree; the
 * rows themselves are in the arena, in one list for each thread, so that the adopter of a tree gets
 * its rows too, and readers find them as they find trees.
 *
 * A row is filled with its keys and linked; from then on only its values change. Called by the
 * thread that owns the tree, at a call or in a handler. Must not: call malloc, wait, let errno
 * change.
 */
#include "cct/cct_private.h"

#include <string.h>

#define FIRST_ROW_SLOTS 512u /* a page */

static uint32_t hash_row(pcollect_ref table, unsigned n_keys, const uint64_t *keys)
{
    uint64_t h = table;
    for (unsigned i = 0; i < n_keys; i++) {
        h = (h + keys[i]) * 0x9e3779b97f4a7c15u;
        h ^= h >> 32;
    }
    return (uint32_t)(h >> 1);
}

static bool has_keys(const struct pcollect_row *row, pcollect_ref table, unsigned n_keys,
                     const uint64_t *keys)
{
    if (row->table != table)
        return false;
    for (unsigned i = 0; i < n_keys; i++)
        if (row->cells[i] != keys[i])
            return false;
    return true;
}

/* Makes sure that a slot stays empty, because every search ends at one. */
static bool has_row_slot(struct pc_tree *t)
{
    if (t->n_row_slots && t->n_rows + 1 <= t->n_row_slots / 4 * 3)
        return true;
    uint32_t n = t->n_row_slots ? t->n_row_slots * 2 : FIRST_ROW_SLOTS;
    struct pc_tree_slot *slots = pc_tree_grow_slots(t->row_slots, t->n_row_slots, n);
    if (!slots)
        return t->n_row_slots && t->n_rows + 1 < t->n_row_slots;
    if (t->row_slots)
        pc_tree_free_slots(t->row_slots, t->n_row_slots);
    t->row_slots = slots;
    t->n_row_slots = n;
    return true;
}

static struct pcollect_row *add_row(struct pc_tree *t, pcollect_ref table, unsigned n_keys,
                                    unsigned n_values, const uint64_t *keys, uint32_t hash)
{
    uint64_t bytes = sizeof(struct pcollect_row) + 8u * (uint64_t)(n_keys + n_values);
    pcollect_ref ref = has_row_slot(t) ? pc_tree_take(t, (bytes + 31) / 32 * 32) : 0;
    if (!ref)
        return NULL;
    struct pcollect_thread *thread = pc_tree_thread(t);
    struct pcollect_row *row = pc_arena_at(t->arena, ref);
    row->table = table;
    for (unsigned i = 0; i < n_keys; i++)
        row->cells[i] = keys[i];
    row->next = thread->rows;
    __atomic_store_n(&thread->rows, ref, __ATOMIC_RELEASE);
    pc_tree_put_slot(t->row_slots, t->n_row_slots, (struct pc_tree_slot){hash, ref});
    t->n_rows++;
    return row;
}

uint64_t *pc_tree_row(struct pc_tree *t, pcollect_ref table, unsigned n_keys, unsigned n_values,
                      const uint64_t *keys)
{
    uint32_t hash = hash_row(table, n_keys, keys), mask = t->n_row_slots - 1;
    struct pcollect_row *row = NULL;
    for (uint32_t i = hash & mask; t->n_row_slots && t->row_slots[i].node; i = (i + 1) & mask) {
        if (t->row_slots[i].hash != hash)
            continue;
        row = pc_arena_at(t->arena, t->row_slots[i].node);
        if (has_keys(row, table, n_keys, keys))
            return row->cells + n_keys;
    }
    row = add_row(t, table, n_keys, n_values, keys, hash);
    return row ? row->cells + n_keys : NULL;
}
