/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The content of a section, read from the file and inflated in pieces: a reader has a window of it
 * in memory, and neither the stored bytes nor the inflated ones.
 *
 * Used by pcol_read.c, later_rows.c and contexts.c. Nothing here is AS-safe.
 */
#ifndef PC_FORMAT_UNPACK_H
#define PC_FORMAT_UNPACK_H

#include "format/build.h"

struct pc_unpacker;

/* Bytes of a file, and what becomes of them. */
struct pc_stored {
    int fd;
    uint64_t at, n; /* place and number of the stored bytes */
    uint64_t raw;   /* number when inflated */
    bool deflated;
};

/* Begins to read them by *c_out, which is valid until pc_unpacker_free. NULL with a text: no
 * memory, or lengths that are impossible. */
struct pc_unpacker *pc_unpacker_new(const struct pc_stored *s, struct pc_cursor *c_out,
                                    struct pc_error *error);

/* Another reader of what c, a cursor of an unpacker, has not read yet; it reads from fd. NULL: no
 * memory. */
struct pc_unpacker *pc_unpacker_copy(const struct pc_cursor *c, int fd, struct pc_cursor *c_out);

/* The file that the unpacker of a cursor reads. */
int pc_unpacker_fd(const struct pc_cursor *c);

/* To be called after the last byte. False: the bytes could not be read or inflated, or others
 * follow; the text says so. */
bool pc_unpacker_ended(struct pc_unpacker *u, struct pc_error *error);

void pc_unpacker_free(struct pc_unpacker *u); /* NULL is allowed */

#endif
