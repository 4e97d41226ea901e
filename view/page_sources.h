/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The text of source files that is read while a page is made, and what the page says of the others.
 */
#ifndef PCT_PAGE_SOURCES_H
#define PCT_PAGE_SOURCES_H

#include "view/table.h"

/* Bound of the text that is read for a page. */
enum { PCT_PAGE_SOURCE_BYTES = 4 << 20 };

struct pct_page_line;
struct pct_page_file;

/* A table of the page, of files whose text the profile does not store. Valid as long as the data
 * that it was made from; the caller frees it. */
struct pct_page_sources {
    struct pct_data data;       /* must be first: getters find the rest by it */
    struct pct_page_line *line; /* lines that are not empty, by file, in their order */
    size_t n, room;
    struct pct_page_file *file; /* the files with lines, those with most time first */
    size_t n_files;
    bool without; /* no source is in the page */
};
extern const struct pct_table pct_page_sources_table;

/* Reads the files with most time first, as far as they have room. `without`: none. */
void pct_page_sources_make(struct pct_page_sources *out, const struct pct_data *d, bool without);
void pct_page_sources_free(struct pct_page_sources *sources);

/* Appends JSON members: which text the page lacks, and a list of files, each with a sentence on its
 * text. */
void pct_page_sources_notes(struct pct_buf *b, const struct pct_page_sources *sources);

#endif
