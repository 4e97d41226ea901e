/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pcollect annotate: source lines and instructions with what they took beside them.
 */
#include "view/annotate/annotate.h"
#include "command/command.h"
#include "command/report.h"

#include <getopt.h>
#include <stdlib.h>

enum { OPTION_MIN = 256 };

static const struct pct_option options[] = {
    {'s', "source", "FILE", "this source file only, by its name or the end of its path"},
    {'f', "function", "NAME", "this function only"},
    {'a', "assembly", NULL, "instructions instead of lines (needs objdump and the program)"},
    {'q', "quickfix", NULL, "FILE:LINE: MESSAGE, for editors to jump to"},
    {'c', "context", "N", "lines shown around each line with figures (default 3)"},
    {OPTION_MIN, "min-percent", "P",
     "leave out what took less than P percent of the time in MPI and sampled computation "
     "(default 1)"},
    PCT_OPTION_DEBUGINFOD,
    {0, NULL, NULL, NULL},
};

struct request {
    struct pct_annotate annotate;
    bool assembly, quickfix;
};

static int read_option(const struct pct_command *self, int letter, struct request *r)
{
    char *end;
    switch (letter) {
    case 's':
        r->annotate.source = optarg;
        break;
    case 'f':
        r->annotate.function = optarg;
        break;
    case 'a':
        r->assembly = true;
        break;
    case 'q':
        r->quickfix = true;
        break;
    case 'c':
        r->annotate.around = (unsigned)strtoul(optarg, &end, 10);
        if (*optarg < '0' || *optarg > '9' || *end || r->annotate.around > 1000000)
            return pct_refuse(self, "--context %s: give a number of lines", optarg);
        break;
    default:
        r->annotate.min_percent = strtod(optarg, &end);
        if (end == optarg || *end || !(r->annotate.min_percent >= 0) ||
            r->annotate.min_percent > 100)
            return pct_refuse(self, "--min-percent %s: give a percentage from 0 to 100", optarg);
    }
    return PCT_DONE;
}

static int print(const struct pct_command *self, const struct request *r)
{
    struct pc_error error = {""};
    if (r->quickfix) {
        pct_annotate_quickfix(stdout, &r->annotate);
        return PCT_DONE;
    }
    if (!r->assembly && !pct_annotate_source(stdout, &r->annotate)) {
        const struct pct_annotate *a = &r->annotate;
        pct_say(self,
                "%s: no line with samples or MPI calls is known there: was the program compiled "
                "with -g? `pcollect report --table lines` shows what is",
                a->function ? a->function
                : a->source ? a->source
                            : a->data->file);
        return PCT_DATA;
    }
    int err = r->assembly ? pct_annotate_assembly(stdout, &r->annotate, &error) : PC_OK;
    if (*error.text)
        pct_say(self, "%s", error.text);
    return err ? PCT_DATA : PCT_DONE;
}

static int annotate(const struct pct_command *self, const char *path, struct request *r)
{
    static const struct pct_tree_options whole = {0};
    struct pc_profile *p = NULL;
    struct pc_error error = {""};
    int err = pc_pcol_read_columns(path, &p, &error);
    if (*error.text || err)
        pct_say(self, "%s", *error.text ? error.text : pc_err_text(err));
    if (err)
        return err == PC_ENOENT ? PCT_CALL : PCT_DATA;
    pct_report_environment(getenv("COLUMNS"), getenv("NO_COLOR"), getenv("TERM"));
    pct_report_terminal(&r->annotate.width, &r->annotate.utf8);
    struct pct_data *d = pct_data_new(path, p, pct_symbols_new(p), &whole);
    r->annotate.data = d;
    int status = print(self, r);
    if (pc_profile_unread(p)) {
        pct_say(self, "%s: %s", path, pc_profile_unread(p));
        status = PCT_DATA;
    }
    pct_data_free(d);
    pc_profile_free(p);
    return status;
}

static int run_annotate(const struct pct_command *self, int argc, char **argv)
{
    struct request r = {.annotate = {.min_percent = 1, .around = 3}};
    int letter;
    while ((letter = pct_options_next(self, argc, argv)) >= 0)
        if (read_option(self, letter, &r))
            return PCT_CALL;
    if (letter != PCT_OPTION_END)
        return letter == PCT_OPTION_HELPED ? PCT_DONE : PCT_CALL;
    if (r.assembly && r.quickfix)
        return pct_refuse(self, "--assembly and --quickfix: give one of them");
    if (argc - optind != 1)
        return pct_refuse(self, argc == optind ? "which profile?" : "one profile at a time");
    return annotate(self, argv[optind], &r);
}

const struct pct_command pct_annotate_command = {
    .name = "annotate",
    .synopsis = "[OPTION]... FILE",
    .summary = "source lines and instructions with what they took beside them",
    .options = options,
    .mixed = true,
    .main = run_annotate,
};
