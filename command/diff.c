/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pcollect diff: two versions of a program, context by context.
 */
#include "command/command.h"
#include "command/report.h"
#include "view/compare_print.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

enum { OPTION_METRIC = 256, OPTION_FAIL_ABOVE, OPTION_FORMAT };
enum format { FORMAT_TEXT, FORMAT_JSON, FORMAT_TSV };

static const struct pct_option options[] = {
    {OPTION_METRIC, "metric", "NAME", "what is compared: time (default), calls or bytes"},
    {OPTION_FAIL_ABOVE, "fail-above", "PERCENT",
     "end with status 1 if the run, or a context as a part of the run, has grown by more than that "
     "and by more than noise"},
    {OPTION_FORMAT, "format", "FORMAT", "text (default), json or tsv"},
    PCT_OPTIONS_CHOICE,
    PCT_OPTION_DEBUGINFOD,
    {0, NULL, NULL, NULL},
};

struct request {
    enum pct_diff_metric metric;
    enum format format;
    struct pct_choice choice;
    bool limited;
    double fail_above; /* percent */
    char **paths;
    size_t n_before, n_after;
};

static bool read_word(const char *word, const char *const *names, unsigned n, unsigned *out)
{
    for (unsigned i = 0; i < n; i++) {
        if (!strcmp(word, names[i])) {
            *out = i;
            return true;
        }
    }
    return false;
}

static bool read_percent(const char *word, struct request *r)
{
    char *end;
    r->fail_above = strtod(word, &end);
    r->limited = true;
    return end != word && (!*end || !strcmp(end, "%")) && r->fail_above >= 0 &&
           r->fail_above <= 1e6;
}

static int read_option(const struct pct_command *self, int letter, struct request *r)
{
    static const char *const formats[] = {"text", "json", "tsv"};
    unsigned n = 0;
    if (pct_choice_option(&r->choice, letter, optarg))
        return PCT_DONE;
    if (letter == OPTION_METRIC) {
        if (!read_word(optarg, pct_diff_metric_names, PCT_N_DIFF_METRICS, &n))
            return pct_refuse(self, "--metric %s: time, calls and bytes are known", optarg);
        r->metric = (enum pct_diff_metric)n;
    } else if (letter == OPTION_FORMAT) {
        if (!read_word(optarg, formats, PC_ARRAY_LEN(formats), &n))
            return pct_refuse(self, "--format %s: text, json and tsv are known", optarg);
        r->format = (enum format)n;
    } else if (letter == OPTION_FAIL_ABOVE && !read_percent(optarg, r)) {
        return pct_refuse(self, "--fail-above %s: give a percentage", optarg);
    }
    return PCT_DONE;
}

/* BEFORE AFTER, or BEFORE... -- AFTER...; the separator is taken out. */
static int read_files(const struct pct_command *self, int argc, char **argv, struct request *r)
{
    size_t n = (size_t)(argc - optind), at = 0;
    r->paths = argv + optind;
    while (at < n && strcmp(r->paths[at], "--") != 0)
        at++;
    if (at == n && n == 2)
        at = 1;
    else if (at < n) {
        memmove(&r->paths[at], &r->paths[at + 1], (n - at - 1) * sizeof *r->paths);
        n--;
    }
    r->n_before = at;
    r->n_after = n - at;
    if (!r->n_before || !r->n_after)
        return pct_refuse(self, "give two profiles, or those before, --, and those after");
    return PCT_OPTION_END;
}

/* PCT_OPTION_END: go on. Else the exit status. */
static int read_options(const struct pct_command *self, int argc, char **argv, struct request *r)
{
    int letter;
    while ((letter = pct_options_next(self, argc, argv)) >= 0) {
        int status = read_option(self, letter, r);
        if (status)
            return status;
    }
    if (letter == PCT_OPTION_HELPED)
        return PCT_DONE;
    if (letter == PCT_OPTION_WRONG)
        return PCT_CALL;
    int status = pct_choice_refuse(
        self, &r->choice, r->format == FORMAT_TEXT ? NULL : &pct_diff_table, "--format tsv");
    return status ? status : read_files(self, argc, argv, r);
}

static void print(const struct pct_diff *d, const struct request *r)
{
    size_t width;
    bool utf8;
    pct_report_terminal(&width, &utf8);
    if (r->format == FORMAT_JSON)
        pct_diff_json(stdout, d, &r->choice);
    else if (r->format == FORMAT_TSV)
        pct_diff_tsv(stdout, d, &r->choice);
    else
        pct_diff_print(stdout, d, width, utf8);
}

static int judge(const struct pct_command *self, const struct pct_diff *d, const struct request *r)
{
    const char *place;
    double worst = 100 * pct_diff_worst(d, &place);
    if (!r->limited || worst <= r->fail_above)
        return PCT_DONE;
    if (place)
        pct_say(self, "%s has grown by %.1f %% of the run: above %g %%", place, worst,
                r->fail_above);
    else
        pct_say(self, "the run takes %.1f %% longer: above %g %%", worst, r->fail_above);
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
    print(d, r);
    int status = judge(self, d, r);
    pct_diff_free(d);
    return status;
}

static int run_diff(const struct pct_command *self, int argc, char **argv)
{
    struct request r = {0};
    int status = read_options(self, argc, argv, &r);
    if (status != PCT_OPTION_END)
        return status;
    size_t n = r.n_before + r.n_after;
    struct pct_run *runs = pct_runs_look(self, r.paths, n, &status);
    if (runs)
        status = compare(self, runs, &r);
    pct_runs_close(runs, n);
    return status;
}

const struct pct_command pct_diff_command = {
    .name = "diff",
    .synopsis = "[OPTION]... BEFORE AFTER, or [OPTION]... BEFORE... -- AFTER...",
    .summary = "compare two versions of a program, context by context",
    .options = options,
    .main = run_diff,
};
