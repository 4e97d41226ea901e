/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Figures of the instructions that a profile stores, for its page.
 */
#ifndef PCT_PAGE_CODE_H
#define PCT_PAGE_CODE_H

#include "view/table.h"

struct pct_instruction;

/* A table of the page. Valid as long as the data that it was made from; the caller frees it. */
struct pct_page_code {
    struct pct_data data; /* must be first: getters find the rest by it */
    struct pct_instruction *row;
    size_t n;
};
extern const struct pct_table pct_page_code_table;

void pct_page_code_make(struct pct_page_code *out, const struct pct_data *d);
void pct_page_code_free(struct pct_page_code *code);

#endif
