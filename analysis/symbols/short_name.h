/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Names of functions as people read them in a line among others.
 */
#ifndef PCT_SHORT_NAME_H
#define PCT_SHORT_NAME_H

#include "analysis/buffer.h"

/* The readable form of a C++ name or of a procedure of a Fortran module, or the name itself; kept
 * in the pool. */
const char *pct_demangle(const char *name, struct pct_pool *pool);

/* Appends a function's name, or its label. One that is longer than PCT_WHOLE_NAME cells loses what
 * is between < and >, ( and ), and the type that it returns. What follows an @ stays. */
enum { PCT_WHOLE_NAME = 40 };
void pct_short_name(struct pct_buf *b, const char *name);

/* Appends labels that are joined by " > ", each shortened. */
void pct_short_path(struct pct_buf *b, const char *labels);

#endif
