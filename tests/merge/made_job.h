/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Jobs of made arenas (made_arena.h) whose ranks are threads (net.h).
 */
#ifndef TESTS_MERGE_MADE_JOB_H
#define TESTS_MERGE_MADE_JOB_H

#include "merge/module.h"
#include "tests/merge/made_arena.h"
#include "tests/merge/net.h"

#define MOST_RANKS 144

/* A job: the arena of each rank, and the profile of all facts together. */
struct job {
    int n_ranks;
    struct made arenas[MOST_RANKS];
    struct fact *facts;
    unsigned n_facts;
    int missing;             /* a rank that has no profile, or -1 */
    const uint64_t *nodes;   /* of ranks; NULL: one */
    bool absent[MOST_RANKS]; /* have no module */
    struct pc_profile *result[MOST_RANKS];
    int err[MOST_RANKS];
    struct pc_error error[MOST_RANKS];
    const char *out;
    struct pc_merged merged[MOST_RANKS];
};

/* The bound for values at rank 0, 0: none; with `shared` all ranks have the facts of the first. */
void make_bounded_job(struct job *j, const struct shape *shape, int n_ranks, uint32_t values_kib,
                      bool shared);
void make_job(struct job *j, const struct shape *shape, int n_ranks);
void free_job(struct job *j);

struct pc_profile *profile_of_rank(const struct job *j, int rank);

/* The profile of the job, merged one rank after the other. */
struct pc_profile *merge_in_order(const struct job *j);

/* A network of its ranks, on its nodes. */
struct net *net_of(const struct job *j, bool waits);

#endif
