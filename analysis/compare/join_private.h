/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Between join.c, which lays trees over each other, and computation.c, which puts computation and
 * waiting where they belong.
 */
#ifndef PCT_JOIN_PRIVATE_H
#define PCT_JOIN_PRIVATE_H

#include "analysis/compare/join.h"

/* The child of that kind and label, found or made. */
uint32_t pct_join_child(struct pct_join *j, uint32_t parent, uint16_t kind, const char *label);

/* Adds the computation of run k: to the functions that were sampled if j->divided, the rest to
 * j->compute. joined: by node of the run's tree. */
void pct_join_add_computation(struct pct_join *j, const struct pct_run *run, size_t k,
                              const uint32_t *joined);

/* Moves the waiting of run k to what causes it; after pct_join_add_computation. */
void pct_join_blame(struct pct_join *j, const struct pct_run *run, size_t k,
                    const uint32_t *joined);

#endif
