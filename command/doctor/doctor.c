/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pcollect doctor: which parts of pcollect work on this machine, which do not, and the effect of
 * that. Runs the checks of its other files and prints what they found; changes nothing on the
 * machine.
 */
#include "command/doctor/doctor.h"
#include "view/table.h"

#include "analysis/buffer.h"
#include "base/wrap.h"

#include <stdlib.h>
#include <string.h>

static const struct pct_option options[] = {
    {'f', "format", "text|json", "text for people (default), or JSON",
     "One object: bad and less count findings; findings is a list of objects with health, about, "
     "found, cost and cure. cost and cure are null where there is none."},
    {0, NULL, NULL, NULL},
};

static const char *const health_names[] = {"ok", "less", "bad"};

/* ---- Printing ------------------------------------------------------------------------------- */

enum { INDENT = 24, LEAST_ROOM = 40 };

/* Prints the text in lines of at most `room` columns, each indented below the first. */
static void put_below(const char *text, size_t room)
{
    for (const char *rest; *text; text = rest) {
        printf("%.*s\n", (int)pc_wrap(text, room, &rest), text);
        if (*rest)
            printf("%*s", INDENT, "");
    }
}

static void put_labelled(const char *label, const char *text, size_t room)
{
    if (!text)
        return;
    char *line = pct_text("%s: %s", label, text);
    printf("%*s", INDENT, "");
    put_below(line, room);
    pct_free(line);
}

static void print_text(const struct pct_examined *d, size_t n_less, size_t n_bad)
{
    size_t width = pct_terminal_look().width;
    size_t room = width > INDENT + LEAST_ROOM ? width - INDENT : LEAST_ROOM;
    for (size_t i = 0; i < d->n; i++) {
        const struct pct_finding *f = &d->findings[i];
        printf("%-4s  %-16s  ", health_names[f->health], f->about);
        put_below(f->found, room);
        put_labelled("costs", f->cost, room);
        put_labelled("cure", f->cure, room);
    }
    if (n_bad)
        printf("\nNot everything works: %zu bad, %zu with a limit (less).\n", n_bad, n_less);
    else if (n_less)
        printf("\nJobs can be measured; %zu %s with a limit (less).\n", n_less,
               n_less == 1 ? "part works" : "parts work");
    else
        printf("\nEverything works.\n");
}

static void put_member(const char *name, const char *text)
{
    printf(", \"%s\": ", name);
    pct_json_put(stdout, text);
}

static void print_json(const struct pct_examined *d, size_t n_less, size_t n_bad)
{
    printf("{\n  \"pcollect_doctor\": 1,\n  \"bad\": %zu,\n  \"less\": %zu,\n  \"findings\": [",
           n_bad, n_less);
    for (size_t i = 0; i < d->n; i++) {
        const struct pct_finding *f = &d->findings[i];
        printf("%s\n    {\"health\": \"%s\"", i ? "," : "", health_names[f->health]);
        put_member("about", f->about);
        put_member("found", f->found);
        put_member("cost", f->cost);
        put_member("cure", f->cure);
        putchar('}');
    }
    puts("\n  ]\n}");
}

/* ---- The command ---------------------------------------------------------------------------- */

static int examine(struct pct_examined *d, bool json)
{
    struct pc_error error;
    size_t n[3] = {0, 0, 0};
    if (pc_config_load(&d->config, &error))
        pct_doctor_add(d, PCT_BAD, "configuration", pct_text("%s", error.text),
                       "no job is measured", "pcollect config --check FILE, --template");
    pct_doctor_library(d);
    pct_doctor_mpi(d);
    pct_doctor_spool(d);
    pct_doctor_kill(d);
    pct_doctor_machine(d);
    for (size_t i = 0; i < d->n; i++)
        n[d->findings[i].health]++;
    if (json)
        print_json(d, n[PCT_LESS], n[PCT_BAD]);
    else
        print_text(d, n[PCT_LESS], n[PCT_BAD]);
    for (size_t i = 0; i < d->n; i++)
        pct_free(d->findings[i].found);
    pct_free(d->findings);
    return n[PCT_BAD] ? PCT_DATA : PCT_DONE;
}

static int take_option(const struct pct_command *self, const struct pct_option *o,
                       const char *value, void *request)
{
    (void)self;
    *(bool *)request = pct_value_word(o, value) == 1;
    return PCT_DONE;
}

static int run_doctor(const struct pct_command *self, int argc, char **argv)
{
    struct pct_examined d = {.self = self};
    bool json = false;
    struct pct_line line;
    return pct_line_read(self, argc, argv, &json, &line) ? examine(&d, json) : line.status;
}

const struct pct_command pct_doctor = {
    .name = "doctor",
    .synopsis = "[--format text|json]",
    .summary = "check what works on this machine, and what is missing",
    .details =
        "The exit status is 1 if something is bad, so that jobs are not measured or profiles are "
        "lost. Parts that work with a limit do not count.",
    .options = options,
    .take = take_option,
    .main = run_doctor,
};
