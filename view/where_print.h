/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The ranks of a running job: their stacks merged into one tree, and the MPI functions that they
 * are in.
 */
#ifndef PCT_WHERE_PRINT_H
#define PCT_WHERE_PRINT_H

#include "analysis/gather.h"

#include <stdio.h>

/* A stack, which is a rank of its own in the profile. */
struct pct_where_stack {
    int number; /* number of the rank, or of another unit that is counted */
    char state; /* as in ps */
    bool tells; /* it is the thread that is counted, or the main thread of what is counted */
};

struct pct_where {
    const struct pct_data *d;
    const struct pct_where_stack *stacks; /* by rank of the profile */
    const char *one, *many;               /* name of the unit: "rank", "ranks" */
    bool ranks;                           /* ranks are counted */
    size_t width;
    bool utf8, full_names;
    uint64_t times; /* that stacks were taken: of several, shares are shown */
};

/* Activity of a thread by its state, as in ps; NULL in MPI, where running and waiting mean the
 * same.
 */
const char *pct_state_text(char state, bool in_mpi);

/* Prints text: a line for each MPI function and state of what is counted, of ranks and processes
 * that of their main threads, and how many times each was there; then the tree. */
void pct_where_print(FILE *out, const struct pct_where *w);

/* Prints a row for each end of a path: numbers, stacks, share, MPI function, path; as JSON an
 * array. */
void pct_where_rows(FILE *out, const struct pct_where *w, bool json);

#endif
