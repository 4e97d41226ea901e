/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Shared by compared_run.c, which opens runs, join.c, which matches their trees, and computation.c,
 * which assigns computation and waiting to contexts.
 */
#ifndef PCT_JOIN_PRIVATE_H
#define PCT_JOIN_PRIVATE_H

#include "analysis/compare/join.h"
#include "analysis/rank_times.h"

/* A run while it is added: its tree, and the node of the join for each of its nodes. */
struct pct_joined {
    const struct pct_run *run;
    size_t k; /* its number */
    struct pct_tree *tree;
    uint32_t *node;
    double *parts; /* by node of the tree: of its samples, those that stand for computation */
};

/* Divides the time of the ranks; if the run keeps its delay, that is their own time. Bindings of
 * MPI are, too: they are in the functions that call them. */
struct pct_rank_times *pct_run_times(const struct pct_run *run, const struct pct_totals *m);
/* Opens a run that was looked at, with its figures and without its texts: as pct_run_adopt does. */
void pct_run_open(const struct pct_run *run, const struct pc_profile *profile,
                  struct pct_symbols *symbols, struct pct_run *open);
/* Returns err, with a text if it has none yet. */
int pct_run_refuse(const char *path, int err, struct pc_error *error);

/* Notes that the run has the node. */
static inline void pct_join_set_present(struct pct_join *j, uint32_t node, size_t run)
{
    uint32_t *of = &j->cost_of[(size_t)node * j->n_runs + run];
    if (*of == PCT_COST_ABSENT)
        *of = PCT_COST_NOTHING;
}

/* A cost of this node alone, to be changed: the run has the node. Valid until the next call. */
static inline struct pct_cost *pct_join_own_cost(struct pct_join *j, uint32_t node, size_t run)
{
    uint32_t *of = &j->cost_of[(size_t)node * j->n_runs + run];
    if (*of >= PCT_N_SHARED_COSTS)
        return &j->costs[*of];
    *of = (uint32_t)j->n_costs++;
    j->costs = pct_grow(j->costs, *of, &j->costs_room, sizeof *j->costs);
    j->costs[*of] = (struct pct_cost){.present = true};
    return &j->costs[*of];
}

/* The name of a function as it is shown, interned: of several builds without the marks of a copy,
 * since copies are one context. */
const char *pct_join_function(const struct pct_join *j, const char *name);

/* Sets where the programs of the run begin, and gives the nodes of those that are compared with one
 * of another name its label. */
void pct_join_match_programs(struct pct_join *j, const struct pct_joined *r, const char **labels);

/* Adds the computation of the run: to the sampled functions if the join is divided, the rest to
 * j->compute. Sets r->parts. */
void pct_join_add_computation(struct pct_join *j, struct pct_joined *r);

/* Moves the waiting of the run to its cause. Called after pct_join_add_computation. */
void pct_join_blame(struct pct_join *j, const struct pct_joined *r);

#endif
