/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pcollect export: a profile in the format of another viewer.
 */
#include "command/command.h"
#include "command/whole_file.h"
#include "view/viewers/viewers.h"

/* In the order of the words of --format, and of --metric, which is that of enum pct_value_kind. */
enum format { FOLDED, SPEEDSCOPE, PPROF, HATCHET, CHROME };
enum { FORMAT = 256, METRIC };

static const struct pct_option options[] = {
    {FORMAT, "format", "folded|speedscope|pprof|hatchet|chrome", "format of the file; required",
     "folded: one line for each stack, for flame graphs. speedscope: JSON for speedscope. pprof: a "
     "pprof message, not compressed. hatchet: the literal form of a GraphFrame of Hatchet, in "
     "JSON. chrome: trace events for Chrome and Perfetto, with the course of the run, which the "
     "plugin series records."},
    {METRIC, "metric", "time|computation|mpi|calls|sent|received",
     "figure of folded stacks (default: time)",
     "time: time in MPI plus CPU time outside MPI, which is estimated from samples; without "
     "samples it is that of mpi. Of a profile of `pcollect record` it is all CPU time. The other "
     "formats hold all figures.",
     .parts = PCT_PART_STACKS},
    {'o', "output", "FILE",
     "write to FILE, which must be new, or - for standard output (default: standard output)"},
    PCT_OPTION_DEBUGINFOD,
    {0, NULL, NULL, NULL},
};

struct request {
    int format; /* enum format; -1: not given */
    int metric; /* enum pct_value_kind; -1: not given */
    const char *to;
};

static int take_option(const struct pct_command *self, const struct pct_option *o,
                       const char *value, void *request)
{
    struct request *r = request;
    (void)self;
    if (o->letter == FORMAT)
        r->format = (int)pct_value_word(o, value);
    else if (o->letter == METRIC)
        r->metric = (int)pct_value_word(o, value);
    else if (o->letter == 'o')
        r->to = pct_is_standard_output(value) ? NULL : value;
    return PCT_DONE;
}

/* Says how Python reads deep contexts. A context takes two levels of JSON, and Python 3.11 refuses
 * more than its limit of recursion, 1000: it read 497 contexts below each other. */
static void say_depth(const struct pct_command *self, const struct pct_data *d,
                      const struct pct_stacks *s)
{
    enum { MOST = 450 }; /* room for the calls of the script itself */
    uint32_t depth = pct_stack_most(s);
    if (depth > MOST)
        pct_say(self,
                "%s: contexts of up to %u frames are too deep for Python's usual limit: call "
                "sys.setrecursionlimit(%u) before json.load",
                d->file, depth, 4 * depth);
}

/* Writes stacks. Only the format of pprof distinguishes lines of a function. */
static int put_stacks(const struct pct_command *self, FILE *out, const struct pct_data *d,
                      const struct request *r)
{
    struct pct_buf why = {0};
    bool lines = r->format == PPROF;
    struct pct_stacks *s =
        pct_stacks_new(d, lines ? pct_data_lines(d) : pct_data_functions(d), &why);
    int status = PCT_DONE, metric = r->metric < 0 ? PCT_VALUE_TIME : r->metric;
    if (s && r->metric < 0 && !s->has[metric] && !s->outside)
        metric = PCT_VALUE_MPI;
    if (!s) {
        pct_say(self, "%s: %s", d->file, why.data);
        status = PCT_DATA;
    } else if (!s->has[metric]) {
        pct_say(self, "%s: the figure %s is not known: %s", d->file, pct_value_types[metric].name,
                s->outside && !pct_value_types[metric].outside_doc
                    ? "pcollect record knows no calls of MPI"
                    : "the profile has no samples");
        status = PCT_DATA;
    } else if (r->format == FOLDED) {
        pct_viewer_folded(out, s, (enum pct_value_kind)metric);
    } else if (r->format == SPEEDSCOPE) {
        pct_viewer_speedscope(out, s);
    } else if (r->format == PPROF) {
        pct_viewer_pprof(out, s);
    } else {
        pct_viewer_hatchet(out, s);
        say_depth(self, d, s);
    }
    pct_stacks_free(s);
    pct_buf_free(&why);
    return status;
}

static int put(const struct pct_command *self, FILE *out, const struct pct_data *d,
               const struct request *r)
{
    if (r->format != CHROME)
        return put_stacks(self, out, d, r);
    if (pct_viewer_chrome(out, d))
        return PCT_DONE;
    pct_say(self,
            "%s: does not have the course of the run: collect with `pcollect run --plugins "
            "+series`",
            d->file);
    return PCT_DATA;
}

static int write_file(const struct pct_command *self, const struct pct_data *d,
                      const struct request *r)
{
    struct pct_whole_file file;
    if (!pct_whole_file_open(&file, self, r->to, false))
        return PCT_DATA;
    int status = put(self, file.out, d, r);
    bool whole = pct_whole_file_close(&file, !status);
    return whole || status ? status : PCT_DATA;
}

static int export(const struct pct_command *self, const char *path, const struct request *r)
{
    int status = PCT_DONE;
    pct_progress_show();
    struct pct_data *d = pct_profile_open(self, path, &status);
    if (!d)
        return status;
    status = r->to ? write_file(self, d, r) : put(self, stdout, d, r);
    return pct_profile_close(self, d, status);
}

static int run_export(const struct pct_command *self, int argc, char **argv)
{
    struct request r = {.format = -1, .metric = -1};
    struct pct_line line;
    if (!pct_line_read(self, argc, argv, &r, &line))
        return line.status;
    if (r.format < 0)
        return pct_refuse(self, "--format is missing: say which, as --format speedscope");
    int status = pct_line_check_parts(self, &line, r.format == FOLDED ? PCT_PART_STACKS : 0);
    if (status)
        return status;
    if (r.format == PPROF && !r.to && pct_terminal_look().cut)
        return pct_refuse(self, "--format pprof is not text: give -o FILE too");
    return export(self, line.words[0], &r);
}

const struct pct_command pct_export = {
    .name = "export",
    .synopsis = "--format FORMAT [-o FILE] [PROFILE]",
    .summary = "write a profile in the format of another viewer",
    .details = "Any table as CSV: pcollect report --table NAME --format csv.",
    .options = options,
    .argument = "PROFILE",
    .n_most = 1,
    .newest = true,
    .take = take_option,
    .main = run_export,
};
