/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Tables that the command itself stores in a profile: symbols, source lines. Like any table they
 * survive merging.
 */
#ifndef PCT_STORED_H
#define PCT_STORED_H

#include "analysis/buffer.h"

/* Name of a module in such tables: its build-id, or its path without one; interned. */
const char *pct_stored_module(const struct pc_profile_module *m, struct pct_pool *pool);

/* The table of that name if it has these columns; else NULL. */
const struct pc_profile_table *pct_stored_find(const struct pc_profile *p, const char *name,
                                               const struct pc_profile_column *columns,
                                               uint32_t n_keys, uint32_t n_columns);

/* A table that is being made; name and columns must outlive it. */
struct pct_store;
struct pct_store *pct_store_new(const char *name, const struct pc_profile_column *columns,
                                uint32_t n_keys, uint32_t n_columns);
void pct_store_free(struct pct_store *s);

/* A cell of a column of type STRING is its text, NULL or empty: none; other cells are numbers. */
struct pct_stored_cell {
    const char *text;
    uint64_t number;
};

/* Adds a row of n_columns cells; the texts are copied. Of rows with equal keys the first stays. */
void pct_store_row(struct pct_store *s, const struct pct_stored_cell *cells);

/* A copy of p with the table in it. */
int pct_store_merge(struct pct_store *s, const struct pc_profile *p, struct pc_profile **out,
                    struct pc_error *error);

#endif
