/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Output of pcollect average. Columns may be added at the end, but none may be changed or removed.
 */
#include "view/compare_print.h"
#include "view/sentence.h"

#include <math.h>

enum { SHOWN = 30 };

static const struct pct_repeat_row *row_at(const struct pct_cell *c)
{
    return &pct_data_repeats(c->d)->rows[c->row];
}

static size_t count_rows(const struct pct_data *d)
{
    return pct_data_repeats(d)->n_rows;
}

static void set_ns(double ns, struct pct_value *out)
{
    out->number = ns > 0 ? (pc_u128)(ns + 0.5) : 0;
}

static void set_percent(double part, double whole, struct pct_value *out)
{
    out->none = !(whole > 0) || part < 0;
    out->number = out->none ? 0 : (pc_u128)llround(part / whole * 100000);
}

static void row_place(const struct pct_cell *c, struct pct_value *out)
{
    pct_value_plain(row_at(c)->place, out);
}

static void row_runs(const struct pct_cell *c, struct pct_value *out)
{
    out->number = row_at(c)->n_present;
}

static void row_mean(const struct pct_cell *c, struct pct_value *out)
{
    set_ns(row_at(c)->ns.mean, out);
}

static void row_error(const struct pct_cell *c, struct pct_value *out)
{
    set_ns(row_at(c)->ns.error, out);
    out->none = row_at(c)->ns.error < 0;
}

static void row_deviation(const struct pct_cell *c, struct pct_value *out)
{
    set_ns(row_at(c)->ns.deviation, out);
    out->none = row_at(c)->ns.error < 0;
}

static void row_deviation_percent(const struct pct_cell *c, struct pct_value *out)
{
    const struct pct_repeat *r = &row_at(c)->ns;
    set_percent(r->error < 0 ? -1 : r->deviation, r->mean, out);
}

static void row_least(const struct pct_cell *c, struct pct_value *out)
{
    set_ns(row_at(c)->ns.least, out);
}

static void row_most(const struct pct_cell *c, struct pct_value *out)
{
    set_ns(row_at(c)->ns.most, out);
}

static void row_percent(const struct pct_cell *c, struct pct_value *out)
{
    set_percent(row_at(c)->ns.mean, pct_data_repeats(c->d)->core_ns.mean, out);
}

static void row_calls(const struct pct_cell *c, struct pct_value *out)
{
    out->real = row_at(c)->calls;
}

static void row_bytes(const struct pct_cell *c, struct pct_value *out)
{
    out->real = row_at(c)->bytes;
}

static void row_path(const struct pct_cell *c, struct pct_value *out)
{
    pct_value_plain(row_at(c)->path, out);
}

static const struct pct_column columns[] = {
    {"place", "place", PCT_TEXT, "MPI function, computation or waiting, and where it is", row_place,
     .wraps = true},
    {"mean_s", "mean", PCT_NS, "time over all ranks, mean of the runs", row_mean, 0, 0, "error_s",
     .measured = true},
    {"error_s", "+-", PCT_NS, "half of the 95 % confidence interval of mean_s; empty with one run",
     row_error},
    {"deviation_s", "deviation", PCT_NS, "standard deviation of the runs", row_deviation},
    {"deviation_percent", "of mean", PCT_PERCENT, "deviation_s as a share of mean_s",
     row_deviation_percent},
    {"min_s", "min", PCT_NS, "min over the runs", row_least},
    {"max_s", "max", PCT_NS, "max over the runs", row_most},
    {"percent", "of run", PCT_PERCENT, "mean_s as a share of the core-seconds of a run",
     row_percent},
    {"calls", "calls", PCT_REAL, "calls of all ranks, mean of the runs", row_calls},
    {"bytes", "bytes", PCT_REAL, "bytes sent and received, mean of the runs", row_bytes},
    {"runs", "runs", PCT_COUNT, "runs that have the context; it counts as 0 in the others",
     row_runs},
    {"path", "path", PCT_TEXT, "the calling context, outermost function first", row_path,
     .labels = true},
};

const struct pct_table pct_repeats_table = {.name = "contexts",
                                            .doc = "one row for each context, greatest mean first",
                                            .count = count_rows,
                                            .columns = columns,
                                            .n_columns = PC_ARRAY_LEN(columns)};

static void put_time(FILE *out, const char *what, const struct pct_repeat *r, size_t width)
{
    enum { INDENT = 15 };
    struct pct_buf b = {0};
    char least[PCT_NUMBER_BYTES], most[PCT_NUMBER_BYTES];
    pct_buf_format(&b, "  %-12s ", what);
    pct_text_mean(&b, r->mean, r->error);
    if (r->error >= 0)
        pct_buf_format(&b, " (%s .. %s)", pct_text_time(least, (pc_u128)r->least),
                       pct_text_time(most, (pc_u128)r->most));
    pct_print_sentence(out, width, INDENT, "%s", b.data);
    pct_buf_free(&b);
}

/* Runs with two command lines may solve two problems. */
static void remark_commands(const struct pct_repeats *r, pct_remark_fn *put, void *arg)
{
    const struct pct_run *first = &r->runs[0], *other = first;
    struct pct_buf b = {0};
    for (size_t i = 1; i < r->n_runs && !strcmp(first->command, other->command); i++)
        other = *r->runs[i].command ? &r->runs[i] : other;
    if (!*first->command || !strcmp(first->command, other->command))
        return;
    pct_text_escape(&b, first->path, PCT_ESCAPE_CELL);
    pct_buf_text(&b, " and ");
    pct_text_escape(&b, other->path, PCT_ESCAPE_CELL);
    pct_buf_text(&b, " have different command lines (pcollect info shows them): they may not be "
                     "repeats of one run.");
    put(arg, b.data);
    pct_buf_free(&b);
}

void pct_repeats_remarks(const struct pct_repeats *r, pct_remark_fn *put, void *arg)
{
    remark_commands(r, put, arg);
    if (pct_runs_differ_in_mpi(r->runs, r->n_runs))
        put(arg, "The runs have different MPI libraries.");
    pct_renamed_remark(r->join, r->runs, put, arg);
    pct_builds_remark(r->join, r->runs, put, arg);
    pct_calls_remark(r->join, r->runs, 0, r->n_runs, put, arg);
    pct_runs_remarks(r->runs, r->n_runs, put, arg);
}

void pct_repeats_print(FILE *out, const struct pct_repeats *r, size_t width, bool utf8)
{
    static const char *const names[] = {
        "mean_s", "deviation_percent", "min_s", "max_s", "percent", "calls", "place", NULL};
    enum { NARROW = 48 }; /* less has no room for all figures, even below a place */
    const char *const dropped[] = {"calls", "min_s", "max_s",
                                   width && width < NARROW ? "deviation_percent" : NULL, NULL};
    struct pct_data d = {.kind = PCT_DATA_REPEATS, .repeats = r, .pool = r->join->pool};
    struct pct_aligned how = {.names = names,
                              .dropped = dropped,
                              .indent = "  ",
                              .width = width,
                              .max_rows = SHOWN,
                              .people = {.utf8 = utf8}};
    struct pct_rows rows = pct_table_rows(&pct_repeats_table, &d, NULL);
    char number[PCT_NUMBER_BYTES];
    pct_print_sentence(
        out, width, 0,
        "%zu %s of %s %s: mean, its 95 %% confidence interval, and (min .. max) over the runs",
        r->n_runs, r->n_runs == 1 ? "run" : "runs", pct_text_count(number, r->runs[0].n_ranks),
        r->runs[0].n_ranks == 1 ? "rank" : "ranks");
    put_time(out, "run", &r->time_ns, width);
    put_time(out, "all ranks", &r->core_ns, width);
    pct_repeats_remarks(r, pct_remark_print, &(struct pct_remark_text){out, width});
    fputs("\nContexts, summed over ranks\n", out);
    pct_table_aligned(out, &pct_repeats_table, &d, &rows, &how);
    if (rows.n > SHOWN)
        fprintf(out, "  and %s more: --format tsv shows them\n",
                pct_text_count(number, rows.n - SHOWN));
    pct_rows_free(&rows);
}

void pct_repeats_tsv(FILE *out, const struct pct_repeats *r, const struct pct_choice *choice)
{
    struct pct_data d = {.kind = PCT_DATA_REPEATS, .repeats = r, .pool = r->join->pool};
    pct_table_tsv(out, &pct_repeats_table, &d, choice);
}

void pct_repeats_json(FILE *out, const struct pct_repeats *r, const struct pct_choice *choice)
{
    struct pct_data d = {.kind = PCT_DATA_REPEATS, .repeats = r, .pool = r->join->pool};
    fprintf(out,
            "{\n  \"pcollect_average\": 1,\n  \"runs\": %zu,\n  \"ranks\": %u,\n"
            "  \"time_mean_s\": %.9f,\n  \"time_deviation_s\": %.9f",
            r->n_runs, r->runs[0].n_ranks, r->time_ns.mean * 1e-9, r->time_ns.deviation * 1e-9);
    pct_table_json(out, &pct_repeats_table, &d, choice);
    fputs("\n}\n", out);
}
