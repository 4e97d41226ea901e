/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One program at several numbers of ranks, and possibly several problem sizes: the cost of each
 * context at each scale, its loss against ideal scaling, and its growth. doc/internals/scaling.md
 * has the definitions. If all runs have the same ranks, and not as many threads, the numbers that
 * are compared are those of the threads of all ranks; costs are then the times of main threads, for
 * each thread of the rank.
 *
 * Data structure: scales in order of size and ranks, each the mean of its runs; rows, one for each
 * context with a cost, in order of their loss, those whose loss is a guess last. Invariant: the
 * losses of all rows add up to the loss of the whole run.
 */
#ifndef PCT_SCALE_H
#define PCT_SCALE_H

#include "analysis/compare/join_tree.h"
#include "analysis/fit/fit.h"

enum pct_scaling {
    PCT_SCALING_UNKNOWN, /* told from the total of computation and the command lines */
    PCT_SCALING_STRONG,  /* the same problem on more ranks */
    PCT_SCALING_WEAK     /* the problem grows with the ranks */
};

/* All runs with one number of ranks, or threads, and one size; means over them. */
struct pct_scale_point {
    double width; /* ranks, or threads of all ranks: what the scales differ in */
    double ranks, size;
    size_t base; /* the scale with the least width of this size */
    size_t n_runs;
    double time_ns, compute_ns, busiest_ns; /* of struct pct_run_own */
    double core_ns;                         /* width * time_ns */
    double work_ns;                         /* compute_ns; of threads struct pct_run has it */
    bool guessed;                           /* compute_ns and busiest_ns are, in a run of it */
    bool too_short;                         /* in one of these, for samples */
    bool undivided; /* it is not known how much of core_ns ranks of a run waited for a processor */
    /* Time left out of these, and core_ns including it. */
    double delayed_ns, library_ns, init_ns, end_ns, all_ns;
    double wall_ns;              /* of struct pct_run_told: with all that is left out */
    double others_ns;            /* part of delayed_ns: that of struct pct_run */
    double n_working;            /* threads of a rank; 0: not known */
    double for_threads_ns;       /* part of compute_ns: main threads wait in a runtime for others */
    double polls_ns;             /* part of compute_ns: in functions that poll */
    double speed_up, efficiency; /* against base */
    /* Factors of efficiency: parallel = balance * communication * threads, of which the last is 1
     * if ranks are compared; efficiency of the run at the smallest scale is its parallel
     * efficiency. 0: not known. */
    double parallel, balance, communication, threads, computation;
};

/* Costs of one context at one scale, summed over ranks, times for each thread; means over the runs
 * of the scale. */
struct pct_scale_cost {
    double ns, waits_ns, open_ns, calls, bytes; /* as struct pct_cost */
    int32_t caller;                             /* as there, of all runs of the scale */
    double lost_ns;  /* more than ideal scaling from the smallest scale would cost */
    double samples;  /* of computation, in all runs of the scale */
    double variance; /* of ns, of the time that samples leave over */
    bool guessed;    /* ns and waits_ns are: it is computation, which is a guess at this scale */
};

struct pct_scale_row {
    uint32_t node;
    const char *place;
    struct pct_scale_cost *costs; /* by scale */
    double samples;               /* of computation, in all runs; 0: it is no such context */
    bool guessed;                 /* costs are, at one of the scales */
    const char *polls;  /* computation: MPI function that its function polls with; NULL: none */
    double polls_calls; /* of it, by a rank at the largest scale */
    bool lost_guessed;  /* lost_ns, speed_up and efficiency are */
    double lost_ns;     /* at the largest scale */
    double speed_up, efficiency; /* at the largest scale; 0: context missing at the smallest */
    bool modelled;
    /* At the largest scale the model is within a factor of two of what was measured, and on more
     * ranks it does not go below 0. */
    bool reaches;
    struct pct_fit fit;         /* of the time per rank, in seconds */
    struct pct_fit_band future; /* of the time per rank at options.predict, in seconds */
};

/* A function whose computation with all that it calls is sure to lose, where few of the contexts
 * that it has are sure to: their samples are too few. Times summed over ranks. */
struct pct_scale_branch {
    uint32_t node; /* of the join: one that is part of it */
    bool calls;    /* the time is not all its own */
    const char *place;
    double first_ns, last_ns; /* computation at the smallest and at the largest scale */
    double waits_ns;          /* others wait for it at the largest scale */
    double lost_ns;           /* with these waits, at the largest scale */
};

struct pct_scale_options {
    enum pct_scaling scaling;
    double predict;      /* width; 0: no */
    const double *sizes; /* problem size by run; NULL: one size, or it is compiled in */
    double predict_size;
};

struct pct_scale {
    struct pct_scale_options options;
    enum pct_scaling scaling;
    bool by_threads;  /* the scales differ in threads */
    double growth;    /* of the total of computation: exponent of the width */
    bool but_polls;   /* the total is without polls_ns */
    bool by_nearness; /* `growth` is that of neither kind: the nearer one was taken */
    bool by_command;  /* strong, if that was not told, only because the command lines are equal */
    const struct pct_run *runs;
    size_t n_runs;
    struct pct_join *join;
    uint32_t
        *polls; /* by node: the MPI function with which it polls, else PC_NO_INDEX; may be NULL */
    struct pct_scale_point *points; /* by size, then by ranks */
    size_t n_points, n_sizes;
    size_t *point_of; /* by run */
    struct pct_scale_row *rows;
    size_t n_rows;
    struct pct_scale_branch *branches; /* with the greatest losses first */
    size_t n_branches;
    double lost_ns, core_ns; /* of the whole run at the largest scale */
    double machine_ns;       /* at most this part of lost_ns: no processor was free */
    struct pct_fit fit;      /* of the time of the run, in seconds */
    bool modelled;
    struct pct_fit_band future;
};

/* Losses below this part of the run are not worth a sentence. */
#define PCT_SCALE_WORTH 0.01
/* A loss of computation is sure from this many standard errors on: one of dozens of contexts has
 * two by chance. */
#define PCT_SCALE_SURE 3

/* PC_EARG with a text: there are fewer than two scales, or nothing tells the kind of scaling. Other
 * errors are those of pct_join_new. The runs must outlive *out. */
int pct_scale_make(const struct pct_run *runs, size_t n, const struct pct_scale_options *options,
                   struct pct_scale **out, struct pc_error *error);
void pct_scale_free(struct pct_scale *s);

/* Makes the places of rows and branches anew, with names of C++ with all their arguments, or
 * shortened as pct_scale_make does. */
void pct_scale_name_places(struct pct_scale *s, bool full_names);

/* The trees of all runs as one; for each node, inclusive, summed over ranks, as mean of the runs:
 * the time at the smallest and at the largest scale, the loss there, and the sum of the sizes of
 * all losses and gains below, without computation that is a guess or has few samples; at least what
 * computation below is sure to lose or gain together. */
struct pct_scale_tree {
    struct pct_join_tree *tree; /* nodes with the greatest losses first */
    struct pct_scale_loss {
        double first_ns, last_ns, lost_ns;
        bool first_guessed, last_guessed; /* computation below is a guess at this scale */
        /* Computation below that has no sample at this scale, as long as it is at the other. */
        double first_unsampled_ns, last_unsampled_ns;
    } * loss;
    double *moved;
};
struct pct_scale_tree *pct_scale_tree_new(const struct pct_scale *s);
void pct_scale_tree_free(struct pct_scale_tree *t);

/* Fills in the branches of a new comparison. */
void pct_scale_find_branches(struct pct_scale *s);

/* True if the time of such a context is a guess at this scale. */
bool pct_scale_is_guess(const struct pct_scale_point *p, uint16_t kind);

/* Time per rank that the model of a context predicts for n widths, in seconds, at the size of the
 * prediction. False: there is no model that can be used. */
bool pct_scale_bands(const struct pct_scale *s, const struct pct_scale_row *row,
                     const double *widths, size_t n, struct pct_fit_band *out);

/* Compares the threads with which a rank works: the most at any scale, and true if their number is
 * not the same at all. */
double pct_scale_most_working(const struct pct_scale *s);
bool pct_scale_working_differs(const struct pct_scale *s);

/* True if the total of computation is known at the scales by which the kind of scaling is told. */
bool pct_scale_computes(const struct pct_scale *s);

/* True if the context loses so much of the run that it is worth a sentence, or may do so because
 * its loss is a guess. */
bool pct_scale_loses(const struct pct_scale *s, const struct pct_scale_row *row);

/* The time of which what is left out is told as a share: before the end of MPI_Init nothing of it
 * is known. */
static inline double pct_scale_whole_ns(const struct pct_scale_point *p)
{
    return p->all_ns - p->init_ns;
}

/* The value that the largest scale would have with ideal scaling, from one of the smallest, both
 * summed over ranks. */
double pct_scale_ideal(const struct pct_scale *s, double value);

/* True if it does even without all waiting for processors, and not by the chance of samples. */
bool pct_scale_blames(const struct pct_scale *s, const struct pct_scale_row *row);

/* The scales between which losses are counted: most ranks at the largest size, and its base. */
static inline size_t pct_scale_last(const struct pct_scale *s)
{
    return s->n_points - 1;
}
static inline size_t pct_scale_first(const struct pct_scale *s)
{
    return s->points[s->n_points - 1].base;
}

/* Threads of a rank that are counted, mean of the ranks: 1 if ranks are compared. */
static inline double pct_scale_per_rank(const struct pct_scale_point *p)
{
    return p->width / p->ranks;
}

/* "ranks" or "threads", which scales differ in; of one of them "rank", "thread". */
static inline const char *pct_scale_unit(const struct pct_scale *s, double n)
{
    return s->by_threads ? (n == 1 ? "thread" : "threads") : (n == 1 ? "rank" : "ranks");
}

/* Names of the parameters of models: p, the width, and n, the size. */
extern const char *const pct_scale_parameters[PCT_FIT_PARAMETERS];

/* True if the row is of computation with too few samples to tell its time: in all runs, or to
 * divide the time outside MPI at one of the scales. */
bool pct_scale_has_few(const struct pct_scale_row *row);

/* True if the context has no call, or fewer than ten samples, at scale k: its model leaves this
 * scale out. */
bool pct_scale_lacks(const struct pct_scale *s, const struct pct_scale_row *row, size_t k);

/* True if the row is of computation that has so few samples at the smallest or at the largest
 * scale: how the two compare is a guess. */
bool pct_scale_has_rough_ends(const struct pct_scale *s, const struct pct_scale_row *row);

/* True if the model can be used: its cross-validation error is below one half, at the largest scale
 * it is near what was measured, on more ranks it does not go below 0, and samples are not few. */
bool pct_scale_trusts(const struct pct_scale_row *row);

#endif
