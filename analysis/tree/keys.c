/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rows by an interned text: see keys.h.
 */
#include "analysis/tree/keys.h"

#include "analysis/allocation.h"

uint32_t pct_keys_find(struct pct_keys *k, const char *key, bool *is_new_out)
{
    struct pct_hash_search search = {.hash = (uint32_t)pc_hash_u64((uintptr_t)key)};
    uint32_t row;
    while ((row = pct_hash_next(&k->rows, &search)) != PC_NO_INDEX && k->keys[row] != key) {
    }
    *is_new_out = row == PC_NO_INDEX;
    if (!*is_new_out)
        return row;
    row = (uint32_t)k->n++;
    k->keys = pct_grow(k->keys, row, &k->room, sizeof *k->keys);
    k->keys[row] = key;
    pct_hash_add(&k->rows, search.hash, row);
    return row;
}

void pct_keys_free(struct pct_keys *k)
{
    pct_free(k->keys);
    pct_hash_free(&k->rows);
    *k = (struct pct_keys){0};
}
