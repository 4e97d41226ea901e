/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What pcollect report says of the runs before and after, side by side, and their command lines.
 */
#include "view/compare_print.h"
#include "view/sentence.h"

#include <math.h>
#include <string.h>

enum unit { UNIT_NS, UNIT_SHARE, UNIT_COUNT, UNIT_BYTES };

static double get_wall(const struct pct_run_told *t)
{
    return t->wall_ns;
}

static double get_mpi(const struct pct_run_told *t)
{
    return t->mpi_ns;
}

static double get_mean(const struct pct_run_told *t)
{
    return t->mean_ns;
}

static double get_busiest(const struct pct_run_told *t)
{
    return t->busiest_ns;
}

static double get_imbalance(const struct pct_run_told *t)
{
    return t->imbalance;
}

static double get_messages(const struct pct_run_told *t)
{
    return t->messages;
}

static double get_bytes(const struct pct_run_told *t)
{
    return t->bytes;
}

static bool is_balanced(const struct pct_run_told *t)
{
    return t->balanced;
}

static bool has_messages(const struct pct_run_told *t)
{
    return t->messages > 0;
}

/* Rows of the table. key: of JSON. known: of a run; NULL: always. */
static const struct figure {
    const char *name, *key;
    enum unit unit;
    double (*get)(const struct pct_run_told *t);
    bool (*known)(const struct pct_run_told *t);
    bool own; /* follows the name of own time */
} figures[] = {
    {"wall time", "wall_%s_s", UNIT_NS, get_wall, NULL, false},
    {"in MPI", "mpi_%s_s", UNIT_NS, get_mpi, NULL, false},
    {", mean rank", "own_mean_%s_s", UNIT_NS, get_mean, is_balanced, true},
    {", longest rank", "own_longest_%s_s", UNIT_NS, get_busiest, is_balanced, true},
    {"imbalance", "imbalance_%s_percent", UNIT_SHARE, get_imbalance, is_balanced, false},
    {"messages", "messages_%s", UNIT_COUNT, get_messages, has_messages, false},
    {"bytes in messages", "bytes_%s", UNIT_BYTES, get_bytes, has_messages, false},
};

/* The mean of one side; below 0: not known of one of its runs. */
static double mean_of(const struct pct_diff *d, const struct figure *f, bool after)
{
    size_t n = after ? d->n_after : d->n_before;
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        const struct pct_run_told *told = &d->runs[i + (after ? d->n_before : 0)].told;
        if (f->known && !f->known(told))
            return -1;
        sum += f->get(told);
    }
    return sum / (double)n;
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

void pct_diff_told_print(FILE *out, const struct pct_diff *d)
{
    bool computes = true;
    for (size_t i = 0; i < d->n_before + d->n_after; i++)
        computes &= d->runs[i].told.computes;
    fprintf(out, "\nAs pcollect report has them%s\n  %-23s  %12s  %12s\n",
            d->n_before + d->n_after > 2 ? ", means of the runs" : "", "", "before", "after");
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
        fprintf(out, "  %-23s  %12s  %12s\n", name, figure_text(f->unit, before, x),
                figure_text(f->unit, after, y));
    }
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

void pct_diff_command_print(FILE *out, const struct pct_diff *d, bool after, size_t width)
{
    enum { INDENT = 8, MOST_CELLS = 400 };
    const char *mine = command_of(d, after), *other = command_of(d, !after);
    struct pct_buf whole = {0}, shown = {0};
    if (!mine || !other || !strcmp(mine, other))
        return;
    pct_text_escape(&whole, mine, PCT_ESCAPE_CELL);
    pct_text_cut(&shown, whole.data, MOST_CELLS, false);
    fprintf(out, "%*s", INDENT, "");
    pct_print_sentence(out, width, INDENT, "%s", shown.data);
    pct_buf_free(&shown);
    pct_buf_free(&whole);
}
