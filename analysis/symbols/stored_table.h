/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Tables that the command itself stores in a profile: symbols, source lines. Like any table they
 * survive merging.
 */
#ifndef PCT_STORED_H
#define PCT_STORED_H

#include "analysis/buffer.h"
#include "include/pcollect/plugin.h"

/* Name of a module in such tables: its build-id, or its path without one; interned. */
const char *pct_stored_module(const struct pc_profile_module *m, struct pct_pool *pool);

/* The table of that description if the profile has it with these columns; else NULL. */
const struct pc_profile_table *pct_stored_find(const struct pc_profile *p,
                                               const struct pcollect_table *of);

/* Tables of symbols (symbols_stored.c). */
extern const struct pcollect_table pct_symbols_table, pct_tail_calls_table,
    pct_function_files_table, pct_function_begins_table;

/* Tables that are being made. Zero-initialise. */
enum { PCT_MOST_STORES = 8 };
struct pct_stores {
    struct pct_store *list[PCT_MOST_STORES];
    size_t n;
};

/* Another one of them; the description must outlive it. */
struct pct_store *pct_stores_add(struct pct_stores *all, const struct pcollect_table *of);
void pct_stores_free(struct pct_stores *all);

/* A cell of a column of type STRING is its text, NULL or empty: none; other cells are numbers. */
struct pct_stored_cell {
    const char *text;
    uint64_t number;
};

/* Adds a row, a cell for each column; the texts are copied. Of rows with equal keys the first
 * stays. */
void pct_store_row(struct pct_store *s, const struct pct_stored_cell *cells);

/* Adds the tables to *p, which is replaced by a profile that takes over its memory
 * (pc_profile_overlay). */
int pct_stores_put(const struct pct_stores *all, struct pc_profile **p, struct pc_error *error);

#endif
