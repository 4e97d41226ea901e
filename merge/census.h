/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Whose values by rank are kept. Before profiles are merged their records are counted: how many
 * ranks have a record, what its values would take, how much time it holds. A record is told by a
 * hash of its path, so that a census is a flat sorted array, and the sum of two is one pass.
 *
 * Used by reduce.c and files.c. Nothing here is AS-safe.
 */
#ifndef PC_MERGE_CENSUS_H
#define PC_MERGE_CENSUS_H

#include "format/build.h"

struct pc_census_row {
    uint64_t key;     /* of the path */
    uint64_t n_ranks; /* that have the record */
    uint64_t bytes;   /* of its lists in memory; UINT64_MAX: it cannot be told from another */
    uint64_t time;    /* in its fields of time that are summed, units of 1,024 ns a rank */
};

/* Rows are sorted by key and unique; freed with free(). */
struct pc_census {
    struct pc_census_row *rows;
    size_t n;
};

/* The keys of all records of a profile, by their number; free(). NULL: no memory. */
uint64_t *pc_census_keys(const struct pc_profile *p);

/* The census of a profile of one rank with those keys. PC_ENOMEM. */
int pc_census_take(const struct pc_profile *p, const uint64_t *keys, struct pc_census *out);

/* *sum becomes the sum of both. PC_ENOMEM: it stays. */
int pc_census_add(struct pc_census *sum, const struct pc_census *more);

void pc_census_encode(const struct pc_census *c, struct pc_buffer *out);
/* PC_EFORMAT, PC_ENOMEM: *out is empty. */
int pc_census_decode(const uint8_t *data, size_t n, struct pc_census *out);

/* What is kept: at most `bytes` (0: no bound), given to records in the order of the time that they
 * hold, but to none of more ranks than per_rank (0: no bound). */
struct pc_census_bound {
    uint64_t bytes;
    uint32_t per_rank;
};

/* For each row its place among those that are kept, or PC_NO_INDEX; free(). NULL: no memory. */
uint32_t *pc_census_choose(const struct pc_census *c, const struct pc_census_bound *bound);

/* The same places for the rows of a census that is part of another. */
uint32_t *pc_census_translate(const struct pc_census *all, const uint32_t *places,
                              const struct pc_census *part);

/* The place of a key in a census, or PC_NO_INDEX. */
uint32_t pc_census_place(const struct pc_census *c, const uint32_t *places, uint64_t key);

#endif
