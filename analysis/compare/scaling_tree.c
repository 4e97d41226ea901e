/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The tree of pcollect scale, and the functions whose computation together is sure to lose.
 *
 * A context of computation has a sample for each period, so one of few samples tells nothing. Those
 * of a function with all that it calls are added up: a loss is sure if it is as many standard
 * errors away from none as that of a context has to be.
 */
#include "analysis/compare/scaling.h"

#include <math.h>
#include <stdlib.h>

/* A function in which so much of the computation is loses what the whole program does. */
#define MOST 0.9
/* A function that loses this part of what its caller does is named in its place. */
#define NEARLY 0.8

/* ---- The tree -------------------------------------------------------------------------------- */

static double time_of(const struct pct_join_node *node, const struct pct_cost *cost)
{
    (void)node;
    return cost->ns;
}

/* Compares the least and the greatest scale; ns has a value for each run. Leaves open
 * what is a guess. */
static struct pct_scale_loss find_loss(const struct pct_scale *s, const double *ns)
{
    struct pct_scale_loss loss = {0};
    size_t first = pct_scale_first(s), last = pct_scale_last(s);
    for (size_t i = 0; i < s->n_runs; i++) {
        const struct pct_scale_point *p = &s->points[s->point_of[i]];
        double part = pct_scale_per_rank(p) / (double)p->n_runs;
        loss.first_ns += s->point_of[i] == first ? ns[i] * part : 0;
        loss.last_ns += s->point_of[i] == last ? ns[i] * part : 0;
    }
    loss.lost_ns = loss.last_ns - pct_scale_ideal(s, loss.first_ns);
    return loss;
}

static bool has_time(const struct pct_join_tree *t, size_t node)
{
    bool any = false;
    for (size_t k = 0; k < t->join->n_runs; k++)
        any |= t->own[node * t->join->n_runs + k] > 0;
    return any;
}

/* Times of computation of a node with all below, summed over ranks: the difference of those at the
 * largest scale and at the smallest with ideal scaling, and its variance. */
struct sampled {
    double first_ns, last_ns, waits_ns, lost_ns, variance; /* as in struct pct_scale_branch */
    bool calls;
};

static void add_context(const struct pct_scale *s, uint32_t node, struct sampled *sum)
{
    size_t first = pct_scale_first(s), last = pct_scale_last(s);
    for (size_t i = 0; i < s->n_runs; i++) {
        const struct pct_scale_point *p = &s->points[s->point_of[i]];
        const struct pct_cost *cost = pct_join_cost(s->join, node, i);
        bool at_last = s->point_of[i] == last;
        if (!(cost->samples > 0 && cost->ns > 0) || (s->point_of[i] != first && !at_last))
            continue;
        double ns = cost->ns * pct_scale_per_rank(p) / (double)p->n_runs;
        double due = at_last ? ns : pct_scale_ideal(s, ns);
        double waits = cost->waits_ns / cost->ns * ns;
        *(at_last ? &sum->last_ns : &sum->first_ns) += ns - waits;
        sum->waits_ns += at_last ? waits : 0;
        sum->lost_ns += at_last ? due : -due;
        sum->variance += due * due / cost->samples;
    }
}

static void add_below(struct sampled *sum, const struct sampled *of)
{
    sum->first_ns += of->first_ns;
    sum->last_ns += of->last_ns;
    sum->waits_ns += of->waits_ns;
    sum->lost_ns += of->lost_ns;
    sum->variance += of->variance;
    sum->calls = true;
}

/* By node of the tree; NULL: computation is a guess. Freed by the caller. */
static struct sampled *sum_samples(const struct pct_scale *s, const struct pct_join_tree *t)
{
    if (pct_scale_is_guess(&s->points[pct_scale_first(s)], PCOLLECT_NODE_POINT) ||
        pct_scale_is_guess(&s->points[pct_scale_last(s)], PCOLLECT_NODE_POINT))
        return NULL;
    struct sampled *sums = pct_alloc(t->n, sizeof *sums);
    for (uint32_t i = 1; i < s->join->n; i++)
        add_context(s, i, &sums[t->part_of[i]]);
    for (size_t i = t->n; i-- > 1;)
        if (sums[i].variance > 0)
            add_below(&sums[t->nodes[i].parent], &sums[i]);
    return sums;
}

static bool is_sure(const struct pct_join_tree *t, const struct sampled *sums, size_t node)
{
    return sums && !t->few_below[node] &&
           fabs(sums[node].lost_ns) >= PCT_SCALE_SURE * sqrt(sums[node].variance);
}

/* Needs what the nodes below have added to its guesses; adds these to its parent's. */
static void fill_loss(const struct pct_scale *s, struct pct_scale_tree *t,
                      const struct sampled *sums, size_t node)
{
    struct pct_scale_loss below = t->loss[node], *loss = &t->loss[node];
    bool own = has_time(t->tree, node);
    const struct pct_join_tree_node *n = &t->tree->nodes[node];
    uint16_t kind = n->sampled ? PCOLLECT_NODE_POINT : n->kind;
    bool first = own && pct_scale_is_guess(&s->points[pct_scale_first(s)], kind),
         last = own && pct_scale_is_guess(&s->points[pct_scale_last(s)], kind);
    struct pct_scale_loss of_own = find_loss(s, &t->tree->own[node * s->n_runs]);
    bool samples = kind == PCOLLECT_NODE_POINT;
    *loss = find_loss(s, &t->tree->below[node * s->n_runs]);
    loss->first_guessed = first || below.first_guessed;
    loss->last_guessed = last || below.last_guessed;
    loss->first_unsampled_ns =
        below.first_unsampled_ns + (samples && !(of_own.first_ns > 0) ? of_own.last_ns : 0);
    loss->last_unsampled_ns =
        below.last_unsampled_ns + (samples && !(of_own.last_ns > 0) ? of_own.first_ns : 0);
    if (!t->tree->few[node] && !first && !last)
        t->moved[node] += fabs(of_own.lost_ns);
    if (is_sure(t->tree, sums, node))
        t->moved[node] = fmax(t->moved[node], fabs(sums[node].lost_ns));
    if (node) {
        uint32_t parent = t->tree->nodes[node].parent;
        t->loss[parent].first_guessed |= loss->first_guessed;
        t->loss[parent].last_guessed |= loss->last_guessed;
        t->loss[parent].first_unsampled_ns += loss->first_unsampled_ns;
        t->loss[parent].last_unsampled_ns += loss->last_unsampled_ns;
        t->moved[parent] += t->moved[node];
    }
}

struct pct_scale_tree *pct_scale_tree_new(const struct pct_scale *s)
{
    struct pct_scale_tree *t = pct_alloc(1, sizeof *t);
    t->tree = pct_join_tree_new(s->join, time_of);
    t->loss = pct_alloc(t->tree->n, sizeof *t->loss);
    t->moved = pct_alloc(t->tree->n, sizeof *t->moved);
    struct sampled *sums = sum_samples(s, t->tree);
    for (size_t i = t->tree->n; i-- > 0;)
        fill_loss(s, t, sums, i);
    pct_free(sums);
    pct_join_tree_sort(t->tree, t->moved);
    return t;
}

void pct_scale_tree_free(struct pct_scale_tree *t)
{
    if (!t)
        return;
    pct_join_tree_free(t->tree);
    pct_free(t->loss);
    pct_free(t->moved);
    pct_free(t);
}

/* ---- Functions that lose --------------------------------------------------------------------- */

static int compare_branches(const void *a, const void *b)
{
    const struct pct_scale_branch *x = a, *y = b;
    if (x->lost_ns != y->lost_ns)
        return x->lost_ns > y->lost_ns ? -1 : 1;
    return x->node < y->node ? -1 : x->node > y->node;
}

/* A search for functions. */
struct search {
    const struct pct_scale *s;
    const struct pct_join_tree *t;
    const struct sampled *sums;
    double *explained; /* by node: loss of contexts below that are sure to lose by themselves */
};

static bool is_found(const struct search *f, uint32_t node)
{
    const struct pct_join_tree_node *n = &f->t->nodes[node];
    const struct sampled *sum = &f->sums[node];
    return n->kind == PCOLLECT_NODE_FRAME && !n->waits &&
           sum->lost_ns > PCT_SCALE_WORTH * f->s->core_ns && is_sure(f->t, f->sums, node) &&
           sum->last_ns < MOST * f->sums[0].last_ns && f->explained[node] < sum->lost_ns / 2;
}

/* The function furthest from the root that loses nearly as much as this one, which is found. */
static uint32_t find_deepest(const struct search *f, uint32_t node)
{
    uint32_t c = f->t->nodes[node].first_child;
    while (c != PC_NO_INDEX) {
        if (is_found(f, c) && f->sums[c].lost_ns >= NEARLY * f->sums[node].lost_ns) {
            node = c;
            c = f->t->nodes[node].first_child;
        } else {
            c = f->t->nodes[c].next;
        }
    }
    return node;
}

static void explain(struct search *f)
{
    const struct pct_scale *s = f->s;
    for (size_t i = 0; i < s->n_rows; i++)
        if (s->rows[i].samples > 0 && pct_scale_blames(s, &s->rows[i]))
            f->explained[f->t->part_of[s->rows[i].node]] += s->rows[i].lost_ns;
    for (size_t i = f->t->n; i-- > 1;)
        f->explained[f->t->nodes[i].parent] += f->explained[i];
}

static void add_branch(struct pct_scale *s, const struct search *f, uint32_t node, size_t *room)
{
    const struct sampled *sum = &f->sums[node];
    s->branches = pct_grow(s->branches, s->n_branches, room, sizeof *s->branches);
    s->branches[s->n_branches++] = (struct pct_scale_branch){
        .node = f->t->nodes[node].of,
        .place = pct_join_in_function(s->join, f->t->nodes[node].of, false),
        .calls = sum->calls,
        .first_ns = sum->first_ns,
        .last_ns = sum->last_ns,
        .waits_ns = sum->waits_ns,
        .lost_ns = sum->lost_ns};
}

void pct_scale_find_branches(struct pct_scale *s)
{
    struct pct_join_tree *t = pct_join_tree_new(s->join, time_of);
    struct sampled *sums = sum_samples(s, t);
    struct search f = {s, t, sums, pct_alloc(t->n, sizeof *f.explained)};
    bool *done = pct_alloc(t->n, sizeof *done); /* the function or one above it is found */
    size_t room = 0;
    explain(&f);
    for (uint32_t i = 1; sums && i < t->n; i++) {
        done[i] = done[t->nodes[i].parent];
        if (done[i] || !is_found(&f, i))
            continue;
        done[i] = true;
        add_branch(s, &f, find_deepest(&f, i), &room);
    }
    if (s->n_branches)
        qsort(s->branches, s->n_branches, sizeof *s->branches, compare_branches);
    pct_free(done);
    pct_free(f.explained);
    pct_free(sums);
    pct_join_tree_free(t);
}
