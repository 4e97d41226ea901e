/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The estimators of doc/internals/rotation.md. Numbers only: no profile, no text.
 */
#include "analysis/counters/estimate.h"

#include <math.h>

void pct_moments_add(struct pct_moments *to, const struct pct_moments *what)
{
    to->n += what->n;
    to->weight += what->weight;
    to->seen += what->seen;
    to->x += what->x;
    to->t += what->t;
    to->xx += what->xx;
    to->tt += what->tt;
    to->xt += what->xt;
    to->added += what->added;
}

/* True if the second kind of windows is longer on average, which only a damaged file violates. */
static bool can_differ(const struct pct_readings *r)
{
    const struct pct_moments *a = &r->brief, *b = &r->lasting;
    return r->by_difference && a->n >= PCT_FEW_READINGS / 2 && b->n >= PCT_FEW_READINGS / 2 &&
           a->weight && b->weight &&
           (double)b->t / (double)b->weight > 1.5 * (double)a->t / (double)a->weight;
}

struct pct_moments pct_readings_used(const struct pct_readings *r)
{
    struct pct_moments used = r->brief;
    if (can_differ(r))
        pct_moments_add(&used, &r->lasting);
    return used;
}

/* The 97.5 % point of Student's distribution, to a hundredth from 29 degrees of freedom on. */
static double quantile(uint64_t n)
{
    return 1.96 + 2.4 / (double)(n - 1);
}

static struct pct_estimate finish(struct pct_estimate e)
{
    if (e.trust == PCT_TRUST_FULL)
        e.error = quantile(e.n) * sqrt(e.variance + e.value * e.value * e.common * e.common);
    return e;
}

/* ---- Rates ----------------------------------------------------------------------------------- */

static double without_added(const struct pct_moments *m)
{
    return (double)m->x - (double)m->added / 1000;
}

/* n times the variance of y - rate t over the windows; y is x without the counts that a window
 * adds. The sums of squares cancel, so it uses long double. around: about the mean, else about
 * 0. */
static double sum_residuals(const struct pct_moments *m, double rate, bool around)
{
    long double r = rate, n = m->n, a = (long double)m->added / 1000 / n, x = m->x, t = m->t;
    long double xx = (long double)m->xx - 2 * a * x + a * a * n;
    long double xt = (long double)m->xt - a * t;
    long double sum = xx - 2 * r * xt + r * r * (long double)m->tt;
    long double mean = (x - a * n - r * t) / n;
    sum -= around ? n * mean * mean : 0;
    return sum > 0 && n > 1 ? (double)(sum * n / (n - 1)) : 0;
}

/* Rate from windows of one length. A systematic error of their length, or of the counts that they
 * add, is common to all of them and is not visible in their scatter. */
static void rate_of_brief(struct pct_estimate *e, const struct pct_moments *m, double ns)
{
    double t = (double)m->t, read = ns > t ? t / ns : 1;
    e->value = fmax(0, without_added(m)) / t;
    e->variance = (1 - read) * sum_residuals(m, e->value, false) / (t * t);
    double added = PCT_ADDED_PERCENT * (double)m->added / 1e5 / t;
    e->variance += added * added;
    e->common = PCT_LENGTH_NS * (double)m->weight / t;
}

/* Rate from the difference of the means of both lengths: errors common to all windows cancel. */
static void rate_by_difference(struct pct_estimate *e, const struct pct_moments *a,
                               const struct pct_moments *b)
{
    double na = (double)a->weight, nb = (double)b->weight;
    double ns = (double)b->t / nb - (double)a->t / na;
    e->value = fmax(0, (without_added(b) / nb - without_added(a) / na) / ns);
    e->variance = (sum_residuals(a, e->value, true) / (na * na) +
                   sum_residuals(b, e->value, true) / (nb * nb)) /
                  (ns * ns);
}

struct pct_estimate pct_estimate_rate(const struct pct_readings *r, double ns)
{
    const struct pct_moments used = pct_readings_used(r);
    struct pct_estimate e = {.trust = PCT_TRUST_NONE, .n = used.n};
    if (!used.n || !used.t)
        return e;
    bool few = used.n < PCT_FEW_READINGS || used.seen < PCT_FEW_SEEN;
    e.trust = few ? PCT_TRUST_FEW : PCT_TRUST_FULL;
    if (can_differ(r))
        rate_by_difference(&e, &r->brief, &r->lasting);
    else
        rate_of_brief(&e, &r->brief, ns);
    return finish(e);
}

struct pct_estimate pct_estimate_count(const struct pct_readings *r, struct pct_extent extent)
{
    struct pct_estimate e = pct_estimate_rate(r, extent.ns);
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
                             .n = part->n < whole->n ? part->n : whole->n,
                             .common = fabs(part->common - whole->common)};
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
