/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A column of a table as bytes that the viewer of page/ reads (page/data.js).
 */
#ifndef PCT_PAGE_COLUMN_H
#define PCT_PAGE_COLUMN_H

#include "format/bytes.h"
#include "view/page_names.h"
#include "view/table.h"

/* All rows of a table. Columns are made in the order of the table, in which what its cells are made
 * of is in memory: in the order of the page a large profile takes several times as long. */
struct pct_page_rows {
    size_t n;
    size_t *place; /* by row of the table: its row in the page */
};

/* The viewer's name of a type. */
const char *pct_page_type(enum pct_type type);

/* Appends the values of the rows; names and paths are added to those of the page. */
void pct_page_column(struct pc_buffer *b, const struct pct_column *c, const struct pct_data *d,
                     const struct pct_page_rows *rows, struct pct_page_names *names);

#endif
