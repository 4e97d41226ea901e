/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The number of contexts of MPI calls, without a tree of them.
 */
#ifndef PCT_CONTEXT_COUNT_H
#define PCT_CONTEXT_COUNT_H

#include "analysis/tree/tree.h"

/* The number of OP nodes in pct_tree_new(..., NULL, options) with PCT_GRAIN_LINE. It takes 8 bytes
 * for each call of the profile. */
size_t pct_context_count(const struct pct_totals *m, struct pct_symbols *s,
                         const struct pct_tree_options *options);

#endif
