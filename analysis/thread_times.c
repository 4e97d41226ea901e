/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Joins the figures of threads: see thread_times.h.
 */
#include "analysis/thread_times.h"

#include "analysis/buffer.h"
#include "analysis/rank_times.h"
#include "analysis/student.h"
#include "analysis/tree/samples.h"
#include "analysis/tree/totals.h"
#include "format/team_runtime.h"

#include <math.h>
#include <string.h>

/* Columns of the tables that are read; both begin with rank and thread. */
struct columns {
    uint32_t kind, name, threads, calls, time, cpu, known, in_runtime, in_bindings, delayed;
};

static uint32_t number_column(const struct pc_profile_table *t, const char *name)
{
    return pc_table_column(t, name, PCOLLECT_COLUMN_NUMBER);
}

static bool is_by_thread(const struct pc_profile_table *t)
{
    return pc_table_column(t, "rank", PCOLLECT_COLUMN_RANK) == 0 && number_column(t, "thread") == 1;
}

/* True if all runtimes that processes had are transports of MPI libraries. Earlier versions took
 * time in these for waits for other threads. */
static bool has_transports_alone(const struct pc_profile *p)
{
    uint32_t n_runtimes = 0, n_of_teams = 0;
    for (uint32_t i = 0; i < p->n_modules; i++) {
        n_runtimes += (p->modules[i].flags & PCOLLECT_MODULE_RUNTIME) != 0;
        n_of_teams += pc_is_team_runtime(pc_base_name(p->modules[i].path));
    }
    return n_runtimes && !n_of_teams;
}

static void read_records(struct pct_thread_times *out, const struct pc_profile *p,
                         const struct pc_profile_table *t)
{
    const struct columns c = {pc_table_column(t, "kind", PCOLLECT_COLUMN_STRING),
                              pc_table_column(t, "name", PCOLLECT_COLUMN_STRING),
                              number_column(t, "threads"),
                              number_column(t, "calls"),
                              number_column(t, "time"),
                              number_column(t, "cpu"),
                              number_column(t, "known"),
                              has_transports_alone(p) ? PC_NO_INDEX
                                                      : number_column(t, "in_runtime"),
                              number_column(t, "in_bindings"),
                              number_column(t, "delayed")};
    uint32_t at = 0;
    out->list = pct_alloc(t->n_rows, sizeof *out->list);
    for (uint32_t row = 0; row < t->n_rows; row++) {
        if (!pct_totals_rank_of_row(p, t, row, &at))
            continue;
        out->list[out->n++] =
            (struct pct_thread_time){.rank = at,
                                     .number = pc_table_cell(t, row, 1),
                                     .kind = pc_profile_string(p, pc_table_cell(t, row, c.kind)),
                                     .name = pc_profile_string(p, pc_table_cell(t, row, c.name)),
                                     .n_threads = pc_table_cell(t, row, c.threads),
                                     .mpi_calls = pc_table_cell(t, row, c.calls),
                                     .mpi_ns = pc_table_cell(t, row, c.time),
                                     .cpu_ns = pc_table_cell(t, row, c.cpu),
                                     .has_cpu = pc_table_cell(t, row, c.known) != 0,
                                     .waits_ns = pc_table_cell(t, row, c.in_runtime),
                                     .bindings_ns = pc_table_cell(t, row, c.in_bindings),
                                     .delayed_ns = pc_table_cell(t, row, c.delayed)};
    }
}

/* Reads samples. If all time of a thread outside MPI is work, its only error is the last period. If
 * all its CPU time is, but for what the samples cost, its clock has it without an error. */
static void read_samples(const struct pc_profile_table *t, uint32_t row, struct pct_thread_time *of)
{
    uint64_t squares = pc_table_cell(t, row, number_column(t, "compute_squares"));
    double period = (double)pc_table_cell(t, row, number_column(t, "period"));
    of->outside_ns = pc_table_cell(t, row, number_column(t, "compute_time"));
    of->variance = PCT_SAMPLES_REGULAR * (double)squares * 1e6 + period * period;
    of->is_sampled = true;
    of->work_ns = fmax(0, (double)of->outside_ns - (double)(of->waits_ns + of->bindings_ns));
    if (of->has_cpu && !of->mpi_calls && !of->waits_ns && !of->bindings_ns &&
        !pc_table_cell(t, row, number_column(t, "own_time"))) {
        double cost_ns = (double)pc_table_cell(t, row, number_column(t, "cost"));
        of->work_ns = fmax(0, (double)of->cpu_ns - cost_ns);
        of->variance = 0;
    }
}

/* Reads the table `sampling`. Rows of both tables are sorted. */
static void read_sampling(struct pct_thread_times *out, const struct pc_profile *p)
{
    const struct pc_profile_table *t = pc_profile_table_in_order(p, "sampling");
    uint32_t row = 0;
    if (!is_by_thread(t) || number_column(t, "compute_time") == PC_NO_INDEX)
        return;
    for (size_t i = 0; i < out->n; i++) {
        struct pct_thread_time *of = &out->list[i];
        int64_t rank = p->ranks[of->rank].rank;
        while (row < t->n_rows && ((int64_t)pc_table_cell(t, row, 0) < rank ||
                                   ((int64_t)pc_table_cell(t, row, 0) == rank &&
                                    pc_table_cell(t, row, 1) < of->number)))
            row++;
        if (row < t->n_rows && (int64_t)pc_table_cell(t, row, 0) == rank &&
            pc_table_cell(t, row, 1) == of->number)
            read_samples(t, row, of);
    }
}

bool pct_thread_is_program(const struct pct_thread_time *t)
{
    return t->is_sampled && strcmp(t->kind, "MPI library") != 0;
}

bool pct_thread_is_renewed(const struct pct_thread_time *t)
{
    return t->n_threads > 1 && !strcmp(t->kind, "runtime");
}

/* Compares the threads of one rank, from the first on; returns where the next rank begins. What a
 * single thread does in a runtime is no wait for another one. */
static size_t compare(struct pct_thread_times *t, size_t first)
{
    double sum = 0;
    size_t end = first, n = 0;
    for (; end < t->n && t->list[end].rank == t->list[first].rank; end++) {
        bool counts = pct_thread_is_program(&t->list[end]);
        sum += counts ? t->list[end].work_ns : 0;
        n += counts;
    }
    for (size_t i = first; i < end && n < 2; i++) {
        if (t->list[i].waits_ns)
            t->list[i].work_ns += (double)t->list[i].waits_ns;
        t->list[i].waits_ns = 0;
    }
    for (size_t i = first; i < end && n > 1 && sum > 0; i++)
        if (pct_thread_is_program(&t->list[i]))
            t->list[i].share = t->list[i].work_ns * (double)n / sum;
    return end;
}

/* True if a thread starts in a threading runtime, which made it. */
static bool starts_in_runtime(const struct pc_profile *p)
{
    for (uint32_t i = 0; i < p->n_modules; i++)
        if (p->modules[i].flags & PCOLLECT_MODULE_STARTS)
            return true;
    return false;
}

bool pct_thread_times_wait(const struct pct_thread_times *t, const struct pc_profile *p)
{
    uint32_t before = UINT32_MAX;
    for (size_t i = 0; i < t->n; i++) {
        if (!pct_thread_is_program(&t->list[i]))
            continue;
        if (t->list[i].rank == before)
            return true;
        before = t->list[i].rank;
    }
    return !t->n && starts_in_runtime(p);
}

/* A thread that computes less than this part of the busiest one does other work. */
#define SAME_WORK 0.1

/* The end of the threads of the rank that begin at `first`, and the most work of one of them. */
static size_t end_of_rank(const struct pct_thread_times *t, size_t first, double *most_ns_out)
{
    size_t end = first;
    double most_ns = 0;
    for (; end < t->n && t->list[end].rank == t->list[first].rank; end++)
        if (pct_thread_is_program(&t->list[end]))
            most_ns = fmax(most_ns, t->list[end].work_ns);
    *most_ns_out = most_ns;
    return end;
}

static bool works(const struct pct_thread_time *t, double most_ns)
{
    return pct_thread_is_program(t) && most_ns > 0 && t->work_ns >= SAME_WORK * most_ns;
}

double pct_thread_times_working(const struct pct_thread_times *t)
{
    double most_ns;
    size_t n = 0, n_ranks = 0;
    for (size_t first = 0, end; first < t->n; first = end) {
        end = end_of_rank(t, first, &most_ns);
        for (size_t i = first; i < end; i++)
            n += works(&t->list[i], most_ns);
        n_ranks += most_ns > 0;
    }
    return n_ranks ? (double)n / (double)n_ranks : 0;
}

bool pct_thread_times_renewed(const struct pct_thread_times *t)
{
    for (size_t i = 0; i < t->n; i++)
        if (pct_thread_is_renewed(&t->list[i]))
            return true;
    return false;
}

uint32_t pct_thread_times_count(const struct pct_thread_times *t)
{
    double most_ns;
    uint32_t n = 0;
    if (pct_thread_times_renewed(t))
        return 0;
    for (size_t first = 0, end; first < t->n; first = end) {
        end = end_of_rank(t, first, &most_ns);
        if (!t->list[first].is_sampled)
            return 0;
        for (size_t i = first; i < end; i++)
            n += i == first || !strcmp(t->list[i].kind, "runtime") || works(&t->list[i], most_ns);
    }
    return n;
}

/* ---- The leading thread ---------------------------------------------------------------------- */

/* True if the thread belongs to the program's own threads, or else to the OpenMP team with the main
 * thread. */
static bool is_of(const struct pct_thread_time *t, bool own)
{
    return pct_thread_is_program(t) && own == !strcmp(t->kind, "program");
}

static const struct pct_thread_time *find_busiest(const struct pct_thread_times *t, size_t first,
                                                  size_t end, bool own)
{
    const struct pct_thread_time *busiest = NULL;
    for (size_t i = first; i < end; i++)
        if (is_of(&t->list[i], own) && (!busiest || t->list[i].work_ns > busiest->work_ns))
            busiest = &t->list[i];
    return busiest;
}

static struct pct_thread_lead lead_of(const struct pct_thread_times *t, size_t first, size_t end,
                                      bool own, double chance)
{
    struct pct_thread_lead lead = {.busiest = find_busiest(t, first, end, own)};
    double most = lead.busiest ? lead.busiest->work_ns : 0, sum = 0, variance = 0;
    bool one_each = lead.busiest && lead.busiest->n_threads < 2;
    for (size_t i = first; i < end; i++) {
        const struct pct_thread_time *thread = &t->list[i];
        if (!is_of(thread, own) || thread == lead.busiest || thread->work_ns < SAME_WORK * most)
            continue;
        sum += thread->work_ns;
        variance += thread->variance;
        one_each &= thread->n_threads < 2;
        lead.n++;
    }
    double others = (double)lead.n;
    lead.others_ns = others > 0 ? sum / others : 0;
    double ahead = most - lead.others_ns;
    if (!lead.n || !one_each || ahead < PCT_LEAD_LARGE * lead.others_ns)
        return (struct pct_thread_lead){0};
    variance = variance / (others * others) + lead.busiest->variance;
    double low = ahead - pct_normal_above(chance) * sqrt(variance);
    lead.n++;
    lead.saves_ns = low * others / (others + 1);
    return low > 0 ? lead : (struct pct_thread_lead){0};
}

struct pct_thread_lead pct_thread_times_lead(const struct pct_thread_times *t, size_t first,
                                             size_t end, double chance)
{
    struct pct_thread_lead team = lead_of(t, first, end, false, chance);
    struct pct_thread_lead own = lead_of(t, first, end, true, chance);
    return own.saves_ns > team.saves_ns ? own : team;
}

struct pct_thread_times *pct_thread_times_new(const struct pc_profile *p)
{
    struct pct_thread_times *t = pct_alloc(1, sizeof *t);
    const struct pc_profile_table *records = pc_profile_table_in_order(p, "thread_records");
    if (is_by_thread(records))
        read_records(t, p, records);
    read_sampling(t, p);
    for (size_t i = 0; i < t->n;)
        i = compare(t, i);
    return t;
}

void pct_thread_times_free(struct pct_thread_times *t)
{
    if (!t)
        return;
    pct_free(t->list);
    pct_free(t);
}
