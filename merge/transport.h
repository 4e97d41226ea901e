/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Transport between ranks: a table of functions, so that the merge knows neither MPI nor the
 * process it runs in. In a job the adapter fills it with PMPI calls (libcollect/mpi); tests fill it
 * with memory.
 */
#ifndef PC_TRANSPORT_H
#define PC_TRANSPORT_H

#include <stddef.h>
#include <stdint.h>

/* The words of the meeting (meet.c). In HERE and VOTE each rank says one to rank 0, in the others
 * rank 0 says one to all. */
enum pc_meeting_step {
    PC_MEET_HELLO,
    PC_MEET_HERE,
    PC_MEET_OPEN,
    PC_MEET_VOTE,
    PC_MEET_DECISION,
    PC_MEET_STEPS
};

/* All functions return 0 or a negative enum pc_err. */
struct pc_transport {
    void *self;
    int rank, n_ranks;
    int n_parents; /* processes of the job that has started this one by MPI_Comm_spawn, or 0 */

    /* ---- Before it is known that all ranks take part. Nothing here waits without a limit. ---- */
    /* Begins to say and to hear the words of a step. Each step once, in their order. NULL: all are
     * there, and none of these is called. */
    int (*begin)(void *self, enum pc_meeting_step step, char word);
    /* Waits until the words of a step have come, or those of rank 0 have left: PC_ENOENT if the
     * limit was reached first, -1 for none. Time in which the process is stopped is not counted. */
    int (*await)(void *self, enum pc_meeting_step step, int limit_ms);
    /* The word of a rank as far as it has come, 0 before: of all on rank 0, of rank 0 elsewhere. */
    char (*word)(void *self, enum pc_meeting_step step, int rank);
    /* A clock that goes on while the process is stopped. */
    uint64_t (*now_ms)(void *self);

    /* ---- Collective, once all take part --------------------------------------------------- */
    /* Prepares what follows: no rank returns before all have called it. */
    int (*join)(void *self);
    int (*send)(void *self, const void *data, size_t n, int to);
    /* Length first, then the data: the caller learns n before it must provide room. */
    int (*receive_size)(void *self, int from, size_t *n_out);
    int (*receive)(void *self, void *data, size_t n, int from);
    int (*broadcast)(void *self, void *data, size_t n, int root);
};

#endif
