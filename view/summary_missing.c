/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The head of the text report: data that the profile lacks, and notes.
 */
#include "view/sentence.h"
#include "view/summary_private.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_RUNS = 6 };

void pct_head_ranks(struct pct_buf *b, const int32_t *ranks, size_t n)
{
    pct_buf_text(b, n == 1 ? "rank " : "ranks ");
    size_t shown = pct_print_set(b, ranks, n, ", ", MOST_RUNS);
    if (shown < n)
        pct_buf_format(b, " and %zu more", n - shown);
}

/* Names the ranks that are absent, as pct_head_ranks. There can be far more of them than ranks that
 * are present. */
static void put_missing(const struct pct_head *h, struct pct_buf *b)
{
    const struct pc_profile *p = h->d->profile;
    int64_t expected = 0, n_more = 0;
    unsigned n_runs = 0;
    pct_buf_text(b, h->d->totals->all.n_missing == 1 ? "rank " : "ranks ");
    for (uint32_t i = 0; i <= p->n_ranks; i++) {
        int64_t rank = i < p->n_ranks ? p->ranks[i].rank : (int64_t)p->world_size;
        if (rank > expected && n_runs++ < MOST_RUNS) {
            pct_buf_text(b, n_runs > 1 ? ", " : "");
            pct_print_run(b, expected, rank - 1, ", ");
        } else if (rank > expected) {
            n_more += rank - expected;
        }
        expected = rank + 1;
    }
    if (n_more)
        pct_buf_format(b, " and %lld more", (long long)n_more);
    pct_buf_text(b, ": not in this profile");
}

enum which { INCOMPLETE, WITH_LOSS };

static bool is_listed(const struct pc_profile_rank *r, enum which which, size_t kind)
{
    return which == INCOMPLETE ? r->incomplete != 0 : pc_rank_lost(r, (unsigned)kind) != 0;
}

static void put_listed(const struct pct_head *h, enum which which, size_t kind, struct pct_buf *b)
{
    const struct pc_profile *p = h->d->profile;
    int32_t *list = pct_alloc(p->n_ranks, sizeof *list);
    size_t n = 0;
    for (uint32_t i = 0; i < p->n_ranks; i++)
        if (is_listed(&p->ranks[i], which, kind))
            list[n++] = p->ranks[i].rank;
    pct_head_ranks(b, list, n);
    pct_free(list);
}

/* Appends which rank ended the job by MPI_Abort, and where: the cause of all ranks that are not
 * complete. */
static void put_abort(const struct pct_head *h, struct pct_buf *b)
{
    const struct pct_open_calls *open = pct_data_open_calls(h->d);
    const struct pct_open_call *last = NULL;
    size_t n = 0;
    for (size_t i = 0; i < open->n; i++) {
        if (!pct_open_call_is_abort(h->d->profile, open->list[i].node))
            continue;
        last = &open->list[i];
        n++;
    }
    if (n == 1) {
        pct_buf_format(b, "rank %d called ", h->d->profile->ranks[last->rank].rank);
        pct_finding_put_call(b, h->d, last->node);
        pct_buf_text(b, "; ");
    } else if (n) {
        pct_buf_format(b, "%zu ranks called MPI_Abort; ", n);
    }
}

/* ---- How ranks ended ------------------------------------------------------------------------- */

/* Appends the function by which the rank ended, and where it was called: a row of the table `ends`.
 */
static void put_end(const struct pct_head *h, const struct pc_profile_table *t, uint32_t row,
                    struct pct_buf *b)
{
    uint32_t how = pc_table_column(t, "how", PCOLLECT_COLUMN_STRING),
             place = pc_table_column(t, "place", PCOLLECT_COLUMN_NODE);
    const char *name = pc_profile_string(h->d->profile, pc_table_cell(t, row, how));
    uint64_t node = pc_table_cell(t, row, place);
    if (!name)
        return;
    pct_buf_text(b, strcmp(name, "assert") != 0 ? "called " : "failed an ");
    pct_text_escape(b, name, PCT_ESCAPE_CELL);
    if (node && node < h->d->profile->n_nodes) {
        pct_buf_text(b, " in ");
        pct_finding_put_call(b, h->d, (uint32_t)node);
    }
}

/* Appends what is known of the end of a rank beside that: its status, or a signal. */
static void put_status(const struct pc_profile_rank *r, bool exited, struct pct_buf *b)
{
    unsigned number = (unsigned)(r->notes >> PCOLLECT_NOTE_STATUS_BIT & 0xff);
    if (exited && !b->n)
        pct_buf_text(b, "exited");
    if (r->notes & PCOLLECT_NOTE_STATUS && b->n)
        pct_buf_format(b, " with status %u", number);
    else if (r->notes & PCOLLECT_NOTE_SIGNAL && !b->n)
        pct_buf_format(b, "was ended by signal %u (%s)", number, strsignal((int)number));
}

/* By rank the text of how it ended, kept in the pool; NULL: it is not known, it was MPI_Abort, or
 * the rank is complete. The caller frees the list. */
static const char **find_ends(const struct pct_head *h)
{
    const struct pc_profile *p = h->d->profile;
    const struct pct_rank_times *times = pct_data_rank_times(h->d);
    const struct pct_open_calls *open = pct_data_open_calls(h->d);
    const struct pc_profile_table *t = pc_profile_table_in_order(p, "ends");
    bool known = pc_table_column(t, "rank", PCOLLECT_COLUMN_RANK) == 0 &&
                 pc_table_column(t, "how", PCOLLECT_COLUMN_STRING) != PC_NO_INDEX &&
                 pc_table_column(t, "place", PCOLLECT_COLUMN_NODE) != PC_NO_INDEX;
    const char **ends = pct_alloc(p->n_ranks, sizeof *ends);
    struct pct_buf b = {0};
    for (uint32_t row = 0, at = 0; known && row < t->n_rows; row++) {
        pct_buf_clear(&b);
        if (!pct_totals_rank_of_row(p, t, row, &at) || !p->ranks[at].incomplete)
            continue;
        put_end(h, t, row, &b);
        ends[at] = b.n ? pct_pool_intern(h->d->pool, b.data) : NULL;
    }
    for (uint32_t r = 0; r < p->n_ranks; r++) {
        pct_buf_clear(&b);
        if (!p->ranks[r].incomplete)
            continue;
        pct_buf_text(&b, ends[r] ? ends[r] : "");
        put_status(&p->ranks[r], times->list[r].exited, &b);
        ends[r] = b.n ? pct_pool_intern(h->d->pool, b.data) : NULL;
    }
    for (size_t i = 0; i < open->n; i++)
        if (pct_open_call_is_abort(p, open->list[i].node))
            ends[open->list[i].rank] = NULL;
    pct_buf_free(&b);
    return ends;
}

/* Appends which ranks ended without MPI_Finalize, and how: the first MOST_RUNS of them that differ
 * in it. */
static void put_ends(const struct pct_head *h, const char *const *ends, struct pct_buf *b)
{
    const struct pc_profile *p = h->d->profile;
    const struct pct_rank_times *t = pct_data_rank_times(h->d);
    int32_t *list = pct_alloc(p->n_ranks, sizeof *list);
    const char *told[MOST_RUNS];
    size_t n_groups = 0;
    for (uint32_t r = 0; r < p->n_ranks && n_groups < MOST_RUNS; r++) {
        size_t n = 0, known = 0;
        while (known < n_groups && told[known] != ends[r])
            known++;
        if (!ends[r] || known < n_groups)
            continue;
        for (uint32_t k = r; k < p->n_ranks; k++)
            if (ends[k] == ends[r])
                list[n++] = p->ranks[k].rank;
        told[n_groups++] = ends[r];
        pct_head_ranks(b, list, n);
        pct_buf_format(b, " %s", ends[r]);
        if (n == 1 && t->list[r].silent_ns > 0 && !(p->ranks[r].notes & PCOLLECT_NOTE_SIGNAL)) {
            pct_buf_text(b, ", ");
            pct_head_time(b, (pc_u128)t->list[r].silent_ns);
            pct_buf_text(b, " before the last moment known of others");
        }
        pct_buf_text(b, "; ");
    }
    pct_free(list);
}

/* A killed rank that is silent for a smaller part of its time than this is not mentioned: samples
 * are some time apart. */
#define SILENT 0.05

/* Appends which killed ranks left no trace while others ran on. */
static void put_silent(const struct pct_head *h, const char *const *ends, struct pct_buf *b)
{
    const struct pc_profile *p = h->d->profile;
    const struct pct_rank_times *t = pct_data_rank_times(h->d);
    int32_t *list = pct_alloc(t->n, sizeof *list);
    double longest_ns = 0;
    size_t n = 0;
    for (size_t r = 0; r < t->n; r++) {
        double ns = t->list[r].silent_ns;
        if (ends[r] || !(ns > SILENT * (double)pct_totals_wall_ns(&p->ranks[r])))
            continue;
        list[n++] = p->ranks[r].rank;
        longest_ns = ns > longest_ns ? ns : longest_ns;
    }
    if (n) {
        pct_buf_text(b, ". In the last ");
        pct_head_time(b, (pc_u128)longest_ns);
        pct_buf_text(b, n > 1 ? " or less of the job " : " of the job ");
        pct_head_ranks(b, list, n);
        pct_buf_format(b,
                       " left no trace: %s outside MPI, or had ended, and no figure has this time",
                       n > 1 ? "they slept" : "it slept");
    }
    pct_free(list);
}

void pct_head_incomplete(const struct pct_head *h, struct pct_buf *b)
{
    uint64_t taken_ns = pct_header_taken_ns(h->d->profile);
    bool calls_mpi = pct_data_calls_mpi(h->d);
    if (!h->d->totals->all.n_incomplete)
        return;
    const char **ends = find_ends(h);
    put_abort(h, b);
    if (calls_mpi)
        put_ends(h, ends, b);
    if (calls_mpi || taken_ns || h->d->profile->n_ranks > 1)
        put_listed(h, INCOMPLETE, 0, b);
    else
        pct_buf_text(b, "the program");
    if (taken_ns)
        pct_buf_text(b, " ran on: a checkpoint of ");
    else if (calls_mpi)
        pct_buf_text(b, " did not reach MPI_Finalize: recovered, up to the last moment known");
    else
        pct_buf_format(b, " %s: recovered, up to the last moment known",
                       h->d->profile->n_ranks == 1 && ends[0] ? ends[0]
                                                              : "ended by a signal, _exit or exec");
    pct_print_moment(b, taken_ns);
    if (!taken_ns && calls_mpi)
        put_silent(h, ends, b);
    pct_free(ends);
    if (!pct_data_rank_times(h->d)->divided)
        pct_buf_text(b, h->d->profile->n_ranks > 1
                            ? ". How long ranks waited for a processor is not known"
                            : ". How long it waited for a processor is not known");
}

/* ---- Where ranks were at the end of their data ----------------------------------------------- */

/* Ranks that were in one function of MPI, with their main thread or with another one, or in none
 * (op PC_NO_INDEX). */
struct ended {
    uint32_t op;
    uint64_t thread; /* 0: the main thread; else of the last of them */
    size_t n;
    int32_t *ranks;
    uint64_t longest_ns; /* in the call by then */
    uint32_t node;       /* of the first of them */
    struct pct_buf call; /* its place; empty: that of another is not the same */
};

/* Keeps the place of the call if it is that of the ranks before. */
static void add_place(struct ended *e, const struct pct_data *d, uint32_t node)
{
    struct pct_buf call = {0};
    if (e->n && (!e->call.n || e->node == node))
        return;
    pct_finding_put_call(&call, d, node);
    if (e->n && strcmp(call.data, e->call.data) != 0)
        pct_buf_clear(&call);
    pct_buf_free(&e->call);
    e->call = call;
    e->node = node;
}

static void add_ended(struct ended *e, const struct pct_data *d, uint32_t rank,
                      const struct pct_open_call *c)
{
    const struct pc_profile *p = d->profile;
    uint64_t ns = c ? c->ns : 0;
    e->thread = c ? c->thread : 0;
    if (!e->ranks)
        e->ranks = pct_alloc(p->n_ranks, sizeof *e->ranks);
    if (c && e->op != PC_NO_INDEX)
        add_place(e, d, c->node);
    e->ranks[e->n++] = p->ranks[rank].rank;
    e->longest_ns = ns > e->longest_ns ? ns : e->longest_ns;
}

/* The ranks that are not complete or were in a call, by function. Of the *n_out entries the even
 * ones are for calls of main threads, the odd ones for those of others; the last is for the ranks
 * outside MPI. */
static struct ended *find_ended(const struct pct_head *h, size_t *n_out)
{
    const struct pc_profile *p = h->d->profile;
    size_t n = 2 * (size_t)p->n_ops + 1;
    const struct pct_open_call **open = pct_open_calls_of_ranks(pct_data_open_calls(h->d), p);
    struct ended *all = pct_alloc(n, sizeof *all);
    for (size_t i = 0; i < n; i++)
        all[i].op = i < n - 1 ? (uint32_t)(i / 2) : PC_NO_INDEX;
    for (uint32_t r = 0; r < p->n_ranks; r++) {
        const struct pct_open_call *c = open[r];
        uint32_t op = c ? p->nodes[c->node].op : PC_NO_INDEX;
        if (p->ranks[r].incomplete || c)
            add_ended(&all[op < p->n_ops ? 2 * op + (c->thread != 0) : n - 1], h->d, r, c);
    }
    pct_free(open);
    *n_out = n;
    return all;
}

static int compare_ended(const void *a, const void *b)
{
    const struct ended *x = a, *y = b;
    int order = (x->n < y->n) - (x->n > y->n);
    order = order ? order : (x->op > y->op) - (x->op < y->op);
    return order ? order : (x->thread > 0) - (y->thread > 0);
}

static void put_group(const struct pc_profile *p, const struct ended *e, struct pct_buf *b)
{
    pct_head_ranks(b, e->ranks, e->n);
    pct_buf_text(b, e->op == PC_NO_INDEX ? " outside MPI" : " in ");
    if (e->call.n)
        pct_buf_text(b, e->call.data);
    else if (e->op != PC_NO_INDEX)
        pct_text_escape(b, p->ops[e->op].name, PCT_ESCAPE_CELL);
    if (e->thread && e->n == 1)
        pct_buf_format(b, " in thread %llu", (unsigned long long)e->thread);
    else if (e->thread)
        pct_buf_text(b, " in other threads than the main one");
    if (e->longest_ns) {
        pct_buf_text(b, e->n > 1 ? " for up to " : " for ");
        pct_head_time(b, e->longest_ns);
    }
}

/* "ranks 0-2 in MPI_Barrier in main (a.c:3) for up to 12.3 s, rank 3 outside MPI". Ranks outside
 * MPI are always named: the others may wait for them. */
void pct_head_ended(const struct pct_head *h, struct pct_buf *b)
{
    enum { FUNCTIONS_SHOWN = 4 };
    const struct pc_profile *p = h->d->profile;
    if (!h->d->totals->all.n_incomplete || !pct_data_calls_mpi(h->d) ||
        !pc_profile_table(p, PCOLLECT_TABLE_OPEN_CALLS))
        return;
    size_t n_all, n_others = 0;
    struct ended *all = find_ended(h, &n_all);
    uint32_t n_functions = 0;
    qsort(all, n_all, sizeof *all, compare_ended);
    for (size_t i = 0; i < n_all && all[i].n; i++) {
        n_functions += all[i].op != PC_NO_INDEX;
        if (all[i].op != PC_NO_INDEX && n_functions > FUNCTIONS_SHOWN) {
            n_others += all[i].n;
        } else {
            pct_buf_text(b, i ? ", " : "");
            put_group(p, &all[i], b);
        }
    }
    if (n_others)
        pct_buf_format(b, ", %s in %s", n_others == 1 ? "1 other rank" : "others",
                       n_functions == FUNCTIONS_SHOWN + 1 ? "another function" : "other functions");
    for (size_t i = 0; i < n_all; i++) {
        pct_free(all[i].ranks);
        pct_buf_free(&all[i].call);
    }
    pct_free(all);
}

/* True if enough of the time is in contexts without their outer frames: it is counted there, only
 * the callers are unknown. */
static bool lacks_callers(const struct pct_data *d)
{
    const struct pc_profile *p = d->profile;
    const struct pct_samples *s = pct_data_samples(d);
    pc_u128 all_ns = d->totals->context_mpi_ns + s->all.ns - s->mpi.ns, ns = 0;
    for (uint32_t i = 0, end = 0; i < p->n_nodes; i++) {
        const struct pc_profile_node *n = &p->nodes[i];
        if (pc_node_is_within(n, i, n->kind == PCOLLECT_NODE_CUT, &end))
            ns += pct_totals_exclusive(d->totals, i) +
                  (n->kind == PCOLLECT_NODE_POINT ? pct_samples_of(s, i).ns : 0);
    }
    return ns * 100 >= all_ns;
}

/* Appends what of a kind is left out, without its number n. */
static void put_lost_name(size_t kind, uint64_t n, struct pct_buf *b)
{
    const char *name = pcollect_lost_names[kind], *end = strstr(name, "s ");
    if (n != 1 || end == name + 1) { /* "ms " */
        pct_buf_format(b, " %s", name);
        return;
    }
    bool ies = !strncmp(end - 2, "ie", 2);
    pct_buf_format(b, " %.*s%s%s", (int)(end - name) - (ies ? 2 : 0), name, ies ? "y" : "",
                   end + 1);
}

bool pct_head_lost(const struct pct_head *h, size_t kind, struct pct_buf *b)
{
    const uint64_t *lost = h->d->totals->all.lost;
    if (!lost[kind] || (kind == PCOLLECT_LOST_CUT && !lacks_callers(h->d)))
        return false;
    pct_head_count(b, lost[kind]);
    put_lost_name(kind, lost[kind], b);
    if (pc_lost_is_of_rank(kind)) {
        pct_buf_text(b, " (");
        put_listed(h, WITH_LOSS, kind, b);
        pct_buf_text(b, ")");
    }
    return true;
}

/* True if the tables have all of it. */
static bool is_counted(size_t kind)
{
    return kind == PCOLLECT_LOST_CUT || kind == PCOLLECT_LOST_DEEP || kind == PCOLLECT_LOST_OPEN ||
           kind == PCOLLECT_LOST_ENDS;
}

static void put_lost(const struct pct_head *h, struct pct_buf *b)
{
    for (size_t k = 0; k < PCOLLECT_N_LOST; k++) {
        if (pct_head_lost(h, k, b))
            pct_head_put(h, is_counted(k) ? "note" : "left out", b);
    }
}

/* Appends what is not kept apart (merge/fold.h). */
static void put_added_up(const struct pct_head *h, struct pct_buf *b)
{
    struct pct_call_sum calls;
    if (!pct_totals_folded(h->d->totals, &calls))
        return;
    if (h->d->n_added_up) {
        pct_head_count(b, h->d->n_added_up);
        pct_buf_format(b, " %s not kept apart here (pcollect html --contexts)%s: ",
                       h->d->n_added_up == 1 ? "context that one rank has is"
                                             : "contexts that one rank each has are",
                       h->d->was_folded ? ", nor others in the profile ([output] contexts)" : "");
    } else {
        pct_buf_text(b, "the job has more contexts than are kept apart ([output] contexts): ");
    }
    pct_head_count(b, calls.sum[PCT_CALLS]);
    bool one = calls.sum[PCT_CALLS] == 1;
    pct_buf_text(b, one ? " call with " : " calls with ");
    pct_head_percent(b, pct_text_share(calls.sum[PCT_EXCLUSIVE], pct_data_mpi_ns(h->d)));
    pct_buf_text(b, one ? " of MPI time is added up in the contexts around it"
                        : " of MPI time are added up in the contexts around them");
}

static bool is_part(const struct pct_head *h)
{
    const struct pct_filter *f = &h->o->filter;
    return f->has_phase || f->region || f->domain;
}

/* Appends a difference between the counters of ranks and the sums over contexts, which are kept
 * separately: it is an uncounted loss. Appends that the plugin time was not loaded, if so.
 * Contexts of a part of the run hold less. */
static void put_disagreement(const struct pct_head *h, struct pct_buf *b)
{
    pc_u128 contexts = pct_data_mpi_ns(h->d);
    pc_u128 ranks = h->d->totals->all.threads_mpi_ns;
    pc_u128 difference = contexts > ranks ? contexts - ranks : ranks - contexts;
    if (!h->d->totals->has[PCT_TIME]) {
        if (!(h->d->totals->all.notes & PCOLLECT_NOTE_OUTSIDE))
            pct_buf_text(
                b, "the plugin time was not loaded: contexts have no calls and no times of calls");
        return;
    }
    if (is_part(h) || difference * 100 <= ranks || difference < 1000000)
        return;
    pct_buf_text(b, "the contexts hold ");
    pct_head_time(b, contexts);
    pct_buf_text(b, " in MPI, the ranks counted ");
    pct_head_time(b, ranks);
}

static void put_unsampled(const struct pct_head *h, struct pct_buf *b)
{
    double ns = pct_data_rank_times(h->d)->unsampled_ns;
    if (ns <= 0)
        return;
    pct_head_time(b, (pc_u128)ns);
    pct_buf_text(b, " of CPU time are in no context: of threads that ended before a sample or "
                    "could not be sampled, or of the begin or end of others");
}

/* Appends how much of the CPU time of a recording from outside is in its samples. What no sample
 * stands for does not contain those that were lost. */
static void put_covered(const struct pct_head *h, struct pct_buf *b)
{
    const struct pct_sampled *all = &pct_data_samples(h->d)->all;
    pc_u128 unseen_ns = (pc_u128)h->d->totals->all.lost[PCOLLECT_LOST_CPU_MS] * 1000000;
    pc_u128 sampled_ns = all->ns, missing_ns = unseen_ns + (pc_u128)(all->lost_ns + 0.5);
    if (!unseen_ns)
        return;
    pct_buf_text(b, "samples stand for ");
    pct_head_percent(b, pct_text_share(sampled_ns, sampled_ns + missing_ns));
    pct_buf_text(b, " of the CPU time: shares are of that part");
}

/* True for a function whose name begins so. */
static bool is_function(const struct pct_data *d, uint32_t node, const char *begin)
{
    struct pct_place place = pct_symbols_node(pct_data_symbols(d), node);
    const char *function = place.n_frames ? place.frames[0].function : NULL;
    return function && !strncmp(function, begin, strlen(begin));
}

/* Appends that a recording from outside has the interpreter in place of the functions of Python. */
static void put_python(const struct pct_head *h, struct pct_buf *b)
{
    const struct pc_profile *p = h->d->profile;
    bool interpreted = false;
    if (!(h->d->totals->all.notes & PCOLLECT_NOTE_OUTSIDE))
        return;
    for (uint32_t i = 0; i < p->n_nodes; i++) {
        uint32_t module = p->nodes[i].module;
        if (module == PC_NO_INDEX)
            continue;
        interpreted |= pct_symbols_is_python(&p->modules[module]);
        /* The interpreter has named it for perf (python -X perf). */
        if (is_function(h->d, i, "py::"))
            return;
    }
    if (interpreted)
        pct_buf_text(b, "functions of Python are not known here, those of its interpreter are "
                        "shown: pcollect run and pcollect where have them");
}

/* True for code that may be without a file: a process made it. */
static bool is_made(const struct pc_profile *p, uint32_t module)
{
    return module == PC_NO_INDEX || !strcmp(p->modules[module].path, PCOLLECT_MODULE_JIT);
}

/* Appends how much is in code without names that processes made. */
static void put_made(const struct pct_head *h, struct pct_buf *b)
{
    const struct pc_profile *p = h->d->profile;
    const struct pct_samples *samples = pct_data_samples(h->d);
    pc_u128 made_ns = 0;
    for (uint32_t i = 0; i < p->n_nodes; i++) {
        const struct pc_profile_node *n = &p->nodes[i];
        if (n->kind == PCOLLECT_NODE_POINT && is_made(p, n->module) &&
            is_function(h->d, i, PCT_MADE_CODE))
            made_ns += pct_samples_of(samples, i).ns;
    }
    if (made_ns * 100 < samples->all.ns || !made_ns)
        return;
    pct_head_percent(b, pct_text_share(made_ns, samples->all.ns));
    pct_buf_text(b, " of the sampled CPU time is in code without names that a program made while "
                    "it ran: ");
    pct_buf_text(b, h->d->totals->all.notes & PCOLLECT_NOTE_OUTSIDE ? PCT_MADE_CODE_CURE
                                                                    : PCT_MADE_CODE_RUN_CURE);
}

void (*const pct_head_context_notes[])(const struct pct_head *, struct pct_buf *) = {
    put_disagreement, put_added_up, put_unsampled, put_covered, put_python, put_made, NULL};

static void put_notes(const struct pct_head *h, struct pct_buf *b)
{
    for (unsigned k = 0; pct_header_note(k); k++) {
        if (h->d->totals->all.notes >> k & 1)
            pct_head_item(h, "note", pct_header_note(k));
    }
    bool off = false;
    for (uint32_t i = 0; i < h->d->profile->n_modules; i++)
        off |= pct_symbols_state(pct_data_symbols(h->d), i) == PCT_SYMBOLS_OFF;
    if (off)
        pct_head_item(h, "symbols",
                      "pcollect was built without libdw: functions are shown as offsets");
    const char *remark;
    for (size_t i = 0; (remark = pct_symbols_remark(pct_data_symbols(h->d), i)); i++)
        pct_head_item(h, "symbols", remark);
    for (size_t i = 0; pct_head_context_notes[i]; i++) {
        pct_head_context_notes[i](h, b);
        pct_head_put(h, "note", b);
    }
}

static void put_filter(const struct pct_head *h)
{
    if (is_part(h))
        pct_head_item(
            h, "part",
            "functions and contexts below are those of the selected part; the figures of the "
            "run and its ranks are of the whole run");
}

void pct_head_missing(const struct pct_head *h, struct pct_buf *b)
{
    pct_head_incomplete(h, b);
    pct_head_put(h, "incomplete", b);
    pct_head_ended(h, b);
    pct_head_put(h, "at the end", b);
    if (h->d->totals->all.n_missing) {
        put_missing(h, b);
        pct_head_put(h, "missing", b);
    }
    put_filter(h);
    put_lost(h, b);
    put_notes(h, b);
}
