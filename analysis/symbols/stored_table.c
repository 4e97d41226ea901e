/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Tables that the command stores in a profile: see stored_table.h. Rows are kept with their texts;
 * at the end they are sorted, their strings numbered, and the table is merged into the profile as
 * that of a profile without ranks: the merge renumbers its strings.
 */
#include "analysis/symbols/stored_table.h"

#include "include/pcollect/plugin.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_COLUMNS = 9 };

struct row {
    struct pct_stored_cell cells[MOST_COLUMNS];
};

struct pct_store {
    const char *name;
    const struct pc_profile_column *columns;
    uint32_t n_keys, n_columns;
    struct row *rows;
    size_t n, room;
    const char **strings; /* sorted, each once */
    size_t n_strings;
    struct pct_pool *pool;
};

const struct pc_profile_table *pct_stored_find(const struct pc_profile *p, const char *name,
                                               const struct pc_profile_column *columns,
                                               uint32_t n_keys, uint32_t n_columns)
{
    const struct pc_profile_table *t = pc_profile_table(p, name);
    if (!t || t->n_keys != n_keys || t->n_columns != n_columns)
        return NULL;
    for (uint32_t k = 0; k < n_columns; k++) {
        if (t->columns[k].type != columns[k].type || strcmp(t->columns[k].name, columns[k].name))
            return NULL;
    }
    return t;
}

const char *pct_stored_module(const struct pc_profile_module *m, struct pct_pool *pool)
{
    struct pct_buf b = {0};
    for (uint32_t i = 0; i < m->build_id_bytes; i++)
        pct_buf_format(&b, "%02x", m->build_id[i]);
    const char *name = pct_pool_intern(pool, b.n ? b.data : m->path);
    pct_buf_free(&b);
    return name;
}

struct pct_store *pct_store_new(const char *name, const struct pc_profile_column *columns,
                                uint32_t n_keys, uint32_t n_columns)
{
    struct pct_store *s = pct_alloc(1, sizeof *s);
    *s = (struct pct_store){.name = name,
                            .columns = columns,
                            .n_keys = n_keys,
                            .n_columns = n_columns,
                            .pool = pct_pool_new()};
    return s;
}

void pct_store_free(struct pct_store *s)
{
    pct_free(s->rows);
    pct_free(s->strings);
    pct_pool_free(s->pool);
    pct_free(s);
}

static bool is_text(const struct pct_store *s, uint32_t column)
{
    return s->columns[column].type == PCOLLECT_COLUMN_STRING;
}

void pct_store_row(struct pct_store *s, const struct pct_stored_cell *cells)
{
    s->rows = pct_grow(s->rows, s->n, &s->room, sizeof *s->rows);
    struct row *row = &s->rows[s->n++];
    for (uint32_t k = 0; k < s->n_columns; k++) {
        row->cells[k] = cells[k];
        if (is_text(s, k))
            row->cells[k].text = pct_pool_intern(s->pool, cells[k].text ? cells[k].text : "");
    }
}

/* ---- Order ------------------------------------------------------------------------------------
 */

static int compare_rows(const void *a, const void *b, void *arg)
{
    const struct pct_store *s = arg;
    const struct row *x = a, *y = b;
    for (uint32_t k = 0; k < s->n_keys; k++) {
        const struct pct_stored_cell *c = &x->cells[k], *d = &y->cells[k];
        int order = is_text(s, k) ? strcmp(c->text, d->text)
                                  : (c->number > d->number) - (c->number < d->number);
        if (order)
            return order;
    }
    return 0;
}

static int compare_strings(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void gather_strings(struct pct_store *s)
{
    size_t n = 0, room = 0;
    for (size_t i = 0; i < s->n; i++) {
        for (uint32_t k = 0; k < s->n_columns; k++) {
            if (!is_text(s, k) || !*s->rows[i].cells[k].text)
                continue;
            s->strings = pct_grow(s->strings, n, &room, sizeof *s->strings);
            s->strings[n++] = s->rows[i].cells[k].text;
        }
    }
    if (n)
        qsort(s->strings, n, sizeof *s->strings, compare_strings);
    for (size_t i = 0; i < n; i++) {
        if (!s->n_strings || strcmp(s->strings[s->n_strings - 1], s->strings[i]) != 0)
            s->strings[s->n_strings++] = s->strings[i];
    }
}

static uint64_t cell_of(const struct pct_store *s, uint32_t column,
                        const struct pct_stored_cell *cell)
{
    if (!is_text(s, column))
        return cell->number;
    if (!*cell->text)
        return 0;
    const char *const *found =
        bsearch(&cell->text, s->strings, s->n_strings, sizeof *s->strings, compare_strings);
    return 1 + (uint64_t)(found - s->strings);
}

static uint32_t fill_cells(struct pct_store *s, uint64_t *cells)
{
    uint32_t n = 0;
    for (size_t i = 0; i < s->n; i++) {
        if (i && !compare_rows(&s->rows[i - 1], &s->rows[i], s))
            continue;
        uint64_t *row = cells + (size_t)n++ * s->n_columns;
        for (uint32_t k = 0; k < s->n_columns; k++)
            row[k] = cell_of(s, k, &s->rows[i].cells[k]);
    }
    return n;
}

int pct_store_merge(struct pct_store *s, const struct pc_profile *p, struct pc_profile **out,
                    struct pc_error *error)
{
    uint64_t *cells = pct_alloc(s->n * s->n_columns, sizeof *cells);
    struct pc_profile_table table = {.name = (char *)s->name,
                                     .plugin = (char *)"pcollect",
                                     .n_keys = s->n_keys,
                                     .n_columns = s->n_columns,
                                     .columns = (struct pc_profile_column *)s->columns,
                                     .cells = cells};
    struct pc_profile_node root = {.parent = PC_NO_INDEX,
                                   .kind = PCOLLECT_NODE_ROOT,
                                   .module = PC_NO_INDEX,
                                   .op = PC_NO_INDEX,
                                   .data = PC_NO_INDEX};
    if (s->n)
        qsort_r(s->rows, s->n, sizeof *s->rows, compare_rows, s);
    gather_strings(s);
    table.n_rows = fill_cells(s, cells);
    struct pc_profile stored = {.exe = p->exe,
                                .mpi = p->mpi,
                                .job = p->job,
                                .job_key = p->job_key,
                                .world_size = p->world_size,
                                .n_nodes = 1,
                                .nodes = &root,
                                .n_strings = (uint32_t)s->n_strings,
                                .strings = (char **)s->strings,
                                .n_tables = 1,
                                .tables = &table};
    int err = pc_profile_merge(p, &stored, out, error);
    pct_free(cells);
    return err;
}
