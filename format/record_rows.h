/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Records of a profile, read and written one after the other in the order of their contexts. They
 * are structures in memory, or packed: the bytes that they have in the part of records, without
 * their number in front. A structure takes as much for a record of one rank as for one of all, some
 * 1,000 bytes; packed, a record of one rank takes some 70. Where each rank has contexts of its own,
 * only packed ones find room at the root of a reduction. Records without histograms are structures
 * of as few bytes as they take (pc_profile_data_keep).
 *
 * Packed records have no values by rank, unless pc_records_make_lists has given them some; then
 * they can be written and encoded, but no longer be added to others. So can those that
 * pc_records_mark has marked.
 *
 * Used by profile_merge.c, merge/lists.c and merge/files.c. Nothing here is AS-safe.
 */
#ifndef PC_FORMAT_RECORD_ROWS_H
#define PC_FORMAT_RECORD_ROWS_H

#include "format/stat_code.h"

/* Room for one record, of a kind of node that has comm fields and of one that has not. */
struct pc_record_room {
    struct pc_profile_data with_comm, without;
};

/* Makes it for records of p. False: no memory. */
bool pc_record_room_make(struct pc_record_room *room, const struct pc_profile *p,
                         struct pc_pool *pool);

/* The room for a record of that kind, with bins that are 0. Its statistics may be those of the
 * record before: all of them will be set. */
struct pc_profile_data *pc_record_room_clear(struct pc_record_room *room,
                                             const struct pc_profile *p, unsigned kind);

struct pc_record_reader {
    const struct pc_profile *p;
    uint32_t n_read;
    bool failed; /* packed records are damaged; none follows */
    struct pc_cursor c;
    struct pc_bytes bytes;      /* the packed record that was read last */
    struct pc_record_head head; /* of the one that was passed last */
    struct pc_record_room room;
};

/* Begins to read the records of p; what it needs is taken from `scratch`. False: no memory. */
bool pc_record_reader_open(struct pc_record_reader *r, const struct pc_profile *p,
                           struct pc_pool *scratch);

/* The next record, of a node of that kind; valid until the next call. NULL: it is damaged. */
const struct pc_profile_data *pc_record_reader_next(struct pc_record_reader *r, unsigned kind);

/* Passes over the next record, which is packed, of a node of that kind. NULL: it is damaged; else
 * what it begins with, valid until the next call. */
const struct pc_record_head *pc_record_reader_pass(struct pc_record_reader *r, unsigned kind);

/* True if there was neither damage nor a record too many. */
bool pc_record_reader_ended(const struct pc_record_reader *r);

struct pc_record_writer {
    struct pc_profile *p;
    bool failed; /* no memory for a record */
    struct pc_buffer packed;
    struct pc_profile_data *record; /* the one that is written */
    struct pc_record_room room;
};

/* Begins the records of p, at most `most`, in p->data if it is there; they are packed if those of a
 * or b are. False: no memory. To be followed by pc_record_writer_close in either case. */
bool pc_record_writer_open(struct pc_record_writer *w, struct pc_profile *p, size_t most,
                           const struct pc_profile *a, const struct pc_profile *b,
                           struct pc_pool *scratch);

/* The next record, to be filled in, as pc_profile_data_init makes it. NULL: no memory. */
struct pc_profile_data *pc_record_writer_begin(struct pc_record_writer *w, unsigned kind,
                                               uint32_t n_ranks);
void pc_record_writer_end(struct pc_record_writer *w);

/* Writes the record that r has read last as it is, if both are packed and have the same fields.
 * False: it must be written anew. */
bool pc_record_writer_copy(struct pc_record_writer *w, const struct pc_record_reader *r);

/* True if the next records of a and b can be added by pc_record_writer_join, which needs no
 * structures: they are packed, and have the same fields, which those of the sum have as well. */
bool pc_record_writer_joins(const struct pc_record_writer *w, const struct pc_record_reader *a,
                            const struct pc_record_reader *b);

/* Writes the sum of the next records of a and b, of a node of that kind, which have no rank in
 * common. Damage is noted in the readers. */
void pc_record_writer_join(struct pc_record_writer *w, struct pc_record_reader *a,
                           struct pc_record_reader *b, unsigned kind);

/* Ends the records. False: no memory, then or before. */
bool pc_record_writer_close(struct pc_record_writer *w);

/* Packs the records of a profile, which must not have values by rank. False: no memory. */
bool pc_records_pack(struct pc_profile *p);

/* Marks the packed records i whose values are elsewhere, kept[i] of enum pc_kept, and makes
 * structures of all, as below. False: no memory, or damage. */
bool pc_records_mark(struct pc_profile *p, const uint8_t *kept);

/* Gives each record i the lists for what it keeps of its ranks, kept[i] of enum pc_kept; records of
 * packed ones become structures without statistics for this. The records of all ranks have one list
 * of ranks, which is filled in. False: no memory, or damage. */
bool pc_records_make_lists(struct pc_profile *p, const uint8_t *kept);

#endif
