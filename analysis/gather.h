/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Everything that tables and findings draw from, gathered from one profile.
 */
#ifndef PCT_GATHER_H
#define PCT_GATHER_H

#include "analysis/buffer.h"
#include "analysis/symbols/symbols.h"
#include "analysis/tree/totals.h"
#include "analysis/tree/tree.h"

struct pct_data {
    const char *file; /* as it was named */
    const struct pc_profile *profile;
    struct pct_model *model;
    struct pct_symbols *symbols;
    struct pct_tree *tree;
    struct pct_pool *pool;
    uint32_t *contexts; /* OP nodes of the tree */
    const char **paths; /* of the contexts */
    struct pct_spread *spreads;
    size_t n_contexts;
    uint32_t *frames; /* by module: nodes of the profile in it */
    struct pct_samples *samples;
    struct pct_by_place *by_place;          /* of call_sites.h, filled when it is asked for */
    struct pct_counts *counts;              /* of analysis/counters/attribution.h */
    struct pct_estimates *estimates;        /* of analysis/counters/estimates.h */
    const struct pc_profile_table *rows_of; /* what the columns of a plugin's table draw from */
    struct pct_findings *findings;          /* NULL: not looked for */
    /* Of comparisons; then only `pool` is set of what is above. */
    const struct pct_scale *scale;
    const struct pct_diff *diff;
    const struct pct_repeats *repeats;
};

/* Takes ownership of the symbols; the profile must outlive it. */
struct pct_data *pct_data_new(const char *file, const struct pc_profile *p,
                              struct pct_symbols *symbols, const struct pct_tree_options *options);
void pct_data_free(struct pct_data *d);

#endif
