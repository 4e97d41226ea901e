/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Computation in a join: divided by samples, and charged with the waiting that it causes.
 * doc/internals/scaling.md derives both.
 *
 * Samples count CPU time, computation is wall time outside MPI. Where samples of several threads
 * stand for more than that, they are scaled down to it; what no sample stands for stays one node.
 */
#include "analysis/compare/join_private.h"
#include "analysis/tree/label.h"
#include "analysis/tree/samples.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A sampled instruction of one run. */
struct point {
    uint32_t source; /* node of the profile */
    uint32_t node;   /* of the join */
    double ns, samples;
};

struct points {
    struct point *list;
    size_t n, room;
    double ns;
};

static uint32_t clock_field(const struct pc_profile *p, const char *name)
{
    for (uint32_t i = 0; i < p->n_fields; i++) {
        if (!strcmp(p->fields[i].plugin, "clock") && !strcmp(p->fields[i].name, name))
            return i;
    }
    return PC_NO_INDEX;
}

static struct pct_cost *cost_of(struct pct_join *j, uint32_t node, size_t run)
{
    struct pct_cost *cost = &j->costs[(size_t)node * j->n_runs + run];
    cost->present = true;
    return cost;
}

/* ---- Where an instruction belongs ------------------------------------------------------------
 */

/* As labels of frames, but without the line where code of one function is one context. What is in
 * no function is one context of its module; functions of other builds have their names in common.
 */
static void put_label(const struct pct_join *j, const struct pc_profile *p,
                      const struct pc_profile_node *n, const struct pct_frame *f, bool line,
                      struct pct_buf *b)
{
    const char *module = n->module == PC_NO_INDEX ? "unknown" : p->modules[n->module].path;
    pct_buf_clear(b);
    if (!f->function)
        pct_text_escape(b, pct_symbols_base_name(module), PCT_ESCAPE_NAME);
    else if (j->by_line)
        pct_label_frame(b, p, n, f, line ? PCT_LABEL_LINE : 0);
    else
        pct_text_escape(b, f->function, PCT_ESCAPE_NAME);
}

static void set_context(struct pct_join *j, uint32_t node, const struct pc_profile *p,
                        const struct pc_profile_node *n, const struct pct_frame *f)
{
    struct pct_buf label = {0};
    if (j->nodes[node].context)
        return;
    pct_label_frame(&label, p, n, f, 0);
    uint64_t above = j->nodes[j->nodes[node].parent].context;
    j->nodes[node].context = pct_label_context(above, label.data);
    pct_buf_free(&label);
}

static void describe(struct pct_join *j, uint32_t node, const struct pct_frame *f, double ns)
{
    struct pct_join_node *n = &j->nodes[node];
    n->inlined |= f->inlined;
    if (!f->function || (n->function && n->kind == PCOLLECT_NODE_FRAME) ||
        (n->function && ns <= n->line_ns))
        return;
    n->function = pct_pool_intern(j->pool, f->function);
    n->file = f->file ? pct_pool_intern(j->pool, f->file) : NULL;
    n->line = f->line;
    n->line_ns = ns;
}

/* The context of a sampled instruction, below `at`: through the calls that were inlined there. */
static uint32_t find_context(struct pct_join *j, const struct pct_run *run, size_t k, uint32_t at,
                             const struct point *point)
{
    const struct pc_profile *p = run->profile;
    const struct pc_profile_node *n = &p->nodes[point->source];
    struct pct_place place = pct_symbols_find(run->symbols, n->module, n->offset + 1);
    struct pct_buf label = {0};
    for (uint32_t i = 0; i < place.n_frames; i++) {
        bool last = i + 1 == place.n_frames;
        put_label(j, p, n, &place.frames[i], !last, &label);
        at = pct_join_child(j, at, last ? PCOLLECT_NODE_POINT : PCOLLECT_NODE_FRAME, label.data);
        set_context(j, at, p, n, &place.frames[i]);
        describe(j, at, &place.frames[i], point->ns);
        cost_of(j, at, k);
    }
    pct_buf_free(&label);
    return at;
}

/* All samples outside MPI. Those inside are in the time of the MPI functions. */
static void gather_points(struct pct_join *j, const struct pct_run *run, size_t k,
                          const uint32_t *joined, struct points *out)
{
    const struct pc_profile *p = run->profile;
    const struct pct_tree *t = run->tree;
    uint32_t field = clock_field(p, "time"), count = clock_field(p, "samples");
    *out = (struct points){0};
    for (uint32_t i = 0;
         i < p->n_nodes && field != PC_NO_INDEX && count != PC_NO_INDEX && j->divided; i++) {
        const struct pc_profile_node *n = &p->nodes[i];
        if (n->kind != PCOLLECT_NODE_POINT || n->data == PC_NO_INDEX ||
            run->model->outer[i] != PC_NO_INDEX)
            continue;
        out->list = pct_grow(out->list, out->n, &out->room, sizeof *out->list);
        struct point *point = &out->list[out->n++];
        *point = (struct point){i, 0, (double)pc_data_stat(&p->data[n->data], field)->sum,
                                (double)pc_data_stat(&p->data[n->data], count)->sum};
        point->node = find_context(j, run, k, joined[t->shown[n->parent]], point);
        out->ns += point->ns;
    }
}

void pct_join_add_computation(struct pct_join *j, const struct pct_run *run, size_t k,
                              const uint32_t *joined)
{
    struct points points;
    gather_points(j, run, k, joined, &points);
    double all_ns = j->own ? run->own.compute_ns : run->compute_ns;
    double scale = points.ns > all_ns ? all_ns / points.ns : 1;
    for (size_t i = 0; i < points.n; i++) {
        struct pct_cost *cost = cost_of(j, points.list[i].node, k);
        cost->ns += points.list[i].ns * scale;
        cost->samples += points.list[i].samples;
    }
    cost_of(j, j->compute, k)->ns += fmax(0, all_ns - points.ns * scale);
    free(points.list);
}

/* ---- Who is waited for -----------------------------------------------------------------------
 */

/* By own time; *waiting_out: how much less the others have, together. */
static size_t busiest_rank(const struct pc_profile *p, double *waiting_out)
{
    struct pct_rank_times *t = pct_rank_times_new(p);
    size_t busiest = t->busiest;
    *waiting_out = 0;
    for (size_t r = 0; r < t->n; r++)
        *waiting_out += t->list[busiest].own_ns - t->list[r].own_ns;
    pct_rank_times_free(t);
    return busiest;
}

/* By node of the tree: how much longer the others are in an MPI function than the busiest rank. */
static double find_waits(const struct pct_run *run, size_t busiest, double *waits)
{
    const struct pct_tree *t = run->tree;
    const struct pc_profile *p = run->profile;
    uint64_t *values = pct_alloc(p->n_ranks, sizeof *values);
    bool *present = pct_alloc(p->n_ranks, sizeof *present);
    double sum = 0;
    for (uint32_t i = 0; i < t->n; i++) {
        if (t->nodes[i].kind != PCOLLECT_NODE_OP ||
            p->ops[t->nodes[i].op].op_class == PCOLLECT_CLASS_ENV)
            continue;
        memset(values, 0, p->n_ranks * sizeof *values);
        pct_tree_ranks(t, i, PCT_TIME, values, present);
        for (size_t r = 0; r < p->n_ranks; r++)
            waits[i] += values[r] > values[busiest] ? (double)(values[r] - values[busiest]) : 0;
        waits[i] *= run->own.mpi_part;
        waits[i] = fmin(waits[i], (double)t->nodes[i].own.sum[PCT_EXCLUSIVE] * run->own.mpi_part);
        sum += waits[i];
    }
    free(values);
    free(present);
    return sum;
}

/* What the busiest rank has of a sampled instruction above the mean of all ranks. */
static double excess_of(const struct pc_profile *p, const struct pc_profile_data *d, size_t busiest,
                        uint32_t field)
{
    double own = 0, sum = 0;
    struct pc_by_rank by = pc_data_by_rank(p, d, field);
    for (uint32_t i = 0; i < by.n; i++) {
        double value = (double)by.values[i * by.stride];
        sum += value;
        if (by.ranks[i] == p->ranks[busiest].rank)
            own = value;
    }
    return own - sum / (double)p->n_ranks;
}

/* Divides ns among the contexts in which the busiest rank is longer than the mean. */
static void charge(struct pct_join *j, size_t k, double ns, const double *excess)
{
    double sum = 0;
    for (size_t i = 0; i < j->n; i++)
        sum += fmax(0, excess[i]);
    for (uint32_t i = 0; i < j->n; i++) {
        double part = sum > 0 ? fmax(0, excess[i]) / sum : i == j->compute;
        if (part > 0) {
            cost_of(j, i, k)->ns += ns * part;
            cost_of(j, i, k)->waits_ns += ns * part;
        }
    }
}

void pct_join_blame(struct pct_join *j, const struct pct_run *run, size_t k, const uint32_t *joined)
{
    const struct pc_profile *p = run->profile;
    const struct pct_tree *t = run->tree;
    double waiting, *waits = pct_alloc(t->n, sizeof *waits);
    size_t busiest = busiest_rank(p, &waiting);
    double sum = p->n_ranks && waiting > 0 ? find_waits(run, busiest, waits) : 0;
    double part = sum > 0 ? fmin(1, waiting / sum) : 0;
    struct points points;
    gather_points(j, run, k, joined, &points);
    double *excess = pct_alloc(j->n, sizeof *excess);
    for (size_t i = 0; i < points.n; i++)
        excess[points.list[i].node] += excess_of(p, &p->data[p->nodes[points.list[i].source].data],
                                                 busiest, clock_field(p, "time"));
    for (size_t i = 0; i < t->n; i++)
        if (waits[i] > 0)
            cost_of(j, joined[i], k)->ns -= waits[i] * part;
    if (part > 0)
        charge(j, k, sum * part, excess);
    free(points.list);
    free(excess);
    free(waits);
}
