/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Two versions of a program, or two ways to run it, context by context. Each side is one run or
 * several repeats.
 *
 * Data structure: rows, one for each context with a figure on either side, in order of the size of
 * its change. Times are without MPI_Init, without waiting for a processor and without the library's
 * own (struct pct_run_undelayed). Invariant: the changes of all rows add up to the change of the
 * whole run, unless ranks work with several threads: then rows of computation are CPU time (struct
 * pct_join).
 *
 * With repeats on both sides a change is tested against the scatter of the repeats: of times by
 * scatter.h, of other figures by Welch's test. Many contexts are tested at once, so the share of
 * false alarms among the reported changes is limited to 5 % (Benjamini and Hochberg). Changes that
 * do not pass are noise, or the repeats are too few to tell. Without repeats the scatter is
 * unknown, and the report says so. In which MPI calls ranks waited for a processor is not known: a
 * change is real only if the times with and without the share of it that is left out agree.
 *
 * Recordings (struct pct_run) have CPU time alone, by samples: of MPI functions as well.
 *
 * A context of MPI calls without a call on one side is new or gone. One of computation without a
 * sample there may still run: it takes more, or less.
 */
#ifndef PCT_DIFF_H
#define PCT_DIFF_H

#include "analysis/compare/join_tree.h"

enum pct_diff_metric { PCT_DIFF_TIME, PCT_DIFF_CALLS, PCT_DIFF_BYTES, PCT_N_DIFF_METRICS };
extern const char *const pct_diff_metric_names[PCT_N_DIFF_METRICS];

enum pct_verdict {
    PCT_VERDICT_SAME,
    PCT_VERDICT_NOISE,
    PCT_VERDICT_UNSURE, /* too much for noise, but the repeats are too few to know */
    PCT_VERDICT_MORE,   /* slower, with the metric time */
    PCT_VERDICT_LESS,
    PCT_VERDICT_NEW,
    PCT_VERDICT_GONE,
    PCT_N_VERDICTS
};

/* A figure of one side: nanoseconds, calls or bytes over all ranks. */
struct pct_diff_side {
    double mean, deviation; /* standard deviation of the repeats; 0 with one */
    double error;           /* half of the 95 % interval of mean; -1 with one */
    size_t n;               /* runs that have it */
};

struct pct_diff_change {
    struct pct_diff_side before, after;
    double change;
    /* Chance of such a change by scatter alone, and if the scatter were exactly what the repeats
     * show; corrected in rows; -1: unknown. */
    double doubt, least_doubt;
};

/* Its figure, of which there may be a million, is made of the costs when it is needed. */
struct pct_diff_row {
    uint32_t node;
    uint32_t rank; /* of rank_part */
    const char *place;
    double change;             /* of the figure */
    double doubt, least_doubt; /* as well */
    double delay_doubt;        /* of the figure with what is left out of MPI calls */
    /* Part of the change that is on one rank of several, if it is most of it; 0: it is not, or not
     * known. */
    double rank_part;
    enum pct_verdict verdict;
    bool by_delay; /* noise: the change with what is left out does not agree about it */
};

struct pct_diff {
    enum pct_diff_metric metric;
    const struct pct_run *runs; /* runs before, then runs after */
    size_t n_before, n_after;
    struct pct_join *join;
    struct pct_diff_row *rows;
    size_t n_rows;
    bool recorded; /* `total` is the time of the run; `time`, `wall` and `computing` are unknown */
    struct pct_diff_change time; /* of the run, mean of its ranks, without what is left out; ns */
    struct pct_diff_change wall; /* with it, as struct pct_run_told has it */
    struct pct_diff_change computing; /* own time of its mean rank, as struct pct_run_told has it */
    bool balanced, computes;          /* that is known; it is computation */
    /* So much is left out of a run with MPI calls that nobody knows how long ranks would else have
     * waited in them: no call is slower or faster. */
    bool busy;
    struct pct_diff_change init;    /* up to MPI_Init, mean of its ranks */
    bool late;                      /* that is a part of a run that is worth a word */
    struct pct_diff_change in_init; /* in MPI_Init, which is left out; mean of its ranks */
    struct pct_diff_change delayed; /* left out: no processor was free; ns over all ranks */
    struct pct_diff_change total;   /* of the metric, over all contexts */
    bool repeated;                  /* both sides have repeats */
    /* Time that a context of computation without a sample on that side takes at most, with a chance
     * of 95 %; 0: unknown. */
    double unseen_before_ns, unseen_after_ns;
};

/* The runs must outlive the result. NULL with a text: one could not be read. */
struct pct_diff *pct_diff_make(const struct pct_run *runs, size_t n_before, size_t n_after,
                               enum pct_diff_metric metric, struct pc_error *error);
void pct_diff_free(struct pct_diff *d);

/* The time of the run on one side, by which it is introduced: with what is left out, if it is busy;
 * of recordings the CPU time. */
const struct pct_diff_side *pct_diff_time(const struct pct_diff *d, bool after);

/* The figure of a row on both sides. */
struct pct_diff_change pct_diff_figure(const struct pct_diff *d, const struct pct_diff_row *row);

/* The bound of a row's time on one side, if it is of computation without a sample there; else 0. */
double pct_diff_unseen_ns(const struct pct_diff *d, const struct pct_diff_row *row, bool after);

/* Makes the places of the rows anew, with names of C++ with all their arguments, or shortened as
 * pct_diff_make does. */
void pct_diff_name_places(struct pct_diff *d, bool full_names);

/* The trees of both sides as one, with the metric as figure; of busy runs with the time of
 * computation alone, because that of MPI calls is not known without waits for processors. For each
 * node: the sum of the sizes of all changes at the node and below, without computation of which
 * there are few samples; of recordings at least the change of the node with all below. */
struct pct_diff_tree {
    const struct pct_diff *diff;
    struct pct_join_tree *tree; /* nodes with the greatest changes first */
    double *moved;
};
struct pct_diff_tree *pct_diff_tree_new(const struct pct_diff *d);
void pct_diff_tree_free(struct pct_diff_tree *t);

/* The inclusive figure of a node on both sides. */
struct pct_diff_change pct_diff_tree_change(const struct pct_diff_tree *t, uint32_t node);

/* The greatest growth, without noise: of the metric in the run, for time that of its ranks, with
 * what is left out and without if it is busy, or in one context, as a share of the total before;
 * infinite if the run has grown from nothing. *place_out: the context, NULL for the run. */
double pct_diff_worst(const struct pct_diff *d, const char **place_out);

#endif
