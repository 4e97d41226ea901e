/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Divides points by trees of planes, and joins the leaves that have no gap between them
 * (clusters.c).
 */
#include "analysis/clusters_private.h"

#include "analysis/allocation.h"
#include "base/base.h"

#include <math.h>
#include <string.h>

enum {
    D = PCT_POINTS_COORDINATES,
    MANY = 512,   /* points of which half place planes, and half decide */
    LEAVES = 512, /* of a tree */
    DEPTH = 24,   /* planes above a leaf */
    SMALL = 4     /* fewer points are not divided */
};
/* Nats: leaves with less evidence for a gap between them are joined. */
static const double IN_TREE = 2.4;

/* The positions of some points in the lists of those that place planes and that decide. */
enum { PLACE, DECIDE };
struct range {
    uint32_t begin[2], end[2];
};

struct work {
    struct pct_sample *s;
    uint32_t *list[2]; /* points that place planes, and that decide */
    uint32_t *spare;
    uint32_t n_leaves;
    uint16_t joined[LEAVES]; /* another leaf of the part, or itself */
    struct range of_leaf[LEAVES];
    struct pct_part *leaf; /* of the points that place; of all that were joined */
    bool *apart;           /* LEAVES * LEAVES: a gap was found */
};

/* All points; few of them both place and decide. */
static struct range list_points(struct work *w)
{
    struct range all = {{0, 0}, {0, 0}};
    for (uint32_t i = 0; i < w->s->n; i++)
        for (int h = PLACE; h <= DECIDE; h++)
            if (w->s->n < MANY || (int)(pc_hash_u64(i + 1) & 1) == h)
                w->list[h][all.end[h]++] = i;
    return all;
}

/* ---- Planes --------------------------------------------------------------------------------- */

struct plane {
    double normal[D], offset;
};

static double height(const struct plane *p, const float *x, uint32_t d)
{
    double at = -p->offset;
    for (uint32_t j = 0; j < d; j++)
        at += p->normal[j] * (double)x[j];
    return at;
}

/* The points that place a plane, their mean, and the sums of squares of their coordinates. */
struct placing {
    const struct pct_sample *s;
    const uint32_t *list;
    uint32_t n;
    double mean[D], squares[D], far[D]; /* far: the point furthest from the mean, from there */
};

static struct placing find_placing(const struct work *w, const struct range *r)
{
    struct placing p = {
        .s = w->s, .list = w->list[PLACE] + r->begin[PLACE], .n = r->end[PLACE] - r->begin[PLACE]};
    double most = 0;
    for (uint32_t k = 0; k < p.n; k++)
        for (uint32_t j = 0; j < w->s->d; j++)
            p.mean[j] += (double)pct_sample_point(w->s, p.list[k])[j] / p.n;
    for (uint32_t k = 0; k < p.n; k++) {
        double off[D], far2 = 0;
        for (uint32_t j = 0; j < w->s->d; j++) {
            off[j] = (double)pct_sample_point(w->s, p.list[k])[j] - p.mean[j];
            p.squares[j] += off[j] * off[j];
            far2 += off[j] * off[j];
        }
        if (far2 > most) {
            most = far2;
            memcpy(p.far, off, sizeof off);
        }
    }
    return p;
}

/* Moves the plane between the means of the two sides, a few times. scaled: coordinates count by
 * their deviation on each side. Returns which part of the variance across the plane is between the
 * sides; -1: all points are on one side. */
static double move_plane(const struct placing *p, bool scaled, struct plane *plane)
{
    struct plane next = *plane;
    double share = -1;
    for (int round = 0; round < 5; round++) {
        struct pct_part side[2] = {{0}};
        double above[2] = {0}, squares = 0;
        for (uint32_t k = 0; k < p->n; k++) {
            const float *x = pct_sample_point(p->s, p->list[k]);
            double h = height(&next, x, p->s->d);
            pct_part_put(&side[h >= 0], x, p->s->d);
            above[h >= 0] += h;
            squares += h * h;
        }
        if (side[0].n < 1 || side[1].n < 1)
            return share;
        double pair = side[0].n * side[1].n / p->n;
        double by = above[1] / side[1].n - above[0] / side[0].n,
               mean = (above[0] + above[1]) / p->n;
        double all = squares - p->n * mean * mean;
        share = all > 0 ? by * by * pair / all : 0;
        *plane = next;
        next.offset = 0;
        for (uint32_t j = 0; j < p->s->d; j++) {
            double a = side[0].sum[j] / side[0].n, b = side[1].sum[j] / side[1].n;
            double within = fmax(p->squares[j] - (b - a) * (b - a) * pair, 1e-4 * p->squares[j]);
            next.normal[j] = !scaled ? b - a : within > 0 ? (b - a) / within : 0;
            next.offset += next.normal[j] * (a + b) / 2;
        }
    }
    return share;
}

/* Turns the normal towards the direction in which the points differ most; scaled: of coordinates
 * with variance 1. */
static void turn_to_most(const struct placing *p, bool scaled, double *normal)
{
    uint32_t d = p->s->d;
    for (uint32_t j = 0; j < d; j++)
        normal[j] = !scaled ? p->far[j] : p->squares[j] > 0 ? p->far[j] / p->squares[j] : 0;
    for (int round = 0; round < 5; round++) {
        double sum[D] = {0}, length2 = 0;
        for (uint32_t k = 0; k < p->n; k++) {
            const float *x = pct_sample_point(p->s, p->list[k]);
            double at = 0;
            for (uint32_t j = 0; j < d; j++)
                at += ((double)x[j] - p->mean[j]) * normal[j];
            for (uint32_t j = 0; j < d; j++)
                sum[j] += at * ((double)x[j] - p->mean[j]);
        }
        for (uint32_t j = 0; j < d; j++) {
            sum[j] = !scaled ? sum[j] : p->squares[j] > 0 ? sum[j] / p->squares[j] : 0;
            length2 += sum[j] * sum[j];
        }
        for (uint32_t j = 0; length2 > 0 && j < d; j++)
            normal[j] = sum[j] / sqrt(length2);
    }
}

/* Returns the coordinate whose values fall into two sets best. */
static uint32_t best_coordinate(const struct placing *p)
{
    double best = -1;
    uint32_t best_j = 0;
    for (uint32_t j = 0; j < p->s->d; j++) {
        double cut = p->mean[j], share = 0;
        for (int round = 0; p->squares[j] > 0 && round < 3; round++) {
            double sum[2] = {0}, n[2] = {0};
            for (uint32_t k = 0; k < p->n; k++) {
                double v = (double)pct_sample_point(p->s, p->list[k])[j];
                sum[v >= cut] += v;
                n[v >= cut]++;
            }
            if (n[0] < 1 || n[1] < 1)
                break;
            double a = sum[0] / n[0], b = sum[1] / n[1];
            share = (b - a) * (b - a) * n[0] * n[1] / p->n / p->squares[j];
            cut = (a + b) / 2;
        }
        if (share > best) {
            best = share;
            best_j = j;
        }
    }
    return best_j;
}

/* The best of three planes. False if the points are all the same. */
static bool place_plane(const struct work *w, const struct range *r, struct plane *plane)
{
    struct placing p = find_placing(w, r);
    double best = -1;
    for (int way = 0; way < 3; way++) {
        struct plane try = {.offset = 0};
        if (way < 2)
            turn_to_most(&p, way == 1, try.normal);
        else
            try.normal[best_coordinate(&p)] = 1;
        for (uint32_t j = 0; j < w->s->d; j++)
            try.offset += p.mean[j] * try.normal[j];
        double share = move_plane(&p, way > 0, &try);
        if (share > best) {
            best = share;
            *plane = try;
        }
    }
    return best > 0;
}

/* ---- Trees ---------------------------------------------------------------------------------- */

static uint16_t part_of(const struct work *w, uint32_t leaf)
{
    while (w->joined[leaf] != leaf)
        leaf = w->joined[leaf];
    return (uint16_t)leaf;
}

static bool leaves_have_gap(const struct work *w, uint32_t first, uint16_t a, uint16_t b)
{
    struct pct_line l;
    if (!pct_line_lay(w->s, &w->leaf[a], &w->leaf[b], &l))
        return false;
    for (uint32_t c = first; c < w->n_leaves; c++)
        if (part_of(w, c) == a || part_of(w, c) == b)
            for (uint32_t k = w->of_leaf[c].begin[DECIDE]; k < w->of_leaf[c].end[DECIDE]; k++)
                pct_line_put(&l, pct_sample_point(w->s, w->list[DECIDE][k]), w->s->d);
    return pct_line_gap(&l) > IN_TREE;
}

/* Joins parts of the leaves from `first` on until there is a gap between any two. */
static void join_leaves(struct work *w, uint32_t first)
{
    for (bool again = true; again;) {
        again = false;
        for (uint32_t a = first; a < w->n_leaves; a++)
            for (uint32_t b = a + 1; b < w->n_leaves; b++) {
                if (w->joined[a] != a || w->joined[b] != b || w->apart[a * LEAVES + b])
                    continue;
                w->apart[a * LEAVES + b] = leaves_have_gap(w, first, (uint16_t)a, (uint16_t)b);
                if (w->apart[a * LEAVES + b])
                    continue;
                w->joined[b] = (uint16_t)a;
                pct_part_add(&w->leaf[a], &w->leaf[b], w->s->d);
                for (uint32_t c = first; c < w->n_leaves; c++)
                    w->apart[a * LEAVES + c] = w->apart[c * LEAVES + a] = false;
                again = true;
            }
    }
}

static void add_leaf(struct work *w, const struct range *r)
{
    uint32_t c = w->n_leaves++;
    w->of_leaf[c] = *r;
    w->joined[c] = (uint16_t)c;
    memset(&w->leaf[c], 0, sizeof w->leaf[c]);
    for (uint32_t k = r->begin[PLACE]; k < r->end[PLACE]; k++)
        pct_part_put(&w->leaf[c], pct_sample_point(w->s, w->list[PLACE][k]), w->s->d);
    for (uint32_t b = 0; b <= c; b++)
        w->apart[c * LEAVES + b] = w->apart[b * LEAVES + c] = false;
}

/* Moves the points below the plane to the front of the list; returns the position of the others. */
static uint32_t divide_list(struct work *w, int which, const struct range *r, const struct plane *p)
{
    uint32_t *list = w->list[which], at = r->begin[which], n = 0;
    for (uint32_t k = r->begin[which]; k < r->end[which]; k++) {
        uint32_t i = list[k];
        if (height(p, pct_sample_point(w->s, i), w->s->d) < 0)
            list[at++] = i;
        else
            w->spare[n++] = i;
    }
    memcpy(list + at, w->spare, n * sizeof *list);
    return at;
}

/* Makes at most `room` leaves of a range, and joins those without a gap. */
static void grow(struct work *w, const struct range *r, uint32_t room, unsigned above)
{
    uint32_t n = r->end[PLACE] - r->begin[PLACE], first = w->n_leaves;
    struct plane plane = {.offset = 0};
    if (room < 2 || above >= DEPTH || n < SMALL || r->end[DECIDE] - r->begin[DECIDE] < SMALL ||
        !place_plane(w, r, &plane)) {
        add_leaf(w, r);
        return;
    }
    struct range low = *r, high = *r;
    for (int h = PLACE; h <= DECIDE; h++)
        low.end[h] = high.begin[h] = divide_list(w, h, r, &plane);
    uint32_t n_low = low.end[PLACE] - low.begin[PLACE];
    grow(w, &low, 1 + (uint32_t)((uint64_t)(room - 2) * n_low / n), above + 1);
    grow(w, &high, room - (w->n_leaves - first), above + 1);
    join_leaves(w, first);
}

/* Brings the points of each part of the tree together. Returns how many parts there are. */
static uint32_t sort_parts(struct work *w, const struct range *r, struct range *parts)
{
    uint32_t n = 0;
    for (int h = PLACE; h <= DECIDE; h++) {
        uint32_t at = 0;
        n = 0;
        for (uint32_t a = 0; a < w->n_leaves; a++) {
            if (w->joined[a] != a)
                continue;
            parts[n].begin[h] = r->begin[h] + at;
            for (uint32_t c = a; c < w->n_leaves; c++)
                for (uint32_t k = w->of_leaf[c].begin[h];
                     part_of(w, c) == a && k < w->of_leaf[c].end[h]; k++)
                    w->spare[at++] = w->list[h][k];
            parts[n++].end[h] = r->begin[h] + at;
        }
        memcpy(w->list[h] + r->begin[h], w->spare, at * sizeof *w->spare);
    }
    return n;
}

/* Divides a range by a tree, and the parts by trees of their own, until they stay whole. room:
 * parts that it may make. */
static void divide(struct work *w, const struct range *r, uint32_t room)
{
    struct range *parts = pct_alloc(LEAVES, sizeof *parts);
    uint32_t end = w->s->n_parts + room;
    w->n_leaves = 0;
    grow(w, r, LEAVES, 0);
    uint32_t n = sort_parts(w, r, parts);
    if (n == 1 || n > room) {
        for (int h = PLACE; h <= DECIDE; h++)
            for (uint32_t k = r->begin[h]; k < r->end[h]; k++)
                w->s->part[w->list[h][k]] = (uint16_t)w->s->n_parts;
        w->s->n_parts++;
    } else {
        for (uint32_t a = 0; a < n; a++)
            divide(w, &parts[a], end - w->s->n_parts - (n - a - 1));
    }
    pct_free(parts);
}

void pct_sample_divide(struct pct_sample *s)
{
    struct work w = {.s = s};
    w.list[PLACE] = pct_alloc(s->n, sizeof *w.list[PLACE]);
    w.list[DECIDE] = pct_alloc(s->n, sizeof *w.list[DECIDE]);
    w.spare = pct_alloc(s->n, sizeof *w.spare);
    w.leaf = pct_alloc(LEAVES, sizeof *w.leaf);
    w.apart = pct_alloc((size_t)LEAVES * LEAVES, sizeof *w.apart);
    struct range all = list_points(&w);
    divide(&w, &all, PCT_CLUSTER_PARTS);
    pct_free(w.list[PLACE]);
    pct_free(w.list[DECIDE]);
    pct_free(w.spare);
    pct_free(w.leaf);
    pct_free(w.apart);
}
