/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A run that is compared with others.
 */
#ifndef PCT_COMPARED_RUN_H
#define PCT_COMPARED_RUN_H

#include "analysis/gather.h"

/* Figures in the head of the report: with waiting for a processor and all of MPI_Init. */
struct pct_run_told {
    double wall_ns, mpi_ns; /* means of the ranks */
    /* Own time of the ranks (struct pct_rank_time), and the imbalance. */
    double mean_ns, busiest_ns, imbalance;
    double messages, bytes;
    bool balanced; /* own time and imbalance are known, of two ranks or more, without delays */
    bool computes; /* own time is computation */
};

/* A program or library that the run has frames of. */
struct pct_run_module {
    char *name;     /* without its folder */
    uint64_t build; /* of its build-id; 0: not known */
};

/* One profile: the figures of the whole run, and the data made from it while it is open. */
struct pct_run {
    const char *path;
    char *program;                  /* as it was started; "": unknown */
    char *command;                  /* line of all ranks; "": unknown, or not the same */
    char *mpi;                      /* library and its version; "": unknown */
    char *job;                      /* "": unknown */
    uint64_t start_ns;              /* of its first rank, since 1970; 0: unknown */
    int32_t pid;                    /* of its first rank */
    struct pc_profile_module build; /* of the program; no bytes of build-id: unknown; no path */
    bool sampled;
    bool timed;       /* contexts have times of calls */
    bool guessed;     /* compute_ns and busiest_ns of `own` may be delays, or more than is known */
    bool too_short;   /* guessed because the time outside MPI is too short for samples */
    bool undivided;   /* it is not known how long ranks waited for a processor: some were killed */
    bool keeps_delay; /* waiting for a processor is in all figures: pct_runs_agree */
    double kept_ns;   /* what is known of that, summed; else 0 */
    /* Sampled from outside: calls of MPI and times of ranks are not known, CPU time is; all runs of
     * a comparison are such recordings, or none. */
    bool outside;
    bool by_program;       /* of these: each of several programs is a region */
    bool threads_wait;     /* for each other in threading runtimes */
    bool renews_threads;   /* pct_thread_times_renewed: n_threads is not known */
    double n_working;      /* threads with which a rank works, mean of the ranks; 0: not known, and
                              at most these if renews_threads */
    uint32_t n_threads;    /* of all ranks together: pct_thread_times_count; 0: not known */
    uint32_t n_ranks;      /* of the job */
    uint32_t n_missing;    /* of these, not in the profile */
    uint32_t n_incomplete; /* did not reach MPI_Finalize */
    double time_ns;        /* pct_totals_run_ns of the longest rank */
    double core_ns;        /* the same, summed over ranks */
    double compute_ns;     /* outside MPI, summed over ranks */
    double busiest_ns;     /* the most that one rank computes */
    double delayed_ns;     /* left out below: no processor was free for a thread; summed */
    double others_ns;      /* at most this part: other threads, while main threads were blocked */
    double kept_others_ns; /* part of kept_ns: likewise */
    double waiting_ns;     /* part of delayed_ns and of compute_ns, as far as it is sure */
    double variance;       /* of the part of own.compute_ns that is known by samples, in ns^2 */
    double library_ns;     /* in the library outside MPI, summed */
    double for_threads_ns; /* part of own.compute_ns: main threads wait in a runtime for others */
    /* Sums of all ranks: the part of own.compute_ns on a processor; of this, main threads in a
     * runtime of threads, by samples; the work of all threads, 0: not known. */
    double cpu_ns, polls_ns, work_ns;
    double open_ns;   /* in calls that had not ended, of all threads */
    double paused_ns; /* that MPI_Pcontrol left out of all figures, summed */
    double init_ns;   /* in MPI_Init, summed */
    double early_ns;  /* sampled before MPI_Init: computation in all times, summed */
    double before_ns; /* up to MPI_Init, mean of the ranks; but for early_ns in no figure */
    double whole_ns;  /* from start to exit, mean of the ranks */
    struct pct_run_told told;
    struct pct_run_module *modules;
    size_t n_modules;
    double end_ns; /* cost of MPI_Finalize itself, summed */
    /* Times without MPI_Init, with all of MPI_Finalize, without library_ns, and without waiting for
     * a processor, which in MPI is assumed to be spread evenly over the time in MPI: the part
     * mpi_part of it is left, and the part end_part of that in MPI_Finalize. core_ns is summed over
     * ranks. */
    struct pct_run_undelayed {
        double core_ns, mpi_part, end_part;
    } undelayed;
    /* Times without MPI_Init, without the cost of MPI_Finalize itself, without library_ns, and
     * without waiting for a processor. core_ns is time_ns on each rank. Ranks that waited longer
     * for a processor than the longest rank would have waited for that rank instead: in MPI, which
     * is in mpi_part, and instead_ns, for its computation or for ranks without a processor, which
     * is at most delayed_ns. What is more is time before or after that of the rank. */
    struct pct_run_own {
        double time_ns, core_ns, compute_ns, busiest_ns, instead_ns, delayed_ns, mpi_part, end_part;
    } own;

    const struct pc_profile *profile; /* NULL: not open */
    struct pct_totals *totals;
    struct pct_symbols *symbols;
    struct pct_samples *samples;
};

/* Reads the figures of the whole run. The text names the file; PC_OK with a text: a part of it was
 * damaged and left out. */
int pct_run_look(struct pct_run *run, const char *path, struct pc_error *error);
/* Keeps waiting for a processor in all figures of all runs, if it is not known of some of them:
 * else it would be left out of the others only. Fails like pct_run_look. */
int pct_runs_agree(struct pct_run *runs, size_t n, struct pc_error *error);
void pct_run_close(struct pct_run *run);

/* True if so much of the time without MPI_Init is waiting for a processor that it is not known how
 * long ranks would else have waited in MPI. */
bool pct_run_is_busy(double delayed_ns, double whole_ns);

/* True if both are profiles of one run: one file, or of one job (which may be
 * unknown) whose first rank is one process with one start. */
bool pct_runs_are_one(const struct pct_run *a, const struct pct_run *b);
/* True if all runs are of one build of the program. */
bool pct_runs_same_build(const struct pct_run *runs, size_t n);
/* True if the runs are known to have different MPI libraries, not only different versions. */
bool pct_runs_differ_in_mpi(const struct pct_run *runs, size_t n);
/* True if all runs have the same number of ranks, and are known to have other numbers of threads.
 */
bool pct_runs_differ_in_threads(const struct pct_run *runs, size_t n);
/* True if the program has a build-id in all runs. */
bool pct_runs_builds_known(const struct pct_run *runs, size_t n);

#endif
