/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Divides counts of the table `edges` among contexts: the count between two certain points is
 * divided among the samples between them. doc/internals/attribution.md.
 */
#ifndef PCT_ATTRIBUTION_H
#define PCT_ATTRIBUTION_H

#include "analysis/gather.h"

struct pct_attributed {
    uint32_t event;    /* string of the profile */
    uint32_t node;     /* of the profile */
    uint64_t count;    /* exact in the sum over all nodes of an event */
    uint64_t certain;  /* part of it on edges inside one call, whose context is certain */
    uint64_t ancestor; /* part of it on edges without samples, at the common ancestor */
};

/* The sum over all nodes of an event. */
struct pct_event_total {
    uint32_t event;
    pc_u128 count;
};

/* Figures of one rank, all its threads. */
struct pct_rank_instructions {
    double outside;       /* instructions on edges that lie outside of one MPI call */
    double read, skipped; /* points; calls between two skipped ones are outside, too */
};

/* By index of the profile's ranks; allocated. NULL: instructions were not counted, or took turns.
 */
struct pct_rank_instructions *pct_instructions_by_rank(const struct pc_profile *p);

/* Counts by node of the shown tree: the rows of the table `counts`. */
struct pct_counts {
    struct pct_attributed *rows;
    size_t n;
    struct pct_event_total *totals; /* rising by event */
    size_t n_totals;
};
struct pct_counts *pct_counts_new(const struct pc_profile *p, const struct pct_tree *tree);
void pct_counts_free(struct pct_counts *c);

/* Sum of an event that has a row. */
pc_u128 pct_counts_total(const struct pct_counts *c, uint32_t event);

#endif
