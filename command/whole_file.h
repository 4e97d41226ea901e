/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A file of a subcommand that has its name when it is whole.
 */
#ifndef PCT_COMMAND_WHOLE_FILE_H
#define PCT_COMMAND_WHOLE_FILE_H

#include "command/command.h"
#include "format/new_file.h"

#include <stdbool.h>
#include <stdio.h>

struct pct_whole_file {
    const struct pct_command *self;
    const char *path;
    bool replaces;
    FILE *out;
    struct pc_new_file file;
};

/* Both: false, said. `replaces`: whatever has the name when it is whole; else nothing may. */
bool pct_whole_file_open(struct pct_whole_file *w, const struct pct_command *self, const char *path,
                         bool replaces);
/* keep: it gets its name, if all was written; else nothing is left of it. */
bool pct_whole_file_close(struct pct_whole_file *w, bool keep);

#endif
