/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Call sites without their lines, which differ from build to build: a function's first, second and
 * third call of another, in the order of the lines. If the runs have different numbers of such
 * calls, they cannot be told apart and are treated as one.
 */
#ifndef PCT_CALL_SITES_H
#define PCT_CALL_SITES_H

#include "analysis/compare/join.h"

/* By node of a tree of grain LINE: which of the calls that the function above makes to this one.
 * labels: of the nodes, interned. To be freed. */
struct pct_call_site *pct_call_sites(const struct pct_tree *t, const char *const *labels);

/* Makes one node of the calls of one function to another that are not the same in all runs. Nodes
 * of the join get new numbers; the order of parents before children stays. */
void pct_join_unite_sites(struct pct_join *j);

#endif
