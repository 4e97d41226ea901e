/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The table `contexts`: calls of MPI by calling context.
 */
#include "view/tables/figures.h"
#include "view/tables/tables.h"

#include <math.h>

static size_t count_contexts(const struct pct_data *d)
{
    return pct_data_contexts(d)->n;
}

static const struct pct_node *context_of(const struct pct_cell *c)
{
    return &pct_data_tree(c->d)->nodes[pct_data_contexts(c->d)->node[c->row]];
}

static void context_path(const struct pct_cell *c, struct pct_value *out)
{
    pct_path_value(pct_data_tree(c->d), context_of(c)->parent, out);
    out->none = false;
}

static void context_frame(const struct pct_cell *c, struct pct_value *out)
{
    pct_frame_value(context_of(c)->parent, out);
}

static void context_op(const struct pct_cell *c, struct pct_value *out)
{
    pct_value_text(c->d, c->d->profile->ops[context_of(c)->op].name, out);
}

static void context_figure(const struct pct_cell *c, struct pct_value *out)
{
    uint32_t node = pct_data_contexts(c->d)->node[c->row];
    const struct pct_call_sum calls = pct_tree_own(pct_data_tree(c->d), node).calls;
    struct pct_figures f = {calls.sum, calls.min_ns, calls.max_ns, {0}};
    if (c->column->which >= PCT_FIGURE_RANKS)
        f.spread = pct_data_context_spread(c->d, c->row);
    pct_figure(c->d, f, c->column->which, out);
}

static void context_id(const struct pct_cell *c, struct pct_value *out)
{
    pct_id_value(c->d, context_of(c)->context, out);
}

static void context_collapsed(const struct pct_cell *c, struct pct_value *out)
{
    out->integer = (context_of(c)->flags & PCOLLECT_FLAG_COLLAPSED) != 0;
}

static void context_waiting(const struct pct_cell *c, struct pct_value *out)
{
    const double *waiting_ns = pct_data_waiting(c->d);
    out->none = !waiting_ns;
    if (waiting_ns)
        out->number = (pc_u128)llround(waiting_ns[pct_data_contexts(c->d)->node[c->row]]);
}

static void context_picture(const struct pct_table *t, const struct pct_data *d, size_t row,
                            uint64_t *values, bool *present)
{
    (void)t;
    pct_tree_ranks(pct_data_tree(d), pct_data_contexts(d)->node[row], PCT_TIME, values, present);
}

static const struct pct_column context_columns[] = {
    {"path", "path", PCT_TEXT, "frames from the root to the call, joined by \" > \"", context_path,
     .labels = true},
    {"primitive", "primitive", PCT_TEXT, "name of the MPI function", context_op},
    PCT_CALLS_COLUMNS(context_figure, 0),
    PCT_EXCLUSIVE_COLUMN(context_figure, 0),
    PCT_SHARE_COLUMN(context_figure, 0),
    PCT_DURATION_COLUMNS(context_figure, 0),
    PCT_BYTES_COLUMNS(context_figure, 0),
    PCT_SPREAD_COLUMNS(context_figure, 0),
    {"collapsed", "collapsed", PCT_YES_NO,
     "yes: holds calls of deeper contexts for which there was no memory", context_collapsed},
    PCT_CONTEXT_COLUMN(context_id, 0),
    {"waiting_s", "waiting", PCT_NS,
     "part of the MPI function's waiting_s in the table primitives: contexts share it by how much "
     "longer ranks are there than the rank that is waited for",
     context_waiting, .asked = true},
    PCT_FRAME_COLUMN(context_frame, 0, "number of the last frame of path"),
};

const struct pct_table pct_contexts_table = {
    .name = "contexts",
    .doc = "one row for each MPI function in each calling context",
    .count = count_contexts,
    .sort = "mpi_exclusive_s",
    .percent = "mpi_exclusive_percent",
    .of_tree = true,
    PCT_COLUMNS(context_columns),
    .picture = context_picture,
};
