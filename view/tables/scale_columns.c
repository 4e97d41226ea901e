/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The tables of pcollect scale and their columns. Scripts rely on names and meanings: columns may
 * be added at the end of a table, but none may be changed or removed.
 */
#include "view/compare_print.h"
#include "view/tables/figures.h"

#include <math.h>

static void set_ns(double ns, struct pct_value *out)
{
    out->number = pct_text_whole(ns);
}

static void set_change(double ns, struct pct_value *out)
{
    out->integer = llround(ns);
}

static void set_part(double part, struct pct_value *out)
{
    out->none = !(part > 0);
    out->number = part > 0 ? (pc_u128)round(part * 100000) : 0;
}

static void set_ratio(double v, struct pct_value *out)
{
    out->none = !(v > 0);
    out->number = v > 0 ? (pc_u128)round(v * 1000) : 0;
}

static void set_real(bool there, double v, struct pct_value *out)
{
    out->none = !there;
    out->real = v;
}

/* ---- scales ---------------------------------------------------------------------------------- */

static const struct pct_scale_point *point_at(const struct pct_cell *c)
{
    return &pct_data_scale(c->d)->points[c->row];
}

static size_t count_points(const struct pct_data *d)
{
    return pct_data_scale(d)->n_points;
}

static void point_ranks(const struct pct_cell *c, struct pct_value *out)
{
    out->number = (pc_u128)point_at(c)->ranks;
}

static void point_runs(const struct pct_cell *c, struct pct_value *out)
{
    out->number = point_at(c)->n_runs;
}

static void point_time(const struct pct_cell *c, struct pct_value *out)
{
    set_ns(point_at(c)->time_ns, out);
}

static void point_speed_up(const struct pct_cell *c, struct pct_value *out)
{
    set_ratio(point_at(c)->speed_up, out);
}

static void point_efficiency(const struct pct_cell *c, struct pct_value *out)
{
    set_part(point_at(c)->efficiency, out);
}

static void point_parallel(const struct pct_cell *c, struct pct_value *out)
{
    set_part(point_at(c)->parallel, out);
}

static void point_balance(const struct pct_cell *c, struct pct_value *out)
{
    set_part(point_at(c)->balance, out);
}

static void point_communication(const struct pct_cell *c, struct pct_value *out)
{
    set_part(point_at(c)->communication, out);
}

static void point_computation(const struct pct_cell *c, struct pct_value *out)
{
    set_part(point_at(c)->computation, out);
}

static void point_core(const struct pct_cell *c, struct pct_value *out)
{
    set_ns(point_at(c)->core_ns, out);
}

static void point_compute(const struct pct_cell *c, struct pct_value *out)
{
    out->none = point_at(c)->guessed;
    set_ns(point_at(c)->compute_ns, out);
}

static void point_size(const struct pct_cell *c, struct pct_value *out)
{
    set_real(pct_data_scale(c->d)->options.sizes != NULL, point_at(c)->size, out);
}

static void set_left_out(const struct pct_cell *c, double ns, struct pct_value *out)
{
    double whole_ns = pct_scale_whole_ns(point_at(c));
    out->none = !(whole_ns > 0);
    out->number = whole_ns > 0 ? (pc_u128)llround(ns / whole_ns * 100000) : 0;
}

static void point_library(const struct pct_cell *c, struct pct_value *out)
{
    set_left_out(c, point_at(c)->library_ns, out);
}

static void point_delayed(const struct pct_cell *c, struct pct_value *out)
{
    set_left_out(c, point_at(c)->delayed_ns, out);
}

static void point_init(const struct pct_cell *c, struct pct_value *out)
{
    set_ns(point_at(c)->init_ns / point_at(c)->ranks, out);
}

static void point_end(const struct pct_cell *c, struct pct_value *out)
{
    set_ns(point_at(c)->end_ns / point_at(c)->ranks, out);
}

static void point_threads(const struct pct_cell *c, struct pct_value *out)
{
    const struct pct_scale *s = pct_data_scale(c->d);
    out->none = !s->by_threads;
    out->number = s->by_threads ? (pc_u128)point_at(c)->width : 0;
}

static void point_threading(const struct pct_cell *c, struct pct_value *out)
{
    set_part(pct_data_scale(c->d)->by_threads ? point_at(c)->threads : 0, out);
}

static void point_work(const struct pct_cell *c, struct pct_value *out)
{
    out->none = !pct_data_scale(c->d)->by_threads || !(point_at(c)->work_ns > 0);
    set_ns(point_at(c)->work_ns, out);
}

static void point_wall(const struct pct_cell *c, struct pct_value *out)
{
    set_ns(point_at(c)->wall_ns, out);
}

static const struct pct_column point_columns[] = {
    {"ranks", "ranks", PCT_COUNT, "ranks of the job", point_ranks},
    {"runs", "runs", PCT_COUNT,
     "profiles with that many ranks, or threads; figures are means over them", point_runs},
    {"time_s", "time", PCT_NS,
     "longest rank from the end of MPI_Init to that of MPI_Finalize, without what this takes by "
     "itself and without waiting for a processor",
     point_time},
    {"speed_up", "speed-up", PCT_RATIO, "against the smallest scale", point_speed_up},
    {"efficiency_percent", "efficiency", PCT_PERCENT,
     "core-seconds that ideal scaling from the smallest scale would need, as a share of those that "
     "were used",
     point_efficiency},
    {"parallel_percent", "parallel", PCT_PERCENT,
     "parallel efficiency: mean computation of a rank over the time; the product of the next two. "
     "If threads are compared: mean work of a thread over the time; the product with "
     "threading_percent, too",
     point_parallel},
    {"balance_percent", "balance", PCT_PERCENT,
     "load balance: mean computation of a rank over that of the busiest rank", point_balance},
    {"communication_percent", "communication", PCT_PERCENT,
     "communication efficiency: computation of the busiest rank over the time",
     point_communication},
    {"computation_percent", "computation", PCT_PERCENT,
     "computation scalability: total of computation that ideal scaling would need, as a share of "
     "the total that was used",
     point_computation},
    {"core_s", "core time", PCT_NS, "time_s on each rank, or thread, summed", point_core},
    {"compute_s", "outside MPI", PCT_NS,
     "time_s outside MPI, summed over ranks; none, as all that follows from it, if it is too short "
     "for "
     "samples "
     "and may be waiting for a processor",
     point_compute},
    {"size", "size", PCT_REAL, "size of the problem, from --sizes", point_size},
    {"delayed_percent", "no processor", PCT_PERCENT,
     "part of the time of all ranks without MPI_Init in which they could run and no processor was "
     "free, or their main threads were blocked while other threads may have waited for one; the "
     "other columns leave it out; 0 if it is unknown",
     point_delayed},
    {"pcollect_percent", "pcollect", PCT_PERCENT,
     "part of the time of all ranks without MPI_Init that pcollect took outside MPI; the other "
     "columns leave it out; 0 if it is unknown",
     point_library},
    {"init_s", "MPI_Init", PCT_NS, "time in MPI_Init, mean of the ranks; left out of the others",
     point_init},
    {"end_s", "MPI_Finalize", PCT_NS,
     "time that MPI_Finalize takes on the rank that is there last; left out of the others, where "
     "waiting for that rank is counted",
     point_end},
    {"wall_s", "wall time", PCT_NS,
     "from start to end, mean of the ranks, with all that time_s leaves out", point_wall},
    {"threads", "threads", PCT_COUNT,
     "threads of all ranks, if these are compared because all runs have the same ranks; else none",
     point_threads},
    {"threading_percent", "threading", PCT_PERCENT,
     "work of all threads over the time outside MPI of main threads, for each of the threads of "
     "the rank; none if ranks are compared",
     point_threading},
    {"work_s", "work", PCT_NS,
     "CPU time of all threads outside MPI and outside of the runtime in which they wait for each "
     "other; none if ranks are compared",
     point_work},
};

/* ---- contexts -------------------------------------------------------------------------------- */

static const struct pct_scale_row *row_at(const struct pct_cell *c)
{
    return &pct_data_scale(c->d)->rows[c->row];
}

static size_t count_rows(const struct pct_data *d)
{
    return pct_data_scale(d)->n_rows;
}

static void set_of_rank(const struct pct_cell *c, size_t point, struct pct_value *out)
{
    const struct pct_scale_cost *cost = &row_at(c)->costs[point];
    out->none = cost->guessed;
    set_ns(cost->ns / pct_data_scale(c->d)->points[point].width, out);
}

static void row_lost(const struct pct_cell *c, struct pct_value *out)
{
    out->none = row_at(c)->lost_guessed;
    set_change(row_at(c)->lost_ns, out);
}

static void row_lost_percent(const struct pct_cell *c, struct pct_value *out)
{
    double core = pct_data_scale(c->d)->core_ns;
    out->none = !(core > 0) || row_at(c)->lost_guessed;
    out->integer = core > 0 ? llround(row_at(c)->lost_ns / core * 100000) : 0;
}

static void row_place(const struct pct_cell *c, struct pct_value *out)
{
    pct_value_plain(row_at(c)->place, out);
}

static void row_first(const struct pct_cell *c, struct pct_value *out)
{
    set_of_rank(c, pct_scale_first(pct_data_scale(c->d)), out);
}

static void row_last(const struct pct_cell *c, struct pct_value *out)
{
    set_of_rank(c, pct_scale_last(pct_data_scale(c->d)), out);
}

/* A figure that compares the smallest scale with the largest: "few" if one of them has few samples.
 */
static bool row_compares(const struct pct_cell *c, struct pct_value *out)
{
    bool few = pct_scale_has_rough_ends(pct_data_scale(c->d), row_at(c));
    pct_value_plain(few ? "few" : NULL, out);
    return !few && !row_at(c)->lost_guessed;
}

static void row_speed_up(const struct pct_cell *c, struct pct_value *out)
{
    bool known = row_compares(c, out);
    set_ratio(known ? row_at(c)->speed_up : 0, out);
}

static void row_efficiency(const struct pct_cell *c, struct pct_value *out)
{
    bool known = row_compares(c, out);
    set_part(known ? row_at(c)->efficiency : 0, out);
}

static void set_interned(const struct pct_data *d, const char *text, struct pct_value *out)
{
    pct_value_plain(pct_pool_intern(d->pool, text), out);
}

static void row_growth(const struct pct_cell *c, struct pct_value *out)
{
    char text[PCT_FIT_TEXT];
    if (pct_scale_trusts(row_at(c)))
        set_interned(c->d, pct_fit_growth(&row_at(c)->fit, pct_scale_parameters, text), out);
}

static void row_model(const struct pct_cell *c, struct pct_value *out)
{
    char text[PCT_FIT_TEXT];
    if (pct_scale_trusts(row_at(c)))
        set_interned(c->d, pct_fit_text(&row_at(c)->fit, pct_scale_parameters, text), out);
}

static void row_r2(const struct pct_cell *c, struct pct_value *out)
{
    set_real(pct_scale_trusts(row_at(c)), row_at(c)->fit.adjusted_r2, out);
}

static void row_few(const struct pct_cell *c, struct pct_value *out)
{
    out->none = !row_at(c)->modelled;
    out->integer = row_at(c)->fit.few;
}

static bool has_future(const struct pct_cell *c)
{
    return pct_scale_trusts(row_at(c)) && pct_data_scale(c->d)->options.predict > 0;
}

static void row_predicted(const struct pct_cell *c, struct pct_value *out)
{
    out->none = !has_future(c);
    set_ns(row_at(c)->future.value * 1e9, out);
}

static void row_low(const struct pct_cell *c, struct pct_value *out)
{
    out->none = !has_future(c);
    set_ns(row_at(c)->future.low * 1e9, out);
}

static void row_high(const struct pct_cell *c, struct pct_value *out)
{
    out->none = !has_future(c);
    set_ns(row_at(c)->future.high * 1e9, out);
}

static void row_path(const struct pct_cell *c, struct pct_value *out)
{
    pct_value_plain(pct_join_path(pct_data_scale(c->d)->join, row_at(c)->node), out);
}

static void row_context(const struct pct_cell *c, struct pct_value *out)
{
    const struct pct_join *join = pct_data_scale(c->d)->join;
    pct_id_value(c->d, join->nodes[row_at(c)->node].context, out);
}

static const struct pct_column row_columns[] = {
    {"place", "context", PCT_TEXT, "where the time is spent", row_place},
    {"lost_s", "lost", PCT_NS_CHANGE,
     "core-seconds at the largest scale beyond those of ideal scaling from the smallest; none, as "
     "all that follows from it, if computation is not known there (compute_s of the table scales)",
     row_lost},
    {"lost_percent", "of run", PCT_PERCENT_CHANGE,
     "lost_s as a share of all core-seconds at the largest scale", row_lost_percent},
    {"first_s", "per rank, first", PCT_NS,
     "time per rank at the smallest scale; none if computation is not known there", row_first},
    {"last_s", "per rank, last", PCT_NS,
     "time per rank at the largest scale; none if computation is not known there", row_last},
    {"speed_up", "speed-up", PCT_RATIO,
     "from the smallest to the largest scale; none of computation with fewer than ten samples at "
     "one of them",
     row_speed_up},
    {"efficiency_percent", "efficiency", PCT_PERCENT,
     "speed-up as a share of the ideal one; none as that", row_efficiency},
    {"growth", "time per rank grows as", PCT_TEXT,
     "fastest growing term of the model of the time per rank, with a minus if it is subtracted; "
     "empty with fewer than three scales that have the context, if the model misses points that "
     "are left out by half of their value or more or goes below 0 on more ranks, and for "
     "computation with fewer than ten samples in all runs",
     row_growth},
    {"model", "model", PCT_TEXT,
     "model of the time per rank in seconds; p is the number of ranks, or threads, n the size; "
     "scales that have no call or fewer than ten samples of the context are left out; empty as "
     "growth",
     row_model},
    {"adjusted_r2", "R2", PCT_REAL, "adjusted R2 of the model", row_r2},
    {"few", "few", PCT_YES_NO,
     "yes: fewer than five scales in the model, the form of the model is a guess", row_few},
    {"predicted_s", "predicted", PCT_NS, "time per rank at the scale of --predict; empty as growth",
     row_predicted},
    {"low_s", "from", PCT_NS, "lower end of its interval", row_low},
    {"high_s", "to", PCT_NS, "upper end", row_high},
    {"path", "path", PCT_TEXT, "the calling context, outermost function first", row_path,
     .labels = true},
    PCT_CONTEXT_COLUMN(row_context, 0),
};

/* ---- costs: one row a context and scale ------------------------------------------------------ */

static size_t count_costs(const struct pct_data *d)
{
    return pct_data_scale(d)->n_rows * pct_data_scale(d)->n_points;
}

static struct pct_cell row_of_cost(const struct pct_cell *c)
{
    return (struct pct_cell){c->d, c->row / pct_data_scale(c->d)->n_points, c->column};
}

static struct pct_cell point_of_cost(const struct pct_cell *c)
{
    return (struct pct_cell){c->d, c->row % pct_data_scale(c->d)->n_points, c->column};
}

static const struct pct_scale_cost *cost_at(const struct pct_cell *c)
{
    struct pct_cell row = row_of_cost(c);
    return &row_at(&row)->costs[point_of_cost(c).row];
}

static void cost_path(const struct pct_cell *c, struct pct_value *out)
{
    struct pct_cell row = row_of_cost(c);
    row_path(&row, out);
}

static void cost_ranks(const struct pct_cell *c, struct pct_value *out)
{
    struct pct_cell point = point_of_cost(c);
    point_ranks(&point, out);
}

static void cost_core(const struct pct_cell *c, struct pct_value *out)
{
    out->none = cost_at(c)->guessed;
    set_ns(cost_at(c)->ns, out);
}

static void cost_lost(const struct pct_cell *c, struct pct_value *out)
{
    struct pct_cell row = row_of_cost(c);
    size_t base = pct_data_scale(c->d)->points[point_of_cost(c).row].base;
    out->none = cost_at(c)->guessed || row_at(&row)->costs[base].guessed;
    set_change(cost_at(c)->lost_ns, out);
}

static void cost_threads(const struct pct_cell *c, struct pct_value *out)
{
    struct pct_cell point = point_of_cost(c);
    point_threads(&point, out);
}

static void cost_calls(const struct pct_cell *c, struct pct_value *out)
{
    set_real(true, cost_at(c)->calls, out);
}

static void cost_bytes(const struct pct_cell *c, struct pct_value *out)
{
    set_real(true, cost_at(c)->bytes, out);
}

static void cost_waits(const struct pct_cell *c, struct pct_value *out)
{
    out->none = cost_at(c)->guessed;
    set_ns(cost_at(c)->waits_ns, out);
}

static void cost_size(const struct pct_cell *c, struct pct_value *out)
{
    struct pct_cell point = point_of_cost(c);
    point_size(&point, out);
}

static void cost_context(const struct pct_cell *c, struct pct_value *out)
{
    struct pct_cell row = row_of_cost(c);
    row_context(&row, out);
}

static const struct pct_column cost_columns[] = {
    {"path", "path", PCT_TEXT, "the calling context, outermost function first", cost_path,
     .labels = true},
    {"ranks", "ranks", PCT_COUNT, "ranks of the job", cost_ranks},
    {"core_s", "core time", PCT_NS,
     "time summed over ranks, or time of main threads for each thread of the rank; mean of the "
     "runs; "
     "none, as all that follows from it, if computation "
     "is not known there (compute_s of the table scales)",
     cost_core},
    {"lost_s", "lost", PCT_NS_CHANGE,
     "core-seconds beyond those of ideal scaling from the smallest scale", cost_lost},
    {"calls", "calls", PCT_REAL, "calls of all ranks, mean of the runs", cost_calls},
    {"bytes", "bytes", PCT_REAL, "bytes sent and received, mean of the runs", cost_bytes},
    {"waits_s", "waits", PCT_NS,
     "part of core_s in which other ranks wait in MPI for the one that computes longest here",
     cost_waits},
    {"size", "size", PCT_REAL, "size of the problem, from --sizes", cost_size},
    PCT_CONTEXT_COLUMN(cost_context, 0),
    {"threads", "threads", PCT_COUNT, "threads of all ranks, if these are compared; else none",
     cost_threads},
};

const struct pct_table pct_scale_tables[] = {
    {"scales", "one row for each number of ranks, or threads", count_points, NULL, NULL,
     point_columns, PC_ARRAY_LEN(point_columns)},
    {"contexts",
     "one row for each context with a cost, in order of the loss, those without one last",
     count_rows, NULL, NULL, row_columns, PC_ARRAY_LEN(row_columns)},
    {"costs", "one row for each context and number of ranks, or threads", count_costs, NULL, NULL,
     cost_columns, PC_ARRAY_LEN(cost_columns)},
};
const size_t pct_n_scale_tables = PC_ARRAY_LEN(pct_scale_tables);
