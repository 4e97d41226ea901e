/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Arena files as bytes in memory, for the files of merge/. Who may be read, and how much of a file,
 * is decided here.
 */
#ifndef PC_MERGE_ARENA_FILE_H
#define PC_MERGE_ARENA_FILE_H

#include "base/base.h"
#include "cct/cct.h"

/* A private copy of what the arena holds: reading the file's holes through a mapping would fill
 * them, and a process that still runs would write to it. `data` is to be freed. */
struct pc_arena_bytes {
    char *data;
    size_t n;
};

/* The first bytes of the file that the header calls used, or only the header. PC_EFORMAT: it is no
 * arena; PC_EIO: it cannot be read, or belongs to another user; PC_ENOMEM. */
int pc_arena_file_read(const char *path, bool header_only, struct pc_arena_bytes *out,
                       struct pc_error *error);

/* Copies a file whose owner may be writing, as at one instant: what can be reached in the copy
 * is whole, and the sums of threads are at least those of their contexts. Errors as above. */
int pc_arena_file_copy(const char *path, struct pc_arena_bytes *out, struct pc_error *error);

#endif
