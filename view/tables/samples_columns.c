/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The tables of samples: lines (`flat`), functions, and contexts of computation.
 */
#include "analysis/tree/samples.h"
#include "view/tables/figures.h"
#include "view/tables/tables.h"

/* Which rows a column draws from. */
enum { LINES, FUNCTIONS, CONTEXTS, CALLERS };

static struct pct_sample_rows *rows_of(const struct pct_data *d, uint16_t of)
{
    return of == LINES       ? &pct_data_samples(d)->lines
           : of == FUNCTIONS ? &pct_data_samples(d)->functions
           : of == CONTEXTS  ? &pct_data_samples(d)->contexts
                             : pct_samples_callers(pct_data_samples(d));
}

static size_t count_rows(const struct pct_data *d, uint16_t of)
{
    return pct_data_samples(d)->all.samples ? rows_of(d, of)->n : 0;
}

static size_t count_flat(const struct pct_data *d)
{
    return count_rows(d, LINES);
}

static size_t count_functions(const struct pct_data *d)
{
    return count_rows(d, FUNCTIONS);
}

static size_t count_computation(const struct pct_data *d)
{
    return count_rows(d, CONTEXTS);
}

static size_t count_sample_callers(const struct pct_data *d)
{
    return count_rows(d, CALLERS);
}

static const struct pct_sample_row *row_of(const struct pct_cell *c)
{
    return &rows_of(c->d, c->column->of)->row[c->row];
}

static void get_function(const struct pct_cell *c, struct pct_value *out)
{
    pct_value_text(c->d, row_of(c)->function, out);
}

/* Labels and paths are escaped already. */
static void get_label(const struct pct_cell *c, struct pct_value *out)
{
    out->text = row_of(c)->function;
}

static void get_context(const struct pct_cell *c, struct pct_value *out)
{
    pct_context_value(c->d, row_of(c)->context, out);
}

static void get_file(const struct pct_cell *c, struct pct_value *out)
{
    pct_value_text(c->d, row_of(c)->file, out);
}

static void get_line(const struct pct_cell *c, struct pct_value *out)
{
    out->integer = row_of(c)->line;
    out->none = !out->integer;
}

static void get_module(const struct pct_cell *c, struct pct_value *out)
{
    pct_value_text(c->d, row_of(c)->module, out);
}

/* Rows above it. */
static void get_level(const struct pct_cell *c, struct pct_value *out)
{
    const struct pct_sample_row *r = row_of(c);
    for (; r->parent != PC_NO_INDEX; out->number++)
        r = &rows_of(c->d, c->column->of)->row[r->parent];
}

static void get_path(const struct pct_cell *c, struct pct_value *out)
{
    out->text = row_of(c)->path;
}

/* Samples of the row itself, and of all that was called from it. */
enum { SELF, TOTAL };

static struct pct_sampled part_of(const struct pct_cell *c)
{
    return c->column->which == SELF ? row_of(c)->self : row_of(c)->total;
}

static void get_samples(const struct pct_cell *c, struct pct_value *out)
{
    out->number = part_of(c).samples;
}

static void get_time(const struct pct_cell *c, struct pct_value *out)
{
    out->number = part_of(c).ns;
}

static void get_percent(const struct pct_cell *c, struct pct_value *out)
{
    out->number = pct_text_share(part_of(c).ns, pct_data_samples(c->d)->all.ns);
}

void pct_sample_error(const struct pct_data *d, struct pct_sampled part, struct pct_value *out)
{
    out->none = !pct_samples_error(part, pct_data_samples(d)->all, &out->number);
    out->text = out->none && part.samples ? "few" : NULL;
}

static void get_error(const struct pct_cell *c, struct pct_value *out)
{
    pct_sample_error(c->d, part_of(c), out);
}

static void get_spread(const struct pct_cell *c, struct pct_value *out)
{
    struct pct_sample_rows *rows = rows_of(c->d, c->column->of);
    pct_spread_value(pct_samples_spread(pct_data_samples(c->d), rows, c->row), c->column->which,
                     out);
}

/* clang-format off */
#define SAMPLE_COLUMNS(of)                                                                         \
    {"samples", "samples", PCT_COUNT, "samples in it, all ranks and threads",                      \
     get_samples, SELF, of},                                                                       \
    {"self_s", "self", PCT_NS, "CPU time that they stand for",                                     \
     get_time, SELF, of, "self_error_s"},                                                          \
    {"total_s", "total", PCT_NS, "the same with what was called from it, MPI calls too",           \
     get_time, TOTAL, of, "total_error_s"},                                                        \
    {"total_samples", "total", PCT_COUNT, "samples of total_s", get_samples, TOTAL, of},           \
    {"self_percent", "self", PCT_PERCENT, "self_s as a share of all samples",                      \
     get_percent, SELF, of},                                                                       \
    {"total_percent", "total", PCT_PERCENT, "total_s as a share of all samples",                   \
     get_percent, TOTAL, of},                                                                      \
    {"self_error_s", "+-", PCT_NS,                                                                 \
     "half of the 95 % interval of self_s; empty below 10 samples", get_error, SELF, of},          \
    {"total_error_s", "+-", PCT_NS,                                                                \
     "half of the 95 % interval of total_s; empty below 10 samples", get_error, TOTAL, of}
/* Behind all others: they came later. */
#define SAMPLE_SPREAD_COLUMNS(of)                                                                  \
    {"ranks", "ranks", PCT_COUNT, "ranks that were sampled in it", get_spread, PCT_FIGURE_RANKS,   \
     of},                                                                                          \
    {"rank_min_s", "least of a rank", PCT_NS, "self_s of that of these ranks that has least",      \
     get_spread, PCT_FIGURE_RANK_MIN, of},                                                         \
    {"min_rank", "rank", PCT_INTEGER, "the rank of rank_min_s",                                    \
     get_spread, PCT_FIGURE_MIN_RANK, of},                                                         \
    {"rank_max_s", "most of a rank", PCT_NS, "self_s of the rank that has most",                   \
     get_spread, PCT_FIGURE_RANK_MAX, of},                                                         \
    {"max_rank", "rank", PCT_INTEGER, "the rank of rank_max_s",                                    \
     get_spread, PCT_FIGURE_MAX_RANK, of}
/* clang-format on */

static void sample_picture(const struct pct_table *t, const struct pct_data *d, size_t row,
                           uint64_t *values, bool *present)
{
    pct_samples_ranks(pct_data_samples(d), rows_of(d, t->columns->of), row, values, present);
}

static const struct pct_column flat_columns[] = {
    {"function", "function", PCT_TEXT, "function, or MPI function", get_function, 0, LINES},
    {"file", "file", PCT_TEXT, "source file; empty if unknown", get_file, 0, LINES},
    {"line", "line", PCT_INTEGER, "line; empty if unknown", get_line, 0, LINES},
    {"module", "module", PCT_TEXT, "program or library; empty for an MPI function", get_module, 0,
     LINES},
    SAMPLE_COLUMNS(LINES),
    SAMPLE_SPREAD_COLUMNS(LINES),
};

const struct pct_table pct_flat_table = {
    .name = "flat",
    .doc = "one row for each line that computed or called what did, by samples",
    .count = count_flat,
    .sort = "self_s",
    .percent = "total_percent",
    PCT_COLUMNS(flat_columns),
    .picture = sample_picture,
};

static const struct pct_column function_columns[] = {
    {"function", "function", PCT_TEXT, "function, or MPI function", get_function, 0, FUNCTIONS},
    {"file", "file", PCT_TEXT, "source file; empty if unknown", get_file, 0, FUNCTIONS},
    {"module", "module", PCT_TEXT, "program or library; empty for an MPI function", get_module, 0,
     FUNCTIONS},
    SAMPLE_COLUMNS(FUNCTIONS),
    SAMPLE_SPREAD_COLUMNS(FUNCTIONS),
};

const struct pct_table pct_functions_table = {
    .name = "functions",
    .doc = "one row for each function that computed or called what did, by samples",
    .count = count_functions,
    .sort = "self_s",
    .percent = "total_percent",
    PCT_COLUMNS(function_columns),
    .picture = sample_picture,
};

static const struct pct_column computation_columns[] = {
    {"path", "path", PCT_TEXT, "functions from the root on, joined by \" > \"", get_path, 0,
     CONTEXTS},
    {"function", "function", PCT_TEXT, "the last of them", get_label, 0, CONTEXTS},
    SAMPLE_COLUMNS(CONTEXTS),
    SAMPLE_SPREAD_COLUMNS(CONTEXTS),
    PCT_CONTEXT_COLUMN(get_context, CONTEXTS),
};

const struct pct_table pct_computation_table = {
    .name = "computation",
    .doc = "one row for each function in each calling context, by samples",
    .count = count_computation,
    .sort = "total_s",
    .percent = "total_percent",
    PCT_COLUMNS(computation_columns),
    .picture = sample_picture,
};

static const struct pct_column sample_caller_columns[] = {
    {"path", "path", PCT_TEXT,
     "the function that computed, what called it, and so on outwards, joined by \" > \"", get_path,
     0, CALLERS},
    {"level", "level", PCT_COUNT, "callers in it: 0 is the function alone", get_level, 0, CALLERS},
    {"caller", "caller", PCT_TEXT, "the last of them", get_label, 0, CALLERS},
    {"samples", "samples", PCT_COUNT, "samples in the function when it was called like this",
     get_samples, TOTAL, CALLERS},
    {"time_s", "time", PCT_NS, "CPU time that they stand for", get_time, TOTAL, CALLERS, "error_s"},
    {"percent", "share", PCT_PERCENT, "time_s as a share of all samples", get_percent, TOTAL,
     CALLERS},
    {"error_s", "+-", PCT_NS, "half of the 95 % interval of time_s; empty below 10 samples",
     get_error, TOTAL, CALLERS},
};

const struct pct_table pct_sample_callers_table = {
    .name = "sample_callers",
    .doc = "functions that computed, below each what called it, outwards, by samples",
    .count = count_sample_callers,
    .sort = "path",
    .percent = "percent",
    PCT_COLUMNS(sample_caller_columns),
};
