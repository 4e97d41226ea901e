/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Makes the parts of a profile at first use: see gather.h. A part may use others, but not in a
 * circle.
 */
#include "analysis/gather.h"
#include "analysis/counters/attribution.h"
#include "analysis/counters/estimates.h"
#include "analysis/findings/findings.h"
#include "analysis/runtime_work.h"
#include "analysis/tree/context_count.h"
#include "analysis/tree/samples.h"
#include "format/team_runtime.h"

#include <math.h>

struct pct_parts {
    struct pct_tree_options options;
    struct pct_tree *tree, *lines, *functions;
    struct pct_samples *samples;
    struct pct_counts *counts;
    struct pct_estimates *estimates;
    struct pct_rolled **rolled; /* one of each set of keys that was asked for */
    size_t n_rolled, rolled_room;
    struct pct_rank_times *rank_times;
    struct pct_partners *partners;
    double *outside_ns;
    struct pct_rank_classes *rank_classes;
    struct pct_thread_times *thread_times;
    struct pct_open_calls *open_calls;
    uint32_t *frames;
    struct pct_rank_room room;
    bool runtime_works, knows_runtime; /* pct_data_runtime_works; it was asked */
    bool looked_up;                    /* all nodes, in the symbols */
    struct pct_contexts contexts;
    struct pct_spread *spreads;
    double *waiting_ns;
    struct pct_tree_rows callers, computation, sample_callers;
};

struct pct_tree *pct_data_tree(const struct pct_data *d)
{
    struct pct_parts *parts = d->parts;
    if (!parts->tree)
        parts->tree = pct_tree_new(d->totals, d->symbols, NULL, &parts->options);
    return parts->tree;
}

void pct_data_forget_tree(const struct pct_data *d)
{
    struct pct_parts *parts = d->parts;
    pct_counts_free(parts->counts);
    pct_free(parts->contexts.node);
    pct_free(parts->spreads);
    pct_free(parts->waiting_ns);
    pct_tree_free(parts->tree);
    parts->counts = NULL;
    parts->contexts = (struct pct_contexts){0};
    parts->spreads = NULL;
    parts->waiting_ns = NULL;
    parts->tree = NULL;
}

struct pct_tree *pct_data_lines(const struct pct_data *d)
{
    struct pct_parts *parts = d->parts;
    if (!parts->lines)
        parts->lines = pct_tree_new(d->totals, d->symbols, pct_data_samples(d), &parts->options);
    return parts->lines;
}

struct pct_tree *pct_data_functions(const struct pct_data *d)
{
    const struct pct_tree_options options = {.grain = PCT_GRAIN_FUNCTION,
                                             .full_paths = pct_data_full_paths(d)};
    struct pct_parts *parts = d->parts;
    if (!parts->functions)
        parts->functions = pct_tree_new(d->totals, d->symbols, pct_data_samples(d), &options);
    return parts->functions;
}

static void weigh_modules(const struct pct_data *d)
{
    const struct pc_profile *p = d->profile;
    const struct pct_samples *s = pct_data_samples(d);
    for (uint32_t i = 0; i < p->n_nodes; i++)
        if (p->nodes[i].kind == PCOLLECT_NODE_POINT)
            pct_symbols_add_time(d->symbols, i, pct_samples_of(s, i).ns);
    pct_symbols_weigh(d->symbols, s->all.ns - s->mpi.ns);
}

struct pct_symbols *pct_data_symbols(const struct pct_data *d)
{
    if (!d->parts->looked_up) {
        pct_symbols_look_up(d->symbols, pct_data_samples(d)->all.samples != 0);
        weigh_modules(d);
    }
    d->parts->looked_up = true;
    return d->symbols;
}

struct pct_samples *pct_data_samples(const struct pct_data *d)
{
    struct pct_parts *parts = d->parts;
    if (parts->samples)
        return parts->samples;
    parts->samples = pct_samples_new(d->profile);
    if (d->whole != d->profile) {
        struct pct_samples *whole = pct_samples_new(d->whole);
        parts->samples->whole = whole->all;
        pct_samples_free(whole);
    }
    return parts->samples;
}

struct pct_counts *pct_data_counts(const struct pct_data *d)
{
    if (!d->parts->counts)
        d->parts->counts = pct_counts_new(d->profile, pct_data_tree(d));
    return d->parts->counts;
}

struct pct_estimates *pct_data_estimates(const struct pct_data *d)
{
    if (!d->parts->estimates)
        d->parts->estimates =
            pct_estimates_new(pct_estimates_any(d->profile) ? pct_data_functions(d) : NULL);
    return d->parts->estimates;
}

struct pct_rolled *pct_data_rolled(const struct pct_data *d, unsigned keys)
{
    struct pct_parts *parts = d->parts;
    for (size_t i = 0; i < parts->n_rolled; i++)
        if (parts->rolled[i]->keys == keys)
            return parts->rolled[i];
    parts->rolled =
        pct_grow(parts->rolled, parts->n_rolled, &parts->rolled_room, sizeof *parts->rolled);
    return parts->rolled[parts->n_rolled++] =
               pct_roll_up(d->totals, d->symbols, pct_data_samples(d),
                           keys & PCT_KEY_CONTEXT ? pct_data_lines(d) : NULL, keys);
}

const struct pct_thread_times *pct_data_thread_times(const struct pct_data *d)
{
    if (!d->parts->thread_times)
        d->parts->thread_times = pct_thread_times_new(d->profile);
    return d->parts->thread_times;
}

bool pct_data_runtime_works(const struct pct_data *d)
{
    struct pct_parts *parts = d->parts;
    if (!parts->knows_runtime)
        parts->runtime_works = pct_runtime_works(d->profile, d->symbols, pct_data_samples(d));
    parts->knows_runtime = true;
    return parts->runtime_works;
}

bool pct_data_threads_wait_in(const struct pct_data *d, const char *module)
{
    const struct pc_profile *p = d->profile;
    return module && pc_is_team_runtime(pc_base_name(module)) &&
           pct_thread_times_wait(pct_data_thread_times(d), p) && !pct_data_runtime_works(d);
}

const struct pct_open_calls *pct_data_open_calls(const struct pct_data *d)
{
    if (!d->parts->open_calls)
        d->parts->open_calls = pct_open_calls_new(d->profile);
    return d->parts->open_calls;
}

pc_u128 pct_data_mpi_ns(const struct pct_data *d)
{
    return d->totals->context_mpi_ns + pct_data_open_calls(d)->ns;
}

const struct pct_rank_classes *pct_data_rank_classes(const struct pct_data *d)
{
    if (!d->parts->rank_classes)
        d->parts->rank_classes = pct_rank_classes_new(d->totals);
    return d->parts->rank_classes;
}

const struct pct_rank_times *pct_data_rank_times(const struct pct_data *d)
{
    if (!d->parts->rank_times)
        d->parts->rank_times = pct_rank_times_new(d->totals);
    return d->parts->rank_times;
}

const struct pct_partners *pct_data_partners(const struct pct_data *d)
{
    if (!d->parts->partners)
        d->parts->partners = pct_partners_new(d->profile);
    return d->parts->partners;
}

struct pct_wait_times pct_data_wait_times(const struct pct_data *d)
{
    const struct pct_rank_times *t = pct_data_rank_times(d);
    if (!d->parts->outside_ns) {
        d->parts->outside_ns = pct_alloc(t->n, sizeof *d->parts->outside_ns);
        for (size_t r = 0; r < t->n; r++)
            d->parts->outside_ns[r] = t->list[r].wall_ns;
    }
    return pct_totals_wait_times(d->totals, d->parts->outside_ns, pct_data_partners(d)->group);
}

const uint32_t *pct_data_frames(const struct pct_data *d)
{
    const struct pc_profile *p = d->profile;
    if (d->parts->frames)
        return d->parts->frames;
    uint32_t *frames = pct_alloc(p->n_modules, sizeof *frames);
    for (uint32_t i = 0; i < p->n_nodes; i++)
        if (p->nodes[i].kind == PCOLLECT_NODE_FRAME && p->nodes[i].module != PC_NO_INDEX)
            frames[p->nodes[i].module]++;
    return d->parts->frames = frames;
}

struct pct_rank_room pct_data_rank_room(const struct pct_data *d)
{
    struct pct_rank_room *room = &d->parts->room;
    if (!room->values) {
        room->values = pct_alloc(d->profile->n_ranks, sizeof *room->values);
        room->present = pct_alloc(d->profile->n_ranks, sizeof *room->present);
    }
    return *room;
}

/* ---- Contexts -------------------------------------------------------------------------------- */

const struct pct_contexts *pct_data_contexts(const struct pct_data *d)
{
    struct pct_contexts *c = &d->parts->contexts;
    const struct pct_tree *t = pct_data_tree(d);
    if (c->node)
        return c;
    c->node = pct_alloc(t->n, sizeof *c->node);
    for (uint32_t i = 0; i < t->n; i++)
        if (t->nodes[i].kind == PCOLLECT_NODE_OP)
            c->node[c->n++] = i;
    return c;
}

bool pct_data_full_paths(const struct pct_data *d)
{
    return d->parts && d->parts->options.full_paths;
}

size_t pct_data_count_contexts(const struct pct_data *d)
{
    if (d->n_added_up)
        return d->n_contexts;
    return d->parts->tree ? pct_data_contexts(d)->n
                          : pct_context_count(d->totals, d->symbols, &d->parts->options);
}

struct pct_spread pct_data_context_spread(const struct pct_data *d, size_t i)
{
    const struct pct_contexts *c = pct_data_contexts(d);
    if (d->parts->spreads)
        return d->parts->spreads[i];
    struct pct_rank_room room = pct_data_rank_room(d);
    d->parts->spreads = pct_alloc(c->n, sizeof *d->parts->spreads);
    for (size_t k = 0; k < c->n; k++)
        d->parts->spreads[k] =
            pct_tree_spread(pct_data_tree(d), c->node[k], room.values, room.present);
    return d->parts->spreads[i];
}

/* Time by which ranks are longer in a context than the one that is waited for, by node, and the
 * sums by primitive. */
static void find_longer(const struct pct_data *d, const struct pct_wait_times *wait,
                        double *node_ns, double *op_ns)
{
    const uint32_t *group = pct_data_partners(d)->group;
    const struct pct_contexts *c = pct_data_contexts(d);
    const struct pct_tree *t = pct_data_tree(d);
    const struct pc_profile *p = d->profile;
    struct pct_rank_room room = pct_data_rank_room(d);
    for (size_t i = 0; i < c->n; i++) {
        uint32_t node = c->node[i], op = t->nodes[node].op;
        if (!pct_op_may_wait(p->ops[op].name))
            continue;
        node_ns[node] =
            pct_tree_longer_ns(t, node, wait->longest, wait->op_is_message[op] ? group : NULL,
                               room.values, room.present);
        op_ns[op] += node_ns[node];
    }
}

const double *pct_data_waiting(const struct pct_data *d)
{
    struct pct_parts *parts = d->parts;
    const struct pct_contexts *c = pct_data_contexts(d);
    const struct pct_tree *t = pct_data_tree(d);
    struct pct_wait_times wait = pct_data_wait_times(d);
    if (parts->waiting_ns || !wait.known)
        return parts->waiting_ns;
    double *op_ns = pct_alloc(d->profile->n_ops, sizeof *op_ns);
    parts->waiting_ns = pct_alloc(t->n, sizeof *parts->waiting_ns);
    find_longer(d, &wait, parts->waiting_ns, op_ns);
    for (size_t i = 0; i < c->n; i++) {
        uint32_t op = t->nodes[c->node[i]].op;
        if (op_ns[op] > 0)
            parts->waiting_ns[c->node[i]] *= fmin(1, wait.op_ns[op] / op_ns[op]);
    }
    pct_free(op_ns);
    return parts->waiting_ns;
}

static bool is_sampled(const struct pct_tree *t, uint32_t node)
{
    return pct_tree_below(t, node).total.samples != 0;
}

/* Nodes below the root in preorder; sampled: those with samples, in the order in which they were
 * made. */
static const struct pct_tree_rows *list_rows(struct pct_tree_rows *rows, struct pct_tree *t,
                                             bool sampled)
{
    rows->tree = t;
    rows->row = pct_alloc(t->n, sizeof *rows->row);
    if (sampled) {
        for (uint32_t i = 1; i < t->n; i++)
            if (is_sampled(t, i))
                rows->row[rows->n++] = i;
        return rows;
    }
    uint32_t i = pct_tree_after(t, 0, 0, true);
    for (; i != PC_NO_INDEX; i = pct_tree_after(t, 0, i, true))
        rows->row[rows->n++] = i;
    return rows;
}

const struct pct_tree_rows *pct_data_callers(const struct pct_data *d)
{
    struct pct_tree_rows *rows = &d->parts->callers;
    struct pct_tree_options options = d->parts->options;
    if (rows->tree)
        return rows;
    options.callers = true;
    struct pct_tree *t = pct_tree_new(d->totals, d->symbols, NULL, &options);
    pct_tree_sort(t, PCT_OF_METRIC, PCT_TIME);
    rows->depth = pct_tree_depths(t);
    return list_rows(rows, t, false);
}

const struct pct_tree_rows *pct_data_computation(const struct pct_data *d)
{
    struct pct_tree_rows *rows = &d->parts->computation;
    return rows->tree ? rows : list_rows(rows, pct_data_functions(d), true);
}

const struct pct_tree_rows *pct_data_sample_callers(const struct pct_data *d)
{
    const struct pct_tree_options options = {
        .grain = PCT_GRAIN_FUNCTION, .callers = true, .full_paths = pct_data_full_paths(d)};
    struct pct_tree_rows *rows = &d->parts->sample_callers;
    if (rows->tree)
        return rows;
    return list_rows(rows, pct_tree_new(d->totals, d->symbols, pct_data_samples(d), &options),
                     true);
}

static void forget_rows(struct pct_tree_rows *rows)
{
    pct_tree_free(rows->tree);
    pct_free(rows->row);
    pct_free(rows->depth);
    *rows = (struct pct_tree_rows){0};
}

void pct_data_forget_callers(const struct pct_data *d)
{
    forget_rows(&d->parts->callers);
    forget_rows(&d->parts->sample_callers);
}

/* ---- All ------------------------------------------------------------------------------------- */

struct pct_data *pct_data_new(const char *file, const struct pc_profile *p,
                              struct pct_symbols *symbols, const struct pct_tree_options *options)
{
    struct pct_data *d = pct_alloc(1, sizeof *d);
    d->kind = PCT_DATA_PROFILE;
    d->file = file;
    d->profile = d->whole = p;
    d->totals = pct_totals_new(p);
    d->symbols = symbols;
    d->pool = pct_pool_new();
    d->parts = pct_alloc(1, sizeof *d->parts);
    d->parts->options = *options;
    return d;
}

static void free_parts(struct pct_parts *parts)
{
    for (size_t i = 0; i < parts->n_rolled; i++)
        pct_rolled_free(parts->rolled[i]);
    pct_free(parts->rolled);
    pct_free(parts->computation.row);
    pct_free(parts->frames);
    pct_free(parts->room.values);
    pct_free(parts->room.present);
    pct_rank_times_free(parts->rank_times);
    pct_partners_free(parts->partners);
    pct_free(parts->outside_ns);
    pct_rank_classes_free(parts->rank_classes);
    pct_thread_times_free(parts->thread_times);
    pct_open_calls_free(parts->open_calls);
    pct_estimates_free(parts->estimates);
    pct_tree_free(parts->functions);
    pct_tree_free(parts->lines);
    pct_samples_free(parts->samples);
    pct_free(parts);
}

void pct_data_free(struct pct_data *d)
{
    if (!d)
        return;
    pct_findings_free(d->findings);
    pct_data_forget_tree(d);
    pct_data_forget_callers(d);
    free_parts(d->parts);
    pct_symbols_free(d->symbols);
    pct_totals_free(d->totals);
    pct_pool_free(d->pool);
    pct_free(d);
}

/* True for an MPI function that is allowed between MPI_Init and MPI_Finalize alone, but for those
 * of classes that have others as well. */
static bool is_inside(const struct pc_profile_op *op)
{
    return op->op_class != PCOLLECT_CLASS_ENV && op->op_class != PCOLLECT_CLASS_INFO &&
           op->op_class != PCOLLECT_CLASS_ERROR && op->op_class != PCOLLECT_CLASS_TOOL;
}

bool pct_data_calls_mpi(const struct pct_data *d)
{
    const struct pc_profile *p = d->profile;
    bool inside = d->totals->all.inside_ns && d->totals->all.mpi_calls;
    for (uint32_t i = 0; i < p->n_ops && !inside; i++)
        inside = d->totals->all.mpi_calls && is_inside(&p->ops[i]);
    return *p->mpi || inside || pct_data_open_calls(d)->n || !p->n_ranks;
}
