/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The arithmetic of pcollect diff.
 */
#include "analysis/compare/difference.h"

#include "analysis/compare/scatter.h"
#include "analysis/student.h"
#include "analysis/tree/samples.h"

#include <math.h>
#include <stdlib.h>

/* Chance of a false alarm, and the smallest change that counts without repeats. */
#define ALARM 0.05
#define CHANGED 0.01
/* Part of the total on either side below which the time of a context is not tested: each further
 * test makes the others less sensitive. */
#define WEIGHS 0.001
/* Part of a run before MPI_Init from which on it is told that no figure has it. */
#define LATE 0.05

const char *const pct_diff_metric_names[PCT_N_DIFF_METRICS] = {
    [PCT_DIFF_TIME] = "time", [PCT_DIFF_CALLS] = "calls", [PCT_DIFF_BYTES] = "bytes"};

/* ---- Sides ----------------------------------------------------------------------------------- */

static void add_value(struct pct_diff_side *s, double value)
{
    double before = s->mean;
    s->n++;
    s->mean += (value - before) / (double)s->n;
    s->deviation += (value - before) * (value - s->mean); /* sum of squares until closed */
}

static void close_side(struct pct_diff_side *s)
{
    s->deviation = s->n > 1 ? sqrt(s->deviation / (double)(s->n - 1)) : 0;
    s->error = pct_student_error(s->deviation, s->n);
}

static void close_sides(struct pct_diff_change *c)
{
    close_side(&c->before);
    close_side(&c->after);
    c->change = c->after.mean - c->before.mean;
}

/* Welch's test: the scatter of the two sides may differ. */
static void test_change(struct pct_diff_change *c)
{
    c->doubt = c->least_doubt = -1;
    if (c->before.n < 2 || c->after.n < 2)
        return;
    double u = c->before.deviation * c->before.deviation / (double)c->before.n;
    double v = c->after.deviation * c->after.deviation / (double)c->after.n;
    if (!(u + v > 0)) {
        c->doubt = c->least_doubt = c->change == 0 ? 1 : 0;
        return;
    }
    double freedom =
        (u + v) * (u + v) / (u * u / (double)(c->before.n - 1) + v * v / (double)(c->after.n - 1));
    c->doubt = pct_student_tail(c->change / sqrt(u + v), freedom);
    c->least_doubt = erfc(fabs(c->change) / sqrt(2 * (u + v)));
}

static void close_change(struct pct_diff_change *c)
{
    close_sides(c);
    test_change(c);
}

static double time_of(const struct pct_join_node *node, const struct pct_cost *cost)
{
    (void)node;
    return cost->ns;
}

static double calls_of(const struct pct_join_node *node, const struct pct_cost *cost)
{
    (void)node;
    return cost->calls;
}

static double bytes_of(const struct pct_join_node *node, const struct pct_cost *cost)
{
    (void)node;
    return cost->bytes;
}

/* Time of computation. */
static double computed_of(const struct pct_join_node *node, const struct pct_cost *cost)
{
    return node->kind == PCOLLECT_NODE_OP ? 0 : cost->ns;
}

static double (*const figures[PCT_N_DIFF_METRICS])(const struct pct_join_node *node,
                                                   const struct pct_cost *cost) = {
    [PCT_DIFF_TIME] = time_of, [PCT_DIFF_CALLS] = calls_of, [PCT_DIFF_BYTES] = bytes_of};

static double value_of(const struct pct_diff *d, uint32_t node, size_t run)
{
    return figures[d->metric](&d->join->nodes[node], pct_join_cost(d->join, node, run));
}

static void add_told(struct pct_diff *d, const struct pct_run *run, bool before)
{
    add_value(before ? &d->computing.before : &d->computing.after, run->told.mean_ns);
    d->balanced &= run->told.balanced;
    d->computes &= run->told.computes;
    d->busy |= d->metric == PCT_DIFF_TIME && run->told.mpi_ns > 0 &&
               pct_run_is_busy(run->delayed_ns, run->core_ns - run->init_ns);
}

static void make_totals(struct pct_diff *d)
{
    d->balanced = d->computes = true;
    for (size_t i = 0; i < d->n_before + d->n_after; i++) {
        bool before = i < d->n_before;
        double sum = 0;
        for (uint32_t k = 0; k < d->join->n; k++)
            sum += value_of(d, k, i);
        const struct pct_run *run = &d->runs[i];
        size_t n_ranks = run->n_ranks - run->n_missing;
        add_value(before ? &d->time.before : &d->time.after,
                  n_ranks ? run->undelayed.core_ns / (double)n_ranks : 0);
        add_value(before ? &d->wall.before : &d->wall.after, run->told.wall_ns);
        add_value(before ? &d->init.before : &d->init.after, run->before_ns);
        d->late |= run->before_ns >= LATE * run->whole_ns && run->before_ns > 0;
        add_value(before ? &d->in_init.before : &d->in_init.after,
                  n_ranks && !run->outside ? run->init_ns / (double)n_ranks : 0);
        add_value(before ? &d->delayed.before : &d->delayed.after, d->runs[i].delayed_ns);
        add_told(d, run, before);
        add_value(before ? &d->total.before : &d->total.after, sum);
    }
    close_change(&d->time);
    close_change(&d->wall);
    close_change(&d->computing);
    close_change(&d->init);
    close_change(&d->in_init);
    close_change(&d->delayed);
    close_change(&d->total);
}

/* True for a context whose time is known by samples alone. */
static bool is_sampled(const struct pct_diff *d, uint32_t node)
{
    return d->recorded || d->join->nodes[node].kind == PCOLLECT_NODE_POINT;
}

/* True for one of measured calls. */
static bool is_call(const struct pct_diff *d, uint32_t node)
{
    return !d->recorded && d->join->nodes[node].kind == PCOLLECT_NODE_OP;
}

/* Mean number of samples of code of which a run has none with a chance of 5 %. */
#define UNSEEN 3.0

/* The bound of the mean of n runs from `first` on. */
static double find_unseen(const struct pct_diff *d, size_t first, size_t n)
{
    double ns = 0, samples = 0;
    for (size_t i = first; i < first + n; i++)
        for (uint32_t k = 0; k < d->join->n; k++) {
            const struct pct_cost *cost = pct_join_cost(d->join, k, i);
            ns += cost->samples > 0 ? cost->ns : 0;
            samples += cost->samples;
        }
    return samples > 0 ? UNSEEN * ns / samples / (double)n : 0;
}

double pct_diff_unseen_ns(const struct pct_diff *d, const struct pct_diff_row *row, bool after)
{
    if (d->metric != PCT_DIFF_TIME || !is_sampled(d, row->node))
        return 0;
    struct pct_diff_change figure = pct_diff_figure(d, row);
    if ((after ? figure.after : figure.before).mean > 0)
        return 0;
    return after ? d->unseen_after_ns : d->unseen_before_ns;
}

/* ---- Rows ------------------------------------------------------------------------------------ */

/* The figure of a context, with what is left out of MPI calls or not; untested. */
static struct pct_diff_change sum_figure(const struct pct_diff *d, uint32_t node, bool with_delay)
{
    struct pct_diff_change c = {.change = 0};
    with_delay &= d->metric == PCT_DIFF_TIME;
    for (size_t i = 0; i < d->n_before + d->n_after; i++) {
        double delayed = with_delay ? pct_join_cost(d->join, node, i)->delayed_ns : 0;
        add_value(i < d->n_before ? &c.before : &c.after, value_of(d, node, i) + delayed);
    }
    close_sides(&c);
    return c;
}

struct pct_diff_change pct_diff_figure(const struct pct_diff *d, const struct pct_diff_row *row)
{
    struct pct_diff_change c = sum_figure(d, row->node, false);
    c.doubt = row->doubt;
    c.least_doubt = row->least_doubt;
    return c;
}

/* False: nothing on either side. */
static bool has_figure(const struct pct_diff *d, uint32_t node)
{
    for (size_t i = 0; i < d->n_before + d->n_after; i++)
        if (pct_join_cost(d->join, node, i)->present && value_of(d, node, i) > 0)
            return true;
    return false;
}

static void fill_row(const struct pct_diff *d, uint32_t node, struct pct_diff_row *row)
{
    bool before = false, after = false;
    double samples = 0;
    struct pct_diff_change figure = sum_figure(d, node, false),
                           with_delay = sum_figure(d, node, true);
    test_change(&figure);
    test_change(&with_delay);
    *row = (struct pct_diff_row){.node = node,
                                 .change = figure.change,
                                 .doubt = figure.doubt,
                                 .least_doubt = figure.least_doubt,
                                 .delay_doubt = with_delay.doubt};
    for (size_t i = 0; i < d->n_before + d->n_after; i++) {
        const struct pct_cost *cost = pct_join_cost(d->join, node, i);
        double delayed = d->metric == PCT_DIFF_TIME ? cost->delayed_ns : 0;
        samples += cost->samples;
        /* Calls are there even if all of their time may be delay. */
        if (cost->present && (value_of(d, node, i) > 0 || delayed > 0 || cost->calls > 0))
            *(i < d->n_before ? &before : &after) = true;
    }
    /* A few samples on both sides together are no evidence of a change. */
    if (row->change != 0 && is_sampled(d, node) && samples < PCT_SAMPLES_FEW)
        row->verdict = PCT_VERDICT_NOISE;
    else if (before != after && is_call(d, node))
        row->verdict = after ? PCT_VERDICT_NEW : PCT_VERDICT_GONE;
}

static int compare_rows(const void *a, const void *b)
{
    const struct pct_diff_row *x = a, *y = b;
    double u = fabs(x->change), v = fabs(y->change);
    if (u != v)
        return u > v ? -1 : 1;
    return x->node < y->node ? -1 : x->node > y->node;
}

/* True if the row is large enough to be tested. Depends only on its size, not on the change. */
static bool is_tested(const struct pct_diff *d, const struct pct_diff_row *row)
{
    struct pct_diff_change f = pct_diff_figure(d, row);
    return d->metric != PCT_DIFF_TIME || f.before.mean > WEIGHS * d->total.before.mean ||
           f.after.mean > WEIGHS * d->total.after.mean;
}

/* Value below which times of a row are not told apart: that of a sample, where it is known, else a
 * part of the lesser side. */
static double least_of(const struct pct_diff *d, const struct pct_diff_row *row)
{
    static const double part = 0.05;
    struct pct_diff_change f = pct_diff_figure(d, row);
    double before = f.before.mean, after = f.after.mean;
    double sample =
        (d->unseen_before_ns * (double)d->n_before + d->unseen_after_ns * (double)d->n_after) /
        (2 * UNSEEN);
    if (is_sampled(d, row->node) && sample > 0)
        return sample;
    return part * (before > 0 && (after > before || !(after > 0)) ? before : after);
}

/* Tests the times of the n rows, with or without what is left out of them. */
static void test_times(const struct pct_diff *d, struct pct_diff_row **rows, size_t n,
                       bool with_delay)
{
    size_t n_runs = d->n_before + d->n_after;
    struct pct_scatter_row *tests = pct_alloc(n, sizeof *tests);
    double *values = pct_alloc(2 * n * n_runs, sizeof *values), *variances = values + n * n_runs;
    for (size_t i = 0; i < n; i++) {
        uint32_t node = rows[i]->node;
        tests[i] = (struct pct_scatter_row){.computes = !is_call(d, node),
                                            .values = &values[i * n_runs],
                                            .variances = &variances[i * n_runs],
                                            .least = least_of(d, rows[i])};
        for (size_t k = 0; k < n_runs; k++) {
            const struct pct_cost *cost = pct_join_cost(d->join, node, k);
            values[i * n_runs + k] = cost->ns + (with_delay ? cost->delayed_ns : 0);
            variances[i * n_runs + k] = cost->variance;
        }
    }
    pct_scatter_test(tests, n, d->n_before, d->n_after);
    for (size_t i = 0; i < n; i++) {
        if (with_delay) {
            rows[i]->delay_doubt = tests[i].doubt;
            continue;
        }
        rows[i]->doubt = tests[i].doubt;
        rows[i]->least_doubt = tests[i].least_doubt;
    }
    pct_free(tests);
    pct_free(values);
}

/* Tests the rows against the scatter of the repeats. */
static void test_rows(struct pct_diff *d)
{
    struct pct_diff_row **rows = pct_alloc(d->n_rows, sizeof *rows);
    double **doubts = pct_alloc(2 * d->n_rows, sizeof *doubts);
    size_t n = 0;
    for (size_t i = 0; i < d->n_rows; i++) {
        if (is_tested(d, &d->rows[i]))
            rows[n++] = &d->rows[i];
        else
            d->rows[i].doubt = d->rows[i].least_doubt = 1;
    }
    for (int with_delay = 0; with_delay < 2 && d->metric == PCT_DIFF_TIME; with_delay++)
        test_times(d, rows, n, with_delay);
    for (size_t i = 0; i < n; i++) {
        doubts[i] = &rows[i]->doubt;
        doubts[n + i] = &rows[i]->least_doubt;
    }
    pct_scatter_correct(doubts, n);
    pct_scatter_correct(doubts + n, n);
    pct_free(rows);
    pct_free(doubts);
}

/* True if the samples of one run on each side may differ so much by chance. */
static bool may_be_chance(const struct pct_diff *d, const struct pct_diff_row *row)
{
    double variance = 0;
    if (d->repeated || d->metric != PCT_DIFF_TIME)
        return false;
    for (size_t i = 0; i < d->n_before + d->n_after; i++) {
        double n = (double)(i < d->n_before ? d->n_before : d->n_after);
        variance += pct_join_cost(d->join, row->node, i)->variance / (n * n);
    }
    return fabs(row->change) < 1.96 * sqrt(variance);
}

/* True if the change is neither scatter nor too small. */
static bool is_change(const struct pct_diff *d, const struct pct_diff_change *c)
{
    return d->repeated ? c->doubt <= ALARM
                       : fabs(c->change) >= CHANGED * fmax(c->before.mean, c->after.mean);
}

static void judge_row(const struct pct_diff *d, struct pct_diff_row *row)
{
    if (row->verdict != PCT_VERDICT_SAME)
        return;
    struct pct_diff_change f = pct_diff_figure(d, row), with = sum_figure(d, row->node, true);
    with.doubt = row->delay_doubt;
    bool agree = is_change(d, &with) && with.change * f.change > 0;
    bool call = d->metric == PCT_DIFF_TIME && is_call(d, row->node);
    /* Nothing is left of the time of calls that are there: all of it may be delay. */
    bool all_delay = call && !(fmin(f.before.mean, f.after.mean) > 0);
    row->by_delay =
        is_change(d, &f) && !may_be_chance(d, row) && (!agree || all_delay || (call && d->busy));
    if (f.change == 0)
        row->verdict = PCT_VERDICT_SAME;
    else if (may_be_chance(d, row) || row->by_delay)
        row->verdict = PCT_VERDICT_NOISE;
    else if (!is_change(d, &f) && d->repeated)
        row->verdict = f.least_doubt <= ALARM && with.change * f.change > 0 && !(call && d->busy)
                           ? PCT_VERDICT_UNSURE
                           : PCT_VERDICT_NOISE;
    else if (!is_change(d, &f))
        row->verdict = PCT_VERDICT_SAME;
    else
        row->verdict = f.change > 0 ? PCT_VERDICT_MORE : PCT_VERDICT_LESS;
}

/* Change of a row on a rank. */
static double change_on_rank(const struct pct_diff *d, const struct pct_diff_row *row,
                             uint32_t rank)
{
    double sum = 0;
    for (size_t k = 0; k < d->n_before + d->n_after; k++) {
        const double *rank_ns = pct_join_cost(d->join, row->node, k)->rank_ns;
        double ns = rank_ns ? rank_ns[rank] : 0;
        sum += k < d->n_before ? -ns / (double)d->n_before : ns / (double)d->n_after;
    }
    return sum;
}

/* Notes the rank on which a function takes more, or less, if others differ little. */
static void find_rank(const struct pct_diff *d, struct pct_diff_row *row)
{
    static const double most = 0.8, unknown = 0.01;
    double sum = 0, part = 0;
    bool listed = row->verdict == PCT_VERDICT_MORE || row->verdict == PCT_VERDICT_LESS ||
                  row->verdict == PCT_VERDICT_UNSURE;
    if (d->metric != PCT_DIFF_TIME || d->join->n_ranks < 2 || !listed)
        return;
    struct pct_diff_change f = pct_diff_figure(d, row);
    for (uint32_t r = 0; r < d->join->n_ranks; r++) {
        double on_rank = change_on_rank(d, row, r) / f.change;
        sum += on_rank;
        if (on_rank > part) {
            part = on_rank;
            row->rank = r;
        }
    }
    bool known = fabs(sum - 1) * fabs(f.change) <= unknown * fmax(f.before.mean, f.after.mean);
    row->rank_part = known && part >= most && part <= 1 / most ? part : 0;
}

static void make_rows(struct pct_diff *d)
{
    size_t n = 0;
    for (uint32_t i = 0; i < d->join->n; i++)
        n += has_figure(d, i);
    d->rows = pct_alloc(n, sizeof *d->rows);
    for (uint32_t i = 0; i < d->join->n; i++)
        if (has_figure(d, i))
            fill_row(d, i, &d->rows[d->n_rows++]);
    if (d->repeated)
        test_rows(d);
    for (size_t i = 0; i < d->n_rows; i++) {
        judge_row(d, &d->rows[i]);
        find_rank(d, &d->rows[i]);
    }
    qsort(d->rows, d->n_rows, sizeof *d->rows, compare_rows);
    pct_diff_name_places(d, false);
}

void pct_diff_name_places(struct pct_diff *d, bool full_names)
{
    uint32_t *nodes = pct_alloc(d->n_rows, sizeof *nodes);
    const char **places = pct_alloc(d->n_rows, sizeof *places);
    for (size_t i = 0; i < d->n_rows; i++)
        nodes[i] = d->rows[i].node;
    pct_join_places(d->join, nodes, d->n_rows, full_names, places);
    for (size_t i = 0; i < d->n_rows; i++)
        d->rows[i].place = places[i];
    pct_free(nodes);
    pct_free(places);
}

/* ---- The whole ------------------------------------------------------------------------------- */

struct pct_diff *pct_diff_make(const struct pct_run *runs, size_t n_before, size_t n_after,
                               enum pct_diff_metric metric, struct pc_error *error)
{
    struct pct_diff *d = pct_alloc(1, sizeof *d);
    *d =
        (struct pct_diff){.metric = metric, .runs = runs, .n_before = n_before, .n_after = n_after};
    d->repeated = n_before > 1 && n_after > 1;
    d->recorded = runs[0].outside;
    if (pct_join_new(runs, n_before + n_after, PCT_JOIN_UNDELAYED, &d->join, error)) {
        pct_diff_free(d);
        return NULL;
    }
    d->unseen_before_ns = find_unseen(d, 0, n_before);
    d->unseen_after_ns = find_unseen(d, n_before, n_after);
    make_totals(d);
    make_rows(d);
    return d;
}

void pct_diff_free(struct pct_diff *d)
{
    if (!d)
        return;
    pct_join_free(d->join);
    pct_free(d->rows);
    pct_free(d);
}

struct pct_diff_change pct_diff_tree_change(const struct pct_diff_tree *t, uint32_t node)
{
    struct pct_diff_change c = {.change = 0};
    const struct pct_diff *d = t->diff;
    size_t n_runs = d->n_before + d->n_after;
    for (size_t k = 0; k < n_runs; k++)
        add_value(k < d->n_before ? &c.before : &c.after, t->tree->below[node * n_runs + k]);
    close_change(&c);
    return c;
}

/* Time that moves between children of a node counts as a change, although their sum does not
 * change. */
struct pct_diff_tree *pct_diff_tree_new(const struct pct_diff *d)
{
    struct pct_diff_tree *t = pct_alloc(1, sizeof *t);
    size_t n_runs = d->n_before + d->n_after;
    t->diff = d;
    t->tree = pct_join_tree_new(d->join, d->busy ? computed_of : figures[d->metric]);
    t->moved = pct_alloc(t->tree->n, sizeof *t->moved);
    for (uint32_t i = (uint32_t)t->tree->n; i-- > 0;) {
        double before = 0, after = 0;
        for (size_t k = 0; k < n_runs; k++)
            *(k < d->n_before ? &before : &after) += t->tree->own[i * n_runs + k];
        if (!t->tree->few[i])
            t->moved[i] += fabs(after / (double)d->n_after - before / (double)d->n_before);
        /* The samples of a program from outside are in many contexts, with few in each. */
        if (d->recorded && !t->tree->few_below[i])
            t->moved[i] = fmax(t->moved[i], fabs(pct_diff_tree_change(t, i).change));
        if (i)
            t->moved[t->tree->nodes[i].parent] += t->moved[i];
    }
    pct_join_tree_sort(t->tree, t->moved);
    return t;
}

void pct_diff_tree_free(struct pct_diff_tree *t)
{
    if (!t)
        return;
    pct_join_tree_free(t->tree);
    pct_free(t->moved);
    pct_free(t);
}

const struct pct_diff_side *pct_diff_time(const struct pct_diff *d, bool after)
{
    const struct pct_diff_change *time = d->recorded ? &d->total : d->busy ? &d->wall : &d->time;
    return after ? &time->after : &time->before;
}

/* Growth of the run, as a share of before; 0: it may be noise. */
static double growth_of(const struct pct_diff *d, const struct pct_diff_change *run)
{
    if (d->repeated && run->doubt > ALARM)
        return 0;
    return run->before.mean > 0 ? run->change / run->before.mean : run->change > 0 ? HUGE_VAL : 0;
}

double pct_diff_worst(const struct pct_diff *d, const char **place_out)
{
    bool time = d->metric == PCT_DIFF_TIME && !d->recorded;
    double worst = growth_of(d, time ? &d->time : &d->total);
    *place_out = NULL;
    if (d->busy)
        worst = fmin(worst, growth_of(d, &d->wall));
    for (size_t i = 0; i < d->n_rows && d->total.before.mean > 0; i++) {
        const struct pct_diff_row *row = &d->rows[i];
        double with_delay = sum_figure(d, row->node, true).change;
        double part = fmin(row->change, with_delay) / d->total.before.mean;
        bool real = row->verdict == PCT_VERDICT_MORE || row->verdict == PCT_VERDICT_NEW;
        /* New contexts have no scatter on the side before, but that of the run is known. */
        if (real && part > worst && !(d->repeated && row->doubt > ALARM)) {
            worst = part;
            *place_out = row->place;
        }
    }
    return worst;
}
