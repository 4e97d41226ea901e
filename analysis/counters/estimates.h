/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Estimates for the contexts of the report from the table `readings`: the number of each event, and
 * ratios of such numbers, each with its error. doc/internals/rotation.md.
 */
#ifndef PCT_ESTIMATES_H
#define PCT_ESTIMATES_H

#include "analysis/counters/estimate.h"
#include "analysis/counters/metrics.h"
#include "analysis/tree/tree.h"

struct pct_estimate_row {
    uint32_t event;   /* cell of a string of the profile */
    uint32_t context; /* node of the tree of functions */
    struct pct_readings readings;
    struct pct_estimate e; /* events; trust is never NONE */
    double share;          /* of the sum over the event's rows */
};

struct pct_ratio_row {
    const struct pct_ratio_kind *kind;
    uint32_t part, whole; /* cells of strings; whole 0: CPU time */
    uint32_t context;
    double whole_count;    /* estimate of `whole`'s events; 0: CPU time */
    struct pct_estimate e; /* in the kind's unit; trust is never NONE */
};

struct pct_estimates {
    struct pct_estimate_row *rows; /* by name of the event, then by descending value */
    struct pct_ratio_row *ratios;  /* by kind, then by descending CPU time of the context */
    size_t n, n_ratios;
};

/* True if the profile has readings of windows. Else no tree is needed for its estimates. */
bool pct_estimates_any(const struct pc_profile *p);

/* Never NULL. Without rows if the profile has no windows or no samples, or if the table of that
 * name belongs to another plugin. The tree of functions must outlive it; NULL: there are no
 * windows. */
struct pct_estimates *pct_estimates_new(const struct pct_tree *functions);
void pct_estimates_free(struct pct_estimates *e);

#endif
