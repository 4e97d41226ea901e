/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Repeats of one run, matched: for each context the mean of its cost, and its scatter over the
 * runs.
 */
#ifndef PCT_REPEATS_H
#define PCT_REPEATS_H

#include "analysis/compare/join.h"

/* Statistics of n runs; a run without the context counts as 0. */
struct pct_repeat {
    double mean, deviation; /* of a sample: over n - 1; 0 with one run */
    double error;           /* half of the 95 % interval of the mean; below 0: one run */
    double least, most;
};

struct pct_repeat_row {
    uint32_t node; /* of the join */
    const char *place, *path;
    uint32_t n_present;
    struct pct_repeat ns;
    double calls, bytes; /* means */
};

struct pct_repeats {
    const struct pct_run *runs;
    size_t n_runs;
    struct pct_join *join;
    struct pct_repeat time_ns;   /* longest rank */
    struct pct_repeat core_ns;   /* over all ranks */
    struct pct_repeat_row *rows; /* greatest mean first */
    size_t n_rows;
};

/* PC_EMISMATCH with a text: the runs have different numbers of ranks, so they are not repeats.
 * Other errors are those of pct_join_new. */
int pct_repeats_make(const struct pct_run *runs, size_t n, struct pct_repeats **out,
                     struct pc_error *error);
void pct_repeats_free(struct pct_repeats *r);

/* Contexts that all runs [first, end) of the join have, but for those in which the program polls,
 * and whose numbers of calls differ by more than those of repeats. Contexts that a run does not
 * have may be there by another name. */
struct pct_unequal_calls {
    size_t n;           /* of contexts */
    uint32_t node;      /* the one with most calls in a run */
    size_t least, most; /* its runs with least and most */
    double least_calls, most_calls;
};
struct pct_unequal_calls pct_join_unequal_calls(const struct pct_join *j, size_t first, size_t end);

#endif
