/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Functions, files and lines of addresses that the symbols of a profile cannot find in a file: of
 * functions of Python, of code that processes made, and of files that only another node has.
 *
 * Nothing here is MT-safe.
 */
#ifndef PCT_NAMED_PLACES_H
#define PCT_NAMED_PLACES_H

#include "analysis/hash_index.h"
#include "analysis/symbols/symbols.h"
#include "watch/stack_tree.h"

struct pct_named_place {
    const struct pct_stack_module *module;
    uint64_t offset;        /* as pct_symbols_find takes it */
    struct pct_place place; /* without frames: it is to be looked up in a file */
};

/* Each module and offset once; starts as zeros. */
struct pct_named_places {
    struct pct_pool *texts; /* NULL: none yet */
    struct pct_named_place *at;
    size_t n, room;
    struct pct_hash_index by_offset;
};

/* Keeps a text once, as long as the places. */
const char *pct_named_text(struct pct_named_places *p, const char *text);

/* Adds a place with copies of its texts; of one that is there the first is kept. */
void pct_named_add(struct pct_named_places *p, const struct pct_stack_module *module,
                   uint64_t offset, struct pct_place place);

/* Adds a frame of a module that is no file, and returns its offset, which is made from its texts.
 */
uint64_t pct_named_make(struct pct_named_places *p, const struct pct_stack_module *module,
                        const struct pct_frame *frame);

/* Looks up the places that have no frames in the symbols s of a profile. */
void pct_named_look_up(struct pct_named_places *p, const struct pc_profile *profile,
                       struct pct_symbols *s);

/* Adds the places whose file is not here to the symbols s of a profile. They must outlive s. */
void pct_named_teach(const struct pct_named_places *p, const struct pc_profile *profile,
                     struct pct_symbols *s);

void pct_named_free(struct pct_named_places *p);

#endif
