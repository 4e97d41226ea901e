/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Makes groups of parts, by the gaps between them (clusters.c).
 */
#include "analysis/clusters_private.h"

#include "analysis/allocation.h"

#include <math.h>
#include <string.h>

/* SURE: nats of a gap that is sure. A gap between narrow sides counts NARROW_TIMES: the means are
 * NARROW times as far apart as the sum of the standard deviations of the sides, of which none is
 * more than ALIKE times the other, as it is for scattered points beside a group. Two halves of a
 * normal distribution are 1.3 times as far apart, of a uniform one 1.7. */
static const double SHALLOW = 0.4, SURE = 8, NARROW = 2.8, ALIKE = 3, NARROW_TIMES = 4;

enum { WIDTHS = 8, GAPS = 9 };
static const int widths[WIDTHS] = {1, 2, 3, 4, 6, 8, 10, 12};
static const int gaps[GAPS] = {28, 24, 20, 17, 14, 11, 8, 6, 4};

/* ---- Gaps ----------------------------------------------------------------------------------- */

bool pct_line_lay(const struct pct_sample *s, const struct pct_part *a, const struct pct_part *b,
                  struct pct_line *l)
{
    memset(l, 0, sizeof *l);
    if (a->n < 1 || b->n < 1)
        return false;
    for (uint32_t j = 0; j < s->d; j++) {
        double at = a->sum[j] / a->n, by = b->sum[j] / b->n - at;
        l->along[j] = by;
        l->length2 += by * by;
        l->offset += at * by;
    }
    return l->length2 > s->least * s->least;
}

double pct_line_put(struct pct_line *l, const float *x, uint32_t d)
{
    double at = -l->offset;
    for (uint32_t j = 0; j < d; j++)
        at += l->along[j] * (double)x[j];
    at /= l->length2;
    double bin = floor(at * PCT_LINE_UNIT) + PCT_LINE_BEFORE;
    if (bin >= 0 && bin < PCT_LINE_BINS)
        l->n[(int)bin]++;
    return at;
}

/* Returns how much likelier it is, in nats, that of k + m points k fall into a stretch of that
 * width and m into the gap with the densities seen there than with equal ones. One of the k is
 * where the stretch begins. */
static double evidence(double k, double width, double m, double gap)
{
    double all = k + m, sum = k * log(k * (width + gap) / (all * width));
    if (m > 0)
        sum += m * log(m * (width + gap) / (all * gap));
    return sum * (k - 1) / k;
}

/* The most evidence for a gap with m points that a stretch on one of its sides gives, of those with
 * half of the n points of the side. most: the points of the fullest stretch of each width. */
static double evidence_of_side(const double *most, double n, double m, int gap)
{
    double best = 0;
    for (int v = 0; v < WIDTHS; v++)
        if (most[v] >= 2 && most[v] >= n / 2 && m * widths[v] <= SHALLOW * most[v] * gap)
            best = fmax(best, evidence(most[v], widths[v], m, gap));
    return best;
}

double pct_line_gap(const struct pct_line *l)
{
    enum { BEGIN = PCT_LINE_BEFORE, END = PCT_LINE_BEFORE + PCT_LINE_UNIT, ALL = PCT_LINE_BINS };
    double sum[ALL + 1] = {0}, best = 0;
    double left[ALL + 1][WIDTHS] = {{0}}, right[ALL + 1][WIDTHS] = {{0}};
    for (int i = 0; i < ALL; i++)
        sum[i + 1] = sum[i] + l->n[i];
    for (int v = 0; v < WIDTHS; v++)
        for (int i = widths[v], k = ALL - i; k >= 0; i++, k--) {
            left[i][v] = fmax(left[i - 1][v], sum[i] - sum[i - widths[v]]);
            right[k][v] = fmax(right[k + 1][v], sum[k + widths[v]] - sum[k]);
        }
    for (int g = 0; g < GAPS; g++)
        for (int i = BEGIN, end = BEGIN + gaps[g]; end <= END; i++, end++) {
            double m = sum[end] - sum[i];
            double of_left = evidence_of_side(left[i], sum[i], m, gaps[g]);
            if (of_left > best)
                best = fmax(best, fmin(of_left, evidence_of_side(right[end], sum[ALL] - sum[end], m,
                                                                 gaps[g])));
        }
    return best;
}

/* ---- Groups --------------------------------------------------------------------------------- */

/* Parts with all their points, and how sure the gaps between them are. */
struct parts {
    uint32_t n, *begin, *list; /* points of part a: list[begin[a]] to list[begin[a + 1]] */
    struct pct_part *of;
    bool *joined; /* to another part */
    double *sure; /* n * n, the half with a < b */
};

static void list_parts(const struct pct_sample *s, struct parts *p)
{
    memset(p->begin, 0, (p->n + 2) * sizeof *p->begin);
    for (uint32_t i = 0; i < s->n; i++)
        p->begin[s->part[i] + 2]++;
    for (uint32_t a = 0; a < p->n; a++)
        p->begin[a + 2] += p->begin[a + 1];
    for (uint32_t i = 0; i < s->n; i++)
        p->list[p->begin[s->part[i] + 1]++] = i;
}

/* Returns how sure the gap between two parts is, in nats. What points have in common with the one
 * of their part before them, r, makes n of them worth n (1 - r) / (1 + r); in n independent ones r
 * is up to 1 / sqrt(n) by chance. */
static double how_sure(const struct pct_sample *s, const struct parts *p, uint32_t a, uint32_t b)
{
    struct pct_line l;
    double squares[2] = {0}, products = 0, n = p->of[a].n, m = p->of[b].n;
    if (!pct_line_lay(s, &p->of[a], &p->of[b], &l))
        return 0;
    for (int side = 0; side < 2; side++) {
        uint32_t c = side ? b : a;
        double last = 0;
        for (uint32_t i = p->begin[c]; i < p->begin[c + 1]; i++) {
            double off = pct_line_put(&l, pct_sample_point(s, p->list[i]), s->d) - side;
            squares[side] += off * off;
            products += off * last;
            last = off;
        }
    }
    double all = squares[0] + squares[1];
    double r = all > 0 ? fmin(1, fmax(0, products / all - 1 / sqrt(n + m))) : 0;
    double u = sqrt(squares[0] / fmax(n - 1, 1)), v = sqrt(squares[1] / fmax(m - 1, 1));
    double by_chance = 1 + 0.5 / sqrt(fmin(n, m));
    bool alike = fmax(u, v) <= ALIKE * fmin(u, v);
    double times = alike && NARROW * by_chance * (u + v) < 1 ? NARROW_TIMES : 1;
    return times * pct_line_gap(&l) * (1 - r) / (1 + r);
}

static double *sure_of(const struct parts *p, uint32_t a, uint32_t b)
{
    return a < b ? &p->sure[a * p->n + b] : &p->sure[b * p->n + a];
}

/* Joins the two parts with the least sure gap. False if each gap is sure enough. */
static bool join_parts(struct pct_sample *s, struct parts *p)
{
    double least = SURE;
    uint32_t a = 0, b = 0;
    for (uint32_t i = 0; i < p->n; i++)
        for (uint32_t k = i + 1; !p->joined[i] && k < p->n; k++)
            if (!p->joined[k] && *sure_of(p, i, k) < least) {
                least = *sure_of(p, i, k);
                a = i;
                b = k;
            }
    if (a == b)
        return false;
    p->joined[b] = true;
    pct_part_add(&p->of[a], &p->of[b], s->d);
    for (uint32_t i = 0; i < s->n; i++)
        s->part[i] = s->part[i] == b ? (uint16_t)a : s->part[i];
    list_parts(s, p);
    for (uint32_t c = 0; c < p->n; c++)
        if (!p->joined[c] && c != a)
            *sure_of(p, a, c) = how_sure(s, p, a, c);
    return true;
}

uint32_t pct_sample_groups(struct pct_sample *s, float *mean)
{
    struct parts p = {.n = s->n_parts,
                      .begin = pct_alloc(s->n_parts + 2, sizeof *p.begin),
                      .list = pct_alloc(s->n, sizeof *p.list),
                      .of = pct_alloc(s->n_parts, sizeof *p.of),
                      .joined = pct_alloc(s->n_parts, sizeof *p.joined),
                      .sure = pct_alloc((size_t)s->n_parts * s->n_parts, sizeof *p.sure)};
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->n; i++)
        pct_part_put(&p.of[s->part[i]], pct_sample_point(s, i), s->d);
    list_parts(s, &p);
    for (uint32_t a = 0; a < p.n; a++)
        for (uint32_t b = a + 1; b < p.n; b++)
            *sure_of(&p, a, b) = how_sure(s, &p, a, b);
    while (join_parts(s, &p))
        ;
    for (uint32_t a = 0; a < p.n; a++)
        if (!p.joined[a])
            pct_part_mean(&p.of[a], s->d, mean + (size_t)n++ * s->d);
    pct_free(p.begin);
    pct_free(p.list);
    pct_free(p.of);
    pct_free(p.joined);
    pct_free(p.sure);
    return n;
}
