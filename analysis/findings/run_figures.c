/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Gathers the evidence of a run for the rules.
 */
#include "analysis/findings/findings.h"

#include "analysis/symbols/short_name.h"
#include "analysis/tree/label.h"
#include "libcollect/state/ops.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The function of which a place has the whole name in its key; NULL: it has none. */
static const char *whole_name(const struct pct_call_place *place)
{
    const struct pct_frame *f = place->function ? place->function->frame : NULL;
    return f && (place->program || !f->line) ? f->function : NULL;
}

static const char *put_place(const struct pct_evidence *f, const struct pct_call_place *place,
                             const char *name)
{
    struct pct_buf b = {0};
    pct_call_place_put(&b, pct_data_tree(f->data), place, name);
    const char *text = pct_pool_intern(f->pool, b.data);
    pct_buf_free(&b);
    return text;
}

/* The text by which contexts have the same place. A line of a template is one place in all its
 * instances; functions whose line is not known are told apart by their whole names. */
static const char *key_of(const struct pct_evidence *f, const struct pct_call_place *place)
{
    const char *whole = whole_name(place);
    struct pct_buf name = {0};
    if (!whole && place->function && place->function->frame->function)
        pct_short_name(&name, place->function->frame->function);
    const char *key = put_place(f, place, whole ? whole : name.data);
    pct_buf_free(&name);
    return key;
}

/* The function that makes the calls of a context. One without a name in a library is part of the
 * nearest one around it that has a name. */
static const char *function_of(const struct pct_tree *t, uint32_t node,
                               const struct pct_call_place *at)
{
    const char *function = at->innermost ? at->innermost->frame->function : NULL;
    return function ? function : pct_call_maker_find(t, node, at).function;
}

/* A context, and what its calls tell of the program. */
static struct pct_context_calls see_context(struct pct_evidence *f, uint32_t node)
{
    const struct pct_tree *t = pct_data_tree(f->data);
    const struct pc_profile_op *op = &f->data->profile->ops[t->nodes[node].op];
    const struct pct_call_place at = pct_call_place_find(t, node);
    uint32_t traits = pc_op_traits_of(op->name);
    f->makes_ops |= !strcmp(op->name, "MPI_Op_create") || !strcmp(op->name, "MPI_Op_create_c");
    f->makes_types |= op->op_class == PCOLLECT_CLASS_TYPE && traits & PCOLLECT_TRAIT_MAKES;
    if (traits & PCT_MAY_POLL)
        f->polling[f->n_polling++] = node;
    return (struct pct_context_calls){
        .key = key_of(f, &at), .function = function_of(t, node, &at), .node = node};
}

/* The calls of a context as a fact. */
static struct pct_fact make_fact(const struct pct_evidence *f,
                                 const struct pct_context_calls *calls)
{
    const struct pct_tree *t = pct_data_tree(f->data);
    const struct pc_profile_op *op = &f->data->profile->ops[t->nodes[calls->node].op];
    const struct pct_overall *all = &f->data->totals->all;
    const struct pct_own own = pct_tree_own(t, calls->node);
    struct pct_fact fact = {.node = calls->node,
                            .op = op->name,
                            .op_class = op->op_class,
                            .traits = pc_op_traits_of(op->name),
                            .is_message = calls->is_message,
                            .at = pct_call_place_find(t, calls->node),
                            .key = calls->key,
                            .function = calls->function,
                            .ns = (double)own.calls.sum[PCT_EXCLUSIVE],
                            .main_part = (double)all->mpi_ns / fmax(1, (double)all->threads_mpi_ns),
                            .calls = (double)own.calls.sum[PCT_CALLS],
                            .bytes_sent = (double)own.calls.sum[PCT_SENT],
                            .bytes_received = (double)own.calls.sum[PCT_RECEIVED]};
    struct pct_call_maker maker = pct_call_maker_find(t, calls->node, &fact.at);
    fact.module = maker.module;
    fact.inside = (struct pct_calls_from){maker.function, fact.calls, NULL};
    fact.caller = fact.at.caller ? fact.at.caller->frame->function : NULL;
    fact.around = (struct pct_calls_from){fact.caller, fact.calls, maker.around};
    return fact;
}

static void gather_use(struct pct_evidence *f)
{
    const struct pc_profile *p = f->data->profile;
    const struct pc_profile_table *t = pc_profile_table_in_order(p, "resources");
    uint32_t user = pc_table_column(t, "user", PCOLLECT_COLUMN_NUMBER),
             system = pc_table_column(t, "system", PCOLLECT_COLUMN_NUMBER),
             minor = pc_table_column(t, "minor_faults", PCOLLECT_COLUMN_NUMBER),
             major = pc_table_column(t, "major_faults", PCOLLECT_COLUMN_NUMBER),
             memory = pc_table_column(t, "memory", PCOLLECT_COLUMN_NUMBER),
             bound = pc_table_column(t, "bound", PCOLLECT_COLUMN_STRING),
             paused = pc_table_column(t, "paused", PCOLLECT_COLUMN_NUMBER),
             on_cpu = pc_table_column(t, "on_cpu", PCOLLECT_COLUMN_NUMBER);
    f->use = pct_alloc(f->n_ranks, sizeof *f->use);
    for (size_t r = 0; r < f->n_ranks; r++)
        f->use[r].bound = "";
    if (pc_table_column(t, "rank", PCOLLECT_COLUMN_RANK) != 0)
        return;
    for (uint32_t row = 0, r = 0; row < t->n_rows; row++) {
        if (!pct_totals_rank_of_row(p, t, row, &r))
            continue;
        f->use[r] =
            (struct pct_rank_use){.user_ns = (double)pc_table_cell(t, row, user),
                                  .system_ns = (double)pc_table_cell(t, row, system),
                                  .minor_faults = (double)pc_table_cell(t, row, minor),
                                  .major_faults = (double)pc_table_cell(t, row, major),
                                  .memory = (double)pc_table_cell(t, row, memory),
                                  .paused_ns = (double)pc_table_cell(t, row, paused),
                                  .on_cpu_ns = (double)pc_table_cell(t, row, on_cpu),
                                  .bound = pc_profile_string(p, pc_table_cell(t, row, bound))};
    }
}

struct pct_rank_use pct_finding_use_of_others(const struct pct_evidence *f)
{
    struct pct_rank_use mean = {0};
    for (size_t r = 0; r < f->n_ranks; r++) {
        if (r == f->times->busiest)
            continue;
        mean.system_ns += f->use[r].system_ns / (double)(f->n_ranks - 1);
        mean.minor_faults += f->use[r].minor_faults / (double)(f->n_ranks - 1);
        mean.major_faults += f->use[r].major_faults / (double)(f->n_ranks - 1);
        mean.paused_ns += f->use[r].paused_ns / (double)(f->n_ranks - 1);
    }
    return mean;
}

/* Subtracts the time by which MPI_Pcontrol left out the others for longer than the busiest rank:
 * they did not wait for it then. */
static void leave_pauses_out(struct pct_evidence *f)
{
    double busiest_ns = f->n_ranks ? f->use[f->times->busiest].paused_ns : 0;
    double longer_ns = pct_finding_use_of_others(f).paused_ns - busiest_ns;
    for (size_t r = 0; r < f->n_ranks; r++)
        f->paused_ns = fmax(f->paused_ns, f->use[r].paused_ns);
    f->lead.ns = fmax(0, f->lead.ns - fmax(0, longer_ns));
    f->lead.low_ns = fmax(0, f->lead.low_ns - fmax(0, longer_ns));
}

/* True if it is known that no messages link the rank with the busiest one. */
static bool is_apart(const struct pct_evidence *f, size_t rank)
{
    const uint32_t *group = f->bounds ? NULL : pct_data_partners(f->data)->group;
    return pct_totals_are_apart(group, rank, f->times->busiest);
}

/* Sets, for each rank but the busiest, the time in MPI in which it may have waited for that one, or
 * for its own threads that are in MPI: after MPI_Init, where it waits for those that come late to
 * it, and not in messages of ranks that none link with the busiest. */
static void gather_may_wait(struct pct_evidence *f)
{
    const struct pc_profile *p = f->data->profile;
    const double *init_ns = f->data->totals->rank_init_ns;
    double *rank_ns = f->may_wait_ns = pct_alloc(f->n_ranks, sizeof *rank_ns);
    for (size_t r = 0; r < f->n_ranks; r++) {
        double message_ns = is_apart(f, r) ? pct_data_wait_times(f->data).message_ns[r] : 0;
        double mpi_ns = (double)pct_totals_mpi_ns(&p->ranks[r]) - init_ns[r] +
                        f->times->list[r].for_mpi_ns - message_ns;
        rank_ns[r] = r == f->times->busiest ? 0 : fmax(0, mpi_ns);
    }
}

/* Gathers the figures of ranks. A delay of the others costs nothing while they wait for the busiest
 * rank: their delays are reduced by the share of waiting in their run, which is none in messages of
 * ranks that none link with the busiest. Where delays are not known, all time that a rank was not
 * on a processor may be one. */
static void gather_ranks(struct pct_evidence *f)
{
    const struct pc_profile *p = f->data->profile;
    f->n_ranks = p->n_ranks;
    gather_use(f);
    f->times = pct_data_rank_times(f->data);
    f->lead = pct_rank_times_lead(f->times);
    leave_pauses_out(f);
    gather_may_wait(f);
    f->compute_ns = pct_alloc(f->n_ranks, sizeof *f->compute_ns);
    f->one_host = true;
    for (size_t r = 0; r < f->n_ranks; r++) {
        const struct pct_rank_time *t = &f->times->list[r];
        double run_ns = (double)pct_totals_run_ns(&p->ranks[r]),
               lead_ns = f->times->list[f->times->busiest].own_ns - t->own_ns,
               waiting_ns = is_apart(f, r) ? fmin(lead_ns, f->may_wait_ns[r]) : lead_ns;
        f->one_host &= !strcmp(p->ranks[r].host, p->ranks[0].host);
        f->core_ns += run_ns;
        f->compute_ns[r] = t->wall_ns;
        f->compute_mean_ns += t->wall_ns / (double)f->n_ranks;
        f->delayed_ns +=
            (t->all_delayed_ns + t->lost_ns) * (run_ns > waiting_ns ? 1 - waiting_ns / run_ns : 0);
    }
}

/* A rank with this part of all messages is a hub. */
#define HUB 0.9
/* Each rank of a pair has all of them, too: the next rank must have less than this part of what the
 * hub has. */
#define NEXT 0.75

/* Looks for a rank with nearly all messages, far more than any of several others has. */
static void gather_partners(struct pct_evidence *f)
{
    const struct pct_partners *with = f->partners = pct_data_partners(f->data);
    uint64_t next = 0, most = f->n_ranks ? with->of_rank[with->hub] : 0;
    size_t n_around = 0;
    for (size_t r = 0; r < f->n_ranks; r++) {
        n_around += with->with_hub[r];
        next = r != with->hub && with->of_rank[r] > next ? with->of_rank[r] : next;
    }
    f->has_hub = n_around >= 2 && (double)most >= HUB * (double)with->messages &&
                 (double)next < NEXT * (double)most;
}

/* Shortens the lead of the busiest rank by the time that the others need for files of their own:
 * then they do not wait for it. */
static void leave_files_out(struct pct_evidence *f, const uint64_t *alone_ns)
{
    const struct pct_rank_time *t = f->times->list;
    size_t busiest = f->times->busiest;
    double sum_ns = 0;
    for (size_t r = 0; r < f->n_ranks; r++) {
        double longer_ns = (double)alone_ns[r] - (double)alone_ns[busiest];
        sum_ns += fmax(0, fmin(longer_ns, t[busiest].own_ns - t[r].own_ns));
    }
    double mean_ns = sum_ns / (double)(f->n_ranks - 1);
    f->lead.ns = fmax(0, f->lead.ns - mean_ns);
    f->lead.low_ns = fmax(0, f->lead.low_ns - mean_ns);
}

/* Gathers the time of each rank in functions of files, if values by rank are read. */
static void gather_files(struct pct_evidence *f)
{
    const struct pct_data *d = f->data;
    bool *present = NULL;
    uint64_t *alone_ns = NULL; /* where a rank does not wait for others */
    for (size_t i = 0; i < pct_data_contexts(d)->n && !f->bounds && f->n_ranks > 1; i++) {
        const struct pct_node *n = &pct_data_tree(d)->nodes[pct_data_contexts(d)->node[i]];
        const struct pc_profile_op *op = &d->profile->ops[n->op];
        if (op->op_class != PCOLLECT_CLASS_IO)
            continue;
        if (!present) {
            present = pct_alloc(f->n_ranks, sizeof *present);
            alone_ns = pct_alloc(f->n_ranks, sizeof *alone_ns);
            f->files_ns = pct_alloc(f->n_ranks, sizeof *f->files_ns);
        }
        uint64_t *values = pct_op_may_wait(op->name) ? f->files_ns : alone_ns;
        for (uint32_t s = n->first_source; s != PC_NO_INDEX; s = pct_data_tree(d)->next_source[s])
            pct_totals_add_ranks(d->totals, s, PCT_TIME, values, present);
    }
    for (size_t r = 0; f->files_ns && r < f->n_ranks; r++) {
        f->files_ns[r] += alone_ns[r];
        f->most_files = f->files_ns[r] > f->files_ns[f->most_files] ? r : f->most_files;
    }
    if (alone_ns)
        leave_files_out(f, alone_ns);
    pct_free(alone_ns);
    pct_free(present);
}

/* ---- Places: contexts with equal text are one fact, whatever their callers are --------------- */

double pct_fact_own_ns(const struct pct_fact *fact)
{
    return fmax(0, fact->ns - fact->excused_ns - fact->paused_ns - fact->files_ns) *
           fact->main_part;
}

/* A message of a slow network, and within a host. A collective operation takes as many in turn as
 * the number of ranks has bits, an exchange with each of the others one for each rank: the number
 * of neighbours is not known. */
#define SLOW_MESSAGE_NS 2e5
#define SLOW_MESSAGE_OF_HOST_NS 5e4
#define SLOW_BYTE_NS 10.0
#define SLOW_BYTE_OF_HOST_NS 1.0
/* Copying data of derived datatypes block by block takes up to 62 ns a block, seen with Open
 * MPI 4.1 on a virtual machine. A block may have one byte. */
#define PACKED_BYTE_NS 64.0
/* From some size on, both sides agree on a message before it is sent. */
#define AGREED_BYTES 4096.0
#define AGREEMENT 4.0
/* Fewer calls of a rank may be those that set up a connection. */
#define FEW_CALLS 10.0

/* True if an operation of the program may compute in the call. */
static bool may_compute(const struct pct_evidence *f, const struct pct_fact *fact)
{
    return f->makes_ops &&
           (strstr(fact->op, "educe") || strstr(fact->op, "scan") || strstr(fact->op, "Scan"));
}

double pct_fact_late_ns(const struct pct_evidence *f, const struct pct_fact *fact)
{
    enum { EXCHANGE = PCOLLECT_TRAIT_EACH | PCOLLECT_TRAIT_COUNTS };
    bool is_exchange = (fact->traits & EXCHANGE) == PCOLLECT_TRAIT_EACH;
    double n = (double)f->n_ranks;
    double steps = fact->op_class == PCOLLECT_CLASS_COLL ? ceil(log2(n)) : 1;
    double byte_ns = f->one_host ? SLOW_BYTE_OF_HOST_NS : SLOW_BYTE_NS;
    byte_ns = f->makes_types ? fmax(byte_ns, PACKED_BYTE_NS) : byte_ns;
    double message_ns = f->one_host ? SLOW_MESSAGE_OF_HOST_NS : SLOW_MESSAGE_NS;
    double bytes = fact->bytes_sent + fact->bytes_received;
    double messages = bytes > AGREED_BYTES * fact->calls ? AGREEMENT : 1;
    double cost_ns =
        (is_exchange ? n : steps) * messages * fact->calls * message_ns + steps * bytes * byte_ns;
    if (f->n_ranks < 2 || fact->calls < FEW_CALLS * n || may_compute(f, fact) ||
        !(is_exchange || fact->traits & PCOLLECT_TRAIT_LATE))
        return 0;
    return fmax(0, pct_fact_own_ns(fact) - cost_ns);
}

/* The times and calls by rank of the current place, and room for one of its contexts. */
struct folding {
    uint64_t *context, *place_ns, *calls, *bytes; /* all 0 between places, and from `end` on */
    bool *present;
    size_t end;
    bool is_partial;          /* of some contexts no value by rank is kept */
    bool no_calls;            /* times are kept by rank, and calls are not */
    const double *waiting_ns; /* pct_data_waiting; NULL: not known */
};

/* Time of a call of a rank; 0: it makes none. If calls are not known, as if all ranks made one. */
static double call_ns(const struct folding *fold, size_t r)
{
    double ns = (double)(int64_t)fold->place_ns[r];
    return fold->no_calls ? ns : fold->calls[r] ? ns / (double)fold->calls[r] : 0;
}

/* Correlation of the time of a call with the number of the rank, over all ranks. */
static double trend(const struct folding *fold, double n_ranks)
{
    double mean_r = (n_ranks - 1) / 2, sum = 0, rt = 0;
    for (size_t r = 0; r < fold->end; r++) {
        double ns = call_ns(fold, r);
        sum += ns;
        rt += ns * ((double)(int64_t)r - mean_r);
    }
    double mean = sum / n_ranks, tt = mean * mean * (n_ranks - (double)fold->end);
    for (size_t r = 0; r < fold->end; r++) {
        double from_mean = call_ns(fold, r) - mean;
        tt += from_mean * from_mean;
    }
    double rr = n_ranks * (n_ranks * n_ranks - 1) / 12;
    return rr > 0 && tt > 0 ? rt / sqrt(rr * tt) : 0;
}

/* Finds the least and the most bytes of a call, over the ranks that make some. */
static void find_bytes(const struct folding *fold, struct pct_fact *place)
{
    bool any = false;
    for (size_t r = 0; r < fold->end; r++) {
        double bytes = fold->no_calls   ? (double)fold->bytes[r]
                       : fold->calls[r] ? (double)fold->bytes[r] / (double)fold->calls[r]
                                        : -1;
        if (bytes < 0 || (fold->no_calls && !fold->place_ns[r]))
            continue;
        place->least_bytes = any ? fmin(place->least_bytes, bytes) : bytes;
        place->most_bytes = fmax(place->most_bytes, bytes);
        any = true;
    }
}

/* Adds a metric of one context by rank to the list of its place; false: it is not known. */
static bool fold_ranks(const struct pct_evidence *f, struct folding *fold, uint32_t node,
                       enum pct_metric metric, uint64_t *place)
{
    struct pct_range range =
        pct_tree_ranks(pct_data_tree(f->data), node, metric, fold->context, fold->present);
    for (size_t r = range.first; r < range.end; r++) {
        place[r] += fold->context[r];
        fold->context[r] = 0;
    }
    fold->end = range.end > fold->end ? range.end : fold->end;
    return range.end > 0;
}

/* True if values by rank are kept of all records of a context. */
static bool keeps_values(const struct pct_evidence *f, uint32_t node)
{
    const struct pct_tree *t = pct_data_tree(f->data);
    const struct pc_profile *p = f->data->profile;
    for (uint32_t s = t->nodes[node].first_source; s != PC_NO_INDEX; s = t->next_source[s]) {
        const struct pc_profile_node *n = &p->nodes[s];
        if (n->kind != PCOLLECT_NODE_POINT && n->data != PC_NO_INDEX &&
            pc_data_has(p, &p->data[n->data]) == PC_KEPT_NONE)
            return false;
    }
    return true;
}

/* Adds the figures of one context to those of its place. */
static void fold_context(const struct pct_evidence *f, struct folding *fold,
                         const struct pct_fact *context, struct pct_fact *place)
{
    if (fold_ranks(f, fold, context->node, PCT_TIME, fold->place_ns))
        fold->no_calls |= !fold_ranks(f, fold, context->node, PCT_CALLS, fold->calls);
    fold_ranks(f, fold, context->node, PCT_SENT, fold->bytes);
    fold_ranks(f, fold, context->node, PCT_RECEIVED, fold->bytes);
    fold->is_partial |= !keeps_values(f, context->node);
    place->excused_ns += fold->waiting_ns ? fold->waiting_ns[context->node] : 0;
}

/* Time that a rank may have waited in a place for the rank that MPI_Pcontrol left out for
 * longest. */
static double pauses_of(const struct pct_evidence *f, size_t r, double place_ns)
{
    return fmin(place_ns, f->paused_ns - f->use[r].paused_ns);
}

/* Time that a rank may have waited in a place for the rank with most time in files: by how much
 * that rank is longer in files, and longer outside of MPI and in files together. */
static double files_of(const struct pct_evidence *f, size_t r, double place_ns)
{
    if (!f->files_ns)
        return 0;
    double longer_ns = (double)f->files_ns[f->most_files] - (double)f->files_ns[r];
    double lead_ns = longer_ns + f->compute_ns[f->most_files] - f->compute_ns[r];
    return fmin(place_ns, fmax(0, fmin(longer_ns, lead_ns)));
}

static void fold_place(const struct pct_evidence *f, struct folding *fold, struct pct_fact *place)
{
    bool may_wait = pct_op_may_wait(place->op);
    bool is_file = place->op_class == PCOLLECT_CLASS_IO;
    for (size_t r = 0; r < fold->end; r++) {
        double ns = (double)(int64_t)fold->place_ns[r];
        place->around_hub_ns += f->partners->with_hub[r] ? ns : 0;
        place->n_callers += fold->place_ns[r] > 0;
        place->most_calls = fmax(place->most_calls, (double)fold->calls[r]);
        place->paused_ns += may_wait ? pauses_of(f, r, ns) : 0;
        place->files_ns += may_wait && !is_file ? files_of(f, r, ns) : 0;
    }
    if (fold->is_partial && place->n_callers < f->n_ranks)
        place->n_callers = 0;
    if (fold->is_partial || fold->no_calls)
        place->most_calls = 0;
    if (place->is_message) {
        place->first_ns = call_ns(fold, 0);
        place->last_ns = call_ns(fold, f->n_ranks - 1);
        place->trend = trend(fold, (double)f->n_ranks);
        find_bytes(fold, place);
    }
    memset(fold->bytes, 0, fold->end * sizeof *fold->bytes);
    memset(fold->place_ns, 0, fold->end * sizeof *fold->place_ns);
    memset(fold->calls, 0, fold->end * sizeof *fold->calls);
    fold->is_partial = fold->no_calls = false;
    fold->end = 0;
}

/* Bounds: the worst case of the times by rank of a place. */
static void bound_place(const struct pct_evidence *f, struct pct_fact *place, double inclusive_ns)
{
    place->around_hub_ns = inclusive_ns;
    place->last_ns = inclusive_ns;
    place->trend = place->is_message && f->n_ranks > 1 ? 1 : 0;
}

/* Adds a context to the fact of its place. */
static void add_context(struct pct_fact *place, const struct pct_fact *from)
{
    place->ns += from->ns;
    place->calls += from->calls;
    place->bytes_sent += from->bytes_sent;
    place->bytes_received += from->bytes_received;
    place->is_message &= from->is_message;
    place->function = pct_is_same_text(place->function, from->function) ? place->function : NULL;
    place->caller = pct_is_same_text(place->caller, from->caller) ? place->caller : NULL;
    place->module = pct_is_same_text(place->module, from->module) ? place->module : NULL;
}

/* Makes one fact of n contexts, which belong to one place. */
static struct pct_fact unite(const struct pct_evidence *f, struct folding *fold,
                             const struct pct_context_calls *list, size_t n)
{
    struct pct_calls_from *callers = pct_alloc(n, sizeof *callers),
                          *makers = pct_alloc(n, sizeof *makers);
    struct pct_fact place = {.op = NULL};
    double inclusive_ns = 0;
    for (size_t i = 0; i < n; i++) {
        const struct pct_fact from = make_fact(f, &list[i]);
        if (i)
            add_context(&place, &from);
        else
            place = from;
        callers[i] = from.around;
        makers[i] = from.inside;
        inclusive_ns += (double)pct_tree_own(pct_data_tree(f->data), from.node).calls.sum[PCT_TIME];
        if (!f->bounds)
            fold_context(f, fold, &from, &place);
    }
    if (f->bounds)
        bound_place(f, &place, inclusive_ns);
    else
        fold_place(f, fold, &place);
    place.several = n > 1;
    bool has_line = place.at.program || (place.at.function && place.at.function->frame->line);
    place.most_from = pct_main_caller(callers, n, has_line);
    place.around = pct_main_caller(callers, n, false);
    place.inside = pct_main_caller(makers, n, false);
    pct_free(callers);
    pct_free(makers);
    return place;
}

static int compare_places(const void *a, const void *b)
{
    const struct pct_context_calls *x = a, *y = b;
    int c = strcmp(x->key, y->key);
    return c ? c : x->node < y->node ? -1 : x->node > y->node;
}

/* Names the places: functions whose names are shortened to the same have longer ones. */
static void name_places(struct pct_evidence *f)
{
    const char **names = pct_alloc(f->n, sizeof *names);
    for (size_t i = 0; i < f->n; i++)
        names[i] = whole_name(&f->list[i].at);
    const char **shown = pct_names_shown(names, f->n, false, false, f->pool);
    for (size_t i = 0; i < f->n; i++) {
        struct pct_fact *fact = &f->list[i];
        fact->place = shown[i] ? put_place(f, &fact->at, shown[i]) : fact->key;
        if (fact->at.is_foreign)
            fact->library = fact->at.program && shown[i] ? shown[i] : "the library";
    }
    pct_free(shown);
    pct_free(names);
}

/* Makes the facts of n contexts. */
static void unite_places(struct pct_evidence *f, struct pct_context_calls *list, size_t n)
{
    struct folding fold = {.context = pct_alloc(f->n_ranks, sizeof *fold.context),
                           .place_ns = pct_alloc(f->n_ranks, sizeof *fold.place_ns),
                           .calls = pct_alloc(f->n_ranks, sizeof *fold.calls),
                           .bytes = pct_alloc(f->n_ranks, sizeof *fold.bytes),
                           .present = pct_alloc(f->n_ranks, sizeof *fold.present),
                           .waiting_ns = f->bounds ? NULL : pct_data_waiting(f->data)};
    size_t n_places = 0;
    qsort(list, n, sizeof *list, compare_places);
    for (size_t i = 0; i < n; i++)
        n_places += !i || list[i].key != list[i - 1].key;
    f->list = pct_alloc(n_places, sizeof *f->list);
    for (size_t first = 0, end; first < n; first = end) {
        for (end = first + 1; end < n && list[end].key == list[first].key;)
            end++;
        f->list[f->n++] = unite(f, &fold, list + first, end - first);
    }
    pct_free(fold.context);
    pct_free(fold.place_ns);
    pct_free(fold.calls);
    pct_free(fold.bytes);
    pct_free(fold.present);
}

void pct_evidence_gather(struct pct_evidence *f, const struct pct_data *d, struct pct_pool *pool,
                         bool bounds)
{
    const struct pct_contexts *contexts = pct_data_contexts(d);
    *f = (struct pct_evidence){.data = d, .pool = pool, .bounds = bounds};
    gather_ranks(f);
    gather_partners(f);
    gather_files(f);
    struct pct_context_calls *list = pct_alloc(contexts->n, sizeof *list);
    f->polling = pct_alloc(contexts->n, sizeof *f->polling);
    for (size_t i = 0; i < contexts->n; i++)
        list[i] = see_context(f, contexts->node[i]);
    pct_evidence_find_messages(f, list, contexts->n);
    if (contexts->n && f->n_ranks)
        unite_places(f, list, contexts->n);
    pct_free(list);
    name_places(f);
}

void pct_evidence_forget(struct pct_evidence *f)
{
    pct_free(f->list);
    pct_free(f->polling);
    pct_free(f->compute_ns);
    pct_free(f->may_wait_ns);
    pct_free(f->use);
    pct_free(f->files_ns);
    pct_free(f->ends.list);
}

struct pct_more pct_more_call(const struct pct_evidence *f, const struct pct_fact *fact)
{
    uint64_t context = fact->several ? 0 : pct_data_tree(f->data)->nodes[fact->node].context;
    return (struct pct_more){"contexts", context, -1};
}
