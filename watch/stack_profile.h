/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Stacks that were taken once, each as a separate rank.
 */
#ifndef PCT_STACK_PROFILE_H
#define PCT_STACK_PROFILE_H

#include "watch/watch.h"

/* Adds a stack to w, or only counts it if its thread is not the program's. */
int pct_stack_add(struct pct_watch *w, const struct pct_watched_stack *of,
                  const struct pct_stack *s, struct pc_error *error);

#endif
