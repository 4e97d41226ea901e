/* SPDX-License-Identifier: BSD-3-Clause
 *
 * MPI calls in which the ranks of a job are (where_calls.c), and who waits for whom
 * (where_waits.c), as text, tsv and JSON.
 */
#ifndef PCT_WHERE_CALLS_H
#define PCT_WHERE_CALLS_H

#include "watch/watch.h"
#include "watch/who_waits.h"

#include <stdio.h>

/* The stacks of a watch that were taken at one time. */
struct pct_where_time {
    size_t first;   /* of the stacks: up to the last one */
    uint64_t ticks; /* before the first of them was taken */
};

/* A communicator that was made; members NULL: not known. */
struct pct_where_comm {
    uint64_t domain;
    int *members, n;
};

/* One rank of the job each. */
struct pct_where_calls {
    struct pct_waiting *ranks; /* rising */
    char *states;              /* of the ranks, as in ps */
    size_t n;
    int *numbers;                 /* room for n */
    struct pct_where_comm *comms; /* the ranks refer to their members */
    size_t n_comms, room;
    struct pct_waits waits;
};

/* Gathers what a watch has seen, which must outlive it; n is 0 where there are no ranks. */
void pct_where_calls_gather(struct pct_where_calls *c, const struct pct_watch *w,
                            const struct pct_where_time *time);
void pct_where_calls_free(struct pct_where_calls *c);

/* Calls with communicator, peer, tag and time; nothing if none is in MPI. Rows are tsv, or a
 * JSON array. */
void pct_where_calls_print(FILE *out, const struct pct_where_calls *c, size_t width);
void pct_where_calls_rows(FILE *out, const struct pct_where_calls *c, bool json);

/* Sentences on ranks that wait; nothing if nothing is known. Rows are tsv, or a
 * JSON array. */
void pct_where_waits_print(FILE *out, const struct pct_where_calls *c, size_t width);
void pct_where_waits_rows(FILE *out, const struct pct_where_calls *c, bool json);

/* Name of a communicator; "": none, or it is not known. */
const char *pct_where_comm_name(enum pct_call_comm comm);

#endif
