/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Names of functions and paths of contexts of a page, each once: see page_names.c.
 */
#ifndef PCT_PAGE_NAMES_H
#define PCT_PAGE_NAMES_H

#include "format/bytes.h"
#include "view/table.h"

struct pct_page_names;
struct pct_page_names *pct_page_names_new(void);
void pct_page_names_free(struct pct_page_names *names);

/* Forgets which nodes of trees had which paths, before a tree is freed. */
void pct_page_names_forget(struct pct_page_names *names);

/* True if the texts of a column are kept here: labels, paths of them, names of functions. */
bool pct_page_names_has(const struct pct_column *c);

/* Number of the path that such a column has in a row, from 1; 0: it has nothing there. */
uint32_t pct_page_names_add(struct pct_page_names *names, const struct pct_column *c,
                            const struct pct_data *d, size_t row);

/* Appends all of it, as page/data.js reads it. */
void pct_page_names_put(const struct pct_page_names *names, struct pc_buffer *b);

#endif
