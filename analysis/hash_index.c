/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Hashes of numbered things: see hash_index.h.
 */
#include "analysis/hash_index.h"

#include "analysis/allocation.h"

enum { FIRST_SLOTS = 64 };

static void put_into_free_slot(struct pct_hash_index *x, struct pct_hash_slot slot)
{
    size_t i = slot.hash & (x->n_slots - 1);
    while (x->slots[i].number)
        i = (i + 1) & (x->n_slots - 1);
    x->slots[i] = slot;
}

static void double_slots(struct pct_hash_index *x)
{
    struct pct_hash_slot *old = x->slots;
    size_t n_old = x->n_slots;
    x->n_slots = n_old ? 2 * n_old : FIRST_SLOTS;
    x->slots = pct_alloc(x->n_slots, sizeof *x->slots);
    for (size_t i = 0; i < n_old; i++)
        if (old[i].number)
            put_into_free_slot(x, old[i]);
    pct_free(old);
}

void pct_hash_add(struct pct_hash_index *x, uint32_t hash, uint32_t number)
{
    if (x->n >= x->n_slots / 4 * 3)
        double_slots(x);
    put_into_free_slot(x, (struct pct_hash_slot){number + 1, hash});
    x->n++;
}

void pct_hash_free(struct pct_hash_index *x)
{
    pct_free(x->slots);
    *x = (struct pct_hash_index){0};
}
