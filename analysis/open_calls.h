/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The calls of MPI in which threads were when their data ends: of killed ranks, and of checkpoints.
 *
 * Data structure: one entry for each row of the table `open_calls`, in its order: by rank, then by
 * thread; and after them one of 0 ns for each call of MPI_Abort, which does not return. Invariant:
 * `rank` is an index into the profile's ranks. A rank that is complete was in MPI_Finalize.
 * MT-safe.
 */
#ifndef PCT_OPEN_CALLS_H
#define PCT_OPEN_CALLS_H

#include "format/profile.h"

struct pct_open_call {
    uint32_t rank;
    uint64_t thread; /* 0: the main thread, the one that called MPI_Init */
    uint32_t node;   /* its context */
    uint64_t ns;     /* since its begin: in the times of the rank, and in no context */
};

struct pct_open_calls {
    struct pct_open_call *list;
    size_t n;
    uint64_t ns; /* of all */
};

/* Never NULL. */
struct pct_open_calls *pct_open_calls_new(const struct pc_profile *p);

/* True if MPI_Abort was called: then its contexts must be in memory. */
bool pct_open_calls_abort(const struct pc_profile *p);

/* True for a context of MPI_Abort. */
bool pct_open_call_is_abort(const struct pc_profile *p, uint32_t node);

/* The call in which each rank was: that of its main thread, or else the longest of another thread,
 * for which the main thread may wait. NULL: no thread was in one. Freed by pct_free. */
const struct pct_open_call **pct_open_calls_of_ranks(const struct pct_open_calls *c,
                                                     const struct pc_profile *p);
void pct_open_calls_free(struct pct_open_calls *c);

#endif
