/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Pages as page.c makes them, of a profile or a comparison.
 */
#ifndef PCT_PAGE_PRIVATE_H
#define PCT_PAGE_PRIVATE_H

#include "view/page_column.h"

struct pct_page_table {
    const char *name; /* in the page */
    const struct pct_table *table;
    const struct pct_data *data;
    struct pct_page_rows rows;
};

struct pct_page {
    struct pct_buf head; /* members of the list of tables: "file", "warnings" and what views need */
    struct pct_page_table *tables;
    size_t n, room;
    struct pct_buf elements; /* with the data */
    uint64_t hash;           /* of them */
    struct pct_buf text;     /* of the report; empty: none */
};

/* Adds all rows of a table. Name, table and data must outlive the page. */
void pct_page_add(struct pct_page *page, const char *name, const struct pct_table *t,
                  const struct pct_data *d);

/* Writes the page and frees what it has. */
void pct_page_write(FILE *out, struct pct_page *page);

#endif
