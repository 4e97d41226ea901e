/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rules about one MPI function in one place: number, bytes and time of its calls. All of them leave
 * out waiting for the rank that computes longest.
 */
#include "analysis/findings/findings.h"

#include "libcollect/state/ops.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Fewer bytes per call than this are few. */
#define FEW_BYTES 1024.0

static double own_ns(const struct pct_evidence *f, const struct pct_fact *fact)
{
    (void)f;
    return pct_fact_own_ns(fact);
}

/* Time that the calls themselves take. */
static double cost_ns(const struct pct_evidence *f, const struct pct_fact *fact)
{
    return pct_fact_own_ns(fact) - pct_fact_late_ns(f, fact);
}

/* Cost of calls of which more than `many` a rank are too many. */
static struct pct_call_cost cost_of_calls(const struct pct_evidence *f, const struct pct_rule *rule,
                                          double threshold, const struct pct_fact *fact,
                                          double many)
{
    double ns = pct_fact_own_ns(fact);
    return pct_finding_cost(f, rule, threshold, ns, ns, ns, pct_fact_rank_calls(f, fact) / many);
}

static bool is_send(const struct pct_fact *fact)
{
    return fact->op_class == PCOLLECT_CLASS_P2P && fact->is_message && fact->bytes_sent > 0;
}

/* Time of messages in one function, and the place with most of it. */
struct message_time {
    double ns, most_ns;
    const struct pct_fact *most;
};

static void add_messages(struct message_time *to, const struct pct_fact *fact, double ns)
{
    to->ns += ns;
    if (ns > to->most_ns) {
        to->most_ns = ns;
        to->most = fact;
    }
}

/* Time of all messages of few bytes in the function of a send: a send and its receive belong
 * together. Calls without bytes of their own, such as MPI_Wait, count only if the function has no
 * larger messages to which they may belong. */
static struct message_time message_time(const struct pct_evidence *f, const struct pct_fact *send,
                                        double (*time_of)(const struct pct_evidence *,
                                                          const struct pct_fact *))
{
    struct message_time small = {.ns = 0}, all = {.ns = 0}, alone = {.ns = 0};
    bool large = false;
    for (size_t i = 0; i < f->n; i++) {
        const struct pct_fact *fact = &f->list[i];
        if (!fact->is_message || !fact->function || !send->function ||
            strcmp(fact->function, send->function) != 0)
            continue;
        double bytes = pct_fact_call_bytes(fact);
        large |= bytes >= FEW_BYTES;
        if (bytes > 0 && bytes < FEW_BYTES)
            add_messages(&small, fact, time_of(f, fact));
        if (bytes < FEW_BYTES)
            add_messages(&all, fact, time_of(f, fact));
    }
    add_messages(&alone, send, time_of(f, send));
    if (!large && all.ns > alone.ns)
        return all;
    return small.ns > alone.ns ? small : alone;
}

/* " Most of it is in MPI_Waitall in exchange (a.c:31)." of another call than the send, if that is
 * so with waits for ranks that are late and without them; else "". Interned. */
static const char *main_message(const struct pct_evidence *f, const struct pct_fact *send,
                                const struct message_time *sure, const struct message_time *most)
{
    struct pct_buf b = {0};
    pct_buf_put(&b, "", 0);
    if (most->most && most->most != send && most->most == sure->most &&
        most->most_ns > most->ns / 2 && sure->most_ns > sure->ns / 2)
        pct_buf_format(&b, " Most of it is in %s.", most->most->place);
    const char *text = pct_pool_intern(f->pool, b.data);
    pct_buf_free(&b);
    return text;
}

static void find_small(const struct pct_evidence *f, const struct pct_rule *rule, double threshold,
                       struct pct_findings *out)
{
    const struct pct_fact *most = NULL;
    for (size_t i = 0; i < f->n; i++) {
        const struct pct_fact *fact = &f->list[i];
        if (is_send(fact) && pct_fact_call_bytes(fact) < FEW_BYTES &&
            pct_fact_rank_calls(f, fact) > PCT_MANY_CALLS && (!most || fact->calls > most->calls))
            most = fact;
    }
    if (!most)
        return;
    struct message_time sure = message_time(f, most, cost_ns), all = message_time(f, most, own_ns);
    struct pct_call_cost cost = pct_finding_cost(f, rule, threshold, 0.9 * sure.ns, sure.ns, all.ns,
                                                 pct_fact_rank_calls(f, most) / PCT_MANY_CALLS);
    if (cost.text)
        pct_finding_say_cost(
            out, f, rule, cost, pct_more_call(f, most),
            "%s sends %s of %s on average: with their receives, %s.%s %s", most->place,
            pct_fact_how_many(f, most, "messages"), pct_finding_bytes(f, pct_fact_call_bytes(most)),
            cost.text, main_message(f, most, &sure, &all),
            pct_fact_cure(f, most,
                          "Pack messages for one receiver into one, or exchange less often."));
}

/* True if the program has windows: a barrier may order accesses to them. */
static bool has_windows(const struct pct_evidence *f)
{
    for (size_t i = 0; i < f->n; i++)
        if (f->list[i].op_class == PCOLLECT_CLASS_RMA)
            return true;
    return false;
}

static void find_barrier(const struct pct_evidence *f, const struct pct_rule *rule,
                         double threshold, struct pct_findings *out)
{
    for (size_t i = 0; i < f->n; i++) {
        const struct pct_fact *fact = &f->list[i];
        if (strcmp(fact->op, "MPI_Barrier") != 0 || pct_fact_rank_calls(f, fact) < 2)
            continue;
        struct pct_call_cost cost = cost_of_calls(f, rule, threshold, fact, PCT_MANY_CALLS);
        if (cost.text)
            pct_finding_say_cost(
                out, f, rule, cost, pct_more_call(f, fact), "%s is called %s: %s. %s", fact->place,
                pct_fact_how_many(f, fact, "times"), cost.text,
                pct_fact_cure(f, fact,
                              has_windows(f) ? "Messages and collective operations need no "
                                               "barrier around them; accesses to a window may "
                                               "need it."
                                             : "Messages and collective operations need no "
                                               "barrier around them."));
    }
}

/* True for a collective operation that moves values. */
static bool is_of_values(const struct pct_fact *fact)
{
    return fact->op_class == PCOLLECT_CLASS_COLL && fact->traits & PCOLLECT_TRAIT_MOVES &&
           !(fact->traits & PCOLLECT_TRAIT_PERSISTENT);
}

/* A row of the table `collectives`. */
struct collective {
    int64_t root; /* below 0: none */
    uint64_t domain;
};

/* The next row of an operation from *row on, which is moved behind it; false: there is none. */
static bool next_collective(const struct pct_evidence *f, const struct pct_fact *fact,
                            uint32_t *row, struct collective *out)
{
    const struct pc_profile *p = f->data->profile;
    const struct pc_profile_table *t = pc_profile_table(p, "collectives");
    uint32_t operation = pc_table_column(t, "operation", PCOLLECT_COLUMN_STRING),
             root = pc_table_column(t, "root", PCOLLECT_COLUMN_RANK),
             domain = pc_table_column(t, "domain", PCOLLECT_COLUMN_DOMAIN);
    if (operation == PC_NO_INDEX || root == PC_NO_INDEX || domain == PC_NO_INDEX)
        return false;
    for (; *row < t->n_rows; ++*row)
        if (!strcmp(pc_profile_string(p, pc_table_cell(t, *row, operation)), fact->op)) {
            *out = (struct collective){(int64_t)pc_table_cell(t, *row, root),
                                       pc_table_cell(t, *row, domain)};
            ++*row;
            return true;
        }
    return false;
}

/* True if one rank is the root of all calls of the operation, wherever they are made. */
static bool has_one_root(const struct pct_evidence *f, const struct pct_fact *fact)
{
    struct collective here;
    int64_t root = -1;
    for (uint32_t row = 0; next_collective(f, fact, &row, &here);) {
        if (here.root < 0 || (root >= 0 && here.root != root))
            return false;
        root = here.root;
    }
    return root >= 0;
}

static void find_rooted(const struct pct_evidence *f, const struct pct_rule *rule, double threshold,
                        struct pct_findings *out)
{
    for (size_t i = 0; i < f->n; i++) {
        const struct pct_fact *fact = &f->list[i];
        if (!(fact->traits & PCOLLECT_TRAIT_PARTS) || pct_fact_call_bytes(fact) < FEW_BYTES ||
            !has_one_root(f, fact))
            continue;
        pct_finding_add(out, f, rule, threshold, pct_fact_own_ns(fact), pct_more_call(f, fact),
                        "%s moves all data through one rank: %s. Keep the data "
                        "distributed, or let all ranks write them.",
                        fact->place, pct_finding_loss(f, rule, pct_fact_own_ns(fact)));
    }
}

/* Number of members of a communicator, from a table in the order of their ids; 0: not known. */
static uint64_t size_of(const struct pc_profile_table *t, uint64_t id)
{
    uint32_t domain = pc_table_column(t, "domain", PCOLLECT_COLUMN_DOMAIN),
             size = pc_table_column(t, "size", PCOLLECT_COLUMN_NUMBER), first = 0, end = t->n_rows;
    while (first < end) {
        uint32_t middle = first + (end - first) / 2;
        uint64_t at = pc_table_cell(t, middle, domain);
        if (at == id)
            return pc_table_cell(t, middle, size);
        if (at < id)
            first = middle + 1;
        else
            end = middle;
    }
    return 0;
}

/* Number of ranks that take part in a call of the operation, at least; 0: not known. The plugin
 * `domain` tells it. Without it, a communicator has all ranks if it is the only one of the
 * operation and all ranks call. */
static uint64_t count_members(const struct pct_evidence *f, const struct pct_fact *fact)
{
    const struct pc_profile_table *sizes = pc_profile_table(f->data->profile, "communicators");
    bool all_call = f->bounds || fact->n_callers == f->n_ranks;
    struct collective here;
    uint64_t least = 0, first = 0;
    for (uint32_t row = 0; next_collective(f, fact, &row, &here);) {
        bool is_only = !first || first == here.domain;
        uint64_t size = sizes ? size_of(sizes, here.domain) : is_only && all_call ? f->n_ranks : 0;
        if (!size)
            return 0;
        first = here.domain;
        least = least && least < size ? least : size;
    }
    return least;
}

/* Fewer bytes than this for each of the others are few. */
#define FEW_BYTES_EACH 64.0

/* Bytes of a call for each of the ranks that take part; below 0: not known, or no rule is about it.
 */
static double bytes_each(const struct pct_evidence *f, const struct pct_fact *fact)
{
    enum { DENSE = PCOLLECT_TRAIT_EACH | PCOLLECT_TRAIT_COUNTS };
    if ((fact->traits & DENSE) != DENSE || pct_fact_rank_calls(f, fact) < 2)
        return -1;
    uint64_t n = count_members(f, fact);
    return n > 2 ? pct_fact_call_bytes(fact) / (double)n : -1;
}

static bool is_dense(const struct pct_evidence *f, const struct pct_fact *fact)
{
    double each = bytes_each(f, fact);
    return each >= 0 && each < FEW_BYTES_EACH;
}

static void find_dense(const struct pct_evidence *f, const struct pct_rule *rule, double threshold,
                       struct pct_findings *out)
{
    for (size_t i = 0; i < f->n; i++) {
        const struct pct_fact *fact = &f->list[i];
        if (!is_dense(f, fact))
            continue;
        struct pct_call_cost cost = cost_of_calls(f, rule, threshold, fact, PCT_MANY_CALLS);
        if (cost.text)
            pct_finding_say_cost(
                out, f, rule, cost, pct_more_call(f, fact),
                "%s exchanges %s with each rank on average, %s. %s", fact->place,
                pct_finding_bytes(f, bytes_each(f, fact)), cost.text,
                pct_fact_cure(f, fact,
                              "If only few pairs have data to exchange, use messages, or "
                              "MPI_Neighbor_alltoallv."));
    }
}

/* Places of the rule `dense-collective` are told there. */
static void find_reductions(const struct pct_evidence *f, const struct pct_rule *rule,
                            double threshold, struct pct_findings *out)
{
    for (size_t i = 0; i < f->n; i++) {
        const struct pct_fact *fact = &f->list[i];
        if (!is_of_values(fact) || pct_fact_rank_calls(f, fact) <= PCT_MANY_CALLS ||
            pct_fact_call_bytes(fact) >= FEW_BYTES || (!f->bounds && is_dense(f, fact)))
            continue;
        struct pct_call_cost cost =
            pct_finding_cost(f, rule, threshold, 0.9 * cost_ns(f, fact), cost_ns(f, fact),
                             own_ns(f, fact), pct_fact_rank_calls(f, fact) / PCT_MANY_CALLS);
        if (cost.text)
            pct_finding_say_cost(out, f, rule, cost, pct_more_call(f, fact),
                                 "%s is called %s for %s on average: %s. %s", fact->place,
                                 pct_fact_how_many(f, fact, "times"),
                                 pct_finding_bytes(f, pct_fact_call_bytes(fact)), cost.text,
                                 pct_fact_cure(f, fact, "Put several values into one call."));
    }
}

/* Operations that were started in a place and never completed. */
struct left {
    const char *place;
    uint64_t n;
};

static int by_place(const void *a, const void *b)
{
    return strcmp(((const struct left *)a)->place, ((const struct left *)b)->place);
}

/* Adds up the rows of each place. Returns the place with most, the first by name of several; its n
 * is 0 if there is none. */
static struct left most_left(struct left *rows, size_t n)
{
    struct left most = {0}, here = {0};
    qsort(rows, n, sizeof *rows, by_place);
    for (size_t i = 0; i < n; i++) {
        if (!i || by_place(&rows[i - 1], &rows[i]) != 0)
            here = (struct left){.place = rows[i].place};
        here.n += rows[i].n;
        if (here.n > most.n)
            most = here;
    }
    return most;
}

/* Finds the place that started most operations that were never completed, from the table
 * `requests`, which has a row for each context. */
static void find_unfinished(const struct pct_evidence *f, const struct pct_rule *rule,
                            double threshold, struct pct_findings *out)
{
    const struct pc_profile_table *t = pc_profile_table_in_order(f->data->profile, "requests");
    uint32_t start = pc_table_column(t, "start", PCOLLECT_COLUMN_NODE),
             never = pc_table_column(t, "never", PCOLLECT_COLUMN_NUMBER);
    uint64_t n = 0;
    size_t n_rows = 0;
    struct left *rows = pct_alloc(t ? t->n_rows : 0, sizeof *rows);
    for (uint32_t row = 0; t && row < t->n_rows; row++) {
        uint64_t node = pc_table_cell(t, row, start), left = pc_table_cell(t, row, never);
        n += left;
        if (!left || !node)
            continue;
        uint32_t call = pct_totals_call(f->data->profile, (uint32_t)node);
        rows[n_rows++] = (struct left){pct_finding_place(f, call), left};
    }
    const struct left most = most_left(rows, n_rows);
    pct_free(rows);
    const char *all = pct_finding_number(f, (double)n);
    if (most.n && most.n == n)
        pct_finding_add(out, f, rule, threshold, 0, pct_more_table("requests"),
                        n == 1 ? "%s operation, started by %s, was never completed. Complete it by "
                                 "MPI_Wait or MPI_Test: until then its buffer belongs to MPI."
                               : "%s operations, all started by %s, were never completed. Complete "
                                 "each by MPI_Wait or MPI_Test: until then its buffer belongs to "
                                 "MPI.",
                        all, most.place);
    else if (most.n)
        pct_finding_add(out, f, rule, threshold, 0, pct_more_table("requests"),
                        "%s operations were never completed, %s of them started by %s. Complete "
                        "each by MPI_Wait or MPI_Test: until then its buffer belongs to MPI.",
                        all, pct_finding_number(f, (double)most.n), most.place);
}

static void find_synchronous(const struct pct_evidence *f, const struct pct_rule *rule,
                             double threshold, struct pct_findings *out)
{
    for (size_t i = 0; i < f->n; i++) {
        const struct pct_fact *fact = &f->list[i];
        if (fact->traits & PCOLLECT_TRAIT_SYNCHRONOUS)
            pct_finding_add(out, f, rule, threshold, pct_fact_own_ns(fact), pct_more_call(f, fact),
                            "%s waits until its receive has started, %s. %s", fact->place,
                            pct_finding_loss(f, rule, pct_fact_own_ns(fact)),
                            pct_fact_cure(f, fact, "MPI_Send need not wait for that."));
    }
}

/* ", with other tests in poll and the code of these functions", of the loop of a place that was
 * named. */
static void put_loop(const struct pct_polling_loop *loop, bool has_code, struct pct_buf *b)
{
    pct_buf_put(b, "", 0);
    const char *told = loop->most->most_from.function;
    if (loop->n > 1 && !loop->caller) {
        pct_buf_text(b, ", with other tests in the same function");
    } else if (loop->n > 1 && pct_is_same_text(loop->caller->function, told)) {
        pct_buf_text(b, ", with other tests there");
    } else if (loop->n > 1) {
        pct_buf_text(b, ", with other tests in ");
        pct_finding_put_function(b, loop->caller->function, NULL, 0);
    }
    if (has_code)
        pct_buf_text(b, loop->n > 1 ? " and the code of these functions"
                                    : ", with the code of this function");
}

static void find_polling(const struct pct_evidence *f, const struct pct_rule *rule,
                         double threshold, struct pct_findings *out)
{
    size_t n;
    struct pct_polling_loop *loops = pct_finding_polling_loops(f, threshold, &n);
    for (size_t i = 0; i < n; i++) {
        const struct pct_polling_loop *loop = &loops[i];
        const struct pct_fact *most = loop->most;
        double ns = loop->ns + loop->code_ns;
        struct pct_call_cost cost = pct_finding_cost(
            f, rule, threshold, ns, ns, ns, loop->calls / (double)f->n_ranks / PCT_MANY_TESTS);
        if (!cost.text)
            continue;
        struct pct_buf b = {0};
        put_loop(loop, pct_finding_percent(f, loop->code_ns) >= 0.5, &b);
        pct_finding_say_cost(
            out, f, rule, cost, loop->n > 1 ? pct_more_table("contexts") : pct_more_call(f, most),
            "%s is called %s%s: %s. %s", most->place, pct_fact_how_many(f, most, "times"), b.data,
            cost.text,
            pct_fact_cure(
                f, most,
                most->traits & PCOLLECT_TRAIT_TESTS
                    ? "Wait instead, or compute longer between two tests."
                    : "If it is called until another rank has written something, wait for a "
                      "message instead."));
        pct_buf_free(&b);
    }
    pct_free(loops);
}

static void find_overlap(const struct pct_evidence *f, const struct pct_rule *rule,
                         double threshold, struct pct_findings *out)
{
    for (size_t i = 0; i < f->n; i++) {
        const struct pct_fact *fact = &f->list[i];
        double hidden = fmin(pct_fact_own_ns(fact), f->compute_mean_ns * (double)f->n_ranks);
        if (fact->traits & PCOLLECT_TRAIT_WAITS)
            pct_finding_add(
                out, f, rule, threshold, hidden, pct_more_call(f, fact), "%s takes %s. %s",
                fact->place, pct_finding_loss(f, rule, pct_fact_own_ns(fact)),
                pct_fact_cure(f, fact,
                              "Compute between the start of these operations and the wait; "
                              "where the program does so, MPI does not move the data meanwhile "
                              "unless it is called: call MPI_Test there."));
    }
}

/* ---- All ------------------------------------------------------------------------------------- */

static const struct pct_rule rows[] = {
    {"small-messages", 0.05, "many messages of few bytes", find_small, false},
    {"barrier", 0.05, "time in MPI_Barrier", find_barrier, false},
    {"many-collectives", 0.05, "many collective operations of few bytes", find_reductions, false},
    {"rooted", 0.05, "all data go to or come from one rank", find_rooted, false},
    {"dense-collective", 0.05, "an exchange of all ranks with all, of which few need it",
     find_dense, false},
    {"unfinished", 0, "operations that were started and never completed", find_unfinished, true},
    {"synchronous-send", 0.05, "sends that wait until their receive has started", find_synchronous,
     false},
    {"polling", 0.05, "tests, probes and MPI_Win_sync called again and again", find_polling, false},
    {"overlap", 0.05, "waits for nonblocking operations", find_overlap, false},
};
const struct pct_rules pct_call_rules = {rows, PC_ARRAY_LEN(rows)};
