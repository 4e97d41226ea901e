/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Symbols inside a profile, so that it can be read where the program is not.
 *
 * Data structure: the table `symbols` of the profile, one row for each function in the chain at
 * each address that the report asks for: module (its build-id, or its path without one), offset,
 * depth (0 is the outermost); function, file, line, inlined. An address of which nothing is known
 * has a row without function. Like any table it survives merging.
 */
#include "report/symbols_private.h"

#include "include/pcollect/plugin.h"

#include <stdlib.h>
#include <string.h>

#define TABLE "symbols"

enum { MODULE, OFFSET, DEPTH, FUNCTION, SOURCE, LINE, INLINED, N_COLUMNS, N_KEYS = FUNCTION };

static const struct pc_profile_column columns[N_COLUMNS] = {
    [MODULE] = {(char *)"module", PCOLLECT_COLUMN_STRING, 0, PCOLLECT_UNIT_COUNT},
    [OFFSET] = {(char *)"offset", PCOLLECT_COLUMN_NUMBER, 0, PCOLLECT_UNIT_COUNT},
    [DEPTH] = {(char *)"depth", PCOLLECT_COLUMN_NUMBER, 0, PCOLLECT_UNIT_COUNT},
    [FUNCTION] = {(char *)"function", PCOLLECT_COLUMN_STRING, PCOLLECT_MAX, PCOLLECT_UNIT_COUNT},
    [SOURCE] = {(char *)"file", PCOLLECT_COLUMN_STRING, PCOLLECT_MAX, PCOLLECT_UNIT_COUNT},
    [LINE] = {(char *)"line", PCOLLECT_COLUMN_NUMBER, PCOLLECT_MAX, PCOLLECT_UNIT_COUNT},
    [INLINED] = {(char *)"inlined", PCOLLECT_COLUMN_NUMBER, PCOLLECT_MAX, PCOLLECT_UNIT_COUNT},
};

static const char *name_module(const struct pc_profile_module *m, struct pct_pool *pool)
{
    struct pct_buf b = {0};
    for (uint32_t i = 0; i < m->build_id_bytes; i++)
        pct_buf_format(&b, "%02x", m->build_id[i]);
    const char *name = pct_pool_intern(pool, b.n ? b.data : m->path);
    pct_buf_free(&b);
    return name;
}

/* ---- Reading ----------------------------------------------------------------------------------
 */

static bool is_ours(const struct pc_profile_table *t)
{
    if (!t || t->n_keys != N_KEYS || t->n_columns != N_COLUMNS)
        return false;
    for (unsigned k = 0; k < N_COLUMNS; k++) {
        if (t->columns[k].type != columns[k].type || strcmp(t->columns[k].name, columns[k].name))
            return false;
    }
    return true;
}

static uint32_t find_module(const struct pc_profile *p, const char *name, struct pct_pool *pool)
{
    for (uint32_t i = 0; i < p->n_modules; i++) {
        if (!strcmp(name_module(&p->modules[i], pool), name))
            return i;
    }
    return PC_NO_INDEX;
}

static struct pct_frame read_frame(const struct pc_profile *p, const uint64_t *row)
{
    return (struct pct_frame){.function =
                                  row[FUNCTION] ? pc_profile_string(p, row[FUNCTION]) : NULL,
                              .file = row[SOURCE] ? pc_profile_string(p, row[SOURCE]) : NULL,
                              .line = (uint32_t)row[LINE],
                              .inlined = row[INLINED] != 0};
}

void pct_stored_load(struct pct_symbols *s, const struct pc_profile *p, struct pct_pool *pool,
                     pct_stored_fn take)
{
    const struct pc_profile_table *t = pc_profile_table(p, TABLE);
    uint64_t module_cell = 0;
    uint32_t module = PC_NO_INDEX;
    for (uint32_t i = 0, n; is_ours(t) && i < t->n_rows; i += n) {
        const uint64_t *row = t->cells + (size_t)i * N_COLUMNS;
        for (n = 1; i + n < t->n_rows; n++) {
            const uint64_t *next = row + (size_t)n * N_COLUMNS;
            if (next[MODULE] != row[MODULE] || next[OFFSET] != row[OFFSET])
                break;
        }
        if (row[MODULE] != module_cell || !i)
            module = find_module(p, pc_profile_string(p, row[MODULE]), pool);
        module_cell = row[MODULE];
        if (module == PC_NO_INDEX)
            continue;
        struct pct_frame *frames = pct_alloc(n, sizeof *frames);
        for (uint32_t k = 0; k < n; k++)
            frames[k] = read_frame(p, row + (size_t)k * N_COLUMNS);
        take(s, module, row[OFFSET], (struct pct_place){frames, n});
    }
}

/* ---- Writing ----------------------------------------------------------------------------------
 */

/* The table with texts in the place of string numbers; later, sorted and numbered. */
struct writer {
    const struct pc_profile *profile;
    struct pct_pool *pool;
    const char **names; /* of modules */
    struct line {
        const char *text[3]; /* module, function, file; NULL: none */
        uint64_t offset;
        uint32_t depth, line;
        bool inlined;
    } * lines;
    size_t n, room;
    const char **strings; /* sorted, each once */
    size_t n_strings, strings_room;
};

static void add_place(void *arg, uint32_t module, uint64_t offset, struct pct_place place)
{
    struct writer *w = arg;
    for (uint32_t k = 0; k < place.n_frames; k++) {
        const struct pct_frame *f = &place.frames[k];
        w->lines = pct_grow(w->lines, w->n, &w->room, sizeof *w->lines);
        w->lines[w->n++] =
            (struct line){{w->names[module], f->function, f->file}, offset, k, f->line, f->inlined};
    }
}

static int compare_lines(const void *a, const void *b)
{
    const struct line *x = a, *y = b;
    int c = strcmp(x->text[0], y->text[0]);
    if (c)
        return c;
    if (x->offset != y->offset)
        return x->offset < y->offset ? -1 : 1;
    return x->depth < y->depth ? -1 : x->depth > y->depth;
}

static int compare_strings(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void gather_strings(struct writer *w)
{
    size_t n = 0;
    for (size_t i = 0; i < w->n; i++) {
        for (unsigned k = 0; k < 3; k++) {
            const char *text = w->lines[i].text[k];
            if (!text || !*text)
                continue;
            w->strings = pct_grow(w->strings, n, &w->strings_room, sizeof *w->strings);
            w->strings[n++] = text;
        }
    }
    if (n)
        qsort(w->strings, n, sizeof *w->strings, compare_strings);
    for (size_t i = 0; i < n; i++) {
        if (!w->n_strings || strcmp(w->strings[w->n_strings - 1], w->strings[i]) != 0)
            w->strings[w->n_strings++] = w->strings[i];
    }
}

static uint64_t cell_of(const struct writer *w, const char *text)
{
    if (!text || !*text)
        return 0;
    const char *const *found =
        bsearch(&text, w->strings, w->n_strings, sizeof *w->strings, compare_strings);
    return 1 + (uint64_t)(found - w->strings);
}

/* Rows of equal keys (two modules that share a build-id) are taken once. */
static uint32_t fill_cells(const struct writer *w, uint64_t *cells)
{
    uint32_t n = 0;
    for (size_t i = 0; i < w->n; i++) {
        const struct line *l = &w->lines[i];
        if (i && !compare_lines(l - 1, l))
            continue;
        uint64_t *row = cells + (size_t)n++ * N_COLUMNS;
        row[MODULE] = cell_of(w, l->text[0]);
        row[OFFSET] = l->offset;
        row[DEPTH] = l->depth;
        row[FUNCTION] = cell_of(w, l->text[1]);
        row[SOURCE] = cell_of(w, l->text[2]);
        row[LINE] = l->line;
        row[INLINED] = l->inlined;
    }
    return n;
}

/* A profile of no rank that has nothing but the table, merged into the other: numbers of strings
 * are the merge's affair. */
static int merge_table(const struct writer *w, struct pc_profile **out, struct pc_error *error)
{
    uint64_t *cells = pct_alloc(w->n * N_COLUMNS, sizeof *cells);
    struct pc_profile_table table = {.name = (char *)TABLE,
                                     .plugin = (char *)"pcollect",
                                     .n_keys = N_KEYS,
                                     .n_columns = N_COLUMNS,
                                     .columns = (struct pc_profile_column *)columns,
                                     .cells = cells};
    struct pc_profile_node root = {.parent = PC_NO_INDEX,
                                   .kind = PCOLLECT_NODE_ROOT,
                                   .module = PC_NO_INDEX,
                                   .op = PC_NO_INDEX,
                                   .data = PC_NO_INDEX};
    struct pc_profile stored = {.exe = w->profile->exe,
                                .mpi = w->profile->mpi,
                                .job = w->profile->job,
                                .job_key = w->profile->job_key,
                                .world_size = w->profile->world_size,
                                .n_nodes = 1,
                                .nodes = &root,
                                .n_strings = (uint32_t)w->n_strings,
                                .strings = (char **)w->strings,
                                .n_tables = 1,
                                .tables = &table};
    table.n_rows = fill_cells(w, cells);
    int err = pc_profile_merge(w->profile, &stored, out, error);
    free(cells);
    return err;
}

int pct_symbols_embed(const struct pct_symbols *s, const struct pc_profile *p,
                      struct pc_profile **out, struct pc_error *error)
{
    struct writer w = {.profile = p, .pool = pct_pool_new()};
    w.names = pct_alloc(p->n_modules, sizeof *w.names);
    for (uint32_t i = 0; i < p->n_modules; i++)
        w.names[i] = name_module(&p->modules[i], w.pool);
    pct_symbols_each(s, add_place, &w);
    if (w.n)
        qsort(w.lines, w.n, sizeof *w.lines, compare_lines);
    gather_strings(&w);
    int err = merge_table(&w, out, error);
    free(w.names);
    free(w.lines);
    free(w.strings);
    pct_pool_free(w.pool);
    return err;
}
