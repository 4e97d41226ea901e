/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rules about the threads of a rank: one that computes longest, and waits for each other.
 */
#include "analysis/findings/findings.h"
#include "analysis/student.h"
#include "analysis/tree/samples.h"
#include "format/team_runtime.h"

#include <math.h>
#include <string.h>

/* ---- One thread ahead ------------------------------------------------------------------------ */

/* The lead of a thread counts if it is this part of the rank's time. */
#define LONG 0.5
/* Waits of threads for each other count if they are this part of their CPU time outside MPI. */
#define LONG_WAITS 0.2

struct thread_leads {
    struct pct_thread_lead most; /* of the rank that would save most */
    size_t n;                    /* ranks with one */
    double saves_ns;             /* of all */
};

static void add_lead(const struct pct_evidence *f, struct thread_leads *all,
                     const struct pct_thread_lead *lead)
{
    const struct pct_thread_time *t = lead->busiest;
    if (!t || t->work_ns + (double)t->delayed_ns <
                  LONG * (double)pct_totals_run_ns(&f->data->profile->ranks[t->rank]))
        return;
    all->n++;
    all->saves_ns += lead->saves_ns;
    if (lead->saves_ns > all->most.saves_ns)
        all->most = *lead;
}

/* The end of the threads of the rank that begin at `first`. */
static size_t end_of_rank(const struct pct_thread_times *t, size_t first)
{
    size_t end = first + 1;
    while (end < t->n && t->list[end].rank == t->list[first].rank)
        end++;
    return end;
}

static struct thread_leads find_leads(const struct pct_evidence *f)
{
    const struct pct_thread_times *t = pct_data_thread_times(f->data);
    struct thread_leads all = {.n = 0};
    for (size_t first = 0, end; first < t->n; first = end) {
        end = end_of_rank(t, first);
        struct pct_thread_lead lead =
            pct_thread_times_lead(t, first, end, PCT_LEAD_FALSE / (double)t->n);
        add_lead(f, &all, &lead);
    }
    return all;
}

/* "the other 3 threads of its team, 1.2 s on average, wait for it". Threads of the program need not
 * be a team. */
static void put_other_threads(const struct pct_thread_lead *lead, struct pct_buf *b)
{
    bool one = lead->n == 2, team = strcmp(lead->busiest->kind, "program") != 0;
    char others[PCT_NUMBER_BYTES], n[32] = "";
    if (!one)
        pct_text_format(n, sizeof n, "%zu ", lead->n - 1);
    pct_buf_format(b, "the other %sthread%s %s, %s%s", n, one ? "" : "s",
                   team ? "of its team" : "that the program made",
                   pct_text_time(others, (pc_u128)llround(lead->others_ns)),
                   one ? "" : " on average");
    if (team)
        pct_buf_text(b, one ? ", waits for it" : ", wait for it");
}

/* Finds a thread that works longer than the others, unless it may have polled for locks. */
static void find_threads(const struct pct_evidence *f, const struct pct_rule *rule,
                         double threshold, struct pct_findings *out)
{
    struct thread_leads all = find_leads(f);
    const struct pct_thread_time *t = all.most.busiest;
    char most[PCT_NUMBER_BYTES], ranks[48] = "";
    if (!t || all.saves_ns < threshold * pct_finding_own_core_ns(f) ||
        pct_finding_spinning(f).ns > PCT_LEAD_LARGE * all.saves_ns)
        return;
    if (all.n > 1)
        pct_text_format(ranks, sizeof ranks, "%s ranks have such a thread. ",
                        pct_finding_number(f, (double)all.n));
    bool team = strcmp(t->kind, "program") != 0;
    struct pct_buf others = {0};
    put_other_threads(&all.most, &others);
    pct_finding_say(out, f, rule, all.saves_ns,
                    pct_more_rank("thread_times", pct_finding_rank(f, t->rank)),
                    "Thread %llu of rank %d computes for %s, and %s: %s. %s%s the work "
                    "of the threads more evenly, or hand it out in smaller pieces.",
                    (unsigned long long)t->number, pct_finding_rank(f, t->rank),
                    pct_text_time(most, (pc_u128)llround(t->work_ns)), others.data,
                    pct_finding_share(f, all.saves_ns), ranks,
                    team ? "Divide" : "If these wait for it, divide");
    pct_buf_free(&others);
}

/* ---- Waits for each other -------------------------------------------------------------------- */

/* Waits of threads for each other, in ranks that have several. */
struct thread_waits {
    double outside_ns, waits_ns; /* CPU time of all threads outside MPI, and waits in it */
    double main_ns, variance;    /* waits of main threads that no delay of another explains */
    double most_ns;              /* of the rank with most of main_ns */
    size_t most;
};

/* Adds the threads of a rank: those from `first` on, up to `end`. The main thread waits for a
 * processor as long as another thread does that it waits for. */
static void add_waits(const struct pct_thread_times *t, size_t first, size_t end,
                      struct thread_waits *all)
{
    const struct pct_thread_time *main = NULL;
    double outside_ns = 0, waits_ns = 0, delayed_ns = 0;
    size_t n = 0;
    for (size_t i = first; i < end; i++) {
        if (!pct_thread_is_program(&t->list[i]))
            continue;
        n++;
        outside_ns += (double)t->list[i].outside_ns;
        waits_ns += (double)t->list[i].waits_ns;
        if (!strcmp(t->list[i].kind, "main"))
            main = &t->list[i];
        else
            delayed_ns += (double)t->list[i].delayed_ns;
    }
    if (n < 2 || !main)
        return;
    double own_ns = fmax(0, (double)main->waits_ns - delayed_ns);
    all->outside_ns += outside_ns;
    all->waits_ns += waits_ns;
    all->main_ns += own_ns;
    all->variance += main->variance;
    if (own_ns > all->most_ns) {
        all->most_ns = own_ns;
        all->most = main->rank;
    }
}

/* The runtime of threads in which most samples are. */
static const char *runtime_name(const struct pct_evidence *f)
{
    const struct pc_profile *p = f->data->profile;
    pc_u128 *ns = pct_alloc(p->n_modules, sizeof *ns);
    const char *name = NULL;
    pc_u128 most = 0;
    for (uint32_t i = 0; i < p->n_nodes; i++) {
        uint32_t module = p->nodes[i].module;
        if (module == PC_NO_INDEX || !pc_is_team_runtime(pc_base_name(p->modules[module].path)))
            continue;
        ns[module] += pct_samples_of(pct_data_samples(f->data), i).ns;
        if (ns[module] > most) {
            most = ns[module];
            name = pc_base_name(p->modules[module].path);
        }
    }
    pct_free(ns);
    return name ? name : "the runtime of threads";
}

/* Finds threads that poll for each other for long. One that works longer than the others is for the
 * rule `threads`. What killed ranks may have waited for a processor is no part of the run. */
static void find_polling(const struct pct_evidence *f, const struct pct_rule *rule,
                         double threshold, struct pct_findings *out)
{
    const struct pct_thread_times *t = pct_data_thread_times(f->data);
    struct thread_waits all = {.most = 0};
    double run_ns = f->core_ns - f->times->all_delayed_ns, lost_ns = 0;
    char most[PCT_NUMBER_BYTES];
    for (size_t first = 0, end; first < t->n; first = end) {
        end = end_of_rank(t, first);
        add_waits(t, first, end, &all);
    }
    for (size_t r = 0; r < f->n_ranks; r++)
        lost_ns += f->times->list[r].lost_ns;
    double low_ns = all.main_ns - pct_normal_above(PCT_LEAD_FALSE) * sqrt(all.variance);
    if (!(all.main_ns > 0) || all.waits_ns < LONG_WAITS * all.outside_ns ||
        low_ns < threshold * fmax(0, run_ns - lost_ns) ||
        find_leads(f).saves_ns >= threshold * pct_finding_own_core_ns(f))
        return;
    bool works = pct_data_runtime_works(f->data);
    pct_finding_say(
        out, f, rule, all.main_ns, pct_more_rank("thread_times", pct_finding_rank(f, all.most)),
        "Threads %s for %.0f %% of their CPU time%s, in %s: "
        "main threads for %s, most on rank %d (%s).%s %s",
        works ? "wait for each other, or their runtime works," : "wait for each other",
        100 * all.waits_ns / all.outside_ns, pct_finding_outside(f), runtime_name(f),
        pct_finding_share(f, all.main_ns), pct_finding_rank(f, all.most),
        pct_text_time(most, (pc_u128)llround(all.most_ns)),
        lost_ns > 0 ? " Part of it may be because one waited for a processor, which is "
                      "not known of killed ranks."
                    : "",
        works ? "Fewer and larger tasks, or parts of loops, are less work for the runtime."
              : "Give each thread a processor of its own; then divide their work "
                "evenly, or let them do more of it between two waits.");
}

/* CPU time of the program's threads outside MPI. */
static double outside_ns(const struct pct_evidence *f)
{
    const struct pct_thread_times *t = pct_data_thread_times(f->data);
    double ns = 0;
    for (size_t i = 0; i < t->n; i++)
        ns += pct_thread_is_program(&t->list[i]) ? (double)t->list[i].outside_ns : 0;
    return ns;
}

/* Finds threads that poll for locks for long. The saving is the mean of the threads that work. Of
 * threads that are not known it says nothing, nor if many samples are from before MPI_Init. */
static void find_spinning(const struct pct_evidence *f, const struct pct_rule *rule,
                          double threshold, struct pct_findings *out)
{
    if (!pct_thread_times_wait(pct_data_thread_times(f->data), f->data->profile))
        return;
    struct pct_spinning spins = pct_finding_spinning(f);
    double all_ns = outside_ns(f), n = fmax(1, f->times->n_working);
    double low_ns = spins.ns - pct_normal_above(PCT_LEAD_FALSE) * sqrt(spins.variance);
    char time[PCT_NUMBER_BYTES];
    if (spins.samples < PCT_SAMPLES_FEW || !spins.place || spins.ns > all_ns ||
        spins.ns < LONG_WAITS * all_ns || low_ns / n < threshold * pct_finding_own_core_ns(f))
        return;
    pct_finding_say(out, f, rule, spins.ns / n, pct_more_table("contexts"),
                    "Threads poll for locks for %.0f %% of their CPU time%s (%s), most in %s. Hold "
                    "these locks for less time, or give each thread data of its own.",
                    100 * spins.ns / all_ns, pct_finding_outside(f),
                    pct_text_time(time, (pc_u128)llround(spins.ns)), spins.place);
}

/* Threads of a rank that may compute by turns. */
struct turns {
    double blocked_ns; /* the main thread, surely outside MPI; 0: they do not */
    double others_ns;  /* work of the other threads */
    size_t n_others;
};

/* Part of a thread's work from which it works, too, and by which the others may work longer than
 * the main thread is blocked, since some work goes on beside it. */
#define WORKS 0.1
#define BESIDE 0.25

/* Looks at the threads of a rank: those from `first` on, up to `end`. Where several work at the
 * same time while the main thread waits for them, they work longer than it is blocked. */
static struct turns look_at_turns(const struct pct_evidence *f, size_t first, size_t end)
{
    const struct pct_thread_time *list = pct_data_thread_times(f->data)->list;
    const struct pct_rank_time *rank = &f->times->list[list[first].rank];
    struct turns turns = {.blocked_ns = fmin(rank->either_ns, rank->blocked_low_ns)};
    double main_ns = 0, most_ns = 0;
    for (size_t i = first; i < end; i++) {
        if (!pct_thread_is_program(&list[i]))
            continue;
        if (!strcmp(list[i].kind, "main")) {
            main_ns = list[i].work_ns;
            continue;
        }
        most_ns = fmax(most_ns, list[i].work_ns);
        turns.others_ns += list[i].work_ns;
        if (list[i].work_ns > 0)
            turns.n_others += list[i].n_threads > 1 ? list[i].n_threads : 1;
    }
    if (!(most_ns > 0) || main_ns < WORKS * most_ns ||
        turns.others_ns > (1 + BESIDE) * turns.blocked_ns)
        turns.blocked_ns = 0;
    return turns;
}

/* Finds main threads that are blocked while others may work in their place. Samples count CPU time,
 * so few are in the calls that wait. */
static void find_turns(const struct pct_evidence *f, const struct pct_rule *rule, double threshold,
                       struct pct_findings *out)
{
    const struct pct_thread_times *t = pct_data_thread_times(f->data);
    struct turns most = {.blocked_ns = 0};
    char blocked[PCT_NUMBER_BYTES], others[PCT_NUMBER_BYTES], n[32] = "";
    double ns = 0;
    uint32_t rank = 0;
    for (size_t first = 0, end; first < t->n; first = end) {
        end = end_of_rank(t, first);
        struct turns turns = look_at_turns(f, first, end);
        ns += turns.blocked_ns;
        if (turns.blocked_ns > most.blocked_ns) {
            most = turns;
            rank = t->list[first].rank;
        }
    }
    if (!(ns > 0) || !f->times->divided || ns < threshold * pct_finding_own_core_ns(f))
        return;
    if (most.n_others > 1)
        pct_text_format(n, sizeof n, "%zu ", most.n_others);
    pct_finding_say(
        out, f, rule, ns, pct_more_rank("thread_times", pct_finding_rank(f, rank)),
        "Main threads are blocked%s for at least %s, most on rank %d (%s), whose other %sthread%s "
        "for %s%s: they may compute by turns, as threads do that wait for one lock.%s If they do, "
        "hold locks for less time.",
        pct_finding_outside(f), pct_finding_share(f, ns), pct_finding_rank(f, rank),
        pct_text_time(blocked, (pc_u128)llround(most.blocked_ns)), n,
        most.n_others > 1 ? "s compute" : " computes",
        pct_text_time(others, (pc_u128)llround(most.others_ns)), most.n_others > 1 ? " in all" : "",
        pct_finding_blocking_calls(f));
}

static void find_thread_waits(const struct pct_evidence *f, const struct pct_rule *rule,
                              double threshold, struct pct_findings *out)
{
    find_polling(f, rule, threshold, out);
    find_spinning(f, rule, threshold, out);
    find_turns(f, rule, threshold, out);
}

/* ---- All ------------------------------------------------------------------------------------- */

static const struct pct_rule rows[] = {
    {"threads", 0.05, "one thread of a rank computes longer than the others of its team",
     find_threads, true},
    {"thread-waits", 0.05, "threads wait for each other for long, in a runtime or for locks",
     find_thread_waits, true},
};
const struct pct_rules pct_thread_rules = {rows, PC_ARRAY_LEN(rows)};
