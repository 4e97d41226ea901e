/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The values of ranks on their way to rank 0, apart from the profiles: those of a rank are one run
 * of bytes that no rank between reads. Runs are put one behind the other in the order of ranks.
 *
 * A run: rank; number of fields, of those of comm plugins, and for each a hash of its names (8
 * bytes); number of records; for each its place among those that are kept (as distance from the one
 * before), and its values but for histograms, as varints.
 *
 * Used by reduce.c. Nothing here is AS-safe.
 */
#ifndef PC_MERGE_LISTS_H
#define PC_MERGE_LISTS_H

#include "merge/record_counts.h"

/* Takes the lists of records that have no place. */
void pc_lists_drop(struct pc_profile *p, const uint32_t *place_of_record);

/* Puts the values of a profile of one rank, and takes all lists from it. */
void pc_lists_put(struct pc_profile *p, const uint32_t *place_of_record, struct pc_buffer *out);

/* Gives p, which has statistics only, the lists in those runs: all of its ranks must have sent
 * theirs. PC_EFORMAT, PC_ENOMEM: p cannot be used. */
int pc_lists_get(struct pc_profile *p, const uint32_t *place_of_record, const uint8_t *data,
                 size_t n);

#endif
