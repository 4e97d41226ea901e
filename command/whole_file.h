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

/* A stream keeps the reason for which it could not be written. stdio does not: once a block is
 * lost, fclose succeeds. */
struct pct_stream {
    int fd;
    int err; /* errno of the first write that failed, or 0; all that follows is dropped */
};
/* Opens a stream that writes whole blocks to fd. fclose leaves fd open. NULL: no memory. */
FILE *pct_stream_open(struct pct_stream *s, int fd);

/* Opens a sink, which takes bytes as they come (a pipe, a terminal, /dev/null, or by its name in
 * /dev the standard output or error of this process), or a new file, which may be read while it
 * grows. *made_out: it is a new file. -1: said. */
int pct_new_file(const struct pct_command *self, const char *path, bool *made_out);

/* Prints why a file is not written, and the cure. */
void pct_say_unwritten(const struct pct_command *self, const char *path, int err);

struct pct_whole_file {
    const struct pct_command *self;
    const char *path;
    bool replaces;
    FILE *out;
    struct pct_stream stream;
    struct pc_new_file file;
    bool sink; /* there is no new file */
};

/* Opens and closes the file; false, said. There may be a sink of this name; a file only if it
 * `replaces` it. */
bool pct_whole_file_open(struct pct_whole_file *w, const struct pct_command *self, const char *path,
                         bool replaces);
/* keep: the file gets its name if everything was written; else it disappears. */
bool pct_whole_file_close(struct pct_whole_file *w, bool keep);

#endif
