/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The table `primitives`: one row for each MPI function that was called.
 */
#include "include/pcollect/plugin.h"
#include "view/tables/figures.h"
#include "view/tables/tables.h"

#include <math.h>
#include <string.h>

static const char *const class_names[PCOLLECT_N_CLASSES] = {
    [PCOLLECT_CLASS_OTHER] = "other",
    [PCOLLECT_CLASS_ENV] = "environment",
    [PCOLLECT_CLASS_P2P] = "point-to-point",
    [PCOLLECT_CLASS_COLL] = "collective",
    [PCOLLECT_CLASS_COMPLETION] = "completion",
    [PCOLLECT_CLASS_COMM] = "communicator",
    [PCOLLECT_CLASS_TYPE] = "datatype",
    [PCOLLECT_CLASS_GROUP] = "group",
    [PCOLLECT_CLASS_IO] = "file",
    [PCOLLECT_CLASS_RMA] = "one-sided",
    [PCOLLECT_CLASS_TOPO] = "topology",
    [PCOLLECT_CLASS_ATTR] = "attribute",
    [PCOLLECT_CLASS_INFO] = "info",
    [PCOLLECT_CLASS_ERROR] = "error",
    [PCOLLECT_CLASS_PROCESS] = "process",
    [PCOLLECT_CLASS_SESSION] = "session",
    [PCOLLECT_CLASS_TOOL] = "tool",
};

static size_t count_ops(const struct pct_data *d)
{
    return d->profile->n_ops;
}

static const struct pct_op *op_of(const struct pct_cell *c)
{
    return &c->d->totals->ops[c->row];
}

static void op_name(const struct pct_cell *c, struct pct_value *out)
{
    pct_value_text(c->d, c->d->profile->ops[c->row].name, out);
}

static struct pct_figures op_figures(const struct pct_cell *c)
{
    const struct pct_call_sum *t = &op_of(c)->calls;
    return (struct pct_figures){t->sum, t->min_ns, t->max_ns,
                                pct_totals_op_time(c->d->totals, (uint32_t)c->row)};
}

static void op_figure(const struct pct_cell *c, struct pct_value *out)
{
    pct_figure(c->d, op_figures(c), c->column->which, out);
}

static void op_wall_percent(const struct pct_cell *c, struct pct_value *out)
{
    out->number =
        pct_text_share(op_of(c)->calls.sum[PCT_EXCLUSIVE], c->d->totals->all.threads_wall_ns);
}

static void op_waiting(const struct pct_cell *c, struct pct_value *out)
{
    struct pct_wait_times waiting = pct_data_wait_times(c->d);
    out->none = !waiting.known;
    out->number = (pc_u128)llround(waiting.op_ns[c->row]);
}

static void op_contexts(const struct pct_cell *c, struct pct_value *out)
{
    out->number = op_of(c)->n_contexts;
}

static void op_class(const struct pct_cell *c, struct pct_value *out)
{
    uint16_t class = c->d->profile->ops[c->row].op_class;
    pct_value_plain(class_names[class < PCOLLECT_N_CLASSES ? class : PCOLLECT_CLASS_OTHER], out);
}

static void op_picture(const struct pct_table *t, const struct pct_data *d, size_t row,
                       uint64_t *values, bool *present)
{
    (void)t;
    (void)present;
    memcpy(values, pct_totals_op_values(d->totals, (uint32_t)row),
           d->profile->n_ranks * sizeof *values);
}

static const struct pct_column primitive_columns[] = {
    {"primitive", "primitive", PCT_TEXT, "name of the MPI function", op_name},
    PCT_CALLS_COLUMNS(op_figure, 0),
    PCT_EXCLUSIVE_COLUMN(op_figure, 0),
    PCT_SHARE_COLUMN(op_figure, 0),
    {"wall_percent", "of wall", PCT_PERCENT,
     "mpi_exclusive_s as a share of the wall time of all ranks, and of their other threads that "
     "called MPI",
     op_wall_percent, .mpi = true},
    PCT_DURATION_COLUMNS(op_figure, 0),
    PCT_BYTES_COLUMNS(op_figure, 0),
    PCT_SPREAD_COLUMNS(op_figure, 0),
    {"contexts", "contexts", PCT_COUNT, "calling contexts of the profile, by address", op_contexts},
    {"class", "class", PCT_TEXT,
     "environment, point-to-point, collective, completion, communicator, datatype, group, file, "
     "one-sided or other",
     op_class},
    {"waiting_s", "waiting", PCT_NS,
     "part of mpi_exclusive_s in which ranks waited for the rank that is longest outside MPI, as "
     "in the "
     "table ranks; empty if it is not known",
     op_waiting},
};

const struct pct_table pct_primitives_table = {
    .name = "primitives",
    .doc = "one row for each MPI function that was called",
    .count = count_ops,
    .in_order = true,
    .sort = "mpi_exclusive_s",
    .percent = "mpi_exclusive_percent",
    PCT_COLUMNS(primitive_columns),
    .picture = op_picture,
};
