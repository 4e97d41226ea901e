/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Samples of other threads that the kernel takes: registers and a copy of the stack, and records of
 * actions of processes that a reader must know. The kernel writes into rings, for each processor
 * one of the clock and one of the event, if there is one; the records of all rings are passed on in
 * the order of time.
 *
 * Nothing is loaded into a watched thread, and none is stopped. Nothing here is MT-safe.
 */
#ifndef PCT_SAMPLE_RINGS_H
#define PCT_SAMPLE_RINGS_H

#include "counting/counting.h"
#include "watch/code_files.h"

enum pct_ring_record_type {
    PCT_RING_SAMPLE,
    PCT_RING_MAP,  /* the process has mapped code */
    PCT_RING_EXEC, /* the process runs another program now */
    PCT_RING_FORK, /* process `parent` has made the process */
    PCT_RING_EXIT, /* the thread has ended */
    PCT_RING_LOST  /* `n` records had no room; there is room again, when the process runs */
};

struct pct_ring_record {
    enum pct_ring_record_type type;
    int pid, tid, parent;
    uint64_t time_ns; /* CLOCK_MONOTONIC */
    bool of_event;    /* SAMPLE, LOST: of the event, not of the clock */
    uint64_t n;       /* SAMPLE: ns, or events, since the last one */
    /* SAMPLE: registers of user code, by the kernel's numbers; NULL: none, as for a kernel
     * thread. */
    const uint64_t *registers;
    const uint8_t *stack; /* n_stack bytes from the stack pointer on */
    size_t n_stack;
    struct pct_mapping map;
    const char *name; /* EXEC: that of the process, cut to PCT_COMM_BYTES; else NULL */
};

struct pct_rings;

/* Sources of samples: a clock and, optionally, an event. */
struct pct_rings_what {
    struct pc_counting_term clock; /* clock that counts here; without samples, any event */
    uint64_t frequency;            /* samples in a second; 0: none, only the other records */
    bool with_event;
    struct pc_counting_term event; /* event that counts here */
    uint64_t period; /* events from one sample to the next; 0: as the frequency says */
};

/* PC_EIO: the kernel does not let us sample, or not on this processor; the text says why. */
int pct_rings_new(const struct pct_rings_what *what, struct pct_rings **out,
                  struct pc_error *error);
/* Adds a thread, with all threads and processes that it starts; -1: all threads. from_exec: samples
 * from its next exec on, else from pct_rings_start on. PC_ENOENT: it has ended; PC_EIO: refused,
 * with the reason. */
int pct_rings_add(struct pct_rings *r, int tid, bool from_exec, struct pc_error *error);
void pct_rings_start(struct pct_rings *r);
void pct_rings_stop(struct pct_rings *r);

/* Sums over all threads, including those that ended. */
struct pct_rings_counts {
    uint64_t clock_ns, events;
    /* Records without room, also after the last that had some, which tells of those before it: of
     * the clock and of actions; of the event. 0 before Linux 6.0. */
    uint64_t n_lost, n_lost_of_event;
};
struct pct_rings_counts pct_rings_counts(const struct pct_rings *r);

/* Passes on the records that are certain to be in order, with `all` every record. Records are valid
 * during the call.
 */
void pct_rings_drain(struct pct_rings *r, bool all,
                     void (*take)(void *arg, const struct pct_ring_record *record), void *arg);
void pct_rings_free(struct pct_rings *r); /* NULL is allowed */

#endif
