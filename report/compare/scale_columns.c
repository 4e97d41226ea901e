/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The tables of pcollect scale and their columns. Names and meanings are what scripts rely on:
 * columns may be added at the end of a table, none may change or go.
 */
#include "report/compare/scale.h"

#include <math.h>

#define COLUMN_GETTER(name)                                                                        \
    static void name(const struct pct_data *d, size_t row, struct pct_value *out)

static void set_ns(double ns, struct pct_value *out)
{
    out->number = ns > 0 ? (pc_u128)llround(ns) : 0;
}

static void set_change(double ns, struct pct_value *out)
{
    out->integer = llround(ns);
}

static void set_part(double part, struct pct_value *out)
{
    out->none = !(part > 0);
    out->number = part > 0 ? (pc_u128)llround(part * 100000) : 0;
}

static void set_ratio(double v, struct pct_value *out)
{
    out->none = !(v > 0);
    out->number = v > 0 ? (pc_u128)llround(v * 1000) : 0;
}

static void set_real(bool there, double v, struct pct_value *out)
{
    out->none = !there;
    out->real = v;
}

/* ---- scales ----------------------------------------------------------------------------------
 */

static const struct pct_scale_point *point_at(const struct pct_data *d, size_t row)
{
    return &d->scale->points[row];
}

static size_t count_points(const struct pct_data *d)
{
    return d->scale->n_points;
}

COLUMN_GETTER(point_ranks)
{
    out->number = (pc_u128)point_at(d, row)->ranks;
}

COLUMN_GETTER(point_runs)
{
    out->number = point_at(d, row)->n_runs;
}

COLUMN_GETTER(point_time)
{
    set_ns(point_at(d, row)->time_ns, out);
}

COLUMN_GETTER(point_speed_up)
{
    set_ratio(point_at(d, row)->speed_up, out);
}

COLUMN_GETTER(point_efficiency)
{
    set_part(point_at(d, row)->efficiency, out);
}

COLUMN_GETTER(point_parallel)
{
    set_part(point_at(d, row)->parallel, out);
}

COLUMN_GETTER(point_balance)
{
    set_part(point_at(d, row)->balance, out);
}

COLUMN_GETTER(point_communication)
{
    set_part(point_at(d, row)->communication, out);
}

COLUMN_GETTER(point_computation)
{
    set_part(point_at(d, row)->computation, out);
}

COLUMN_GETTER(point_core)
{
    set_ns(point_at(d, row)->core_ns, out);
}

COLUMN_GETTER(point_compute)
{
    set_ns(point_at(d, row)->compute_ns, out);
}

COLUMN_GETTER(point_size)
{
    set_real(d->scale->options.sizes != NULL, point_at(d, row)->size, out);
}

COLUMN_GETTER(point_delayed)
{
    const struct pct_scale_point *p = point_at(d, row);
    out->none = !(p->core_ns > 0);
    out->number = p->core_ns > 0 ? (pc_u128)llround(p->delayed_ns / p->core_ns * 100000) : 0;
}

static const struct pct_column point_columns[] = {
    {"ranks", "ranks", PCT_COUNT, "ranks of the job", point_ranks},
    {"runs", "runs", PCT_COUNT, "profiles with that many ranks; figures are means over them",
     point_runs},
    {"time_s", "time", PCT_NS, "longest rank from MPI_Init to the end of MPI_Finalize", point_time},
    {"speed_up", "speed-up", PCT_RATIO, "against the smallest scale", point_speed_up},
    {"efficiency_percent", "efficiency", PCT_PERCENT,
     "core-seconds that ideal scaling from the smallest scale would need, of those that were used",
     point_efficiency},
    {"parallel_percent", "parallel", PCT_PERCENT,
     "parallel efficiency: mean computation of a rank, of the time; the product of the next two",
     point_parallel},
    {"balance_percent", "balance", PCT_PERCENT,
     "load balance: mean computation of a rank, of that of the busiest rank", point_balance},
    {"communication_percent", "communication", PCT_PERCENT,
     "communication efficiency: computation of the busiest rank, of the time", point_communication},
    {"computation_percent", "computation", PCT_PERCENT,
     "computation scalability: total of computation that ideal scaling would need, of what was "
     "used",
     point_computation},
    {"core_s", "core time", PCT_NS, "time summed over ranks", point_core},
    {"compute_s", "computing", PCT_NS, "of it outside MPI", point_compute},
    {"size", "size", PCT_REAL, "of the problem, as --sizes says", point_size},
    {"delayed_percent", "no processor", PCT_PERCENT,
     "of the core time ranks could run and no processor was free; 0 where it is not known",
     point_delayed},
};

/* ---- contexts --------------------------------------------------------------------------------
 */

static const struct pct_scale_row *row_at(const struct pct_data *d, size_t row)
{
    return &d->scale->rows[row];
}

static size_t count_rows(const struct pct_data *d)
{
    return d->scale->n_rows;
}

static double of_rank(const struct pct_data *d, size_t row, size_t point)
{
    return row_at(d, row)->costs[point].ns / d->scale->points[point].ranks;
}

COLUMN_GETTER(row_lost)
{
    set_change(row_at(d, row)->lost_ns, out);
}

COLUMN_GETTER(row_lost_percent)
{
    double core = d->scale->core_ns;
    out->none = !(core > 0);
    out->integer = core > 0 ? llround(row_at(d, row)->lost_ns / core * 100000) : 0;
}

COLUMN_GETTER(row_place)
{
    out->text = row_at(d, row)->place;
}

COLUMN_GETTER(row_first)
{
    set_ns(of_rank(d, row, pct_scale_first(d->scale)), out);
}

COLUMN_GETTER(row_last)
{
    set_ns(of_rank(d, row, pct_scale_last(d->scale)), out);
}

COLUMN_GETTER(row_speed_up)
{
    set_ratio(row_at(d, row)->speed_up, out);
}

COLUMN_GETTER(row_efficiency)
{
    set_part(row_at(d, row)->efficiency, out);
}

static void set_interned(const struct pct_data *d, const char *text, struct pct_value *out)
{
    out->text = pct_pool_intern(d->pool, text);
}

COLUMN_GETTER(row_growth)
{
    char text[PCT_FIT_TEXT];
    if (pct_scale_trusts(row_at(d, row)))
        set_interned(d, pct_fit_growth(&row_at(d, row)->fit, pct_scale_parameters, text), out);
}

COLUMN_GETTER(row_model)
{
    char text[PCT_FIT_TEXT];
    if (row_at(d, row)->modelled)
        set_interned(d, pct_fit_text(&row_at(d, row)->fit, pct_scale_parameters, text), out);
}

COLUMN_GETTER(row_r2)
{
    set_real(row_at(d, row)->modelled, row_at(d, row)->fit.adjusted_r2, out);
}

COLUMN_GETTER(row_few)
{
    out->none = !row_at(d, row)->modelled;
    out->integer = row_at(d, row)->fit.few;
}

static bool has_future(const struct pct_data *d, size_t row)
{
    return row_at(d, row)->modelled && d->scale->options.predict > 0;
}

COLUMN_GETTER(row_predicted)
{
    out->none = !has_future(d, row);
    set_ns(row_at(d, row)->future.value * 1e9, out);
}

COLUMN_GETTER(row_low)
{
    out->none = !has_future(d, row);
    set_ns(row_at(d, row)->future.low * 1e9, out);
}

COLUMN_GETTER(row_high)
{
    out->none = !has_future(d, row);
    set_ns(row_at(d, row)->future.high * 1e9, out);
}

COLUMN_GETTER(row_path)
{
    out->text = pct_join_path(d->scale->join, row_at(d, row)->node);
}

static const struct pct_column row_columns[] = {
    {"place", "context", PCT_TEXT, "where the time is spent", row_place},
    {"lost_s", "lost", PCT_NS_CHANGE,
     "core-seconds at the largest scale beyond those of ideal scaling from the smallest", row_lost},
    {"lost_percent", "of run", PCT_PERCENT_CHANGE,
     "the same, of all core-seconds at the largest scale", row_lost_percent},
    {"first_s", "a rank, first", PCT_NS, "time a rank at the smallest scale", row_first},
    {"last_s", "a rank, last", PCT_NS, "time a rank at the largest scale", row_last},
    {"speed_up", "speed-up", PCT_RATIO, "from the smallest to the largest scale", row_speed_up},
    {"efficiency_percent", "efficiency", PCT_PERCENT, "speed-up of what was ideal", row_efficiency},
    {"growth", "time a rank grows as", PCT_TEXT,
     "fastest growing term of the model of the time a rank; empty below three scales, and where "
     "the "
     "model misses points that are left out by half of their size and more",
     row_growth},
    {"model", "model", PCT_TEXT,
     "of the time a rank in seconds, p is the number of ranks, n the size", row_model},
    {"adjusted_r2", "R2", PCT_REAL, "of the model", row_r2},
    {"few", "few", PCT_YES_NO, "yes: fewer than five scales, the form of the model is a guess",
     row_few},
    {"predicted_s", "predicted", PCT_NS, "time a rank at the scale of --predict", row_predicted},
    {"low_s", "from", PCT_NS, "lower end of the interval for it", row_low},
    {"high_s", "to", PCT_NS, "upper end", row_high},
    {"path", "path", PCT_TEXT, "the calling context, outermost function first", row_path},
};

/* ---- costs: one row a context and scale ------------------------------------------------------
 */

static size_t count_costs(const struct pct_data *d)
{
    return d->scale->n_rows * d->scale->n_points;
}

static const struct pct_scale_cost *cost_at(const struct pct_data *d, size_t row)
{
    return &row_at(d, row / d->scale->n_points)->costs[row % d->scale->n_points];
}

COLUMN_GETTER(cost_path)
{
    row_path(d, row / d->scale->n_points, out);
}

COLUMN_GETTER(cost_ranks)
{
    point_ranks(d, row % d->scale->n_points, out);
}

COLUMN_GETTER(cost_core)
{
    set_ns(cost_at(d, row)->ns, out);
}

COLUMN_GETTER(cost_lost)
{
    set_change(cost_at(d, row)->lost_ns, out);
}

COLUMN_GETTER(cost_calls)
{
    set_real(true, cost_at(d, row)->calls, out);
}

COLUMN_GETTER(cost_bytes)
{
    set_real(true, cost_at(d, row)->bytes, out);
}

COLUMN_GETTER(cost_waits)
{
    set_ns(cost_at(d, row)->waits_ns, out);
}

COLUMN_GETTER(cost_size)
{
    point_size(d, row % d->scale->n_points, out);
}

static const struct pct_column cost_columns[] = {
    {"path", "path", PCT_TEXT, "the calling context, outermost function first", cost_path},
    {"ranks", "ranks", PCT_COUNT, "ranks of the job", cost_ranks},
    {"core_s", "core time", PCT_NS, "time summed over ranks, mean of the runs", cost_core},
    {"lost_s", "lost", PCT_NS_CHANGE,
     "core-seconds beyond those of ideal scaling from the smallest scale", cost_lost},
    {"calls", "calls", PCT_REAL, "calls of all ranks, mean of the runs", cost_calls},
    {"bytes", "bytes", PCT_REAL, "bytes sent and received, mean of the runs", cost_bytes},
    {"waits_s", "waits", PCT_NS,
     "of core_s the time that other ranks wait in MPI for the one that computes longest here",
     cost_waits},
    {"size", "size", PCT_REAL, "of the problem, as --sizes says", cost_size},
};

const struct pct_table pct_scale_tables[] = {
    {"scales", "one row for each number of ranks", count_points, NULL, NULL, point_columns,
     PC_ARRAY_LEN(point_columns)},
    {"contexts", "one row for each context with a cost, in order of the loss", count_rows, NULL,
     NULL, row_columns, PC_ARRAY_LEN(row_columns)},
    {"costs", "one row for each context and number of ranks", count_costs, NULL, NULL, cost_columns,
     PC_ARRAY_LEN(cost_columns)},
};
const size_t pct_n_scale_tables = PC_ARRAY_LEN(pct_scale_tables);
