/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The current MPI calls of the ranks of a job (where_calls.c), and ranks that wait for each other
 * (where_waits.c), as text, tsv and JSON.
 */
#ifndef PCT_WHERE_CALLS_H
#define PCT_WHERE_CALLS_H

#include "analysis/buffer.h"
#include "watch/watch.h"
#include "watch/who_waits.h"

#include <stdio.h>

/* The stacks of a watch that were taken together. */
struct pct_where_time {
    size_t first;        /* index of the first stack; the last one ends the list */
    uint64_t ticks;      /* time before the first of them was taken */
    uint64_t longest_ns; /* from the first stack of a time to its last; 0: not known */
};

/* A communicator that was made. */
struct pct_where_comm {
    enum pct_call_comm comm; /* PCT_COMM_AS_WORLD, or PCT_COMM_OTHER */
    uint64_t domain;
    int *members, n; /* of others; NULL: not known */
};

/* One rank of the job each. */
struct pct_where_calls {
    struct pct_waiting *ranks;               /* ascending */
    char *states;                            /* of the ranks, as in ps; 0: not known */
    const struct pct_watched_stack **stacks; /* with the call of each rank; NULL: none was read */
    size_t n;
    int *numbers;                 /* room for n */
    struct pct_where_comm *comms; /* of their calls; the ranks refer to the members */
    size_t n_comms, room;
    struct pct_waits waits;
};

/* Collects the calls of a watch, which must outlive it; n is 0 if there are no ranks. */
void pct_where_calls_collect(struct pct_where_calls *c, const struct pct_watch *w,
                             const struct pct_where_time *time);
/* Looks again at the ranks that seem to wait, once they had time to go on, and marks those that may
 * act. False: there are none. */
typedef bool pct_where_again_fn(struct pct_where_calls *c, void *arg);
bool pct_where_look_again(struct pct_where_calls *c,
                          void *watch); /* on this node (where_again.c) */
/* Finds out which ranks of `world` wait for each other. n_known: ranks on the nodes that were
 * looked at, by their launchers; -1: not known. */
void pct_where_calls_conclude(struct pct_where_calls *c, int world, int n_known,
                              pct_where_again_fn *look_again, void *arg);
void pct_where_calls_free(struct pct_where_calls *c);

/* Calls with communicator, peer, tag and time; prints nothing if no rank is in MPI. Rows are tsv,
 * or a JSON array. */
void pct_where_calls_print(FILE *out, const struct pct_where_calls *c, size_t width);
void pct_where_calls_rows(FILE *out, const struct pct_where_calls *c, bool json);
/* Requests for which MPI_Wait and its like wait, as rows. */
void pct_where_requests_rows(FILE *out, const struct pct_where_calls *c, bool json);

/* Sentences on ranks that wait; nothing if nothing is known. Rows are tsv, or a
 * JSON array. */
void pct_where_waits_print(FILE *out, const struct pct_where_calls *c, size_t width);
void pct_where_waits_rows(FILE *out, const struct pct_where_calls *c, bool json);

/* Appends the name of a communicator; nothing if there is none, or it is not known. Communicators
 * that were made have a letter if the calls are on several which have the same name otherwise. */
void pct_where_comm_put(struct pct_buf *b, const struct pct_where_calls *c, enum pct_call_comm comm,
                        uint64_t domain);

#endif
