/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A profile in the formats of other viewers. Each writes the same contexts with the same figures:
 * one stack of functions for each node of the tree with a figure of its own, and that figure. Texts
 * are those of the tree: valid UTF-8 without control characters.
 *
 * Data structure: a list of values (what is measured, in which unit), a column of figures by node
 * for each. Invariant: a column's sum is the figure of the whole profile; no figure is above
 * INT64_MAX, which is what these formats have room for.
 */
#ifndef PCT_VIEWERS_H
#define PCT_VIEWERS_H

#include "analysis/gather.h"

#include <stdio.h>

enum pct_value_kind {
    PCT_VALUE_TIME,        /* in MPI, and CPU time outside of it; of a run that was sampled from
                              outside the CPU time in both */
    PCT_VALUE_COMPUTATION, /* CPU time outside of MPI */
    PCT_VALUE_MPI,
    PCT_VALUE_CALLS,
    PCT_VALUE_SENT,
    PCT_VALUE_RECEIVED,
    PCT_N_VALUE_KINDS
};

struct pct_value_type {
    const char *name, *doc;
    const char *outside_doc; /* of a run that was sampled from outside; NULL: not known there */
    const char *unit;        /* of pprof */
    const char *scope;       /* unit of speedscope */
    bool sampled;            /* only where there are samples */
};
extern const struct pct_value_type pct_value_types[PCT_N_VALUE_KINDS];

/* Function of a node, with all that distinguishes functions in the viewers. Escaped. */
struct pct_stack_function {
    const char *name;
    const char *file; /* or the module; NULL: neither is known */
};

struct pct_stacks {
    const struct pct_data *data;
    const struct pct_tree *tree;
    struct pct_pool *pool;
    bool outside; /* the run was sampled from outside: calls of MPI are not known */
    bool has[PCT_N_VALUE_KINDS];
    uint64_t sum[PCT_N_VALUE_KINDS];
    struct pct_stack_function *functions; /* each once */
    uint32_t n_functions;
    uint32_t *function_of; /* by node; PC_NO_INDEX: the root */
};

/* NULL: a figure is too large; `why` says which. The tree must outlive it. */
struct pct_stacks *pct_stacks_new(const struct pct_data *d, const struct pct_tree *tree,
                                  struct pct_buf *why);
void pct_stacks_free(struct pct_stacks *s);

/* Figures of a node itself, and with all below. */
uint64_t pct_stack_value(const struct pct_stacks *s, uint32_t node, enum pct_value_kind kind);
void pct_stack_values_below(const struct pct_stacks *s, uint32_t node,
                            uint64_t out[PCT_N_VALUE_KINDS]);
bool pct_stack_has_value(const struct pct_stacks *s, uint32_t node);
/* The nodes from the first below the root to this one: out has room for the depth of the tree.
 * Returns how many. */
uint32_t pct_stack_path(const struct pct_stacks *s, uint32_t node, uint32_t *out);
/* The longest path. */
uint32_t pct_stack_most(const struct pct_stacks *s);

void pct_viewer_folded(FILE *out, const struct pct_stacks *s, enum pct_value_kind kind);
void pct_viewer_speedscope(FILE *out, const struct pct_stacks *s);
void pct_viewer_pprof(FILE *out, const struct pct_stacks *s);
void pct_viewer_hatchet(FILE *out, const struct pct_stacks *s);
/* The table `series`. false: the profile has none. */
bool pct_viewer_chrome(FILE *out, const struct pct_data *d);

#endif
