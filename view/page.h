/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A profile as one HTML page that shows itself in a browser: doc/internals/page.md.
 */
#ifndef PCT_PAGE_H
#define PCT_PAGE_H

#include "analysis/gather.h"

#include <stdio.h>

/* The files of page/, which the build puts together (page/local.mk). */
extern const char pct_page_style[], pct_page_script[];

/* What each page begins with, and no other file. */
#define PCT_PAGE_BEGIN "<!DOCTYPE html>\n<!-- pcollect html -->\n"

/* Writes the page of a profile: all tables of the report, and those of its plugins. Findings are
 * those of `d`. The caller asks `out` for errors. */
void pct_page_put(FILE *out, const struct pct_data *d);

#endif
