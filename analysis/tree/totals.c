/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Totals of a profile: see totals.h. Makes three passes over the nodes: for the call around each
 * node, the time without nested calls, and sums per primitive. Sums are 128 bits wide: they cannot
 * overflow.
 */
#include "analysis/tree/totals.h"

#include "analysis/buffer.h"
#include "format/contexts.h"
#include "include/pcollect/plugin.h"
#include "libcollect/state/ops.h"

#include <math.h>
#include <string.h>

static const char *const field_names[PCT_N_METRICS] = {
    [PCT_CALLS] = "count",
    [PCT_TIME] = "time",
    [PCT_SENT] = "bytes_sent",
    [PCT_RECEIVED] = "bytes_received",
};

static uint32_t find_field(const struct pc_profile *p, const char *name, uint16_t combine)
{
    for (uint32_t i = 0; name && i < p->n_fields; i++) {
        const struct pc_profile_field *f = &p->fields[i];
        if (!strcmp(f->plugin, "time") && !strcmp(f->name, name) && f->combine == combine)
            return i;
    }
    return PC_NO_INDEX;
}

static void find_fields(struct pct_totals *m)
{
    for (size_t i = 0; i < PCT_N_METRICS; i++) {
        m->field[i] = find_field(m->profile, field_names[i], PCOLLECT_SUM);
        m->has[i] = m->field[i] != PC_NO_INDEX;
    }
    m->has[PCT_EXCLUSIVE] = m->has[PCT_TIME];
    m->min_field = find_field(m->profile, "min", PCOLLECT_MIN);
    m->max_field = find_field(m->profile, "max", PCOLLECT_MAX);
}

static const struct pc_profile_data *data_of(const struct pct_totals *m, uint32_t node)
{
    uint32_t data = m->profile->nodes[node].data;
    return data == PC_NO_INDEX ? NULL : &m->profile->data[data];
}

/* ---- Contexts -------------------------------------------------------------------------------- */

/* True for nodes that stand for calls, whose times add up. The calls of an OP with DOMAINs below it
 * are in the DOMAINs. */
static bool is_call(const struct pc_profile_node *n)
{
    return n->kind == PCOLLECT_NODE_OP || n->kind == PCOLLECT_NODE_DOMAIN;
}

uint32_t pct_totals_call(const struct pc_profile *p, uint32_t node)
{
    return p->nodes[node].kind == PCOLLECT_NODE_DOMAIN ? p->nodes[node].parent : node;
}

/* The OP of the call that was read last. */
static uint32_t op_of(const struct pc_contexts *c)
{
    return c->node->kind == PCOLLECT_NODE_DOMAIN ? pc_contexts_at(c, c->level - 1)->op
                                                 : c->node->op;
}

static void close_contexts(struct pc_contexts *c)
{
    if (pc_contexts_close(c))
        pct_memory_refuse();
}

static pc_u128 sum_of(const struct pct_totals *m, const struct pc_profile_data *d,
                      enum pct_metric metric)
{
    return d && m->has[metric] ? pc_data_sum(m->profile, d, m->field[metric]) : 0;
}

static pc_u128 time_of(const struct pct_totals *m, uint32_t node)
{
    return sum_of(m, data_of(m, node), PCT_TIME);
}

/* True if a node is within the call that its parent is. */
static bool is_in_call(const struct pc_profile *p, uint32_t node)
{
    uint32_t parent = p->nodes[node].parent;
    return parent != PC_NO_INDEX && p->nodes[parent].kind == PCOLLECT_NODE_OP &&
           p->nodes[node].kind != PCOLLECT_NODE_DOMAIN;
}

/* In most profiles nothing is in a call. */
static void find_outer(struct pct_totals *m)
{
    const struct pc_profile *p = m->profile;
    bool any = false;
    for (uint32_t i = 0; i < p->n_nodes && !any; i++)
        any = is_in_call(p, i);
    if (!any)
        return;
    m->outer = pct_alloc(p->n_nodes, sizeof *m->outer);
    for (uint32_t i = 0; i < p->n_nodes; i++) {
        uint32_t parent = p->nodes[i].parent;
        if (parent == PC_NO_INDEX)
            m->outer[i] = PC_NO_INDEX;
        else if (is_in_call(p, i))
            m->outer[i] = parent;
        else
            m->outer[i] = m->outer[parent];
    }
}

/* Takes time from a call: from its own record, then from those of its DOMAINs, in their order. */
static void take_nested(struct pct_totals *m, uint32_t op, pc_u128 ns)
{
    const struct pc_profile_node *nodes = m->profile->nodes;
    uint32_t end = op + nodes[op].n_descendants;
    for (uint32_t i = op; i <= end && ns; i++) {
        bool part = i == op || (nodes[i].parent == op && nodes[i].kind == PCOLLECT_NODE_DOMAIN);
        pc_u128 taken = !part ? 0 : ns < m->exclusive_ns[i] ? ns : m->exclusive_ns[i];
        m->exclusive_ns[i] -= taken;
        ns -= taken;
    }
}

/* Computes exclusive times. Parents come first: when a call is visited, it still has its inclusive
 * time. A record that was read during its call may have less time than its nested calls: the result
 * is never below 0. */
static void find_exclusive(struct pct_totals *m)
{
    const struct pc_profile *p = m->profile;
    m->exclusive_ns = m->outer ? pct_alloc(p->n_nodes, sizeof *m->exclusive_ns) : NULL;
    for (uint32_t i = 0; m->outer && i < p->n_nodes; i++)
        if (is_call(&p->nodes[i]))
            m->exclusive_ns[i] = time_of(m, i);
    for (uint32_t i = 0; m->outer && i < p->n_nodes; i++) {
        if (!is_call(&p->nodes[i]))
            continue;
        uint32_t outer = pct_totals_outer(m, i);
        if (outer != PC_NO_INDEX)
            take_nested(m, outer, time_of(m, i));
    }
}

pc_u128 pct_totals_exclusive(const struct pct_totals *m, uint32_t node)
{
    if (m->exclusive_ns)
        return m->exclusive_ns[node];
    return is_call(&m->profile->nodes[node]) ? time_of(m, node) : 0;
}

/* Adds the figures of a record that follow from it alone. */
static void add_record(const struct pct_totals *m, const struct pc_profile_data *d,
                       struct pct_call_sum *t)
{
    const struct pc_profile *p = m->profile;
    if (!d || d->first_field)
        return;
    for (size_t k = 0; k < PCT_EXCLUSIVE; k++) {
        if (m->has[k])
            t->sum[k] += pc_data_sum(p, d, m->field[k]);
    }
    uint64_t min = m->min_field == PC_NO_INDEX ? 0 : pc_data_stat(p, d, m->min_field).min;
    uint64_t max = m->max_field == PC_NO_INDEX ? 0 : pc_data_stat(p, d, m->max_field).max;
    if (min && (!t->min_ns || min < t->min_ns))
        t->min_ns = min;
    if (max > t->max_ns)
        t->max_ns = max;
}

void pct_totals_add(const struct pct_totals *m, uint32_t node, struct pct_call_sum *t)
{
    t->sum[PCT_EXCLUSIVE] += pct_totals_exclusive(m, node);
    add_record(m, data_of(m, node), t);
}

bool pct_totals_folded(const struct pct_totals *m, struct pct_call_sum *sum_out)
{
    const struct pc_profile *p = m->profile;
    struct pct_call_sum sum = {.min_ns = 0};
    uint32_t end = 0;
    for (uint32_t i = 0; i < p->n_nodes; i++)
        if (pc_node_is_within(&p->nodes[i], i, pc_node_is_folded(&p->nodes[i]), &end))
            pct_totals_add(m, i, &sum);
    if (end)
        *sum_out = sum;
    return end != 0;
}

struct pct_range pct_totals_add_ranks(const struct pct_totals *m, uint32_t node,
                                      enum pct_metric metric, uint64_t *values, bool *present)
{
    return m->has[metric]
               ? pct_totals_add_field(m->profile, node, m->field[metric], values, present)
               : (struct pct_range){0, 0};
}

/* Ranks ascend, so it is at most as many entries further as the numbers differ; without gaps
 * exactly there, and no entry needs to be looked at, which would take more time than all else. */
uint32_t pct_totals_place_of_rank(const struct pc_profile *p, uint32_t at, int64_t rank)
{
    uint32_t n = p->n_ranks, first = n ? (uint32_t)p->ranks[0].rank : 0;
    if (rank != (int32_t)rank)
        return n;
    if (n && (uint32_t)p->ranks[n - 1].rank - first == n - 1) {
        uint32_t place = (uint32_t)rank - first;
        return place >= at && place < n ? place : n;
    }
    if (at == p->n_ranks || rank < p->ranks[at].rank)
        return p->n_ranks;
    uint64_t apart = (uint64_t)(rank - p->ranks[at].rank);
    uint32_t last = apart < p->n_ranks - at ? at + (uint32_t)apart : p->n_ranks - 1;
    while (p->ranks[last].rank != rank) {
        if (at >= last)
            return p->n_ranks;
        uint32_t middle = at + (last - at) / 2;
        if (p->ranks[middle].rank < rank)
            at = middle + 1;
        else
            last = middle;
    }
    return last;
}

bool pct_totals_rank_of_row(const struct pc_profile *p, const struct pc_profile_table *t,
                            uint32_t row, uint32_t *at)
{
    uint32_t place = pct_totals_place_of_rank(p, *at, (int64_t)pc_table_cell(t, row, 0));
    *at = place < p->n_ranks ? place : *at;
    return place < p->n_ranks;
}

/* Adds a field by rank. The work depends on the ranks of the record, not of the profile: most
 * records of a large job may have one rank. */
static struct pct_range add_values(const struct pc_profile *p, const struct pc_profile_data *d,
                                   uint32_t field, uint64_t *values, bool *present)
{
    struct pct_range range = {0, 0};
    if (!d || field == PC_NO_INDEX)
        return range;
    struct pc_by_rank by = pc_data_by_rank(p, d, field); /* n is 0 if values are not kept */
    for (uint32_t i = 0; i < by.n; i++) {
        uint32_t at = pct_totals_place_of_rank(p, range.end, by.ranks[i]);
        if (at == p->n_ranks)
            continue;
        values[at] += pc_by_rank_value(&by, i);
        present[at] = true;
        range = (struct pct_range){range.end ? range.first : at, at + 1};
    }
    return range;
}

struct pct_range pct_totals_add_field(const struct pc_profile *p, uint32_t node, uint32_t field,
                                      uint64_t *values, bool *present)
{
    uint32_t data = p->nodes[node].data;
    return add_values(p, data == PC_NO_INDEX ? NULL : &p->data[data], field, values, present);
}

/* Times by primitive and by rank, made at first use: values by rank are most of a large profile. */
struct pct_op_times {
    bool known;
    bool any_rank;    /* a value of a rank is kept */
    uint64_t *values; /* by primitive and rank */
    bool *present;    /* until they are known */
    uint32_t longest;
    double most_ns;
    double *rank_waiting_ns, *op_waiting_ns, *message_ns;
    bool *op_is_message;
    struct pct_spread of[];
};

static void begin_values(const struct pct_totals *m)
{
    size_t n = (size_t)m->profile->n_ops * m->profile->n_ranks;
    m->op_times->values = pct_alloc(n, sizeof *m->op_times->values);
    m->op_times->present = pct_alloc(n, sizeof *m->op_times->present);
}

static void add_op_values(const struct pct_totals *m, const struct pc_contexts *c)
{
    size_t row = (size_t)op_of(c) * m->profile->n_ranks;
    add_values(m->profile, c->data, m->field[PCT_TIME], m->op_times->values + row,
               m->op_times->present + row);
}

/* Time in MPI_Init by rank, and that of records without values by rank. */
struct init_times {
    uint64_t *values;
    bool *present;
    double rest_ns;
};

/* Adds the time of a record of MPI_Init or MPI_Finalize. */
static void add_ends(struct pct_totals *m, const struct pct_op *op, const struct pc_profile_data *d,
                     struct init_times *init)
{
    if (!d || !m->has[PCT_TIME] || !(op->is_init || op->is_end))
        return;
    const struct pc_stat s = pc_data_stat(m->profile, d, m->field[PCT_TIME]);
    if (op->is_end) {
        m->end.all_ns += (double)s.sum;
        m->end.own_ns += (double)s.min * (double)s.n;
        return;
    }
    m->init_ns += (double)s.sum;
    if (!add_values(m->profile, d, m->field[PCT_TIME], init->values, init->present).end)
        init->rest_ns += (double)s.sum;
}

static void sum_call(struct pct_totals *m, const struct pc_contexts *c, struct init_times *init)
{
    struct pct_op *op = &m->ops[op_of(c)];
    pc_u128 ns = sum_of(m, c->data, PCT_TIME);
    op->calls.sum[PCT_EXCLUSIVE] += m->exclusive_ns ? m->exclusive_ns[c->i] : ns;
    add_record(m, c->data, &op->calls);
    op->n_contexts += c->node->kind == PCOLLECT_NODE_OP;
    if (pct_totals_outer(m, c->i) == PC_NO_INDEX)
        m->context_mpi_ns += ns;
    else
        m->calls_inside += sum_of(m, c->data, PCT_CALLS);
    add_ends(m, op, c->data, init);
}

/* Contexts that are left in the file are decoded by each pass over them: there is one for all that
 * needs values. */
static void sum_calls(struct pct_totals *m)
{
    const struct pc_profile *p = m->profile;
    struct init_times init = {pct_alloc(p->n_ranks, sizeof *init.values),
                              pct_alloc(p->n_ranks, sizeof *init.present), 0};
    struct pc_contexts c;
    bool values = p->later_contexts && !p->statistics_only;
    if (values)
        begin_values(m);
    pct_programs_begin(&m->programs, p);
    for (pc_contexts_open(&c, p); pc_contexts_next(&c);) {
        pct_programs_take(&m->programs, &c);
        if (!is_call(c.node))
            continue;
        sum_call(m, &c, &init);
        if (values)
            add_op_values(m, &c);
    }
    close_contexts(&c);
    pct_programs_end(&m->programs, p);
    m->rank_init_ns = pct_alloc(p->n_ranks, sizeof *m->rank_init_ns);
    for (uint32_t r = 0; r < p->n_ranks; r++)
        m->rank_init_ns[r] = (double)init.values[r] + init.rest_ns / (double)p->n_ranks;
    pct_free(init.values);
    pct_free(init.present);
}

/* Place of the rank that is longest outside MPI. */
static uint32_t find_longest(const double *outside_ns, uint32_t n)
{
    uint32_t longest = 0;
    for (uint32_t r = 1; r < n; r++)
        if (outside_ns[r] > outside_ns[longest])
            longest = r;
    return longest;
}

/* A copy of the times by primitive and rank without those of nested calls. NULL: there are none. */
static uint64_t *find_own_values(const struct pct_totals *m)
{
    const struct pc_profile *p = m->profile;
    size_t n = (size_t)p->n_ops * p->n_ranks;
    if (!m->outer)
        return NULL;
    uint64_t *values = pct_alloc(n, sizeof *values);
    memcpy(values, m->op_times->values, n * sizeof *values);
    uint64_t *nested = pct_alloc(p->n_ranks, sizeof *nested);
    bool *present = pct_alloc(p->n_ranks, sizeof *present);
    for (uint32_t i = 0; i < p->n_nodes; i++) {
        if (!is_call(&p->nodes[i]) || pct_totals_outer(m, i) == PC_NO_INDEX)
            continue;
        uint64_t *outer = values + (size_t)p->nodes[m->outer[i]].op * p->n_ranks;
        struct pct_range range = pct_totals_add_ranks(m, i, PCT_TIME, nested, present);
        for (uint32_t r = range.first; r < range.end; r++) {
            outer[r] -= nested[r] < outer[r] ? nested[r] : outer[r];
            nested[r] = 0;
        }
    }
    pct_free(nested);
    pct_free(present);
    return values;
}

bool pct_op_may_wait(const char *name)
{
    const struct pc_op_row *row = pc_op_find(name);
    return !row || row->traits & (PCOLLECT_TRAIT_PROMPT | PCOLLECT_TRAIT_BLOCKS);
}

/* Finds the primitives of messages. Those that complete any request wait for messages alone if
 * nothing else is started. */
static void find_messages(const struct pc_profile *p, bool *is_message)
{
    enum { STARTS = PCOLLECT_TRAIT_STARTS | PCOLLECT_TRAIT_PERSISTENT };
    bool others = false;
    for (uint32_t op = 0; op < p->n_ops; op++)
        others |=
            p->ops[op].op_class != PCOLLECT_CLASS_P2P && pc_op_traits_of(p->ops[op].name) & STARTS;
    for (uint32_t op = 0; op < p->n_ops; op++) {
        bool any = p->ops[op].op_class == PCOLLECT_CLASS_COMPLETION ||
                   !strncmp(p->ops[op].name, "MPI_Start", strlen("MPI_Start"));
        is_message[op] = any ? !others : p->ops[op].op_class == PCOLLECT_CLASS_P2P;
    }
}

static void find_waiting(const struct pct_totals *m, const double *outside_ns,
                         const uint32_t *group)
{
    const struct pc_profile *p = m->profile;
    struct pct_op_times *times = m->op_times;
    uint64_t *own = find_own_values(m);
    double sum_ns = 0;
    uint32_t longest = times->longest = find_longest(outside_ns, p->n_ranks);
    find_messages(p, times->op_is_message);
    for (uint32_t op = 0; op < p->n_ops; op++) {
        const uint64_t *value = (own ? own : times->values) + (size_t)op * p->n_ranks;
        bool may_wait = pct_op_may_wait(p->ops[op].name);
        for (uint32_t r = 0; r < p->n_ranks && may_wait; r++) {
            double longer_ns = value[r] > value[longest] ? (double)(value[r] - value[longest]) : 0;
            times->message_ns[r] += times->op_is_message[op] ? (double)value[r] : 0;
            if (times->op_is_message[op] && pct_totals_are_apart(group, r, longest))
                continue;
            times->op_waiting_ns[op] += longer_ns;
            times->rank_waiting_ns[r] += longer_ns;
            sum_ns += longer_ns;
        }
    }
    for (uint32_t r = 0; r < p->n_ranks; r++) {
        double lead_ns = outside_ns[longest] - outside_ns[r];
        bool apart = pct_totals_are_apart(group, r, longest);
        times->most_ns += apart ? fmin(lead_ns, times->rank_waiting_ns[r]) : lead_ns;
    }
    double part = sum_ns > times->most_ns ? times->most_ns / sum_ns : 1;
    for (uint32_t op = 0; op < p->n_ops; op++)
        times->op_waiting_ns[op] *= part;
    for (uint32_t r = 0; r < p->n_ranks; r++)
        times->rank_waiting_ns[r] *= part;
    pct_free(own);
}

static struct pct_op_times *op_times_of(const struct pct_totals *m)
{
    const struct pc_profile *p = m->profile;
    struct pct_op_times *times = m->op_times;
    struct pc_contexts c;
    if (times->known)
        return times;
    if (!times->values) {
        begin_values(m);
        for (pc_contexts_open(&c, p); pc_contexts_next(&c);)
            if (is_call(c.node))
                add_op_values(m, &c);
        close_contexts(&c);
    }
    for (uint32_t op = 0; op < p->n_ops; op++) {
        size_t row = (size_t)op * p->n_ranks;
        times->of[op] = pct_totals_spread(p, (struct pct_range){0, p->n_ranks}, times->values + row,
                                          times->present + row);
        times->any_rank |= times->of[op].n != 0;
    }
    pct_free(times->present);
    times->present = NULL;
    times->known = true;
    return times;
}

const uint64_t *pct_totals_op_values(const struct pct_totals *m, uint32_t op)
{
    return op_times_of(m)->values + (size_t)op * m->profile->n_ranks;
}

struct pct_spread pct_totals_op_time(const struct pct_totals *m, uint32_t op)
{
    return op_times_of(m)->of[op];
}

struct pct_wait_times pct_totals_wait_times(const struct pct_totals *m, const double *outside_ns,
                                            const uint32_t *group)
{
    const struct pc_profile *p = m->profile;
    struct pct_op_times *times = op_times_of(m);
    if (!times->rank_waiting_ns) {
        times->rank_waiting_ns = pct_alloc(p->n_ranks, sizeof *times->rank_waiting_ns);
        times->op_waiting_ns = pct_alloc(p->n_ops, sizeof *times->op_waiting_ns);
        times->message_ns = pct_alloc(p->n_ranks, sizeof *times->message_ns);
        times->op_is_message = pct_alloc(p->n_ops, sizeof *times->op_is_message);
        if (p->n_ranks)
            find_waiting(m, outside_ns, group);
    }
    return (struct pct_wait_times){.known = times->any_rank,
                                   .longest = times->longest,
                                   .most_ns = times->most_ns,
                                   .rank_ns = times->rank_waiting_ns,
                                   .op_ns = times->op_waiting_ns,
                                   .message_ns = times->message_ns,
                                   .op_is_message = times->op_is_message};
}

struct pct_spread pct_totals_record_time(const struct pct_totals *m, uint32_t node)
{
    const struct pc_profile_data *d = data_of(m, node);
    if (!d || d->first_field || !m->has[PCT_TIME])
        return (struct pct_spread){0};
    const struct pc_stat s = pc_data_stat(m->profile, d, m->field[PCT_TIME]);
    return (struct pct_spread){(uint32_t)s.n, s.min, s.max, s.min_rank, s.max_rank};
}

/* ---- Ranks ----------------------------------------------------------------------------------- */

pc_u128 pct_totals_column(const struct pc_profile_table *t, const char *name)
{
    uint32_t column = pc_table_column(t, name, PCOLLECT_COLUMN_NUMBER);
    pc_u128 sum = 0;
    for (uint32_t row = 0; t && row < t->n_rows; row++)
        sum += pc_table_cell(t, row, column);
    return sum;
}

bool pct_totals_has_times(const struct pc_profile *p)
{
    return find_field(p, field_names[PCT_TIME], PCOLLECT_SUM) != PC_NO_INDEX;
}

bool pct_totals_is_init(const struct pc_profile_op *op)
{
    return !strcmp(op->name, "MPI_Init") || !strcmp(op->name, "MPI_Init_thread");
}

bool pct_totals_is_end(const struct pc_profile_op *op)
{
    return !strcmp(op->name, "MPI_Finalize");
}

bool pct_totals_begins_late(const struct pct_overall *a)
{
    return a->inside_ns && 3 * a->before_ns > a->wall_ns;
}

uint64_t pct_totals_wall_ns(const struct pc_profile_rank *r)
{
    return r->before_init_ns + r->inside_ns + r->after_ns;
}

uint64_t pct_totals_mpi_ns(const struct pc_profile_rank *r)
{
    return r->mpi_ns > r->others_mpi_ns ? r->mpi_ns - r->others_mpi_ns : 0;
}

uint64_t pct_totals_run_ns(const struct pc_profile_rank *r)
{
    if (!r->inside_ns && !(r->notes & PCOLLECT_NOTE_OUTSIDE))
        return pct_totals_wall_ns(r);
    return r->inside_ns > r->merge_ns ? r->inside_ns - r->merge_ns : 0;
}

uint64_t pct_totals_compute_ns(const struct pc_profile_rank *r)
{
    uint64_t run_ns = pct_totals_run_ns(r), mpi_ns = pct_totals_mpi_ns(r);
    return run_ns > mpi_ns ? run_ns - mpi_ns : 0;
}

static void spread_value(struct pct_spread *s, int32_t rank, uint64_t value)
{
    if (!s->n || value < s->min) {
        s->min = value;
        s->min_rank = rank;
    }
    if (!s->n || value > s->max) {
        s->max = value;
        s->max_rank = rank;
    }
    s->n++;
}

struct pct_spread pct_totals_spread(const struct pc_profile *p, struct pct_range range,
                                    const uint64_t *values, const bool *present)
{
    struct pct_spread s = {0};
    for (uint32_t i = range.first; i < range.end; i++) {
        if (present[i])
            spread_value(&s, p->ranks[i].rank, values[i]);
    }
    return s;
}

static void sum_rank(struct pct_overall *a, const struct pc_profile_rank *r)
{
    uint64_t wall = pct_totals_wall_ns(r), compute = pct_totals_compute_ns(r),
             mpi = pct_totals_mpi_ns(r);
    a->wall_ns += wall;
    a->before_ns += r->before_init_ns;
    a->inside_ns += r->inside_ns;
    a->after_ns += r->after_ns;
    a->mpi_ns += mpi;
    a->threads_mpi_ns += r->mpi_ns;
    a->threads_wall_ns += (pc_u128)wall * (1 + r->n_others);
    a->most_callers = r->n_others >= a->most_callers ? 1 + r->n_others : a->most_callers;
    a->merge_ns += r->merge_ns;
    a->compute_ns += compute;
    a->mpi_calls += r->mpi_calls;
    spread_value(&a->wall, r->rank, wall);
    spread_value(&a->mpi, r->rank, mpi);
    spread_value(&a->merge, r->rank, r->merge_ns);
    spread_value(&a->compute, r->rank, compute);
    a->n_incomplete += r->incomplete != 0;
    a->n_open += !r->incomplete && !r->closed;
    a->notes |= r->notes;
    for (unsigned k = 0; k < PCOLLECT_N_LOST; k++) {
        a->lost[k] += pc_rank_lost(r, k);
        a->lost_ranks[k] += pc_rank_lost(r, k) != 0;
    }
}

/* True if a rank was in MPI for a greater part of its wall time than another one. Rounded shares
 * would be equal. Without wall time the part is 0. */
static bool has_more_mpi(const struct pc_profile_rank *r, const struct pc_profile_rank *than)
{
    uint64_t wall = pct_totals_wall_ns(r), mpi = wall ? pct_totals_mpi_ns(r) : 0,
             other_wall = pct_totals_wall_ns(than),
             other_mpi = other_wall ? pct_totals_mpi_ns(than) : 0;
    return (pc_u128)mpi * (other_wall ? other_wall : 1) > (pc_u128)other_mpi * (wall ? wall : 1);
}

static uint64_t share_of(const struct pc_profile_rank *r)
{
    return (uint64_t)pct_text_share(pct_totals_mpi_ns(r), pct_totals_wall_ns(r));
}

static struct pct_spread spread_shares(const struct pc_profile *p)
{
    const struct pc_profile_rank *least = p->ranks, *most = p->ranks;
    if (!p->n_ranks)
        return (struct pct_spread){0};
    for (uint32_t i = 1; i < p->n_ranks; i++) {
        const struct pc_profile_rank *r = &p->ranks[i];
        least = has_more_mpi(least, r) ? r : least;
        most = has_more_mpi(r, most) ? r : most;
    }
    return (struct pct_spread){p->n_ranks, share_of(least), share_of(most), least->rank,
                               most->rank};
}

uint64_t pct_totals_start_ns(const struct pc_profile *p)
{
    uint64_t start = 0;
    for (uint32_t i = 0; i < p->n_ranks; i++) {
        uint64_t t = p->ranks[i].start_realtime_ns;
        if (t && (!start || t < start))
            start = t;
    }
    return start;
}

struct pct_totals *pct_totals_new(const struct pc_profile *p)
{
    struct pct_totals *m = pct_alloc(1, sizeof *m);
    m->profile = p;
    m->ops = pct_alloc(p->n_ops, sizeof *m->ops);
    m->op_times = pct_alloc(1, sizeof *m->op_times + p->n_ops * sizeof *m->op_times->of);
    for (uint32_t op = 0; op < p->n_ops; op++) {
        m->ops[op].is_init = pct_totals_is_init(&p->ops[op]);
        m->ops[op].is_end = pct_totals_is_end(&p->ops[op]);
    }
    find_fields(m);
    find_outer(m);
    find_exclusive(m);
    sum_calls(m);
    for (uint32_t i = 0; i < p->n_ranks; i++)
        sum_rank(&m->all, &p->ranks[i]);
    m->all.share = spread_shares(p);
    m->all.start_ns = pct_totals_start_ns(p);
    m->all.n_missing = p->world_size > p->n_ranks ? p->world_size - p->n_ranks : 0;
    return m;
}

void pct_totals_free(struct pct_totals *m)
{
    if (!m)
        return;
    pct_programs_free(&m->programs);
    pct_free(m->ops);
    pct_free(m->op_times->values);
    pct_free(m->op_times->present);
    pct_free(m->op_times->rank_waiting_ns);
    pct_free(m->op_times->op_waiting_ns);
    pct_free(m->op_times->message_ns);
    pct_free(m->op_times->op_is_message);
    pct_free(m->op_times);
    pct_free(m->rank_init_ns);
    pct_free(m->exclusive_ns);
    pct_free(m->outer);
    pct_free(m);
}
