/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pcollect annotate: source lines and instructions with their figures.
 */
#include "view/annotate/annotate.h"
#include "command/command.h"

#include <stdlib.h>

enum { OPTION_MIN = 256 };
enum { HOW = 1 }; /* groups of options */

static const struct pct_option options[] = {
    {'s', "source", "FILE", "only this source file, by its name or the end of its path",
     .parts = PCT_PART_LINES},
    {'f', "function", "NAME", "only this function",
     "NAME may leave out arguments and templates, and the namespace, class or module. What the "
     "compiler made of a part of the function is shown with it: a region of OpenMP, a lambda, a "
     "copy."},
    {'a', "assembly", NULL,
     "show instructions, not lines (stored ones, else it needs objdump and the program)",
     .group = HOW},
    {'q', "quickfix", NULL, "print FILE:LINE: MESSAGE, for editors to jump to",
     "One line for each source line that calls MPI or was sampled.", .group = HOW},
    {'c', "context", "N", "show N lines or instructions around each with figures (default: 3)",
     .parts = PCT_PART_SOURCES},
    {OPTION_MIN, "min-percent", "P",
     "hide lines below P percent of the time in MPI and of CPU time (default: 1)",
     "P percent of one of the two is enough, unless it is less than a fifth of P percent of both "
     "together. With --function, the function is shown whole, to its last line with figures. Of "
     "--assembly it hides functions below that, and instructions below P percent of the time of "
     "their function."},
    PCT_OPTION_WIDTH,
    PCT_OPTION_DEBUGINFOD,
    {0, NULL, NULL, NULL},
};

struct request {
    struct pct_annotate annotate;
    bool assembly, quickfix;
};

static int take_option(const struct pct_command *self, const struct pct_option *o,
                       const char *value, void *request)
{
    struct request *r = request;
    uint64_t n = 0;
    int status = PCT_DONE;
    switch (o->letter) {
    case 's':
        r->annotate.source = value;
        break;
    case 'f':
        r->annotate.function = value;
        break;
    case 'a':
        r->assembly = true;
        break;
    case 'q':
        r->quickfix = true;
        break;
    case 'c':
        status = pct_value_number(self, o, value, 0, 1000000, &n);
        r->annotate.around = (unsigned)n;
        break;
    default:
        status = pct_value_percent(self, o, value, 100, &n);
        r->annotate.min_percent = (double)n / 1000;
    }
    return status;
}

static int print_assembly(const struct pct_command *self, const struct pct_annotate *a)
{
    struct pc_error error = {""};
    int err = pct_annotate_assembly(stdout, a, &error);
    if (*error.text)
        pct_say(self, "%s", error.text);
    return err ? PCT_DATA : PCT_DONE;
}

/* Says that no line is known, what else is, and why. */
static void say_no_line(const struct pct_command *self, const struct request *r)
{
    const struct pct_annotate *a = &r->annotate;
    const char *why = pct_symbols_remark(pct_data_symbols(a->data), 0);
    pct_say(self,
            "%s%s: no line %swith samples or MPI calls is known; %s`pcollect report --by %s` shows "
            "what is known%s%s",
            a->function ? "--function "
            : a->source ? "--source "
                        : "",
            a->function ? a->function
            : a->source ? a->source
                        : a->data->file,
            a->function ? "of such a function "
            : a->source ? "of such a file "
                        : "",
            a->source ? "" : "--assembly shows instructions, ", a->source ? "file" : "function",
            why ? ". " : "", why ? why : "");
}

static int print_lines(const struct pct_command *self, const struct request *r)
{
    const struct pct_annotate *a = &r->annotate;
    char near[256] = "";
    if ((r->quickfix ? pct_annotate_quickfix : pct_annotate_source)(stdout, a))
        return PCT_DONE;
    if (a->function && pct_annotate_nearest(a, near, sizeof near))
        pct_say(self,
                "--function %s: no line of such a function has samples or MPI calls: did you mean "
                "%s?",
                a->function, near);
    else
        say_no_line(self, r);
    return PCT_DATA;
}

static int annotate(const struct pct_command *self, const char *path, struct request *r)
{
    int status = PCT_DONE;
    pct_progress_show();
    struct pct_data *d = pct_profile_open(self, path, &status);
    if (!d)
        return status;
    struct pct_terminal terminal = pct_terminal_look();
    r->annotate.width = terminal.cut ? terminal.width : 0;
    r->annotate.utf8 = terminal.utf8;
    r->annotate.data = d;
    status = r->assembly ? print_assembly(self, &r->annotate) : print_lines(self, r);
    return pct_profile_close(self, d, status);
}

static int run_annotate(const struct pct_command *self, int argc, char **argv)
{
    struct request r = {.annotate = {.min_percent = 1, .around = 3}};
    struct pct_line line;
    if (!pct_line_read(self, argc, argv, &r, &line))
        return line.status;
    unsigned parts = (r.assembly ? 0 : PCT_PART_LINES) | (r.quickfix ? 0 : PCT_PART_SOURCES);
    int status = pct_line_check_parts(self, &line, parts);
    return status ? status : annotate(self, line.words[0], &r);
}

const struct pct_command pct_annotate_command = {
    .name = "annotate",
    .synopsis = "[OPTION]... [FILE]",
    .summary = "show source lines or instructions with their figures",
    .options = options,
    .argument = "FILE",
    .n_most = 1,
    .newest = true,
    .meant = "function",
    .take = take_option,
    .main = run_annotate,
};
