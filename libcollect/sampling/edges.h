/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Counts between certain points. At the begin and the end of an MPI call the context is known
 * exactly; the counters that count all the time are read there. The count from one such point to
 * the next is an edge. It is exact; only its division among the contexts between the points rests
 * on samples. doc/internals/attribution.md. For libcollect only.
 */
#ifndef PC_EDGES_H
#define PC_EDGES_H

#include "libcollect/sampling/counter_groups.h"
#include "libcollect/state/own_tables.h"

enum { PC_EDGES_SLOTS = 512 /* a power of two */ };

/* Owner of a thread's edges. The thread books between FREE and BOOKING. The merge, in another
 * thread, goes by READING to ENDED; the thread may take READING for BOOKING, and then the merge
 * begins again, but ENDED is for good. So an edge is booked once, and the counters that the merge
 * has read were open. */
enum pc_edges_state {
    PC_EDGES_FREE,
    PC_EDGES_BOOKING, /* by the thread */
    PC_EDGES_READING, /* the merge reads the counters */
    PC_EDGES_ENDED    /* the merge books the last edge, or has booked it */
};

struct pc_edges {
    _Atomic uint32_t state;      /* enum pc_edges_state */
    const struct pc_counted *of; /* events that are read */
    struct pc_counting_meter *meter;
    uint64_t due, spacing; /* ticks: not read again before `due` */
    uint32_t breaks;       /* value of pc_control.breaks when `base` was read */
    pcollect_ref from;     /* context of the point that was read last; 0: the thread's start, or
                            * where collection was switched on again */
    pcollect_ref call;     /* context of the outermost MPI call, in progress or the last one */
    bool inside;           /* `from` is the beginning of the call in progress */
    _Atomic bool live;
    uint32_t n_samples;  /* slots in use */
    uint32_t n_unplaced; /* samples since that point for which no slot was free */
    struct pc_counting_values base, now;
    uint64_t missed_ns;                       /* of `base` when the thread began */
    uint64_t *counts[PC_COUNTING_MAX_EVENTS]; /* the rows of the thread in the table `counters` */
    struct {
        pcollect_ref node;
        uint32_t n;
    } samples[PC_EDGES_SLOTS]; /* samples since that point */
};

/* Replaces begin, end and control of the core if counters count all the time. Called after
 * pc_counters_start and the start of the plugins; init-only. */
int pc_edges_start(void);
/* The calling thread counts from now on: its first edge begins. */
void pc_edges_enter(struct pc_thread *t, void *function);
/* The calling thread is about to end, or the merge comes: its last edge ends here, in the MPI call
 * in progress or at the thread's end. */
void pc_edges_leave(struct pc_thread *t);
/* Does pc_edges_leave for the calling thread, if it is measured, and ends the last edges of the
 * other threads. */
void pc_edges_before_merge(void);

/* Notes a sample that was booked to `node`; 0: to the MPI call in progress. Called in the handler.
 * AS-safe. */
void pc_edges_sample(struct pc_edges *e, pcollect_ref node);

#endif
