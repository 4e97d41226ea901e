/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The arithmetic of pcollect scale. Makes no texts, except for its two errors.
 */
#include "analysis/compare/scaling.h"

#include "analysis/findings/findings.h"
#include "analysis/tree/samples.h"
#include "base/progress.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Exponents of the total of computation that count as strong and as weak scaling. */
#define STRONG_BELOW 0.35
#define NEARER_WEAK_FROM 0.5
#define WEAK_ABOVE 0.65
#define WEAK_BELOW 1.5

/* ---- Scales ---------------------------------------------------------------------------------- */

static int compare_points(const void *a, const void *b)
{
    const struct pct_scale_point *x = a, *y = b;
    if (x->size != y->size)
        return x->size < y->size ? -1 : 1;
    return x->width < y->width ? -1 : x->width > y->width;
}

static double size_of(const struct pct_scale *s, size_t run)
{
    return s->options.sizes ? s->options.sizes[run] : 1;
}

static double width_of(const struct pct_scale *s, size_t run)
{
    return s->by_threads ? s->runs[run].n_threads : s->runs[run].n_ranks;
}

static void add_point(struct pct_scale *s, size_t i)
{
    const struct pct_run *run = &s->runs[i];
    struct pct_scale_point *p = s->points;
    while (p < s->points + s->n_points && (p->width != width_of(s, i) || p->size != size_of(s, i)))
        p++;
    s->n_points += p == s->points + s->n_points;
    p->width = width_of(s, i);
    p->ranks = run->n_ranks;
    p->size = size_of(s, i);
    p->n_runs++;
    p->time_ns += run->own.time_ns;
    p->core_ns += run->own.core_ns * pct_scale_per_rank(p);
    p->compute_ns += run->own.compute_ns;
    p->work_ns += s->by_threads ? run->work_ns : run->own.compute_ns;
    p->busiest_ns += run->own.busiest_ns;
    p->delayed_ns += run->delayed_ns;
    p->others_ns += run->others_ns;
    p->library_ns += run->library_ns;
    p->for_threads_ns += run->for_threads_ns;
    p->n_working += run->n_working;
    p->all_ns += run->core_ns;
    p->wall_ns += run->told.wall_ns;
    p->init_ns += run->init_ns;
    p->end_ns += run->end_ns;
    p->guessed |= run->guessed;
    p->too_short |= run->too_short;
    p->undivided |= run->undivided || run->keeps_delay;
}

static void make_points(struct pct_scale *s)
{
    s->by_threads = pct_runs_differ_in_threads(s->runs, s->n_runs);
    s->points = pct_alloc(s->n_runs, sizeof *s->points);
    s->point_of = pct_alloc(s->n_runs, sizeof *s->point_of);
    for (size_t i = 0; i < s->n_runs; i++)
        add_point(s, i);
    qsort(s->points, s->n_points, sizeof *s->points, compare_points);
    for (size_t k = 0; k < s->n_points; k++) {
        struct pct_scale_point *p = &s->points[k];
        p->time_ns /= (double)p->n_runs;
        p->core_ns /= (double)p->n_runs;
        p->compute_ns /= (double)p->n_runs;
        p->work_ns /= (double)p->n_runs;
        p->busiest_ns /= (double)p->n_runs;
        p->delayed_ns /= (double)p->n_runs;
        p->others_ns /= (double)p->n_runs;
        p->library_ns /= (double)p->n_runs;
        p->for_threads_ns /= (double)p->n_runs;
        p->n_working /= (double)p->n_runs;
        p->all_ns /= (double)p->n_runs;
        p->wall_ns /= (double)p->n_runs;
        p->init_ns /= (double)p->n_runs;
        p->end_ns /= (double)p->n_runs;
        p->base = k && p[-1].size == p->size ? p[-1].base : k;
        s->n_sizes += p->base == k;
        for (size_t i = 0; i < s->n_runs; i++) {
            if (width_of(s, i) == p->width && size_of(s, i) == p->size)
                s->point_of[i] = k;
        }
    }
}

/* part / whole; 0 if whole is 0 */
static double ratio(double part, double whole)
{
    return whole > 0 ? part / whole : 0;
}

bool pct_scale_computes(const struct pct_scale *s)
{
    const struct pct_scale_point *first = &s->points[pct_scale_first(s)],
                                 *last = &s->points[pct_scale_last(s)];
    bool guessed = !s->by_threads && (first->guessed || last->guessed);
    return first->work_ns > 0 && last->work_ns > 0 && !guessed;
}

double pct_scale_most_working(const struct pct_scale *s)
{
    double most = 0;
    for (size_t k = 0; k < s->n_points; k++)
        most = fmax(most, s->points[k].n_working);
    return most;
}

bool pct_scale_working_differs(const struct pct_scale *s)
{
    const double some = 0.1;
    double most = pct_scale_most_working(s), least = most;
    for (size_t k = 0; k < s->n_points; k++)
        least = fmin(least, s->points[k].n_working);
    return least > 0 && most > (1 + some) * least;
}

/* ---- Polling --------------------------------------------------------------------------------- */

/* Calls of an MPI function by a rank at the largest scale, mean of the ranks and runs. */
static double calls_at_last(const struct pct_scale *s, uint32_t node)
{
    const struct pct_scale_point *last = &s->points[pct_scale_last(s)];
    double calls = 0;
    for (size_t i = 0; i < s->n_runs; i++)
        if (&s->points[s->point_of[i]] == last)
            calls += pct_join_cost(s->join, node, i)->calls;
    return calls / (double)last->n_runs / last->ranks;
}

/* The one of two nodes of MPI functions that is called more often; either may be PC_NO_INDEX. */
static uint32_t more_called(const struct pct_scale *s, uint32_t a, uint32_t b)
{
    if (a == PC_NO_INDEX || b == PC_NO_INDEX)
        return a == PC_NO_INDEX ? b : a;
    return calls_at_last(s, b) > calls_at_last(s, a) ? b : a;
}

/* Finds the calls of functions that test or probe again and again: of MPI, or of a function that
 * calls MPI, which may be a wrapper. */
static void find_polls(struct pct_scale *s)
{
    enum { LEVELS = 2 };
    const struct pct_join *j = s->join;
    for (uint32_t i = 0; i < j->n; i++) {
        if (j->nodes[i].kind != PCOLLECT_NODE_OP || !pct_finding_may_poll(j->nodes[i].label) ||
            calls_at_last(s, i) <= PCT_MANY_TESTS)
            continue;
        if (!s->polls) {
            s->polls = pct_alloc(j->n, sizeof *s->polls);
            memset(s->polls, 0xff, j->n * sizeof *s->polls);
        }
        uint32_t above = j->nodes[i].parent;
        for (unsigned level = 0; level < LEVELS && above != 0; level++) {
            s->polls[above] = more_called(s, s->polls[above], i);
            above = j->nodes[above].parent;
        }
    }
}

/* The MPI function with which the function of a context of computation polls: its calls are beside
 * its own code. */
static uint32_t polls_of(const struct pct_scale *s, uint32_t node)
{
    const struct pct_join_node *nodes = s->join->nodes, *n = &nodes[node];
    uint32_t polls = PC_NO_INDEX;
    if (!s->polls || n->kind != PCOLLECT_NODE_POINT || !n->function)
        return PC_NO_INDEX;
    for (uint32_t i = nodes[n->parent].first_child; i != PC_NO_INDEX; i = nodes[i].next)
        if (nodes[i].function && !strcmp(nodes[i].function, n->function))
            polls = more_called(s, polls, s->polls[i]);
    return polls;
}

static void add_polls_ns(struct pct_scale *s)
{
    for (uint32_t node = 0; node < s->join->n; node++) {
        bool polls = polls_of(s, node) != PC_NO_INDEX;
        for (size_t i = 0; i < s->n_runs && polls; i++) {
            const struct pct_cost *cost = pct_join_cost(s->join, node, i);
            struct pct_scale_point *p = &s->points[s->point_of[i]];
            p->polls_ns += (cost->ns - cost->waits_ns) / (double)p->n_runs;
        }
    }
}

/* ---- Strong or weak -------------------------------------------------------------------------- */

/* True if all runs of the largest size were started with the same words. */
static bool is_same_command(const struct pct_scale *s)
{
    const char *first = NULL;
    for (size_t i = 0; i < s->n_runs; i++) {
        const char *command = s->runs[i].command;
        if (s->points[s->point_of[i]].base != pct_scale_first(s))
            continue;
        if (!*command || (first && strcmp(first, command) != 0))
            return false;
        first = command;
    }
    return true;
}

/* Decides the kind of scaling: with strong scaling the total of computation stays constant, with
 * weak scaling it grows like the number of ranks, as it does if each rank repeats all work. Between
 * them runs with one command line are taken to solve one problem, and of others the nearer kind is
 * taken. Functions that poll may wait: the total is without them, if they do not have most of it.
 */
static enum pct_scaling tell_scaling(struct pct_scale *s)
{
    const struct pct_scale_point *last = &s->points[pct_scale_last(s)];
    const struct pct_scale_point *first = &s->points[pct_scale_first(s)];
    if (!pct_scale_computes(s))
        return PCT_SCALING_UNKNOWN;
    s->but_polls = (first->polls_ns > 0 || last->polls_ns > 0) &&
                   first->polls_ns < first->work_ns / 2 && last->polls_ns < last->work_ns / 2;
    double from = first->work_ns - (s->but_polls ? first->polls_ns : 0),
           to = last->work_ns - (s->but_polls ? last->polls_ns : 0);
    s->growth = log(to / from) / log(last->width / first->width);
    if (fabs(s->growth) < STRONG_BELOW)
        return PCT_SCALING_STRONG;
    if (s->growth > WEAK_ABOVE && s->growth < WEAK_BELOW)
        return PCT_SCALING_WEAK;
    s->by_command = is_same_command(s);
    s->by_nearness = !s->by_command;
    return s->by_command || s->growth < NEARER_WEAK_FROM ? PCT_SCALING_STRONG : PCT_SCALING_WEAK;
}

/* The value that scale k would have with ideal scaling, from `cost`, summed over the ranks of its
 * base. */
static double ideal(const struct pct_scale *s, double cost, size_t k)
{
    const struct pct_scale_point *p = &s->points[k];
    return s->scaling == PCT_SCALING_WEAK ? cost * p->width / s->points[p->base].width : cost;
}

double pct_scale_ideal(const struct pct_scale *s, double value)
{
    return ideal(s, value, pct_scale_last(s));
}

static void rate_points(struct pct_scale *s)
{
    for (size_t k = 0; k < s->n_points; k++) {
        struct pct_scale_point *p = &s->points[k];
        const struct pct_scale_point *first = &s->points[p->base];
        double mean = p->compute_ns / p->ranks, work = p->work_ns / p->width;
        if (s->by_threads || !p->guessed)
            p->parallel = ratio(work, p->time_ns);
        if (!p->guessed) {
            p->balance = ratio(mean, p->busiest_ns);
            p->communication = ratio(p->busiest_ns, p->time_ns);
            p->threads = ratio(work, mean);
        }
        if (s->by_threads || (!p->guessed && !first->guessed))
            p->computation = ratio(ideal(s, first->work_ns, k), p->work_ns);
        p->efficiency = ratio(ideal(s, first->time_ns * first->width, k), p->time_ns * p->width);
        p->speed_up = p->efficiency * p->width / first->width;
    }
}

/* ---- Contexts -------------------------------------------------------------------------------- */

/* True if the time of nodes of that kind is a guess at the scale: of computation, but for what is
 * sampled where there are enough samples. */
bool pct_scale_is_guess(const struct pct_scale_point *p, uint16_t kind)
{
    return kind != PCOLLECT_NODE_OP &&
           (p->too_short || (p->guessed && kind != PCOLLECT_NODE_POINT));
}

/* Fills in a row. False: the context has no cost at any scale. */
static bool fill_row(const struct pct_scale *s, uint32_t node, struct pct_scale_row *row)
{
    bool costs = false;
    *row = (struct pct_scale_row){.node = node};
    row->costs = pct_alloc(s->n_points, sizeof *row->costs);
    uint32_t polls = polls_of(s, node);
    if (polls != PC_NO_INDEX) {
        row->polls = s->join->nodes[polls].label;
        row->polls_calls = calls_at_last(s, polls);
    }
    for (size_t i = 0; i < s->n_runs; i++) {
        const struct pct_cost *cost = pct_join_cost(s->join, node, i);
        struct pct_scale_cost *mean = &row->costs[s->point_of[i]];
        const struct pct_scale_point *p = &s->points[s->point_of[i]];
        double n = (double)p->n_runs, part = pct_scale_per_rank(p) / n;
        mean->ns += cost->ns * part;
        mean->waits_ns += cost->waits_ns * part;
        mean->open_ns += cost->open_ns * part;
        mean->calls += cost->calls / n;
        mean->bytes += cost->bytes / n;
        mean->caller = pct_join_callers(mean->caller, cost->caller);
        mean->samples += cost->samples;
        mean->variance += node == s->join->compute ? cost->variance * part * part : 0;
        row->samples += cost->samples;
        costs |= cost->ns > 0;
    }
    for (size_t k = 0; k < s->n_points; k++) {
        row->costs[k].lost_ns = row->costs[k].ns - ideal(s, row->costs[s->points[k].base].ns, k);
        row->costs[k].guessed = pct_scale_is_guess(&s->points[k], s->join->nodes[node].kind);
        row->guessed |= row->costs[k].guessed;
    }
    const struct pct_scale_cost *last = &row->costs[s->n_points - 1];
    row->lost_guessed = last->guessed || row->costs[pct_scale_first(s)].guessed;
    row->lost_ns = last->lost_ns;
    row->efficiency = ratio(last->ns - last->lost_ns, last->ns);
    row->speed_up =
        row->efficiency * s->points[pct_scale_last(s)].width / s->points[pct_scale_first(s)].width;
    return costs;
}

static int compare_rows(const void *a, const void *b)
{
    const struct pct_scale_row *x = a, *y = b;
    if (x->lost_guessed != y->lost_guessed)
        return x->lost_guessed - y->lost_guessed;
    if (x->lost_ns != y->lost_ns)
        return x->lost_ns > y->lost_ns ? -1 : 1;
    return x->node < y->node ? -1 : x->node > y->node;
}

static void make_rows(struct pct_scale *s)
{
    s->rows = pct_alloc(s->join->n, sizeof *s->rows);
    for (uint32_t i = 0; i < s->join->n; i++) {
        if (fill_row(s, i, &s->rows[s->n_rows]))
            s->n_rows++;
        else
            pct_free(s->rows[s->n_rows].costs);
    }
    qsort(s->rows, s->n_rows, sizeof *s->rows, compare_rows);
}

void pct_scale_name_places(struct pct_scale *s, bool full_names)
{
    uint32_t *nodes = pct_alloc(s->n_rows, sizeof *nodes);
    const char **places = pct_alloc(s->n_rows, sizeof *places);
    for (size_t i = 0; i < s->n_rows; i++)
        nodes[i] = s->rows[i].node;
    pct_join_places(s->join, nodes, s->n_rows, full_names, places);
    for (size_t i = 0; i < s->n_rows; i++)
        s->rows[i].place = places[i];
    for (size_t i = 0; i < s->n_branches; i++)
        s->branches[i].place = pct_join_in_function(s->join, s->branches[i].node, full_names);
    pct_free(nodes);
    pct_free(places);
}

/* ---- Models ---------------------------------------------------------------------------------- */

const char *const pct_scale_parameters[PCT_FIT_PARAMETERS] = {"p", "n"};

static struct pct_fit_band predict(const struct pct_scale *s, const struct pct_fit *fit,
                                   const struct pct_fit_rivals *rivals, double width)
{
    double place[PCT_FIT_PARAMETERS] = {width, s->options.predict_size};
    struct pct_fit_band band = pct_fit_band(fit, rivals, place);
    band.value = fmax(band.value, 0);
    band.low = fmax(band.low, 0);
    return band;
}

bool pct_scale_lacks(const struct pct_scale *s, const struct pct_scale_row *row, size_t k)
{
    uint16_t kind = s->join->nodes[row->node].kind;
    const struct pct_scale_cost *cost = &row->costs[k];
    return (kind == PCOLLECT_NODE_OP && !(cost->calls > 0)) ||
           (kind == PCOLLECT_NODE_POINT && cost->samples < PCT_SAMPLES_FEW);
}

bool pct_scale_has_rough_ends(const struct pct_scale *s, const struct pct_scale_row *row)
{
    return s->join->nodes[row->node].kind == PCOLLECT_NODE_POINT &&
           (pct_scale_lacks(s, row, pct_scale_first(s)) ||
            pct_scale_lacks(s, row, pct_scale_last(s)));
}

/* A model of y by run, in seconds, from the scales that do not lack the row, if there is one;
 * false: too few scales. */
static bool make_model(const struct pct_scale *s, const struct pct_scale_row *row, const double *y,
                       struct pct_fit *fit, struct pct_fit_rivals *rivals)
{
    struct pct_fit_point *points = pct_alloc(s->n_runs, sizeof *points);
    size_t n = 0, n_scales = 0;
    for (size_t k = 0; k < s->n_points; k++)
        n_scales += !row || !pct_scale_lacks(s, row, k);
    for (size_t i = 0; i < s->n_runs; i++)
        if (!row || !pct_scale_lacks(s, row, s->point_of[i]))
            points[n++] = (struct pct_fit_point){.x = {width_of(s, i), size_of(s, i)}, .y = y[i]};
    bool made = n_scales > (s->n_sizes > 1 ? 3 : 2) &&
                pct_fit_make(points, n, s->n_sizes > 1 ? 2 : 1, fit, rivals);
    pct_free(points);
    return made;
}

static bool make_row_model(const struct pct_scale *s, const struct pct_scale_row *row,
                           struct pct_fit *fit, struct pct_fit_rivals *rivals)
{
    double *y = pct_alloc(s->n_runs, sizeof *y);
    for (size_t i = 0; i < s->n_runs; i++)
        y[i] = pct_join_cost(s->join, row->node, i)->ns / s->runs[i].n_ranks / 1e9;
    bool made = make_model(s, row, y, fit, rivals);
    pct_free(y);
    return made;
}

/* True if the model does not leave out the largest scale, which cross-validation may take for an
 * exception. */
static bool reaches(const struct pct_scale *s, const struct pct_scale_row *row)
{
    const struct pct_scale_point *last = &s->points[pct_scale_last(s)];
    double place[PCT_FIT_PARAMETERS] = {last->width, last->size};
    double value = pct_fit_value(&row->fit.best, s->n_sizes > 1 ? 2 : 1, place),
           measured = row->costs[pct_scale_last(s)].ns / last->width / 1e9;
    return value >= measured / 2 && value <= 2 * measured;
}

/* True if the model goes below 0 on more ranks, which no time does. */
static bool falls_below_0(const struct pct_scale *s, const struct pct_scale_row *row)
{
    enum { MANY = 10000000 };
    double place[PCT_FIT_PARAMETERS] = {MANY, s->points[pct_scale_last(s)].size};
    return pct_fit_value(&row->fit.best, s->n_sizes > 1 ? 2 : 1, place) < 0;
}

static void make_models(struct pct_scale *s)
{
    struct pct_fit_rivals rivals;
    double *y = pct_alloc(s->n_runs, sizeof *y), width = s->options.predict;
    for (size_t k = 0; k < s->n_rows; k++) {
        struct pct_scale_row *row = &s->rows[k];
        pc_progress_begin("modelling", "contexts", k + 1, s->n_rows);
        row->modelled = make_row_model(s, row, &row->fit, &rivals);
        row->reaches = row->modelled && reaches(s, row) && !falls_below_0(s, row);
        if (row->modelled && width > 0)
            row->future = predict(s, &row->fit, &rivals, width);
        pc_progress_end();
    }
    for (size_t i = 0; i < s->n_runs; i++)
        y[i] = s->runs[i].own.time_ns / 1e9;
    s->modelled = make_model(s, NULL, y, &s->fit, &rivals);
    if (s->modelled && width > 0)
        s->future = predict(s, &s->fit, &rivals, width);
    pct_free(y);
}

bool pct_scale_bands(const struct pct_scale *s, const struct pct_scale_row *row,
                     const double *widths, size_t n, struct pct_fit_band *out)
{
    struct pct_fit fit;
    struct pct_fit_rivals rivals;
    bool made = pct_scale_trusts(row) && make_row_model(s, row, &fit, &rivals);
    for (size_t i = 0; made && i < n; i++)
        out[i] = predict(s, &fit, &rivals, widths[i]);
    return made;
}

bool pct_scale_has_few(const struct pct_scale_row *row)
{
    return row->guessed || (row->samples > 0 && row->samples < PCT_SAMPLES_FEW);
}

bool pct_scale_trusts(const struct pct_scale_row *row)
{
    return !pct_scale_has_few(row) && row->modelled && row->reaches && row->fit.best.error < 0.5;
}

/* The standard error of the time of a context of computation, from the number of its samples; a
 * scale without any has the error of one. What samples leave over has that of all of them. */
static double sampling_error(const struct pct_scale *s, const struct pct_scale_row *row, size_t k)
{
    double all_ns = 0;
    if (!(row->samples > 0))
        return sqrt(row->costs[k].variance);
    if (row->costs[k].samples > 0)
        return row->costs[k].ns / sqrt(row->costs[k].samples);
    for (size_t i = 0; i < s->n_points; i++)
        all_ns += row->costs[i].ns * (double)s->points[i].n_runs;
    return all_ns / row->samples / (double)s->points[k].n_runs;
}

/* True if samples may have missed or hit the context so by chance. Times of calls are measured. */
static bool may_be_chance(const struct pct_scale *s, const struct pct_scale_row *row)
{
    size_t first = pct_scale_first(s), last = pct_scale_last(s);
    if (pct_scale_has_few(row))
        return true;
    double error =
        hypot(sampling_error(s, row, last), ideal(s, sampling_error(s, row, first), last));
    return row->lost_ns < PCT_SCALE_SURE * error;
}

bool pct_scale_loses(const struct pct_scale *s, const struct pct_scale_row *row)
{
    return row->lost_guessed || row->lost_ns > PCT_SCALE_WORTH * s->core_ns;
}

/* True for what samples leave over, if it may be waiting for a processor at one of the scales. */
static bool may_be_delayed(const struct pct_scale *s, uint32_t node)
{
    return node == s->join->compute && s->join->divided &&
           (s->points[pct_scale_first(s)].undivided || s->points[pct_scale_last(s)].undivided);
}

/* Waiting for a processor makes other ranks wait in MPI: any call may contain up to all of it. */
bool pct_scale_blames(const struct pct_scale *s, const struct pct_scale_row *row)
{
    bool call = s->join->nodes[row->node].kind == PCOLLECT_NODE_OP;
    if (row->node == s->join->waiting || row->node == s->join->absent ||
        may_be_delayed(s, row->node))
        return false;
    return row->lost_ns - (call ? s->machine_ns : 0) > PCT_SCALE_WORTH * s->core_ns &&
           !may_be_chance(s, row);
}

/* ---- The whole ------------------------------------------------------------------------------- */

/* Reason why the computation of a scale is not known; NULL: it is. */
static const char *find_lack(const struct pct_scale *s, const struct pct_scale_point *p)
{
    if (!s->by_threads && p->too_short)
        return "the time outside MPI is too short for samples";
    if (!s->by_threads && p->guessed)
        return "the time outside MPI may be blocked or waiting for a processor";
    return p->work_ns > 0 ? NULL : "no computation was measured";
}

/* Refuses runs of which strong scaling cannot be told from weak: one or both of the scales that are
 * compared lack the computation. */
static int refuse_scaling(const struct pct_scale *s, struct pc_error *error)
{
    const struct pct_scale_point *first = &s->points[pct_scale_first(s)],
                                 *last = &s->points[pct_scale_last(s)];
    const char *lack = find_lack(s, first), *other = find_lack(s, last);
    const struct pct_scale_point *p = lack ? first : last;
    char both[PCT_NUMBER_BYTES] = "";
    bool guessed = !s->by_threads && p->guessed;
    if (lack == other)
        pct_text_format(both, sizeof both, " and %u", (unsigned)last->width);
    return pc_error_set(error, PC_EARG,
                        "%s on %u%s %s%s, by which strong scaling is told from weak scaling: "
                        "give --strong or --weak",
                        lack ? lack : other, (unsigned)p->width, both,
                        pct_scale_unit(s, *both ? last->width : p->width),
                        guessed ? ", so it is not known how much of it is computation" : "");
}

/* Refuses runs that differ neither in ranks nor in threads. */
static int refuse_width(const struct pct_scale *s, unsigned width, struct pc_error *error)
{
    const char *where = s->n_sizes > 1 ? " at the largest size" : "";
    bool same = true, known = true, renewed = false;
    for (size_t i = 0; i < s->n_runs; i++) {
        same &= s->runs[i].n_threads == s->runs[0].n_threads;
        known &= s->runs[i].n_threads > 0;
        renewed |= s->runs[i].renews_threads;
    }
    if (same && known)
        return pc_error_set(
            error, PC_EARG,
            "all runs have the same number of ranks, %u, and of threads, %u: give runs at two or "
            "more",
            width, s->runs[0].n_threads);
    return pc_error_set(error, PC_EARG,
                        "all runs%s have the same number of %s, %u: give runs at two or more%s",
                        where, s->by_threads ? "threads" : "ranks", width,
                        known     ? ""
                        : renewed ? "; how many threads they have at once is not known, since a "
                                    "runtime ends some and makes others"
                                  : "; threads are known of sampled runs alone");
}

static int choose_scaling(struct pct_scale *s, struct pc_error *error)
{
    unsigned first = (unsigned)s->points[pct_scale_first(s)].width;
    unsigned last = (unsigned)s->points[pct_scale_last(s)].width;
    if (first == last)
        return refuse_width(s, first, error);
    enum pct_scaling told = tell_scaling(s);
    s->scaling = s->options.scaling != PCT_SCALING_UNKNOWN ? s->options.scaling : told;
    return s->scaling == PCT_SCALING_UNKNOWN ? refuse_scaling(s, error) : PC_OK;
}

int pct_scale_make(const struct pct_run *runs, size_t n, const struct pct_scale_options *options,
                   struct pct_scale **out, struct pc_error *error)
{
    struct pct_scale *s = pct_alloc(1, sizeof *s);
    *s = (struct pct_scale){.options = *options, .runs = runs, .n_runs = n};
    make_points(s);
    int err = pct_join_new(runs, n, PCT_JOIN_OWN_BLAMED, &s->join, error);
    if (!err) {
        find_polls(s);
        add_polls_ns(s);
        err = choose_scaling(s, error);
    }
    if (err) {
        pct_scale_free(s);
        return err;
    }
    rate_points(s);
    make_rows(s);
    make_models(s);
    const struct pct_scale_point *last = &s->points[s->n_points - 1];
    s->core_ns = last->core_ns;
    s->lost_ns = last->core_ns - ideal(s, s->points[last->base].core_ns, s->n_points - 1);
    const struct pct_scale_point *first = &s->points[last->base];
    double delayed_ns = last->delayed_ns * pct_scale_per_rank(last) -
                        ideal(s, first->delayed_ns * pct_scale_per_rank(first), s->n_points - 1);
    s->machine_ns = fmin(fmax(0, delayed_ns), last->core_ns);
    pct_scale_name_places(s, false);
    *out = s;
    return PC_OK;
}

void pct_scale_free(struct pct_scale *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->n_rows; i++)
        pct_free(s->rows[i].costs);
    pct_free(s->rows);
    pct_free(s->branches);
    pct_free(s->points);
    pct_free(s->point_of);
    pct_free(s->polls);
    pct_join_free(s->join);
    pct_free(s);
}
