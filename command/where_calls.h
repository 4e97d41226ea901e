/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The MPI calls in which the ranks of a job are, and who waits for whom.
 */
#ifndef PCT_WHERE_CALLS_H
#define PCT_WHERE_CALLS_H

#include "watch/watch.h"

#include <stdio.h>

struct pct_where_calls {
    const struct pct_watch *watch;
    size_t first;   /* of the stacks: those from here on were taken at one time */
    uint64_t ticks; /* before the first of them was taken */
    size_t width;
};

/* Sentences on ranks that wait, then the calls with communicator, peer, tag and time. Nothing where
 * there are no ranks, or none is in MPI. */
void pct_where_calls_print(FILE *out, const struct pct_where_calls *w);

#endif
