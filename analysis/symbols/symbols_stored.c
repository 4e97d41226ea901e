/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Symbols inside a profile, so that it can be read where the program is not.
 *
 * Data structure: the table `symbols` of the profile, one row for each function in the chain at
 * each address that the report asks for: module (its build-id, or its path without one), offset,
 * depth (0 is the outermost); function, file, line, inlined. An address of which nothing is known
 * has a row without function. Like any table it survives merging.
 */
#include "analysis/symbols/symbols_private.h"

#include "analysis/symbols/stored_table.h"
#include "include/pcollect/plugin.h"

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
    const struct pc_profile_table *t = pct_stored_find(p, TABLE, columns, N_KEYS, N_COLUMNS);
    uint64_t module_cell = 0;
    uint32_t module = PC_NO_INDEX;
    for (uint32_t i = 0, n; t && i < t->n_rows; i += n) {
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

struct writer {
    struct pct_store *store;
    const char **names; /* of modules */
};

/* Two modules that share a build-id have rows of equal keys: those of one are taken. */
static void add_place(void *arg, uint32_t module, uint64_t offset, struct pct_place place)
{
    struct writer *w = arg;
    for (uint32_t k = 0; k < place.n_frames; k++) {
        const struct pct_frame *f = &place.frames[k];
        const struct pct_stored_cell cells[N_COLUMNS] = {
            [MODULE] = {.text = w->names[module]},
            [OFFSET] = {.number = offset},
            [DEPTH] = {.number = k},
            [FUNCTION] = {.text = f->function},
            [SOURCE] = {.text = f->file},
            [LINE] = {.number = f->line},
            [INLINED] = {.number = f->inlined},
        };
        pct_store_row(w->store, cells);
    }
}

int pct_symbols_embed(const struct pct_symbols *s, const struct pc_profile *p,
                      struct pc_profile **out, struct pc_error *error)
{
    struct pct_pool *pool = pct_pool_new();
    struct writer w = {.store = pct_store_new(TABLE, columns, N_KEYS, N_COLUMNS)};
    w.names = pct_alloc(p->n_modules, sizeof *w.names);
    for (uint32_t i = 0; i < p->n_modules; i++)
        w.names[i] = name_module(&p->modules[i], pool);
    pct_symbols_each(s, add_place, &w);
    int err = pct_store_merge(w.store, p, out, error);
    pct_store_free(w.store);
    pct_free(w.names);
    pct_pool_free(pool);
    return err;
}
