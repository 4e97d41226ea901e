/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which profiles of a folder are of jobs that one job started, was started by, or met.
 */
#ifndef PCT_FAMILY_H
#define PCT_FAMILY_H

#include "command/command.h"
#include "format/profile.h"

/* One line for each such job of the profile at `path`, with the file of the other if it lies in the
 * same folder. Nothing for most profiles. Reads the statistics of the folder's other profiles. */
void pct_related_put(const char *path, const struct pc_profile *p);

#endif
