/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Finds numbered things by their hashes. The index knows numbers and hashes only; its user keeps
 * the things, and compares those whose hash is the wanted one:
 *
 *     struct pct_hash_search search = {.hash = hash};
 *     uint32_t i;
 *     while ((i = pct_hash_next(&index, &search)) != PC_NO_INDEX)
 *         if (is_wanted(&things[i]))
 *             return i;
 *     pct_hash_add(&index, hash, n_things);
 *
 * Nothing is removed. Zero-initialise.
 */
#ifndef PCT_HASH_INDEX_H
#define PCT_HASH_INDEX_H

#include "format/profile.h"

/* The hash is beside the number, so that things are seldom read, and none when the index grows. */
struct pct_hash_slot {
    uint32_t number; /* plus 1; 0: free */
    uint32_t hash;
};

struct pct_hash_index {
    struct pct_hash_slot *slots; /* open addressing; at most three quarters full */
    size_t n_slots;              /* a power of two, or 0 */
    size_t n;
};

struct pct_hash_search {
    uint32_t hash;
    uint32_t n_seen; /* slots */
};

/* The next thing with the hash of the search; PC_NO_INDEX: there is none. */
static inline uint32_t pct_hash_next(const struct pct_hash_index *x, struct pct_hash_search *s)
{
    while (x->n_slots) {
        const struct pct_hash_slot *slot = &x->slots[(s->hash + s->n_seen++) & (x->n_slots - 1)];
        if (!slot->number)
            break;
        if (slot->hash == s->hash)
            return slot->number - 1;
    }
    return PC_NO_INDEX;
}

void pct_hash_add(struct pct_hash_index *x, uint32_t hash, uint32_t number);
void pct_hash_free(struct pct_hash_index *x);

#endif
