/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Gathers what the columns draw from: model, symbols, tree, and for each context its path and its
 * spread over ranks.
 */
#include "analysis/gather.h"
#include "analysis/counters/attribution.h"
#include "analysis/counters/estimates.h"
#include "analysis/findings/findings.h"
#include "analysis/tree/call_sites.h"
#include "analysis/tree/samples.h"

#include <stdlib.h>

static void find_contexts(struct pct_data *d)
{
    const struct pct_tree *t = d->tree;
    size_t n_ranks = d->profile->n_ranks;
    uint64_t *values = pct_alloc(n_ranks, sizeof *values);
    bool *present = pct_alloc(n_ranks, sizeof *present);
    struct pct_buf path = {0};
    for (size_t i = 0; i < t->n; i++)
        d->n_contexts += t->nodes[i].kind == PCOLLECT_NODE_OP;
    d->contexts = pct_alloc(d->n_contexts, sizeof *d->contexts);
    d->paths = pct_alloc(d->n_contexts, sizeof *d->paths);
    d->spreads = pct_alloc(d->n_contexts, sizeof *d->spreads);
    size_t n = 0;
    for (uint32_t i = 0; i < t->n; i++) {
        if (t->nodes[i].kind != PCOLLECT_NODE_OP)
            continue;
        pct_buf_clear(&path);
        pct_tree_path(t, i, &path);
        d->contexts[n] = i;
        d->paths[n] = pct_pool_intern(d->pool, path.data);
        d->spreads[n] = pct_tree_spread(t, i, values, present);
        n++;
    }
    pct_buf_free(&path);
    free(values);
    free(present);
}

struct pct_data *pct_data_new(const char *file, const struct pc_profile *p,
                              struct pct_symbols *symbols, const struct pct_tree_options *options)
{
    struct pct_data *d = pct_alloc(1, sizeof *d);
    d->file = file;
    d->profile = p;
    d->model = pct_model_new(p);
    d->symbols = symbols;
    d->tree = pct_tree_new(d->model, d->symbols, options);
    d->pool = pct_pool_new();
    d->frames = pct_alloc(p->n_modules, sizeof *d->frames);
    for (uint32_t i = 0; i < p->n_nodes; i++) {
        if (p->nodes[i].kind == PCOLLECT_NODE_FRAME && p->nodes[i].module != PC_NO_INDEX)
            d->frames[p->nodes[i].module]++;
    }
    find_contexts(d);
    d->samples = pct_samples_new(p, d->symbols);
    d->counts = pct_counts_new(p, d->tree);
    d->estimates = pct_estimates_new(p, d->samples);
    d->by_place = pct_by_place_new(options);
    return d;
}

void pct_data_free(struct pct_data *d)
{
    if (!d)
        return;
    pct_findings_free(d->findings);
    free(d->contexts);
    free(d->paths);
    free(d->spreads);
    free(d->frames);
    pct_by_place_free(d->by_place);
    pct_estimates_free(d->estimates);
    pct_samples_free(d->samples);
    pct_counts_free(d->counts);
    pct_tree_free(d->tree);
    pct_symbols_free(d->symbols);
    pct_model_free(d->model);
    pct_pool_free(d->pool);
    free(d);
}
