/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Transport between ranks: a table of functions, so that the merge knows neither MPI nor the
 * process it runs in. In a job the adapter fills it with PMPI calls (libcollect/mpi); tests fill it
 * with memory.
 */
#ifndef PC_TRANSPORT_H
#define PC_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Steps of the meeting (meet.c). In some each rank sends one byte, its word, to rank 0; in the
 * others rank 0 sends one to all. More goes with some words (with_word). */
enum pc_meeting_step {
    PC_MEET_HELLO,
    PC_MEET_HERE,
    PC_MEET_OPEN,
    PC_MEET_VOTE,
    PC_MEET_DECISION,
    PC_MEET_STEPS
};

static inline bool pc_meet_gathers(enum pc_meeting_step step)
{
    return step == PC_MEET_HERE || step == PC_MEET_VOTE;
}

struct pc_route;

/* All functions return 0 or a negative enum pc_err. */
struct pc_transport {
    void *self;
    int rank, n_ranks;
    int n_parents; /* processes of the job that has started this one by MPI_Comm_spawn, or 0 */
    /* The ranks that this one exchanges messages with in the merge (route.h); set by meet.c. */
    const struct pc_route *route;

    /* ---- Functions for the time before it is known that all ranks take part. None waits without a
     * limit. ---- */
    /* Begins to send and receive the words of a step. Each step once, in order. NULL: all ranks are
     * known to take part, and none of these functions is called. */
    int (*begin)(void *self, enum pc_meeting_step step, char word);
    /* Waits until the words of a step have arrived, or those of rank 0 have been sent. PC_ENOENT:
     * the limit was reached first; limit -1: none. Time in which the process is stopped is not
     * counted. */
    int (*await)(void *self, enum pc_meeting_step step, int limit_ms);
    /* The word of a rank, 0 before it has arrived: on rank 0 of any rank, elsewhere of rank 0. */
    char (*word)(void *self, enum pc_meeting_step step, int rank);
    /* Data beside a word: written before the step begins, and read when its word is there. HERE:
     * the id of the node of a rank, a uint64_t; OPEN: its route, of pc_route_bytes (route.h); the
     * other steps have nothing. On rank 0 that of any rank; elsewhere of this one. Aligned. */
    void *(*with_word)(void *self, enum pc_meeting_step step, int rank);
    /* A clock that continues while the process is stopped. */
    uint64_t (*now_ms)(void *self);

    /* ---- Collective functions, called when all take part ---------------------------------- */
    /* Prepares what follows: no rank returns before all have called it. */
    int (*join)(void *self);
    int (*send)(void *self, const void *data, size_t n, int to);
    /* Receives the length, which is sent before the data: the caller knows n before it must provide
     * room. */
    int (*receive_size)(void *self, int from, size_t *n_out);
    int (*receive)(void *self, void *data, size_t n, int from);
    int (*broadcast)(void *self, void *data, size_t n, int root);
};

#endif
