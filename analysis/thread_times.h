/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Times of each thread of each rank: MPI time, CPU time, and CPU time outside MPI from its samples;
 * and the lead of one thread of a rank over those with the same work.
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
    uint64_t n_threads; /* threads that had this number, one after the other */
    uint64_t mpi_calls, mpi_ns;
    uint64_t cpu_ns;
    bool has_cpu;         /* false: the process was killed, or filters system calls */
    uint64_t outside_ns;  /* CPU time outside MPI */
    uint64_t waits_ns;    /* part of outside_ns in a threading runtime: it waits for others, or the
                             runtime works (runtime_work.h); 0 if the rank has no other thread */
    uint64_t bindings_ns; /* part of outside_ns in the MPI library, outside of measured calls */
    double work_ns;       /* CPU time of the program's work: neither of these, nor in MPI */
    double variance;      /* upper bound for that of work_ns, in ns^2 */
    bool is_sampled;      /* outside_ns is known */
    uint64_t delayed_ns;  /* could run, and no processor was free */
    double share;         /* of work in the mean of the rank's threads, as a ratio; 0: none */
};

/* True if the thread belongs to the program, not to the MPI library. */
bool pct_thread_is_program(const struct pct_thread_time *t);

/* True if several threads of a threading runtime had this number. The runtime makes one while
 * another still ends, as at each inner region of OpenMP, and that one gets a further number: so
 * there may be more numbers than threads at any time. Threads of the program do so, too, if nothing
 * joins them: that is not known, and they are taken for joined. */
bool pct_thread_is_renewed(const struct pct_thread_time *t);

struct pct_thread_times {
    struct pct_thread_time *list;
    size_t n;
};

/* Threads of one rank that do the same work: an OpenMP team with the main thread, or threads made
 * by the program, if they compute. One of them may have more work than the others. Nothing is known
 * of threads that had their number one after another. */
struct pct_thread_lead {
    const struct pct_thread_time *busiest; /* NULL: none is surely ahead */
    size_t n;                              /* threads that do the same */
    double others_ns;                      /* mean work of the others */
    double saves_ns;                       /* for the rank if all had the same work, at least */
};

/* Compares the threads of one rank: those of the list from `first` on, up to `end`. `chance`:
 * probability that equal work is reported as a lead. */
struct pct_thread_lead pct_thread_times_lead(const struct pct_thread_times *t, size_t first,
                                             size_t end, double chance);

/* True if threads wait for each other in the code of threading runtimes: a rank has several threads
 * of the program. Profiles of samples from outside do not list threads: there a thread starts in
 * such a runtime. */
bool pct_thread_times_wait(const struct pct_thread_times *t, const struct pc_profile *p);

/* Threads with which a rank works, as the mean of the ranks: those with a tenth or more of the work
 * of its busiest thread. 0: no thread is known to work. */
double pct_thread_times_working(const struct pct_thread_times *t);

/* Threads of all ranks together that a processor each is for: main threads, those of threading
 * runtimes, and of the others that the program made those with a tenth or more of the work of the
 * busiest thread of their rank. Less than one a rank: threads are not known. So it is without
 * samples, where most threads have no entry, and where threads of a runtime are renewed. */
uint32_t pct_thread_times_count(const struct pct_thread_times *t);

/* True if a thread of any rank is renewed: the number of entries says nothing of threads at once.
 */
bool pct_thread_times_renewed(const struct pct_thread_times *t);

/* Never NULL. Texts are the profile's. */
struct pct_thread_times *pct_thread_times_new(const struct pc_profile *p);
void pct_thread_times_free(struct pct_thread_times *t);

#endif
