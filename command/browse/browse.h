/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pcollect browse: its two files.
 */
#ifndef PCT_BROWSE_H
#define PCT_BROWSE_H

#include "config.h"

#include "analysis/gather.h"
#include "command/command.h"

/* The i-th key: its name and what it does. False past the last, and in a build without ncurses. */
bool pct_browse_key(size_t i, const char **name_out, const char **doc_out);

/* Shows the profile until a key ends it. Returns the exit status. */
int pct_browse_show(const struct pct_command *self, const struct pct_data *d);

#endif
