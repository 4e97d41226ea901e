/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A file of a subcommand that gets its name when it is complete.
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

/* Opens and closes the file; false, said. `replaces`: it replaces a file of this name; else there
 * must be none. */
bool pct_whole_file_open(struct pct_whole_file *w, const struct pct_command *self, const char *path,
                         bool replaces);
/* keep: the file gets its name if everything was written; else it disappears. */
bool pct_whole_file_close(struct pct_whole_file *w, bool keep);

#endif
