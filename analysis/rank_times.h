/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Division of the time of each rank outside MPI: on a processor, waiting for one, blocked; and the
 * lead of the busiest rank over the others. doc/findings.md says how they are found and how certain
 * they are.
 *
 * Data structure: one entry a rank, in the order of the profile's ranks. Invariant: wall_ns is the
 * sum of cpu_ns, blocked_ns and delayed_ns; own_ns that of the first two, without library_ns and
 * bindings_ns: what it costs to measure the program, and to call MPI, is no work of the program.
 * Made from the tables `resources` and `sampling`, without symbols and without values by rank.
 * MT-safe.
 */
#ifndef PCT_RANK_TIMES_H
#define PCT_RANK_TIMES_H

#include "analysis/tree/totals.h"

struct pct_rank_time {
    double wall_ns;         /* outside MPI in the time of the run, without for_mpi_ns */
    double for_mpi_ns;      /* the main thread may have waited for other threads that were in MPI */
    double cpu_ns;          /* on a processor, with either_ns */
    double library_ns;      /* part of cpu_ns, by samples: the library measured */
    double library_most_ns; /* upper bound of it */
    double bindings_ns;     /* part of cpu_ns, by samples: in the MPI library, but in no measured
                               call, as in bindings of Fortran */
    double for_threads_ns;  /* part of cpu_ns, by samples: the main thread polls in a runtime for
                               other threads, and none of the program does more work meanwhile */
    double blocked_ns;      /* not runnable: slept, or waited for a file, a lock, a child */
    double delayed_ns;      /* runnable, but no processor was free */
    double
        own_ns; /* without delays, library_ns and bindings_ns; at least: with unsure_ns at most */
    double low_ns;     /* lower bound of own_ns with library_ns and bindings_ns, without samples */
    double sampled_ns; /* CPU time of the program outside MPI by the samples of the main thread */
    double blocked_low_ns, blocked_high_ns; /* bounds of the sum of blocked_ns and either_ns */
    double either_ns; /* the main thread was blocked, and others may have computed by turns */
    double unsure_ns; /* part of delayed_ns that may be blocked as well */
    double hidden_ns; /* part of unsure_ns in which other threads may have computed by turns */
    bool is_short;    /* wall_ns is too short for samples: its parts are those of the whole run */
    double variance;  /* of sampled_ns, in ns^2; below 0: the rank was not sampled */
    double n_samples; /* of computation */
    double all_delayed_ns;  /* delayed, in MPI and outside */
    double main_delayed_ns; /* the main thread alone */
    double
        lost_ns; /* of a killed rank, whose delays are not known: not on a processor, by samples */
    double silent_ns; /* of a killed rank whose data ends outside MPI: in no other figure, from then
                         until the last moment known of any rank */
    bool exited; /* it ended there, by exit, _exit or a return from main, without MPI_Finalize */
};

/* Time in which no sample finds the main thread on a processor, outside MPI. */
static inline double pct_rank_time_unsampled_ns(const struct pct_rank_time *t)
{
    double ns = t->wall_ns - t->sampled_ns - t->bindings_ns - t->library_ns;
    return ns > 0 ? ns : 0;
}

struct pct_rank_times {
    struct pct_rank_time *list;
    size_t n, busiest; /* index of the rank with most time of its own */
    double mean_ns;    /* of own_ns */
    double delayed_ns, blocked_ns, all_delayed_ns, unsure_ns, for_threads_ns, for_mpi_ns, either_ns,
        hidden_ns;       /* of all ranks */
    double unsampled_ns; /* CPU time of threads that no sample stands for, of all ranks */
    bool threads_wait;   /* for each other in threading runtimes: pct_thread_times_wait */
    double n_working;    /* pct_thread_times_working */
    uint32_t n_threads;  /* pct_thread_times_count */
    bool renews_threads; /* pct_thread_times_renewed */
    double work_ns;      /* of struct pct_thread_time, of all threads of all ranks */
    double polls_ns;     /* waits_ns there, of the main threads */
    bool divided; /* CPU time and blocked time are known; else all that is not delayed is cpu_ns */
    bool guessed; /* pct_rank_times_division is PCT_DIVISION_GUESSED */
    bool ends_early; /* the data of a killed rank ends so early, outside MPI, that it is not known
                        which rank has most time of its own, or how much the busiest has */
};

/* Never NULL. */
struct pct_rank_times *pct_rank_times_new(const struct pct_totals *m);
void pct_rank_times_free(struct pct_rank_times *t);

/* Part of the own time of all ranks in which they may have computed or been blocked: where the
 * profile does not say how long they were blocked, what no sample finds computing; else 0. */
double pct_rank_times_unknown_ns(const struct pct_rank_times *t);

/* Part of all_delayed_ns in which the main thread waited for a processor. The rest is time in which
 * it was blocked while other threads may have waited: threads that wait at one time do not add up,
 * so it is at most that. */
double pct_rank_time_main_delayed_ns(const struct pct_rank_time *t);

/* A part of the time outside MPI below this share of it is not worth a word. */
#define PCT_DIVISION_LITTLE 0.01

/* Division of the times outside MPI of all ranks, as far as it is known. */
enum pct_division {
    PCT_DIVISION_WHOLE,  /* they are computing, but for a part below PCT_DIVISION_LITTLE */
    PCT_DIVISION_KNOWN,  /* into computing, the library, bindings of MPI, waiting for threads,
                            blocked  and delayed time */
    PCT_DIVISION_UNSURE, /* into computing and the rest, of which a large part may be either */
    PCT_DIVISION_GUESSED /* not: too short for samples, and may be delays in large part */
};
enum pct_division pct_rank_times_division(const struct pct_rank_times *t);

/* True if it is worth a word that other threads may have computed by turns in time that is not
 * surely blocked. */
bool pct_rank_times_take_turns(const struct pct_rank_times *t);

/* The busiest rank's own time over the mean of all ranks, minus 1; 0 without two ranks. Head, table
 * and finding call this imbalance. */
double pct_rank_times_imbalance(const struct pct_rank_times *t);

/* The own time of a rank at most. */
static inline double pct_rank_time_most_ns(const struct pct_rank_time *t)
{
    return t->own_ns + t->unsure_ns;
}

/* Bounds of the imbalance: the busiest rank has its own time at least, and the others have theirs
 * at most; or one has it at most, and the others have it at least. Both are the imbalance where it
 * is known. */
struct pct_imbalance {
    double least, most;
};
struct pct_imbalance pct_rank_times_bound_imbalance(const struct pct_rank_times *t);

/* False if it is not known which rank is busiest, or how long: data of a killed rank ends early, or
 * threads may have computed by turns for much of the time that counts as delay. */
bool pct_rank_times_know_busiest(const struct pct_rank_times *t);

/* False if the imbalance says nothing or has only bounds: the busiest rank is not known, its time
 * is a guess, or much of what counts as delay may be blocked time. */
bool pct_rank_times_know_imbalance(const struct pct_rank_times *t);

/* True if so much of the ranks' own time may be blocked that it cannot be called computation. */
bool pct_rank_times_are_blocked(const struct pct_rank_times *t);

/* Verb for what ranks do in their own time: "computes", "computes or is blocked". */
const char *pct_rank_times_verb(const struct pct_rank_times *t);

/* Index of the rank with the least own time; n: that time is not known. So it is with a rank that
 * was delayed and has few samples: no sample says 0, also of a rank that computed for a period. */
size_t pct_rank_times_least(const struct pct_rank_times *t);

/* The own time of the busiest rank minus the mean of the others, which they have at most. */
struct pct_lead {
    double ns;
    double low_ns; /* lower bound; above 0 in PCT_LEAD_FALSE of the runs without a lead */
    bool real;     /* larger than the scatter of equal work, with the same chance of error */
};
#define PCT_LEAD_FALSE 0.01
/* Equal work takes longer on one rank than on another by less than this: caches, neighbours. */
#define PCT_LEAD_LARGE 0.25

struct pct_lead pct_rank_times_lead(const struct pct_rank_times *t);

/* Lower bound of the own time of the busiest rank minus `times` the mean of the others, with the
 * chance of error PCT_LEAD_FALSE. t has two ranks or more. */
double pct_rank_times_surplus_ns(const struct pct_rank_times *t, double times);

#endif
