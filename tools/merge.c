/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pcollect merge: repeats of one run as one table of means, and how far they lie apart.
 */
#include "report/compare/repeats.h"
#include "report/report.h"
#include "tools/tools.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

static const struct pct_option options[] = {
    {'f', "format", "FORMAT", "text (default), json or tsv"},
    PCT_OPTION_DEBUGINFOD,
    {0, NULL, NULL, NULL},
};

static int print(const struct pct_command *self, const struct pct_repeats *r, const char *format)
{
    size_t width;
    bool utf8;
    pct_report_terminal(&width, &utf8);
    if (!strcmp(format, "json"))
        pct_repeats_json(stdout, r);
    else if (!strcmp(format, "tsv"))
        pct_repeats_tsv(stdout, r);
    else if (!strcmp(format, "text"))
        pct_repeats_print(stdout, r, width, utf8);
    else
        return pct_refuse(self, "--format %s: text, json and tsv are known", format);
    return PCT_DONE;
}

static int merge(const struct pct_command *self, struct pct_run *runs, size_t n, const char *format)
{
    struct pct_repeats *r;
    struct pc_error error = {""};
    if (pct_repeats_make(runs, n, &r, &error)) {
        pct_say(self, "%s", error.text);
        return PCT_DATA;
    }
    int status = print(self, r, format);
    pct_repeats_free(r);
    return status;
}

static int run_merge(const struct pct_command *self, int argc, char **argv)
{
    const char *format = "text";
    int letter;
    while ((letter = pct_options_next(self, argc, argv)) >= 0)
        format = optarg;
    if (letter != PCT_OPTION_END)
        return letter == PCT_OPTION_HELPED ? PCT_DONE : PCT_CALL;
    if (optind == argc)
        return pct_refuse(self, "which profiles?");
    size_t n = (size_t)(argc - optind);
    int status;
    struct pct_run *runs = pct_runs_open(self, argv + optind, n, &status);
    if (runs)
        status = pct_runs_close(self, runs, n, merge(self, runs, n, format));
    return status;
}

const struct pct_command pct_merge_command = {
    .name = "merge",
    .synopsis = "[-f FORMAT] FILE...",
    .summary = "repeats of one run: means, and how far the runs lie apart",
    .options = options,
    .mixed = true,
    .main = run_merge,
};
