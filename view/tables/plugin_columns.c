/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Tables of plugins as tables of the report, with a column for each of theirs. A column of nodes
 * has their paths; after all others come one with the ids of their contexts, by which rows are
 * joined with those of other tables, and one with their numbers in the table frames.
 */
#include "view/tables/figures.h"

#include <string.h>

/* Nodes and strings are texts, ids of communicators are hexadecimal: as numbers they would be too
 * large for readers of JSON. */
static enum pct_type type_of(const struct pc_profile_column *c)
{
    switch (c->type) {
    case PCOLLECT_COLUMN_RANK:
        return PCT_INTEGER;
    case PCOLLECT_COLUMN_NUMBER:
        return c->unit == PCOLLECT_UNIT_NS      ? PCT_NS
               : c->unit == PCOLLECT_UNIT_BYTES ? PCT_BYTES
                                                : PCT_COUNT;
    default:
        return PCT_TEXT;
    }
}

static void get_cell(const struct pct_cell *at, struct pct_value *out)
{
    const struct pct_data *d = at->d;
    const struct pc_profile_table *t = d->rows_of;
    const struct pc_profile_column *c = &t->columns[at->column->which];
    uint64_t cell = pc_table_cell(t, (uint32_t)at->row, at->column->which);
    struct pct_buf text = {0};
    out->number = type_of(c) == PCT_INTEGER ? 0 : cell;
    out->none = c->type == PCOLLECT_COLUMN_NUMBER ? c->combine == PCOLLECT_MIN && !cell : !cell;
    if (c->type == PCOLLECT_COLUMN_RANK) {
        out->integer = (int64_t)cell;
        out->none = out->integer < 0;
    } else if (c->type == PCOLLECT_COLUMN_DOMAIN && cell) {
        pct_buf_hex(&text, cell);
    } else if (c->type == PCOLLECT_COLUMN_STRING && cell) {
        pct_value_text(d, pc_profile_string(d->profile, cell), out);
    } else if (c->type == PCOLLECT_COLUMN_NODE && cell) {
        pct_path_value(pct_data_tree(d), pct_data_tree(d)->shown[cell], out);
        out->none = false;
    }
    if (text.data)
        pct_value_plain(pct_pool_intern(d->pool, text.data), out);
    pct_buf_free(&text);
}

/* Id of the context of a node, as in the tables of contexts. */
static void get_context(const struct pct_cell *at, struct pct_value *out)
{
    const struct pct_tree *tree = pct_data_tree(at->d);
    uint64_t cell = pc_table_cell(at->d->rows_of, (uint32_t)at->row, at->column->which);
    pct_id_value(at->d, cell ? tree->nodes[tree->shown[cell]].context : 0, out);
}

/* Number of a node in the table frames. */
static void get_frame(const struct pct_cell *at, struct pct_value *out)
{
    uint64_t cell = pc_table_cell(at->d->rows_of, (uint32_t)at->row, at->column->which);
    pct_frame_value(cell ? pct_data_tree(at->d)->shown[cell] : 0, out);
}

static size_t count_rows(const struct pct_data *d)
{
    return d->rows_of->n_rows;
}

/* Escapes a name, which comes from the file. */
static const char *escape(const struct pct_data *d, const char *name)
{
    struct pct_buf text = {0};
    pct_text_escape(&text, name, PCT_ESCAPE_NAME);
    const char *kept = pct_pool_intern(d->pool, text.data);
    pct_buf_free(&text);
    return kept;
}

/* The key that was added for phases, which is shown as the last column, so that the plugin's
 * columns keep their places. n_columns if there is none. */
static uint32_t find_phase(const struct pc_profile_table *t)
{
    for (uint32_t i = 0; i < t->n_keys; i++)
        if (!strcmp(t->columns[i].name, "phase") && t->columns[i].type == PCOLLECT_COLUMN_NUMBER)
            return i;
    return t->n_columns;
}

_Static_assert(3 * (PCOLLECT_MAX_KEYS + PCOLLECT_MAX_VALUES) <= PCT_MAX_ROWS_COLUMNS,
               "a place for each column, and for an id and a number beside it");

/* Adds a column for each of the n columns of nodes, named after it. */
static void add_beside(struct pct_rows_table *out, size_t n, const char *suffix,
                       const struct pct_column *like)
{
    for (size_t k = 0; k < n; k++) {
        struct pct_buf name = {0};
        if (!out->columns[k].nodes)
            continue;
        pct_buf_format(&name, "%s%s", out->columns[k].name, suffix);
        struct pct_column *c = &out->columns[out->table.n_columns++];
        *c = *like;
        c->name = c->head = pct_pool_intern(out->data.pool, name.data);
        c->which = out->columns[k].which;
        pct_buf_free(&name);
    }
}

static void add_places(struct pct_rows_table *out)
{
    static const struct pct_column context = {
        .type = PCT_TEXT,
        .doc = "id of the context, the same in all tables and profiles",
        .get = get_context};
    static const struct pct_column frame = {.type = PCT_INTEGER,
                                            .doc = "its number in the table frames",
                                            .get = get_frame,
                                            .asked = true};
    size_t n = out->table.n_columns;
    add_beside(out, n, "_id", &context);
    add_beside(out, n, "_frame", &frame);
}

static const char *doc_of(const struct pct_data *d, const struct pc_profile_table *from, uint32_t i,
                          const struct pcollect_table *described)
{
    const char *doc = pct_described_column(described, from->columns[i].name);
    if (!pc_column_has_steps(from, i, from->rounded))
        return doc;
    struct pct_buf text = {0};
    pct_buf_format(&text, "%s%srounded to within 0.8 %% of what was measured", doc,
                   *doc ? "; " : "");
    const char *kept = pct_pool_intern(d->pool, text.data);
    pct_buf_free(&text);
    return kept;
}

void pct_rows_table(struct pct_rows_table *out, const struct pct_data *d,
                    const struct pc_profile_table *from)
{
    const struct pcollect_table *described = pct_described(from->name);
    out->data = *d;
    out->data.kind = PCT_DATA_ROWS;
    out->data.rows_of = from;
    out->table = (struct pct_table){.name = escape(d, from->name),
                                    .doc = described ? described->doc : "",
                                    .count = count_rows,
                                    .columns = out->columns,
                                    .n_columns = from->n_columns,
                                    .n_shown = from->n_columns};
    uint32_t phase = find_phase(from);
    for (uint32_t k = 0; k < from->n_columns; k++) {
        uint32_t i = k < phase ? k : k + 1 < from->n_columns ? k + 1 : phase;
        const char *name = escape(d, from->columns[i].name);
        out->columns[k] =
            (struct pct_column){.name = name,
                                .head = name,
                                .type = type_of(&from->columns[i]),
                                .doc = doc_of(d, from, i, described),
                                .get = get_cell,
                                .nodes = from->columns[i].type == PCOLLECT_COLUMN_NODE,
                                .which = (uint16_t)i};
    }
    add_places(out);
}

void pct_rows_table_described(struct pct_rows_table *out, const struct pct_data *d,
                              const struct pcollect_table *from)
{
    struct pc_profile_column columns[PCOLLECT_MAX_KEYS + PCOLLECT_MAX_VALUES + 1];
    struct pc_profile_table t = {.name = (char *)(uintptr_t)from->name, .columns = columns};
    for (unsigned i = 0; i < from->n_keys + from->n_values; i++)
        columns[t.n_columns++] =
            (struct pc_profile_column){.name = (char *)(uintptr_t)from->columns[i].name,
                                       .type = from->columns[i].type,
                                       .unit = from->columns[i].unit};
    if (from->flags & PCOLLECT_TABLE_BY_PHASE)
        columns[t.n_columns++] = (struct pc_profile_column){.name = (char *)(uintptr_t) "phase",
                                                            .type = PCOLLECT_COLUMN_NUMBER};
    pct_rows_table(out, d, &t);
    out->data.rows_of = NULL;
}
