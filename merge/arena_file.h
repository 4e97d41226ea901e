/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Arena files as bytes in memory, for the files of merge/. Decides which files may be read, and how
 * much of them.
 */
#ifndef PC_MERGE_ARENA_FILE_H
#define PC_MERGE_ARENA_FILE_H

#include "base/base.h"
#include "cct/cct.h"

/* A private copy of the arena's contents: reading holes of the file through a mapping would fill
 * them, and a running process would change it. The caller frees `data`. */
struct pc_arena_bytes {
    char *data;
    size_t n;
};

/* Reads the bytes that are used according to the header, or only the header. PC_ENOENT: it is gone;
 * PC_EFORMAT: it is no arena; PC_EIO: it cannot be read, or belongs to another user; PC_ENOMEM. */
int pc_arena_file_read(const char *path, bool header_only, struct pc_arena_bytes *out,
                       struct pc_error *error);

/* The process that collects into the file: the kernel knows whether any has it mapped, of whatever
 * host name, clock or pid namespace. Gone is believed on tmpfs alone: a mapping of a file in an
 * overlay belongs to another file. */
enum pc_arena_owner { PC_OWNER_UNKNOWN, PC_OWNER_GONE, PC_OWNER_ALIVE };
enum pc_arena_owner pc_arena_file_owner(const char *path);

/* Copies a file whose owner may be writing, as at one instant: everything that can be reached in
 * the copy is complete, and the sums of threads are at least those of their contexts. Errors as
 * above. */
int pc_arena_file_copy(const char *path, bool runs, struct pc_arena_bytes *out,
                       struct pc_error *error);

#endif
