/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The values of ranks on their way to rank 0, separate from the profiles: the values of one rank
 * are a run of bytes that no intermediate rank decodes. Runs are put one behind the other in any
 * order.
 *
 * A run: rank and length of the rest (4 and 8 bytes); number of fields, of those of comm plugins,
 * and for each a hash of its names (8 bytes); number of records; for each its place among the kept
 * ones (as distance from the previous one), and its values except histograms, as varints; of a
 * record that is kept in steps the steps of its times alone.
 *
 * Used by reduce.c and files.c. Nothing here is AS-safe.
 */
#ifndef PC_MERGE_LISTS_H
#define PC_MERGE_LISTS_H

#include "merge/record_counts.h"

/* Removes all lists of a profile. */
void pc_lists_drop(struct pc_profile *p);

/* Appends the values of a profile of one rank to `out`, and removes all its lists. */
void pc_lists_put(struct pc_profile *p, const uint32_t *place_of_record, struct pc_buffer *out);

/* The places of the records of p, which were chosen for the rows of `counts` (record_counts.h), or
 * PC_NO_INDEX; freed with free(). NULL: no memory. */
uint32_t *pc_lists_places(const struct pc_profile *p, const struct pc_record_counts *counts,
                          const uint32_t *places);

/* Adds the lists in these runs to p, which has statistics only and these places. All ranks of p
 * must have sent theirs. PC_EFORMAT, PC_ENOMEM: p cannot be used. */
int pc_lists_get(struct pc_profile *p, const uint32_t *place_of_record, const uint8_t *data,
                 size_t n);

/* Marks the packed records of p that have a place: others will write their values, all exact, to
 * the file. Places become their numbers. PC_EFORMAT, PC_ENOMEM: p cannot be used. */
int pc_lists_leave(struct pc_profile *p, uint32_t *place_of_record);

#endif
