/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Chooses the records for which values by rank are kept, exact or in steps, and those that are
 * folded (fold.h). Before profiles are merged their records are counted: the ranks that have a
 * record, the bytes that its values would take, and its time. A record is identified by a hash of
 * its path, so that the counts are a flat sorted array, and the sum of two is one pass.
 *
 * Used by reduce.c and files.c. Nothing here is AS-safe.
 */
#ifndef PC_MERGE_RECORD_COUNTS_H
#define PC_MERGE_RECORD_COUNTS_H

#include "format/build.h"

struct pc_record_count {
    uint64_t key;     /* hash of the path */
    uint32_t n_ranks; /* ranks that have the record; 0: it is folded (fold.h) */
    uint32_t n_times; /* times of all of them that would be kept in steps (pc_field_in_steps) */
    uint64_t bytes; /* size of its lists in memory; UINT64_MAX: its key is not unique, or folded */
    uint64_t time;  /* sum of its summed time fields, in units of 1,024 ns, rounded per rank */
};

/* Rows are sorted by key and unique; freed with free(). */
struct pc_record_counts {
    struct pc_record_count *rows;
    size_t n;
};

/* The keys of all records of a profile, by record number; freed with free(). NULL: no memory. */
uint64_t *pc_record_counts_keys(const struct pc_profile *p);

/* The counts of a profile of one rank with those keys. PC_ENOMEM. */
int pc_record_counts_take(const struct pc_profile *p, const uint64_t *keys,
                          struct pc_record_counts *out);

/* Adds `more` to *sum. PC_ENOMEM: *sum is unchanged. */
int pc_record_counts_add(struct pc_record_counts *sum, const struct pc_record_counts *more);

/* Leaves the rows that have a place, and their places. */
void pc_record_counts_keep_places(struct pc_record_counts *c, uint32_t *places);

/* Bytes that the records and their contexts are expected to take in memory while two sums of them
 * are added. `of` is the profile of a rank. */
uint64_t pc_record_counts_memory(const struct pc_record_counts *c, const struct pc_profile *of);

/* The keys of counts without the rest, a quarter of the memory; freed with free(). */
struct pc_record_keys {
    uint64_t *keys;
    size_t n;
};

void pc_record_counts_encode(const struct pc_record_counts *c, struct pc_buffer *out);
/* Adds encoded counts to *sum, and sets *keys to theirs. They are never all in memory beside the
 * sum. PC_EFORMAT: only those before the damage were added; PC_ENOMEM: none. There are no keys
 * then.
 */
int pc_record_counts_add_encoded(struct pc_record_counts *sum, const uint8_t *data, size_t n,
                                 struct pc_record_keys *keys);

/* Marks those with least time as folded, so that `most` are not (0: all). */
void pc_record_counts_fold(struct pc_record_counts *c, uint32_t most);

/* The record of a rank in the profile of the job. */
enum pc_record_fate {
    PC_RECORD_FOLDED,
    PC_RECORD_OWN, /* no other rank has it */
    PC_RECORD_SHARED
};
/* True if some are folded. */
bool pc_record_counts_any_folded(const struct pc_record_counts *c);
enum pc_record_fate pc_record_counts_fate(const struct pc_record_counts *c, uint64_t key);

/* The row of each key of `part`, or PC_NO_INDEX; freed with free(). NULL: no memory. */
uint32_t *pc_record_counts_find(const struct pc_record_counts *all,
                                const struct pc_record_keys *part);

/* Encodes the fates of n rows of `all`; nothing if none is folded. Decodes them into the rows;
 * errors are noted in the cursor. */
void pc_record_counts_put_fates(const struct pc_record_counts *all, const uint32_t *rows, size_t n,
                                struct pc_buffer *out);
void pc_record_counts_get_fates(struct pc_record_counts *c, struct pc_cursor *from);

/* Bound of the values that are kept: at most `bytes` (0: no bound), but not those of records of
 * more than per_rank ranks (0: no bound). */
struct pc_kept_bound {
    uint64_t bytes;
    uint32_t per_rank;
};

/* So many records, those with most time, have times in steps before any has exact values. */
enum { PC_KEPT_FIRST = 100 };

/* The place of a record whose values are kept: its number among these, and how they are kept. */
static inline uint32_t pc_place(uint32_t number, bool in_steps)
{
    return number << 1 | in_steps;
}

static inline uint32_t pc_place_number(uint32_t place)
{
    return place >> 1;
}

static inline bool pc_place_in_steps(uint32_t place)
{
    return place & 1;
}

/* For each row its place, or PC_NO_INDEX; freed with free(). In descending order of their time the
 * first PC_KEPT_FIRST records get steps; then, in the same order, all get exact values, these in
 * place of steps; a record that does not fit into what is left is passed over. NULL: no memory. */
uint32_t *pc_record_counts_choose(const struct pc_record_counts *c,
                                  const struct pc_kept_bound *bound);

/* Bytes of the exact values of the records that have places. */
uint64_t pc_record_counts_bytes(const struct pc_record_counts *c, const uint32_t *places);

/* The place of each of n records with those keys, or PC_NO_INDEX; freed with free(). NULL: no
 * memory, or no places. */
uint32_t *pc_record_counts_places(const struct pc_record_counts *c, const uint32_t *places,
                                  const uint64_t *keys, uint32_t n);

#endif
