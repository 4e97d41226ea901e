/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Arenas that hold given facts (tests/format/random_profile.h), made by cct/ as the library makes
 * them: several threads, each with its tree; figures of a context booked as a plugin would.
 */
#ifndef TESTS_MERGE_MADE_ARENA_H
#define TESTS_MERGE_MADE_ARENA_H

#include "cct/cct.h"
#include "merge/merge.h"
#include "tests/format/random_profile.h"

#define MADE_JOB_KEY 0x1122334455667788u
#define MADE_THREADS 4u

struct making {
    int rank, n_ranks;
    uint64_t seed;     /* of what facts do not say: which thread, order of tables, op ids */
    const char *spool; /* NULL: anonymous */
    size_t bytes;      /* of the arena; 0: 16 MiB */
    bool lacks_volume, all_kinds, tables; /* as in struct shape */
    uint32_t per_rank, values_kib, contexts;
};

struct made {
    struct pc_arena arena;
    pcollect_ref modules[N_TEST_MODULES][2]; /* published twice, as after dlclose and dlopen */
    uint16_t ops[N_TEST_OPS];
    uint32_t offsets[N_TEST_FIELDS]; /* in a record */
    pcollect_ref tables[N_TEST_TABLES];
    struct pc_tree *trees[MADE_THREADS], *late;
    unsigned n_collapsed; /* facts for which the arena had no room */
};

/* Opens it and publishes the tables. */
void made_open(struct made *m, const struct making *how);

/* Books the facts: MADE_THREADS threads at once, each fact in the one that the seed chooses. Facts
 * without data leave their path behind, and those with op >= 0 a record that was never used. */
void made_book(struct made *m, const struct making *how, const struct fact *facts, unsigned n);

/* Books them in a tree for the time after the merge. */
void made_book_late(struct made *m, const struct making *how, const struct fact *facts, unsigned n);

/* Both of these, for a rank without late facts. */
void made_arena(struct made *m, const struct making *how, const struct fact *facts, unsigned n);

/* The facts that a profile must contain: those with a figure that is not 0. Moves them to the front
 * and returns their number. */
unsigned used_facts(struct fact *facts, unsigned n);

/* A copy of the first n bytes, ending at a page that cannot be read (n is rounded down to 16). */
struct guarded {
    char *data;
    size_t n;
    void *mapping;
    size_t mapping_bytes;
};
void guarded_copy(struct guarded *g, const void *data, size_t n);
void guarded_free(struct guarded *g);

/* Writes the bytes in use to a file. */
void made_write(const struct made *m, const char *path);

/* The sum of n arenas as recovery makes it, from files in that folder, in another order. Nothing
 * may be said. */
struct pc_profile *made_merge(const struct made *arenas, int n, const char *folder);

#endif
