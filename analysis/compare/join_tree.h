/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The trees of several runs as one, for users: a node is a function, and the place from where it
 * was called, or an MPI function. Each has a figure of every run, its own and with all below.
 *
 * A join distinguishes functions by the line of the call that they make. Here all calls of one
 * function are under one node again, and the line is that of the callee.
 *
 * Invariants: a parent comes before its children; `own` of a run over all nodes is the sum over the
 * join; `below` of a node is its own and that of its children.
 */
#ifndef PCT_JOIN_TREE_H
#define PCT_JOIN_TREE_H

#include "analysis/compare/join.h"

struct pct_join_tree_node {
    uint32_t parent; /* PC_NO_INDEX for the root */
    uint32_t first_child, next;
    uint32_t of;      /* the first node of the join that is part of it */
    const char *name; /* escaped */
    uint16_t kind;    /* enum pcollect_node_kind */
    bool inlined;     /* in a run that has it */
    bool sampled;     /* its own time is that of samples */
    bool waits;       /* its own time is threads that wait for each other in a runtime library */
};

struct pct_join_tree {
    const struct pct_join *join;
    struct pct_join_tree_node *nodes;
    size_t n, room;
    uint32_t *part_of;   /* by node of the join: the node that it is part of */
    double *own, *below; /* node * n_runs + run */
    /* Own computation, and with all below, has too few samples in all runs to tell a change. */
    bool *few, *few_below;
};

/* Makes the tree; `figure` gets the figure of a node from its cost. */
struct pct_join_tree *pct_join_tree_new(const struct pct_join *j,
                                        double (*figure)(const struct pct_join_node *node,
                                                         const struct pct_cost *cost));
void pct_join_tree_free(struct pct_join_tree *t);

/* Says where the node is: file, module, library, and where it was called. */
static inline const struct pct_join_node *pct_join_tree_place(const struct pct_join_tree *t,
                                                              uint32_t node)
{
    return &t->join->nodes[t->nodes[node].of];
}

/* Sorts siblings by descending values of `order`, which is by node; the sort is stable. */
void pct_join_tree_sort(struct pct_join_tree *t, const double *order);

#endif
