/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Finds profiles of jobs that one job started, was started by, or met.
 */
#ifndef PCT_FAMILY_H
#define PCT_FAMILY_H

#include "command/command.h"
#include "format/profile.h"

/* Prints one line for each such job of the profile at `path`, with its file if it is in the same
 * folder. Prints nothing for most profiles. Reads the statistics of the folder's other profiles. */
void pct_related_put(const char *path, const struct pc_profile *p);

#endif
