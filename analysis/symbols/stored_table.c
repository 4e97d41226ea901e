/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Tables that the command stores in a profile: see stored_table.h. Rows are kept with their texts;
 * at the end they are sorted, their strings numbered, and the tables are laid over the profile as
 * those of a profile without ranks: the merge renumbers strings.
 */
#include "analysis/symbols/stored_table.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_COLUMNS = 9 };

struct row {
    struct pct_stored_cell cells[MOST_COLUMNS];
};

struct pct_store {
    const char *name;
    struct pc_profile_column columns[MOST_COLUMNS];
    uint32_t n_keys, n_columns;
    struct row *rows;
    size_t n, room;
    struct pct_pool *pool;
};

/* Texts of all tables. */
struct strings {
    const char **list; /* sorted, each once */
    size_t n, room;
};

const struct pc_profile_table *pct_stored_find(const struct pc_profile *p,
                                               const struct pcollect_table *of)
{
    const struct pc_profile_table *t = pc_profile_table(p, of->name);
    if (!t || t->n_keys != of->n_keys || t->n_columns != (uint32_t)of->n_keys + of->n_values)
        return NULL;
    for (uint32_t k = 0; k < t->n_columns; k++) {
        if (t->columns[k].type != of->columns[k].type ||
            strcmp(t->columns[k].name, of->columns[k].name) != 0)
            return NULL;
    }
    return t;
}

const char *pct_stored_module(const struct pc_profile_module *m, struct pct_pool *pool)
{
    struct pct_buf b = {0};
    pct_buf_bytes(&b, m->build_id, m->build_id_bytes);
    const char *name = pct_pool_intern(pool, b.n ? b.data : m->path);
    pct_buf_free(&b);
    return name;
}

struct pct_store *pct_stores_add(struct pct_stores *all, const struct pcollect_table *of)
{
    struct pct_store *s = pct_alloc(1, sizeof *s);
    *s = (struct pct_store){.name = of->name, .n_keys = of->n_keys, .pool = pct_pool_new()};
    for (; s->n_columns < (uint32_t)of->n_keys + of->n_values; s->n_columns++) {
        const struct pcollect_column *c = &of->columns[s->n_columns];
        s->columns[s->n_columns] = (struct pc_profile_column){
            .name = (char *)c->name, .type = c->type, .combine = c->combine, .unit = c->unit};
    }
    return all->list[all->n++] = s;
}

void pct_stores_free(struct pct_stores *all)
{
    for (size_t i = 0; i < all->n; i++) {
        pct_free(all->list[i]->rows);
        pct_pool_free(all->list[i]->pool);
        pct_free(all->list[i]);
    }
    all->n = 0;
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

/* ---- Order ----------------------------------------------------------------------------------- */

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

static void gather_strings(struct strings *strings, const struct pct_store *s)
{
    for (size_t i = 0; i < s->n; i++)
        for (uint32_t k = 0; k < s->n_columns; k++) {
            if (!is_text(s, k) || !*s->rows[i].cells[k].text)
                continue;
            strings->list =
                pct_grow(strings->list, strings->n, &strings->room, sizeof *strings->list);
            strings->list[strings->n++] = s->rows[i].cells[k].text;
        }
}

static void sort_strings(struct strings *s)
{
    size_t n = 0;
    if (s->n)
        qsort(s->list, s->n, sizeof *s->list, pc_by_text);
    for (size_t i = 0; i < s->n; i++)
        if (!n || strcmp(s->list[n - 1], s->list[i]) != 0)
            s->list[n++] = s->list[i];
    s->n = n;
}

static uint64_t cell_of(const struct pct_store *s, const struct strings *strings, uint32_t column,
                        const struct pct_stored_cell *cell)
{
    if (!is_text(s, column))
        return cell->number;
    if (!*cell->text)
        return 0;
    const char *const *found =
        bsearch(&cell->text, strings->list, strings->n, sizeof *strings->list, pc_by_text);
    return 1 + (uint64_t)(found - strings->list);
}

static struct pc_profile_table make_table(const struct pct_store *s, const struct strings *strings)
{
    struct pc_profile_table t = {.name = (char *)s->name,
                                 .plugin = (char *)"pcollect",
                                 .n_keys = s->n_keys,
                                 .n_columns = s->n_columns,
                                 .columns = (struct pc_profile_column *)s->columns,
                                 .cells = pct_alloc(s->n * s->n_columns, sizeof *t.cells)};
    for (size_t i = 0; i < s->n; i++) {
        if (i && !compare_rows(&s->rows[i - 1], &s->rows[i], (void *)s))
            continue;
        uint64_t *row = t.cells + (size_t)t.n_rows++ * s->n_columns;
        for (uint32_t k = 0; k < s->n_columns; k++)
            row[k] = cell_of(s, strings, k, &s->rows[i].cells[k]);
    }
    return t;
}

static int compare_tables(const void *a, const void *b)
{
    return strcmp(((const struct pc_profile_table *)a)->name,
                  ((const struct pc_profile_table *)b)->name);
}

int pct_stores_put(const struct pct_stores *all, struct pc_profile **p, struct pc_error *error)
{
    struct strings strings = {0};
    struct pc_profile_table tables[PCT_MOST_STORES];
    struct pc_profile_node root = {.parent = PC_NO_INDEX,
                                   .kind = PCOLLECT_NODE_ROOT,
                                   .module = PC_NO_INDEX,
                                   .op = PC_NO_INDEX,
                                   .data = PC_NO_INDEX};
    for (size_t i = 0; i < all->n; i++) {
        struct pct_store *s = all->list[i];
        if (s->n)
            qsort_r(s->rows, s->n, sizeof *s->rows, compare_rows, s);
        gather_strings(&strings, s);
    }
    sort_strings(&strings);
    for (size_t i = 0; i < all->n; i++)
        tables[i] = make_table(all->list[i], &strings);
    qsort(tables, all->n, sizeof *tables, compare_tables);
    struct pc_profile stored = {.exe = (*p)->exe,
                                .mpi = (*p)->mpi,
                                .job = (*p)->job,
                                .job_key = (*p)->job_key,
                                .world_size = (*p)->world_size,
                                .n_nodes = 1,
                                .nodes = &root,
                                .n_strings = (uint32_t)strings.n,
                                .strings = (char **)strings.list,
                                .n_tables = (uint32_t)all->n,
                                .tables = tables};
    int err = pc_profile_overlay(p, &stored, error);
    for (size_t i = 0; i < all->n; i++)
        pct_free(tables[i].cells);
    pct_free(strings.list);
    return err;
}
