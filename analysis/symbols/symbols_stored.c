/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Symbols inside a profile, so that it can be read where the program is not.
 *
 * Data structure: the table `symbols` of the profile, one row for each function in the chain at
 * each address that the report needs: module (its build-id, or its path without one), offset, depth
 * (0 is the outermost); function, file, line, inlined. An address of which nothing is known has a
 * row without function. The table `tail_calls` has the same columns for the frames that tail calls
 * removed between an address and the function that its call reached: callee is a module with an
 * offset, or an MPI function. The table `function_files` has the keys of `symbols` and the file
 * that declares the function, where its line is of another file; the table `function_begins` where
 * a function begins that no symbol names. Like other tables, all survive merging.
 */
#include "analysis/symbols/symbols_private.h"

#include "analysis/symbols/stored_table.h"

#include <string.h>

#define KEY(name, doc, type)                                                                       \
    {                                                                                              \
        name, doc, PCOLLECT_COLUMN_##type, 0, PCOLLECT_UNIT_COUNT, 0                               \
    }
#define VALUE(name, doc, type)                                                                     \
    {                                                                                              \
        name, doc, PCOLLECT_COLUMN_##type, PCOLLECT_MAX, PCOLLECT_UNIT_COUNT, 0                    \
    }
#define KEY_MODULE                                                                                 \
    KEY("module", "build-id of the program or library, or its path without one", STRING)
#define KEY_OFFSET KEY("offset", "address less the load address of the module", NUMBER)
#define KEY_DEPTH KEY("depth", "0 for the outermost function at the address", NUMBER)

/* Columns of a frame, behind the keys. */
enum { FUNCTION, SOURCE, LINE, INLINED, N_OF_FRAME };

#define COLUMNS_OF_FRAME                                                                           \
    VALUE("function", "its name", STRING), VALUE("file", "its source file", STRING),               \
        VALUE("line", "line in the file; 0: not known", NUMBER),                                   \
        VALUE("inlined", "1: the compiler inlined it into the one before", NUMBER)

enum { MODULE, OFFSET, DEPTH, N_KEYS, N_COLUMNS = N_KEYS + N_OF_FRAME };

static const struct pcollect_column columns[N_COLUMNS] = {KEY_MODULE, KEY_OFFSET, KEY_DEPTH,
                                                          COLUMNS_OF_FRAME};
const struct pcollect_table pct_symbols_table = {
    .name = "symbols",
    .doc = "functions at addresses: stored by pcollect embed, or of Python",
    .columns = columns,
    .n_keys = N_KEYS,
    .n_values = N_OF_FRAME};

enum {
    TAIL_CALLEE = DEPTH,
    TAIL_CALLEE_OFFSET,
    TAIL_DEPTH,
    N_TAIL_KEYS,
    N_TAIL_COLUMNS = N_TAIL_KEYS + N_OF_FRAME
};

static const struct pcollect_column tail_columns[N_TAIL_COLUMNS] = {
    KEY_MODULE,
    KEY_OFFSET,
    KEY("callee", "module of the function that the call reached, or an MPI function", STRING),
    KEY("callee_offset", "an address of that function in its module", NUMBER),
    KEY("depth", "0 for the outermost of the functions that tail calls removed", NUMBER),
    COLUMNS_OF_FRAME};
const struct pcollect_table pct_tail_calls_table = {
    .name = "tail_calls",
    .doc = "functions that had left by a tail call before the callee ran, stored by pcollect embed",
    .columns = tail_columns,
    .n_keys = N_TAIL_KEYS,
    .n_values = N_OF_FRAME};

/* The column of a table beside `symbols`, behind the same keys. */
enum { BESIDE = N_KEYS, N_BESIDE_COLUMNS };

static const struct pcollect_column home_columns[N_BESIDE_COLUMNS] = {
    KEY_MODULE, KEY_OFFSET, KEY_DEPTH, VALUE("file", "that declares it", STRING)};
const struct pcollect_table pct_function_files_table = {
    .name = "function_files",
    .doc = "files that declare functions of symbols whose line is of another file",
    .columns = home_columns,
    .n_keys = N_KEYS,
    .n_values = N_BESIDE_COLUMNS - N_KEYS};

static const struct pcollect_column begin_columns[N_BESIDE_COLUMNS] = {
    KEY_MODULE, KEY_OFFSET, KEY_DEPTH,
    VALUE("begin", "address of its first byte in the module", NUMBER)};
const struct pcollect_table pct_function_begins_table = {
    .name = "function_begins",
    .doc = "where functions of symbols begin that no symbol of their file names",
    .columns = begin_columns,
    .n_keys = N_KEYS,
    .n_values = N_BESIDE_COLUMNS - N_KEYS};

/* ---- Reading --------------------------------------------------------------------------------- */

static uint32_t find_module(const struct pc_profile *p, const char *name, struct pct_pool *pool)
{
    for (uint32_t i = 0; i < p->n_modules; i++) {
        if (!strcmp(pct_stored_module(&p->modules[i], pool), name))
            return i;
    }
    return PC_NO_INDEX;
}

/* `row` begins behind the keys. */
static struct pct_frame read_frame(const struct pc_profile *p, const uint64_t *row)
{
    return (struct pct_frame){.function =
                                  row[FUNCTION] ? pc_profile_string(p, row[FUNCTION]) : NULL,
                              .file = row[SOURCE] ? pc_profile_string(p, row[SOURCE]) : NULL,
                              .line = (uint32_t)row[LINE],
                              .inlined = row[INLINED] != 0};
}

/* Reads the frames of rows that differ only in the last key, the depth; returns the number of
 * rows. */
static uint32_t read_frames(const struct pc_profile *p, const struct pc_profile_table *t,
                            uint32_t first, struct pct_frame **frames_out)
{
    const uint64_t *row = t->cells + (size_t)first * t->n_columns;
    uint32_t n = 1;
    while (first + n < t->n_rows &&
           !memcmp(row, row + (size_t)n * t->n_columns, (t->n_keys - 1) * sizeof *row))
        n++;
    *frames_out = pct_alloc(n, sizeof **frames_out);
    for (uint32_t k = 0; k < n; k++)
        (*frames_out)[k] = read_frame(p, row + (size_t)k * t->n_columns + t->n_keys);
    return n;
}

static int compare_keys(const uint64_t *a, const uint64_t *b)
{
    for (int k = 0; k < N_KEYS; k++)
        if (a[k] != b[k])
            return a[k] < b[k] ? -1 : 1;
    return 0;
}

/* A table with the keys of `symbols` and one column, for some of its rows. *at: the first of its
 * rows that may be next; rows of both tables are in the order of their keys. */
struct beside {
    const struct pc_profile_table *table; /* NULL: there is none */
    uint32_t at;
};

/* The cell for frame k of an address; 0: none. */
static uint64_t read_beside(struct beside *b, const uint64_t *row, uint32_t k)
{
    const uint64_t key[N_KEYS] = {row[MODULE], row[OFFSET], k};
    const struct pc_profile_table *t = b->table;
    while (t && b->at < t->n_rows && compare_keys(t->cells + (size_t)b->at * t->n_columns, key) < 0)
        b->at++;
    if (!t || b->at >= t->n_rows)
        return 0;
    const uint64_t *found = t->cells + (size_t)b->at * t->n_columns;
    return compare_keys(found, key) ? 0 : found[BESIDE];
}

static void load_addresses(struct pct_symbols *s, const struct pc_profile *p, struct pct_pool *pool,
                           pct_stored_fn take)
{
    const struct pc_profile_table *t = pct_stored_find(p, &pct_symbols_table);
    struct beside homes = {.table = pct_stored_find(p, &pct_function_files_table)};
    struct beside begins = {.table = pct_stored_find(p, &pct_function_begins_table)};
    uint64_t module_cell = 0;
    struct pct_spot spot = {.module = PC_NO_INDEX, .callee_module = PC_NO_INDEX};
    for (uint32_t i = 0, n; t && i < t->n_rows; i += n) {
        const uint64_t *row = t->cells + (size_t)i * N_COLUMNS;
        struct pct_frame *frames;
        if (row[MODULE] != module_cell || !i)
            spot.module = find_module(p, pc_profile_string(p, row[MODULE]), pool);
        module_cell = row[MODULE];
        spot.offset = row[OFFSET];
        n = read_frames(p, t, i, &frames);
        for (uint32_t k = 0; k < n; k++) {
            uint64_t home = read_beside(&homes, row, k);
            frames[k].home = home ? pc_profile_string(p, home) : NULL;
            frames[k].begin = read_beside(&begins, row, k);
        }
        if (spot.module != PC_NO_INDEX)
            take(s, spot, (struct pct_place){frames, n});
        else
            pct_free(frames);
    }
}

/* The MPI function of that name. */
static uint32_t find_op(const struct pc_profile *p, const char *name)
{
    for (uint32_t i = 0; i < p->n_ops; i++)
        if (!strcmp(p->ops[i].name, name))
            return i;
    return PC_NO_INDEX;
}

static void load_tail_calls(struct pct_symbols *s, const struct pc_profile *p,
                            struct pct_pool *pool, pct_stored_fn take)
{
    const struct pc_profile_table *t = pct_stored_find(p, &pct_tail_calls_table);
    for (uint32_t i = 0, n; t && i < t->n_rows; i += n) {
        const uint64_t *row = t->cells + (size_t)i * N_TAIL_COLUMNS;
        const char *callee = pc_profile_string(p, row[TAIL_CALLEE]);
        uint32_t op = find_op(p, callee);
        struct pct_spot spot = {.module = find_module(p, pc_profile_string(p, row[MODULE]), pool),
                                .callee_module = PCT_CALLEE_OP,
                                .offset = row[OFFSET],
                                .callee = op};
        struct pct_frame *frames;
        if (op == PC_NO_INDEX) {
            spot.callee_module = find_module(p, callee, pool);
            spot.callee = row[TAIL_CALLEE_OFFSET];
        }
        n = read_frames(p, t, i, &frames);
        for (uint32_t k = 0; k < n; k++)
            frames[k].tail_call = true;
        if (spot.module != PC_NO_INDEX && spot.callee_module != PC_NO_INDEX)
            take(s, spot, (struct pct_place){frames, n});
        else
            pct_free(frames);
    }
}

void pct_stored_load(struct pct_symbols *s, const struct pc_profile *p, struct pct_pool *pool,
                     pct_stored_fn take)
{
    load_addresses(s, p, pool, take);
    load_tail_calls(s, p, pool, take);
}

/* ---- Writing --------------------------------------------------------------------------------- */

struct writer {
    const struct pc_profile *profile;
    struct pct_stores *all;
    struct pct_store *addresses, *tail_calls;
    struct pct_store *homes, *begins; /* NULL: there is none */
    const char **names;               /* of modules */
};

static void set_frame(struct pct_stored_cell *cells, const struct pct_frame *f)
{
    cells[FUNCTION].text = f->function;
    cells[SOURCE].text = f->file;
    cells[LINE].number = f->line;
    cells[INLINED].number = f->inlined;
}

static void add_tail_calls(struct writer *w, struct pct_spot spot, struct pct_place place)
{
    bool op = spot.callee_module == PCT_CALLEE_OP;
    for (uint32_t k = 0; k < place.n_frames && place.frames[k].tail_call; k++) {
        struct pct_stored_cell cells[N_TAIL_COLUMNS] = {
            [MODULE] = {.text = w->names[spot.module]},
            [OFFSET] = {.number = spot.offset},
            [TAIL_CALLEE] = {.text = op ? w->profile->ops[spot.callee].name
                                        : w->names[spot.callee_module]},
            [TAIL_CALLEE_OFFSET] = {.number = op ? 0 : spot.callee},
            [TAIL_DEPTH] = {.number = k},
        };
        set_frame(cells + N_TAIL_KEYS, &place.frames[k]);
        pct_store_row(w->tail_calls, cells);
    }
}

/* Adds what only some frames have. cells: the keys. */
static void add_beside(struct writer *w, struct pct_stored_cell *cells, const struct pct_frame *f)
{
    if (f->home) {
        cells[BESIDE] = (struct pct_stored_cell){.text = f->home};
        if (!w->homes)
            w->homes = pct_stores_add(w->all, &pct_function_files_table);
        pct_store_row(w->homes, cells);
    }
    if (f->begin) {
        cells[BESIDE] = (struct pct_stored_cell){.number = f->begin};
        if (!w->begins)
            w->begins = pct_stores_add(w->all, &pct_function_begins_table);
        pct_store_row(w->begins, cells);
    }
}

/* Adds a place. Two modules with the same build-id have rows of equal keys: only those of one are
 * kept. */
static void add_place(void *arg, struct pct_spot spot, struct pct_place place)
{
    struct writer *w = arg;
    if (spot.callee_module != PC_NO_INDEX) {
        add_tail_calls(w, spot, place);
        return;
    }
    for (uint32_t k = 0; k < place.n_frames; k++) {
        struct pct_stored_cell cells[N_COLUMNS] = {
            [MODULE] = {.text = w->names[spot.module]},
            [OFFSET] = {.number = spot.offset},
            [DEPTH] = {.number = k},
        };
        set_frame(cells + N_KEYS, &place.frames[k]);
        pct_store_row(w->addresses, cells);
        add_beside(w, cells, &place.frames[k]);
    }
}

void pct_symbols_store(const struct pct_symbols *s, const struct pc_profile *p,
                       struct pct_stores *all)
{
    struct pct_pool *pool = pct_pool_new();
    struct writer w = {.profile = p, .all = all};
    w.addresses = pct_stores_add(all, &pct_symbols_table);
    w.tail_calls = pct_stores_add(all, &pct_tail_calls_table);
    w.names = pct_alloc(p->n_modules, sizeof *w.names);
    for (uint32_t i = 0; i < p->n_modules; i++)
        w.names[i] = pct_stored_module(&p->modules[i], pool);
    pct_symbols_each(s, add_place, &w);
    pct_free(w.names);
    pct_pool_free(pool);
}

void pct_symbols_drop(struct pc_profile *p)
{
    static const struct pcollect_table *const own[] = {&pct_symbols_table, &pct_tail_calls_table,
                                                       &pct_function_files_table,
                                                       &pct_function_begins_table};
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->n_tables; i++) {
        bool drop = false;
        for (size_t k = 0; k < PC_ARRAY_LEN(own); k++)
            drop |= !strcmp(p->tables[i].name, own[k]->name);
        if (!drop)
            p->tables[n++] = p->tables[i];
    }
    p->n_tables = n;
}
