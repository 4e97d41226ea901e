/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Samples of processes where the kernel takes none. Each thread that is seen on a processor is
 * stopped for a moment, in which its registers and the inner part of its stack are read; they go to
 * the recorder as a sample that stands for the thread's CPU time since its last one.
 *
 * No thread is held from one look to the next. Nothing here is MT-safe.
 */
#ifndef PCT_STOPPED_SAMPLES_H
#define PCT_STOPPED_SAMPLES_H

#include "watch/recorder.h"

enum { PCT_STOPS_MOST_HZ = 50 };

struct pct_stops;

/* frequency: looks in a second, PCT_STOPS_MOST_HZ at most. The recorder must outlive it. */
struct pct_stops *pct_stops_new(uint64_t frequency, struct pct_recorder *recorder);
/* Adds a process, with all processes that it starts. PC_ENOENT: it has ended; PC_EIO: the kernel
 * does not allow it, and why. */
int pct_stops_add(struct pct_stops *s, int pid, struct pc_error *error);
/* Adds one thread alone. */
int pct_stops_add_thread(struct pct_stops *s, int tid, struct pc_error *error);

/* Takes samples if it is time for the next look; returns the ns until then. */
uint64_t pct_stops_look(struct pct_stops *s);

/* Reads what the processes have used up to now, and removes those that have ended. */
void pct_stops_count(struct pct_stops *s);

struct pct_stops_told {
    uint64_t counted_ns; /* CPU time of the processes since they were added, or of the threads, up
                            to the last count */
    uint64_t n_waited;   /* samples of threads that waited for a processor */
    uint64_t n_refused; /* stops that failed: another tool held the thread, or it has more rights */
};
struct pct_stops_told pct_stops_told(const struct pct_stops *s);
void pct_stops_free(struct pct_stops *s); /* NULL is allowed */

#endif
