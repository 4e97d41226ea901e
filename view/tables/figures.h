/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The figures of MPI calls that several tables have, for any kind of row: one getter for all, and
 * the columns that use it.
 */
#ifndef PCT_FIGURES_H
#define PCT_FIGURES_H

#include "view/table.h"

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

/* Sets the value of PCT_FIGURE_RANKS and the figures after it. empty: the row has no calls or
 * samples, so that no rank has any; else it has no ranks only if their values are not known. */
void pct_spread_value(struct pct_spread s, bool empty, enum pct_figure which,
                      struct pct_value *out);

/* The id of a context, see analysis/tree/label.h, or of a communicator; none if it is 0. */
void pct_id_value(const struct pct_data *d, uint64_t context, struct pct_value *out);

/* The path of a node of a tree, itself included; none for the root. */
void pct_path_value(const struct pct_tree *t, uint32_t node, struct pct_value *out);

/* The number of a node of pct_data_tree, as the table frames has it; none for the root. */
void pct_frame_value(uint32_t node, struct pct_value *out);

/* Name and type of a column with a field of a plugin: PLUGIN.FIELD and the suffix, escaped and kept
 * in the pool of d. */
const char *pct_field_name(const struct pct_data *d, const struct pc_profile_field *f,
                           const char *suffix);
enum pct_type pct_field_type(const struct pc_profile_field *f);

/* The columns of them. `get` finds the figures of a row of the kind `of` and passes them, with the
 * column's `which`, to pct_figure.
 *
 * Names of figures in all tables: {mpi,cpu}_{exclusive,inclusive}_{s,percent}, of CPU time with the
 * half of its interval in cpu_{exclusive,inclusive}_error_s. Exclusive is the row itself, inclusive
 * is with everything called from there. Columns come in the order: keys, calls, MPI time, CPU time,
 * durations, bytes, samples, ranks, the id of the context. */
/* clang-format off */
#define PCT_CALLS_COLUMNS(get, of)                                                                 \
    {"calls", "calls", PCT_COUNT, "calls of all ranks",                                            \
     get, PCT_FIGURE_CALLS, of},                                                                   \
    {"time_s", "time", PCT_NS, "time in the calls, summed over ranks and threads",                 \
     get, PCT_FIGURE_TIME, of}
#define PCT_EXCLUSIVE_COLUMN(get, of)                                                              \
    {"mpi_exclusive_s", "own time", PCT_NS,                                                        \
     "time_s without MPI calls made inside, in callbacks of the program",                          \
     get, PCT_FIGURE_EXCLUSIVE, of}
#define PCT_SHARE_COLUMN(get, of)                                                                  \
    {"mpi_exclusive_percent", "of MPI", PCT_PERCENT,                                               \
     "mpi_exclusive_s as a share of all time in MPI", get, PCT_FIGURE_MPI_PERCENT, of,             \
     .mpi = true}
#define PCT_DURATION_COLUMNS(get, of)                                                              \
    {"mean_s", "mean", PCT_NS, "mean time of a call", get, PCT_FIGURE_MEAN, of},                   \
    {"min_s", "min", PCT_NS, "shortest call", get, PCT_FIGURE_MIN, of},                            \
    {"max_s", "max", PCT_NS, "longest call", get, PCT_FIGURE_MAX, of}
#define PCT_BYTES_COLUMNS(get, of)                                                                 \
    {"bytes_sent", "sent", PCT_BYTES, "bytes that the send arguments describe",                    \
     get, PCT_FIGURE_SENT, of},                                                                    \
    {"bytes_received", "received", PCT_BYTES,                                                      \
     "bytes received; of nonblocking receives at the call that posted them",                       \
     get, PCT_FIGURE_RECEIVED, of}
#define PCT_SPREAD_COLUMNS(get, of)                                                                \
    {"ranks", "ranks", PCT_COUNT, "ranks that made the calls", get, PCT_FIGURE_RANKS, of,          \
     .mpi = true},                                                                                 \
    {"rank_min_s", "min over ranks", PCT_NS,                                                      \
     "min over the ranks that made the calls of their time in them",                              \
     get, PCT_FIGURE_RANK_MIN, of},                                                                \
    {"min_rank", "rank", PCT_INTEGER, "the rank of rank_min_s", get, PCT_FIGURE_MIN_RANK, of},     \
    {"rank_max_s", "max over ranks", PCT_NS, "max over the ranks of their time in the calls",      \
     get, PCT_FIGURE_RANK_MAX, of},                                                                \
    {"max_rank", "rank", PCT_INTEGER, "the rank of rank_max_s", get, PCT_FIGURE_MAX_RANK, of}
#define PCT_CONTEXT_COLUMN(get, of)                                                                \
    {"context", "context", PCT_TEXT,                                                               \
     "id of the path of functions, without lines: the same in all tables and profiles",            \
     get, 0, of}
#define PCT_FRAME_COLUMN(get, of, doc)                                                             \
    {"frame", "frame", PCT_INTEGER, doc ", in the table frames", get, 0, of, .asked = true}
/* clang-format on */

#endif
