/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Pages as page.c makes them, of a profile or a comparison.
 */
#ifndef PCT_PAGE_PRIVATE_H
#define PCT_PAGE_PRIVATE_H

#include "view/page_column.h"

/* An element with data: packed, until it is written. */
struct pct_page_element {
    uint8_t *data;
    size_t n;
    bool deflated;
};

struct pct_page {
    struct pct_buf head; /* members of the list of tables: "file", "warnings" and what views need */
    struct pct_buf text; /* of the report; empty: none */
    struct pct_buf list; /* of tables */
    struct pct_page_names *names;
    struct pct_page_element first;     /* with that list, once all tables are there */
    struct pct_page_element *elements; /* of the tables, then of the names */
    size_t n, room;
};

/* Adds all rows of a table, which is not needed any more then. */
void pct_page_add(struct pct_page *page, const char *name, const struct pct_table *t,
                  const struct pct_data *d);

/* Writes the page and frees what it has. */
void pct_page_write(FILE *out, struct pct_page *page);

#endif
