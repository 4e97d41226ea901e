/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Joins the figures of threads: see thread_times.h.
 */
#include "analysis/thread_times.h"

#include "analysis/buffer.h"

#include <string.h>

/* Columns of the tables that are read; both begin with rank and thread. */
struct columns {
    uint32_t kind, name, threads, calls, time, cpu, known;
};

static uint32_t number_column(const struct pc_profile_table *t, const char *name)
{
    return pc_table_column(t, name, PCOLLECT_COLUMN_NUMBER);
}

static bool is_by_thread(const struct pc_profile_table *t)
{
    return pc_table_column(t, "rank", PCOLLECT_COLUMN_RANK) == 0 && number_column(t, "thread") == 1;
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
                              number_column(t, "known")};
    uint32_t at = 0;
    out->list = pct_alloc(t->n_rows, sizeof *out->list);
    for (uint32_t row = 0; row < t->n_rows; row++) {
        int64_t rank = (int64_t)pc_table_cell(t, row, 0);
        while (at < p->n_ranks && p->ranks[at].rank < rank)
            at++;
        if (at == p->n_ranks || p->ranks[at].rank != rank)
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
                                     .has_cpu = pc_table_cell(t, row, c.known) != 0};
    }
}

/* Rows of both are in order. */
static void read_sampling(struct pct_thread_times *out, const struct pc_profile *p)
{
    const struct pc_profile_table *t = pc_profile_table(p, "sampling");
    uint32_t compute = number_column(t, "compute_time"), row = 0;
    if (!is_by_thread(t) || compute == PC_NO_INDEX)
        return;
    for (size_t i = 0; i < out->n; i++) {
        struct pct_thread_time *of = &out->list[i];
        int64_t rank = p->ranks[of->rank].rank;
        while (row < t->n_rows && ((int64_t)pc_table_cell(t, row, 0) < rank ||
                                   ((int64_t)pc_table_cell(t, row, 0) == rank &&
                                    pc_table_cell(t, row, 1) < of->number)))
            row++;
        if (row < t->n_rows && (int64_t)pc_table_cell(t, row, 0) == rank &&
            pc_table_cell(t, row, 1) == of->number) {
            of->outside_ns = pc_table_cell(t, row, compute);
            of->is_sampled = true;
        }
    }
}

/* Threads of the MPI library are not there to compute. */
static bool counts(const struct pct_thread_time *t)
{
    return t->is_sampled && strcmp(t->kind, "MPI library") != 0;
}

/* Compares the threads of one rank, from the first on; returns where the next rank begins. */
static size_t compare(struct pct_thread_times *t, size_t first)
{
    double sum = 0;
    size_t end = first, n = 0;
    for (; end < t->n && t->list[end].rank == t->list[first].rank; end++) {
        sum += counts(&t->list[end]) ? (double)t->list[end].outside_ns : 0;
        n += counts(&t->list[end]);
    }
    for (size_t i = first; i < end && n > 1 && sum > 0; i++)
        if (counts(&t->list[i]))
            t->list[i].share = (double)t->list[i].outside_ns * (double)n / sum;
    return end;
}

struct pct_thread_times *pct_thread_times_new(const struct pc_profile *p)
{
    struct pct_thread_times *t = pct_alloc(1, sizeof *t);
    const struct pc_profile_table *records = pc_profile_table(p, "thread_records");
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
