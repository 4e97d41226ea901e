/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rules that compare ranks: the rank that computes longest, the one with most messages, ranks that
 * wait one after the other.
 */
#include "analysis/findings/findings.h"
#include "analysis/student.h"

#include <math.h>
#include <string.h>

/* The context in which most waiting was excused; NULL: none. */
static const struct pct_fact *main_wait(const struct pct_evidence *f)
{
    const struct pct_fact *most = NULL;
    for (size_t i = 0; i < f->n && !f->bounds; i++) {
        if (f->list[i].excused_ns > 0 && (!most || f->list[i].excused_ns > most->excused_ns))
            most = &f->list[i];
    }
    return most;
}

/* ---- The rank that takes longest ------------------------------------------------------------- */

/* True if several threads of the busiest rank have samples outside MPI. */
static bool has_several(const struct pct_evidence *f)
{
    const struct pct_thread_times *t = pct_data_thread_times(f->data);
    size_t n = 0;
    for (size_t i = 0; i < t->n; i++)
        if (t->list[i].rank == f->times->busiest && t->list[i].outside_ns > 0)
            n += t->list[i].n_threads > 1 ? t->list[i].n_threads : 1;
    return n > 1;
}

/* ", most of this in solve (a.c:30), where it spends 1.2 s" of the function that makes the
 * difference; "" if nothing was sampled. */
static void put_busy_place(const struct pct_evidence *f, const struct pct_busy_place *where,
                           struct pct_buf *b)
{
    char time[PCT_NUMBER_BYTES];
    pct_buf_put(b, "", 0);
    if (!where->function.function)
        return;
    pct_buf_format(b, ", %s of this in ", where->most ? "most" : "the largest part");
    pct_finding_put_function(b, where->function.function, where->function.file,
                             where->function.line);
    if (where->call)
        pct_buf_format(b, " in the system call %s", where->call);
    pct_buf_format(b, ", where it spends %s", pct_text_time(time, (pc_u128)llround(where->ns)));
    if (has_several(f))
        pct_buf_text(b, " as the sum of its threads");
}

/* True if the times of all ranks in MPI are known to their end. */
static bool is_complete(const struct pct_evidence *f)
{
    for (size_t r = 0; r < f->n_ranks; r++)
        if (f->data->profile->ranks[r].incomplete)
            return false;
    return true;
}

static double others_mpi_ns(const struct pct_evidence *f)
{
    double ns = 0;
    for (size_t r = 0; r < f->n_ranks; r++)
        ns += f->may_wait_ns[r];
    return ns;
}

/* Wait of the other ranks, which are in MPI meanwhile: the lead of the busiest one, and not more
 * than they were longer in MPI (the column `waiting_s`), with the calls in which they were killed.
 * They had part of their delays while they polled in MPI, so with all of these taken off their time
 * outside MPI the lead is too large. */
static double waiting_ns(const struct pct_evidence *f)
{
    double ns = fmin(f->lead.ns * (double)(f->n_ranks - 1), others_mpi_ns(f));
    if (f->bounds)
        return ns;
    double seen_ns = f->ends.others_ns;
    struct pct_wait_times waits = pct_data_wait_times(f->data);
    if (!waits.known || waits.longest != f->times->busiest)
        return ns;
    for (size_t r = 0; r < f->n_ranks; r++)
        seen_ns += waits.rank_ns[r];
    return fmin(ns, seen_ns);
}

/* The place at which most of the waiting was, in calls that have ended or in others; NULL: none.
 * *ns_out: the waiting there. */
static const char *place_of_wait(const struct pct_evidence *f, double *ns_out)
{
    const struct pct_fact *wait = main_wait(f);
    const struct pct_ended_in *open = f->ends.n ? &f->ends.list[0] : NULL;
    *ns_out = wait ? wait->excused_ns : 0;
    if (!open || open->ns <= *ns_out)
        return wait ? wait->place : NULL;
    *ns_out = open->ns;
    return open->place;
}

/* Part of its own time for which the busiest rank waits for a processor, to be worth a word. */
#define DELAYED_TOLD 0.1

/* "12 % of the time of all ranks"; of one rank as pct_finding_share. */
static const char *share_of_all(const struct pct_evidence *f, double ns)
{
    char text[48];
    pct_text_format(text, sizeof text, "%.0f %% of the time of all ranks",
                    pct_finding_percent(f, ns));
    return f->n_ranks == 1 ? pct_finding_share(f, ns) : pct_pool_intern(f->pool, text);
}

/* ", 20 % of the time of all ranks, most in MPI_Allreduce in main (a.c:3)". `if_free`: "" or the
 * condition under which they wait for so long. */
static void put_wait(const struct pct_evidence *f, double ns, const char *if_free,
                     struct pct_buf *b)
{
    double place_ns;
    const char *place = place_of_wait(f, &place_ns);
    pct_buf_format(b, ", %s%s", share_of_all(f, ns), if_free);
    if (place)
        pct_buf_format(b, ", %s in %s", place_ns < ns / 2 ? "the largest part" : "most", place);
}

/* Ranks that wait meanwhile, and the last of them: those with a tenth of the longest wait. If waits
 * are not known, it is the time in which they may have waited; if that has no end, all others. */
static size_t count_waiting(const struct pct_evidence *f, size_t *last)
{
    struct pct_wait_times waits = pct_data_wait_times(f->data);
    bool known = waits.known && waits.longest == f->times->busiest;
    double longest_ns = 0;
    const double *rank_ns = known ? waits.rank_ns : f->may_wait_ns;
    size_t n = 0;
    for (size_t r = 0; r < f->n_ranks; r++)
        longest_ns = fmax(longest_ns, rank_ns[r]);
    for (size_t r = 0; r < f->n_ranks && is_complete(f); r++) {
        if (r == f->times->busiest || rank_ns[r] < longest_ns / 10)
            continue;
        *last = r;
        n++;
    }
    return is_complete(f) ? n : f->n_ranks - 1;
}

/* "the other 3 ranks wait, 20 % of the time of all ranks, most in MPI_Allreduce in main (a.c:3)".
 * For whom each waits is not known. Waits for a processor of the busiest rank are left out. */
static const char *others_wait(const struct pct_evidence *f)
{
    struct pct_buf b = {0};
    char if_free[64] = "";
    size_t last = 0, others = f->n_ranks - 1, n = f->bounds ? others : count_waiting(f, &last);
    const struct pct_rank_time *busiest = &f->times->list[f->times->busiest];
    if (others == 1)
        pct_buf_text(&b, "the other rank waits");
    else if (n == others)
        pct_buf_format(&b, "the other %s ranks wait", pct_finding_number(f, (double)n));
    else if (n == 1)
        pct_buf_format(&b, "rank %d waits", pct_finding_rank(f, last));
    else
        pct_buf_format(&b, "%s of the other %s ranks wait", pct_finding_number(f, (double)n),
                       pct_finding_number(f, (double)others));
    if (busiest->delayed_ns > DELAYED_TOLD * busiest->own_ns)
        pct_text_format(if_free, sizeof if_free, " even if rank %d had a processor of its own",
                        pct_finding_rank(f, f->times->busiest));
    put_wait(f, waiting_ns(f), if_free, &b);
    const char *text = pct_pool_intern(f->pool, b.data);
    pct_buf_free(&b);
    return text;
}

/* True if the rank was blocked for most of the lead. */
static bool is_blocked(const struct pct_evidence *f)
{
    const struct pct_rank_times *t = f->times;
    double own = t->list[t->busiest].blocked_ns;
    return t->divided && own - (t->blocked_ns - own) / (double)(f->n_ranks - 1) > f->lead.ns / 2;
}

/* True if the rank was off the processor for most of the lead: blocked, or waiting for one. Of a
 * rank that was killed, samples tell how long it was on a processor, and nothing tells the two
 * apart. */
static bool is_off(const struct pct_evidence *f)
{
    const struct pct_rank_times *t = f->times;
    double own_ns = 0, rest_ns = 0;
    for (size_t r = 0; r < t->n; r++) {
        const struct pct_rank_time *x = &t->list[r];
        double off_ns = fmin(x->lost_ns, pct_rank_time_unsampled_ns(x));
        own_ns += r == t->busiest ? off_ns : 0;
        rest_ns += r == t->busiest ? 0 : off_ns;
    }
    return !t->divided && own_ns - rest_ns / (double)(f->n_ranks - 1) > f->lead.ns / 2;
}

/* True if the lead is significant, is more than equal work differs by, and costs `threshold` of the
 * run even without all waiting for processors. */
static bool is_waited_for(const struct pct_evidence *f, double threshold)
{
    return f->n_ranks > 1 && pct_rank_times_know_busiest(f->times) && f->lead.real &&
           f->lead.low_ns > 0 &&
           fmin(f->lead.low_ns * (double)(f->n_ranks - 1), waiting_ns(f)) >=
               threshold * pct_finding_own_core_ns(f);
}

enum { ALONE = 4 }; /* times the mean of the others */
enum { IDLE = 10 }; /* times less than the busiest rank: it computes hardly anything */

/* True if the busiest rank surely does far more than the others, or the others do nothing. */
static bool is_alone(const struct pct_evidence *f)
{
    return pct_rank_times_surplus_ns(f->times, ALONE) > 0;
}

/* Mean of what the other ranks compute at most, also of those for which nobody waited, and the part
 * of it that is unsure. The own time of a rank that is too short for samples is a guess. */
static double others_ns(const struct pct_evidence *f, double *unsure_out)
{
    const struct pct_rank_times *t = f->times;
    double sum = 0, own = 0, n = (double)(t->n - 1);
    for (size_t r = 0; r < t->n; r++) {
        const struct pct_rank_time *x = &t->list[r];
        sum += r == t->busiest ? 0 : x->is_short ? x->wall_ns : pct_rank_time_most_ns(x);
        own += r == t->busiest ? 0 : x->own_ns;
    }
    *unsure_out = (sum - own) / n;
    return sum / n;
}

/* "at least " if this part of an own time is unsure and worth a word. */
static const char *at_least(double own_ns, double unsure_ns)
{
    return unsure_ns > own_ns / 10 ? "at least " : "";
}

/* The advice behind a blank, or one for ranks of several programs, whose work is of different
 * kinds. */
static const char *advise(const struct pct_evidence *f, const char *advice)
{
    char text[64];
    if (f->data->totals->programs.n > 1)
        return " The ranks run several programs: give more ranks to the one whose ranks have most "
               "work (pcollect report --by program).";
    pct_text_format(text, sizeof text, "%s%s", *advice ? " " : "", advice);
    return pct_pool_intern(f->pool, text);
}

static void find_serial(const struct pct_evidence *f, const struct pct_rule *rule, double threshold,
                        struct pct_findings *out)
{
    if (!is_waited_for(f, threshold) || !is_alone(f) || is_blocked(f) || is_off(f))
        return;
    struct pct_busy_place where = pct_finding_busy_place(f);
    double own_ns = f->times->list[f->times->busiest].own_ns, unsure_ns;
    double mean_ns = others_ns(f, &unsure_ns);
    struct pct_buf b = {0}, place = {0};
    put_busy_place(f, &where, &place);
    if (mean_ns * IDLE < own_ns)
        pct_buf_format(&b, "alone %s", pct_rank_times_verb(f->times));
    else
        pct_buf_format(&b, "%s %s%.1f times as long as the %s", pct_rank_times_verb(f->times),
                       at_least(mean_ns, unsure_ns), own_ns / mean_ns,
                       f->n_ranks == 2 ? "other rank" : "mean of the others");
    pct_finding_say(out, f, rule, waiting_ns(f),
                    pct_more_rank("ranks", pct_finding_rank(f, f->times->busiest)),
                    "Rank %d %s%s: %s.%s%s", pct_finding_rank(f, f->times->busiest), b.data,
                    place.data, others_wait(f), pct_finding_polling(f, f->times->busiest),
                    advise(f, "Divide this work, or let all ranks do it."));
    pct_buf_free(&b);
    pct_buf_free(&place);
}

/* Relative difference up to which numbers of page faults count as equal. */
#define EQUAL_FAULTS 0.1

/* Time in the kernel of the busiest rank, minus the mean of the others. */
static double kernel_lead_ns(const struct pct_evidence *f)
{
    return f->use[f->times->busiest].system_ns - pct_finding_use_of_others(f).system_ns;
}

/* True if time in the kernel is half of the lead or more, and the program did not cause it: ranks
 * have equal page faults, and samples saw hardly any system call. This was seen in a rank for which
 * the kernel provided memory more slowly. Without samples nothing is known of system calls. */
static bool is_of_the_machine(const struct pct_evidence *f, const struct pct_busy_place *where)
{
    const struct pct_rank_use *busiest = &f->use[f->times->busiest];
    struct pct_rank_use mean = pct_finding_use_of_others(f);
    double own = busiest->minor_faults + busiest->major_faults,
           others = mean.minor_faults + mean.major_faults;
    return where->function.function && !where->may_call && others > 0 &&
           fabs(own - others) <= EQUAL_FAULTS * others && kernel_lead_ns(f) >= f->lead.ns / 2;
}

static const char *whose_lead(const struct pct_evidence *f, const struct pct_busy_place *where)
{
    char time[PCT_NUMBER_BYTES], text[256];
    if (!is_of_the_machine(f, where))
        return pct_finding_why_longer(f, pct_rank_times_bound_imbalance(f->times).least);
    pct_text_format(text, sizeof text,
                    " It is in the kernel for %s longer than the others, with as many page faults "
                    "and hardly any system calls: look at the machine, rather than at the program.",
                    pct_text_time(time, (pc_u128)llround(kernel_lead_ns(f))));
    return pct_pool_intern(f->pool, text);
}

/* Ranks that compute hardly anything while others work, such as one that hands out work. */
struct idle_ranks {
    size_t n, least;   /* their number, and the one that computes least, at most */
    double waiting_ns; /* sum of what they compute less than the busiest rank */
    double working_ns; /* mean of the other ranks, at least */
    double unsure_ns;  /* what it may be more */
    double longest_ns; /* of a rank, with its waits for a processor */
    bool explain;      /* there would be less than half of the lead without them */
};

static struct idle_ranks find_idle(const struct pct_evidence *f)
{
    const struct pct_rank_times *t = f->times;
    struct idle_ranks idle = {.n = 0};
    double busiest_ns = t->list[t->busiest].own_ns, least_ns = 0, working_ns = 0;
    for (size_t r = 0; r < t->n; r++) {
        double most_ns = pct_rank_time_most_ns(&t->list[r]);
        idle.longest_ns = fmax(idle.longest_ns, t->list[r].own_ns + t->list[r].delayed_ns);
        if (most_ns * IDLE >= busiest_ns) {
            working_ns += t->list[r].own_ns;
            idle.unsure_ns += t->list[r].unsure_ns;
            continue;
        }
        idle.least = !idle.n || most_ns < least_ns ? r : idle.least;
        least_ns = idle.least == r ? most_ns : least_ns;
        idle.waiting_ns += fmin(busiest_ns - most_ns, f->may_wait_ns[r]);
        idle.n++;
    }
    double others = (double)(t->n - idle.n) - 1; /* that work, beside the busiest */
    idle.explain =
        idle.n && others > 0 && busiest_ns - (working_ns - busiest_ns) / others < f->lead.ns / 2;
    idle.working_ns = working_ns / (others + 1);
    idle.unsure_ns /= others + 1;
    idle.waiting_ns = fmin(idle.waiting_ns, waiting_ns(f));
    return idle;
}

/* blocked: the other ranks are so for most of the lead. */
static void say_idle(const struct pct_evidence *f, const struct pct_rule *rule,
                     const struct idle_ranks *idle, bool blocked, struct pct_findings *out)
{
    char least[PCT_NUMBER_BYTES], working[PCT_NUMBER_BYTES];
    int32_t rank = pct_finding_rank(f, idle->least);
    struct pct_buf who = {0}, wait = {0};
    if (idle->n == 1)
        pct_buf_format(&who, "Rank %d %s", rank,
                       blocked ? "is outside MPI" : pct_rank_times_verb(f->times));
    else
        pct_buf_format(&who, "%s ranks %s, rank %d", pct_finding_number(f, (double)idle->n),
                       blocked || !f->times->divided ? "are hardly outside MPI"
                       : pct_rank_times_are_blocked(f->times)
                           ? "compute or are blocked for a short time"
                           : "compute hardly anything",
                       rank);
    bool delayed = idle->longest_ns > (1 + DELAYED_TOLD) * f->times->list[f->times->busiest].own_ns;
    put_wait(f, idle->waiting_ns, delayed ? " even if each rank had a processor of its own" : "",
             &wait);
    const struct pct_rank_time *time = &f->times->list[idle->least];
    bool bound = time->unsure_ns > time->own_ns / 10;
    pct_text_time(least, (pc_u128)llround(bound ? pct_rank_time_most_ns(time) : time->own_ns));
    pct_text_time(working, (pc_u128)llround(idle->working_ns));
    pct_finding_say(out, f, rule, idle->waiting_ns, pct_more_rank("ranks", rank),
                    "%s for %s%s%s, the mean of the other %s ranks for %s%s: %s%s.%s", who.data,
                    bound ? "at most " : "", least, bound ? "" : " only",
                    pct_finding_number(f, (double)(f->n_ranks - idle->n)),
                    at_least(idle->working_ns, idle->unsure_ns), working,
                    idle->n == 1 ? "it waits" : "they wait", wait.data,
                    advise(f, idle->n == 1 ? "Let it take part in the work."
                                           : "Let them take part in the work."));
    pct_buf_free(&who);
    pct_buf_free(&wait);
}

static void find_imbalance(const struct pct_evidence *f, const struct pct_rule *rule,
                           double threshold, struct pct_findings *out)
{
    if (!is_waited_for(f, threshold) || is_alone(f) || is_blocked(f) || is_off(f))
        return;
    struct idle_ranks idle = find_idle(f);
    if (idle.explain) {
        say_idle(f, rule, &idle, false, out);
        return;
    }
    struct pct_imbalance longer = pct_rank_times_bound_imbalance(f->times);
    struct pct_busy_place where = pct_finding_busy_place(f);
    struct pct_buf b = {0};
    put_busy_place(f, &where, &b);
    pct_finding_say(out, f, rule, waiting_ns(f),
                    pct_more_rank("ranks", pct_finding_rank(f, f->times->busiest)),
                    "Rank %d %s %s%.0f %% longer than the mean%s: %s.%s%s%s",
                    pct_finding_rank(f, f->times->busiest), pct_rank_times_verb(f->times),
                    at_least(longer.least, longer.most - longer.least), 100 * longer.least, b.data,
                    others_wait(f), whose_lead(f, &where),
                    pct_finding_polling(f, f->times->busiest), advise(f, ""));
    pct_buf_free(&b);
}

/* Part of the blocked time of all ranks that one has, to be the only one to name. */
#define NEARLY_ALL 0.9

static void find_blocked(const struct pct_evidence *f, const struct pct_rule *rule,
                         double threshold, struct pct_findings *out)
{
    const struct pct_rank_times *t = f->times;
    char time[PCT_NUMBER_BYTES];
    const struct pct_rank_time *busiest = &t->list[t->busiest];
    size_t most = 0;
    if (is_waited_for(f, threshold) && is_blocked(f)) {
        struct idle_ranks idle = find_idle(f);
        if (idle.explain) {
            say_idle(f, rule, &idle, true, out);
            return;
        }
        pct_finding_say(out, f, rule, waiting_ns(f),
                        pct_more_rank("ranks", pct_finding_rank(f, t->busiest)),
                        "Rank %d is blocked outside MPI for %s%s: it sleeps, or waits for a file, "
                        "a lock, a thread or another process, and %s.%s%s",
                        pct_finding_rank(f, t->busiest),
                        at_least(busiest->blocked_ns, busiest->unsure_ns + busiest->either_ns),
                        pct_text_time(time, (pc_u128)llround(busiest->blocked_ns)), others_wait(f),
                        pct_finding_blocking_calls(f), pct_finding_polling(f, t->busiest));
        return;
    }
    if (is_waited_for(f, threshold) && is_off(f)) {
        char cpu[PCT_NUMBER_BYTES];
        pct_finding_say(
            out, f, rule, waiting_ns(f), pct_more_rank("ranks", pct_finding_rank(f, t->busiest)),
            "Rank %d is outside MPI for %s, and on a processor for %s of it: it sleeps, "
            "or waits for a file, a lock, a thread, another process or a processor, "
            "and %s.",
            pct_finding_rank(f, t->busiest),
            pct_text_time(time, (pc_u128)llround(busiest->wall_ns)),
            pct_text_time(cpu, (pc_u128)llround(busiest->sampled_ns)), others_wait(f));
        return;
    }
    for (size_t r = 0; r < t->n; r++)
        most = t->list[r].blocked_ns > t->list[most].blocked_ns ? r : most;
    if (!t->divided || !(t->blocked_ns > 0) ||
        t->blocked_ns < threshold * pct_finding_own_core_ns(f))
        return;
    const char *least = at_least(t->blocked_ns, t->unsure_ns + t->either_ns);
    pct_text_time(time, (pc_u128)llround(t->list[most].blocked_ns));
    if (t->list[most].blocked_ns >= NEARLY_ALL * t->blocked_ns)
        pct_finding_say(out, f, rule, t->blocked_ns,
                        pct_more_rank("ranks", pct_finding_rank(f, most)),
                        "Rank %d is blocked%s for %s%s (%s): it sleeps, "
                        "or waits for files, locks, threads or other processes.%s%s",
                        pct_finding_rank(f, most), pct_finding_outside(f), least,
                        share_of_all(f, t->list[most].blocked_ns), time,
                        pct_finding_blocking_calls(f), pct_finding_polling(f, most));
    else
        pct_finding_say(out, f, rule, t->blocked_ns,
                        pct_more_rank("ranks", pct_finding_rank(f, most)),
                        "The ranks are blocked%s for %s%s, %s rank %d (%s%s): they sleep, or "
                        "wait for files, locks, threads or other processes.%s%s",
                        pct_finding_outside(f), least, pct_finding_share(f, t->blocked_ns),
                        *least ? "one of them" : "most on", pct_finding_rank(f, most), least, time,
                        pct_finding_blocking_calls(f), pct_finding_polling(f, most));
}

/* ---- Hub and chain --------------------------------------------------------------------------- */

static void find_hub(const struct pct_evidence *f, const struct pct_rule *rule, double threshold,
                     struct pct_findings *out)
{
    const struct pct_fact *most = NULL;
    double waits = 0, longest = 0;
    size_t n_around = 0;
    for (size_t i = 0; i < f->n; i++) {
        const struct pct_fact *fact = &f->list[i];
        double others = fact->is_message ? fmax(0, fact->around_hub_ns - fact->excused_ns -
                                                       fact->paused_ns - fact->files_ns) *
                                               fact->main_part
                                         : 0;
        waits += others;
        if (others > longest) {
            longest = others;
            most = fact;
        }
    }
    if (!most || !f->has_hub)
        return;
    for (size_t r = 0; r < f->n_ranks; r++)
        n_around += f->partners->with_hub[r];
    struct pct_buf who = {0};
    int32_t hub = pct_finding_rank(f, f->partners->hub);
    if (n_around < f->n_ranks - 1)
        pct_buf_format(&who, "%s of ", pct_finding_number(f, (double)n_around));
    pct_buf_format(&who, "the other %s ranks", pct_finding_number(f, (double)(f->n_ranks - 1)));
    pct_finding_add(out, f, rule, threshold, waits, pct_more_rank("ranks", hub),
                    "Rank %d takes part in almost every message: %s spend "
                    "%s in calls of messages, most in %s. Let ranks talk to "
                    "each other, or use a collective operation.",
                    hub, who.data, pct_finding_loss(f, rule, waits), most->place);
    pct_buf_free(&who);
}

/* Bytes per call of ranks in a chain are alike if they differ by less than this factor: what takes
 * longer for its size does not wait. */
#define ALIKE 2.0

/* True if the time of a call grows, or falls, from rank to rank, each of which exchanges messages
 * with the next one, and its bytes do not. */
static bool is_chain(const struct pct_evidence *f, const struct pct_fact *fact)
{
    return f->n_ranks >= 3 && f->partners->is_line && fabs(fact->trend) >= 0.9 &&
           fact->most_bytes <= ALIKE * fact->least_bytes &&
           fmin(fact->first_ns, fact->last_ns) < 0.25 * fmax(fact->first_ns, fact->last_ns);
}

static void find_chain(const struct pct_evidence *f, const struct pct_rule *rule, double threshold,
                       struct pct_findings *out)
{
    for (size_t i = 0; i < f->n; i++) {
        const struct pct_fact *fact = &f->list[i];
        double saves = pct_fact_own_ns(fact);
        if (is_chain(f, fact))
            pct_finding_add(out, f, rule, threshold, saves, pct_more_call(f, fact),
                            "The ranks wait for each other one after the other: the wait in %s "
                            "%s from rank to rank, in all %s. Pass the data on "
                            "in smaller pieces, or by a collective operation.",
                            fact->place, fact->trend < 0 ? "falls" : "grows",
                            pct_finding_loss(f, rule, saves));
    }
}

/* True if ranks may have waited for processes that are not in the profile. */
static bool has_strangers(const struct pct_evidence *f)
{
    if (pct_finding_other_jobs(f))
        return true;
    for (size_t i = 0; i < f->n; i++)
        if (f->list[i].traits & PCOLLECT_TRAIT_OUTSIDE)
            return true;
    return false;
}

/* True if the rules `hub` and `chain` tell why ranks wait for each other: by turns, too. */
static bool is_told(const struct pct_evidence *f, const struct pct_rule *rule, double threshold)
{
    if (f->has_hub)
        return true;
    for (size_t i = 0; i < f->n; i++)
        if (is_chain(f, &f->list[i]) &&
            pct_finding_counts(f, rule, threshold, pct_fact_own_ns(&f->list[i])))
            return true;
    return false;
}

/* Finds waits for ranks that are late, each at its time. All others may wait for one that waits for
 * a processor, so each delay is subtracted once for every rank. With bounds nothing is left to hub
 * and chain, which then find as much. */
static void find_turns(const struct pct_evidence *f, const struct pct_rule *rule, double threshold,
                       struct pct_findings *out)
{
    const struct pct_fact *most = NULL;
    double waits = 0, longest = 0;
    for (size_t i = 0; i < f->n; i++) {
        double late = pct_fact_late_ns(f, &f->list[i]);
        waits += late;
        if (late > longest) {
            longest = late;
            most = &f->list[i];
        }
    }
    double surely_ns = waits - f->delayed_ns * (double)f->n_ranks;
    if (!most || surely_ns < threshold * f->core_ns || f->ends.n || has_strangers(f) ||
        (!f->bounds && is_told(f, rule, threshold)))
        return;
    char call[PCT_NUMBER_BYTES];
    pct_text_time(call, (pc_u128)llround(pct_fact_own_ns(most) / most->calls));
    pct_finding_say(out, f, rule, waits, pct_more_table("contexts"),
                    "Ranks wait at least %s for others that are late by turns, most in %s, "
                    "%s a call: this is not the wait for the rank that computes longest. Let all "
                    "ranks do this work at the same time, or make each step as long on all.",
                    pct_finding_share(f, surely_ns), most->place, call);
}

/* ---- All ------------------------------------------------------------------------------------- */

static const struct pct_rule rows[] = {
    {"serial", 0.05, "one rank alone computes", find_serial, true},
    {"imbalance", 0.05, "one rank computes longer than the others, or hardly at all",
     find_imbalance, true},
    {"blocked", 0.05, "ranks sleep or wait for files outside MPI", find_blocked, true},
    {"hub", 0.05, "one rank exchanges most messages", find_hub, false},
    {"chain", 0.05, "ranks wait for each other one after the other", find_chain, false},
    {"by-turns", 0.05, "ranks wait for others that are late, each at its time", find_turns, false},
};
const struct pct_rules pct_rank_rules = {rows, PC_ARRAY_LEN(rows)};
