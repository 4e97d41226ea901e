/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Finds rows by a text: the n-th new text gets the number n. Texts are interned, so that comparing
 * them is comparing addresses. Zero-initialise.
 */
#ifndef PCT_KEYS_H
#define PCT_KEYS_H

#include "analysis/hash_index.h"

struct pct_keys {
    const char **keys; /* by row */
    size_t n, room;
    struct pct_hash_index rows;
};

/* The row of an interned text; *is_new_out: it had none before. Never fails. */
uint32_t pct_keys_find(struct pct_keys *k, const char *key, bool *is_new_out);
void pct_keys_free(struct pct_keys *k);

#endif
