/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The tables of samples: lines (`flat`), functions, and contexts of computation.
 */
#include "analysis/tree/samples.h"
#include "view/tables/figures.h"
#include "view/tables/tables.h"

#include <string.h>

/* Source of a column's rows: of a roll-up, or nodes of a tree. */
enum { LINES, FUNCTIONS, CONTEXTS, CALLERS };

static const struct pct_rolled *rolled_of(const struct pct_data *d, uint16_t of)
{
    return pct_data_rolled(d, of == LINES ? PCT_BY_CODE_LINE : PCT_BY_CODE_FUNCTION);
}

static const struct pct_tree_rows *rows_of(const struct pct_data *d, uint16_t of)
{
    return of == CONTEXTS ? pct_data_computation(d) : pct_data_sample_callers(d);
}

static bool is_tree(uint16_t of)
{
    return of == CONTEXTS || of == CALLERS;
}

static size_t count_rows(const struct pct_data *d, uint16_t of)
{
    if (!pct_data_samples(d)->all.samples)
        return 0;
    return is_tree(of) ? rows_of(d, of)->n : rolled_of(d, of)->n;
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

static const struct pct_rolled_row *row_of(const struct pct_cell *c)
{
    return &rolled_of(c->d, c->column->of)->row[c->row];
}

static uint32_t node_of(const struct pct_cell *c)
{
    return rows_of(c->d, c->column->of)->row[c->row];
}

static const struct pct_tree *tree_of(const struct pct_cell *c)
{
    return rows_of(c->d, c->column->of)->tree;
}

static void get_function(const struct pct_cell *c, struct pct_value *out)
{
    pct_value_text(c->d, row_of(c)->function, out);
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

/* Labels are escaped already. */
static void get_label(const struct pct_cell *c, struct pct_value *out)
{
    pct_value_plain(tree_of(c)->nodes[node_of(c)].label, out);
}

static void get_path(const struct pct_cell *c, struct pct_value *out)
{
    pct_path_value(tree_of(c), node_of(c), out);
}

static void get_context(const struct pct_cell *c, struct pct_value *out)
{
    pct_id_value(c->d, tree_of(c)->nodes[node_of(c)].context, out);
}

static void get_parent(const struct pct_cell *c, struct pct_value *out)
{
    const struct pct_node *nodes = tree_of(c)->nodes;
    pct_id_value(c->d, nodes[nodes[node_of(c)].parent].context, out);
}

/* Number of nodes above it, without the root. */
static void get_level(const struct pct_cell *c, struct pct_value *out)
{
    const struct pct_tree *t = tree_of(c);
    for (uint32_t i = t->nodes[node_of(c)].parent; i; i = t->nodes[i].parent)
        out->number++;
}

/* Exclusive and inclusive samples of the row. */
enum { SELF, TOTAL };

static struct pct_sampled part_of(const struct pct_cell *c)
{
    bool self = c->column->which == SELF;
    if (!is_tree(c->column->of))
        return self ? row_of(c)->self : row_of(c)->total;
    return self ? pct_tree_own(tree_of(c), node_of(c)).self
                : pct_tree_below(tree_of(c), node_of(c)).total;
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
    out->none = !pct_samples_error(part, pct_data_samples(d)->whole, &out->number);
    pct_value_plain(out->none && part.samples ? "few" : NULL, out);
}

static void get_error(const struct pct_cell *c, struct pct_value *out)
{
    pct_sample_error(c->d, part_of(c), out);
}

/* CPU time of the row's own samples by rank. Returns as pct_tree_ranks. */
static struct pct_range add_ranks(const struct pct_data *d, uint16_t of, size_t row,
                                  uint64_t *values, bool *present)
{
    if (is_tree(of))
        return pct_tree_sampled_ranks(rows_of(d, of)->tree, rows_of(d, of)->row[row],
                                      PCT_SAMPLED_SELF, values, present);
    return pct_rolled_ranks(rolled_of(d, of), row, values, present);
}

static struct pct_spread spread_of(const struct pct_cell *c)
{
    if (!is_tree(c->column->of))
        return pct_rolled_spread(rolled_of(c->d, c->column->of), c->row);
    struct pct_rank_room room = pct_data_rank_room(c->d);
    struct pct_range range = add_ranks(c->d, c->column->of, c->row, room.values, room.present);
    struct pct_spread spread = pct_totals_spread(c->d->profile, range, room.values, room.present);
    memset(room.values + range.first, 0, (range.end - range.first) * sizeof *room.values);
    memset(room.present + range.first, 0, (range.end - range.first) * sizeof *room.present);
    return spread;
}

static void get_spread(const struct pct_cell *c, struct pct_value *out)
{
    bool empty = is_tree(c->column->of) ? !pct_tree_own(tree_of(c), node_of(c)).self.samples
                                        : !row_of(c)->self.samples;
    pct_spread_value(spread_of(c), empty, c->column->which, out);
}

static void sample_picture(const struct pct_table *t, const struct pct_data *d, size_t row,
                           uint64_t *values, bool *present)
{
    add_ranks(d, t->columns->of, row, values, present);
}

/* clang-format off */
#define SAMPLE_COLUMNS(of)                                                                         \
    {"cpu_exclusive_s", "self", PCT_NS, "CPU time sampled in it, all ranks and threads",           \
     get_time, SELF, of, "cpu_exclusive_error_s"},                                                 \
    {"cpu_exclusive_error_s", "+-", PCT_NS,                                                        \
     "half of the 95 % interval of cpu_exclusive_s; empty below 10 samples", get_error, SELF, of}, \
    {"cpu_exclusive_percent", "self", PCT_PERCENT, "cpu_exclusive_s as a share of all samples",    \
     get_percent, SELF, of},                                                                       \
    {"cpu_inclusive_s", "total", PCT_NS,                                                           \
     "CPU time sampled in it and in all it called, MPI calls too",                                 \
     get_time, TOTAL, of, "cpu_inclusive_error_s"},                                                \
    {"cpu_inclusive_error_s", "+-", PCT_NS,                                                        \
     "half of the 95 % interval of cpu_inclusive_s; empty below 10 samples", get_error, TOTAL, of},\
    {"cpu_inclusive_percent", "total", PCT_PERCENT, "cpu_inclusive_s as a share of all samples",   \
     get_percent, TOTAL, of},                                                                      \
    {"samples", "samples", PCT_COUNT, "samples of cpu_exclusive_s", get_samples, SELF, of},        \
    {"inclusive_samples", "total", PCT_COUNT, "samples of cpu_inclusive_s",                        \
     get_samples, TOTAL, of}
#define SAMPLE_SPREAD_COLUMNS(of)                                                                  \
    {"ranks", "ranks", PCT_COUNT, "ranks that were sampled in it", get_spread, PCT_FIGURE_RANKS,   \
     of},                                                                                          \
    {"rank_min_s", "min over ranks", PCT_NS, "min of cpu_exclusive_s over these ranks",                    \
     get_spread, PCT_FIGURE_RANK_MIN, of},                                                         \
    {"min_rank", "rank", PCT_INTEGER, "the rank of rank_min_s",                                    \
     get_spread, PCT_FIGURE_MIN_RANK, of},                                                         \
    {"rank_max_s", "max over ranks", PCT_NS, "max of cpu_exclusive_s over these ranks",                      \
     get_spread, PCT_FIGURE_RANK_MAX, of},                                                         \
    {"max_rank", "rank", PCT_INTEGER, "the rank of rank_max_s",                                    \
     get_spread, PCT_FIGURE_MAX_RANK, of}
/* clang-format on */

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
    .doc = "one row for each source line with samples in it or below it",
    .count = count_flat,
    .sort = "cpu_exclusive_s",
    .percent = "cpu_inclusive_percent",
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
    .doc = "one row for each function with samples in it or below it",
    .count = count_functions,
    .sort = "cpu_exclusive_s",
    .percent = "cpu_inclusive_percent",
    PCT_COLUMNS(function_columns),
    .picture = sample_picture,
};

static const struct pct_column computation_columns[] = {
    {"path", "path", PCT_TEXT, "functions from the root on, joined by \" > \"", get_path, 0,
     CONTEXTS, .labels = true},
    {"function", "function", PCT_TEXT, "the last of them", get_label, 0, CONTEXTS, .labels = true},
    SAMPLE_COLUMNS(CONTEXTS),
    SAMPLE_SPREAD_COLUMNS(CONTEXTS),
    PCT_CONTEXT_COLUMN(get_context, CONTEXTS),
    {"parent", "parent", PCT_TEXT, "context of the row of the caller; empty for the outermost",
     get_parent, 0, CONTEXTS, .asked = true},
};

const struct pct_table pct_computation_table = {
    .name = "computation",
    .doc = "one row for each function in each calling context, by samples",
    .count = count_computation,
    .sort = "cpu_inclusive_s",
    .percent = "cpu_inclusive_percent",
    PCT_COLUMNS(computation_columns),
    .picture = sample_picture,
};

static const struct pct_column sample_caller_columns[] = {
    {"path", "path", PCT_TEXT,
     "the function that was sampled, its caller, and so on outwards, joined by \" > \"", get_path,
     0, CALLERS, .labels = true},
    {"level", "level", PCT_COUNT, "callers in it: 0 is the function alone", get_level, 0, CALLERS},
    {"caller", "caller", PCT_TEXT, "the last of them", get_label, 0, CALLERS, .labels = true},
    {"cpu_s", "time", PCT_NS, "CPU time in the function when it was called like this", get_time,
     TOTAL, CALLERS, "cpu_error_s"},
    {"cpu_error_s", "+-", PCT_NS, "half of the 95 % interval of cpu_s; empty below 10 samples",
     get_error, TOTAL, CALLERS},
    {"cpu_percent", "share", PCT_PERCENT, "cpu_s as a share of all samples", get_percent, TOTAL,
     CALLERS},
    {"samples", "samples", PCT_COUNT, "samples of cpu_s", get_samples, TOTAL, CALLERS},
};

const struct pct_table pct_sample_callers_table = {
    .name = "sample_callers",
    .doc = "one row for each node of the tree of callers, from the sampled functions outwards",
    .count = count_sample_callers,
    .sort = "path",
    .percent = "cpu_percent",
    PCT_COLUMNS(sample_caller_columns),
    .outline = "caller,cpu_s,cpu_percent,samples",
};
