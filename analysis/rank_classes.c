/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/rank_classes.h"

#include "analysis/buffer.h"
#include "analysis/clusters.h"
#include "format/rank_set.h"

#include <math.h>
#include <stdlib.h>

/* A difference below 1 % of the time of the run does not separate classes. */
static const float LEAST_SHARE = 0.01f;

/* ---- Aspects -------------------------------------------------------------------------------- */

struct aspect {
    pc_u128 time;
    uint32_t node;
    bool lacks; /* the times by rank of a part are not kept */
};

/* Most time first. */
static int by_time(const void *a, const void *b)
{
    const struct aspect *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? 1 : -1;
    return (x->node > y->node) - (x->node < y->node);
}

/* True for calls of the program's work: the time of MPI_Init, MPI_Finalize and their class depends
 * on the launcher. */
static bool is_call_of_work(const struct pc_profile *p, uint32_t node)
{
    uint32_t op = p->nodes[pct_totals_call(p, node)].op;
    return op != PC_NO_INDEX && p->ops[op].op_class != PCOLLECT_CLASS_ENV;
}

/* The times by rank of a node that is a call, or a part of one on a communicator; NULL: there are
 * none. */
static const struct pc_profile_data *times_of(const struct pct_totals *m, uint32_t node)
{
    const struct pc_profile *p = m->profile;
    uint32_t data = p->nodes[node].data;
    bool has = m->has[PCT_TIME] && data != PC_NO_INDEX && !p->data[data].first_field;
    return has ? &p->data[data] : NULL;
}

/* Outermost calls whose values are kept, those of all their parts. */
static uint32_t choose_aspects(const struct pct_totals *m, uint32_t most, uint32_t *node)
{
    const struct pc_profile *p = m->profile;
    struct aspect *found = pct_alloc(p->n_nodes, sizeof *found);
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->n_nodes; i++)
        found[i].node = i;
    for (uint32_t i = 0; i < p->n_nodes; i++) {
        const struct pc_profile_data *d = times_of(m, i);
        struct aspect *call = &found[pct_totals_call(p, i)];
        if (!d || pct_totals_outer(m, i) != PC_NO_INDEX || !is_call_of_work(p, i))
            continue;
        call->time += pc_data_sum(p, d, m->field[PCT_TIME]);
        call->lacks |= !pc_data_has(p, d);
    }
    for (uint32_t i = 0; i < p->n_nodes; i++)
        if (found[i].time && !found[i].lacks)
            found[n++] = found[i];
    qsort(found, n, sizeof *found, by_time);
    n = n < most ? n : most;
    for (uint32_t i = 0; i < n; i++)
        node[i] = found[i].node;
    pct_free(found);
    return n;
}

/* By place of the rank: the time of a call with all its parts, which come behind it; PC_NO_INDEX:
 * the time outside MPI. */
static void read_values(const struct pct_totals *m, uint32_t node, uint64_t *values, bool *present)
{
    const struct pc_profile *p = m->profile;
    for (uint32_t i = 0; i < p->n_ranks; i++) {
        values[i] = node == PC_NO_INDEX ? pct_totals_compute_ns(&p->ranks[i]) : 0;
        present[i] = false;
    }
    for (uint32_t i = node; i < p->n_nodes; i++)
        if (pct_totals_call(p, i) == node && times_of(m, i))
            pct_totals_add_ranks(m, i, PCT_TIME, values, present);
}

static bool is_in_steps(const struct pct_totals *m, uint32_t node)
{
    bool steps = false;
    for (uint32_t i = node; i < m->profile->n_nodes; i++) {
        const struct pc_profile_data *d = times_of(m, i);
        if (d && pct_totals_call(m->profile, i) == node)
            steps |= pc_data_has(m->profile, d) == PC_KEPT_STEPS;
    }
    return steps;
}

/* ---- Figures -------------------------------------------------------------------------------- */

static double mean_of(const struct pct_class_time *t, uint32_t n)
{
    return n ? (double)t->sum / n : 0;
}

static void add_value(struct pct_class_time *t, bool first, uint64_t value, int32_t rank)
{
    t->sum += value;
    if (first || value < t->min) {
        t->min = value;
        t->min_rank = rank;
    }
    if (first || value > t->max) {
        t->max = value;
        t->max_rank = rank;
    }
}

/* Adds sums and extremes of one aspect, then the deviations of its values from the means. far2: for
 * each rank, the sum of squares over all aspects. */
static void add_aspect(struct pct_rank_classes *c, const struct pc_profile *p, uint32_t aspect,
                       const uint64_t *values, double *far2)
{
    uint32_t n[PCT_CLASSES_MOST] = {0};
    double squares[PCT_CLASSES_MOST] = {0};
    for (uint32_t i = 0; i < p->n_ranks; i++) {
        uint16_t k = c->of_rank[i];
        add_value(&c->times[k * c->n_aspects + aspect], !n[k]++, values[i], p->ranks[i].rank);
        add_value(&c->all[aspect], !i, values[i], p->ranks[i].rank);
    }
    for (uint32_t i = 0; i < p->n_ranks; i++) {
        uint16_t k = c->of_rank[i];
        double off = (double)values[i] - mean_of(&c->times[k * c->n_aspects + aspect], n[k]);
        squares[k] += off * off;
        far2[i] += off * off;
    }
    for (uint32_t k = 0; k < c->n; k++)
        c->times[k * c->n_aspects + aspect].deviation_ns = sqrt(squares[k] / n[k]);
}

static void add_error(struct pct_rank_classes *c, const struct pc_profile *p, const double *far2)
{
    for (uint32_t i = 0; i < p->n_ranks; i++) {
        struct pct_rank_class *own = &c->list[c->of_rank[i]];
        double far = sqrt(far2[i]);
        own->error_ns += far2[i];
        if (!own->n++ || far > own->far_ns) {
            own->far_ns = far;
            own->far_rank = p->ranks[i].rank;
        }
    }
    for (uint32_t k = 0; k < c->n; k++) {
        struct pct_rank_class *own = &c->list[k];
        double most = -1;
        own->error_ns = sqrt(own->error_ns / own->n);
        for (uint32_t a = 0; a < c->n_aspects; a++) {
            double off = fabs(mean_of(&c->times[k * c->n_aspects + a], own->n) -
                              mean_of(&c->all[a], p->n_ranks));
            if (off > most) {
                most = off;
                own->aspect = a;
            }
        }
    }
}

char *pct_rank_set_text(const int32_t *ranks, uint32_t n)
{
    struct pct_buf b = {0};
    for (uint32_t i = 0; i < n;) {
        struct pc_rank_range r = pc_rank_range_next(ranks + i, n - i);
        pct_buf_format(&b, "%s%u", i ? "," : "", r.first);
        if (r.n > 1)
            pct_buf_format(&b, "-%u", r.first + (r.n - 1) * r.stride);
        if (r.n > 1 && r.stride > 1)
            pct_buf_format(&b, ":%u", r.stride);
        i += r.n;
    }
    return b.data;
}

static void name_ranks(struct pct_rank_classes *c, const struct pc_profile *p)
{
    int32_t *ranks = pct_alloc(p->n_ranks, sizeof *ranks);
    for (uint32_t k = 0; k < c->n; k++) {
        uint32_t n = 0;
        for (uint32_t i = 0; i < p->n_ranks; i++)
            if (c->of_rank[i] == k)
                ranks[n++] = p->ranks[i].rank;
        c->list[k].ranks = pct_rank_set_text(ranks, n);
    }
    pct_free(ranks);
}

/* ---- Classes -------------------------------------------------------------------------------- */

/* Sets the coordinate of the aspect for all ranks. */
static void put_coordinates(const struct pc_profile *p, const uint64_t *values, double all_ns,
                            float *out, uint32_t stride)
{
    double sum = 0;
    for (uint32_t i = 0; i < p->n_ranks; i++)
        sum += (double)values[i];
    double mean = sum / p->n_ranks, share = all_ns > 0 ? sum / all_ns : 0;
    for (uint32_t i = 0; i < p->n_ranks; i++)
        out[(size_t)i * stride] =
            mean > 0 ? (float)(2 * share * log(((double)values[i] + mean) / (2 * mean))) : 0;
}

static void find_classes(struct pct_rank_classes *c, const struct pct_totals *m, uint64_t *values,
                         bool *present)
{
    const struct pc_profile *p = m->profile;
    float *x = pct_alloc((size_t)p->n_ranks * c->n_aspects, sizeof *x);
    double all_ns = 0;
    for (uint32_t i = 0; i < p->n_ranks; i++)
        all_ns += (double)pct_totals_run_ns(&p->ranks[i]);
    for (uint32_t a = 0; a < c->n_aspects; a++) {
        read_values(m, c->node[a], values, present);
        put_coordinates(p, values, all_ns, x + a, c->n_aspects);
    }
    const struct pct_points points = {x, p->n_ranks, c->n_aspects, LEAST_SHARE};
    c->n = pct_clusters_find(&points, PCT_CLASSES_MOST, c->of_rank);
    pct_free(x);
}

struct pct_rank_classes *pct_rank_classes_new(const struct pct_totals *m)
{
    const struct pc_profile *p = m->profile;
    struct pct_rank_classes *c = pct_alloc(1, sizeof *c);
    if (p->n_ranks < PCT_CLASSES_LEAST_RANKS)
        return c;
    uint32_t most = p->n_ranks / 16 < PCT_CLASS_ASPECTS ? p->n_ranks / 16 : PCT_CLASS_ASPECTS;
    uint64_t *values = pct_alloc(p->n_ranks, sizeof *values);
    bool *present = pct_alloc(p->n_ranks, sizeof *present);
    double *far2 = pct_alloc(p->n_ranks, sizeof *far2);
    c->node = pct_alloc(most, sizeof *c->node);
    c->node[0] = PC_NO_INDEX;
    c->n_aspects = 1 + choose_aspects(m, most - 1, c->node + 1);
    for (uint32_t a = 1; a < c->n_aspects; a++)
        c->in_steps |= is_in_steps(m, c->node[a]);
    c->of_rank = pct_alloc(p->n_ranks, sizeof *c->of_rank);
    find_classes(c, m, values, present);
    c->list = pct_alloc(c->n, sizeof *c->list);
    c->times = pct_alloc((size_t)c->n * c->n_aspects, sizeof *c->times);
    c->all = pct_alloc(c->n_aspects, sizeof *c->all);
    for (uint32_t a = 0; a < c->n_aspects; a++) {
        read_values(m, c->node[a], values, present);
        add_aspect(c, p, a, values, far2);
    }
    add_error(c, p, far2);
    name_ranks(c, p);
    pct_free(values);
    pct_free(present);
    pct_free(far2);
    return c;
}

void pct_rank_classes_free(struct pct_rank_classes *c)
{
    for (uint32_t k = 0; c && k < c->n; k++)
        pct_free(c->list[k].ranks);
    if (!c)
        return;
    pct_free(c->node);
    pct_free(c->of_rank);
    pct_free(c->list);
    pct_free(c->times);
    pct_free(c->all);
    pct_free(c);
}
