/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A profile, or a comparison of several, as one HTML page that shows itself in a browser:
 * doc/internals/page.md.
 */
#ifndef PCT_PAGE_H
#define PCT_PAGE_H

#include "analysis/gather.h"

#include <stdio.h>

/* The files of page/, concatenated by the build (page/local.mk). */
extern const char pct_page_style[], pct_page_script[];

/* Bytes at the begin of each page, which identify it. */
#define PCT_PAGE_BEGIN "<!DOCTYPE html>\n<!-- pcollect html -->\n"

struct pct_page_of {
    const struct pct_data *data;
    bool without_sources; /* no text of source files is in the page */
};

/* Writes the page of a profile: all tables of the report, those of its plugins, and the text of
 * source files. Findings are those of the data. The caller checks `out` for errors. */
void pct_page_put(FILE *out, const struct pct_page_of *of);

struct pct_scale;
struct pct_diff;

/* Writes the page of a comparison: the tables of pcollect scale with predictions for more ranks; or
 * the table of pcollect diff. */
void pct_page_put_scale(FILE *out, const struct pct_scale *s);
void pct_page_put_diff(FILE *out, const struct pct_diff *d);

#endif
