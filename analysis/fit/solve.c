/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Least squares by orthogonal columns (modified Gram-Schmidt, done twice): columns of very
 * different size stay accurate, and the orthonormal columns give each point's leverage, from which
 * the error of leaving it out follows without fitting again:  e_i / (1 - h_i).
 */
#include "analysis/fit/fit_private.h"

#include <math.h>
#include <string.h>

enum { COLUMNS = PCT_FIT_TERMS + 1 };

double pct_fit_factor(const struct pct_fit_factor *f, double x)
{
    double v = 1;
    if (f->power)
        v = f->power == f->root ? x : pow(x, (double)f->power / f->root);
    if (f->log) {
        double l = log2(x);
        v *= f->log == 1 ? l : l * l;
    }
    return v;
}

double pct_fit_term(const struct pct_fit_term *t, unsigned n_parameters, const double *x)
{
    double v = 1;
    for (unsigned d = 0; d < n_parameters; d++)
        v *= pct_fit_factor(&t->of[d], x[d]);
    return v;
}

double pct_fit_value(const struct pct_fit_guess *g, unsigned n_parameters, const double *x)
{
    double v = g->c[0];
    for (unsigned k = 0; k < g->n_terms; k++)
        v += g->c[k + 1] * pct_fit_term(&g->terms[k], n_parameters, x);
    return v;
}

static double dot(const double *a, const double *b, size_t n)
{
    double s = 0;
    for (size_t i = 0; i < n; i++)
        s += a[i] * b[i];
    return s;
}

static void subtract(double *a, const double *b, double factor, size_t n)
{
    for (size_t i = 0; i < n; i++)
        a[i] -= factor * b[i];
}

/* Makes column k orthonormal to the earlier ones; false if it depends on them. */
static bool orthogonalise(struct pct_fit_work *w, unsigned k, double r[COLUMNS][COLUMNS])
{
    double *column = w->columns + k * w->n;
    double before = sqrt(dot(column, column, w->n));
    if (!(before > 0) || !isfinite(before))
        return false;
    for (unsigned pass = 0; pass < 2; pass++) {
        for (unsigned j = 0; j < k; j++) {
            const double *other = w->columns + j * w->n;
            double s = dot(other, column, w->n);
            r[j][k] += s;
            subtract(column, other, s, w->n);
        }
    }
    double after = sqrt(dot(column, column, w->n));
    if (after < 1e-9 * before)
        return false;
    r[k][k] = after;
    for (size_t i = 0; i < w->n; i++)
        column[i] /= after;
    return true;
}

static void invert(unsigned m, double r[COLUMNS][COLUMNS], double inverse[COLUMNS][COLUMNS])
{
    memset(inverse, 0, sizeof(double[COLUMNS][COLUMNS]));
    for (unsigned j = 0; j < m; j++) {
        inverse[j][j] = 1 / r[j][j];
        for (unsigned i = j; i-- > 0;) {
            double s = 0;
            for (unsigned k = i + 1; k <= j; k++)
                s += r[i][k] * inverse[k][j];
            inverse[i][j] = -s / r[i][i];
        }
    }
}

/* The cross-validation error and the variance of a point, from the residuals. */
static double judge(const struct pct_fit_work *w, unsigned m, double *variance_out)
{
    double squares = 0, left_out = 0;
    for (size_t i = 0; i < w->n; i++) {
        double leverage = 0;
        for (unsigned k = 0; k < m; k++)
            leverage += w->columns[k * w->n + i] * w->columns[k * w->n + i];
        double rest = 1 - leverage;
        double e = w->left[i];
        squares += e * e;
        /* A point that determines a coefficient alone cannot be predicted from the others. */
        e = rest > 1e-6 ? e / rest : fabs(w->target[i]);
        left_out += e * e;
    }
    *variance_out = w->n > m ? squares / (double)(w->n - m) : 0;
    return sqrt(left_out / (double)w->n);
}

bool pct_fit_solve(struct pct_fit_work *w, const double *const *values, struct pct_fit_guess *g)
{
    unsigned m = pct_fit_n_fitted(g), first = g->no_constant; /* of the coefficients */
    double r[COLUMNS][COLUMNS] = {{0}}, inverse[COLUMNS][COLUMNS], along[COLUMNS], variance;
    if (w->n < m)
        return false;
    for (unsigned k = 0; k < m; k++) {
        for (size_t i = 0; i < w->n; i++)
            w->columns[k * w->n + i] = w->weight[i] * (k + first ? values[k + first - 1][i] : 1);
        if (!orthogonalise(w, k, r))
            return false;
    }
    memcpy(w->left, w->target, w->n * sizeof *w->left);
    for (unsigned k = 0; k < m; k++) {
        along[k] = dot(w->columns + k * w->n, w->left, w->n);
        subtract(w->left, w->columns + k * w->n, along[k], w->n);
    }
    invert(m, r, inverse);
    g->error = judge(w, m, &variance);
    memset(g->c, 0, sizeof g->c);
    memset(g->spread, 0, sizeof g->spread);
    for (unsigned i = 0; i < m; i++) {
        for (unsigned k = i; k < m; k++)
            g->c[i + first] += inverse[i][k] * along[k];
        for (unsigned j = 0; j < m; j++) {
            double s = 0;
            for (unsigned k = i > j ? i : j; k < m; k++)
                s += inverse[i][k] * inverse[j][k];
            g->spread[i + first][j + first] = s * variance;
        }
    }
    return true;
}
