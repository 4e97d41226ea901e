/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The trace events of Chrome, which Perfetto reads too: counters over time, from the table `series`
 * (plugins/comm/series_plugin.c). A rank is a process; a value holds from its time to the next one:
 * calls and bytes per second, and the mean number of threads in MPI.
 *
 * Bins may overlap, where their width doubles and between communicators. So a bin is two edges: its
 * rates are added at its begin and subtracted at its end.
 */
#include "view/viewers/viewers.h"

#include <stdlib.h>

enum { CALLS, SENT, RECEIVED, TIME_IN_MPI, N_RATES };
enum { RANK = N_RATES, START, WIDTH, N_COLUMNS };

static const char *const columns[N_COLUMNS] = {"calls", "bytes_sent", "bytes_received", "mpi_time",
                                               "rank",  "start",      "width"};
static const char *const shown[N_RATES] = {"MPI calls per second", "bytes sent per second",
                                           "bytes received per second", "threads in MPI"};

struct edge {
    uint64_t ns;
    int step; /* 1: a bin begins, -1: one ends */
    double rates[N_RATES];
};

static int compare_edges(const void *a, const void *b)
{
    const struct edge *x = a, *y = b;
    return (x->ns > y->ns) - (x->ns < y->ns);
}

static void put_values(FILE *out, int64_t rank, uint64_t ns, const double *rates)
{
    for (int k = 0; k < N_RATES; k++)
        fprintf(out,
                ",\n{\"ph\": \"C\", \"pid\": %lld, \"ts\": %llu.%03u, \"name\": \"%s\", "
                "\"args\": {\"value\": %.12g}}",
                (long long)rank, (unsigned long long)(ns / 1000), (unsigned)(ns % 1000), shown[k],
                rates[k]);
}

static void put_rank(FILE *out, int64_t rank, struct edge *edges, size_t n)
{
    double now[N_RATES] = {0};
    int n_open = 0;
    qsort(edges, n, sizeof *edges, compare_edges);
    for (size_t i = 0; i < n; i++) {
        n_open += edges[i].step;
        for (int k = 0; k < N_RATES; k++)
            now[k] = n_open ? now[k] + edges[i].step * edges[i].rates[k] : 0;
        if (i + 1 == n || edges[i + 1].ns > edges[i].ns)
            put_values(out, rank, edges[i].ns, now);
    }
}

static void add_bin(struct edge *edges, const struct pc_profile_table *t, uint32_t row,
                    const uint32_t *at, uint64_t begin_ns)
{
    uint64_t start_ns = pc_table_cell(t, row, at[START]) - begin_ns,
             width_ns = pc_table_cell(t, row, at[WIDTH]);
    edges[0] = (struct edge){.ns = start_ns, .step = 1};
    for (int k = 0; k < N_RATES; k++)
        edges[0].rates[k] =
            (double)pc_table_cell(t, row, at[k]) / (double)width_ns * (k == TIME_IN_MPI ? 1 : 1e9);
    edges[1] = edges[0];
    edges[1].ns = start_ns + width_ns;
    edges[1].step = -1;
}

/* False: no such table, or with other columns. */
static bool find_columns(const struct pc_profile_table *t, uint32_t *at, uint64_t *begin_ns)
{
    for (int k = 0; k < N_COLUMNS; k++) {
        at[k] = pc_table_column(t, columns[k],
                                k == RANK ? PCOLLECT_COLUMN_RANK : PCOLLECT_COLUMN_NUMBER);
        if (at[k] == PC_NO_INDEX)
            return false;
    }
    *begin_ns = UINT64_MAX;
    for (uint32_t row = 0; row < t->n_rows; row++) {
        uint64_t start_ns = pc_table_cell(t, row, at[START]);
        *begin_ns = start_ns < *begin_ns ? start_ns : *begin_ns;
        if (!pc_table_cell(t, row, at[WIDTH]))
            return false;
    }
    return t->n_rows > 0;
}

bool pct_viewer_chrome(FILE *out, const struct pct_data *d)
{
    const struct pc_profile_table *t = pc_profile_table(d->profile, "series");
    uint32_t at[N_COLUMNS];
    uint64_t begin_ns;
    if (!find_columns(t, at, &begin_ns))
        return false;
    struct edge *edges = pct_alloc((size_t)2 * t->n_rows, sizeof *edges);
    fputs("{\"traceEvents\": [", out);
    for (uint32_t row = 0; row < t->n_rows;) {
        int64_t rank = (int64_t)pc_table_cell(t, row, at[RANK]);
        size_t n = 0;
        fprintf(out,
                "%s\n{\"ph\": \"M\", \"pid\": %lld, \"name\": \"process_name\", "
                "\"args\": {\"name\": \"rank %lld\"}}",
                row ? "," : "", (long long)rank, (long long)rank);
        for (; row < t->n_rows && (int64_t)pc_table_cell(t, row, at[RANK]) == rank; row++, n += 2)
            add_bin(&edges[n], t, row, at, begin_ns);
        put_rank(out, rank, edges, n);
    }
    fputs("]}\n", out);
    pct_free(edges);
    return true;
}
