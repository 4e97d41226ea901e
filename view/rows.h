/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rows of few columns as tsv, with a line of names first, or as an array of objects in JSON.
 */
#ifndef PCT_ROWS_H
#define PCT_ROWS_H

#include "analysis/buffer.h"

#include <stdio.h>

struct pct_rows_column {
    const char *name;
    bool text; /* in quotes in JSON; else a number */
};

struct pct_row_writer {
    FILE *out;
    bool json;
    const struct pct_rows_column *columns;
    size_t n; /* columns */
    size_t n_rows;
};

void pct_rows_begin(struct pct_row_writer *r);
/* A row of n cells, escaped already, which are freed; an empty cell is null in JSON. */
void pct_rows_put(struct pct_row_writer *r, struct pct_buf *cells);
void pct_rows_end(struct pct_row_writer *r);

#endif
