/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Values by rank in a .pcol file, which can be read one field of a few records at a time:
 * doc/internals/format.md. Exact values and times in steps are in a section each. Only for the
 * files of format/.
 */
#ifndef PC_FORMAT_VALUE_BLOCKS_H
#define PC_FORMAT_VALUE_BLOCKS_H

#include "format/build.h"

/* Bytes before the index. */
#define PC_COLUMNS_HEAD_BYTES 24u

/* True if field k has a column: its values, or times that may be in steps. */
static inline bool pc_columns_have(const struct pc_profile *p, uint32_t k, enum pc_kept kind)
{
    const struct pc_profile_field *f = &p->fields[k];
    bool is_time = f->combine == PCOLLECT_SUM && f->unit == PCOLLECT_UNIT_NS;
    return kind == PC_KEPT_STEPS ? is_time : f->combine != PCOLLECT_HIST;
}

/* Encodes the content of the section of that kind: all values of p that are exact, or in steps; or
 * of a share, whose values are exact. False: there are none. */
bool pc_columns_encode(const struct pc_profile *p, enum pc_kept kind, bool in_share,
                       struct pc_buffer *out);

/* The content: n bytes at offset `at` of the file fd. */
struct pc_stored_columns {
    int fd;
    uint64_t at, n;
};

/* Opens the content for p, and numbers the records of p; those with times in steps are marked.
 * Takes fd if it succeeds. PC_EFORMAT, PC_EIO, PC_ENOMEM otherwise. */
int pc_columns_open(struct pc_profile *p, enum pc_kept kind, const struct pc_stored_columns *from,
                    struct pc_error *error);

/* The numbers of the records that a section of steps has, in their order; the caller frees them.
 * NULL, and none of them: they cannot be read. */
uint32_t *pc_columns_numbers(const struct pc_stored_columns *from, uint32_t *n_out);

/* The records and fields of one of n_shares shares, in its own order. */
struct pc_columns_shape {
    uint32_t n_shares;
    int32_t first_rank;
    uint32_t n_fields, n_records;
    const uint32_t *fields;  /* of the profile */
    const uint32_t *numbers; /* of its records among those that keep values, ascending */
    const uint32_t *n_ranks; /* of each record in this share */
    const bool *has_comm;    /* true for each record that has fields of comm plugins */
};

/* Lets p read values from at most n shares, and numbers its records. Takes fd if it succeeds. Then
 * adds each, in the order of ranks: PC_EFORMAT, PC_EIO, PC_ENOMEM if it cannot be read. At the end
 * records of which ranks are missing keep statistics alone; their number is *n_dropped_out. */
int pc_columns_begin_shares(struct pc_profile *p, int fd, uint32_t n);
int pc_columns_add_share(struct pc_profile *p, const struct pc_columns_shape *shape,
                         const struct pc_stored_columns *from);
int pc_columns_end_shares(struct pc_profile *p, uint32_t *n_dropped_out);
/* Takes the shares from p again, but leaves their file open. */
void pc_columns_give_up(struct pc_profile *p);

/* Lets another profile, which has the same fields and the same record numbers, read from there,
 * too.
 */
struct pc_columns *pc_columns_share(struct pc_columns *c);
void pc_columns_close(struct pc_columns *c); /* called once by each user; NULL is allowed */

/* Reads all values, exact and in steps, into the lists of p, and closes. */
int pc_columns_load(struct pc_profile *p, struct pc_error *error);

#endif
