/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Makes groups of parts, by the gaps between them (clusters.c).
 */
#include "analysis/clusters_private.h"

#include "analysis/allocation.h"

#include <math.h>
#include <string.h>

static const double SHALLOW = 0.4, NO_GAP = 2.5, SURE = 4;

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

double pct_line_depth(const struct pct_line *l)
{
    static const int widths[] = {5, 8, 12};
    double sum[PCT_LINE_BINS + 1] = {0}, best = 0;
    for (int i = 0; i < PCT_LINE_BINS; i++)
        sum[i + 1] = sum[i] + l->n[i];
    for (int k = 0; k < 3; k++) {
        int wide = widths[k];
        double left = 0, right[PCT_LINE_BINS + 1] = {0};
        for (int i = PCT_LINE_BINS - wide; i >= 0; i--)
            right[i] = fmax(right[i + 1], sum[i + wide] - sum[i]);
        for (int i = wide; i + 2 * wide <= PCT_LINE_BINS; i++) {
            left = fmax(left, sum[i] - sum[i - wide]);
            double middle = sum[i + wide] - sum[i], least = fmin(left, right[i + wide]);
            if (i >= PCT_LINE_BEFORE && i + wide <= PCT_LINE_BEFORE + PCT_LINE_UNIT &&
                middle <= SHALLOW * least)
                best = fmax(best, (least - middle) / sqrt(least + middle));
        }
    }
    return best;
}

static void read_mean(const struct pct_part *p, uint32_t d, float *mean)
{
    for (uint32_t j = 0; j < d; j++)
        mean[j] = (float)(p->sum[j] / p->n);
}

/* ---- Groups --------------------------------------------------------------------------------- */

enum role { OPEN, JOINED, CHOSEN, UNSURE };

/* Parts with all their points, and how sure the gaps between them are. */
struct parts {
    uint32_t n, *begin, *list; /* points of part a: list[begin[a]] to list[begin[a + 1]] */
    struct pct_part *of;
    uint8_t *role;
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

/* Finds the sureness of the gap between two parts, in deviations. What points have in common with
 * the one of their side before them, r, makes n of them worth n (1 - r) / (1 + r). between: parts
 * whose points count too; NULL: none. */
static double how_sure(const struct pct_sample *s, const struct parts *p, uint32_t a, uint32_t b,
                       const bool *between)
{
    struct pct_line l;
    double squares = 0, products = 0;
    if (!pct_line_lay(s, &p->of[a], &p->of[b], &l))
        return 0;
    for (uint32_t c = 0; c < p->n; c++) {
        double last = 0;
        if (c != a && c != b && !(between && between[c]))
            continue;
        for (uint32_t i = p->begin[c]; i < p->begin[c + 1]; i++) {
            double off = pct_line_put(&l, pct_sample_point(s, p->list[i]), s->d) - (c == b);
            if (c != a && c != b)
                continue;
            squares += off * off;
            products += off * last;
            last = off;
        }
    }
    double r = squares > 0 ? fmax(0, products / squares) : 0;
    return r < 1 ? pct_line_depth(&l) * sqrt((1 - r) / (1 + r)) : 0;
}

static double *sure_of(const struct parts *p, uint32_t a, uint32_t b)
{
    return a < b ? &p->sure[a * p->n + b] : &p->sure[b * p->n + a];
}

/* Joins the two parts with the least sure gap. False if each gap is sure enough. */
static bool join_parts(struct pct_sample *s, struct parts *p)
{
    double least = NO_GAP;
    uint32_t a = 0, b = 0;
    for (uint32_t i = 0; i < p->n; i++)
        for (uint32_t k = i + 1; p->role[i] == OPEN && k < p->n; k++)
            if (p->role[k] == OPEN && *sure_of(p, i, k) < least) {
                least = *sure_of(p, i, k);
                a = i;
                b = k;
            }
    if (a == b)
        return false;
    p->role[b] = JOINED;
    pct_part_add(&p->of[a], &p->of[b], s->d);
    for (uint32_t i = 0; i < s->n; i++)
        s->part[i] = s->part[i] == b ? (uint16_t)a : s->part[i];
    list_parts(s, p);
    for (uint32_t c = 0; c < p->n; c++)
        if (p->role[c] == OPEN && c != a)
            *sure_of(p, a, c) = how_sure(s, p, a, c, NULL);
    return true;
}

/* True if part c lies between a and b: in the ball on the line between their means. */
static bool is_between(const struct pct_sample *s, const struct parts *p, uint32_t a, uint32_t b,
                       uint32_t c)
{
    double dot = 0;
    for (uint32_t j = 0; j < s->d; j++) {
        double at = p->of[c].sum[j] / p->of[c].n;
        dot += (p->of[a].sum[j] / p->of[a].n - at) * (p->of[b].sum[j] / p->of[b].n - at);
    }
    return dot < 0;
}

/* True if the gap between two chosen parts is sure with the points of the parts between them that
 * were not chosen. */
static bool stays_apart(const struct pct_sample *s, const struct parts *p, uint32_t a, uint32_t b)
{
    bool between[PCT_CLUSTER_PARTS] = {false}, any = false;
    for (uint32_t c = 0; c < p->n; c++)
        if (p->role[c] == UNSURE && *sure_of(p, a, c) <= SURE && *sure_of(p, b, c) <= SURE)
            any |= between[c] = is_between(s, p, a, b, c);
    return !any || how_sure(s, p, a, b, between) > SURE;
}

/* Chooses the parts that are groups, the greatest first. Writes their means; returns their number.
 */
static uint32_t choose_groups(const struct pct_sample *s, struct parts *p, float *mean)
{
    uint32_t chosen[PCT_CLUSTER_PARTS], n_chosen = 0, n = 0;
    for (;;) {
        uint32_t next = p->n;
        bool sure = true;
        for (uint32_t a = 0; a < p->n; a++)
            if (p->role[a] == OPEN && (next == p->n || p->of[a].n > p->of[next].n))
                next = a;
        if (next == p->n)
            break;
        for (uint32_t k = 0; k < n_chosen; k++)
            sure &= *sure_of(p, chosen[k], next) > SURE;
        p->role[next] = sure ? CHOSEN : UNSURE;
        if (sure)
            chosen[n_chosen++] = next;
    }
    for (uint32_t k = 0; k < n_chosen; k++) {
        bool apart = true;
        for (uint32_t i = 0; i < n && apart; i++)
            apart = stays_apart(s, p, chosen[i], chosen[k]);
        if (!apart)
            continue;
        read_mean(&p->of[chosen[k]], s->d, mean + (size_t)n * s->d);
        chosen[n++] = chosen[k];
    }
    return n;
}

uint32_t pct_sample_groups(struct pct_sample *s, float *mean)
{
    struct parts p = {.n = s->n_parts,
                      .begin = pct_alloc(s->n_parts + 2, sizeof *p.begin),
                      .list = pct_alloc(s->n, sizeof *p.list),
                      .of = pct_alloc(s->n_parts, sizeof *p.of),
                      .role = pct_alloc(s->n_parts, sizeof *p.role),
                      .sure = pct_alloc((size_t)s->n_parts * s->n_parts, sizeof *p.sure)};
    for (uint32_t i = 0; i < s->n; i++)
        pct_part_put(&p.of[s->part[i]], pct_sample_point(s, i), s->d);
    list_parts(s, &p);
    for (uint32_t a = 0; a < p.n; a++)
        for (uint32_t b = a + 1; b < p.n; b++)
            *sure_of(&p, a, b) = how_sure(s, &p, a, b, NULL);
    while (join_parts(s, &p))
        ;
    uint32_t n = choose_groups(s, &p, mean);
    pct_free(p.begin);
    pct_free(p.list);
    pct_free(p.of);
    pct_free(p.role);
    pct_free(p.sure);
    return n;
}
