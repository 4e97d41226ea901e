/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Computation in a join: divided by samples, and charged with the waiting that it causes.
 * doc/internals/scaling.md derives both.
 *
 * Samples count CPU time, computation is wall time outside MPI: that of main threads, while which
 * others may work. So samples of contexts that several threads have are scaled down to the time of
 * main threads there. How much that is of each is not known, only of all in regions of threads, and
 * of all in runtimes of threads. Time without samples is one node, and what is known to be waiting
 * for a processor is another one. The factors are those of the whole run, and so no figure of one
 * context: a join of CPU time (cpu_time) has neither factors nor rest.
 */
#include "analysis/compare/join_private.h"
#include "analysis/symbols/short_name.h"
#include "analysis/traffic/traffic.h"
#include "analysis/tree/label.h"
#include "analysis/tree/samples.h"
#include "format/team_runtime.h"

#include <math.h>
#include <string.h>

/* ---- Threads --------------------------------------------------------------------------------- */

/* Threads that are sampled in a context. */
enum threads { UNKNOWN, MAIN_ALONE, SEVERAL, IN_RUNTIME, IDLE, N_THREADS };

/* Threads of a team are below the function that the compiler made of a region or task; those that
 * wait for one have only the runtime below them. */
static enum threads threads_of_frame(const struct pc_profile *p, const struct pct_node *n,
                                     enum threads above)
{
    const struct pc_profile_module *m = n->module != PC_NO_INDEX ? &p->modules[n->module] : NULL;
    const char *function = n->frame->function;
    bool in_runtime = m && pc_is_team_runtime(pc_base_name(m->path));
    if (in_runtime && (above == UNKNOWN || above == IDLE))
        return IDLE;
    if (in_runtime && n->kind == PCOLLECT_NODE_POINT)
        return IN_RUNTIME;
    if (function && pct_name_is_region(function))
        return SEVERAL;
    if (m && m->flags & PCOLLECT_MODULE_EXE && function && !strcmp(function, "main"))
        return MAIN_ALONE;
    if (above != UNKNOWN && above != IDLE)
        return above;
    bool python = m && pct_symbols_caller(p, n->module, n->frame) == PCT_CALLER_PYTHON;
    return python ? MAIN_ALONE : SEVERAL;
}

static bool has_threads(const struct pct_run *run)
{
    return run->renews_threads || run->n_threads > run->profile->n_ranks;
}

/* By node of the tree. All are UNKNOWN if ranks have one thread. */
static enum threads *find_threads(const struct pct_joined *r)
{
    const struct pct_tree *t = r->tree;
    enum threads *of = pct_alloc(t->n, sizeof *of);
    for (size_t i = 1; i < t->n && has_threads(r->run); i++) {
        const struct pct_node *n = &t->nodes[i];
        bool frame = n->kind == PCOLLECT_NODE_FRAME || n->kind == PCOLLECT_NODE_POINT;
        of[i] = frame                          ? threads_of_frame(r->run->profile, n, of[n->parent])
                : n->kind == PCOLLECT_NODE_CUT ? SEVERAL
                                               : of[n->parent];
    }
    return of;
}

static double part_of(double part_ns, double whole_ns)
{
    return whole_ns > fmax(0, part_ns) ? fmax(0, part_ns) / whole_ns : 1;
}

/* For each node of the tree, the part of its samples that stands for time of main threads. all_ns:
 * their computation. */
static double *find_parts(const struct pct_join *j, const struct pct_joined *r, double all_ns)
{
    const struct pct_tree *t = r->tree;
    enum threads *of = find_threads(r);
    double sum[N_THREADS] = {0}, part[N_THREADS] = {0}, *parts = pct_alloc(t->n, sizeof *parts);
    for (uint32_t i = 0; i < t->n; i++)
        sum[of[i]] += (double)pct_tree_own(t, i).computed.ns;
    double left_ns = has_threads(r->run) ? fmin(all_ns, r->run->cpu_ns) : all_ns;
    part[IN_RUNTIME] = part_of(fmin(r->run->polls_ns, left_ns), sum[IN_RUNTIME]);
    left_ns -= sum[IN_RUNTIME] * part[IN_RUNTIME];
    part[UNKNOWN] = part_of(left_ns, sum[UNKNOWN]);
    part[MAIN_ALONE] = part_of(left_ns, sum[MAIN_ALONE]);
    left_ns -= sum[MAIN_ALONE] * part[MAIN_ALONE];
    part[SEVERAL] = part_of(left_ns, sum[SEVERAL]);
    for (uint32_t i = 0; i < t->n; i++)
        parts[i] = j->cpu_time ? 1 : part[of[i]];
    pct_free(of);
    return parts;
}

/* ---- Computation by context ------------------------------------------------------------------ */

/* Sets the place of a context of computation: the line with most of its samples, of runs that have
 * lines. */
static void describe(struct pct_join *j, const struct pct_joined *r, uint32_t at)
{
    struct pct_join_node *n = &j->nodes[r->node[at]];
    const struct pc_profile *p = r->run->profile;
    const struct pct_tree *t = r->tree;
    for (uint32_t i = t->nodes[at].first_source; i != PC_NO_INDEX; i = t->next_source[i]) {
        const struct pc_profile_node *source = &p->nodes[i];
        double ns = (double)pct_samples_of(t->samples, i).ns;
        struct pct_place place =
            pct_symbols_find(r->run->symbols, source->module, source->offset + 1);
        const struct pct_frame *f = &place.frames[place.n_frames - 1];
        bool more = !n->file == !f->file ? ns > n->line_ns : f->file != NULL;
        if (!f->function || (n->function && !more))
            continue;
        n->function = pct_join_function(j, f->function);
        n->file = f->file ? pct_pool_intern(j->pool, f->file) : NULL;
        n->line = j->by_line ? f->line : 0; /* other builds may have another line */
        n->line_ns = ns;
    }
}

/* Adds the samples of a node by rank, if the profile keeps them. */
static void add_ranks(const struct pct_join *j, const struct pct_joined *r, uint32_t at,
                      struct pct_cost *cost)
{
    const struct pc_profile *p = r->run->profile;
    const struct pct_tree *t = r->tree;
    if (!j->n_ranks)
        return;
    if (!cost->rank_ns)
        cost->rank_ns = pct_alloc(j->n_ranks, sizeof *cost->rank_ns);
    for (uint32_t s = t->nodes[at].first_source; s != PC_NO_INDEX; s = t->next_source[s]) {
        struct pc_by_rank by =
            pc_data_by_rank(p, &p->data[p->nodes[s].data], t->samples->time_field);
        for (uint32_t i = 0; i < by.n; i++)
            if (by.ranks[i] >= 0 && (uint32_t)by.ranks[i] < j->n_ranks)
                cost->rank_ns[by.ranks[i]] += r->parts[at] * (double)pc_by_rank_value(&by, i);
    }
}

/* Samples that count where they were taken. Those inside MPI are part of the time of the MPI
 * functions, unless this is not known. */
static struct pct_sampled sampled_of(const struct pct_joined *r, uint32_t at)
{
    const struct pct_own own = pct_tree_own(r->tree, at);
    return r->run->outside ? own.self : own.computed;
}

/* Adds computation by samples. */
void pct_join_add_computation(struct pct_join *j, struct pct_joined *r)
{
    const struct pct_tree *t = r->tree;
    double all_ns = j->times == PCT_JOIN_ALL ? r->run->compute_ns : r->run->own.compute_ns;
    double sampled = 0;
    r->parts = find_parts(j, r, all_ns);
    for (uint32_t i = 0; i < t->n && t->samples; i++) {
        const struct pct_sampled computed = sampled_of(r, i);
        if (!computed.samples)
            continue;
        struct pct_cost *cost = pct_join_own_cost(j, r->node[i], r->k);
        double part = r->parts[i];
        sampled += (double)computed.ns * part;
        cost->ns += (double)computed.ns * part;
        cost->samples += (double)computed.samples;
        cost->variance += part * part * pct_samples_variance(computed, t->samples->all);
        add_ranks(j, r, i, cost);
        if (t->nodes[i].kind != PCOLLECT_NODE_OP)
            describe(j, r, i);
    }
    if (j->cpu_time)
        return;
    /* Rounding would leave a part of a nanosecond of the difference to scaled samples. */
    double rest = all_ns - sampled >= 1 ? all_ns - sampled : 0;
    double waiting = j->times != PCT_JOIN_ALL ? 0 : fmin(rest, r->run->waiting_ns);
    if (waiting > 0)
        pct_join_own_cost(j, j->waiting, r->k)->ns += waiting;
    struct pct_cost *cost = pct_join_own_cost(j, j->compute, r->k);
    cost->ns += rest - waiting;
    cost->variance += j->divided ? r->run->variance : 0;
}

/* ---- Waiting for the busiest rank ------------------------------------------------------------ */

/* The rank that computes longest. */
struct busiest {
    size_t rank;
    double waiting_ns;         /* the others together wait for it at most so long */
    double ahead_ns;           /* of the mean of all ranks */
    double error_ns;           /* of the time that its samples stand for, 95 % */
    const bool *op_is_message; /* in which only ranks of its group wait for it */
};

/* group: of struct pct_partners. */
static struct busiest find_busiest(const struct pct_run *run, const uint32_t *group)
{
    struct pct_rank_times *t = pct_run_times(run, run->totals);
    double *own_ns = pct_alloc(t->n, sizeof *own_ns);
    for (size_t r = 0; r < t->n; r++)
        own_ns[r] = t->list[r].own_ns;
    struct pct_wait_times waits = pct_totals_wait_times(run->totals, own_ns, group);
    struct busiest b = {
        .rank = waits.longest, .waiting_ns = waits.most_ns, .op_is_message = waits.op_is_message};
    for (size_t r = 0; r < t->n; r++)
        b.ahead_ns += (own_ns[b.rank] - own_ns[r]) / (double)t->n;
    if (t->n)
        b.error_ns = 1.96 * sqrt(fmax(0, t->list[b.rank].variance));
    pct_free(own_ns);
    pct_rank_times_free(t);
    return b;
}

/* For each node of the tree, the time by which the others are longer in an MPI function than the
 * busiest rank, and may wait for it. */
static double find_waits(const struct pct_joined *r, const struct busiest *busiest,
                         const uint32_t *group, double *waits)
{
    const struct pct_tree *t = r->tree;
    const struct pc_profile *p = r->run->profile;
    double mpi_part = r->run->own.mpi_part;
    uint64_t *values = pct_alloc(p->n_ranks, sizeof *values);
    bool *present = pct_alloc(p->n_ranks, sizeof *present);
    double sum = 0;
    for (uint32_t i = 0; i < t->n; i++) {
        const struct pc_profile_op *op =
            t->nodes[i].kind == PCOLLECT_NODE_OP ? &p->ops[t->nodes[i].op] : NULL;
        /* The wait for the last rank in MPI_Finalize stays there. */
        if (!op || pct_totals_is_end(op) || !pct_op_may_wait(op->name))
            continue;
        const uint32_t *with = busiest->op_is_message[t->nodes[i].op] ? group : NULL;
        waits[i] = pct_tree_longer_ns(t, i, busiest->rank, with, values, present) * mpi_part;
        waits[i] = fmin(waits[i], (double)pct_tree_own(t, i).calls.sum[PCT_EXCLUSIVE] * mpi_part);
        sum += waits[i];
    }
    pct_free(values);
    pct_free(present);
    return sum;
}

/* Excess of the busiest rank in a sampled instruction over the mean of all ranks. */
static double excess_of(const struct pc_profile *p, const struct pc_profile_data *d, size_t busiest,
                        uint32_t field)
{
    double own = 0, sum = 0;
    struct pc_by_rank by = pc_data_by_rank(p, d, field);
    for (uint32_t i = 0; i < by.n; i++) {
        double value = (double)pc_by_rank_value(&by, i);
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
            pct_join_own_cost(j, i, k)->ns += ns * part;
            pct_join_own_cost(j, i, k)->waits_ns += ns * part;
        }
    }
}

/* For each node of the join, the time of the busiest rank above the mean: by samples, and what
 * these leave over of all by which it is ahead, if that is more than their error. */
static double *find_excess(const struct pct_join *j, const struct pct_joined *r,
                           const struct busiest *busiest)
{
    const struct pc_profile *p = r->run->profile;
    const struct pct_tree *t = r->tree;
    double *excess = pct_alloc(j->n, sizeof *excess), rest = busiest->ahead_ns;
    for (uint32_t i = 0; i < t->n && t->samples; i++) {
        if (!pct_tree_own(t, i).computed.samples)
            continue;
        double part = has_threads(r->run) ? r->parts[i] : 1;
        for (uint32_t s = t->nodes[i].first_source; s != PC_NO_INDEX; s = t->next_source[s]) {
            double ns = part * excess_of(p, &p->data[p->nodes[s].data], busiest->rank,
                                         t->samples->time_field);
            excess[r->node[i]] += ns;
            rest -= ns;
        }
    }
    excess[j->compute] += rest > busiest->error_ns ? rest : 0;
    return excess;
}

void pct_join_blame(struct pct_join *j, const struct pct_joined *r)
{
    const struct pct_tree *t = r->tree;
    double *waits = pct_alloc(t->n, sizeof *waits);
    struct pct_partners *partners = pct_partners_new(r->run->profile);
    struct busiest busiest = find_busiest(r->run, partners->group);
    double waiting = busiest.waiting_ns;
    bool known = r->run->profile->n_ranks && waiting > 0 && !r->run->guessed;
    double sum = known ? find_waits(r, &busiest, partners->group, waits) : 0;
    /* The others wait for the busiest rank as long as it is ahead of them, not longer. */
    double instead = fmin(r->run->own.instead_ns, known ? waiting : 0);
    double longer = r->run->own.instead_ns - instead;
    double delayed = fmin(longer, r->run->own.delayed_ns);
    double part = sum > 0 ? fmin(1, fmax(0, waiting - instead) / sum) : 0;
    double *excess = find_excess(j, r, &busiest);
    for (size_t i = 0; i < t->n; i++)
        if (waits[i] > 0)
            pct_join_own_cost(j, r->node[i], r->k)->ns -= waits[i] * part;
    if (part > 0 || instead > 0)
        charge(j, r->k, sum * part + instead, excess);
    if (delayed > 0)
        pct_join_own_cost(j, j->waiting, r->k)->ns += delayed;
    if (longer > delayed)
        pct_join_own_cost(j, j->absent, r->k)->ns += longer - delayed;
    pct_partners_free(partners);
    pct_free(excess);
    pct_free(waits);
}
