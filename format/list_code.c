/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Encodes the ranks of a record, and its values of one field, as bytes: each as the distance from
 * the previous one. Used for both forms that a profile has: in one piece (record_code.c), and in
 * blocks of a file (value_blocks.c).
 */
#include "format/build.h"

void pc_ranks_put(const struct pc_by_rank *by, struct pc_buffer *b)
{
    uint64_t last = UINT64_MAX;
    for (uint32_t r = 0; r < by->n; r++) {
        pc_put_varint(b, (uint64_t)by->ranks[r] - last - 1);
        last = (uint64_t)by->ranks[r];
    }
}

void pc_column_put(const struct pc_by_rank *by, struct pc_buffer *b)
{
    uint64_t last = 0;
    for (uint32_t r = 0; r < by->n; r++) {
        uint64_t v = by->values[r * by->stride];
        pc_put_varint(b, pc_zigzag(v - last));
        last = v;
    }
}

void pc_ranks_get(struct pc_cursor *c, uint32_t n, int32_t *out)
{
    uint64_t last = UINT64_MAX;
    for (uint32_t r = 0; r < n; r++) {
        last += pc_get_below(c, INT32_MAX) + 1;
        c->failed |= last > INT32_MAX;
        out[r] = (int32_t)last;
    }
}

void pc_column_get(struct pc_cursor *c, uint32_t n, uint64_t *out, size_t stride)
{
    uint64_t last = 0;
    for (uint32_t r = 0; r < n; r++) {
        last += pc_unzigzag(pc_get_varint(c));
        out[r * stride] = last;
    }
}
