/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The work that a runtime of OpenMP does itself: it handles tasks, gives out parts of loops, and
 * answers questions.
 */
#ifndef PCT_RUNTIME_WORK_H
#define PCT_RUNTIME_WORK_H

#include "analysis/symbols/symbols.h"
#include "analysis/tree/samples.h"

/* True if time in a runtime of OpenMP need not be a wait of its thread for others: more than 1 % of
 * the samples there are in a function that does other work, or below it. Few functions of a runtime
 * have names: how much of the time is such work is not known. */
bool pct_runtime_works(const struct pc_profile *p, struct pct_symbols *symbols,
                       const struct pct_samples *samples);

#endif
