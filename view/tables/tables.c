/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The tables of the report and their columns. Names and meanings are what scripts rely on: columns
 * may be added at the end of a table, none may change or go.
 */
#include "analysis/findings/findings.h"
#include "include/pcollect/plugin.h"
#include "view/table.h"
#include "view/tables/figures.h"

/* ---- Values -----------------------------------------------------------------------------------
 */

static void set_number(pc_u128 number, struct pct_value *out)
{
    out->number = number;
}

/* ---- primitives -------------------------------------------------------------------------------
 */

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
    return &c->d->model->ops[c->row];
}

static void op_name(const struct pct_cell *c, struct pct_value *out)
{
    pct_value_text(c->d, c->d->profile->ops[c->row].name, out);
}

static struct pct_figures op_figures(const struct pct_cell *c)
{
    const struct pct_totals *t = &op_of(c)->totals;
    return (struct pct_figures){t->sum, t->min_ns, t->max_ns,
                                pct_model_op_time(c->d->model, (uint32_t)c->row)};
}

static void op_figure(const struct pct_cell *c, struct pct_value *out)
{
    pct_figure(c->d, op_figures(c), c->column->which, out);
}

static void op_wall_percent(const struct pct_cell *c, struct pct_value *out)
{
    set_number(pct_text_share(op_of(c)->totals.sum[PCT_EXCLUSIVE], c->d->model->all.wall_ns), out);
}

static void op_contexts(const struct pct_cell *c, struct pct_value *out)
{
    set_number(op_of(c)->n_contexts, out);
}

static void op_class(const struct pct_cell *c, struct pct_value *out)
{
    uint16_t class = c->d->profile->ops[c->row].op_class;
    out->text = class_names[class < PCOLLECT_N_CLASSES ? class : PCOLLECT_CLASS_OTHER];
}

static void op_picture(const struct pct_table *t, const struct pct_data *d, size_t row,
                       uint64_t *values, bool *present)
{
    (void)t;
    for (uint32_t i = 0; i < d->profile->n_nodes; i++)
        if (d->profile->nodes[pct_model_call(d->profile, i)].op == row)
            pct_model_add_ranks(d->model, i, PCT_TIME, values, present);
}

static const struct pct_column primitive_columns[] = {
    {"primitive", "primitive", PCT_TEXT, "name of the MPI function", op_name},
    PCT_SUM_COLUMNS(op_figure, 0),
    PCT_EXCLUSIVE_COLUMN(op_figure, 0),
    PCT_DURATION_COLUMNS(op_figure, 0),
    PCT_SHARE_COLUMN(op_figure, 0),
    {"wall_percent", "of wall", PCT_PERCENT, "exclusive_s as a share of the wall time of all ranks",
     op_wall_percent},
    PCT_SPREAD_COLUMNS(op_figure, 0),
    {"contexts", "contexts", PCT_COUNT, "calling contexts of the profile, by address", op_contexts},
    {"class", "class", PCT_TEXT,
     "environment, point-to-point, collective, completion, communicator, datatype, group, file, "
     "one-sided or other",
     op_class},
};

/* ---- ranks ------------------------------------------------------------------------------------
 */

static size_t count_ranks(const struct pct_data *d)
{
    return d->profile->n_ranks;
}

static const struct pc_profile_rank *rank_of(const struct pct_cell *c)
{
    return &c->d->profile->ranks[c->row];
}

static void rank_number(const struct pct_cell *c, struct pct_value *out)
{
    out->integer = rank_of(c)->rank;
}

static void rank_host(const struct pct_cell *c, struct pct_value *out)
{
    pct_value_text(c->d, rank_of(c)->host, out);
}

static void rank_pid(const struct pct_cell *c, struct pct_value *out)
{
    out->integer = rank_of(c)->pid;
}

static void rank_wall(const struct pct_cell *c, struct pct_value *out)
{
    set_number(pct_model_wall_ns(rank_of(c)), out);
}

static void rank_mpi(const struct pct_cell *c, struct pct_value *out)
{
    set_number(rank_of(c)->mpi_ns, out);
}

static void rank_before(const struct pct_cell *c, struct pct_value *out)
{
    set_number(rank_of(c)->before_init_ns, out);
}

static void rank_inside(const struct pct_cell *c, struct pct_value *out)
{
    set_number(rank_of(c)->inside_ns, out);
}

static void rank_after(const struct pct_cell *c, struct pct_value *out)
{
    set_number(rank_of(c)->after_ns, out);
    out->none = !rank_of(c)->closed;
}

static void rank_mpi_calls(const struct pct_cell *c, struct pct_value *out)
{
    set_number(rank_of(c)->mpi_calls, out);
}

static void rank_threads(const struct pct_cell *c, struct pct_value *out)
{
    set_number(rank_of(c)->n_threads, out);
}

static void rank_complete(const struct pct_cell *c, struct pct_value *out)
{
    out->integer = !rank_of(c)->incomplete;
}

static void rank_closed(const struct pct_cell *c, struct pct_value *out)
{
    out->integer = rank_of(c)->closed != 0;
}

static void rank_mpi_percent(const struct pct_cell *c, struct pct_value *out)
{
    const struct pc_profile_rank *r = rank_of(c);
    set_number(pct_text_share(r->mpi_ns, pct_model_wall_ns(r)), out);
}

static void rank_compute(const struct pct_cell *c, struct pct_value *out)
{
    set_number(pct_model_compute_ns(rank_of(c)), out);
}

static void rank_merge(const struct pct_cell *c, struct pct_value *out)
{
    set_number(rank_of(c)->merge_ns, out);
}

static void rank_start(const struct pct_cell *c, struct pct_value *out)
{
    set_number(rank_of(c)->start_realtime_ns, out);
    out->none = !out->number;
}

static void rank_lost(const struct pct_cell *c, struct pct_value *out)
{
    for (size_t k = 0; k < PCOLLECT_N_LOST; k++)
        out->number += rank_of(c)->lost[k];
}

static const struct pct_column rank_columns[] = {
    {"rank", "rank", PCT_INTEGER, "rank in MPI_COMM_WORLD", rank_number},
    {"host", "host", PCT_TEXT, "host that it ran on", rank_host},
    {"pid", "pid", PCT_INTEGER, "process id on that host", rank_pid},
    {"wall_s", "wall", PCT_NS, "time from the start of the program to its exit", rank_wall},
    {"mpi_s", "MPI", PCT_NS, "time in MPI calls of all threads, nested calls not counted twice",
     rank_mpi},
    {"before_init_s", "before", PCT_NS, "part of wall_s before MPI_Init", rank_before},
    {"inside_s", "inside", PCT_NS, "part of wall_s from MPI_Init to the return of MPI_Finalize",
     rank_inside},
    {"after_s", "after", PCT_NS, "part of wall_s after MPI_Finalize; empty if it was not seen",
     rank_after},
    {"mpi_calls", "calls", PCT_COUNT, "MPI calls, without those made inside others",
     rank_mpi_calls},
    {"threads", "threads", PCT_COUNT, "threads that called MPI", rank_threads},
    {"complete", "complete", PCT_YES_NO, "no: MPI_Finalize was not reached, the data was recovered",
     rank_complete},
    {"closed", "closed", PCT_YES_NO, "yes: the process was seen to its end", rank_closed},
    {"mpi_percent", "of wall", PCT_PERCENT, "mpi_s as a share of wall_s", rank_mpi_percent},
    {"compute_s", "outside MPI", PCT_NS, "inside_s without mpi_s and merge_s", rank_compute},
    {"merge_s", "merge", PCT_NS, "time in MPI_Finalize that pcollect took for itself", rank_merge},
    {"start_s", "start", PCT_NS, "start of the program, in seconds since 1970 UTC", rank_start},
    {"lost", "left out", PCT_COUNT, "things left out, see the table lost", rank_lost},
};

/* ---- contexts ---------------------------------------------------------------------------------
 */

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
    out->text = pct_data_context_path(c->d, c->row);
}

static void context_op(const struct pct_cell *c, struct pct_value *out)
{
    pct_value_text(c->d, c->d->profile->ops[context_of(c)->op].name, out);
}

static struct pct_figures context_figures(const struct pct_cell *c)
{
    const struct pct_totals *t = &context_of(c)->own;
    return (struct pct_figures){t->sum, t->min_ns, t->max_ns,
                                pct_data_context_spread(c->d, c->row)};
}

static void context_figure(const struct pct_cell *c, struct pct_value *out)
{
    pct_figure(c->d, context_figures(c), c->column->which, out);
}

static void context_id(const struct pct_cell *c, struct pct_value *out)
{
    pct_context_value(c->d, context_of(c)->context, out);
}

static void context_collapsed(const struct pct_cell *c, struct pct_value *out)
{
    out->integer = (context_of(c)->flags & PCOLLECT_FLAG_COLLAPSED) != 0;
}

static void context_picture(const struct pct_table *t, const struct pct_data *d, size_t row,
                            uint64_t *values, bool *present)
{
    (void)t;
    pct_tree_ranks(pct_data_tree(d), pct_data_contexts(d)->node[row], PCT_TIME, values, present);
}

static const struct pct_column context_columns[] = {
    {"path", "path", PCT_TEXT, "frames from the root to the call, joined by \" > \"", context_path},
    {"primitive", "primitive", PCT_TEXT, "name of the MPI function", context_op},
    PCT_SUM_COLUMNS(context_figure, 0),
    PCT_EXCLUSIVE_COLUMN(context_figure, 0),
    PCT_DURATION_COLUMNS(context_figure, 0),
    PCT_SHARE_COLUMN(context_figure, 0),
    PCT_SPREAD_COLUMNS(context_figure, 0),
    {"collapsed", "collapsed", PCT_YES_NO,
     "yes: holds calls of deeper contexts for which there was no memory", context_collapsed},
    PCT_CONTEXT_COLUMN(context_id, 0),
};

/* ---- modules ----------------------------------------------------------------------------------
 */

static size_t count_modules(const struct pct_data *d)
{
    return d->profile->n_modules;
}

static void module_path(const struct pct_cell *c, struct pct_value *out)
{
    pct_value_text(c->d, c->d->profile->modules[c->row].path, out);
}

static void module_build_id(const struct pct_cell *c, struct pct_value *out)
{
    const struct pc_profile_module *m = &c->d->profile->modules[c->row];
    struct pct_buf b = {0};
    pct_buf_put(&b, "", 0);
    for (uint32_t i = 0; i < m->build_id_bytes && i < PCOLLECT_BUILD_ID_BYTES; i++)
        pct_buf_format(&b, "%02x", m->build_id[i]);
    pct_value_text(c->d, b.data, out);
    pct_buf_free(&b);
}

static void module_frames(const struct pct_cell *c, struct pct_value *out)
{
    set_number(pct_data_frames(c->d)[c->row], out);
}

static void module_symbols(const struct pct_cell *c, struct pct_value *out)
{
    out->text = pct_symbols_state_text(pct_symbols_state(pct_data_symbols(c->d), (uint32_t)c->row));
}

static void module_complaint(const struct pct_cell *c, struct pct_value *out)
{
    out->text = pct_symbols_complaint(pct_data_symbols(c->d), (uint32_t)c->row);
}

static const struct pct_column module_columns[] = {
    {"module", "module", PCT_TEXT, "path of the program or library when it ran", module_path},
    {"build_id", "build-id", PCT_TEXT, "its build-id in hexadecimal; empty without",
     module_build_id},
    {"frames", "frames", PCT_COUNT, "nodes of the calling-context tree in it", module_frames},
    {"symbols", "symbols", PCT_TEXT,
     "lines: functions and lines are known; functions: a symbol table only; stripped: neither; "
     "gone, changed (another build-id), unreadable: the file is not there as it ran; no file: of "
     "the kernel; unused: no frame in it; off: pcollect was built without libdw",
     module_symbols},
    {"note", "note", PCT_TEXT, "what is wrong with its symbols, and the cure", module_complaint},
};

/* ---- lost -------------------------------------------------------------------------------------
 */

static size_t count_lost(const struct pct_data *d)
{
    (void)d;
    return PCOLLECT_N_LOST;
}

static void lost_what(const struct pct_cell *c, struct pct_value *out)
{
    out->text = pcollect_lost_names[c->row];
}

static void lost_count(const struct pct_cell *c, struct pct_value *out)
{
    set_number(c->d->model->all.lost[c->row], out);
}

static void lost_ranks(const struct pct_cell *c, struct pct_value *out)
{
    set_number(c->d->model->all.lost_ranks[c->row], out);
}

static const struct pct_column lost_columns[] = {
    {"what", "what", PCT_TEXT, "what was left out", lost_what},
    {"count", "count", PCT_COUNT, "how often, in all ranks", lost_count},
    {"ranks", "ranks", PCT_COUNT, "ranks that left some out", lost_ranks},
};

/* ---- All --------------------------------------------------------------------------------------
 */

#define COLUMNS(a) a, PC_ARRAY_LEN(a)

const struct pct_table pct_tables[] = {
    {"header", "one row: the whole run", pct_header_count, NULL, NULL, pct_header_columns,
     PCT_N_HEADER_COLUMNS},
    {"findings", "what the run loses, greatest saving first (doc/findings.md)", pct_count_findings,
     NULL, NULL, pct_finding_columns, PCT_N_FINDING_COLUMNS},
    {"primitives", "one row for each MPI function that was called", count_ops, "exclusive_s",
     "mpi_percent", COLUMNS(primitive_columns), op_picture},
    {"ranks", "one row for each rank", count_ranks, NULL, NULL, COLUMNS(rank_columns)},
    {"contexts", "one row for each MPI function in each calling context", count_contexts,
     "exclusive_s", "mpi_percent", COLUMNS(context_columns), context_picture},
    {"call_sites", "one row for each place that calls an MPI function, whatever called it",
     pct_count_call_sites, "exclusive_s", "mpi_percent", pct_call_site_columns,
     PCT_N_CALL_SITE_COLUMNS, pct_call_picture},
    {"callers",
     "MPI functions, below each what called it, outwards: one row for each node of that tree",
     pct_count_callers, NULL, "mpi_percent", pct_caller_columns, PCT_N_CALLER_COLUMNS,
     pct_caller_picture},
    {"lines", "one row for each line that called MPI, called what did, or was sampled",
     pct_count_line_calls, "below_s", "below_percent", pct_line_call_columns,
     PCT_N_LINE_CALL_COLUMNS, pct_call_picture},
    {"function_calls", "the same by function", pct_count_function_calls, "exclusive_s",
     "below_percent", pct_function_call_columns, PCT_N_FUNCTION_CALL_COLUMNS, pct_call_picture},
    {"sources", "the same by source file", pct_count_source_calls, "exclusive_s", "below_percent",
     pct_source_call_columns, PCT_N_SOURCE_CALL_COLUMNS, pct_call_picture},
    {"module_calls", "the same by program or library", pct_count_module_calls, "exclusive_s",
     "below_percent", pct_module_call_columns, PCT_N_MODULE_CALL_COLUMNS, pct_call_picture},
    {"communicator_calls", "one row for each MPI function on each communicator",
     pct_count_communicator_calls, "time_s", NULL, pct_communicator_call_columns,
     PCT_N_COMMUNICATOR_CALL_COLUMNS, pct_call_picture},
    {"flat", "one row for each line that computed or called what did, by samples", pct_count_lines,
     "self_s", "total_percent", pct_flat_columns, PCT_N_FLAT_COLUMNS, pct_sample_picture},
    {"functions", "one row for each function that computed or called what did, by samples",
     pct_count_functions, "self_s", "total_percent", pct_function_columns, PCT_N_FUNCTION_COLUMNS,
     pct_sample_picture},
    {"computation", "one row for each function in each calling context, by samples",
     pct_count_contexts, "total_s", "total_percent", pct_computation_columns,
     PCT_N_COMPUTATION_COLUMNS, pct_sample_picture},
    {"sample_callers", "functions that computed, below each what called it, outwards, by samples",
     pct_count_sample_callers, "path", "percent", pct_sample_caller_columns,
     PCT_N_SAMPLE_CALLER_COLUMNS},
    {"counts", "events counted in each calling context, between MPI calls by samples",
     pct_count_counts, "count", "percent", pct_count_columns, PCT_N_COUNT_COLUMNS},
    {"estimates", "events estimated in each calling context, by windows (doc/error-bars.md)",
     pct_count_estimates, NULL, "percent", pct_estimate_columns, PCT_N_ESTIMATE_COLUMNS},
    {"ratios", "ratios of these, in each calling context", pct_count_ratios, NULL, "percent",
     pct_ratio_columns, PCT_N_RATIO_COLUMNS},
    {"modules", "one row for each program or library that frames are in", count_modules, NULL, NULL,
     COLUMNS(module_columns)},
    {"lost", "what the profile lacks, by kind", count_lost, NULL, NULL, COLUMNS(lost_columns)},
};

const size_t pct_n_tables = PC_ARRAY_LEN(pct_tables);
