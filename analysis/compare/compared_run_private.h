/* SPDX-License-Identifier: BSD-3-Clause
 *
 * For unit tests: runs of profiles that are in no file.
 */
#ifndef PCT_COMPARED_RUN_PRIVATE_H
#define PCT_COMPARED_RUN_PRIVATE_H

#include "analysis/compare/compared_run.h"

/* Makes an open run from a profile, which must outlive it. Takes ownership of the symbols. */
void pct_run_adopt(struct pct_run *run, const char *path, const struct pc_profile *profile,
                   struct pct_symbols *symbols);

#endif
