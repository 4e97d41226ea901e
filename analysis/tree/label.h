/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The text of an element of a path, wherever it is shown: in trees, tables and comparisons. Labels
 * are escaped: they can stand in a path, a cell or on a terminal as they are.
 */
#ifndef PCT_LABEL_H
#define PCT_LABEL_H

#include "analysis/buffer.h"
#include "analysis/symbols/symbols.h"
#include "format/profile.h"

enum pct_label_shape {
    PCT_LABEL_LINE = 1,      /* with the line of the call, or of what computes */
    PCT_LABEL_FULL_PATHS = 2 /* whole paths of files */
};

/* Appends function@file:line, function@module or module+0xoffset: frame `f` of node `n`. */
void pct_label_frame(struct pct_buf *b, const struct pc_profile *p, const struct pc_profile_node *n,
                     const struct pct_frame *f, unsigned shape);

/* Appends what any other node reads as: an MPI function, (region NAME), (phase N) or (cut). */
void pct_label_other(struct pct_buf *b, const struct pc_profile *p,
                     const struct pc_profile_node *n);

/* The id of a context: of that which it is called from (0: nothing), and its label without line and
 * with PCT_LABEL_FULL_PATHS unset. The path of functions decides it, and nothing else: no address,
 * no line, no order of ranks. The same path has the same id in every profile and every table. */
uint64_t pct_label_context(uint64_t above, const char *label);

#endif
