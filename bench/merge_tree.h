/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The reduction of MPI_Finalize (merge/reduce.c) for any number of ranks in one thread. A rank that
 * waits for a message of a child runs that child, on the same stack: at most as many ranks are in
 * memory as the tree has levels. Each rank has a clock, the processor time of its own code; a
 * message arrives when it was sent. So the clock of rank 0 is the critical path of the tree, on
 * machines where messages take no time.
 */
#ifndef BENCH_MERGE_TREE_H
#define BENCH_MERGE_TREE_H

#include "merge/merge.h"

struct merge_tree {
    uint32_t n_ranks;
    /* Makes the profile of a rank; may be called more than once for a rank. Then the function that
     * gets the sum of rank 0, and owns it. */
    struct pc_profile *(*make)(void *arg, int32_t rank);
    void (*end)(void *arg, struct pc_profile *sum);
    /* Called for each rank that has a share to write, before that; owns its bytes. */
    void (*share)(void *arg, int32_t rank, const struct pc_reduced *reduced);
    void *arg;

    /* Results. */
    double counted_s, merged_s,
        ended_s;                 /* clock of rank 0: records chosen, all merged, at the end */
    uint64_t n_bytes, n_bytes_0; /* of all messages, and of those that rank 0 received */
    uint64_t n_numbers_0;        /* numbers in the latter */
    /* Peak memory: of any rank except 0, of rank 0 while it merges, and of rank 0 to the end. */
    size_t peak_bytes, merge_bytes_0, peak_bytes_0;
};

/* PC_OK, or the first error with its text. */
int merge_tree_run(struct merge_tree *tree, struct pc_error *error);

#endif
