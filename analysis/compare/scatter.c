/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The moderated test of scatter.h, on logarithms: contexts scatter by a share of their time.
 */
#include "analysis/compare/scatter.h"

#include "analysis/allocation.h"
#include "analysis/student.h"

#include <math.h>
#include <stdlib.h>

/* Contexts from which on they lend each other their scatter, and the greatest variance by samples
 * of one that lends: four samples in each run. */
enum { ALIKE = 3 };
#define SAMPLED 0.25
/* Degrees of freedom that are as good as infinitely many. */
#define ALL_FREEDOM 1e5

/* Contexts of one kind, first those that lend. */
struct kind {
    struct pct_scatter_row **rows;
    size_t n, n_lend, n_before, n_runs;
    double freedom;    /* of the scatter of one context */
    double *logs;      /* context * n_runs + run */
    double *sampled;   /* by context: variance of a log by its samples, mean of the runs */
    double *scattered; /* by context: variance of its logs beside what all share */
    double shared;     /* variance of what all contexts of a run share */
    double *sorted;    /* room for n or n_runs values */
};

static int compare_values(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Sorts the values. */
static double median_of(double *values, size_t n)
{
    qsort(values, n, sizeof *values, compare_values);
    return (values[(n - 1) / 2] + values[n / 2]) / 2;
}

/* Derivative of the logarithm of the gamma function, and with `second` the one of that. */
static double gamma_slope(double x, bool second)
{
    double sum = 0;
    for (; x < 8; x++)
        sum += second ? 1 / (x * x) : -1 / x;
    double u = 1 / (x * x);
    if (second)
        return sum + 1 / x + u / 2 + u / x * (1. / 6 - u * (1. / 30 - u / 42));
    return sum + log(x) - 1 / (2 * x) - u * (1. / 12 - u * (1. / 120 - u / 252));
}

static double mean_of(const double *values, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += values[i];
    return sum / (double)n;
}

/* ---- The scatter of contexts and of runs ----------------------------------------------------- */

/* The variance of a log by samples, mean of the runs. */
static double sampled_of(const struct pct_scatter_row *row, size_t n_runs)
{
    double sum = 0;
    for (size_t r = 0; r < n_runs; r++) {
        double value = row->values[r];
        sum += value < row->least ? 1 : row->variances[r] / value / value;
    }
    return sum / (double)n_runs;
}

/* True if all runs have the context, with enough samples. */
static bool may_lend(const struct pct_scatter_row *row, size_t n_runs)
{
    for (size_t r = 0; r < n_runs; r++)
        if (row->values[r] < row->least)
            return false;
    return sampled_of(row, n_runs) <= SAMPLED;
}

static void take_logs(struct kind *k)
{
    for (size_t i = 0; i < k->n; i++) {
        const struct pct_scatter_row *row = k->rows[i];
        for (size_t r = 0; r < k->n_runs; r++)
            k->logs[i * k->n_runs + r] = log(fmax(row->values[r], row->least));
        k->sampled[i] = sampled_of(row, k->n_runs);
    }
}

/* The log of a run, as it deviates from the mean of its side. */
static double deviation_of(const struct kind *k, size_t row, size_t run)
{
    size_t first = run < k->n_before ? 0 : k->n_before,
           end = run < k->n_before ? k->n_before : k->n_runs;
    const double *logs = &k->logs[row * k->n_runs];
    return logs[run] - mean_of(logs + first, end - first);
}

/* The median of the contexts is what a run shares; it contains a part of the scatter of each. */
static void divide_scatter(struct kind *k)
{
    size_t n = k->n_lend ? k->n_lend : k->n;
    for (size_t r = 0; r < k->n_runs; r++) {
        for (size_t i = 0; i < n; i++)
            k->sorted[i] = deviation_of(k, i, r);
        double median = median_of(k->sorted, n);
        k->shared += median * median / k->freedom;
        for (size_t i = 0; i < k->n; i++) {
            double rest = deviation_of(k, i, r) - median;
            k->scattered[i] += rest * rest / k->freedom;
        }
    }
    for (size_t i = 0; i < n && n > 1; i++)
        k->scattered[i] *= (double)n / (double)(n - 1);
}

/* ---- The scatter that contexts lend ---------------------------------------------------------- */

/* The variance expected of a context: that common to all, and the error of its samples. */
static double expect_scatter(const struct kind *k, size_t i, double common)
{
    static const double least = 1e-12; /* that of the arithmetic */
    return common + k->sampled[i] + least;
}

/* Finds the common part: with it half of the contexts scatter more than expected. */
static double find_common(const struct kind *k)
{
    double low = 0, high = 0, middle = pow(1 - 2 / (9 * k->freedom), 3); /* of chi^2 */
    for (size_t i = 0; i < k->n_lend; i++)
        high = fmax(high, 4 * k->scattered[i]);
    for (unsigned step = 0; step < 60; step++) {
        double common = (low + high) / 2;
        for (size_t i = 0; i < k->n_lend; i++)
            k->sorted[i] = k->scattered[i] / expect_scatter(k, i, common);
        if (median_of(k->sorted, k->n_lend) > middle)
            low = common;
        else
            high = common;
    }
    return high;
}

/* The scatter of all, as a factor of what is expected, and how many degrees of freedom it is worth
 * beside those of one context; infinitely many if contexts differ by no more than chance. */
struct prior {
    double common, factor, freedom;
};

static struct prior find_prior(const struct kind *k)
{
    struct prior p = {.factor = 1};
    double half = k->freedom / 2, mean = 0, spread = 0;
    if (!k->n_lend)
        return p;
    p.common = find_common(k);
    for (size_t i = 0; i < k->n_lend; i++)
        k->sorted[i] = log(fmax(k->scattered[i] / expect_scatter(k, i, p.common), 1e-5));
    mean = mean_of(k->sorted, k->n_lend);
    for (size_t i = 0; i < k->n_lend; i++)
        spread += (k->sorted[i] - mean) * (k->sorted[i] - mean) / (double)(k->n_lend - 1);
    spread -= gamma_slope(half, true);
    mean += log(half) - gamma_slope(half, false);
    p.freedom = INFINITY;
    if (spread > 1e-3) { /* less is worth more than a thousand */
        double low = 1e-3, high = 1e4;
        for (unsigned step = 0; step < 60; step++) {
            double middle = sqrt(low * high);
            *(gamma_slope(middle, true) > spread ? &low : &high) = middle;
        }
        p.freedom = 2 * high;
        mean += gamma_slope(high, false) - log(high);
    }
    p.factor = exp(mean);
    return p;
}

/* ---- The test -------------------------------------------------------------------------------- */

static void test_row(const struct kind *k, size_t i, const struct prior *p)
{
    const double *logs = &k->logs[i * k->n_runs];
    size_t n_after = k->n_runs - k->n_before;
    double change = mean_of(logs + k->n_before, n_after) - mean_of(logs, k->n_before);
    double own = k->scattered[i], all = expect_scatter(k, i, p->common) * p->factor;
    if (isinf(p->freedom))
        own = all;
    else if (p->freedom > 0)
        own = (p->freedom * all + k->freedom * own) / (p->freedom + k->freedom);
    /* The error of samples is known: only what is above it is an estimate. */
    double estimated = fmax(0, own - k->sampled[i]);
    own = fmax(own, k->sampled[i]);
    double sum = own + k->shared, part = 1 / (double)k->n_before + 1 / (double)n_after;
    double freedom = fmin(p->freedom + k->freedom, fmax((double)k->n_lend, 1) * k->freedom);
    const double *values = k->rows[i]->values;
    bool agree =
        change * (mean_of(values + k->n_before, n_after) - mean_of(values, k->n_before)) > 0;
    double t = !agree    ? 0 /* an outlier is all of it */
               : sum > 0 ? change / sqrt(sum * part)
                         : HUGE_VAL;
    double error = estimated * estimated / freedom + k->shared * k->shared / k->freedom;
    freedom = sum > 0 ? fmin(sum * sum / error, ALL_FREEDOM) : k->freedom;
    k->rows[i]->doubt = pct_student_tail(t, freedom);
    k->rows[i]->least_doubt = erfc(fabs(t) / sqrt(2));
}

static void test_kind(struct kind *k)
{
    k->freedom = (double)(k->n_runs - 2);
    k->logs = pct_alloc(k->n * k->n_runs, sizeof *k->logs);
    k->sampled = pct_alloc(k->n, sizeof *k->sampled);
    k->scattered = pct_alloc(k->n, sizeof *k->scattered);
    k->sorted = pct_alloc(k->n, sizeof *k->sorted);
    take_logs(k);
    divide_scatter(k);
    struct prior prior = find_prior(k);
    for (size_t i = 0; i < k->n; i++)
        test_row(k, i, &prior);
    pct_free(k->logs);
    pct_free(k->sampled);
    pct_free(k->scattered);
    pct_free(k->sorted);
}

void pct_scatter_test(struct pct_scatter_row *rows, size_t n, size_t n_before, size_t n_after)
{
    for (int computes = 0; computes < 2; computes++) {
        struct kind k = {.n_before = n_before, .n_runs = n_before + n_after};
        k.rows = pct_alloc(n, sizeof *k.rows);
        for (int lends = 1; lends >= 0; lends--) {
            for (size_t i = 0; i < n; i++)
                if (rows[i].computes == computes && may_lend(&rows[i], k.n_runs) == lends)
                    k.rows[k.n++] = &rows[i];
            k.n_lend = lends && k.n >= ALIKE ? k.n : k.n_lend;
        }
        if (k.n)
            test_kind(&k);
        pct_free(k.rows);
    }
}

static int compare_doubts(const void *a, const void *b)
{
    return compare_values(*(double *const *)a, *(double *const *)b);
}

void pct_scatter_correct(double **doubts, size_t n)
{
    double least = 1;
    qsort(doubts, n, sizeof *doubts, compare_doubts);
    for (size_t i = n; i-- > 0;) {
        least = fmin(least, *doubts[i] * (double)n / (double)(i + 1));
        *doubts[i] = least;
    }
}
