/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Changes of contexts against the scatter of a few repeats. MT-safe.
 *
 * Two or three repeats do not tell how far one context scatters. So contexts of like kind lend each
 * other theirs: the variance of each is drawn towards that of all, the more the less they differ
 * (Smyth, Linear models and empirical Bayes methods, 2004). What contexts share in a run, as on a
 * busy machine, is the scatter of the run: all contexts of one kind together know no more of it
 * than the number of runs tells. doc/internals/scaling.md derives the test.
 */
#ifndef PCT_SCATTER_H
#define PCT_SCATTER_H

#include <stdbool.h>
#include <stddef.h>

struct pct_scatter_row {
    bool computes;           /* else it is of MPI calls, which scatter otherwise */
    const double *values;    /* by run, those before first */
    const double *variances; /* by run: of the value, by its samples */
    double least; /* above 0: the error of values that are less is as large as they are */
    /* Chance of such a change by scatter alone; and if the scatter were known, as many runs would
     * tell it. */
    double doubt, least_doubt;
};

/* Sets the doubts of n rows. Both sides have two runs or more. */
void pct_scatter_test(struct pct_scatter_row *rows, size_t n, size_t n_before, size_t n_after);

/* Turns n doubts into the least share of false alarms at which each would still be reported as a
 * change (Benjamini and Hochberg). Sorts the list. */
void pct_scatter_correct(double **doubts, size_t n);

#endif
