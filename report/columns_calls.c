/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The tables of calls by place: call sites, lines, functions, files, communicators, and callers.
 * What they draw from is made when one of their rows is first asked for.
 */
#include "report/calls.h"
#include "report/figures.h"
#include "report/table.h"

#include <stdlib.h>
#include <string.h>

struct pct_by_place {
    struct pct_tree_options options;
    struct pct_call_rows *calls[PCT_N_CALLS_BY];
    struct pct_tree *callers;
    uint32_t *caller_rows; /* nodes of it in the order in which they are rows */
    size_t n_callers;
};

#define COLUMN_GETTER(name)                                                                        \
    static __attribute__((unused)) void name(const struct pct_data *d, size_t row,                 \
                                             struct pct_value *out)

struct pct_by_place *pct_by_place_new(const struct pct_tree_options *options)
{
    struct pct_by_place *b = pct_alloc(1, sizeof *b);
    b->options = *options;
    b->options.callers = true;
    b->options.outline = false;
    return b;
}

void pct_by_place_free(struct pct_by_place *b)
{
    if (!b)
        return;
    for (size_t i = 0; i < PCT_N_CALLS_BY; i++)
        pct_calls_free(b->calls[i]);
    pct_tree_free(b->callers);
    free(b->caller_rows);
    free(b);
}

static const struct pct_call_rows *rows_by(const struct pct_data *d, enum pct_calls_by by)
{
    struct pct_call_rows **calls = &d->by_place->calls[by];
    if (!*calls)
        *calls = pct_calls_new(d->model, d->symbols, d->samples, by);
    return *calls;
}

/* ---- By place ---------------------------------------------------------------------------------
 */

/* The same columns for each kind of rows; not each has all of them. */
#define CALL_GETTERS(kind, by)                                                                     \
    size_t pct_count_##kind(const struct pct_data *d)                                              \
    {                                                                                              \
        return rows_by(d, by)->n;                                                                  \
    }                                                                                              \
    static void kind##_picture(const struct pct_data *d, size_t row, uint64_t *values,             \
                               bool *present)                                                      \
    {                                                                                              \
        pct_calls_ranks(rows_by(d, by), row, values, present);                                     \
    }                                                                                              \
    static const struct pct_call_row *kind##_row(const struct pct_data *d, size_t row)             \
    {                                                                                              \
        return &rows_by(d, by)->row[row];                                                          \
    }                                                                                              \
    static struct pct_figures kind##_figures(const struct pct_data *d, size_t row)                 \
    {                                                                                              \
        const struct pct_call_row *r = kind##_row(d, row);                                         \
        return (struct pct_figures){r->own.sum, r->own.min_ns, r->own.max_ns, r->spread};          \
    }                                                                                              \
    COLUMN_GETTER(kind##_function)                                                                 \
    {                                                                                              \
        pct_value_text(d, kind##_row(d, row)->function, out);                                      \
    }                                                                                              \
    COLUMN_GETTER(kind##_file)                                                                     \
    {                                                                                              \
        pct_value_text(d, kind##_row(d, row)->file, out);                                          \
    }                                                                                              \
    COLUMN_GETTER(kind##_line)                                                                     \
    {                                                                                              \
        out->integer = kind##_row(d, row)->line;                                                   \
        out->none = !out->integer;                                                                 \
    }                                                                                              \
    COLUMN_GETTER(kind##_module)                                                                   \
    {                                                                                              \
        pct_value_text(d, kind##_row(d, row)->module, out);                                        \
    }                                                                                              \
    COLUMN_GETTER(kind##_primitive)                                                                \
    {                                                                                              \
        pct_value_text(d, kind##_row(d, row)->primitive, out);                                     \
    }                                                                                              \
    COLUMN_GETTER(kind##_below)                                                                    \
    {                                                                                              \
        out->number = kind##_row(d, row)->below_ns;                                                \
    }                                                                                              \
    COLUMN_GETTER(kind##_below_percent)                                                            \
    {                                                                                              \
        out->number = pct_text_share(kind##_row(d, row)->below_ns, d->model->context_mpi_ns);      \
    }                                                                                              \
    COLUMN_GETTER(kind##_samples)                                                                  \
    {                                                                                              \
        out->number = kind##_row(d, row)->self.samples;                                            \
    }                                                                                              \
    COLUMN_GETTER(kind##_self)                                                                     \
    {                                                                                              \
        out->number = kind##_row(d, row)->self.ns;                                                 \
    }                                                                                              \
    COLUMN_GETTER(kind##_total)                                                                    \
    {                                                                                              \
        out->number = kind##_row(d, row)->total.ns;                                                \
    }                                                                                              \
    PCT_FIGURE_GETTERS(kind)

CALL_GETTERS(call_sites, PCT_BY_SITE)
CALL_GETTERS(line_calls, PCT_BY_LINE)
CALL_GETTERS(function_calls, PCT_BY_FUNCTION)
CALL_GETTERS(source_calls, PCT_BY_FILE)
CALL_GETTERS(communicator_calls, PCT_BY_COMMUNICATOR)

#define PLACE_COLUMNS(kind)                                                                        \
    {"file", "file", PCT_TEXT, "source file; empty if unknown", kind##_file},                      \
    {                                                                                              \
        "module", "module", PCT_TEXT, "program or library", kind##_module                          \
    }
#define LINE_COLUMN(kind)                                                                          \
    {                                                                                              \
        "line", "line", PCT_INTEGER, "line; empty if unknown", kind##_line                         \
    }
#define FUNCTION_COLUMN(kind)                                                                      \
    {                                                                                              \
        "function", "function", PCT_TEXT, "function; empty if unknown", kind##_function            \
    }
#define PRIMITIVE_COLUMN(kind)                                                                     \
    {                                                                                              \
        "primitive", "primitive", PCT_TEXT, "name of the MPI function", kind##_primitive           \
    }
#define BELOW_COLUMNS(kind)                                                                        \
    {"below_s", "below", PCT_NS, "time in MPI there and in everything that was called from there", \
     kind##_below},                                                                                \
        {"below_percent", "below", PCT_PERCENT, "below_s as a share of all time in MPI",           \
         kind##_below_percent},                                                                    \
        {"samples", "samples", PCT_COUNT, "samples of computation right there", kind##_samples},   \
        {"self_s", "self", PCT_NS, "CPU time that they stand for", kind##_self},                   \
    {                                                                                              \
        "total_s", "total", PCT_NS, "the same with everything that was called from there",         \
            kind##_total                                                                           \
    }

const struct pct_column pct_call_site_columns[PCT_N_CALL_SITE_COLUMNS] = {
    FUNCTION_COLUMN(call_sites),      PLACE_COLUMNS(call_sites),
    LINE_COLUMN(call_sites),          PRIMITIVE_COLUMN(call_sites),
    PCT_SUM_COLUMNS(call_sites),      PCT_EXCLUSIVE_COLUMN(call_sites),
    PCT_DURATION_COLUMNS(call_sites), PCT_SHARE_COLUMN(call_sites),
    PCT_SPREAD_COLUMNS(call_sites),
};

const struct pct_column pct_line_call_columns[PCT_N_LINE_CALL_COLUMNS] = {
    PLACE_COLUMNS(line_calls),   LINE_COLUMN(line_calls),          FUNCTION_COLUMN(line_calls),
    PCT_SUM_COLUMNS(line_calls), PCT_EXCLUSIVE_COLUMN(line_calls), BELOW_COLUMNS(line_calls),
};

const struct pct_column pct_function_call_columns[PCT_N_FUNCTION_CALL_COLUMNS] = {
    FUNCTION_COLUMN(function_calls), PLACE_COLUMNS(function_calls),
    PCT_SUM_COLUMNS(function_calls), PCT_EXCLUSIVE_COLUMN(function_calls),
    BELOW_COLUMNS(function_calls),
};

const struct pct_column pct_source_call_columns[PCT_N_SOURCE_CALL_COLUMNS] = {
    PLACE_COLUMNS(source_calls),
    PCT_SUM_COLUMNS(source_calls),
    PCT_EXCLUSIVE_COLUMN(source_calls),
    BELOW_COLUMNS(source_calls),
};

/* ---- Communicators ----------------------------------------------------------------------------
 */

COLUMN_GETTER(communicator_id)
{
    struct pct_buf b = {0};
    uint64_t id = communicator_calls_row(d, row)->domain;
    pct_buf_format(&b, "%016llx", (unsigned long long)id);
    out->none = !id;
    out->text = pct_pool_intern(d->pool, b.data);
    pct_buf_free(&b);
}

COLUMN_GETTER(communicator_name)
{
    const struct pc_profile_table *t = pc_profile_table(d->profile, "communicators");
    uint64_t id = communicator_calls_row(d, row)->domain;
    uint32_t name = 0;
    while (t && name < t->n_columns && strcmp(t->columns[name].name, "name") != 0)
        name++;
    for (uint32_t i = 0; t && name < t->n_columns && i < t->n_rows; i++) {
        const uint64_t *cells = t->cells + (size_t)i * t->n_columns;
        if (cells[0] == id && id && t->columns[name].type == PCOLLECT_COLUMN_STRING)
            pct_value_text(d, pc_profile_string(d->profile, cells[name]), out);
    }
}

const struct pct_column pct_communicator_call_columns[PCT_N_COMMUNICATOR_CALL_COLUMNS] = {
    {"communicator", "communicator", PCT_TEXT,
     "id of the communicator; empty for calls without one, and without the plugin domain",
     communicator_id},
    {"name", "name", PCT_TEXT, "its name; empty if it has none", communicator_name},
    PRIMITIVE_COLUMN(communicator_calls),
    PCT_SUM_COLUMNS(communicator_calls),
    PCT_DURATION_COLUMNS(communicator_calls),
    PCT_SPREAD_COLUMNS(communicator_calls),
};

/* ---- Callers ----------------------------------------------------------------------------------
 */

size_t pct_count_callers(const struct pct_data *d)
{
    struct pct_by_place *b = d->by_place;
    if (!b->callers) {
        b->callers = pct_tree_new(d->model, d->symbols, &b->options);
        pct_tree_sort(b->callers, PCT_TIME);
        b->caller_rows = pct_alloc(b->callers->n, sizeof *b->caller_rows);
        uint32_t i = pct_tree_after(b->callers, 0, 0, true);
        for (; i != PC_NO_INDEX; i = pct_tree_after(b->callers, 0, i, true))
            b->caller_rows[b->n_callers++] = i;
    }
    return b->n_callers;
}

static const struct pct_node *caller_of(const struct pct_data *d, size_t row)
{
    return &d->by_place->callers->nodes[d->by_place->caller_rows[row]];
}

static void caller_picture(const struct pct_data *d, size_t row, uint64_t *values, bool *present)
{
    pct_tree_ranks(d->by_place->callers, d->by_place->caller_rows[row], values, present);
}

static struct pct_figures caller_figures(const struct pct_data *d, size_t row)
{
    return (struct pct_figures){.sum = caller_of(d, row)->inclusive};
}

PCT_FIGURE_GETTERS(caller)

COLUMN_GETTER(caller_path)
{
    struct pct_buf b = {0};
    pct_tree_path_to(d->by_place->callers, d->by_place->caller_rows[row], &b);
    out->text = pct_pool_intern(d->pool, b.data);
    pct_buf_free(&b);
}

COLUMN_GETTER(caller_level)
{
    out->number = caller_of(d, row)->depth;
}

COLUMN_GETTER(caller_label)
{
    out->text = caller_of(d, row)->label;
}

const struct pct_column pct_caller_columns[PCT_N_CALLER_COLUMNS] = {
    {"path", "path", PCT_TEXT,
     "the MPI function, what called it, and so on outwards, joined by \" > \"", caller_path},
    {"level", "level", PCT_COUNT, "frames in it: 0 is the MPI function alone", caller_level},
    {"caller", "caller", PCT_TEXT, "the last of them", caller_label},
    PCT_SUM_COLUMNS(caller),
    PCT_EXCLUSIVE_COLUMN(caller),
    PCT_SHARE_COLUMN(caller),
};

/* ---- Pictures ---------------------------------------------------------------------------------
 */

static void primitive_picture(const struct pct_data *d, size_t row, uint64_t *values, bool *present)
{
    for (uint32_t i = 0; i < d->profile->n_nodes; i++)
        if (d->profile->nodes[pct_model_call(d->profile, i)].op == row)
            pct_model_add_ranks(d->model, i, PCT_TIME, values, present);
}

static void context_picture(const struct pct_data *d, size_t row, uint64_t *values, bool *present)
{
    pct_tree_ranks(d->tree, d->contexts[row], values, present);
}

pct_picture_fn *pct_table_picture(const struct pct_table *t)
{
    static const struct {
        const char *table;
        pct_picture_fn *picture;
    } pictures[] = {
        {"primitives", primitive_picture},  {"contexts", context_picture},
        {"call_sites", call_sites_picture}, {"lines", line_calls_picture},
        {"callers", caller_picture},        {"function_calls", function_calls_picture},
        {"sources", source_calls_picture},  {"communicator_calls", communicator_calls_picture},
    };
    for (size_t i = 0; i < PC_ARRAY_LEN(pictures); i++)
        if (!strcmp(pictures[i].table, t->name))
            return pictures[i].picture;
    return NULL;
}
