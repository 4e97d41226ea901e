/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Finds the groups in four steps. Of many points the first three use some MOST_USED.
 *
 * 1. A tree divides the points by planes until few are left. Half of the points place the planes,
 *    the other half decide: in many dimensions the points that placed a plane look as if they lay
 *    apart. Few points do both. From the leaves up, parts without a gap between them are joined.
 *    What is left apart is divided again, each part by a tree of its own (cluster_tree.c).
 * 2. The two parts with the least sure gap between them are joined, with all their points, until
 *    each gap is sure (cluster_parts.c).
 * 3. Each point goes to the group with the nearest mean.
 * 4. Points that lie far from all others of their group, with nothing in between, are groups of
 *    their own.
 *
 * A gap between two parts: on the line through their means there is a stretch with few points
 * between two stretches that are denser, each with half of the points on its side. Where one peak
 * is, a stretch is at least as dense as one of those on its sides, wherever the points are divided
 * and whatever tails they have: k points in a stretch and m in the gap are a matter of chance, the
 * less likely the more they are and the wider the gap is beside the stretch. So a gap is sure with
 * many points on its sides, or with few that lie close together for its width.
 */
#include "analysis/clusters_private.h"

#include "analysis/allocation.h"
#include "base/base.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    D = PCT_POINTS_COORDINATES,
    MOST_USED = 16384,
    LEVELS = 6 /* fewer different values are not those of a coarse clock */
};
/* A point is far if it is further from the mean than 2.25 times the root of the mean square and
 * seven deviations in its direction; EMPTY: nothing is between this part of its distance and it. */
static const double FAR_RADII = 2.25, FAR_DEVIATIONS = 7, EMPTY = 0.6;

static double distance2(const float *a, const float *b, uint32_t d)
{
    float sum = 0;
    for (uint32_t k = 0; k < d; k++)
        sum += (a[k] - b[k]) * (a[k] - b[k]);
    return (double)sum;
}

/* ---- Points that are used ------------------------------------------------------------------- */

static bool is_used(uint32_t i, uint32_t n)
{
    return n <= MOST_USED || (pc_hash_u64(i + 1) >> 8) % n < MOST_USED;
}

static int by_value(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* Spreads the values of a coordinate with few different ones by the middle one of the distances
 * between these: else each tick of a coarse clock would be a group. sorted: room for n. */
static void spread_ticks(struct pct_sample *s, uint32_t j, float *sorted)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->n; i++)
        sorted[i] = pct_sample_point(s, i)[j];
    qsort(sorted, s->n, sizeof *sorted, by_value);
    for (uint32_t i = 1; i < s->n; i++)
        if (sorted[i] > sorted[i - 1])
            sorted[n++] = sorted[i] - sorted[i - 1];
    if (n + 1 < LEVELS || n > s->n / 4)
        return;
    qsort(sorted, n, sizeof *sorted, by_value);
    for (uint32_t i = 0; i < s->n; i++) {
        double by = (double)(pc_hash_u64((uint64_t)i * D + j + 1) >> 11) / 9007199254740992.0 - 0.5;
        s->x[(size_t)i * s->d + j] += (float)by * sorted[n / 2];
    }
}

static void choose_points(struct pct_sample *s, const struct pct_points *p)
{
    s->x = pct_alloc((size_t)p->n * p->d, sizeof *s->x);
    for (uint32_t i = 0; i < p->n; i++)
        if (is_used(i, p->n))
            memcpy(s->x + (size_t)s->n++ * p->d, p->x + (size_t)i * p->d, p->d * sizeof *s->x);
    float *sorted = pct_alloc(s->n, sizeof *sorted);
    for (uint32_t j = 0; j < p->d; j++)
        spread_ticks(s, j, sorted);
    pct_free(sorted);
}

/* ---- Groups --------------------------------------------------------------------------------- */

static uint16_t nearest_group(const float *x, const float *mean, uint32_t n, uint32_t d)
{
    uint32_t best = 0;
    double best2 = HUGE_VAL;
    for (uint32_t g = 0; g < n; g++) {
        double far2 = distance2(x, mean + (size_t)g * d, d);
        if (far2 < best2) {
            best2 = far2;
            best = g;
        }
    }
    return (uint16_t)best;
}

/* Moves the means to those of the points that are nearest to them. */
static void move_means(struct pct_sample *s, float *mean, uint32_t n)
{
    struct pct_part *of = pct_alloc(n, sizeof *of);
    for (uint32_t i = 0; i < s->n; i++) {
        s->part[i] = nearest_group(pct_sample_point(s, i), mean, n, s->d);
        pct_part_put(&of[s->part[i]], pct_sample_point(s, i), s->d);
    }
    for (uint32_t g = 0; g < n; g++)
        if (of[g].n > 0)
            pct_part_mean(&of[g], s->d, mean + (size_t)g * s->d);
    pct_free(of);
}

/* Joins the two groups whose means are nearest until there are few enough. */
static uint32_t keep_groups(const struct pct_points *p, uint32_t most, float *mean, uint32_t n,
                            uint16_t *group)
{
    uint32_t d = p->d;
    while (n > most) {
        uint32_t a = 0, b = 1;
        double best = HUGE_VAL;
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t k = i + 1; k < n; k++) {
                double far2 = distance2(mean + (size_t)i * d, mean + (size_t)k * d, d);
                if (far2 < best) {
                    best = far2;
                    a = i;
                    b = k;
                }
            }
        memcpy(mean + (size_t)b * d, mean + (size_t)--n * d, d * sizeof *mean);
        for (uint32_t i = 0; i < p->n; i++)
            group[i] = (uint16_t)(group[i] == b ? a : group[i] == n ? b : group[i]);
    }
    return n;
}

/* ---- Points that lie far from all others ---------------------------------------------------- */

struct spread {
    double n, radius2, products[D][D];
    double most2; /* points that are further are left out */
};

struct distant {
    uint32_t i;
    double far; /* in distances that are far */
};

static int by_distance(const void *a, const void *b)
{
    const struct distant *x = a, *y = b;
    if (x->far != y->far)
        return x->far < y->far ? -1 : 1;
    return (x->i > y->i) - (x->i < y->i);
}

static void add_spread(struct spread *s, const float *x, const float *mean, uint32_t d)
{
    s->n++;
    for (uint32_t j = 0; j < d; j++) {
        double off = (double)(x[j] - mean[j]);
        s->radius2 += off * off;
        for (uint32_t k = 0; k <= j; k++)
            s->products[j][k] += off * (double)(x[k] - mean[k]);
    }
}

/* Moves `mean` to the mean of the points of group g that are used and no further from it than
 * `times` as far as the middle one. Returns the square of this distance. */
static float move_mean(const struct pct_points *p, uint32_t g, const uint16_t *group, float times,
                       float *mean)
{
    struct pct_part near = {.n = 0};
    float *far2 = pct_alloc(p->n, sizeof *far2), *sorted = pct_alloc(p->n, sizeof *sorted);
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->n; i++)
        if (group[i] == g && is_used(i, p->n))
            sorted[n++] = far2[i] = (float)distance2(p->x + (size_t)i * p->d, mean, p->d);
    qsort(sorted, n, sizeof *sorted, by_value);
    float most = n ? times * times * sorted[n / 2] : 0;
    for (uint32_t i = 0; i < p->n; i++)
        if (group[i] == g && is_used(i, p->n) && far2[i] <= most)
            pct_part_put(&near, p->x + (size_t)i * p->d, p->d);
    if (near.n > 0)
        pct_part_mean(&near, p->d, mean);
    pct_free(far2);
    pct_free(sorted);
    return most;
}

/* Finds the spread of the points of a group around their mean, without those that are far. */
static struct spread find_spread(const struct pct_points *p, uint32_t g, const uint16_t *group,
                                 float *mean)
{
    struct spread s = {.n = 0};
    move_mean(p, g, group, 1, mean);
    float most = move_mean(p, g, group, 4, mean);
    s.most2 = (double)most;
    for (uint32_t i = 0; i < p->n; i++)
        if (group[i] == g && is_used(i, p->n) &&
            distance2(p->x + (size_t)i * p->d, mean, p->d) <= s.most2)
            add_spread(&s, p->x + (size_t)i * p->d, mean, p->d);
    return s;
}

/* The distance of a point from a group, whose spread is taken without it; up to 1 is not far. */
static double how_far(const struct spread *s, bool used, const float *x, const float *mean,
                      uint32_t d)
{
    double far2 = distance2(x, mean, d), across = 0;
    double own = used && far2 <= s->most2 && s->n > 1 ? 1 : 0;
    double radius = FAR_RADII * sqrt(fmax(0, s->radius2 - own * far2) / (s->n - own));
    if (far2 <= EMPTY * EMPTY * radius * radius)
        return 0;
    for (uint32_t j = 0; j < d; j++)
        for (uint32_t k = 0; k <= j; k++)
            across += (j == k ? 1 : 2) * s->products[j][k] * (double)(x[j] - mean[j]) *
                      (double)(x[k] - mean[k]);
    double deviation = sqrt(fmax(0, across / far2 - own * far2) / (s->n - own));
    double allowed = fmax(radius, FAR_DEVIATIONS * deviation);
    return allowed > 0 ? sqrt(far2) / allowed : HUGE_VAL;
}

/* Puts each of the points, the most distant first, into a group of its own with those that are near
 * it. Returns how many groups there are then. */
static uint32_t add_lone(const struct pct_points *p, const struct distant *lone, uint32_t n_lone,
                         double near2, float *mean, uint32_t n, uint32_t room, uint16_t *group)
{
    uint32_t first = n;
    for (uint32_t k = n_lone; k-- > 0;) {
        const float *x = p->x + (size_t)lone[k].i * p->d;
        uint32_t g = first + nearest_group(x, mean + (size_t)first * p->d, n - first, p->d);
        if (n == first || (n < room && distance2(x, mean + (size_t)g * p->d, p->d) > near2)) {
            g = n++;
            memcpy(mean + (size_t)g * p->d, x, p->d * sizeof *x);
        }
        group[lone[k].i] = (uint16_t)g;
    }
    return n;
}

/* Finds the points of group g that are far, with nothing between them and the others. */
static uint32_t find_lone(const struct pct_points *p, uint32_t g, float *mean, uint32_t n,
                          uint32_t room, uint16_t *group)
{
    struct spread s = find_spread(p, g, group, mean + (size_t)g * p->d);
    struct distant *distant = pct_alloc(p->n, sizeof *distant);
    uint32_t n_distant = 0, first = 0;
    double last = EMPTY;
    for (uint32_t i = 0; s.n > 0 && i < p->n; i++) {
        if (group[i] != g)
            continue;
        double far =
            how_far(&s, is_used(i, p->n), p->x + (size_t)i * p->d, mean + (size_t)g * p->d, p->d);
        if (far > EMPTY)
            distant[n_distant++] = (struct distant){i, far};
    }
    qsort(distant, n_distant, sizeof *distant, by_distance);
    while (first < n_distant && (distant[first].far <= 1 || last > EMPTY * distant[first].far))
        last = distant[first++].far;
    if (first < n_distant && n < room)
        n = add_lone(p, distant + first, n_distant - first, FAR_RADII * FAR_RADII * s.radius2 / s.n,
                     mean, n, room, group);
    pct_free(distant);
    return n;
}

/* Numbers the groups in the order of their first points. */
static uint32_t number_groups(uint32_t n_points, uint32_t n_groups, uint16_t *group)
{
    uint16_t *number = pct_alloc(n_groups, sizeof *number);
    uint16_t n = 0;
    for (uint32_t i = 0; i < n_points; i++) {
        if (!number[group[i]])
            number[group[i]] = ++n;
        group[i] = (uint16_t)(number[group[i]] - 1);
    }
    pct_free(number);
    return n;
}

uint32_t pct_clusters_find(const struct pct_points *points, uint32_t most, uint16_t *group)
{
    struct pct_sample s = {.d = points->d, .least = (double)points->least};
    uint32_t room = PCT_CLUSTER_PARTS + most;
    if (!points->n)
        return 0;
    choose_points(&s, points);
    s.part = pct_alloc(s.n, sizeof *s.part);
    float *mean = pct_alloc((size_t)room * s.d, sizeof *mean);
    pct_sample_divide(&s);
    uint32_t n_groups = pct_sample_groups(&s, mean), n = n_groups;
    move_means(&s, mean, n);
    for (uint32_t i = 0; i < points->n; i++)
        group[i] = nearest_group(points->x + (size_t)i * s.d, mean, n_groups, s.d);
    for (uint32_t g = 0; g < n_groups; g++)
        n = find_lone(points, g, mean, n, room, group);
    n = keep_groups(points, most, mean, n, group);
    n = number_groups(points->n, n, group);
    pct_free(s.x);
    pct_free(s.part);
    pct_free(mean);
    return n;
}
