/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A file that is written before it has its name: a reader sees what was there before, or the whole
 * new file.
 */
#ifndef PC_NEW_FILE_H
#define PC_NEW_FILE_H

#include <stdbool.h>

enum { PC_NEW_FILE_BYTES = 4096 };

struct pc_new_file {
    int fd;                       /* -1: closed */
    char name[PC_NEW_FILE_BYTES]; /* hidden, beside the name that it will have; empty: it has none,
                                     and goes with the process */
};

/* All return 0 or an errno. */

/* In the folder of `path`. */
int pc_new_file_open(struct pc_new_file *f, const char *path);
/* All is written: network file systems report quotas here. */
int pc_new_file_finish(struct pc_new_file *f);
/* Gives it the name if nobody has it, else EEXIST. */
int pc_new_file_take(struct pc_new_file *f, const char *path);
/* Gives it the name, whoever has it. */
int pc_new_file_replace(struct pc_new_file *f, const char *path);
/* At the end, or if nothing came of it: nothing is left but what has its name. */
void pc_new_file_drop(struct pc_new_file *f);

#endif
