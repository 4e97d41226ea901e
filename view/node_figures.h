/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Inclusive figures of a node of the calling-context tree, as columns of text: its share, time in
 * MPI and CPU time outside of it side by side, a picture over ranks; and the text after its name.
 * The tree of the report and the browser show the same.
 */
#ifndef PCT_NODE_FIGURES_H
#define PCT_NODE_FIGURES_H

#include "view/report_print.h"

/* Sets of columns. */
enum pct_columns {
    PCT_COLUMNS_METRIC, /* one figure of MPI calls */
    PCT_COLUMNS_CPU,    /* samples, where no times of MPI calls are known */
    PCT_COLUMNS_BOTH    /* time in MPI, CPU time outside of it, and their sum */
};

struct pct_node_figures {
    const struct pct_data *d;
    const struct pct_options *o;
    struct pct_tree *tree;
    enum pct_columns columns;
    enum pct_metric metric;
    bool bars;
    pc_u128 whole; /* total that shares refer to */
    const struct pct_open_calls
        *open; /* that are in the times; empty: none, as in a part of a run */
    const struct pct_open_call **calls; /* these in the order of the tree; NULL: none */
    size_t *begin, *end;                /* of those below, by node */
    pc_u128 mpi, computed;              /* PCT_COLUMNS_BOTH: totals */
    size_t cells;                       /* of the figures, with their blanks */
    bool any_few, any_call;             /* shown so far: a legend must explain them */
    uint64_t *values;                   /* by rank */
    bool *present;
    struct pct_buf bar; /* of bar_node */
    uint32_t bar_node;
};

/* Makes the tree, with siblings sorted by `sort`. d and o must outlive it. */
void pct_node_figures_open(struct pct_node_figures *f, const struct pct_data *d,
                           const struct pct_options *o, enum pct_metric sort);
void pct_node_figures_close(struct pct_node_figures *f);
/* Chooses the columns anew after the width of the options has changed. */
void pct_node_figures_fit(struct pct_node_figures *f);

/* Figure of shares, order and thresholds. */
pc_u128 pct_node_figure(const struct pct_node_figures *f, uint32_t node);
pc_u128 pct_node_figure_below(const struct pct_node_figures *f, const struct pct_below *below);

/* False for a function without samples that made no MPI call, directly or below. */
bool pct_node_has_figure(const struct pct_node_figures *f, uint32_t node);

/* The heads of the columns, without that of the name. */
void pct_node_put_heads(const struct pct_node_figures *f, struct pct_buf *b);
/* Appends the columns of `below` and its figure, then the picture of a node. */
void pct_node_put_figures(struct pct_node_figures *f, const struct pct_below *below, pc_u128 value,
                          struct pct_buf *b);
void pct_node_put_bar(struct pct_node_figures *f, uint32_t node, struct pct_buf *b);

/* Appends the text after the name: place, and calls of an MPI function. False: it does not fit
 * `cells`. */
bool pct_node_put_rest(struct pct_node_figures *f, const struct pct_node *n, size_t cells,
                       struct pct_buf *b);

#endif
