/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The estimators of doc/internals/rotation.md. Numbers only: no profile, no text.
 */
#include "report/counters/estimate.h"

#include <math.h>

void pct_moments_add(struct pct_moments *to, const struct pct_moments *what)
{
    to->n += what->n;
    to->seen += what->seen;
    to->x += what->x;
    to->t += what->t;
    to->xx += what->xx;
    to->tt += what->tt;
    to->xt += what->xt;
    to->added += what->added;
}

/* The 97.5 % point of Student's distribution, to a hundredth from 29 degrees of freedom on. */
static double quantile(uint64_t n)
{
    return 1.96 + 2.4 / (double)(n - 1);
}

static struct pct_estimate finish(struct pct_estimate e)
{
    if (e.trust == PCT_TRUST_FULL)
        e.error = quantile(e.n) * sqrt(e.variance);
    return e;
}

/* What one window adds to x. */
static double window_adds(const struct pct_moments *m)
{
    return (double)m->added / 1000 / (double)m->n;
}

/* Sum of (x - a - rate t)^2 over the windows, a: what a window adds. Sums of squares that cancel,
 * so long doubles. */
static double sum_residuals(const struct pct_moments *m, double rate)
{
    long double r = rate, a = window_adds(m), x = m->x, t = m->t;
    long double xx = (long double)m->xx - 2 * a * x + a * a * m->n;
    long double xt = (long double)m->xt - a * t;
    long double sum = xx - 2 * r * xt + r * r * (long double)m->tt;
    return sum > 0 ? (double)sum : 0;
}

struct pct_estimate pct_estimate_rate(const struct pct_moments *m, double ns)
{
    struct pct_estimate e = {.trust = PCT_TRUST_NONE, .n = m->n};
    if (!m->n || !m->t)
        return e;
    double t = (double)m->t, n = (double)m->n, read = ns > t ? t / ns : 1;
    e.value = fmax(0, (double)m->x - n * window_adds(m)) / t;
    if (m->n < PCT_FEW_READINGS || m->seen < PCT_FEW_SEEN) {
        e.trust = PCT_TRUST_FEW;
        return e;
    }
    e.trust = PCT_TRUST_FULL;
    e.variance = (1 - read) * n / (n - 1) * sum_residuals(m, e.value) / (t * t);
    return finish(e);
}

struct pct_estimate pct_estimate_count(const struct pct_moments *m, struct pct_extent extent)
{
    struct pct_estimate e = pct_estimate_rate(m, extent.ns);
    e.variance = extent.ns * extent.ns * e.variance + e.value * e.value * extent.variance;
    e.value *= extent.ns;
    return finish(e);
}

static enum pct_trust lesser(enum pct_trust a, enum pct_trust b)
{
    return a < b ? a : b;
}

struct pct_estimate pct_estimate_ratio(const struct pct_estimate *part,
                                       const struct pct_estimate *whole)
{
    struct pct_estimate e = {.trust = lesser(part->trust, whole->trust),
                             .n = part->n < whole->n ? part->n : whole->n};
    if (e.trust == PCT_TRUST_NONE || whole->value <= 0) {
        e.trust = PCT_TRUST_NONE;
        return e;
    }
    e.value = part->value / whole->value;
    if (e.trust >= PCT_TRUST_MIXED)
        e.variance =
            (part->variance + e.value * e.value * whole->variance) / (whole->value * whole->value);
    return finish(e);
}

void pct_estimate_mix(struct pct_estimate *e, uint64_t begun, uint64_t stayed)
{
    if (e->trust != PCT_TRUST_FULL || stayed * 2 >= begun)
        return;
    e->trust = PCT_TRUST_MIXED;
    e->error = 0;
}

const char *pct_trust_text(enum pct_trust trust)
{
    return trust == PCT_TRUST_FEW ? "few" : trust == PCT_TRUST_MIXED ? "mixed" : "";
}
