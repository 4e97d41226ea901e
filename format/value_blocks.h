/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Values by rank in a .pcol file, which can be read one field of a few records at a time:
 * doc/internals/format.md. Exact values and times in steps are in a section each. Only for the
 * files of format/.
 */
#ifndef PC_FORMAT_VALUE_BLOCKS_H
#define PC_FORMAT_VALUE_BLOCKS_H

#include "format/build.h"

/* Encodes the content of the section of that kind: all values of p that are exact, or in steps.
 * False: there are none. */
bool pc_columns_encode(const struct pc_profile *p, enum pc_kept kind, struct pc_buffer *out);

/* Opens the content, `n` bytes at offset `at` of the file fd, for p, and numbers the records of p;
 * those with times in steps are marked. Takes fd if it succeeds. PC_EFORMAT, PC_EIO, PC_ENOMEM
 * otherwise. */
int pc_columns_open(struct pc_profile *p, enum pc_kept kind, int fd, uint64_t at, uint64_t n,
                    struct pc_error *error);
/* Lets another profile, which has the same fields and the same record numbers, read from there,
 * too.
 */
struct pc_columns *pc_columns_share(struct pc_columns *c);
void pc_columns_close(struct pc_columns *c); /* called once by each user; NULL is allowed */

/* Reads all values, exact and in steps, into the lists of p, and closes. */
int pc_columns_load(struct pc_profile *p, struct pc_error *error);

#endif
