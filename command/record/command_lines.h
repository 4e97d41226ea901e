/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Command lines of what is recorded, for the table `command_lines`, which profiles of the library
 * have as well.
 */
#ifndef PCT_COMMAND_LINES_H
#define PCT_COMMAND_LINES_H

#include "format/profile.h"

struct pct_command_line {
    char *text; /* words as a shell would take them */
    uint64_t n; /* processes that were started with it */
};

struct pct_command_lines {
    struct pct_command_line *at;
    size_t n, room;
};

/* Adds that of a command that is started. */
void pct_command_lines_start(struct pct_command_lines *c, char *const *words, size_t n);
/* Adds those of running processes, or of the processes of threads; of what cannot be read none. */
void pct_command_lines_look(struct pct_command_lines *c, const int *ids, size_t n);
/* Adds the table to a profile that has none, unless there are no lines. */
void pct_command_lines_keep(struct pct_command_lines *c, struct pc_profile *p);
void pct_command_lines_free(struct pct_command_lines *c);

#endif
