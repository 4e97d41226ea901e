/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What each thread of each rank did: MPI time, CPU time, and CPU time outside MPI by its samples.
 *
 * Data structure: one entry for each row of the table `thread_records`, in its order: by rank, then
 * by number of the thread. Invariant: `list` has n entries, `rank` is an index into the profile's
 * ranks. MT-safe.
 */
#ifndef PCT_THREAD_TIMES_H
#define PCT_THREAD_TIMES_H

#include "format/profile.h"

struct pct_thread_time {
    uint32_t rank;
    uint64_t number;
    const char *kind, *name;
    uint64_t n_threads; /* that had this number, one after the other */
    uint64_t mpi_calls, mpi_ns;
    uint64_t cpu_ns;
    bool has_cpu;        /* false: the process was killed, or filters system calls */
    uint64_t outside_ns; /* CPU time outside MPI */
    bool is_sampled;     /* outside_ns is known */
    double share;        /* of outside_ns in the mean of the rank's threads, as a ratio; 0: none */
};

struct pct_thread_times {
    struct pct_thread_time *list;
    size_t n;
};

/* Never NULL. Texts are the profile's. */
struct pct_thread_times *pct_thread_times_new(const struct pc_profile *p);
void pct_thread_times_free(struct pct_thread_times *t);

#endif
