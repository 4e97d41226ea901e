/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Two models instead of one: see fit.h. Every place between two measured ones is tried as the end
 * of the first model. The errors are cross-validation errors, so that two models have no advantage
 * from their number of terms. The factor SURELY compensates for taking the best of several places.
 */
#include "analysis/fit/fit_private.h"

#include "analysis/allocation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Places that each model needs; the error of two models, relative to that of one, below which they
 * are used; an error of one model that is good enough. tests/report/fit_test.c measures by
 * simulation how often noise is taken for a break. */
enum { LEAST_PLACES = 4 };
#define SURELY 0.3
#define GOOD_ENOUGH 0.02

static int compare_places(const void *a, const void *b)
{
    const struct pct_fit_point *x = a, *y = b;
    return (x->x[0] > y->x[0]) - (x->x[0] < y->x[0]);
}

static size_t count_places(const struct pct_fit_point *points, size_t n)
{
    size_t n_places = n > 0;
    for (size_t i = 1; i < n; i++)
        n_places += points[i].x[0] > points[i - 1].x[0];
    return n_places;
}

/* Tries points [0, n_low) and the rest; keeps them if they are better than what `out` has. */
static void try_break(const struct pct_fit_point *points, size_t n, size_t n_low,
                      struct pct_fit_segments *candidate, struct pct_fit_segments *out)
{
    struct pct_fit *low = &candidate->low.fit, *high = &candidate->high.fit;
    if (!pct_fit_make(points, n_low, 1, low, &candidate->low.rivals) ||
        !pct_fit_make(points + n_low, n - n_low, 1, high, &candidate->high.rivals))
        return;
    double squares = low->best.error * low->best.error * (double)low->n_points +
                     high->best.error * high->best.error * (double)high->n_points;
    candidate->error = sqrt(squares / (double)(low->n_points + high->n_points));
    candidate->last = points[n_low - 1].x[0];
    candidate->first = points[n_low].x[0];
    if (candidate->error < out->error)
        *out = *candidate;
}

struct pct_fit_segments *pct_fit_segments_new(const struct pct_fit_point *points, size_t n,
                                              const struct pct_fit *one)
{
    if (one->n_parameters != 1 || one->n_points < 2 * LEAST_PLACES || one->exact ||
        one->best.error < GOOD_ENOUGH)
        return NULL;
    struct pct_fit_point *mine = pct_alloc(n, sizeof *mine);
    struct pct_fit_segments *best = pct_alloc(1, sizeof *best),
                            *candidate = pct_alloc(1, sizeof *candidate);
    memcpy(mine, points, n * sizeof *mine);
    qsort(mine, n, sizeof *mine, compare_places);
    best->error = INFINITY;
    for (size_t i = 1; i < n; i++)
        if (mine[i].x[0] > mine[i - 1].x[0] && count_places(mine, i) >= LEAST_PLACES &&
            count_places(mine + i, n - i) >= LEAST_PLACES)
            try_break(mine, n, i, candidate, best);
    bool taken = best->error <= SURELY * one->best.error;
    pct_free(candidate);
    pct_free(mine);
    if (taken)
        return best;
    pct_free(best);
    return NULL;
}

const struct pct_fit_segment *pct_fit_segment_at(const struct pct_fit_segments *s, double x)
{
    return x <= s->last ? &s->low : &s->high;
}

void pct_fit_segments_free(struct pct_fit_segments *s)
{
    pct_free(s);
}
