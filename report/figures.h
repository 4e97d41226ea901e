/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The figures of MPI calls that are the same in several tables, whatever a row stands for: one
 * getter for all, and the columns that draw from it.
 */
#ifndef PCT_FIGURES_H
#define PCT_FIGURES_H

#include "report/table.h"

/* The calls of one row. */
struct pct_figures {
    const pc_u128 *sum; /* by enum pct_metric */
    uint64_t min_ns, max_ns;
    struct pct_spread spread; /* PCT_TIME by rank */
};

enum pct_figure {
    PCT_FIGURE_CALLS,
    PCT_FIGURE_TIME,
    PCT_FIGURE_SENT,
    PCT_FIGURE_RECEIVED,
    PCT_FIGURE_EXCLUSIVE,
    PCT_FIGURE_MEAN,
    PCT_FIGURE_MIN,
    PCT_FIGURE_MAX,
    PCT_FIGURE_MPI_PERCENT,
    PCT_FIGURE_RANKS,
    PCT_FIGURE_RANK_MIN,
    PCT_FIGURE_MIN_RANK,
    PCT_FIGURE_RANK_MAX,
    PCT_FIGURE_MAX_RANK
};

void pct_figure(const struct pct_data *d, struct pct_figures f, enum pct_figure which,
                struct pct_value *out);

/* A getter is told the row, not the column: one for each figure of a kind of rows, of which
 * KIND_figures(d, row) knows the figures. */
#define PCT_FIGURE_GETTER(kind, name, which)                                                       \
    static __attribute__((unused)) void kind##_##name(const struct pct_data *d, size_t row,        \
                                                      struct pct_value *out)                       \
    {                                                                                              \
        pct_figure(d, kind##_figures(d, row), which, out);                                         \
    }
#define PCT_FIGURE_GETTERS(kind)                                                                   \
    PCT_FIGURE_GETTER(kind, calls, PCT_FIGURE_CALLS)                                               \
    PCT_FIGURE_GETTER(kind, time, PCT_FIGURE_TIME)                                                 \
    PCT_FIGURE_GETTER(kind, sent, PCT_FIGURE_SENT)                                                 \
    PCT_FIGURE_GETTER(kind, received, PCT_FIGURE_RECEIVED)                                         \
    PCT_FIGURE_GETTER(kind, exclusive, PCT_FIGURE_EXCLUSIVE)                                       \
    PCT_FIGURE_GETTER(kind, mean, PCT_FIGURE_MEAN)                                                 \
    PCT_FIGURE_GETTER(kind, min, PCT_FIGURE_MIN)                                                   \
    PCT_FIGURE_GETTER(kind, max, PCT_FIGURE_MAX)                                                   \
    PCT_FIGURE_GETTER(kind, mpi_percent, PCT_FIGURE_MPI_PERCENT)                                   \
    PCT_FIGURE_GETTER(kind, ranks, PCT_FIGURE_RANKS)                                               \
    PCT_FIGURE_GETTER(kind, rank_min, PCT_FIGURE_RANK_MIN)                                         \
    PCT_FIGURE_GETTER(kind, min_rank, PCT_FIGURE_MIN_RANK)                                         \
    PCT_FIGURE_GETTER(kind, rank_max, PCT_FIGURE_RANK_MAX)                                         \
    PCT_FIGURE_GETTER(kind, max_rank, PCT_FIGURE_MAX_RANK)

/* Sums, in the order in which they are columns. */
#define PCT_SUM_COLUMNS(kind)                                                                      \
    {"calls", "calls", PCT_COUNT, "calls of all ranks", kind##_calls},                             \
        {"time_s", "time", PCT_NS, "time in the calls, summed over ranks and threads",             \
         kind##_time},                                                                             \
        {"bytes_sent", "sent", PCT_BYTES, "bytes that the send arguments describe", kind##_sent},  \
    {                                                                                              \
        "bytes_received", "received", PCT_BYTES,                                                   \
            "bytes received; of nonblocking receives at the call that posted them",                \
            kind##_received                                                                        \
    }
#define PCT_EXCLUSIVE_COLUMN(kind)                                                                 \
    {                                                                                              \
        "exclusive_s", "own time", PCT_NS,                                                         \
            "time_s without MPI calls made inside, in callbacks of the program", kind##_exclusive  \
    }
#define PCT_DURATION_COLUMNS(kind)                                                                 \
    {"mean_s", "mean", PCT_NS, "mean time of a call", kind##_mean},                                \
        {"min_s", "min", PCT_NS, "shortest call", kind##_min},                                     \
    {                                                                                              \
        "max_s", "max", PCT_NS, "longest call", kind##_max                                         \
    }
#define PCT_SHARE_COLUMN(kind)                                                                     \
    {                                                                                              \
        "mpi_percent", "of MPI", PCT_PERCENT, "exclusive_s as a share of all time in MPI",         \
            kind##_mpi_percent                                                                     \
    }
#define PCT_SPREAD_COLUMNS(kind)                                                                   \
    {"ranks", "ranks", PCT_COUNT, "ranks that made the calls", kind##_ranks},                      \
        {"rank_min_s", "least of a rank", PCT_NS,                                                  \
         "time in the calls of that rank, among those that made them, that spent least",           \
         kind##_rank_min},                                                                         \
        {"min_rank", "rank", PCT_INTEGER, "the rank of rank_min_s", kind##_min_rank},              \
        {"rank_max_s", "most of a rank", PCT_NS, "time in the calls of the rank that spent most",  \
         kind##_rank_max},                                                                         \
    {                                                                                              \
        "max_rank", "rank", PCT_INTEGER, "the rank of rank_max_s", kind##_max_rank                 \
    }

#endif
