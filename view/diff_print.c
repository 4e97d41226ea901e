/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Output of pcollect diff. Scripts rely on names and meanings of columns: columns may be added at
 * the end, but none may be changed or removed.
 */
#include "base/wrap.h"
#include "view/compare_print.h"
#include "view/fit_lines.h"
#include "view/sentence.h"
#include "view/tables/figures.h"

#include <math.h>
#include <string.h>

static const char *const verdict_names[PCT_N_VERDICTS] = {
    [PCT_VERDICT_SAME] = "same",     [PCT_VERDICT_NOISE] = "noise", [PCT_VERDICT_MORE] = "more",
    [PCT_VERDICT_UNSURE] = "unsure", [PCT_VERDICT_LESS] = "less",   [PCT_VERDICT_NEW] = "new",
    [PCT_VERDICT_GONE] = "gone"};

/* Nanoseconds are shown as seconds. */
static double unit_of(const struct pct_diff *d)
{
    return d->metric == PCT_DIFF_TIME ? 1e-9 : 1;
}

static const struct pct_diff_row *row_at(const struct pct_cell *c)
{
    return &pct_data_diff(c->d)->rows[c->row];
}

static struct pct_diff_change figure_at(const struct pct_cell *c)
{
    return pct_diff_figure(pct_data_diff(c->d), row_at(c));
}

static size_t count_rows(const struct pct_data *d)
{
    return pct_data_diff(d)->n_rows;
}

static void set_percent(double part, double whole, struct pct_value *out)
{
    out->none = !(whole > 0);
    out->integer = whole > 0 ? llround(part / whole * 100000) : 0;
}

static void row_place(const struct pct_cell *c, struct pct_value *out)
{
    pct_value_plain(row_at(c)->place, out);
}

static void row_verdict(const struct pct_cell *c, struct pct_value *out)
{
    pct_value_plain(verdict_names[row_at(c)->verdict], out);
}

static void row_before(const struct pct_cell *c, struct pct_value *out)
{
    out->real = figure_at(c).before.mean * unit_of(pct_data_diff(c->d));
}

static void row_after(const struct pct_cell *c, struct pct_value *out)
{
    out->real = figure_at(c).after.mean * unit_of(pct_data_diff(c->d));
}

static void row_change(const struct pct_cell *c, struct pct_value *out)
{
    out->real = row_at(c)->change * unit_of(pct_data_diff(c->d));
}

static void row_change_percent(const struct pct_cell *c, struct pct_value *out)
{
    set_percent(row_at(c)->change, figure_at(c).before.mean, out);
}

static void row_run_percent(const struct pct_cell *c, struct pct_value *out)
{
    set_percent(row_at(c)->change, pct_data_diff(c->d)->total.before.mean, out);
}

static void row_confidence(const struct pct_cell *c, struct pct_value *out)
{
    double doubt = row_at(c)->doubt;
    out->none = doubt < 0;
    out->number = doubt < 0 ? 0 : (pc_u128)llround((1 - doubt) * 100000);
}

static void row_before_deviation(const struct pct_cell *c, struct pct_value *out)
{
    out->none = pct_data_diff(c->d)->n_before < 2;
    out->real = figure_at(c).before.deviation * unit_of(pct_data_diff(c->d));
}

static void row_after_deviation(const struct pct_cell *c, struct pct_value *out)
{
    out->none = pct_data_diff(c->d)->n_after < 2;
    out->real = figure_at(c).after.deviation * unit_of(pct_data_diff(c->d));
}

static void set_error(const struct pct_cell *c, struct pct_diff_side s, struct pct_value *out)
{
    out->none = s.error < 0;
    out->real = s.error * unit_of(pct_data_diff(c->d));
}

static void row_before_error(const struct pct_cell *c, struct pct_value *out)
{
    set_error(c, figure_at(c).before, out);
}

static void row_after_error(const struct pct_cell *c, struct pct_value *out)
{
    set_error(c, figure_at(c).after, out);
}

static void row_before_percent(const struct pct_cell *c, struct pct_value *out)
{
    set_percent(figure_at(c).before.mean, pct_data_diff(c->d)->total.before.mean, out);
}

static void row_after_percent(const struct pct_cell *c, struct pct_value *out)
{
    set_percent(figure_at(c).after.mean, pct_data_diff(c->d)->total.after.mean, out);
}

static void row_path(const struct pct_cell *c, struct pct_value *out)
{
    pct_value_plain(pct_join_path(pct_data_diff(c->d)->join, row_at(c)->node), out);
}

static void row_context(const struct pct_cell *c, struct pct_value *out)
{
    const struct pct_join *join = pct_data_diff(c->d)->join;
    pct_id_value(c->d, join->nodes[row_at(c)->node].context, out);
}

static const struct pct_column columns[] = {
    {"place", "context", PCT_TEXT, "where it is", row_place},
    {"verdict", "", PCT_TEXT,
     "same, noise, more, less, new, gone, or unsure: too few repeats to tell it from noise",
     row_verdict},
    {"before", "before", PCT_REAL,
     "the metric over all ranks, mean of the runs before: seconds, without MPI_Init; calls or "
     "bytes",
     row_before},
    {"after", "after", PCT_REAL, "the metric over all ranks, mean of the runs after", row_after},
    {"change", "change", PCT_REAL, "after minus before", row_change},
    {"change_percent", "of before", PCT_PERCENT_CHANGE, "the change as a share of before",
     row_change_percent},
    {"run_percent", "of the run", PCT_PERCENT_CHANGE,
     "the change as a share of the total before, over all contexts", row_run_percent},
    {"confidence_percent", "sure", PCT_PERCENT,
     "100 minus the expected share of false alarms among rows at least as sure as this; empty "
     "without repeats",
     row_confidence},
    {"before_deviation", "deviation before", PCT_REAL, "standard deviation of the runs before",
     row_before_deviation},
    {"after_deviation", "deviation after", PCT_REAL, "standard deviation of the runs after",
     row_after_deviation},
    {"path", "path", PCT_TEXT, "the calling context, outermost function first", row_path,
     .labels = true},
    {"before_error", "+- before", PCT_REAL,
     "half of the 95 % interval of before; empty with one run", row_before_error},
    {"after_error", "+- after", PCT_REAL, "half of the 95 % interval of after; empty with one run",
     row_after_error},
    PCT_CONTEXT_COLUMN(row_context, 0),
    {"before_percent", "of all before", PCT_PERCENT_CHANGE,
     "before as a share of the total before, over all contexts", row_before_percent},
    {"after_percent", "of all after", PCT_PERCENT_CHANGE,
     "after as a share of the total after, over all contexts", row_after_percent},
};

const struct pct_table pct_diff_table = {"contexts",
                                         "one row for each context, greatest change first",
                                         count_rows,
                                         NULL,
                                         NULL,
                                         columns,
                                         PC_ARRAY_LEN(columns)};

/* ---- Text ------------------------------------------------------------------------------------ */

static void put_figure(const struct pct_diff *d, const struct pct_diff_side *s, struct pct_buf *b)
{
    char text[PCT_NUMBER_BYTES];
    pc_u128 n = s->mean > 0 ? (pc_u128)llround(s->mean) : 0;
    if (d->metric == PCT_DIFF_TIME && s->mean > 0 && s->error > 0) {
        pct_text_mean(b, s->mean, s->error);
        return;
    }
    pct_buf_text(b, d->metric == PCT_DIFF_TIME    ? pct_text_time(text, n)
                    : d->metric == PCT_DIFF_BYTES ? pct_text_bytes(text, n)
                                                  : pct_text_count(text, n));
}

static bool has_init(const struct pct_diff *d)
{
    return d->in_init.before.mean > 0 || d->in_init.after.mean > 0;
}

void pct_diff_time_put(struct pct_buf *b, const struct pct_diff *d, bool after)
{
    if (d->recorded)
        pct_buf_text(b, " of CPU time");
    else if (d->busy)
        pct_buf_text(b, " of wall time, with waiting for processors");
    else
        pct_buf_format(b, "%s%s", d->runs[after ? d->n_before : 0].n_ranks > 1 ? " per rank" : "",
                       has_init(d) ? " without MPI_Init" : "");
}

static void print_side(FILE *out, const struct pct_diff *d, bool after, size_t width)
{
    enum { INDENT = 8 };
    const struct pct_diff_side *time = pct_diff_time(d, after);
    size_t first = after ? d->n_before : 0, n = after ? d->n_after : d->n_before;
    char mean[PCT_NUMBER_BYTES], ranks[PCT_NUMBER_BYTES];
    struct pct_buf b = {0};
    fputs(after ? "after:  " : "before: ", out);
    pct_text_escape(&b, d->runs[first].path, PCT_ESCAPE_CELL);
    if (n > 1)
        pct_buf_format(&b, " and %zu more", n - 1);
    if (d->recorded && d->runs[first].n_ranks == 1)
        pct_buf_text(&b, ": ");
    else
        pct_buf_format(&b, ", %s %s: ", pct_text_count(ranks, d->runs[first].n_ranks),
                       d->runs[first].n_ranks == 1 ? "rank" : "ranks");
    if (time->error > 0)
        pct_text_mean(&b, time->mean, time->error);
    else
        pct_buf_text(&b, pct_text_time(mean, (pc_u128)llround(time->mean)));
    pct_diff_time_put(&b, d, after);
    pct_print_sentence(out, width, INDENT, "%s", b.data);
    pct_buf_free(&b);
}

bool pct_diff_delay_put(struct pct_buf *b, const struct pct_diff *d, bool after)
{
    struct pct_buf where = {0};
    size_t n = after ? d->n_after : d->n_before;
    struct pct_left_out left = {0};
    double mpi_ns = 0;
    for (size_t i = 0; i < n; i++) {
        const struct pct_run *run = &d->runs[i + (after ? d->n_before : 0)];
        left.delayed_ns += run->delayed_ns;
        left.others_ns += run->others_ns;
        left.library_ns += run->library_ns;
        left.all_ns += run->core_ns;
        left.init_ns += run->init_ns;
        mpi_ns += run->told.mpi_ns;
    }
    if (n == 1) {
        pct_buf_text(&where, "In ");
        pct_text_escape(&where, d->runs[after ? d->n_before : 0].path, PCT_ESCAPE_CELL);
    } else {
        pct_buf_format(&where, "In the %zu runs %s", n, after ? "after" : "before");
    }
    bool delayed = pct_left_out_put(b, where.data, &left);
    pct_buf_free(&where);
    return delayed && mpi_ns > 0;
}

void pct_diff_init_put(struct pct_buf *b, const struct pct_diff *d)
{
    char before[PCT_NUMBER_BYTES], after[PCT_NUMBER_BYTES];
    bool much = false;
    pct_buf_put(b, "", 0);
    for (int side = 0; side < 2; side++) {
        double init_ns = (side ? &d->in_init.after : &d->in_init.before)->mean;
        double rest_ns = (side ? &d->time.after : &d->time.before)->mean;
        much |= init_ns > 0 && init_ns >= PCT_COMPARE_DELAYED * (init_ns + rest_ns);
    }
    if (much)
        pct_buf_format(b, "MPI_Init takes %s -> %s per rank: it " PCT_LEFT_OUT,
                       pct_text_time(before, pct_text_whole(d->in_init.before.mean)),
                       pct_text_time(after, pct_text_whole(d->in_init.after.mean)));
}

/* From this growth on, in percent, it is told as a factor. */
enum { MULTIPLE_PERCENT = 200 };

/* "3.02", "23.9", "2,476" */
static void put_factor(struct pct_buf *b, double factor)
{
    char number[PCT_NUMBER_BYTES];
    if (factor < 99.95)
        pct_buf_format(b, "%.*f", factor < 9.995 ? 2 : 1, factor);
    else
        pct_buf_text(b, pct_text_count(number, pct_text_whole(factor)));
}

static double percent_of_before(const struct pct_diff_change *c)
{
    return c->before.mean > 0 ? 100 * c->change / c->before.mean : 0;
}

/* "6.1 % less", "3.02 times as long"; of CPU time "3.02 times as much". */
static void put_change(struct pct_buf *b, const struct pct_diff *d, const struct pct_diff_change *c)
{
    double percent = percent_of_before(c);
    if (percent < MULTIPLE_PERCENT) {
        pct_buf_format(b, "%.1f %% %s", fabs(percent), percent < 0 ? "less" : "more");
        return;
    }
    put_factor(b, c->after.mean / c->before.mean);
    pct_buf_text(b, d->recorded ? " times as much" : " times as long");
}

static bool has_two_sizes(const struct pct_diff *d)
{
    return d->runs[0].n_ranks != d->runs[d->n_before].n_ranks;
}

/* The time before MPI_Init, if it is much: a run that became longer there may take less. */
static void put_init(struct pct_buf *b, const struct pct_diff *d)
{
    char before[PCT_NUMBER_BYTES], after[PCT_NUMBER_BYTES];
    bool early = false;
    if (!d->late)
        return;
    for (size_t i = 0; i < d->n_before + d->n_after; i++)
        early |= d->runs[i].early_ns > 0;
    pct_buf_format(b, " Before MPI_Init it takes %s -> %s: only the wall time contains this%s.",
                   pct_text_time(before, (pc_u128)llround(d->init.before.mean)),
                   pct_text_time(after, (pc_u128)llround(d->init.after.mean)),
                   early ? ", but for the computation sampled there" : "");
}

static void put_doubt(struct pct_buf *b, double doubt)
{
    if (doubt > 0.05)
        pct_buf_text(b, ", which may be noise");
    else if (doubt >= 0 && doubt < 0.001)
        pct_buf_text(b, " (more than 99.9 % sure)");
    else if (doubt >= 0)
        pct_buf_format(b, " (%.1f %% sure)", 100 * (1 - doubt));
}

/* Compares what is known on a busy machine: the time with what is left out, and computation. */
static void put_busy(struct pct_buf *b, const struct pct_diff *d)
{
    pct_buf_text(b, "The machine was busy: how long ranks would else wait in MPI is not known, and "
                    "no MPI call counts as slower or faster. By its wall time the run takes ");
    put_change(b, d, &d->wall);
    put_doubt(b, d->wall.doubt);
    if (d->balanced) {
        pct_buf_text(b, d->computes ? "; its mean rank computes "
                                    : "; the own time of its mean rank is ");
        put_change(b, d, &d->computing);
        put_doubt(b, d->computing.doubt);
    }
}

/* Name of what the times of a run are without; NULL: of nothing that is worth a word. */
static const char *name_left_out(const struct pct_diff *d)
{
    struct pct_buf parts = {0};
    pct_diff_delay_put(&parts, d, false);
    pct_diff_delay_put(&parts, d, true);
    bool any = parts.n;
    pct_buf_free(&parts);
    return any ? "what is left out" : has_init(d) ? "MPI_Init" : NULL;
}

static void put_time(struct pct_buf *b, const struct pct_diff *d)
{
    const char *left_out = name_left_out(d);
    if (left_out)
        pct_buf_format(b, "Without %s the run takes ", left_out);
    else
        pct_buf_text(b, "The run takes ");
    put_change(b, d, &d->time);
    put_doubt(b, d->time.doubt);
    if (left_out) {
        pct_buf_text(b, "; by its wall time ");
        put_change(b, d, &d->wall);
    }
}

void pct_diff_run_put(struct pct_buf *b, const struct pct_diff *d)
{
    if (d->busy)
        put_busy(b, d);
    else
        put_time(b, d);
    pct_buf_text(b, ".");
    put_init(b, d);
}

void pct_diff_total_put(struct pct_buf *b, const struct pct_diff *d)
{
    bool time = d->metric == PCT_DIFF_TIME;
    const char *left_out = time && !d->recorded ? name_left_out(d) : NULL;
    if (d->recorded)
        pct_buf_text(b, "The CPU time of all threads together: ");
    else
        pct_buf_format(b, "The %s of all ranks%s together%s%s: ", pct_diff_metric_names[d->metric],
                       time && d->join->cpu_time ? " and threads" : "",
                       left_out ? ", without " : "", left_out ? left_out : "");
    put_figure(d, &d->total.before, b);
    pct_buf_text(b, " -> ");
    put_figure(d, &d->total.after, b);
    if (time && (has_two_sizes(d) || d->join->cpu_time)) {
        pct_buf_text(b, ", ");
        put_change(b, d, &d->total);
    }
    pct_buf_text(b, ".");
}

/* Says what is left out of the times of the runs. */
static void print_left_out(FILE *out, const struct pct_diff *d, size_t width)
{
    struct pct_buf init = {0};
    bool any = false;
    pct_diff_init_put(&init, d);
    pct_print_sentence(out, width, 0, "%s", init.data);
    pct_buf_free(&init);
    for (int after = 0; after < 2; after++) {
        struct pct_buf b = {0};
        any |= pct_diff_delay_put(&b, d, after);
        pct_print_sentence(out, width, 0, "%s", b.data);
        pct_buf_free(&b);
    }
    if (any)
        pct_print_sentence(out, width, 0, PCT_DELAY_STAYS);
}

/* Recordings of different lengths: CPU times of a program that goes on differ by that alone. */
static void remark_lengths(const struct pct_diff *d, pct_remark_fn *put, void *arg)
{
    static const double much = 0.05;
    double before = pct_diff_wall_ns(d, false), after = pct_diff_wall_ns(d, true);
    if (fabs(after - before) > much * fmax(before, after))
        put(arg,
            "The recordings are not equally long. Of a program that ran before and after them, "
            "compare shares of the CPU time: --format tsv has them as before_percent and "
            "after_percent.");
}

void pct_diff_remarks(const struct pct_diff *d, pct_remark_fn *put, void *arg)
{
    size_t n = d->n_before + d->n_after;
    pct_calls_remark(d->join, d->runs, 0, d->n_before, put, arg);
    pct_calls_remark(d->join, d->runs, d->n_before, n, put, arg);
    if (d->recorded)
        remark_lengths(d, put, arg);
    else if (d->metric == PCT_DIFF_TIME && d->join->cpu_time)
        put(arg, "Ranks work with several threads: computation of contexts is the CPU time of all "
                 "threads, not a part of the time of the run.");
    pct_runs_remarks(d->runs, n, put, arg);
}

static void print_run(FILE *out, const struct pct_diff *d, size_t width)
{
    struct pct_buf run = {0};
    print_side(out, d, false, width);
    pct_diff_command_print(out, d, false, width);
    print_side(out, d, true, width);
    pct_diff_command_print(out, d, true, width);
    pct_diff_told_print(out, d);
    fputc('\n', out);
    pct_print_programs(out, d->join, d->runs, width);
    pct_diff_remarks(d, pct_remark_print, &(struct pct_remark_text){out, width});
    if (d->metric == PCT_DIFF_TIME && !d->recorded) {
        print_left_out(out, d, width);
        pct_diff_run_put(&run, d);
        pct_print_sentence(out, width, 0, "%s", run.data);
        pct_buf_clear(&run);
    }
    pct_diff_total_put(&run, d);
    pct_print_sentence(out, width, 0, "%s", run.data);
    pct_buf_free(&run);
    if (!d->repeated)
        pct_print_sentence(
            out, width, 0,
            "Each side needs several runs to tell changes from noise; three are enough for most.");
    if (has_two_sizes(d) && !d->recorded)
        pct_print_sentence(
            out, width, 0,
            "The sides have different numbers of ranks: pcollect scale compares those.");
}

static double percent_of_total(const struct pct_diff *d, double change)
{
    return d->total.before.mean > 0 ? 100 * change / d->total.before.mean : 0;
}

enum { PLACE_INDENT = 13 };

/* Appends a change as a percentage of the total before in eleven columns, up to a million percent:
 * without decimals from 1,000 percent on; "-" if there was nothing before. */
static void put_percent(struct pct_buf *b, const struct pct_diff *d, double change)
{
    double percent = percent_of_total(d, change);
    if (d->total.before.mean > 0)
        pct_buf_format(b, "  %+7.*f %%", fabs(percent) < 999.995 ? 2 : 0, percent);
    else
        pct_buf_format(b, "%11s", "-");
}

/* Prints a place on separate lines; a word that is longer than a line is cut. */
static void print_folded(FILE *out, const char *place, const struct pct_compare_print *how)
{
    size_t room = how->width > PLACE_INDENT ? how->width - PLACE_INDENT : 1;
    struct pct_buf part = {0}, shown = {0};
    for (const char *rest; *place; place = rest) {
        size_t n = pc_wrap(place, room, &rest);
        pct_buf_clear(&part);
        pct_buf_clear(&shown);
        pct_buf_format(&part, "%.*s", (int)n, place);
        pct_text_cut(&shown, part.data, room, how->utf8);
        fprintf(out, "%*s%s\n", PLACE_INDENT, "", shown.data);
    }
    pct_buf_free(&part);
    pct_buf_free(&shown);
}

/* " (+5.2 %)", " (x 23.9)"; nothing if it is new or gone. */
static void put_row_change(struct pct_buf *b, const struct pct_diff_change *c, bool utf8)
{
    if (!(c->before.mean > 0) || !(c->after.mean > 0))
        return;
    if (percent_of_before(c) < MULTIPLE_PERCENT) {
        pct_buf_format(b, " (%+.1f %%)", percent_of_before(c));
        return;
    }
    pct_buf_text(b, utf8 ? " (\xc3\x97 " : " (x ");
    put_factor(b, c->after.mean / c->before.mean);
    pct_buf_text(b, ")");
}

/* Appends a figure of a row; "<29.9 ms" if it has no sample. */
static void put_row_figure(const struct pct_diff *d, const struct pct_diff_row *row, bool after,
                           struct pct_buf *b)
{
    const struct pct_diff_change figure = pct_diff_figure(d, row);
    char most[PCT_NUMBER_BYTES];
    double unseen_ns = pct_diff_unseen_ns(d, row, after);
    if (unseen_ns > 0)
        pct_buf_format(b, "<%s", pct_text_time(most, pct_text_whole(unseen_ns)));
    else
        put_figure(d, after ? &figure.after : &figure.before, b);
}

/* Appends the place of a row, and on which rank the change is: ", 92 % of it on rank 1". */
static void put_row_place(const struct pct_diff_row *row, struct pct_buf *b)
{
    pct_buf_text(b, row->place);
    if (row->rank_part >= 0.995)
        pct_buf_format(b, ", all of it on rank %u", row->rank);
    else if (row->rank_part > 0)
        pct_buf_format(b, ", %.0f %% of it on rank %u", 100 * row->rank_part, row->rank);
}

/* Prints a row. A place that does not fit beside the figures is printed below them, uncut: its end
 * may be the only difference to another place. */
static void print_row(FILE *out, const struct pct_diff *d, const struct pct_diff_row *row,
                      const struct pct_compare_print *how)
{
    struct pct_buf b = {0}, place = {0};
    const struct pct_diff_change f = pct_diff_figure(d, row);
    put_row_place(row, &place);
    put_percent(&b, d, f.change);
    pct_buf_text(&b, "  ");
    put_row_figure(d, row, false, &b);
    pct_buf_text(&b, " -> ");
    put_row_figure(d, row, true, &b);
    put_row_change(&b, &f, how->utf8);
    while (pct_text_cells(b.data) < (d->n_before > 1 || d->n_after > 1 ? 64 : 46))
        pct_buf_text(&b, " ");
    if (!how->width || pct_text_cells(b.data) + 2 + pct_text_cells(place.data) <= how->width) {
        fprintf(out, "%s  %s\n", b.data, place.data);
    } else {
        while (b.n && b.data[b.n - 1] == ' ')
            b.data[--b.n] = 0;
        fprintf(out, "%s\n", b.data);
        print_folded(out, place.data, how);
    }
    pct_buf_free(&b);
    pct_buf_free(&place);
}

/* Thousandths of a percent of the total before, from which on a change is in a list. */
static unsigned least_of_lists(const struct pct_compare_print *how)
{
    return how->has_least ? how->least : PCT_LEAST_SHARE;
}

/* True for a change that is large enough for a list; where there was nothing, each is. */
static bool is_listed(const struct pct_diff *d, const struct pct_diff_row *row,
                      const struct pct_compare_print *how)
{
    return !(d->total.before.mean > 0) ||
           1e3 * fabs(percent_of_total(d, row->change)) >= least_of_lists(how);
}

static void print_verdict(FILE *out, const struct pct_diff *d, enum pct_verdict verdict,
                          const char *title, const struct pct_compare_print *how)
{
    enum { SHOWN = 5 };
    char rest[PCT_NUMBER_BYTES];
    size_t n = 0;
    bool unseen = false;
    for (size_t i = 0; i < d->n_rows; i++) {
        const struct pct_diff_row *row = &d->rows[i];
        if (row->verdict != verdict || !is_listed(d, row, how))
            continue;
        if (!n++)
            fprintf(out, "\n%s (change of the run's total; before -> after)\n", title);
        if (n > SHOWN)
            continue;
        print_row(out, d, row, how);
        unseen |= pct_diff_unseen_ns(d, row, false) > 0 || pct_diff_unseen_ns(d, row, true) > 0;
    }
    if (n > SHOWN)
        fprintf(out, "  and %s more: --format tsv shows them\n", pct_text_count(rest, n - SHOWN));
    if (unseen)
        fputs("  < at most (95 % sure): there is no sample of it\n", out);
}

/* ---- The tree -------------------------------------------------------------------------------- */

struct lines {
    const struct pct_diff *d;
    const struct pct_diff_tree *t;
};

static void put_mean(const struct pct_diff *d, double mean, struct pct_buf *b)
{
    struct pct_buf text = {0};
    if (mean > 0)
        put_figure(d, &(struct pct_diff_side){.mean = mean}, &text);
    else
        pct_buf_text(&text, "-");
    size_t cells = pct_text_cells(text.data);
    pct_buf_fill(b, ' ', 2 + (cells < 9 ? 9 - cells : 0));
    pct_buf_text(b, text.data);
    pct_buf_free(&text);
}

static void put_line(void *arg, const uint32_t *nodes, size_t n, struct pct_buf *b)
{
    const struct lines *l = arg;
    double change = 0, before = 0, after = 0;
    for (size_t i = 0; i < n; i++) {
        const struct pct_diff_change c = pct_diff_tree_change(l->t, nodes[i]);
        change += c.change;
        before += c.before.mean;
        after += c.after.mean;
    }
    put_percent(b, l->d, change);
    struct pct_buf means = {0};
    put_mean(l->d, before, &means);
    put_mean(l->d, after, &means);
    pct_buf_format(b, "%s  ", means.data);
    pct_buf_free(&means);
}

/* Prints the tree down to nodes that changed by at least the threshold, in their sum or by shifts
 * below them.
 */
static void print_tree(FILE *out, const void *diff, const struct pct_compare_print *how)
{
    const struct pct_diff *d = diff;
    struct pct_diff_tree *t = pct_diff_tree_new(d);
    struct lines lines = {d, t};
    struct pct_buf title = {0};
    const char *but = d->busy ? ", without MPI calls" : "";
    pct_buf_format(&title,
                   "Where %s changes (contexts below which %g %% of the total before is gained or "
                   "lost%s%s)",
                   d->busy ? "computation" : "it", how->least / 1e3, but,
                   d->repeated ? ", noise included" : "");
    const struct pct_compare_tree tree = {
        .tree = t->tree,
        .weight = t->moved,
        .whole = d->total.before.mean,
        .whole_name = "total before",
        .but = but,
        .title = title.data,
        .heads = "     change     before      after  context",
        .put_figures = put_line,
        .arg = &lines,
    };
    pct_compare_tree_print(out, &tree, how);
    pct_buf_free(&title);
    pct_diff_tree_free(t);
    pct_compare_hidden(out, how);
}

static void print_head(FILE *out, const void *diff, const struct pct_compare_print *how)
{
    print_run(out, diff, how->width);
}

/* Number of runs on each side to try if those that are there are too few. */
static size_t enough_runs(const struct pct_diff *d)
{
    size_t least = d->n_before < d->n_after ? d->n_before : d->n_after;
    return least < 3 ? 3 : least + 1;
}

static void print_numbers(FILE *out, const struct pct_diff *d, const struct pct_compare_print *how,
                          const size_t n[PCT_N_VERDICTS])
{
    char number[PCT_NUMBER_BYTES];
    struct pct_buf b = {0};
    size_t n_by_delay = 0, n_small = 0;
    for (size_t i = 0; i < d->n_rows; i++) {
        bool quiet = d->rows[i].verdict <= PCT_VERDICT_UNSURE;
        n_by_delay += d->rows[i].by_delay;
        n_small += !quiet && !is_listed(d, &d->rows[i], how);
    }
    pct_buf_format(&b, "%s %s:", pct_text_count(number, d->n_rows),
                   d->n_rows == 1 ? "context" : "contexts");
    pct_buf_format(&b, " %s unchanged", pct_text_count(number, n[PCT_VERDICT_SAME]));
    if (d->repeated || d->metric == PCT_DIFF_TIME)
        pct_buf_format(&b, ", %s %s", pct_text_count(number, n[PCT_VERDICT_NOISE] - n_by_delay),
                       d->repeated ? "differ by no more than noise"
                                   : "with too few samples to tell");
    if (n[PCT_VERDICT_UNSURE])
        pct_buf_format(&b, ", %s with too few runs to tell: each side needs %zu or more",
                       pct_text_count(number, n[PCT_VERDICT_UNSURE]), enough_runs(d));
    if (n_by_delay)
        pct_buf_format(&b, ", %s that may differ only by what is left out",
                       pct_text_count(number, n_by_delay));
    if (n_small)
        pct_buf_format(&b,
                       ", %s that changed by less than %g %% of the run's total: --format tsv "
                       "shows them",
                       pct_text_count(number, n_small), least_of_lists(how) / 1e3);
    fputc('\n', out);
    pct_print_sentence(out, how->width, 0, "%s.", b.data);
    pct_buf_free(&b);
}

/* The kind of change that has the greatest one comes first. */
static void print_lists(FILE *out, const void *diff, const struct pct_compare_print *how)
{
    const struct pct_diff *d = diff;
    bool time = d->metric == PCT_DIFF_TIME && !d->recorded;
    const char *const titles[PCT_N_VERDICTS] = {[PCT_VERDICT_MORE] = time ? "Slower" : "More",
                                                [PCT_VERDICT_LESS] = time ? "Faster" : "Less",
                                                [PCT_VERDICT_NEW] = "New",
                                                [PCT_VERDICT_GONE] = "Gone",
                                                [PCT_VERDICT_UNSURE] = "Too few runs to tell"};
    size_t n[PCT_N_VERDICTS] = {0};
    for (size_t i = 0; i < d->n_rows; i++) {
        enum pct_verdict verdict = d->rows[i].verdict;
        if (!n[verdict]++ && titles[verdict])
            print_verdict(out, d, verdict, titles[verdict], how);
    }
    print_numbers(out, d, how, n);
}

void pct_diff_print(FILE *out, const struct pct_diff *d, const struct pct_compare_print *how)
{
    const struct pct_compare_text text = {print_head, print_tree, print_lists, d};
    pct_compare_fit(out, &text, how);
}

void pct_diff_tsv(FILE *out, const struct pct_diff *diff, const struct pct_choice *choice)
{
    struct pct_data d = {.kind = PCT_DATA_DIFF, .diff = diff, .pool = diff->join->pool};
    pct_table_tsv(out, &pct_diff_table, &d, choice);
}

/* Times of a run, in seconds; null: recordings do not know them. */
static void put_json_times(FILE *out, const char *name, const struct pct_diff *d,
                           const struct pct_diff_change *time)
{
    for (int after = 0; after < 2; after++) {
        fprintf(out, ",\n  \"%s_%s_s\": ", name, after ? "after" : "before");
        if (d->recorded)
            fputs("null", out);
        else
            fprintf(out, "%.9f", (after ? &time->after : &time->before)->mean * 1e-9);
    }
}

void pct_diff_json(FILE *out, const struct pct_diff *diff, const struct pct_choice *choice)
{
    struct pct_data d = {.kind = PCT_DATA_DIFF, .diff = diff, .pool = diff->join->pool};
    fprintf(out, "{\n  \"pcollect_diff\": 1,\n  \"metric\": \"%s\"",
            pct_diff_metric_names[diff->metric]);
    put_json_times(out, "time", diff, &diff->time);
    put_json_times(out, "mpi_init", diff, &diff->in_init);
    put_json_times(out, "delayed", diff, &diff->delayed);
    pct_diff_told_json(out, diff);
    pct_table_json(out, &pct_diff_table, &d, choice);
    fputs("\n}\n", out);
}
