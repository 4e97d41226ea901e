/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Output of pcollect scale: the efficiencies, the main contexts with reasons, the contexts in order
 * of their loss; tables as tsv and JSON.
 */
#include "view/scale_private.h"
#include "view/sentence.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST = 3 };
enum { PLACE_BYTES = 96 };

/* Appends " at size 2" to out, if there is more than one. */
static void add_size(const struct pct_scale *s, const struct pct_scale_point *p,
                     char out[PLACE_BYTES])
{
    size_t n = strlen(out);
    if (s->n_sizes > 1)
        snprintf(out + n, PLACE_BYTES - n, " at size %g", p->size);
}

/* ---- Text ------------------------------------------------------------------------------------ */

static void print_title(FILE *out, const struct pct_scale *s, size_t width)
{
    const char *program = pc_base_name(s->runs[0].program);
    struct pct_buf b = {0};
    char n[PCT_NUMBER_BYTES];
    pct_buf_text(&b, s->scaling == PCT_SCALING_WEAK ? "Weak scaling of " : "Strong scaling of ");
    pct_text_escape(&b, *program ? program : "the program", PCT_ESCAPE_CELL);
    pct_buf_text(&b, ":");
    for (size_t k = 0; k < s->n_points; k++) {
        const struct pct_scale_point *p = &s->points[k];
        if (s->options.sizes && p->base == k)
            pct_buf_format(&b, "%s size %g on", k ? ";" : "", p->size);
        pct_buf_format(&b, "%s %s", p->base != k ? "," : "", pct_scale_count(p->width, n));
    }
    const char *but = s->but_polls ? ", without functions that poll," : "";
    pct_buf_format(&b, " %s", pct_scale_unit(s, 0));
    if (s->by_threads)
        pct_buf_format(&b, " of %s %s", pct_scale_count(s->points->ranks, n),
                       s->points->ranks == 1 ? "rank" : "ranks");
    if (pct_scale_computes(s) && fabs(s->growth) < 0.005)
        pct_buf_format(&b, " (the total of computation%s does not grow)", but);
    else if (pct_scale_computes(s))
        pct_buf_format(&b, " (the total of computation%s grows as p^%.2f)", but, s->growth);
    pct_print_sentence(out, width, 0, "%s", b.data);
    pct_buf_free(&b);
}

/* ---- Remarks --------------------------------------------------------------------------------- */

static void remark_delays(const struct pct_scale *s, pct_remark_fn *put, void *arg)
{
    bool any = false;
    for (size_t k = 0; k < s->n_points; k++) {
        const struct pct_scale_point *p = &s->points[k];
        char n[PLACE_BYTES];
        struct pct_buf where = {0}, sentence = {0};
        pct_scale_width(s, p, n);
        add_size(s, p, n);
        pct_buf_format(&where, "On %s", n);
        any |= pct_left_out_put(&sentence, where.data,
                                &(struct pct_left_out){p->delayed_ns, p->others_ns, p->library_ns,
                                                       p->all_ns, p->init_ns});
        if (sentence.n)
            put(arg, sentence.data);
        pct_buf_free(&where);
        pct_buf_free(&sentence);
    }
    if (any)
        put(arg, PCT_DELAY_STAYS);
}

/* Says what the figures are of, and the wall times, if much of the time of a scale is left out. */
static void remark_busy(const struct pct_scale *s, pct_remark_fn *put, void *arg)
{
    struct pct_buf b = {0};
    bool busy = false;
    pct_buf_text(&b, "The machine was busy: the wall time is ");
    for (size_t k = 0; k < s->n_points; k++) {
        const struct pct_scale_point *p = &s->points[k];
        char n[PLACE_BYTES], time[PCT_NUMBER_BYTES];
        busy |= pct_run_is_busy(p->delayed_ns, pct_scale_whole_ns(p));
        pct_scale_width(s, p, n);
        add_size(s, p, n);
        pct_buf_format(&b, "%s%s on %s", k ? ", " : "", pct_scale_time(p->wall_ns, time), n);
    }
    pct_buf_text(&b,
                 ". Times, speed-ups and efficiencies are without waits for processors and with "
                 "those for ranks that had none: how the program scales where each rank has a "
                 "processor is not sure.");
    if (busy)
        put(arg, b.data);
    pct_buf_free(&b);
}

/* Ends a list of numbers of ranks of one size: " ranks", " ranks at size 2". */
static void put_ranks_of(struct pct_buf *b, const struct pct_scale *s,
                         const struct pct_scale_point *last)
{
    char size[PLACE_BYTES] = "";
    add_size(s, last, size);
    pct_buf_format(b, " %s%s", pct_scale_unit(s, last->width), size);
}

/* The numbers of ranks, of each size, on which computation is not known, for one of the reasons. */
static void remark_guesses(const struct pct_scale *s, bool too_short, pct_remark_fn *put, void *arg)
{
    const struct pct_scale_point *last = NULL;
    struct pct_buf b = {0};
    char n[PCT_NUMBER_BYTES];
    for (size_t k = 0; k < s->n_points; k++) {
        const struct pct_scale_point *p = &s->points[k];
        if (!p->guessed || p->too_short != too_short)
            continue;
        bool other = last && last->base != p->base;
        if (other)
            put_ranks_of(&b, s, last);
        pct_buf_format(&b, "%s%s",
                       !last   ? "On "
                       : other ? ", on "
                               : ", ",
                       pct_scale_count(p->width, n));
        last = p;
    }
    if (last) {
        put_ranks_of(&b, s, last);
        pct_buf_format(&b, " %s, nor what follows from it.",
                       too_short
                           ? "the time outside MPI is too short for samples, so it is not "
                             "known how much of it is waiting for a processor"
                           : "it is not known how much of the time outside MPI is blocked "
                             "(asleep, files, locks) and how much is waiting for a processor");
        put(arg, b.data);
    }
    pct_buf_free(&b);
}

/* Time in which the main threads wait for others, where it is much of what counts as computation.
 */
static void remark_threads(const struct pct_scale *s, pct_remark_fn *put, void *arg)
{
    struct pct_buf b = {0};
    char n[PLACE_BYTES];
    for (size_t k = 0; k < s->n_points; k++) {
        const struct pct_scale_point *p = &s->points[k];
        if (p->guessed || !(p->for_threads_ns > PCT_COMPARE_DELAYED * p->compute_ns))
            continue;
        pct_scale_width(s, p, n);
        add_size(s, p, n);
        pct_buf_format(&b, "%s %.0f %% on %s", b.n ? "," : "",
                       100 * pct_scale_per(p->for_threads_ns, p->compute_ns), n);
    }
    if (b.n) {
        struct pct_buf sentence = {0};
        pct_buf_format(&sentence,
                       "Main threads wait for other threads, in a runtime library, for a part of "
                       "the time that counts as computation:%s.",
                       b.data);
        put(arg, sentence.data);
        pct_buf_free(&sentence);
    }
    pct_buf_free(&b);
}

/* The numbers of threads with which ranks work, if they differ. */
static void remark_working(const struct pct_scale *s, pct_remark_fn *put, void *arg)
{
    struct pct_buf b = {0};
    char n[PCT_SCALE_WIDTH_BYTES];
    bool known = true;
    for (size_t i = 0; i < s->n_runs; i++)
        known &= !s->runs[i].renews_threads;
    for (size_t k = 0; k < s->n_points; k++) {
        const struct pct_scale_point *p = &s->points[k];
        pct_scale_width(s, p, n);
        pct_buf_format(&b, "%s %.3g %son %s", k ? "," : "A rank works with", p->n_working,
                       k                  ? ""
                       : p->n_working > 1 ? "threads "
                                          : "thread ",
                       k ? pct_scale_count(p->width, n) : n);
    }
    pct_buf_text(&b, ": times and efficiencies count ranks, not their threads.");
    if (known && !s->by_threads && pct_scale_working_differs(s))
        put(arg, b.data);
    pct_buf_free(&b);
}

/* Numbers of ranks of which runs have several numbers of threads. */
static void remark_mixed(const struct pct_scale *s, pct_remark_fn *put, void *arg)
{
    for (size_t k = 0; k < s->n_points && !s->by_threads; k++) {
        uint32_t least = UINT32_MAX, most = 0;
        for (size_t i = 0; i < s->n_runs; i++) {
            if (s->point_of[i] != k)
                continue;
            least = s->runs[i].n_threads < least ? s->runs[i].n_threads : least;
            most = s->runs[i].n_threads > most ? s->runs[i].n_threads : most;
        }
        if (!least || least == most)
            continue;
        char n[PLACE_BYTES];
        struct pct_buf b = {0};
        pct_scale_width(s, &s->points[k], n);
        add_size(s, &s->points[k], n);
        pct_buf_format(&b,
                       "The runs of %s have %u to %u threads in all: their figures are means over "
                       "these. Runs of one number of ranks are compared by their threads.",
                       n, least, most);
        put(arg, b.data);
        pct_buf_free(&b);
    }
}

/* Name of the sum of the times of all ranks, or threads: a core for each, unless ranks have more
 * threads than are counted. */
static const char *whole_name(const struct pct_scale *s)
{
    return !s->by_threads && pct_scale_most_working(s) > 1.1 ? "rank time" : "core time";
}

/* Says "MPI_Init takes 55 ms on 1 rank, 235 ms on 4: it" and PCT_LEFT_OUT. */
static void remark_apart(const struct pct_scale *s, const char *takes, const char *what,
                         double first_ns, double last_ns, pct_remark_fn *put, void *arg)
{
    const struct pct_scale_point *first = &s->points[pct_scale_first(s)],
                                 *last = &s->points[pct_scale_last(s)];
    char x[PCT_NUMBER_BYTES], y[PCT_NUMBER_BYTES], n[PCT_SCALE_WIDTH_BYTES], m[PCT_NUMBER_BYTES];
    if (!(last_ns > 0))
        return;
    pct_scale_width(s, first, n);
    pct_scale_count(last->width, m);
    struct pct_buf b = {0};
    pct_buf_format(&b, "%s %s on %s, %s on %s: %s " PCT_LEFT_OUT, takes,
                   pct_scale_time(first_ns / first->ranks, x), n,
                   pct_scale_time(last_ns / last->ranks, y), m, what);
    put(arg, b.data);
    pct_buf_free(&b);
}

/* MPI_Init, and of MPI_Finalize what each rank has: their cost does not depend on the length of the
 * run. */
static void remark_ends(const struct pct_scale *s, pct_remark_fn *put, void *arg)
{
    const struct pct_scale_point *first = &s->points[pct_scale_first(s)],
                                 *last = &s->points[pct_scale_last(s)];
    remark_apart(s, "MPI_Init takes", "it", first->init_ns, last->init_ns, put, arg);
    remark_apart(s, "MPI_Finalize takes each rank at least", "this part", first->end_ns,
                 last->end_ns, put, arg);
}

/* The evidence by which the kind of scaling was told, where it may be wrong. */
static void remark_scaling(const struct pct_scale *s, pct_remark_fn *put, void *arg)
{
    if (s->options.scaling != PCT_SCALING_UNKNOWN)
        return;
    struct pct_buf b = {0};
    if (s->by_nearness && s->scaling == PCT_SCALING_STRONG)
        pct_buf_format(&b,
                       "This is taken as strong scaling because the total of computation grows as "
                       "p^%.2f, which is nearer to p^0 (strong) than to p^1 (weak): give --weak if "
                       "the problem grows with the number of %s.",
                       s->growth, pct_scale_unit(s, 0));
    else if (s->by_nearness)
        pct_buf_format(&b,
                       "This is taken as weak scaling because the total of computation grows as "
                       "p^%.2f, which is nearer to p^1 (weak) than to p^0 (strong): give --strong "
                       "if all runs solve the same problem.",
                       s->growth);
    else if (s->scaling == PCT_SCALING_WEAK)
        pct_buf_format(&b,
                       "This is taken as weak scaling because the total of computation grows. Work "
                       "that each %s repeats makes it grow, too: give --strong if all runs solve "
                       "the same problem.",
                       pct_scale_unit(s, 1));
    else if (s->by_command)
        pct_buf_format(&b,
                       "This is taken as strong scaling because all runs have the same command "
                       "line: give --weak if the problem grows with the number of %s.",
                       pct_scale_unit(s, 0));
    if (b.n)
        put(arg, b.data);
    pct_buf_free(&b);
}

void pct_scale_remarks(const struct pct_scale *s, pct_remark_fn *put, void *arg)
{
    remark_scaling(s, put, arg);
    pct_builds_remark(s->join, s->runs, put, arg);
    pct_programs_remarks(s->join, s->runs, put, arg);
    pct_runs_remarks(s->runs, s->n_runs, put, arg);
    remark_delays(s, put, arg);
    remark_busy(s, put, arg);
    remark_guesses(s, true, put, arg);
    remark_guesses(s, false, put, arg);
    remark_threads(s, put, arg);
    remark_working(s, put, arg);
    remark_mixed(s, put, arg);
    remark_ends(s, put, arg);
}

/* Part of the loss that may be waiting for ranks without a processor, which is in MPI; 0: little.
 */
static double machine_part(const struct pct_scale *s)
{
    const struct pct_scale_point *first = &s->points[pct_scale_first(s)],
                                 *last = &s->points[pct_scale_last(s)];
    double ns = fmin(s->machine_ns, s->lost_ns);
    if (pct_scale_computes(s))
        ns = fmin(ns, s->lost_ns - last->compute_ns * pct_scale_per_rank(last) +
                          pct_scale_ideal(s, first->compute_ns * pct_scale_per_rank(first)));
    return ns >= PCT_COMPARE_DELAYED * s->core_ns ? ns : 0;
}

bool pct_scale_has_waits(const struct pct_scale *s)
{
    bool any = false;
    for (size_t i = 0; i < s->n_rows; i++)
        any |= s->rows[i].costs[pct_scale_first(s)].waits_ns > 0 ||
               s->rows[i].costs[pct_scale_last(s)].waits_ns > 0;
    return any;
}

/* "4,096 ranks", "4,096 ranks, size 1e+06" */
static const char *predicted_text(const struct pct_scale *s, char out[PLACE_BYTES])
{
    char width[PCT_NUMBER_BYTES];
    int n = snprintf(out, PLACE_BYTES, "%s %s", pct_scale_count(s->options.predict, width),
                     pct_scale_unit(s, s->options.predict));
    if (s->options.sizes)
        snprintf(out + n, PLACE_BYTES - (size_t)n, ", size %g", s->options.predict_size);
    return out;
}

/* A time that is no sensible upper bound any more: 300 years, in s. */
#define CENTURIES_S 1e10

/* "5.2 s, between 4.1 s and 7.7 s"; "not known (anything up to 60 s fits these runs)" */
static void put_band(struct pct_buf *b, const struct pct_fit_band *band, const char *unit)
{
    char x[PCT_NUMBER_BYTES], y[PCT_NUMBER_BYTES], z[PCT_NUMBER_BYTES];
    pct_scale_time(band->value * 1e9, x);
    pct_scale_time(band->low * 1e9, y);
    pct_scale_time(band->high * 1e9, z);
    if (band->low >= CENTURIES_S)
        pct_buf_format(b, "centuries%s", unit);
    else if (pct_fit_band_tells(band))
        pct_buf_format(b, "%s%s, between %s and %s", x, unit, y, z);
    else if (band->high >= CENTURIES_S && band->low > 0)
        pct_buf_format(b, "not known (anything from %s to centuries%s fits these runs)", y, unit);
    else if (band->high >= CENTURIES_S)
        pct_buf_format(b, "not known (anything up to centuries%s fits these runs)", unit);
    else if (band->low > 0)
        pct_buf_format(b, "not known (anything from %s to %s%s fits these runs)", y, z, unit);
    else
        pct_buf_format(b, "not known (anything up to %s%s fits these runs)", z, unit);
}

static void put_future(struct pct_buf *b, const struct pct_scale *s,
                       const struct pct_scale_row *row)
{
    char there[PLACE_BYTES];
    if (!pct_scale_trusts(row) || !(s->options.predict > 0))
        return;
    pct_buf_format(b, " On %s: ", predicted_text(s, there));
    put_band(b, &row->future, " per rank");
    if (row->fit.few && pct_fit_band_tells(&row->future))
        pct_buf_text(b, ", if the true growth is among the forms tried: there are few scales");
    pct_buf_text(b, ".");
}

/* Appends "; its time per rank, where it is called, grows as p", if it grows. */
static void put_growth(struct pct_buf *b, const struct pct_scale *s,
                       const struct pct_scale_row *row)
{
    char growth[PCT_FIT_TEXT];
    const struct pct_scale_point *from = &s->points[pct_scale_first(s)],
                                 *to = &s->points[pct_scale_last(s)];
    bool lacks = false, call = s->join->nodes[row->node].kind == PCOLLECT_NODE_OP;
    if (!pct_scale_trusts(row) || row->costs[pct_scale_last(s)].ns / to->width <=
                                      row->costs[pct_scale_first(s)].ns / from->width)
        return;
    pct_fit_growth(&row->fit, pct_scale_parameters, growth);
    if (!strcmp(growth, "constant") || *growth == '-')
        return;
    for (size_t k = 0; k < s->n_points; k++)
        lacks |= pct_scale_lacks(s, row, k);
    pct_buf_format(b, "; its time per rank%s grows as %s%s",
                   !lacks ? ""
                   : call ? ", where it is called,"
                          : ", where it has enough samples,",
                   growth, row->fit.few ? ", a guess from few scales" : "");
}

static void remark_context(const struct pct_scale *s, const struct pct_scale_row *row,
                           pct_remark_fn *put, void *arg)
{
    struct pct_buf b = {0};
    pct_buf_format(&b, "%s: %.1f %% of the run lost. ", row->place,
                   100 * pct_scale_per(row->lost_ns, s->core_ns));
    const char *reason = pct_scale_reason(s, row);
    pct_buf_format(&b, "%c%s", *reason >= 'a' && *reason <= 'z' ? *reason - 'a' + 'A' : *reason,
                   reason + 1);
    put_growth(&b, s, row);
    pct_buf_text(&b, ".");
    put_future(&b, s, row);
    put(arg, b.data);
    pct_buf_free(&b);
}

/* One of those that are sure to lose time: a context, or a function with all that it calls. */
struct blamed {
    const struct pct_scale_row *row; /* NULL: it is a function */
    const struct pct_scale_branch *branch;
};

/* Those that lose most first; returns their number. */
static size_t find_blamed(const struct pct_scale *s, struct blamed blamed[FIRST], bool *loses_out)
{
    size_t n = 0, branches = 0;
    *loses_out = s->n_branches > 0;
    for (size_t i = 0; i < s->n_rows && n < FIRST; i++) {
        *loses_out |= pct_scale_loses(s, &s->rows[i]);
        if (!pct_scale_blames(s, &s->rows[i]))
            continue;
        while (n < FIRST && branches < s->n_branches &&
               s->branches[branches].lost_ns > s->rows[i].lost_ns)
            blamed[n++] = (struct blamed){NULL, &s->branches[branches++]};
        if (n < FIRST)
            blamed[n++] = (struct blamed){&s->rows[i], NULL};
    }
    while (n < FIRST && branches < s->n_branches)
        blamed[n++] = (struct blamed){NULL, &s->branches[branches++]};
    return n;
}

void pct_scale_remark_loss(const struct pct_scale *s, pct_remark_fn *put, void *arg)
{
    struct blamed blamed[FIRST];
    bool loses, by_machine = machine_part(s) > 0;
    char width[PCT_SCALE_WIDTH_BYTES], all[PCT_NUMBER_BYTES], time[PCT_NUMBER_BYTES];
    struct pct_buf b = {0};
    pct_scale_width(s, &s->points[pct_scale_last(s)], width);
    pct_buf_format(&b,
                   s->lost_ns < 0 ? "Gained on %s against ideal scaling: %s, beside %s %s (%.1f %%)"
                                  : "Lost on %s against ideal scaling: %s of %s %s (%.1f %%)",
                   width, pct_scale_time(fabs(s->lost_ns), time), pct_scale_time(s->core_ns, all),
                   whole_name(s), 100 * pct_scale_per(fabs(s->lost_ns), s->core_ns));
    put(arg, b.data);
    b.n = 0;
    if (by_machine) {
        pct_buf_format(&b,
                       "Up to %s of this (%.0f %%) may be waiting in MPI for ranks that no "
                       "processor was free for: runs with a free processor for each rank would "
                       "tell.",
                       pct_scale_time(machine_part(s), time),
                       100 * pct_scale_per(machine_part(s), s->lost_ns));
        put(arg, b.data);
    }
    pct_buf_free(&b);
    put(arg, find_blamed(s, blamed, &loses) ? "Look first at"
             : !loses                       ? "No context loses more than 1 % of the run."
             : !by_machine
                 ? "No context is sure to lose more than 1 % of the run."
                 : "Apart from that, no context is sure to lose more than 1 % of the run.");
}

void pct_scale_remark_first(const struct pct_scale *s, pct_remark_fn *put, void *arg)
{
    struct blamed blamed[FIRST];
    bool loses;
    size_t n = find_blamed(s, blamed, &loses);
    struct pct_buf b = {0};
    for (size_t i = 0; i < n; i++) {
        if (blamed[i].row) {
            remark_context(s, blamed[i].row, put, arg);
            continue;
        }
        pct_buf_clear(&b);
        pct_scale_put_branch(s, blamed[i].branch, &b);
        put(arg, b.data);
    }
    pct_buf_free(&b);
}

/* ---- Parts of the text ----------------------------------------------------------------------- */

static void print_points(FILE *out, const struct pct_data *d, const struct pct_aligned *how)
{
    const struct pct_scale *s = pct_data_scale(d);
    const char *names[12], **at = names;
    struct pct_aligned mine = *how;
    static const char *const dropped[] = {"speed_up", NULL};
    static const char *const factors[] = {
        "time_s",           "speed_up",        "efficiency_percent",
        "parallel_percent", "balance_percent", "communication_percent"};
    if (s->options.sizes)
        *at++ = "size";
    *at++ = s->by_threads ? "threads" : "ranks";
    memcpy(at, factors, sizeof factors);
    at += PC_ARRAY_LEN(factors);
    if (s->by_threads)
        *at++ = "threading_percent";
    *at++ = "computation_percent";
    *at = NULL;
    mine.names = names;
    mine.dropped = dropped;
    pct_scale_text(out, s, &pct_scale_tables[0], &mine);
    fputs("\n", out);
    pct_print_sentence(out, mine.width, 2,
                       "  efficiency against the smallest scale; parallel = balance * "
                       "communication%s;",
                       s->by_threads ? " * threading" : "");
    pct_print_sentence(out, mine.width, 2, "  computation: how the total of computation scales");
}

struct numbered {
    struct pct_remark_text text;
    size_t number; /* of the last sentence */
};

static void print_numbered(void *arg, const char *sentence)
{
    struct numbered *n = arg;
    fprintf(n->text.out, "  %zu. ", ++n->number);
    pct_print_sentence(n->text.out, n->text.width, 5, "%s", sentence);
}

static void print_first(FILE *out, const struct pct_scale *s, size_t width)
{
    struct numbered numbered = {{out, width}, 0};
    fputc('\n', out);
    pct_scale_remark_loss(s, pct_remark_print, &numbered.text);
    pct_scale_remark_first(s, print_numbered, &numbered);
}

/* A context and its time per rank at the scale of --predict, in seconds. Without a model that can
 * be used it is that of the largest scale. */
struct dominating {
    const struct pct_scale_row *row;
    double value;
};

static struct dominating expect(const struct pct_scale *s, const struct pct_scale_row *row)
{
    size_t last = pct_scale_last(s);
    double measured = row->costs[last].ns / s->points[last].width / 1e9;
    return (struct dominating){row, pct_scale_trusts(row) ? row->future.value : measured};
}

static int compare_expected(const void *a, const void *b)
{
    const struct dominating *x = a, *y = b;
    if (x->value != y->value)
        return x->value > y->value ? -1 : 1;
    return x->row->node < y->row->node ? -1 : x->row->node > y->row->node;
}

/* Prints the prediction for the whole run at the scale of --predict; `sum`: of all contexts. */
static void print_whole(FILE *out, const struct pct_scale *s, double sum, size_t width)
{
    char u[PCT_NUMBER_BYTES], there[PLACE_BYTES];
    struct pct_buf b = {0};
    pct_buf_format(&b, "On %s the time of the whole run is ", predicted_text(s, there));
    put_band(&b, &s->future, "");
    if (!pct_fit_band_tells(&s->future))
        pct_buf_format(&b, ". Runs at more numbers of %s, and nearer to that one, would tell.",
                       pct_scale_unit(s, 0));
    else
        pct_buf_format(&b, "; the models of the contexts add up to %s per rank%s.",
                       pct_scale_time(sum * 1e9, u),
                       s->fit.few ? ". With fewer than five scales that is a guess" : "");
    fputc('\n', out);
    pct_print_sentence(out, width, 0, "%s", b.data);
    pct_buf_free(&b);
    if (pct_fit_band_tells(&s->future) && (sum < s->future.low || sum > s->future.high))
        pct_print_sentence(
            out, width, 0,
            "The two contradict each other: these runs do not say what it costs there.");
}

/* Prints the number of contexts that are in the order by what was measured. */
static void print_unpredicted(FILE *out, const struct pct_scale *s, size_t n, size_t width)
{
    char some[PCT_NUMBER_BYTES], all[PCT_NUMBER_BYTES], ranks[PCT_SCALE_WIDTH_BYTES];
    if (!n)
        return;
    pct_scale_width(s, &s->points[pct_scale_last(s)], ranks);
    pct_print_sentence(out, width, 2, "  %s of %s contexts %s no prediction: %s by %s time on %s.",
                       pct_scale_count((double)n, some), pct_scale_count((double)s->n_rows, all),
                       n == 1 ? "has" : "have", n == 1 ? "it is ordered" : "they are ordered",
                       n == 1 ? "its" : "their", ranks);
}

/* Prints contexts that will dominate at the scale of --predict. If the sum is not known, there are
 * no shares. */
static void print_dominating(FILE *out, const struct pct_scale *s, size_t width)
{
    enum { MOST = 5 };
    char share[16] = "";
    if (!(s->options.predict > 0))
        return;
    if (!s->modelled) {
        fprintf(out, "\nNo prediction: it needs runs at three or more numbers of %s.\n",
                pct_scale_unit(s, 0));
        return;
    }
    struct dominating *order = pct_alloc(s->n_rows, sizeof *order);
    double sum = 0;
    size_t n_unknown = 0;
    for (size_t i = 0; i < s->n_rows; i++) {
        order[i] = expect(s, &s->rows[i]);
        n_unknown += !pct_scale_trusts(&s->rows[i]);
        sum += order[i].value;
    }
    qsort(order, s->n_rows, sizeof *order, compare_expected);
    print_whole(out, s, sum, width);
    for (size_t i = 0; i < s->n_rows && i < MOST; i++) {
        struct pct_buf b = {0};
        if (pct_scale_trusts(order[i].row))
            put_band(&b, &order[i].row->future, "");
        else
            pct_buf_text(&b, order[i].row->guessed ? "not known"
                             : pct_scale_has_few(order[i].row) ||
                                     (order[i].row->samples > 0 && !order[i].row->modelled)
                                 ? "not known (too few samples)"
                             : !order[i].row->modelled
                                 ? "not known (too few scales have it)"
                                 : "not known (no form of growth fits these runs)");
        if (pct_fit_band_tells(&s->future) && !order[i].row->costs[pct_scale_last(s)].guessed)
            snprintf(share, sizeof share, "%5.1f %%  ", 100 * pct_scale_per(order[i].value, sum));
        else if (pct_fit_band_tells(&s->future))
            snprintf(share, sizeof share, "      -  ");
        pct_print_sentence(out, width, *share ? 11 : 4, "  %s%s: %s", share, order[i].row->place,
                           b.data);
        pct_buf_free(&b);
    }
    print_unpredicted(out, s, n_unknown, width);
    pct_free(order);
}

struct lines {
    const struct pct_scale *s;
    const struct pct_scale_tree *t;
    bool any_more; /* a line has a bound in place of a figure */
};

enum { FIGURE_BYTES = PCT_NUMBER_BYTES + 2 };

/* Writes a time per rank; ">" if computation without samples may be more than all of it. */
static void write_time(double ns, double unsampled_ns, double width, bool guessed, bool *any_more,
                       char out[FIGURE_BYTES])
{
    char number[PCT_NUMBER_BYTES];
    bool more = unsampled_ns > ns;
    if (!(ns > 0) || guessed) {
        snprintf(out, FIGURE_BYTES, "-");
        return;
    }
    *any_more |= more;
    snprintf(out, FIGURE_BYTES, "%s%s", more ? ">" : "", pct_scale_time(ns / width, number));
}

/* The loss of nodes together. */
static struct pct_scale_loss sum_losses(const struct pct_scale_loss *loss, const uint32_t *nodes,
                                        size_t n)
{
    struct pct_scale_loss sum = {0};
    for (size_t i = 0; i < n; i++) {
        const struct pct_scale_loss *l = &loss[nodes[i]];
        sum.first_ns += l->first_ns;
        sum.last_ns += l->last_ns;
        sum.lost_ns += l->lost_ns;
        sum.first_guessed |= l->first_guessed;
        sum.last_guessed |= l->last_guessed;
        sum.first_unsampled_ns += l->first_unsampled_ns;
        sum.last_unsampled_ns += l->last_unsampled_ns;
    }
    return sum;
}

static void put_line(void *arg, const uint32_t *nodes, size_t n, struct pct_buf *b)
{
    struct lines *l = arg;
    const struct pct_scale_loss loss = sum_losses(l->t->loss, nodes, n);
    const struct pct_scale_point *points = l->s->points;
    char lost[FIGURE_BYTES] = "-", x[FIGURE_BYTES], y[FIGURE_BYTES];
    bool less = loss.first_ns > 0 && loss.first_unsampled_ns > loss.first_ns;
    write_time(loss.first_ns, loss.first_unsampled_ns, points[pct_scale_first(l->s)].width,
               loss.first_guessed, &l->any_more, x);
    write_time(loss.last_ns, loss.last_unsampled_ns, points[pct_scale_last(l->s)].width,
               loss.last_guessed, &l->any_more, y);
    if (!loss.first_guessed && !loss.last_guessed)
        pct_text_format(lost, sizeof lost, "%s%+.2f %%", less ? "<" : "",
                        100 * pct_scale_per(loss.lost_ns, l->s->core_ns));
    pct_buf_format(b, "  %9s  %9s  %9s  ", lost, x, y);
}

static void print_tree(FILE *out, const void *scale, const struct pct_compare_print *how)
{
    const struct pct_scale *s = scale;
    struct pct_scale_tree *t = pct_scale_tree_new(s);
    struct lines lines = {s, t, false};
    struct pct_buf title = {0};
    char first[PCT_SCALE_WIDTH_BYTES], last[PCT_SCALE_WIDTH_BYTES];
    pct_scale_width(s, &s->points[pct_scale_first(s)], first);
    pct_scale_width(s, &s->points[pct_scale_last(s)], last);
    pct_buf_format(&title,
                   "Where it is %s (contexts below which %g %% of the %s is lost or "
                   "gained; time per rank on %s, and on %s%s)",
                   s->lost_ns < 0 ? "gained" : "lost", how->least / 1e3, whole_name(s), first, last,
                   pct_scale_has_waits(s) ? "; a wait is counted where it is caused" : "");
    const struct pct_compare_tree tree = {
        .tree = t->tree,
        .weight = t->moved,
        .whole = s->core_ns,
        .whole_name = whole_name(s),
        .but = "",
        .title = title.data,
        .heads = "       lost      first       last  context",
        .put_figures = put_line,
        .arg = &lines,
    };
    pct_compare_tree_print(out, &tree, how);
    pct_buf_free(&title);
    if (lines.any_more)
        fprintf(out,
                "  > at least, < at most: computation below has no sample on that number of %s\n",
                pct_scale_unit(s, 0));
    fputs("  --table contexts has all contexts, with their models\n", out);
    pct_scale_tree_free(t);
    pct_compare_hidden(out, how);
}

static void print_head(FILE *out, const void *scale, const struct pct_compare_print *how)
{
    const struct pct_scale *s = scale;
    struct pct_data d = {.kind = PCT_DATA_SCALE, .scale = s, .pool = s->join->pool};
    struct pct_aligned aligned = {
        .indent = "  ", .width = how->width, .people = {.utf8 = how->utf8}};
    print_title(out, s, how->width);
    pct_scale_remarks(s, pct_remark_print, &(struct pct_remark_text){out, how->width});
    fputc('\n', out);
    print_points(out, &d, &aligned);
    print_first(out, s, how->width);
    print_dominating(out, s, how->width);
}

void pct_scale_print(FILE *out, const struct pct_scale *s, const struct pct_compare_print *how)
{
    const struct pct_compare_text text = {
        .before = print_head, .tree = print_tree, .comparison = s};
    pct_compare_fit(out, &text, how);
}

/* ---- For programs ---------------------------------------------------------------------------- */

void pct_scale_tsv(FILE *out, const struct pct_scale *s, const struct pct_table *table,
                   const struct pct_choice *choice)
{
    struct pct_data d = {.kind = PCT_DATA_SCALE, .scale = s, .pool = s->join->pool};
    pct_table_tsv(out, table, &d, choice);
}

void pct_scale_text(FILE *out, const struct pct_scale *s, const struct pct_table *table,
                    const struct pct_aligned *how)
{
    struct pct_data d = {.kind = PCT_DATA_SCALE, .scale = s, .pool = s->join->pool};
    struct pct_rows rows = pct_table_rows(table, &d, how->choice);
    pct_table_aligned(out, table, &d, &rows, how);
    pct_rows_free(&rows);
}

void pct_scale_json(FILE *out, const struct pct_scale *s, const struct pct_table *table,
                    const struct pct_choice *choice)
{
    struct pct_data d = {.kind = PCT_DATA_SCALE, .scale = s, .pool = s->join->pool};
    fprintf(out, "{\n  \"pcollect_scale\": 1,\n  \"scaling\": \"%s\"",
            s->scaling == PCT_SCALING_WEAK ? "weak" : "strong");
    fprintf(out, ",\n  \"of\": \"%s\"", pct_scale_unit(s, 0));
    for (size_t i = 0; i < pct_n_scale_tables; i++) {
        if (!table || table == &pct_scale_tables[i])
            pct_table_json(out, &pct_scale_tables[i], &d, choice);
    }
    fputs("\n}\n", out);
}
