/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The tree that the report shows: the profile's tree with names in the place of addresses. Frames
 * of inlined calls have become nodes; siblings that read the same are one node. So a node of kind
 * OP is one (path, primitive), which is one row of the table of contexts. A DOMAIN is part of its
 * OP. Phases and regions are nodes below which their contexts hang.
 *
 * The same upside down, on request: an OP at the top holds all calls of its MPI function, a FRAME
 * below it those that came that way.
 */
#ifndef PCT_TREE_H
#define PCT_TREE_H

#include "analysis/symbols/symbols.h"
#include "analysis/tree/totals.h"

/* A node by its index; node 0 is the root. Parents come before their children. */
struct pct_node {
    uint32_t parent;            /* PC_NO_INDEX for the root */
    uint32_t first_child, next; /* PC_NO_INDEX: none */
    uint16_t kind;              /* enum pcollect_node_kind */
    uint16_t flags;             /* enum pcollect_node_flag */
    uint32_t op;                /* OP: index into the profile's ops */
    uint32_t depth;             /* frames from the root to here, this one included */
    const char *label;          /* escaped element of a path; "" for the root */
    uint64_t context;           /* of label.h; 0 for the root, and in a tree of callers */
    const char *call_file;      /* outline: where the node was called, NULL: unknown */
    uint32_t call_line;
    struct pct_frame frame; /* FRAME */
    uint32_t module;        /* FRAME: of the first address seen, or PC_NO_INDEX */
    uint64_t offset;        /* FRAME: of the first address seen */
    struct pct_totals own;  /* OP; of a tree of callers the outermost of its frames */
    uint32_t first_source;  /* of `own`: chain of profile nodes that it stands for */
};

struct pct_tree {
    const struct pct_model *model;
    struct pct_node *nodes;
    size_t n, room;
    uint32_t *next_source; /* by profile node: next of the chain, or PC_NO_INDEX */
    uint32_t *shown;       /* by profile node: its node here */
    struct pct_pool *pool; /* of labels */
    bool callers;          /* as it was asked for */
    /* By node: with all below; PCT_TIME counts nested time once. NULL before pct_tree_sort. */
    pc_u128 (*inclusive)[PCT_N_METRICS];
};

struct pct_tree_options {
    uint32_t depth;  /* frames more than this are booked to their ancestor; 0: no limit */
    bool full_paths; /* whole paths of files in labels */
    bool outline;    /* a node is a function and the place of its call, not the place of the call
                        that it makes: calls of one function stay together */
    bool callers;    /* upside down: below the root the MPI functions, below each what called it;
                        phases and regions are left out. Overrides outline */
};

struct pct_tree *pct_tree_new(const struct pct_model *m, struct pct_symbols *s,
                              const struct pct_tree_options *options);
void pct_tree_free(struct pct_tree *t);

/* Makes inclusive sums and sorts siblings by one of them, greatest first; ties by label. */
void pct_tree_sort(struct pct_tree *t, enum pct_metric metric);

static inline const pc_u128 *pct_tree_inclusive(const struct pct_tree *t, const struct pct_node *n)
{
    return t->inclusive[n - t->nodes];
}

/* Appends the path of the frames above and without `node`, joined by " > ". */
void pct_tree_path(const struct pct_tree *t, uint32_t node, struct pct_buf *b);

/* The same with `node` itself at the end. */
void pct_tree_path_to(const struct pct_tree *t, uint32_t node, struct pct_buf *b);

/* The next node in preorder below `root`, PC_NO_INDEX at the end; without `enter` the children of
 * `node` are passed over. */
uint32_t pct_tree_after(const struct pct_tree *t, uint32_t root, uint32_t node, bool enter);

/* Time in MPI below the node (nested time once) by rank of the profile, as pct_model_add_ranks. */
uint32_t pct_tree_ranks(const struct pct_tree *t, uint32_t node, enum pct_metric metric,
                        uint64_t *values, bool *present);

/* The spread of that. Room for each rank is in values and present, for what cannot be told without
 * values. */
struct pct_spread pct_tree_spread(const struct pct_tree *t, uint32_t node, uint64_t *values,
                                  bool *present);

#endif
