/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The calling-context tree as users see it: the profile's tree with names instead of addresses.
 * Frames of inlined calls are nodes; siblings with equal labels are one node. A node carries
 * figures of every kind: MPI calls made right there, and what was sampled there.
 *
 * Invariants:
 *  - each record of the profile is in one node: a call in that of its MPI function (kind OP; a
 *    DOMAIN is part of its OP), samples in that of the function that computed, or of the OP that
 *    they hit;
 *  - so the sum of pct_tree_own over the nodes is that of the profile, whatever the grain;
 *  - a parent comes before its children.
 *
 * Where each rank has contexts of its own, there are more than a million nodes, most of them in
 * chains that do not branch and end in one record. So figures are stored only where they are sums:
 * of a node itself, if several records are in it; of a node with all below it, if it branches or
 * has a record. The others follow from a record, or are those of the only child.
 *
 * Phases and regions are nodes below which their contexts hang.
 *
 * The grain defines a node: code of one function at one line, or called from one place, or all of
 * it. Errors of sampled time are those of the shown grain.
 *
 * On request the tree is upside down: at the top are the MPI functions and the functions that
 * computed, below each its callers.
 */
#ifndef PCT_TREE_H
#define PCT_TREE_H

#include "analysis/open_calls.h"
#include "analysis/symbols/symbols.h"
#include "analysis/tree/samples.h"
#include "analysis/tree/totals.h"

/* A node by its index; node 0 is the root. Frames belong to the symbols. */
struct pct_node {
    uint32_t parent;            /* PC_NO_INDEX for the root */
    uint32_t first_child, next; /* PC_NO_INDEX: none */
    uint16_t kind;              /* enum pcollect_node_kind; POINT: see below */
    uint16_t flags;             /* enum pcollect_node_flag */
    union {
        uint32_t op;   /* OP: index into the profile's ops */
        uint32_t code; /* others: node of the profile with the first address seen, or PC_NO_INDEX */
    };
    uint32_t module;                /* FRAME, POINT: of this address, or PC_NO_INDEX */
    uint32_t first_source;          /* chain of profile nodes whose records are in it */
    uint32_t own;                   /* their sum in tree->own; PC_NO_INDEX: there is at most one */
    const char *label;              /* escaped element of a path; "" for the root */
    uint64_t context;               /* of label.h; 0 for the root, and in a tree of callers */
    const struct pct_frame *frame;  /* FRAME, POINT; others: nothing is known */
    const struct pct_frame *caller; /* PCT_GRAIN_CALL: where it was called, with a file, or NULL */
};

/* FRAME, POINT: the offset of the first address seen there; 0: it has none. */
static inline uint64_t pct_node_offset(const struct pc_profile *p, const struct pct_node *n)
{
    return n->kind == PCOLLECT_NODE_OP || n->code == PC_NO_INDEX ? 0 : p->nodes[n->code].offset;
}

/* A node itself. */
struct pct_own {
    struct pct_call_sum calls;   /* OP; of a tree of callers the outermost of its frames */
    struct pct_sampled self;     /* sampled right there */
    struct pct_sampled computed; /* of these outside of MPI calls, and of what they call back */
};

/* A node with all below it. */
struct pct_below {
    pc_u128 sum[PCT_N_METRICS];  /* PCT_TIME counts nested time once */
    struct pct_sampled total;    /* in computation and in MPI */
    struct pct_sampled computed; /* outside of MPI calls */
};

struct pct_tree {
    const struct pct_totals *totals;
    const struct pct_samples *samples; /* NULL: a tree of calls alone */
    struct pct_node *nodes;
    size_t n, room;
    uint32_t *next_source; /* by profile node: next of the chain, or PC_NO_INDEX */
    uint32_t *shown;       /* by profile node: its node here */
    struct pct_pool *pool; /* of labels */
    bool callers;          /* as it was asked for */
    struct pct_own *own;   /* of nodes with several sources */
    size_t n_own, own_room;
    struct pct_below *below; /* of nodes that branch, or have sources and children */
    size_t n_below, below_room;
    uint32_t *below_of; /* by node: a node j < n without children whose figures are those
                           with all below; or n and an index into below */
    pc_u128 *open_ns;   /* by node, with all below: pct_tree_add_open; NULL: these are left out */
    struct pct_frame *op_callers; /* by MPI function: as a caller; NULL: none is one */
    struct pct_frame
        *programs; /* by module: the root of its contexts; NULL: there is one program */
};

enum pct_grain {
    PCT_GRAIN_LINE, /* a node is a function and the line of the call that it makes; a function that
                       computes is a node of its own, of kind POINT, without line */
    PCT_GRAIN_CALL, /* a function and the place from where it was called: calls that one function
                       makes stay together */
    PCT_GRAIN_FUNCTION
};

struct pct_tree_options {
    uint32_t depth;  /* frames more than this are booked to their ancestor; 0: no limit */
    bool full_paths; /* whole paths of files in labels */
    enum pct_grain grain;
    bool callers; /* upside down; phases and regions are left out. Not with PCT_GRAIN_CALL */
};

/* Figure by which siblings are sorted, and bars show. */
enum pct_figure_of {
    PCT_OF_METRIC, /* an enum pct_metric */
    PCT_OF_TOTAL,  /* sampled */
    PCT_OF_TIME    /* time in MPI, and what was computed outside of it */
};

/* samples NULL: of calls alone; what was sampled has no nodes then. */
struct pct_tree *pct_tree_new(const struct pct_totals *m, struct pct_symbols *s,
                              const struct pct_samples *samples,
                              const struct pct_tree_options *options);
void pct_tree_free(struct pct_tree *t);

/* Adds the calls that had not ended to the times of nodes with all below, of which no node itself
 * has them. */
void pct_tree_add_open(struct pct_tree *t, const struct pct_open_calls *open);

/* Figures of a node itself, and with all below it. */
struct pct_own pct_tree_own(const struct pct_tree *t, uint32_t node);
struct pct_below pct_tree_below(const struct pct_tree *t, uint32_t node);

void pct_below_add(struct pct_below *to, const struct pct_below *what);

/* A figure of a node with all below it. */
pc_u128 pct_tree_figure(const struct pct_tree *t, uint32_t node, enum pct_figure_of of,
                        enum pct_metric metric);

/* Sorts siblings by a figure, greatest first; ties by label. */
void pct_tree_sort(struct pct_tree *t, enum pct_figure_of of, enum pct_metric metric);

/* Frames from the root to a node, this one included. Takes as many steps. */
uint32_t pct_tree_depth(const struct pct_tree *t, uint32_t node);
/* Frames from the root to each node, by its index; the caller frees them. */
uint32_t *pct_tree_depths(const struct pct_tree *t);

/* "LABEL > LABEL": what the node was called from; to the node itself. */
void pct_tree_path(const struct pct_tree *t, uint32_t node, struct pct_buf *b);
void pct_tree_path_to(const struct pct_tree *t, uint32_t node, struct pct_buf *b);
/* As strcmp of what pct_tree_path_to appends, without making it: paths may be long. */
int pct_tree_compare_paths(const struct pct_tree *t, uint32_t a, uint32_t b);

/* The next node in preorder below `root`, PC_NO_INDEX at the end; without `enter` the children of
 * `node` are passed over. */
uint32_t pct_tree_after(const struct pct_tree *t, uint32_t root, uint32_t node, bool enter);

/* Time in MPI below the node (nested time once) by rank of the profile, as pct_totals_add_ranks. */
struct pct_range pct_tree_ranks(const struct pct_tree *t, uint32_t node, enum pct_metric metric,
                                uint64_t *values, bool *present);

/* Time in MPI below the node by which ranks are longer there than the rank with this index; of the
 * ranks of its group alone, if there are groups. Room for each rank is in values and present, which
 * are 0 before and after. */
double pct_tree_longer_ns(const struct pct_tree *t, uint32_t node, size_t rank,
                          const uint32_t *group, uint64_t *values, bool *present);

/* The CPU time of samples by rank, added to values[k] of the k-th rank, which is marked in
 * present[k]: of the node itself, with all below, or of these outside of MPI calls. Nothing is
 * known of what more ranks have than the profile keeps values of. Returns as pct_tree_ranks. */
enum pct_sampled_of { PCT_SAMPLED_SELF, PCT_SAMPLED_TOTAL, PCT_SAMPLED_COMPUTED };
struct pct_range pct_tree_sampled_ranks(const struct pct_tree *t, uint32_t node,
                                        enum pct_sampled_of of, uint64_t *values, bool *present);

/* The spread of pct_tree_ranks of PCT_TIME. values and present have room for each rank, for what
 * cannot be told without values, and are all 0 before and after it. */
struct pct_spread pct_tree_spread(const struct pct_tree *t, uint32_t node, uint64_t *values,
                                  bool *present);

#endif
