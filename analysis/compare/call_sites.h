/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Call sites without their lines, which differ from build to build: a function's first, second and
 * third call of another, in the order of the lines. If the runs have different numbers of such
 * calls, the calls cannot be matched and are treated as one.
 */
#ifndef PCT_CALL_SITES_H
#define PCT_CALL_SITES_H

#include "analysis/compare/join.h"

/* For each node of a tree of grain LINE, its number among the calls that the function above makes
 * to this one. `labels` are those of the nodes, interned. The caller frees the result. */
struct pct_call_site *pct_call_sites(const struct pct_tree *t, const char *const *labels);

/* Joins the calls of one function to another into one node if they differ between runs. Renumbers
 * the nodes; parents still come before children. */
void pct_join_unite_sites(struct pct_join *j);

#endif
