/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Simulated profiles of the ranks of a job: the data that the default plugins collect in a program
 * whose ranks lie in a grid in space and exchange messages with up to 26 neighbours.
 */
#ifndef BENCH_MERGE_RANKS_H
#define BENCH_MERGE_RANKS_H

#include "format/profile.h"

struct merge_ranks {
    uint32_t n_ranks;
    uint32_t n_contexts; /* records of a rank: three of four are calls, the fourth is sampled */
    uint32_t n_differ;   /* of these, the ones that not all ranks have */
    bool own;        /* no two ranks share these; else those of one place in the grid do: inside,
                        faces, edges and corners, 27 in all */
    bool neighbours; /* pairs of ranks are counted */
    uint64_t values_bytes;
    uint32_t contexts;
};

/* The profile of a rank. NULL: no memory. */
struct pc_profile *merge_ranks_make(const struct merge_ranks *job, int32_t rank);

/* False if the sum of all ranks does not have the right calls, ranks and pairs. */
bool merge_ranks_agree(const struct merge_ranks *job, const struct pc_profile *sum);

#endif
