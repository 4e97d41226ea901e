/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pcollect diff: two versions of a program, context by context.
 */
#include "command/command.h"
#include "view/compare_print.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { OPTION_METRIC = 256, OPTION_FAIL_ABOVE, OPTION_FORMAT };
enum format { FORMAT_TEXT, FORMAT_JSON, FORMAT_TSV };

static const struct pct_option options[] = {
    {OPTION_METRIC, "metric", "time|calls|bytes", "metric to compare (default: time)"},
    {OPTION_FAIL_ABOVE, "fail-above", "PERCENT",
     "exit with status 1 if the run or a context has grown by more than PERCENT of the run",
     "The metric that is compared counts. Growth within noise does not count, nor does time before "
     "and in MPI_Init. Growth from nothing is above any PERCENT."},
    {OPTION_FORMAT, "format", "text|json|tsv", "text for people (default), or for programs",
     "json and tsv have one row for each context."},
    PCT_OPTIONS_COMPARE,
    PCT_OPTIONS_CHOICE,
    PCT_OPTION_WIDTH,
    PCT_OPTION_DEBUGINFOD,
    {0, NULL, NULL, NULL},
};

struct request {
    enum pct_diff_metric metric;
    enum format format;
    struct pct_compare_print how;
    struct pct_choice choice;
    bool limited;
    double fail_above; /* percent */
    char **paths;
    size_t n_before, n_after;
};

static int take_option(const struct pct_command *self, const struct pct_option *o,
                       const char *value, void *request)
{
    struct request *r = request;
    uint64_t number = 0;
    int status = PCT_DONE;
    if (pct_choice_option(&r->choice, o, value) ||
        pct_compare_option(self, o, value, &r->how, &status))
        return status;
    switch (o->letter) {
    case OPTION_METRIC:
        r->metric = (enum pct_diff_metric)pct_value_word(o, value);
        break;
    case OPTION_FORMAT:
        r->format = (enum format)pct_value_word(o, value);
        break;
    default:
        status = pct_value_percent(self, o, value, 1000000, &number);
        r->limited = true;
        r->fail_above = (double)number / 1000;
    }
    return status;
}

/* BEFORE AFTER, or BEFORE... -- AFTER... */
static int read_files(const struct pct_command *self, const struct pct_line *line,
                      struct request *r)
{
    bool separated = line->n_before < line->n_words;
    r->paths = line->words;
    r->n_before = separated || line->n_words != 2 ? line->n_before : 1;
    r->n_after = line->n_words - r->n_before;
    if (!r->n_before || !r->n_after)
        return pct_refuse(self, "give two profiles, or those before, --, and those after");
    return PCT_DONE;
}

static void print(const struct pct_diff *d, const struct request *r)
{
    struct pct_terminal terminal = pct_terminal_look();
    struct pct_compare_print how = r->how;
    how.width = terminal.width;
    how.utf8 = terminal.utf8;
    if (r->format == FORMAT_JSON)
        pct_diff_json(stdout, d, &r->choice);
    else if (r->format == FORMAT_TSV)
        pct_diff_tsv(stdout, d, &r->choice);
    else
        pct_diff_print(stdout, d, &how);
}

static void say(void *self, const char *sentence)
{
    pct_say(self, "%s", sentence);
}

static int judge(const struct pct_command *self, const struct pct_diff *d, const struct request *r)
{
    const char *place;
    double worst = 100 * pct_diff_worst(d, &place);
    uint32_t n_incomplete = 0;
    for (size_t i = 0; i < r->n_before + r->n_after; i++)
        n_incomplete += d->runs[i].n_incomplete;
    if (r->limited && n_incomplete) {
        pct_say(self, "--fail-above: a run that did not end cannot be judged");
        return PCT_DATA;
    }
    if (!r->limited || worst <= r->fail_above)
        return PCT_DONE;
    if (place)
        pct_say(self, "%s has grown by %.1f %% of the run: above %g %%", place, worst,
                r->fail_above);
    else if (isinf(worst))
        pct_say(self, "the run has %s, and had none before: above %g %%",
                pct_diff_metric_names[r->metric], r->fail_above);
    else if (d->recorded)
        pct_say(self, "the run has %.1f %% more CPU time: above %g %%", worst, r->fail_above);
    else if (r->metric == PCT_DIFF_TIME)
        pct_say(self, "the run takes %.1f %% longer: above %g %%", worst, r->fail_above);
    else
        pct_say(self, "the run has %.1f %% more %s: above %g %%", worst,
                pct_diff_metric_names[r->metric], r->fail_above);
    return PCT_DATA;
}

static int compare(const struct pct_command *self, struct pct_run *runs, const struct request *r)
{
    struct pc_error error = {""};
    struct pct_diff *d = pct_diff_make(runs, r->n_before, r->n_after, r->metric, &error);
    if (!d) {
        pct_say(self, "%s", error.text);
        return PCT_DATA;
    }
    if (r->how.full_names)
        pct_diff_name_places(d, true);
    if (r->format != FORMAT_TEXT)
        pct_diff_remarks(d, say, (void *)self);
    print(d, r);
    int status = judge(self, d, r);
    pct_diff_free(d);
    return status;
}

static int run_diff(const struct pct_command *self, int argc, char **argv)
{
    struct request r = {0};
    struct pct_line line;
    if (!pct_line_read(self, argc, argv, &r, &line))
        return line.status;
    int status = pct_choice_refuse(
        self, &r.choice, r.format == FORMAT_TEXT ? NULL : &pct_diff_table, "--format tsv");
    if (!status)
        status = pct_line_check_parts(self, &line, r.format == FORMAT_TEXT ? PCT_PART_TREES : 0);
    if (status || (status = read_files(self, &line, &r)))
        return status;
    size_t n = r.n_before + r.n_after;
    struct pct_run *runs = pct_runs_look(self, r.paths, n, true, &status);
    if (runs && runs[0].outside && r.metric != PCT_DIFF_TIME)
        status = pct_refuse(self, "--metric: pcollect record knows neither calls nor bytes");
    if (runs && !status)
        status = pct_runs_check(self, runs, r.n_before);
    if (runs && !status)
        status = pct_runs_check(self, runs + r.n_before, r.n_after);
    if (runs && !status)
        status = pct_runs_unite(self, runs, n);
    if (runs && !status)
        status = compare(self, runs, &r);
    pct_runs_close(runs, n);
    return status;
}

const struct pct_command pct_diff_command = {
    .name = "diff",
    .synopsis = "[OPTION]... BEFORE AFTER, or [OPTION]... BEFORE... -- AFTER...",
    .summary = "compare two versions of a program, context by context",
    .options = options,
    .argument = "FILE",
    .n_least = 2,
    .n_most = PCT_ANY_NUMBER,
    .take = take_option,
    .main = run_diff,
};
