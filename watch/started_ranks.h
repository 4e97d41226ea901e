/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Finds ranks when their launcher starts them: below a command, the kernel reports each fork and
 * exec. A process that gets a launcher's variables with its exec is a rank, with all that it
 * starts.
 *
 * Nothing is loaded into a process, and none is stopped: so a rank is known a moment after its
 * exec. Nothing here is MT-safe.
 */
#ifndef PCT_STARTED_RANKS_H
#define PCT_STARTED_RANKS_H

#include "base/base.h"

struct pct_started;

/* A rank that has begun. Several processes may be one rank: of two launches, or a spawned one. */
struct pct_started_rank {
    int pid, rank;
    int world;        /* ranks of its job, on all nodes; -1: unknown */
    int n_local;      /* of them on this node; -1: unknown */
    uint64_t exec_ns; /* CLOCK_MONOTONIC */
};

/* Prepares to watch a process that waits for its exec, and what it starts. PC_EIO: the kernel does
 * not allow it, with the reason. */
int pct_started_new(int pid, struct pct_started **out, struct pc_error *error);

/* Passes on the ranks that have begun since the last call, whose counters are to be opened in
 * `found`; their children are not passed on if they are forked later. */
void pct_started_look(struct pct_started *s,
                      void (*found)(void *arg, const struct pct_started_rank *rank), void *arg);

/* Processes that ended before it was known whether they are ranks, and records that the kernel had
 * no room for. */
uint64_t pct_started_missed(const struct pct_started *s);

void pct_started_free(struct pct_started *s); /* NULL is allowed */

#endif
