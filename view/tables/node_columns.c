/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The metrics of a calling-context tree: a row for each of its nodes, in their order. Programs read
 * it through libpcol; it is not a table of a profile, which has several trees.
 */
#include "analysis/tree/samples.h"
#include "view/tables/figures.h"
#include "view/tables/tables.h"

static size_t count_nodes(const struct pct_data *d)
{
    return d->tree->n;
}

static struct pct_own own_of(const struct pct_cell *c)
{
    return pct_tree_own(c->d->tree, (uint32_t)c->row);
}

static struct pct_below below_of(const struct pct_cell *c)
{
    return pct_tree_below(c->d->tree, (uint32_t)c->row);
}

static struct pct_spread spread_of(const struct pct_cell *c)
{
    struct pct_rank_room room = pct_data_rank_room(c->d);
    return pct_tree_spread(c->d->tree, (uint32_t)c->row, room.values, room.present);
}

/* Figure of the node's own calls. */
static void own_figure(const struct pct_cell *c, struct pct_value *out)
{
    const struct pct_call_sum t = own_of(c).calls;
    struct pct_figures f = {t.sum, t.min_ns, t.max_ns, {0}};
    pct_figure(c->d, f, c->column->which, out);
}

/* Inclusive figure of calls. */
static void below_figure(const struct pct_cell *c, struct pct_value *out)
{
    const struct pct_below below = below_of(c);
    struct pct_figures f = {below.sum, 0, 0, {0}};
    if (c->column->which >= PCT_FIGURE_RANKS)
        f.spread = spread_of(c);
    pct_figure(c->d, f, c->column->which, out);
}

/* ---- Samples ---- */

enum { SELF, TOTAL, COMPUTED };

static struct pct_sampled part_of(const struct pct_cell *c)
{
    switch (c->column->of) {
    case SELF:
        return own_of(c).self;
    case TOTAL:
        return below_of(c).total;
    default:
        return below_of(c).computed;
    }
}

static bool is_sampled(const struct pct_cell *c, struct pct_value *out)
{
    out->none = !c->d->tree->samples;
    return !out->none;
}

static void get_samples(const struct pct_cell *c, struct pct_value *out)
{
    if (is_sampled(c, out))
        out->number = part_of(c).samples;
}

static void get_time(const struct pct_cell *c, struct pct_value *out)
{
    if (is_sampled(c, out))
        out->number = part_of(c).ns;
}

static void get_error(const struct pct_cell *c, struct pct_value *out)
{
    if (is_sampled(c, out))
        pct_sample_error(c->d, part_of(c), out);
}

/* clang-format off */
static const struct pct_column node_columns[] = {
    PCT_CALLS_COLUMNS(own_figure, 0),
    PCT_EXCLUSIVE_COLUMN(own_figure, 0),
    {"mpi_inclusive_s", "below", PCT_NS,
     "time in MPI there and in everything that was called from there, nested time once",
     below_figure, PCT_FIGURE_TIME},
    {"cpu_exclusive_s", "self", PCT_NS, "CPU time sampled right there, all ranks and threads",
     get_time, 0, SELF, "cpu_exclusive_error_s"},
    {"cpu_exclusive_error_s", "+-", PCT_NS,
     "half of the 95 % interval of cpu_exclusive_s; unknown below 10 samples", get_error, 0, SELF},
    {"cpu_inclusive_s", "total", PCT_NS, "CPU time sampled there and in all below, MPI calls too",
     get_time, 0, TOTAL, "cpu_inclusive_error_s"},
    {"cpu_inclusive_error_s", "+-", PCT_NS,
     "half of the 95 % interval of cpu_inclusive_s; unknown below 10 samples", get_error, 0, TOTAL},
    {"computation_s", "computation", PCT_NS, "part of cpu_inclusive_s outside of MPI calls",
     get_time, 0, COMPUTED, "computation_error_s"},
    {"computation_error_s", "+-", PCT_NS,
     "half of the 95 % interval of computation_s; unknown below 10 samples",
     get_error, 0, COMPUTED},
    PCT_DURATION_COLUMNS(own_figure, 0),
    PCT_BYTES_COLUMNS(own_figure, 0),
    {"inclusive_calls", "below", PCT_COUNT,
     "calls there and in everything that was called from there", below_figure, PCT_FIGURE_CALLS},
    {"inclusive_bytes_sent", "below", PCT_BYTES, "bytes_sent with what was called from there",
     below_figure, PCT_FIGURE_SENT},
    {"inclusive_bytes_received", "below", PCT_BYTES,
     "bytes_received with what was called from there", below_figure, PCT_FIGURE_RECEIVED},
    {"samples", "samples", PCT_COUNT, "samples of cpu_exclusive_s", get_samples, 0, SELF},
    {"inclusive_samples", "total", PCT_COUNT, "samples of cpu_inclusive_s", get_samples, 0, TOTAL},
    {"computation_samples", "computation", PCT_COUNT, "samples of computation_s",
     get_samples, 0, COMPUTED},
    PCT_SPREAD_COLUMNS(below_figure, 0),
};
/* clang-format on */

const struct pct_table pct_nodes_table = {
    .name = "nodes",
    .doc = "one row for each node of a tree",
    .count = count_nodes,
    PCT_COLUMNS(node_columns),
};
