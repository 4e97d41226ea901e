/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pcollect model: how measured figures grow with one parameter or two.
 */
#include "analysis/buffer.h"
#include "command/command.h"
#include "command/measurements/measurements.h"
#include "view/rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { OPTION_DATA = 256, OPTION_FORMAT, OPTION_PREDICT };
enum format { FORMAT_TEXT, FORMAT_TSV, FORMAT_JSON };

static const struct pct_option options[] = {
    {OPTION_DATA, "data", "FILE", "measurements, as text or as JSON lines",
     "FILES describes both formats."},
    {OPTION_FORMAT, "format", "text|tsv|json", "text for people (default), or for programs",
     "tsv has a line of names, then one line for each model; json has the same members. region, "
     "metric, model, adjusted_r2, rss: sum of the squared residuals; growth: the fastest growing "
     "term, with a minus if it is subtracted; error: relative error of a point that was left out, "
     "0.01 is one percent; points: number of points measured; few: yes means that the form is a "
     "guess; predicted, low, high: with --predict; up_to, model_up_to, from, model_from, "
     "segments_error: two models, if they explain the points much better than one. What is not "
     "known, or no double holds, is empty in tsv, null in json."},
    {OPTION_PREDICT, "predict", "X[,Y]",
     "print the model's value there too, with its 95 percent interval",
     "The interval is the union of the intervals of all models that explain the points about as "
     "well: it is wide if the form is uncertain. With few points it is less reliable. If there are "
     "two models, the one that holds at X is used."},
    {0, NULL, NULL, NULL},
};

struct request {
    const char *data;
    enum format format;
    bool predict;
    unsigned n_at;
    double at[PCT_FIT_PARAMETERS];
};

/* One series with its model; `made` is false if there is no model. */
struct row {
    const struct pct_fit_series *series;
    bool made;
    struct pct_fit fit;
    struct pct_fit_band band;
    char model[PCT_FIT_TEXT], growth[PCT_FIT_TEXT];
    struct pct_fit_segments *segments; /* NULL: one model is enough */
    char low[PCT_FIT_TEXT], high[PCT_FIT_TEXT];
};

/* "X" or "X,Y", all above 0 and finite. */
static bool read_place(const char *word, struct request *r)
{
    r->predict = true;
    for (r->n_at = 0; r->n_at < PCT_FIT_PARAMETERS; word++) {
        char *end;
        r->at[r->n_at] = strtod(word, &end);
        if (end == word || !(r->at[r->n_at] > 0) || !isfinite(r->at[r->n_at]))
            return false;
        r->n_at++;
        word = end;
        if (*word != ',')
            break;
    }
    return !*word;
}

static int take_option(const struct pct_command *self, const struct pct_option *o,
                       const char *value, void *request)
{
    struct request *r = request;
    if (o->letter == OPTION_DATA)
        r->data = value;
    else if (o->letter == OPTION_FORMAT)
        r->format = (enum format)pct_value_word(o, value);
    else if (!read_place(value, r))
        return pct_refuse(self, "--predict %s: give a number above 0, or two with a comma", value);
    return PCT_DONE;
}

static void make_row(const struct pct_fit_set *set, const struct pct_fit_series *s,
                     const struct request *r, struct row *row)
{
    row->series = s;
    struct pct_fit_rivals rivals;
    row->made = pct_fit_make(s->points, s->n, set->n_parameters, &row->fit, &rivals);
    if (!row->made)
        return;
    pct_fit_text(&row->fit, (const char *const *)set->names, row->model);
    pct_fit_growth(&row->fit, (const char *const *)set->names, row->growth);
    row->segments = pct_fit_segments_new(s->points, s->n, &row->fit);
    const struct pct_fit_segment *there = NULL;
    if (row->segments) {
        pct_fit_text(&row->segments->low.fit, (const char *const *)set->names, row->low);
        pct_fit_text(&row->segments->high.fit, (const char *const *)set->names, row->high);
        there = pct_fit_segment_at(row->segments, r->at[0]);
    }
    if (r->predict)
        row->band = there ? pct_fit_band(&there->fit, &there->rivals, r->at)
                          : pct_fit_band(&row->fit, &rivals, r->at);
}

/* ---- Output ---------------------------------------------------------------------------------- */

/* clang-format off */
enum {
    REGION, METRIC, MODEL, ADJUSTED_R2, RSS, GROWTH, ERROR, POINTS, FEW, PREDICTED, LOW, HIGH,
    UP_TO, MODEL_UP_TO, FROM, MODEL_FROM, SEGMENTS_ERROR, N_COLUMNS
};
/* clang-format on */
static const struct pct_rows_column columns[N_COLUMNS] = {
    [REGION] = {"region", true},
    [METRIC] = {"metric", true},
    [MODEL] = {"model", true},
    [ADJUSTED_R2] = {"adjusted_r2", false},
    [RSS] = {"rss", false},
    [GROWTH] = {"growth", true},
    [ERROR] = {"error", false},
    [POINTS] = {"points", false},
    [FEW] = {"few", false},
    [PREDICTED] = {"predicted", false},
    [LOW] = {"low", false},
    [HIGH] = {"high", false},
    [UP_TO] = {"up_to", false},
    [MODEL_UP_TO] = {"model_up_to", true},
    [FROM] = {"from", false},
    [MODEL_FROM] = {"model_from", true},
    [SEGMENTS_ERROR] = {"segments_error", false},
};

static void put_number(struct pct_buf *cell, double value)
{
    if (isfinite(value))
        pct_buf_format(cell, "%.9g", value);
}

static void put_row(struct pct_row_writer *rows, const struct row *row, bool predict)
{
    static const char *const few[2][2] = {{"no", "yes"}, {"false", "true"}};
    struct pct_buf cells[N_COLUMNS] = {{0}};
    pct_text_escape(&cells[REGION], row->series->region, PCT_ESCAPE_CELL);
    pct_text_escape(&cells[METRIC], row->series->metric, PCT_ESCAPE_CELL);
    if (row->made) {
        pct_buf_text(&cells[MODEL], row->model);
        put_number(&cells[ADJUSTED_R2], row->fit.adjusted_r2);
        put_number(&cells[RSS], row->fit.rss);
        pct_buf_text(&cells[GROWTH], row->growth);
        put_number(&cells[ERROR], row->fit.best.error);
        pct_buf_format(&cells[POINTS], "%zu", row->fit.n_points);
        pct_buf_text(&cells[FEW], few[rows->json][row->fit.few]);
    }
    if (row->made && predict) {
        put_number(&cells[PREDICTED], row->band.value);
        put_number(&cells[LOW], row->band.low);
        put_number(&cells[HIGH], row->band.high);
    }
    if (row->segments) {
        put_number(&cells[UP_TO], row->segments->last);
        pct_buf_text(&cells[MODEL_UP_TO], row->low);
        put_number(&cells[FROM], row->segments->first);
        pct_buf_text(&cells[MODEL_FROM], row->high);
        put_number(&cells[SEGMENTS_ERROR], row->segments->error);
    }
    pct_rows_put(rows, cells);
}

static void print_text(const struct row *row, const struct request *r)
{
    struct pct_buf b = {0};
    pct_text_escape(&b, *row->series->region ? row->series->region : "(no region)",
                    PCT_ESCAPE_CELL);
    if (*row->series->metric) {
        pct_buf_text(&b, ", ");
        pct_text_escape(&b, row->series->metric, PCT_ESCAPE_CELL);
    }
    puts(b.data);
    pct_buf_free(&b);
    if (!row->made) {
        puts("  no model: fewer than two points were measured");
        return;
    }
    printf("  %s\n  adjusted R2 %.5f, RSS %.4g, error of a point left out %.2g %%%s\n", row->model,
           row->fit.adjusted_r2, row->fit.rss, 100 * row->fit.best.error,
           row->fit.few ? "; few points: the form is a guess" : "");
    if (row->segments)
        printf("  two models explain it better, error of a point left out %.2g %%:\n"
               "    up to %.6g: %s\n    from %.6g on: %s\n",
               100 * row->segments->error, row->segments->last, row->low, row->segments->first,
               row->high);
    if (r->predict && !isfinite(row->band.value))
        puts("  predicted: not known, it is beyond what a number can hold");
    else if (r->predict && pct_fit_band_tells(&row->band))
        printf("  predicted: %.6g, between %.6g and %.6g\n", row->band.value, row->band.low,
               row->band.high);
    else if (r->predict)
        printf("  predicted: not known, anything from %.6g to %.6g fits these points\n",
               row->band.low, row->band.high);
}

static bool is_positive(const struct pct_fit_series *s)
{
    bool positive = true;
    for (size_t i = 0; i < s->n; i++)
        positive &= s->points[i].y >= 0;
    return positive;
}

/* Prints warnings about limits of the model, on standard error for every format. */
static void warn(const struct pct_command *self, const struct pct_fit_set *set,
                 const struct row *row, const struct request *r)
{
    const char *name = *row->series->region ? row->series->region : "(no region)";
    if (row->made && row->fit.confounded)
        pct_say(self,
                "%s: %s and %s were changed together: the growth cannot be assigned to one of "
                "them; measure where one changes and the other does not",
                name, set->names[0], set->names[1]);
    if (row->made && r->predict && row->band.value < 0 && is_positive(row->series))
        pct_say(self,
                "%s: the model is below zero there, which no measurement can be: it does not hold "
                "so far beyond the data",
                name);
}

static void print_models(const struct pct_command *self, const struct pct_fit_set *set,
                         const struct request *r)
{
    struct row *row = pct_alloc(1, sizeof *row);
    struct pct_row_writer rows = {
        .out = stdout, .json = r->format == FORMAT_JSON, .columns = columns, .n = N_COLUMNS};
    fputs(rows.json ? "{\"pcollect_model\": 1, \"models\": " : "", stdout);
    if (r->format != FORMAT_TEXT)
        pct_rows_begin(&rows);
    for (size_t i = 0; i < set->n; i++) {
        make_row(set, &set->series[i], r, row);
        warn(self, set, row, r);
        if (r->format == FORMAT_TEXT)
            print_text(row, r);
        else
            put_row(&rows, row, r->predict);
        pct_fit_segments_free(row->segments);
        row->segments = NULL;
    }
    if (r->format != FORMAT_TEXT)
        pct_rows_end(&rows);
    fputs(rows.json ? "}\n" : "", stdout);
    pct_free(row);
}

static int run_model(const struct pct_command *self, int argc, char **argv)
{
    struct request r = {.at = {1, 1}};
    struct pct_fit_set set = {0};
    struct pc_error error = {""};
    struct pct_line line;
    int status = PCT_DONE;
    if (!pct_line_read(self, argc, argv, &r, &line))
        return line.status;
    if (!r.data)
        return pct_refuse(self, "missing option: --data FILE");
    int err = pct_fit_read(r.data, &set, &error);
    if (err) {
        pct_say(self, "%s", error.text);
        return err == PC_ENOENT ? PCT_CALL : PCT_DATA;
    }
    if (r.predict && r.n_at != set.n_parameters)
        status = pct_refuse(self, "--predict needs %u %s: %s has %u", set.n_parameters,
                            set.n_parameters == 1 ? "number" : "numbers", r.data, set.n_parameters);
    else
        print_models(self, &set, &r);
    pct_fit_set_free(&set);
    return status;
}

const struct pct_command pct_model = {
    .name = "model",
    .synopsis = "--data FILE [--predict X[,Y]] [--format FORMAT]",
    .summary = "fit how measured figures grow with one or two parameters",
    .options = options,
    .take = take_option,
    .main = run_model,
};
