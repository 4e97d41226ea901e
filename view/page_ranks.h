/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Figures by rank in the most important contexts of a page, for its map of ranks.
 */
#ifndef PCT_PAGE_RANKS_H
#define PCT_PAGE_RANKS_H

#include "view/table.h"

struct pct_page_rank;

/* A table of the page, by context and rank. Valid as long as the data that it was made from; the
 * caller frees it. */
struct pct_page_ranks {
    struct pct_data data; /* first: getters find the rest by it */
    struct pct_page_rank *row;
    size_t n, room;
};
extern const struct pct_table pct_page_ranks_table;

void pct_page_ranks_make(struct pct_page_ranks *out, const struct pct_data *d);
void pct_page_ranks_free(struct pct_page_ranks *ranks);

#endif
