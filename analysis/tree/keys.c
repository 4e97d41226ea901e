/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rows by an interned text: see keys.h.
 */
#include "analysis/tree/keys.h"

#include "analysis/buffer.h"

static size_t find_slot(const struct pct_keys *k, const char *key)
{
    size_t i = pc_hash_u64((uintptr_t)key) & (k->n_slots - 1);
    while (k->slots[i] && k->keys[k->slots[i] - 1] != key)
        i = (i + 1) & (k->n_slots - 1);
    return i;
}

static void grow_slots(struct pct_keys *k)
{
    pct_free(k->slots);
    k->n_slots = k->n_slots ? k->n_slots * 2 : 256;
    k->slots = pct_alloc(k->n_slots, sizeof *k->slots);
    for (size_t i = 0; i < k->n; i++)
        k->slots[find_slot(k, k->keys[i])] = (uint32_t)i + 1;
}

uint32_t pct_keys_find(struct pct_keys *k, const char *key, bool *is_new_out)
{
    if (k->n * 2 >= k->n_slots)
        grow_slots(k);
    size_t slot = find_slot(k, key);
    *is_new_out = !k->slots[slot];
    if (!*is_new_out)
        return k->slots[slot] - 1;
    k->keys = pct_grow(k->keys, k->n, &k->room, sizeof *k->keys);
    k->keys[k->n] = key;
    k->slots[slot] = (uint32_t)++k->n;
    return (uint32_t)k->n - 1;
}

void pct_keys_free(struct pct_keys *k)
{
    pct_free(k->keys);
    pct_free(k->slots);
    *k = (struct pct_keys){0};
}
