/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Inside analysis/fit: least squares on weighted points (solve.c), the sets of hypotheses and the
 * choice among them (fit.c).
 */
#ifndef PCT_FIT_PRIVATE_H
#define PCT_FIT_PRIVATE_H

#include "analysis/fit/fit.h"

/* The points of one fit, with working memory. Each point is weighted by the inverse of its size, so
 * that relative errors count. */
struct pct_fit_work {
    size_t n;
    unsigned n_parameters;
    const struct pct_fit_point *points;
    double *weight;  /* n */
    double *target;  /* n: weight * y */
    double *left;    /* n: residuals */
    double *columns; /* (PCT_FIT_TERMS + 1) x n, orthonormal once solved */
};

/* Fits the coefficients of g's terms, and a constant unless it has none, where term k has
 * values[k][i] at point i; sets c, spread and error. False: the terms cannot be told apart on these
 * points, or there are too few of them. */
bool pct_fit_solve(struct pct_fit_work *w, const double *const *values, struct pct_fit_guess *g);

/* Number of coefficients that were fitted. */
static inline unsigned pct_fit_n_fitted(const struct pct_fit_guess *g)
{
    return g->n_terms + !g->no_constant;
}

/* x^(power/root) * log2(x)^log */
double pct_fit_factor(const struct pct_fit_factor *f, double x);
double pct_fit_term(const struct pct_fit_term *t, unsigned n_parameters, const double *x);

#endif
