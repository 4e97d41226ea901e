/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Divides the time of ranks: see rank_times.h.
 *
 * These times are known: the wall time of a rank outside MPI, W; the delayed time, D, and the
 * blocked time, B, of its main thread, both inside and outside MPI. Samples give the CPU time
 * outside MPI, C, with what the library itself took, L. So the rank is busy for between W - D and
 * W; if C is known and more than W - D, for C. Without samples, or if W is too short for them, the
 * delay is assumed to be spread evenly over the run. The rank's own time is that without L.
 */
#include "analysis/rank_times.h"

#include "analysis/buffer.h"
#include "analysis/open_calls.h"
#include "analysis/student.h"
#include "analysis/thread_times.h"
#include "analysis/tree/samples.h"

#include <math.h>

/* ---- Tables ---------------------------------------------------------------------------------- */

/* Figures of one rank, from the tables. */
struct told {
    bool divided; /* blocked is known */
    double delayed_ns, blocked_ns;
    double there_ns; /* the time that these two and the CPU time of the main thread add up to */
    double compute_ns, compute_squares, mpi_ns, mpi_squares; /* by samples, squares in us^2 */
    double library_ns;                                       /* by samples in the library */
    double bindings_ns;          /* by samples in the MPI library, outside of measured calls */
    double n_samples, period_ns; /* of computation; mean distance */
    bool sampled;
    double work_ns, work_variance; /* of the other thread with most work */
    double all_work_ns;            /* of all other threads */
    double waits_ns;               /* waits of all other threads for a processor, in their work */
    double unsure_ns;              /* part of delayed_ns: the main thread was blocked meanwhile */
    double hidden_ns;              /* part of unsure_ns: other threads may have worked meanwhile */
    double either_ns;              /* part of blocked_ns, likewise */
    double polls_ns;               /* CPU time of the main thread in a runtime of other threads */
    double others_ns;              /* CPU time of all other threads, also in MPI */
    double sampled_ns;             /* of others_ns, for which samples stand, and what they cost */
};

/* Reads what the kernel says of each rank. One that slept or polled on a free processor has no
 * delay, so a figure of any rank tells that the kernel counts delays; if it does not, the times
 * blocked are 0, too. */
static void read_resources(const struct pc_profile *p, struct told *told)
{
    const struct pc_profile_table *t = pc_profile_table_in_order(p, "resources");
    uint32_t delayed = pc_table_column(t, "delayed", PCOLLECT_COLUMN_NUMBER),
             blocked = pc_table_column(t, "blocked", PCOLLECT_COLUMN_NUMBER),
             user = pc_table_column(t, "user", PCOLLECT_COLUMN_NUMBER),
             system = pc_table_column(t, "system", PCOLLECT_COLUMN_NUMBER),
             on_cpu = pc_table_column(t, "on_cpu", PCOLLECT_COLUMN_NUMBER), at = 0;
    if (pc_table_column(t, "rank", PCOLLECT_COLUMN_RANK) != 0)
        return;
    bool counted = false;
    for (uint32_t row = 0; row < t->n_rows; row++) {
        if (!pct_totals_rank_of_row(p, t, row, &at))
            continue;
        told[at].delayed_ns = (double)pc_table_cell(t, row, delayed);
        told[at].blocked_ns = (double)pc_table_cell(t, row, blocked);
        if (on_cpu != PC_NO_INDEX) {
            double cpu_ns = (double)pc_table_cell(t, row, on_cpu);
            told[at].there_ns = cpu_ns + told[at].delayed_ns + told[at].blocked_ns;
            told[at].others_ns = (double)pc_table_cell(t, row, user) +
                                 (double)pc_table_cell(t, row, system) - cpu_ns;
        }
        told[at].divided = blocked != PC_NO_INDEX;
        counted |= told[at].delayed_ns > 0 || told[at].blocked_ns > 0;
    }
    for (uint32_t r = 0; r < p->n_ranks; r++)
        told[r].divided &= counted;
}

/* The first thread of each rank is the one that called MPI_Init. */
static void read_sampling(const struct pc_profile *p, struct told *told)
{
    const struct pc_profile_table *t = pc_profile_table_in_order(p, "sampling");
    uint32_t compute = pc_table_column(t, "compute_time", PCOLLECT_COLUMN_NUMBER),
             squares = pc_table_column(t, "compute_squares", PCOLLECT_COLUMN_NUMBER),
             mpi = pc_table_column(t, "mpi_time", PCOLLECT_COLUMN_NUMBER),
             mpi_squares = pc_table_column(t, "mpi_squares", PCOLLECT_COLUMN_NUMBER),
             booked = pc_table_column(t, "booked", PCOLLECT_COLUMN_NUMBER),
             library = pc_table_column(t, "own_time", PCOLLECT_COLUMN_NUMBER),
             period = pc_table_column(t, "period", PCOLLECT_COLUMN_NUMBER),
             seen = pc_table_column(t, "seen", PCOLLECT_COLUMN_NUMBER),
             cost = pc_table_column(t, "cost", PCOLLECT_COLUMN_NUMBER), at = 0;
    if (pc_table_column(t, "rank", PCOLLECT_COLUMN_RANK) != 0 || compute == PC_NO_INDEX)
        return;
    for (uint32_t row = 0; row < t->n_rows; row++) {
        if (!pct_totals_rank_of_row(p, t, row, &at))
            continue;
        if (told[at].sampled) {
            told[at].sampled_ns +=
                seen != PC_NO_INDEX ? (double)pc_table_cell(t, row, seen) : INFINITY;
            told[at].sampled_ns += cost != PC_NO_INDEX ? (double)pc_table_cell(t, row, cost) : 0;
            continue;
        }
        told[at].sampled = true;
        told[at].n_samples = (double)pc_table_cell(t, row, booked);
        told[at].period_ns = (double)pc_table_cell(t, row, period);
        told[at].compute_ns = (double)pc_table_cell(t, row, compute);
        told[at].compute_squares = (double)pc_table_cell(t, row, squares);
        told[at].mpi_ns = (double)pc_table_cell(t, row, mpi);
        told[at].library_ns = (double)pc_table_cell(t, row, library);
        told[at].mpi_squares = (double)pc_table_cell(t, row, mpi_squares);
    }
}

/* Part of a thread's CPU time that is the program's work. A thread waits for a processor in all
 * that it does: what it waits while it polls in MPI or in a threading runtime holds up nobody. */
static double work_part(const struct pct_thread_time *t)
{
    return t->has_cpu && t->cpu_ns ? fmin(1, t->work_ns / (double)t->cpu_ns) : 1;
}

/* Waits of threads one after another that may not be in the table, a thread: those of threads that
 * live for less than that, and of others while they end. */
#define UNSEEN_NS 1e6

/* The time in bindings of the MPI library, of the main thread, is no computation. */
static void take_bindings(struct told *told, double bindings_ns)
{
    told->bindings_ns = fmin(bindings_ns, told->compute_ns);
    told->compute_ns -= told->bindings_ns;
}

/* The main thread's is the first row of each rank. */
static void read_threads(const struct pc_profile *p, struct told *told, struct pct_rank_times *out)
{
    struct pct_thread_times *t = pct_thread_times_new(p);
    const struct pct_thread_time *main = t->list;
    for (size_t i = 0; i < t->n; i++) {
        const struct pct_thread_time *thread = &t->list[i];
        struct told *of = &told[thread->rank];
        main = main->rank == thread->rank ? main : thread;
        out->work_ns += pct_thread_is_program(thread) ? thread->work_ns : 0;
        out->polls_ns += main == thread ? (double)thread->waits_ns : 0;
        if (main == thread)
            take_bindings(of, (double)thread->bindings_ns);
        if (main == thread || !pct_thread_is_program(thread))
            continue;
        of->polls_ns = (double)main->waits_ns;
        of->waits_ns += (double)thread->delayed_ns * work_part(thread);
        of->waits_ns += thread->n_threads > 1 ? (double)thread->n_threads * UNSEEN_NS : 0;
        of->all_work_ns += thread->work_ns;
        if (thread->work_ns > of->work_ns) {
            of->work_ns = thread->work_ns;
            of->work_variance = thread->variance;
        }
    }
    out->threads_wait = pct_thread_times_wait(t, p);
    out->n_working = pct_thread_times_working(t);
    out->n_threads = pct_thread_times_count(t);
    out->renews_threads = pct_thread_times_renewed(t);
    pct_thread_times_free(t);
}

/* ---- One rank -------------------------------------------------------------------------------- */

/* Variance of the samples' part outside MPI (doc/internals/sampling.md), and of the time after the
 * last sample, which is not known: one period. */
static double find_variance(const struct told *told)
{
    double all_ns = told->compute_ns + told->mpi_ns;
    double part = all_ns > 0 ? told->compute_ns / all_ns : 0;
    double us = told->compute_squares * (1 - part) * (1 - part) + told->mpi_squares * part * part;
    return PCT_SAMPLES_REGULAR * us * 1e6 + told->period_ns * told->period_ns;
}

/* CPU time of threads that no sample stands for: those that could not be sampled or ended before a
 * sample, and the begin and end of others. Sums over threads have an error, and helpers of
 * MPI use little. */
static double find_unsampled(const struct told *told)
{
    const double least_ns = 50e6, least_share = 0.05;
    double ns = told->sampled ? told->others_ns - told->sampled_ns : 0;
    return ns < fmax(least_ns, least_share * told->others_ns) ? 0 : ns;
}

/* Takes other threads into account. While the main thread is blocked and another thread of the rank
 * works, the rank computes: at least for the time that the busiest one works longer than the main
 * thread, and at most for the sum of the work of all, because nothing tells which of them ran at
 * the same time. While any of its threads waits for a processor, which may be at different times,
 * the rank waits for one: threads that take turns on a processor have equal work, and each is
 * blocked until the other has done its part. But threads that are delayed at one time do not add
 * up, so this is not sure. Nothing is called blocked that may have been work. The main thread polls
 * for others: as far as none of them may have worked meanwhile, the rank waits for its threads. */
static void count_threads(struct told *told, double unsampled_ns)
{
    double work_ns = 0, all_ns = told->others_ns;
    if (told->sampled) {
        work_ns = fmax(0, fmin(told->blocked_ns, told->work_ns - told->compute_ns));
        all_ns = told->all_work_ns + unsampled_ns - work_ns;
        told->blocked_ns -= work_ns;
        told->unsure_ns = fmin(told->blocked_ns, told->waits_ns);
        told->polls_ns = fmin(told->polls_ns, told->compute_ns - told->work_ns);
        told->polls_ns -= fmax(0, unsampled_ns - (told->blocked_ns - told->unsure_ns));
    }
    all_ns = fmax(0, fmin(told->blocked_ns, all_ns));
    told->blocked_ns -= told->unsure_ns;
    told->delayed_ns += told->unsure_ns;
    told->either_ns = fmin(told->blocked_ns, all_ns);
    told->hidden_ns = all_ns - told->either_ns;
    told->compute_ns += work_ns;
    if (work_ns > 0)
        told->n_samples = fmax(told->n_samples, PCT_SAMPLES_FEW);
}

/* Time of a rank for which the tables stand: from the end of MPI_Init, which takes long on ranks
 * that come early, to MPI_Finalize. The kernel's figures of the main thread add up to it, unless
 * they are missing. Then apart_ns is taken for the rest. */
static double find_run_ns(const struct pc_profile_rank *rank, const struct told *told,
                          double apart_ns)
{
    double wall_ns = (double)pct_totals_compute_ns(rank);
    if (told->there_ns > 0 && told->there_ns >= (1 - PCT_DIVISION_LITTLE) * wall_ns)
        return fmax(told->there_ns, wall_ns);
    return fmax(wall_ns, (double)pct_totals_run_ns(rank) - apart_ns);
}

/* Divides the time of a rank. apart_ns: its time in MPI_Init, after which the tables begin, and the
 * mean in MPI_Finalize, at which they end. */
static void divide(const struct pc_profile_rank *rank, const struct told *told, double apart_ns,
                   struct pct_rank_time *t)
{
    double run_ns = find_run_ns(rank, told, apart_ns);
    double delayed_ns = fmin(told->delayed_ns, run_ns);
    t->wall_ns = (double)pct_totals_compute_ns(rank);
    double mpi_ns = fmax(0, run_ns - t->wall_ns);
    t->all_delayed_ns = delayed_ns;
    t->low_ns = fmax(0, t->wall_ns - delayed_ns);
    t->n_samples = told->n_samples;
    t->variance = told->sampled ? find_variance(told) + told->work_variance : -1;
    t->sampled_ns = fmin(told->compute_ns, t->wall_ns);
    if (told->divided) { /* all of it may have been in MPI, up to the time in MPI */
        t->blocked_low_ns = fmin(t->wall_ns, fmax(0, told->blocked_ns - mpi_ns));
        t->blocked_high_ns = fmin(t->wall_ns, told->blocked_ns);
    }
    if (rank->incomplete && !told->divided && told->sampled)
        t->lost_ns = fmax(0, run_ns - told->compute_ns - told->bindings_ns - told->mpi_ns);
    t->blocked_ns = t->blocked_low_ns;
    if (told->sampled && t->wall_ns >= PCT_SAMPLES_FEW * told->period_ns) {
        t->bindings_ns = fmin(told->bindings_ns, t->wall_ns - t->sampled_ns);
        t->library_ns = fmin(told->library_ns, t->wall_ns - t->sampled_ns - t->bindings_ns);
        double cpu_ns = t->sampled_ns + t->bindings_ns + t->library_ns;
        t->own_ns = fmin(t->wall_ns, fmax(cpu_ns + t->blocked_low_ns, t->low_ns));
        t->blocked_ns = fmax(t->blocked_low_ns, fmin(t->own_ns - cpu_ns, t->blocked_high_ns));
        t->for_threads_ns = told->divided ? fmax(0, fmin(told->polls_ns, t->sampled_ns)) : 0;
    } else {
        t->is_short = told->sampled;
        t->own_ns = run_ns > 0 ? t->wall_ns * (1 - delayed_ns / run_ns) : t->wall_ns;
    }
    t->blocked_ns = fmin(t->blocked_ns, t->own_ns);
    t->cpu_ns = t->own_ns - t->blocked_ns;
    t->bindings_ns = fmin(t->bindings_ns, t->cpu_ns);
    t->library_ns = fmin(t->library_ns, t->cpu_ns - t->bindings_ns);
    t->for_threads_ns = fmin(t->for_threads_ns, t->cpu_ns - t->bindings_ns - t->library_ns);
    t->delayed_ns = t->wall_ns - t->own_ns;
    double unsure_ns = told->unsure_ns + t->blocked_high_ns - t->blocked_ns;
    t->unsure_ns = fmax(0, fmin(t->delayed_ns, unsure_ns));
}

/* Takes out the time for which the main thread may have waited for calls of MPI in other threads of
 * its rank: as long as these were in MPI, it may have, while it was blocked or polled in a
 * runtime. Where it is not known how long it was blocked, it may have been whenever no sample shows
 * it on a processor; where nothing was sampled, always. */
static void leave_threads_in_mpi_out(const struct pc_profile_rank *rank, const struct told *told,
                                     struct pct_rank_time *t)
{
    double left_ns = (double)rank->others_mpi_ns, off_ns = t->blocked_ns;
    if (!told->divided)
        off_ns = told->sampled ? pct_rank_time_unsampled_ns(t) : t->wall_ns;
    double polls_ns = told->divided ? t->for_threads_ns : fmin(told->polls_ns, t->sampled_ns);
    off_ns = fmin(off_ns, left_ns);
    polls_ns = fmax(0, fmin(polls_ns, left_ns - off_ns));
    t->for_mpi_ns = fmin(off_ns + polls_ns, t->own_ns);
    t->wall_ns -= t->for_mpi_ns;
    t->own_ns -= t->for_mpi_ns;
    t->low_ns = fmax(0, t->low_ns - t->for_mpi_ns);
    t->sampled_ns -= polls_ns;
    if (told->divided) {
        t->blocked_ns -= off_ns;
        t->blocked_low_ns = fmax(0, t->blocked_low_ns - off_ns);
        t->blocked_high_ns -= off_ns;
        t->for_threads_ns -= polls_ns;
    }
    t->cpu_ns = t->own_ns - t->blocked_ns;
}

/* Counts the time as computation in which other threads may have worked by turns while the main
 * thread was blocked. */
static void take_either(const struct told *told, struct pct_rank_time *t)
{
    t->either_ns = fmin(t->blocked_ns, told->either_ns);
    t->hidden_ns = fmin(t->unsure_ns, told->hidden_ns);
    t->blocked_ns -= t->either_ns;
    t->cpu_ns = t->own_ns - t->blocked_ns;
}

/* CPU time of the library for a call, at most, where no sample tells it: 90 to 105 ns were seen in
 * loops of tests on a virtual machine that others used, too. */
#define CALL_NS 150.0

/* Takes the library and bindings of MPI out of the rank's own time. Bounds what the library took:
 * by three times the error of its samples, or by the number of calls. */
static void leave_calls_out(const struct pc_profile_rank *rank, const struct told *told,
                            struct pct_rank_time *t)
{
    double error_ns = sqrt(PCT_SAMPLES_REGULAR * told->library_ns * told->period_ns);
    t->own_ns -= t->library_ns + t->bindings_ns;
    t->library_most_ns =
        told->sampled ? told->library_ns + 3 * error_ns : CALL_NS * (double)rank->mpi_calls;
}

/* If less than this share of the time may be another part, that is not worth a word. */
#define UNSURE 0.05

static uint64_t end_of(const struct pc_profile_rank *rank)
{
    return rank->start_realtime_ns + pct_totals_wall_ns(rank);
}

/* Finds the silence of each rank. Returns true if the busiest rank is not known because of it: a
 * silent rank would lead if it had stayed outside MPI until the others' data ends, or the busiest
 * is silent for a part of its time that is not small. */
static bool find_silence(const struct pc_profile *p, struct pct_rank_times *t)
{
    struct pct_open_calls *calls = pct_open_calls_new(p);
    const struct pct_open_call **open = pct_open_calls_of_ranks(calls, p);
    double most_ns = t->n ? t->list[t->busiest].own_ns : 0;
    uint64_t last_ns = 0;
    bool may_lead = false;
    for (size_t r = 0; r < t->n; r++)
        last_ns = end_of(&p->ranks[r]) > last_ns ? end_of(&p->ranks[r]) : last_ns;
    for (size_t r = 0; r < t->n; r++) {
        struct pct_rank_time *rank = &t->list[r];
        if (!p->ranks[r].incomplete || open[r])
            continue;
        rank->silent_ns = (double)(last_ns - end_of(&p->ranks[r]));
        rank->exited = p->ranks[r].closed;
        may_lead |= r == t->busiest ? rank->silent_ns > UNSURE * most_ns
                                    : rank->own_ns + rank->silent_ns > most_ns;
    }
    pct_free(open);
    pct_open_calls_free(calls);
    return may_lead;
}

struct pct_rank_times *pct_rank_times_new(const struct pct_totals *m)
{
    const struct pc_profile *p = m->profile;
    struct pct_rank_times *t = pct_alloc(1, sizeof *t);
    struct told *told = pct_alloc(p->n_ranks, sizeof *told);
    read_resources(p, told);
    read_sampling(p, told);
    read_threads(p, told, t);
    t->n = p->n_ranks;
    t->list = pct_alloc(t->n, sizeof *t->list);
    t->divided = t->n > 0;
    for (size_t r = 0; r < t->n; r++) {
        double unsampled_ns = find_unsampled(&told[r]);
        t->list[r].main_delayed_ns = told[r].delayed_ns;
        count_threads(&told[r], unsampled_ns);
        /* In whole ns, so that the parts of its time add up when they are printed. */
        double apart_ns = floor(m->rank_init_ns[r] + m->end.own_ns / (double)t->n);
        divide(&p->ranks[r], &told[r], apart_ns, &t->list[r]);
        leave_threads_in_mpi_out(&p->ranks[r], &told[r], &t->list[r]);
        take_either(&told[r], &t->list[r]);
        leave_calls_out(&p->ranks[r], &told[r], &t->list[r]);
        t->divided &= told[r].divided;
        t->mean_ns += t->list[r].own_ns / (double)t->n;
        t->delayed_ns += t->list[r].delayed_ns;
        t->blocked_ns += t->list[r].blocked_ns;
        t->for_threads_ns += t->list[r].for_threads_ns;
        t->for_mpi_ns += t->list[r].for_mpi_ns;
        t->unsure_ns += t->list[r].unsure_ns;
        t->either_ns += t->list[r].either_ns;
        t->hidden_ns += t->list[r].hidden_ns;
        t->unsampled_ns += unsampled_ns;
        t->all_delayed_ns += t->list[r].all_delayed_ns;
        if (t->list[r].own_ns > t->list[t->busiest].own_ns)
            t->busiest = r;
    }
    t->ends_early = find_silence(p, t);
    t->guessed = pct_rank_times_division(t) == PCT_DIVISION_GUESSED;
    pct_free(told);
    return t;
}

void pct_rank_times_free(struct pct_rank_times *t)
{
    if (!t)
        return;
    pct_free(t->list);
    pct_free(t);
}

double pct_rank_times_unknown_ns(const struct pct_rank_times *t)
{
    double ns = 0;
    for (size_t r = 0; r < t->n && !t->divided; r++)
        ns += fmax(0, t->list[r].own_ns - t->list[r].sampled_ns);
    return ns;
}

double pct_rank_time_main_delayed_ns(const struct pct_rank_time *t)
{
    return fmin(t->main_delayed_ns, t->all_delayed_ns);
}

/* Outside MPI in the time of the run, of all ranks. */
static double sum_wall_ns(const struct pct_rank_times *t)
{
    double wall_ns = 0;
    for (size_t r = 0; r < t->n; r++)
        wall_ns += t->list[r].wall_ns + t->list[r].for_mpi_ns;
    return wall_ns;
}

enum pct_division pct_rank_times_division(const struct pct_rank_times *t)
{
    double wall_ns = sum_wall_ns(t), guessed_ns = 0, library_ns = 0, bindings_ns = 0;
    for (size_t r = 0; r < t->n; r++) {
        const struct pct_rank_time *rank = &t->list[r];
        library_ns += rank->library_ns;
        bindings_ns += rank->bindings_ns;
        guessed_ns += rank->is_short ? rank->wall_ns - rank->low_ns : 0;
    }
    double little_ns = PCT_DIVISION_LITTLE * wall_ns;
    if (t->delayed_ns > little_ns && guessed_ns > UNSURE * wall_ns)
        return PCT_DIVISION_GUESSED;
    if (t->unsure_ns > UNSURE * wall_ns)
        return PCT_DIVISION_UNSURE;
    double rest_ns =
        fmax(fmax(t->delayed_ns, t->blocked_ns), fmax(t->either_ns, t->for_threads_ns));
    rest_ns = fmax(fmax(rest_ns, t->divided ? t->for_mpi_ns : pct_rank_times_unknown_ns(t)),
                   fmax(library_ns, bindings_ns));
    return rest_ns > little_ns ? PCT_DIVISION_KNOWN : PCT_DIVISION_WHOLE;
}

bool pct_rank_times_take_turns(const struct pct_rank_times *t)
{
    return t->either_ns + t->hidden_ns > PCT_DIVISION_LITTLE * sum_wall_ns(t);
}

double pct_rank_times_imbalance(const struct pct_rank_times *t)
{
    return t->n > 1 && t->mean_ns > 0 ? t->list[t->busiest].own_ns / t->mean_ns - 1 : 0;
}

bool pct_rank_times_know_busiest(const struct pct_rank_times *t)
{
    return !t->ends_early && t->hidden_ns <= UNSURE * t->mean_ns * (double)t->n;
}

bool pct_rank_times_know_imbalance(const struct pct_rank_times *t)
{
    return pct_rank_times_know_busiest(t) && pct_rank_times_division(t) <= PCT_DIVISION_KNOWN;
}

struct pct_imbalance pct_rank_times_bound_imbalance(const struct pct_rank_times *t)
{
    struct pct_imbalance bounds = {0, 0};
    double known = pct_rank_times_imbalance(t);
    double n = (double)t->n, least_ns = t->mean_ns * n, most_ns = least_ns + t->unsure_ns;
    if (t->n < 2 || !(least_ns > 0))
        return bounds;
    if (pct_rank_times_know_imbalance(t))
        return (struct pct_imbalance){known, known};
    const struct pct_rank_time *busiest = &t->list[t->busiest];
    bounds.least = busiest->own_ns * n / (most_ns - busiest->unsure_ns) - 1;
    for (size_t r = 0; r < t->n; r++) {
        double ns = pct_rank_time_most_ns(&t->list[r]);
        if (ns > 0)
            bounds.most = fmax(bounds.most, ns * n / (least_ns + t->list[r].unsure_ns) - 1);
    }
    bounds.least = fmax(0, fmin(bounds.least, bounds.most));
    return bounds;
}

bool pct_rank_times_are_blocked(const struct pct_rank_times *t)
{
    return t->divided &&
           t->blocked_ns + t->either_ns > PCT_DIVISION_LITTLE * t->mean_ns * (double)t->n;
}

const char *pct_rank_times_verb(const struct pct_rank_times *t)
{
    bool blocked = pct_rank_times_are_blocked(t),
         waits = t->for_threads_ns > PCT_DIVISION_LITTLE * t->mean_ns * (double)t->n;
    return !t->divided        ? "is outside MPI"
           : blocked && waits ? "computes, is blocked or waits for its threads"
           : blocked          ? "computes or is blocked"
           : waits            ? "computes or waits for its threads"
                              : "computes";
}

size_t pct_rank_times_least(const struct pct_rank_times *t)
{
    size_t least = 0;
    for (size_t r = 1; r < t->n; r++)
        least = t->list[r].own_ns < t->list[least].own_ns ? r : least;
    if (!t->n)
        return 0;
    const struct pct_rank_time *rank = &t->list[least];
    bool few = rank->variance >= 0 && rank->n_samples < PCT_SAMPLES_FEW;
    return few && rank->wall_ns - rank->low_ns > UNSURE * rank->wall_ns ? t->n : least;
}

/* ---- The lead of the busiest rank ------------------------------------------------------------ */

/* Chance for each rank (Bonferroni): the busiest of n ranks was selected because it is the busiest,
 * so an event with chance q in each rank has a chance of up to n q in it. */
static double chance_of_each(const struct pct_rank_times *t)
{
    return PCT_LEAD_FALSE / (double)t->n;
}

/* Lower bound of pct_rank_times_surplus_ns from samples and blocked time; below 0: not known. */
static double sampled_low(const struct pct_rank_times *t, double times)
{
    const struct pct_rank_time *busiest = &t->list[t->busiest];
    double lead = busiest->sampled_ns + busiest->blocked_low_ns;
    double others = (double)(t->n - 1) / times, variance = 0; /* others: times the mean */
    for (size_t r = 0; r < t->n; r++) {
        const struct pct_rank_time *rank = &t->list[r];
        if (rank->variance < 0 || (r == t->busiest && rank->n_samples < PCT_SAMPLES_FEW))
            return -1;
        variance += r == t->busiest ? rank->variance : rank->variance / (others * others);
        lead -= r == t->busiest
                    ? 0
                    : (rank->sampled_ns + rank->blocked_high_ns + rank->hidden_ns) / others;
    }
    return lead - pct_normal_above(chance_of_each(t)) * sqrt(variance);
}

/* True if the busiest rank differs significantly from the others, which scatter by the machine or
 * by their work: Student's t of one value against the rest. */
static bool stands_out(const struct pct_rank_times *t, double others_ns, double lead_ns)
{
    double others = (double)(t->n - 1), squares = 0;
    if (t->n < 4)
        return false;
    for (size_t r = 0; r < t->n; r++) {
        double from_mean = t->list[r].own_ns - others_ns;
        squares += r == t->busiest ? 0 : from_mean * from_mean;
    }
    double deviation = sqrt(squares / (others - 1) * (1 + 1 / others));
    return !(deviation > 0) ||
           pct_student_tail(lead_ns / deviation, others - 1) / 2 < chance_of_each(t);
}

double pct_rank_times_surplus_ns(const struct pct_rank_times *t, double times)
{
    const struct pct_rank_time *busiest = &t->list[t->busiest];
    double low = busiest->low_ns - busiest->library_most_ns - busiest->bindings_ns;
    for (size_t r = 0; r < t->n; r++)
        low -= r == t->busiest ? 0 : times * t->list[r].wall_ns / (double)(t->n - 1);
    return fmax(low, sampled_low(t, times));
}

struct pct_lead pct_rank_times_lead(const struct pct_rank_times *t)
{
    struct pct_lead lead = {0};
    double others_ns = 0;
    if (t->n < 2)
        return lead;
    for (size_t r = 0; r < t->n; r++)
        others_ns += r == t->busiest ? 0 : pct_rank_time_most_ns(&t->list[r]) / (double)(t->n - 1);
    lead.ns = t->list[t->busiest].own_ns - others_ns;
    lead.low_ns = fmax(0, fmin(lead.ns, pct_rank_times_surplus_ns(t, 1)));
    lead.real =
        lead.ns > 0 && (lead.ns >= PCT_LEAD_LARGE * others_ns || stands_out(t, others_ns, lead.ns));
    return lead;
}
