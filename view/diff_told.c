/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What pcollect report says of the runs before and after, side by side, and their command lines.
 */
#include "view/compare_print.h"
#include "view/sentence.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

enum unit { UNIT_NS, UNIT_SHARE, UNIT_COUNT, UNIT_BYTES };

/* Condition under which a figure of a run is known. */
enum known { ALWAYS, IF_MEASURED, IF_BALANCED, IF_MESSAGES };

/* Rows of the table. key: of JSON. at: of the figure, a double, in struct pct_run_told. */
static const struct figure {
    const char *name, *key;
    size_t at;
    enum unit unit;
    enum known known;
    bool own; /* follows the name of own time */
} figures[] = {
#define AT(member) offsetof(struct pct_run_told, member)
    {"wall time", "wall_%s_s", AT(wall_ns), UNIT_NS, ALWAYS, false},
    {"in MPI", "mpi_%s_s", AT(mpi_ns), UNIT_NS, IF_MEASURED, false},
    {", mean rank", "own_mean_%s_s", AT(mean_ns), UNIT_NS, IF_BALANCED, true},
    {", longest rank", "own_longest_%s_s", AT(busiest_ns), UNIT_NS, IF_BALANCED, true},
    {"imbalance", "imbalance_%s_percent", AT(imbalance), UNIT_SHARE, IF_BALANCED, false},
    {"messages", "messages_%s", AT(messages), UNIT_COUNT, IF_MESSAGES, false},
    {"bytes in messages", "bytes_%s", AT(bytes), UNIT_BYTES, IF_MESSAGES, false},
#undef AT
};

static bool is_known(const struct figure *f, const struct pct_run *run)
{
    const struct pct_run_told *t = &run->told;
    return f->known == ALWAYS        ? true
           : f->known == IF_MEASURED ? !run->outside
           : f->known == IF_BALANCED ? t->balanced
                                     : t->messages > 0;
}

/* The mean of one side; below 0: not known of one of its runs. */
static double mean_of(const struct pct_diff *d, const struct figure *f, bool after)
{
    size_t n = after ? d->n_after : d->n_before;
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        const struct pct_run *run = &d->runs[i + (after ? d->n_before : 0)];
        if (!is_known(f, run))
            return -1;
        sum += *(const double *)((const char *)&run->told + f->at);
    }
    return sum / (double)n;
}

double pct_diff_wall_ns(const struct pct_diff *d, bool after)
{
    return mean_of(d, &figures[0], after);
}

static const char *figure_text(enum unit unit, double value, char out[PCT_NUMBER_BYTES])
{
    if (unit == UNIT_SHARE)
        return pct_text_percent_1(out, (pc_u128)llround(1e5 * value));
    pc_u128 n = pct_text_whole(value);
    return unit == UNIT_NS      ? pct_text_time(out, n)
           : unit == UNIT_BYTES ? pct_text_bytes(out, n)
                                : pct_text_count(out, n);
}

const char *pct_diff_told_title(const struct pct_diff *d)
{
    return d->n_before + d->n_after > 2 ? "As pcollect report has them, means of the runs"
                                        : "As pcollect report has them";
}

void pct_diff_told(const struct pct_diff *d, pct_diff_told_fn *put, void *arg)
{
    bool computes = true;
    for (size_t i = 0; i < d->n_before + d->n_after; i++)
        computes &= d->runs[i].told.computes;
    for (size_t i = 0; i < PC_ARRAY_LEN(figures); i++) {
        const struct figure *f = &figures[i];
        double before = mean_of(d, f, false), after = mean_of(d, f, true);
        char x[PCT_NUMBER_BYTES], y[PCT_NUMBER_BYTES], name[32];
        if (before < 0 || after < 0)
            continue;
        snprintf(name, sizeof name, "%s%s",
                 !f->own    ? ""
                 : computes ? "computing"
                            : "own time",
                 f->name);
        put(arg, name, figure_text(f->unit, before, x), figure_text(f->unit, after, y));
    }
}

static void print_row(void *out, const char *name, const char *before, const char *after)
{
    fprintf(out, "  %-23s  %12s  %12s\n", name, before, after);
}

void pct_diff_told_print(FILE *out, const struct pct_diff *d)
{
    fprintf(out, "\n%s\n", pct_diff_told_title(d));
    print_row(out, "", "before", "after");
    pct_diff_told(d, print_row, out);
}

void pct_diff_told_json(FILE *out, const struct pct_diff *d)
{
    static const double scales[] = {[UNIT_NS] = 1e-9, [UNIT_SHARE] = 100};
    for (size_t i = 0; i < PC_ARRAY_LEN(figures); i++)
        for (int after = 0; after < 2; after++) {
            const struct figure *f = &figures[i];
            double value = mean_of(d, f, after);
            char key[32];
            pct_text_format(key, sizeof key, f->key, after ? "after" : "before");
            fprintf(out, ",\n  \"%s\": ", key);
            if (value < 0)
                fputs("null", out);
            else if (f->unit < PC_ARRAY_LEN(scales))
                fprintf(out, "%.9f", value * scales[f->unit]);
            else
                fprintf(out, "%.0f", value);
        }
}

/* The command line of all runs of a side; NULL: not known, or not the same. */
static const char *command_of(const struct pct_diff *d, bool after)
{
    size_t first = after ? d->n_before : 0, end = after ? d->n_before + d->n_after : d->n_before;
    const char *command = d->runs[first].command;
    for (size_t i = first + 1; i < end; i++)
        if (strcmp(command, d->runs[i].command) != 0)
            return NULL;
    return *command ? command : NULL;
}

void pct_diff_command_put(struct pct_buf *b, const struct pct_diff *d, bool after)
{
    enum { MOST_CELLS = 400 };
    const char *mine = command_of(d, after), *other = command_of(d, !after);
    struct pct_buf whole = {0};
    pct_buf_put(b, "", 0);
    if (!mine || !other || !strcmp(mine, other))
        return;
    pct_text_escape(&whole, mine, PCT_ESCAPE_CELL);
    pct_text_cut(b, whole.data, MOST_CELLS, false);
    pct_buf_free(&whole);
}

void pct_diff_command_print(FILE *out, const struct pct_diff *d, bool after, size_t width)
{
    enum { INDENT = 8 };
    struct pct_buf command = {0};
    pct_diff_command_put(&command, d, after);
    if (command.n) {
        fprintf(out, "%*s", INDENT, "");
        pct_print_sentence(out, width, INDENT, "%s", command.data);
    }
    pct_buf_free(&command);
}
