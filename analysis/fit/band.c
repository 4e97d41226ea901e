/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Bands and texts of a fitted model.
 */
#include "analysis/buffer.h"
#include "analysis/fit/fit_private.h"
#include "analysis/student.h"

#include <math.h>
#include <string.h>

static struct pct_fit_band band_of(const struct pct_fit *f, const struct pct_fit_guess *g,
                                   const double *x)
{
    double v[PCT_FIT_TERMS + 1] = {1}, variance = 0;
    for (unsigned k = 0; k < g->n_terms; k++)
        v[k + 1] = pct_fit_term(&g->terms[k], f->n_parameters, x);
    for (unsigned i = 0; i <= g->n_terms; i++) {
        for (unsigned j = 0; j <= g->n_terms; j++)
            variance += v[i] * g->spread[i][j] * v[j];
    }
    double value = pct_fit_value(g, f->n_parameters, x);
    size_t freedom = f->n_points - pct_fit_n_fitted(g);
    double half = variance > 0 ? pct_student_95(freedom) * sqrt(variance) * f->unit : 0;
    return (struct pct_fit_band){value, value - half, value + half};
}

struct pct_fit_band pct_fit_band(const struct pct_fit *f, const struct pct_fit_rivals *rivals,
                                 const double *x)
{
    struct pct_fit_band all = band_of(f, &f->best, x);
    for (unsigned i = 1; i < rivals->n; i++) {
        struct pct_fit_band b = band_of(f, &rivals->of[i], x);
        all.low = fmin(all.low, b.low);
        all.high = fmax(all.high, b.high);
    }
    return all;
}

bool pct_fit_band_tells(const struct pct_fit_band *band)
{
    double near = fmin(fabs(band->low), fabs(band->high));
    double far = fmax(fabs(band->low), fabs(band->high));
    return band->low == band->high || (band->low * band->high > 0 && far <= 10 * near);
}

/* ---- Texts ----------------------------------------------------------------------------------- */

struct text {
    char *out;
    size_t n;
};

static void put(struct text *t, const char *what)
{
    size_t n = strlen(what);
    if (t->n + n >= PCT_FIT_TEXT)
        n = PCT_FIT_TEXT - 1 - t->n;
    memcpy(t->out + t->n, what, n);
    t->n += n;
    t->out[t->n] = '\0';
}

static void put_name(struct text *t, const char *name)
{
    char *shown = pct_text_escaped(name);
    put(t, shown);
    pct_free(shown);
}

static void put_factor(struct text *t, const struct pct_fit_factor *f, const char *name,
                       bool *first)
{
    char power[32];
    if (f->power) {
        put(t, *first ? "" : " * ");
        put_name(t, name);
        if (f->root > 1)
            pct_text_format(power, sizeof power, "^(%d/%d)", f->power, f->root);
        else if (f->power < 0)
            pct_text_format(power, sizeof power, "^(%d)", f->power);
        else
            pct_text_format(power, sizeof power, "^%d", f->power);
        if (f->power != 1 || f->root > 1)
            put(t, power);
        *first = false;
    }
    if (f->log) {
        put(t, *first ? "" : " * ");
        put(t, "log2(");
        put_name(t, name);
        put(t, f->log > 1 ? ")^2" : ")");
        *first = false;
    }
}

static void put_term(struct text *t, const struct pct_fit_term *term, unsigned n_parameters,
                     const char *const *names, bool first)
{
    for (unsigned d = 0; d < n_parameters; d++)
        put_factor(t, &term->of[d], names[d], &first);
}

char *pct_fit_text(const struct pct_fit *f, const char *const *names, char *out)
{
    const struct pct_fit_guess *g = &f->best;
    struct text t = {out, 0};
    char number[40];
    pct_text_format(number, sizeof number, "%.6g", g->c[0]);
    put(&t, number);
    for (unsigned k = 0; k < g->n_terms; k++) {
        pct_text_format(number, sizeof number, "%s%.6g", g->c[k + 1] < 0 ? " - " : " + ",
                        fabs(g->c[k + 1]));
        put(&t, number);
        put_term(&t, &g->terms[k], f->n_parameters, names, false);
    }
    return out;
}

/* Order of growth: by power of the first parameter that differs, then by logarithm. */
static bool grows_faster(const struct pct_fit_term *a, const struct pct_fit_term *b,
                         unsigned n_parameters)
{
    for (unsigned d = 0; d < n_parameters; d++) {
        const struct pct_fit_factor *x = &a->of[d], *y = &b->of[d];
        int power = x->power * y->root - y->power * x->root;
        if (power || x->log != y->log)
            return power ? power > 0 : x->log > y->log;
    }
    return false;
}

char *pct_fit_growth(const struct pct_fit *f, const char *const *names, char *out)
{
    const struct pct_fit_guess *g = &f->best;
    unsigned fastest = 0;
    struct text t = {out, 0};
    for (unsigned k = 1; k < g->n_terms; k++) {
        if (grows_faster(&g->terms[k], &g->terms[fastest], f->n_parameters))
            fastest = k;
    }
    if (!g->n_terms) {
        put(&t, "constant");
        return out;
    }
    put(&t, g->c[fastest + 1] < 0 ? "-" : "");
    put_term(&t, &g->terms[fastest], f->n_parameters, names, true);
    return out;
}
