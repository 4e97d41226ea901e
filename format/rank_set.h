/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sets of ranks as ranges with strides, which fit typical sets: the ranks of a node, every eighth,
 * the even ones. As text: `0-1023:8,2048`.
 */
#ifndef PC_RANK_SET_H
#define PC_RANK_SET_H

#include "format/bytes.h"

/* Ranks first, first + stride, ...: n of them. */
struct pc_rank_range {
    uint32_t first, stride, n;
};

/* The longest range with which an ascending list of n ranks begins; ranks[0] alone if the next two
 * do not follow at one distance. n is at least 1. MT-safe. */
struct pc_rank_range pc_rank_range_next(const int32_t *ranks, size_t n);

/* An ascending list as bytes: number of ranges; each: first rank minus the last of the previous
 * range, number of ranks, and the stride if there are several. MT-safe. */
void pc_rank_set_put(const int32_t *ranks, size_t n, struct pc_buffer *b);

/* Decodes such bytes into an ascending list of at most `most` ranks, each below `limit`. Returns
 * the number of ranks, or 0 if the bytes are no such set. MT-safe. */
size_t pc_rank_set_get(struct pc_cursor *c, uint32_t limit, int32_t *out, size_t most);

#endif
