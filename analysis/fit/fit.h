/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Models of growth in performance-model normal form,
 *
 *     f(x) = c0 + sum over k of ck * product over d of xd^(i/j) * log2(xd)^l
 *
 * chosen by cross-validation from a fixed set of hypotheses, for one parameter or two. The method
 * and its limits: doc/internals/scaling.md.
 *
 * Data structure: a set of points (places in parameter space with the mean of the measurements
 * there); for a fitted model its terms and coefficients, and its rivals: the hypotheses that
 * explain the points about as well. Invariant: the first rival is the model itself; every rival was
 * fitted to the same points. Bands are the union over the rivals, because far from the points the
 * choice of the hypothesis is the larger part of the uncertainty. Rivals are large and only needed
 * for bands: callers with many models keep none.
 *
 * MT-safe. No text, no profiles.
 */
#ifndef PCT_FIT_H
#define PCT_FIT_H

#include <stdbool.h>
#include <stddef.h>

enum { PCT_FIT_PARAMETERS = 2, PCT_FIT_TERMS = 3, PCT_FIT_RIVALS = 24, PCT_FIT_FEW = 5 };

struct pct_fit_point {
    double x[PCT_FIT_PARAMETERS]; /* above 0 */
    double y;                     /* mean of the measurements made here */
};

struct pct_fit_factor {
    signed char power, root; /* x^(power/root) */
    signed char log;         /* log2(x)^log */
};

struct pct_fit_term {
    struct pct_fit_factor of[PCT_FIT_PARAMETERS];
};

/* A hypothesis with its coefficients. */
struct pct_fit_guess {
    unsigned n_terms;
    struct pct_fit_term terms[PCT_FIT_TERMS];
    bool no_constant;            /* c[0] is 0 and was not fitted */
    double c[PCT_FIT_TERMS + 1]; /* c[0] is the constant */
    /* Covariance of c, in the unit of the fit; 0 if unknown. */
    double spread[PCT_FIT_TERMS + 1][PCT_FIT_TERMS + 1];
    double error; /* relative cross-validation error, root mean square */
    double score; /* error with the price of complexity */
};

struct pct_fit {
    unsigned n_parameters;
    size_t n_points;
    bool few;        /* below PCT_FIT_FEW places along a parameter: the form is a guess */
    bool exact;      /* goes through all points */
    bool confounded; /* one of two parameters follows the other, so either explains the points */
    double rss;      /* sum of squares of y minus model; infinite if that is no double */
    double unit;     /* about the mean size of y, whose square may be no double */
    double adjusted_r2;
    struct pct_fit_guess best;
};

struct pct_fit_rivals {
    unsigned n;
    struct pct_fit_guess of[PCT_FIT_RIVALS];
};

struct pct_fit_band {
    double value, low, high;
};

/* Fits n points of n_parameters (1 or 2). Points may come in any order and more than one at a
 * place. False: below 2 places, or a value that is not finite, or x not above 0: nothing is
 * written. */
bool pct_fit_make(const struct pct_fit_point *points, size_t n, unsigned n_parameters,
                  struct pct_fit *out, struct pct_fit_rivals *rivals_out);

double pct_fit_value(const struct pct_fit_guess *g, unsigned n_parameters, const double *x);

/* The model at x with the interval that holds the mean there in 95 of 100 cases, provided that one
 * of the rivals is true. */
struct pct_fit_band pct_fit_band(const struct pct_fit *f, const struct pct_fit_rivals *rivals,
                                 const double *x);

/* True if a band is narrow enough: its ends have one sign and are within a factor of ten. */
bool pct_fit_band_tells(const struct pct_fit_band *band);

/* Two models of one parameter, one up to a place and another from the next measured one on. If the
 * behaviour changes in between, for example because a cache becomes too small, one model cannot
 * explain all points.
 */
struct pct_fit_segments {
    double last, first; /* the last place of the first model, the first of the second one */
    struct pct_fit_segment {
        struct pct_fit fit;
        struct pct_fit_rivals rivals;
    } low, high;
    double error; /* as that of a guess, over all points */
};

/* NULL: one model is enough, or there are too few points to decide. `one` is the model of all
 * points. */
struct pct_fit_segments *pct_fit_segments_new(const struct pct_fit_point *points, size_t n,
                                              const struct pct_fit *one);
void pct_fit_segments_free(struct pct_fit_segments *s);
/* The model that is valid at x; between the two, and beyond the points, the second. */
const struct pct_fit_segment *pct_fit_segment_at(const struct pct_fit_segments *s, double x);

/* "3 + 2 * p^(1/2) * log2(p)", names escaped as cells; out[PCT_FIT_TEXT]. Returns out. */
enum { PCT_FIT_TEXT = 512 };
char *pct_fit_text(const struct pct_fit *f, const char *const *names, char *out);

/* Growth of the model: text of its fastest growing term without the size of its coefficient, as
 * "p^(1/2) * log2(p)", or "-log2(p)" of a model that falls; "constant". Names and `out` as above.
 */
char *pct_fit_growth(const struct pct_fit *f, const char *const *names, char *out);

#endif
