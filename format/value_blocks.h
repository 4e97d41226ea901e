/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Values by rank in a .pcol file, which can be read one field of a few records at a time:
 * doc/internals/format.md. Only for the files of format/.
 */
#ifndef PC_FORMAT_COLUMNS_H
#define PC_FORMAT_COLUMNS_H

#include "format/build.h"

/* Encodes the content of the section: all values of p. */
void pc_columns_encode(const struct pc_profile *p, struct pc_buffer *out);

/* Opens the content, `n` bytes at offset `at` of the file fd, for p, and numbers the records of p.
 * Takes fd if it succeeds. PC_EFORMAT, PC_EIO, PC_ENOMEM otherwise. */
int pc_columns_open(struct pc_profile *p, int fd, uint64_t at, uint64_t n, struct pc_error *error);
/* Lets another profile, which has the same fields and the same record numbers, read from there,
 * too.
 */
struct pc_columns *pc_columns_share(struct pc_columns *c);
void pc_columns_close(struct pc_columns *c); /* called once by each user; NULL is allowed */

/* Reads all values into the lists of p, and closes. */
int pc_columns_load(struct pc_profile *p, struct pc_error *error);

#endif
