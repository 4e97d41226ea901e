/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pcollect merge: repeats of one run as one table of means, and how far they lie apart.
 */
#include "command/command.h"
#include "command/report.h"
#include "view/compare_print.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

static const struct pct_option options[] = {
    {'f', "format", "FORMAT", "text (default), json or tsv"},
    PCT_OPTIONS_CHOICE,
    PCT_OPTION_DEBUGINFOD,
    {0, NULL, NULL, NULL},
};

enum format { TEXT, JSON, TSV };

struct request {
    enum format format;
    struct pct_choice choice;
};

static void print(const struct pct_repeats *r, const struct request *q)
{
    size_t width;
    bool utf8;
    pct_report_terminal(&width, &utf8);
    if (q->format == JSON)
        pct_repeats_json(stdout, r, &q->choice);
    else if (q->format == TSV)
        pct_repeats_tsv(stdout, r, &q->choice);
    else
        pct_repeats_print(stdout, r, width, utf8);
}

static int merge(const struct pct_command *self, struct pct_run *runs, size_t n,
                 const struct request *q)
{
    struct pct_repeats *r;
    struct pc_error error = {""};
    if (pct_repeats_make(runs, n, &r, &error)) {
        pct_say(self, "%s", error.text);
        return PCT_DATA;
    }
    print(r, q);
    pct_repeats_free(r);
    return PCT_DONE;
}

static bool read_format(const char *word, struct request *q)
{
    static const char *const names[] = {[TEXT] = "text", [JSON] = "json", [TSV] = "tsv"};
    for (unsigned i = 0; i < PC_ARRAY_LEN(names); i++) {
        q->format = (enum format)i;
        if (!strcmp(word, names[i]))
            return true;
    }
    return false;
}

static int run_merge(const struct pct_command *self, int argc, char **argv)
{
    struct request q = {0};
    int letter;
    while ((letter = pct_options_next(self, argc, argv)) >= 0)
        if (!pct_choice_option(&q.choice, letter, optarg) && !read_format(optarg, &q))
            return pct_refuse(self, "--format %s: text, json and tsv are known", optarg);
    if (letter != PCT_OPTION_END)
        return letter == PCT_OPTION_HELPED ? PCT_DONE : PCT_CALL;
    if (optind == argc)
        return pct_refuse(self, "which profiles?");
    size_t n = (size_t)(argc - optind);
    int status = pct_choice_refuse(self, &q.choice, q.format == TEXT ? NULL : &pct_repeats_table,
                                   "--format tsv");
    struct pct_run *runs = status ? NULL : pct_runs_look(self, argv + optind, n, &status);
    if (runs)
        status = merge(self, runs, n, &q);
    pct_runs_close(runs, n);
    return status;
}

const struct pct_command pct_merge_command = {
    .name = "merge",
    .synopsis = "[OPTION]... FILE...",
    .summary = "repeats of one run: means, and how far the runs lie apart",
    .options = options,
    .mixed = true,
    .main = run_merge,
};
