/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Stacks that were taken once, each as a rank of its own.
 */
#ifndef PCT_STACK_PROFILE_H
#define PCT_STACK_PROFILE_H

#include "watch/watch.h"

/* Adds a stack to those of w, or counts it as one of a thread that is not the program's. */
int pct_stack_add(struct pct_watch *w, const struct pct_watched_stack *of,
                  const struct pct_stack *s, struct pc_error *error);

/* Reason why a process cannot be read, and what to do. */
int pct_stack_refused(int pid, int why, struct pc_error *error);

#endif
