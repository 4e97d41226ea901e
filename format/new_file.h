/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A file that is written before it has its name: a reader sees the old file, or the whole new one.
 */
#ifndef PC_NEW_FILE_H
#define PC_NEW_FILE_H

#include "base/base.h"

#include <stdbool.h>

enum { PC_NEW_FILE_BYTES = 4096 };

struct pc_new_file {
    int fd;                       /* -1: closed */
    char name[PC_NEW_FILE_BYTES]; /* hidden, beside the final name; empty: none */
};

/* All return 0 or an errno. */

/* Opens a new file in the folder of `path`. */
int pc_new_file_open(struct pc_new_file *f, const char *path);
/* Ends writing: network file systems report exceeded quotas here. */
int pc_new_file_finish(struct pc_new_file *f);
/* Gives it the name; EEXIST if another file has it. */
int pc_new_file_take(struct pc_new_file *f, const char *path);
/* Gives it the name, and replaces a file that has it. */
int pc_new_file_replace(struct pc_new_file *f, const char *path);
/* Closes the file, and removes it unless it has its name. */
void pc_new_file_drop(struct pc_new_file *f);

/* Writes what the user can do about a file that was not written because of this errno. `by`: the
 * settings that name another path; NULL: none is named. */
void pc_new_file_cure(struct pc_error *cure, int err, const char *by);

#endif
