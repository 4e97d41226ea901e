/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The tables of calls by place: call sites, lines, functions, files, communicators, and callers.
 */
#include "analysis/tree/roll_up.h"
#include "view/tables/figures.h"
#include "view/tables/tables.h"

/* ---- By place -------------------------------------------------------------------------------- */

static size_t count_call_sites(const struct pct_data *d)
{
    return pct_data_rolled(d, PCT_BY_SITE)->n;
}

static size_t count_lines(const struct pct_data *d)
{
    return pct_data_rolled(d, PCT_BY_LINE)->n;
}

static size_t count_function_calls(const struct pct_data *d)
{
    return pct_data_rolled(d, PCT_BY_FUNCTION)->n;
}

static size_t count_sources(const struct pct_data *d)
{
    return pct_data_rolled(d, PCT_BY_FILE)->n;
}

static size_t count_module_calls(const struct pct_data *d)
{
    return pct_data_rolled(d, PCT_BY_MODULE)->n;
}

static size_t count_communicator_calls(const struct pct_data *d)
{
    return pct_data_rolled(d, PCT_BY_COMMUNICATOR)->n;
}

static const struct pct_rolled_row *row_of(const struct pct_cell *c)
{
    return &pct_data_rolled(c->d, c->column->of)->row[c->row];
}

static void call_figure(const struct pct_cell *c, struct pct_value *out)
{
    const struct pct_rolled_row *r = row_of(c);
    struct pct_figures f = {r->own.sum, r->own.min_ns, r->own.max_ns, {0}};
    if (c->column->which >= PCT_FIGURE_RANKS)
        f.spread = pct_rolled_spread(pct_data_rolled(c->d, c->column->of), c->row);
    pct_figure(c->d, f, c->column->which, out);
    out->none |= r->in_steps && c->column->which == PCT_FIGURE_MEAN; /* its calls are elsewhere */
}

static void call_function(const struct pct_cell *c, struct pct_value *out)
{
    pct_value_text(c->d, row_of(c)->function, out);
}

static void call_file(const struct pct_cell *c, struct pct_value *out)
{
    pct_value_text(c->d, row_of(c)->file, out);
}

static void call_line(const struct pct_cell *c, struct pct_value *out)
{
    out->integer = row_of(c)->line;
    out->none = !out->integer;
}

static void call_module(const struct pct_cell *c, struct pct_value *out)
{
    pct_value_text(c->d, row_of(c)->module, out);
}

static void call_primitive(const struct pct_cell *c, struct pct_value *out)
{
    pct_value_text(c->d, row_of(c)->primitive, out);
}

static void call_below(const struct pct_cell *c, struct pct_value *out)
{
    out->number = row_of(c)->below_ns;
}

static void call_below_percent(const struct pct_cell *c, struct pct_value *out)
{
    out->number = pct_text_share(row_of(c)->below_ns, pct_data_mpi_ns(c->d));
}

static const struct pct_rolled_line *line_of(const struct pct_cell *c)
{
    return &pct_data_rolled(c->d, PCT_BY_LINE)->lines[row_of(c)->whole];
}

static void line_below(const struct pct_cell *c, struct pct_value *out)
{
    out->number = line_of(c)->below_ns;
}

static void line_total(const struct pct_cell *c, struct pct_value *out)
{
    out->number = line_of(c)->total.ns;
}

static void call_samples(const struct pct_cell *c, struct pct_value *out)
{
    out->number = row_of(c)->self.samples;
}

static void call_self(const struct pct_cell *c, struct pct_value *out)
{
    out->number = row_of(c)->self.ns;
}

static void call_total(const struct pct_cell *c, struct pct_value *out)
{
    out->number = row_of(c)->total.ns;
}

static void call_self_error(const struct pct_cell *c, struct pct_value *out)
{
    pct_sample_error(c->d, row_of(c)->self, out);
}

static void call_total_error(const struct pct_cell *c, struct pct_value *out)
{
    pct_sample_error(c->d, row_of(c)->total, out);
}

/* Columns for each kind of rows; not each has all of them. */
#define MODULE_COLUMN(by)                                                                          \
    {                                                                                              \
        "module", "module", PCT_TEXT, "program or library", call_module, 0, by                     \
    }
#define PLACE_COLUMNS(by)                                                                          \
    {"file", "file", PCT_TEXT, "source file; empty if unknown", call_file, 0, by}, MODULE_COLUMN(by)
#define LINE_COLUMN(by)                                                                            \
    {                                                                                              \
        "line", "line", PCT_INTEGER, "line; empty if unknown", call_line, 0, by                    \
    }
#define FUNCTION_COLUMN(by)                                                                        \
    {                                                                                              \
        "function", "function", PCT_TEXT, "function; empty if unknown", call_function, 0, by       \
    }
#define PRIMITIVE_COLUMN(by)                                                                       \
    {                                                                                              \
        "primitive", "primitive", PCT_TEXT, "name of the MPI function", call_primitive, 0, by      \
    }
/* clang-format off */
#define TIME_COLUMNS(by)                                                                           \
    PCT_CALLS_COLUMNS(call_figure, by),                                                            \
    PCT_EXCLUSIVE_COLUMN(call_figure, by),                                                         \
    {"mpi_inclusive_s", "below", PCT_NS,                                                           \
     "time in MPI there and in everything that was called from there", call_below, 0, by,          \
     .mpi = true},                                                                                 \
    {"mpi_inclusive_percent", "below", PCT_PERCENT,                                                \
     "mpi_inclusive_s as a share of all time in MPI", call_below_percent, 0, by, .mpi = true},     \
    {"cpu_exclusive_s", "self", PCT_NS, "CPU time sampled right there", call_self, 0, by,          \
     "cpu_exclusive_error_s"},                                                                     \
    {"cpu_exclusive_error_s", "+-", PCT_NS,                                                        \
     "half of the 95 % interval of cpu_exclusive_s; empty below 10 samples",                       \
     call_self_error, 0, by},                                                                      \
    {"cpu_inclusive_s", "total", PCT_NS,                                                           \
     "CPU time sampled there and in everything that was called from there",                        \
     call_total, 0, by, "cpu_inclusive_error_s"},                                                  \
    {"cpu_inclusive_error_s", "+-", PCT_NS,                                                        \
     "half of the 95 % interval of cpu_inclusive_s; empty below 10 samples",                       \
     call_total_error, 0, by},                                                                     \
    PCT_BYTES_COLUMNS(call_figure, by),                                                            \
    {"samples", "samples", PCT_COUNT, "samples of computation right there", call_samples, 0, by}
/* clang-format on */

static void call_picture(const struct pct_table *t, const struct pct_data *d, size_t row,
                         uint64_t *values, bool *present)
{
    pct_rolled_ranks(pct_data_rolled(d, t->columns->of), row, values, present);
}

static const struct pct_column call_site_columns[] = {
    FUNCTION_COLUMN(PCT_BY_SITE),
    PLACE_COLUMNS(PCT_BY_SITE),
    LINE_COLUMN(PCT_BY_SITE),
    PRIMITIVE_COLUMN(PCT_BY_SITE),
    PCT_CALLS_COLUMNS(call_figure, PCT_BY_SITE),
    PCT_EXCLUSIVE_COLUMN(call_figure, PCT_BY_SITE),
    PCT_SHARE_COLUMN(call_figure, PCT_BY_SITE),
    PCT_DURATION_COLUMNS(call_figure, PCT_BY_SITE),
    PCT_BYTES_COLUMNS(call_figure, PCT_BY_SITE),
    PCT_SPREAD_COLUMNS(call_figure, PCT_BY_SITE),
};

const struct pct_table pct_call_sites_table = {
    .name = "call_sites",
    .doc = "one row for each place that calls an MPI function, whatever called it",
    .count = count_call_sites,
    .sort = "mpi_exclusive_s",
    .percent = "mpi_exclusive_percent",
    PCT_COLUMNS(call_site_columns),
    .picture = call_picture,
};

static const struct pct_column line_call_columns[] = {
    PLACE_COLUMNS(PCT_BY_LINE),
    LINE_COLUMN(PCT_BY_LINE),
    FUNCTION_COLUMN(PCT_BY_LINE),
    TIME_COLUMNS(PCT_BY_LINE),
    {"line_mpi_inclusive_s", "of line", PCT_NS,
     "mpi_inclusive_s of the line with all functions that it is part of, which may call each other",
     line_below, 0, PCT_BY_LINE, .mpi = true},
    {"line_cpu_inclusive_s", "of line", PCT_NS, "as line_mpi_inclusive_s, of cpu_inclusive_s",
     line_total, 0, PCT_BY_LINE},
};

const struct pct_table pct_lines_table = {
    .name = "lines",
    .doc = "one row for each source line with MPI calls or samples in it or below it",
    .count = count_lines,
    .sort = "mpi_inclusive_s",
    .percent = "mpi_inclusive_percent",
    PCT_COLUMNS(line_call_columns),
    .picture = call_picture,
};

static size_t count_called(const struct pct_data *d)
{
    return pct_data_rolled(d, PCT_BY_CALLED)->n;
}

static void called_function(const struct pct_cell *c, struct pct_value *out)
{
    pct_value_text(c->d, row_of(c)->called, out);
}

static void called_library(const struct pct_cell *c, struct pct_value *out)
{
    pct_value_text(c->d, row_of(c)->library, out);
}

static const struct pct_column called_columns[] = {
    {"file", "file", PCT_TEXT, "source file of the line", call_file, 0, PCT_BY_CALLED},
    LINE_COLUMN(PCT_BY_CALLED),
    {"called", "called", PCT_TEXT, "function without lines that the line called", called_function,
     0, PCT_BY_CALLED},
    {"module", "module", PCT_TEXT, "program or library of that function", called_library, 0,
     PCT_BY_CALLED},
    PCT_EXCLUSIVE_COLUMN(call_figure, PCT_BY_CALLED),
    {"cpu_exclusive_s", "self", PCT_NS, "CPU time in it and in what it called", call_self, 0,
     PCT_BY_CALLED},
};

const struct pct_table pct_called_table = {
    .name = "called",
    .doc = "one row for each function without lines that a line called: time of code without lines",
    .count = count_called,
    PCT_COLUMNS(called_columns),
};

static const struct pct_column function_call_columns[] = {
    FUNCTION_COLUMN(PCT_BY_FUNCTION),
    PLACE_COLUMNS(PCT_BY_FUNCTION),
    TIME_COLUMNS(PCT_BY_FUNCTION),
};

const struct pct_table pct_function_calls_table = {
    .name = "function_calls",
    .doc = "calls and samples by function",
    .count = count_function_calls,
    .sort = "mpi_exclusive_s",
    .percent = "mpi_inclusive_percent",
    PCT_COLUMNS(function_call_columns),
    .picture = call_picture,
};

static const struct pct_column source_call_columns[] = {
    PLACE_COLUMNS(PCT_BY_FILE),
    TIME_COLUMNS(PCT_BY_FILE),
};

const struct pct_table pct_sources_table = {
    .name = "sources",
    .doc = "calls and samples by source file",
    .count = count_sources,
    .sort = "mpi_exclusive_s",
    .percent = "mpi_inclusive_percent",
    PCT_COLUMNS(source_call_columns),
    .picture = call_picture,
};

static const struct pct_column module_call_columns[] = {
    MODULE_COLUMN(PCT_BY_MODULE),
    TIME_COLUMNS(PCT_BY_MODULE),
};

const struct pct_table pct_module_calls_table = {
    .name = "module_calls",
    .doc = "calls and samples by program or library",
    .count = count_module_calls,
    .sort = "mpi_exclusive_s",
    .percent = "mpi_inclusive_percent",
    PCT_COLUMNS(module_call_columns),
    .picture = call_picture,
};

/* ---- Communicators --------------------------------------------------------------------------- */

static void communicator_id(const struct pct_cell *c, struct pct_value *out)
{
    pct_id_value(c->d, row_of(c)->domain, out);
}

/* A cell of the communicator's row in the table `communicators`; 0: it has none. */
static uint64_t communicator_cell(const struct pct_cell *c, const char *column,
                                  enum pcollect_column_type type)
{
    const struct pc_profile_table *t = pc_profile_table(c->d->profile, "communicators");
    uint32_t domain = pc_table_column(t, "domain", PCOLLECT_COLUMN_DOMAIN),
             wanted = pc_table_column(t, column, type);
    uint64_t id = row_of(c)->domain;
    if (!id || domain == PC_NO_INDEX || wanted == PC_NO_INDEX)
        return 0;
    for (uint32_t i = 0; i < t->n_rows; i++)
        if (pc_table_cell(t, i, domain) == id)
            return pc_table_cell(t, i, wanted);
    return 0;
}

static void communicator_name(const struct pct_cell *c, struct pct_value *out)
{
    uint64_t name = communicator_cell(c, "name", PCOLLECT_COLUMN_STRING);
    pct_value_text(c->d, pc_profile_string(c->d->profile, name), out);
}

static void communicator_size(const struct pct_cell *c, struct pct_value *out)
{
    out->number = communicator_cell(c, "size", PCOLLECT_COLUMN_NUMBER);
    out->none = !out->number;
}

static void communicator_maker(const struct pct_cell *c, struct pct_value *out)
{
    uint64_t maker = communicator_cell(c, "made_by", PCOLLECT_COLUMN_STRING);
    pct_value_text(c->d, pc_profile_string(c->d->profile, maker), out);
}

static const struct pct_column communicator_call_columns[] = {
    {"communicator", "communicator", PCT_TEXT,
     "id of the communicator; empty for calls that name none, such as MPI_Waitall, and without the "
     "plugin domain",
     communicator_id, 0, PCT_BY_COMMUNICATOR},
    {"name", "name", PCT_TEXT, "its name; empty if it has none", communicator_name, 0,
     PCT_BY_COMMUNICATOR},
    {"size", "size", PCT_COUNT, "its ranks, of an intercommunicator those of its own side",
     communicator_size, 0, PCT_BY_COMMUNICATOR},
    {"made_by", "made by", PCT_TEXT, "MPI function that made it; empty if it is not known",
     communicator_maker, 0, PCT_BY_COMMUNICATOR},
    PRIMITIVE_COLUMN(PCT_BY_COMMUNICATOR),
    PCT_CALLS_COLUMNS(call_figure, PCT_BY_COMMUNICATOR),
    PCT_DURATION_COLUMNS(call_figure, PCT_BY_COMMUNICATOR),
    PCT_BYTES_COLUMNS(call_figure, PCT_BY_COMMUNICATOR),
    PCT_SPREAD_COLUMNS(call_figure, PCT_BY_COMMUNICATOR),
};

const struct pct_table pct_communicator_calls_table = {
    .name = "communicator_calls",
    .doc = "one row for each MPI function on each communicator",
    .count = count_communicator_calls,
    .sort = "time_s",
    PCT_COLUMNS(communicator_call_columns),
    .picture = call_picture,
};

/* ---- Callers --------------------------------------------------------------------------------- */

static size_t count_callers(const struct pct_data *d)
{
    return pct_data_callers(d)->n;
}

static uint32_t caller_of(const struct pct_cell *c)
{
    return pct_data_callers(c->d)->row[c->row];
}

static const struct pct_node *caller_node(const struct pct_cell *c)
{
    return &pct_data_callers(c->d)->tree->nodes[caller_of(c)];
}

static void caller_figure(const struct pct_cell *c, struct pct_value *out)
{
    const struct pct_below below = pct_tree_below(pct_data_callers(c->d)->tree, caller_of(c));
    struct pct_figures f = {.sum = below.sum};
    pct_figure(c->d, f, c->column->which, out);
}

static void caller_path(const struct pct_cell *c, struct pct_value *out)
{
    pct_path_value(pct_data_callers(c->d)->tree, caller_of(c), out);
}

static void caller_level(const struct pct_cell *c, struct pct_value *out)
{
    out->number = pct_data_callers(c->d)->depth[caller_of(c)];
}

static void caller_label(const struct pct_cell *c, struct pct_value *out)
{
    pct_value_plain(caller_node(c)->label, out);
}

static void caller_picture(const struct pct_table *t, const struct pct_data *d, size_t row,
                           uint64_t *values, bool *present)
{
    const struct pct_tree_rows *c = pct_data_callers(d);
    (void)t;
    pct_tree_ranks(c->tree, c->row[row], PCT_TIME, values, present);
}

static const struct pct_column caller_columns[] = {
    {"path", "path", PCT_TEXT,
     "the MPI function, its caller, and so on outwards, joined by \" > \"", caller_path,
     .labels = true},
    {"level", "level", PCT_COUNT, "frames in it: 0 is the MPI function alone", caller_level},
    {"caller", "caller", PCT_TEXT, "the last of them", caller_label, .labels = true},
    PCT_CALLS_COLUMNS(caller_figure, 0),
    PCT_EXCLUSIVE_COLUMN(caller_figure, 0),
    PCT_SHARE_COLUMN(caller_figure, 0),
    PCT_BYTES_COLUMNS(caller_figure, 0),
};

const struct pct_table pct_callers_table = {
    .name = "callers",
    .doc = "one row for each node of the tree of callers, from the MPI functions outwards",
    .count = count_callers,
    .percent = "mpi_exclusive_percent",
    PCT_COLUMNS(caller_columns),
    .outline = "caller,calls,time_s,mpi_exclusive_percent,bytes_sent,bytes_received",
    .picture = caller_picture,
};
