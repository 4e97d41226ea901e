/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rules that compare ranks: who computes longest, who handles most messages, who waits in a row.
 */
#include "analysis/findings/findings.h"

#include <math.h>
#include <string.h>

static double percent(const struct pct_evidence *f, double ns)
{
    return 100 * ns / f->core_ns;
}

static int32_t rank_at(const struct pct_evidence *f, size_t index)
{
    return f->data->profile->ranks[index].rank;
}

/* The context in which most waiting was excused; NULL: none. */
static const struct pct_fact *main_wait(const struct pct_evidence *f)
{
    const struct pct_fact *most = NULL;
    for (size_t i = 0; i < f->n; i++) {
        if (f->list[i].excused_ns > 0 && (!most || f->list[i].excused_ns > most->excused_ns))
            most = &f->list[i];
    }
    return most;
}

/* ---- The rank that takes longest ------------------------------------------------------------- */

/* " in solve (a.c:30), where it spends 1.2 s" of the function that makes the difference; "" if
 * nothing was sampled. */
static void put_busy_place(const struct pct_busy_place *where, struct pct_buf *b)
{
    char time[PCT_NUMBER_BYTES];
    pct_buf_put(b, "", 0);
    if (!where->function.function)
        return;
    pct_buf_text(b, " in ");
    pct_finding_put_function(b, where->function.function, where->function.file,
                             where->function.line);
    if (where->call)
        pct_buf_format(b, " in the system call %s", where->call);
    pct_buf_format(b, ", where it spends %s", pct_text_time(time, (pc_u128)llround(where->ns)));
}

static double waiting_ns(const struct pct_evidence *f)
{
    return f->lead.ns * (double)(f->n_ranks - 1);
}

/* Core-seconds of the run if nobody waited for a processor: as long as the busiest rank at least.
 */
static double own_core_ns(const struct pct_evidence *f)
{
    return fmax(f->core_ns - f->times->all_delayed_ns,
                f->times->list[f->times->busiest].own_ns * (double)f->n_ranks);
}

/* "the other 3 ranks wait 20 % of the run, most in MPI_Allreduce in main (a.c:3)" */
static const char *others_wait(const struct pct_evidence *f)
{
    const struct pct_fact *wait = main_wait(f);
    bool delayed = f->times->all_delayed_ns > 0.05 * f->core_ns;
    struct pct_buf b = {0};
    if (f->n_ranks == 2)
        pct_buf_text(&b, "the other rank waits ");
    else
        pct_buf_format(&b, "the other %zu ranks wait ", f->n_ranks - 1);
    pct_buf_format(&b, "%.0f %% of %s",
                   100 * waiting_ns(f) / (delayed ? own_core_ns(f) : f->core_ns),
                   delayed ? "what the run takes with a processor for each rank" : "the run");
    if (wait)
        pct_buf_format(&b, ", most in %s", wait->place);
    const char *text = pct_pool_intern(f->pool, b.data);
    pct_buf_free(&b);
    return text;
}

/* Most of the lead is time in which the rank was blocked. */
static bool is_blocked(const struct pct_evidence *f)
{
    const struct pct_rank_times *t = f->times;
    double own = t->list[t->busiest].blocked_ns;
    return t->divided && own - (t->blocked_ns - own) / (double)(f->n_ranks - 1) > f->lead.ns / 2;
}

/* The lead is sure, is more than equal work differs by, and costs `threshold` of the run, all
 * waiting for processors left out. */
static bool is_waited_for(const struct pct_evidence *f, double threshold)
{
    return f->n_ranks > 1 && f->lead.real && f->lead.low_ns > 0 &&
           f->lead.low_ns * (double)(f->n_ranks - 1) >= threshold * own_core_ns(f);
}

enum { ALONE = 4 }; /* times the mean of the others */

/* The busiest rank does far more than the others, or nothing is left of them. */
static bool is_alone(const struct pct_evidence *f)
{
    const struct pct_rank_times *t = f->times;
    double own = t->list[t->busiest].own_ns, others = own - f->lead.ns;
    return own > ALONE * others;
}

static void find_serial(const struct pct_evidence *f, const struct pct_rule *rule, double threshold,
                        struct pct_findings *out)
{
    if (!is_waited_for(f, threshold) || !is_alone(f) || is_blocked(f))
        return;
    struct pct_busy_place where = pct_finding_busy_place(f);
    struct pct_buf b = {0};
    put_busy_place(&where, &b);
    pct_finding_say(out, f, rule, waiting_ns(f),
                    pct_more_rank("ranks", rank_at(f, f->times->busiest)),
                    "Rank %d alone computes%s: %s. Divide this work, or let all ranks do it.",
                    rank_at(f, f->times->busiest), b.data, others_wait(f));
    pct_buf_free(&b);
}

static void find_imbalance(const struct pct_evidence *f, const struct pct_rule *rule,
                           double threshold, struct pct_findings *out)
{
    if (!is_waited_for(f, threshold) || is_alone(f) || is_blocked(f))
        return;
    double longer = pct_rank_times_imbalance(f->times);
    struct pct_busy_place where = pct_finding_busy_place(f);
    struct pct_buf b = {0};
    put_busy_place(&where, &b);
    pct_finding_say(
        out, f, rule, waiting_ns(f), pct_more_rank("ranks", rank_at(f, f->times->busiest)),
        "Rank %d computes %.0f %% longer than the mean%s: %s.%s", rank_at(f, f->times->busiest),
        100 * longer, b.data, others_wait(f), pct_finding_why_longer(f, longer));
    pct_buf_free(&b);
}

static void find_blocked(const struct pct_evidence *f, const struct pct_rule *rule,
                         double threshold, struct pct_findings *out)
{
    const struct pct_rank_times *t = f->times;
    char time[PCT_NUMBER_BYTES];
    size_t most = 0;
    if (is_waited_for(f, threshold) && is_blocked(f)) {
        pct_finding_say(out, f, rule, waiting_ns(f), pct_more_rank("ranks", rank_at(f, t->busiest)),
                        "Rank %d does not compute but is blocked outside MPI for %s: it sleeps, or "
                        "waits for a file, a lock or another process, and %s.%s",
                        rank_at(f, t->busiest),
                        pct_text_time(time, (pc_u128)llround(t->list[t->busiest].blocked_ns)),
                        others_wait(f), pct_finding_system_calls(f));
        return;
    }
    for (size_t r = 0; r < t->n; r++)
        most = t->list[r].blocked_ns > t->list[most].blocked_ns ? r : most;
    if (t->divided && t->blocked_ns > 0 && t->blocked_ns >= threshold * own_core_ns(f))
        pct_finding_say(out, f, rule, t->blocked_ns, pct_more_rank("ranks", rank_at(f, most)),
                        "The ranks are blocked outside MPI for %.0f %% of the run, most on rank %d "
                        "(%s): they sleep, or wait for files, locks or other processes.%s",
                        percent(f, t->blocked_ns), rank_at(f, most),
                        pct_text_time(time, (pc_u128)llround(t->list[most].blocked_ns)),
                        pct_finding_system_calls(f));
}

/* ---- Hub and chain ---------------------------------------------------------------------------
 */

static void find_hub(const struct pct_evidence *f, const struct pct_rule *rule, double threshold,
                     struct pct_findings *out)
{
    const struct pct_fact *most = NULL;
    double waits = 0, longest = 0;
    for (size_t i = 0; i < f->n; i++) {
        const struct pct_fact *fact = &f->list[i];
        double others =
            pct_finding_is_message(fact) ? fmax(0, fact->off_hub_ns - fact->excused_ns) : 0;
        waits += others;
        if (others > longest) {
            longest = others;
            most = fact;
        }
    }
    if (most && pct_finding_has_hub(f))
        pct_finding_add(out, f, rule, threshold, waits, pct_more_rank("ranks", rank_at(f, f->hub)),
                        "Rank %d takes part in almost every message: the other %zu ranks spend "
                        "%.0f %% of the run in exchanges with it, most in %s. Let ranks talk to "
                        "each other, or use a collective operation.",
                        rank_at(f, f->hub), f->n_ranks - 1, percent(f, waits), most->place);
}

/* The time to receive grows from rank to rank. */
static void find_chain(const struct pct_evidence *f, const struct pct_rule *rule, double threshold,
                       struct pct_findings *out)
{
    for (size_t i = 0; i < f->n && f->n_ranks >= 3; i++) {
        const struct pct_fact *fact = &f->list[i];
        double saves = fact->ns - fact->excused_ns;
        if (fabs(fact->trend) >= 0.9 &&
            fmin(fact->first_ns, fact->last_ns) < 0.25 * fmax(fact->first_ns, fact->last_ns))
            pct_finding_add(out, f, rule, threshold, saves, pct_more_call(f, fact),
                            "The ranks wait for each other one after the other: the wait in %s "
                            "grows from rank to rank, %.0f %% of the run in all. Pass the data on "
                            "in smaller pieces, or by a collective operation.",
                            fact->place, percent(f, saves));
    }
}

/* ---- All --------------------------------------------------------------------------------------
 */

static const struct pct_rule rows[] = {
    {"serial", 0.05, "one rank alone computes", find_serial, true},
    {"imbalance", 0.05, "one rank computes longer than the others, which wait for it",
     find_imbalance, true},
    {"blocked", 0.05, "ranks sleep or wait for files outside MPI", find_blocked, true},
    {"hub", 0.05, "one rank exchanges most messages", find_hub, false},
    {"chain", 0.05, "ranks wait for each other one after the other", find_chain, false},
};
const struct pct_rules pct_rank_rules = {rows, PC_ARRAY_LEN(rows)};
