/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The tree of contexts of a page: the spread of each node's time over the ranks, and its fields of
 * plugins.
 */
#ifndef PCT_PAGE_NODES_H
#define PCT_PAGE_NODES_H

#include "view/table.h"

struct pct_page_node;
struct pct_page_spread;

/* A table of the page, by the nodes of the tree by function, outer ones first, in the order of
 * `data`. Valid as long as the data that it was made from; the caller frees it. */
struct pct_page_nodes {
    struct pct_data data; /* first: getters find the rest by it */
    struct pct_page_node *node;
    size_t n;
    struct pct_page_spread *spread;
    size_t n_spreads, spreads_room;
    struct pct_table table;
    struct pct_column *columns;
};

void pct_page_nodes_make(struct pct_page_nodes *out, const struct pct_data *d);
void pct_page_nodes_free(struct pct_page_nodes *nodes);

/* Appends a JSON list of the fields that have a column: "name", and "way", how values become one.
 */
void pct_page_nodes_fields(struct pct_buf *b, const struct pct_data *d);

#endif
