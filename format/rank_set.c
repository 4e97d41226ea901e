/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/rank_set.h"

struct pc_rank_range pc_rank_range_next(const int32_t *ranks, size_t n)
{
    struct pc_rank_range r = {(uint32_t)ranks[0], 1, 1};
    if (n == 1)
        return r;
    uint32_t stride = (uint32_t)(ranks[1] - ranks[0]), k = 2;
    while (k < n && (uint32_t)(ranks[k] - ranks[k - 1]) == stride)
        k++;
    if (k > 2 || stride == 1)
        r = (struct pc_rank_range){(uint32_t)ranks[0], stride, k};
    return r;
}

void pc_rank_set_put(const int32_t *ranks, size_t n, struct pc_buffer *b)
{
    uint32_t n_ranges = 0, last = 0;
    for (size_t i = 0; i < n; n_ranges++)
        i += pc_rank_range_next(ranks + i, n - i).n;
    pc_put_varint(b, n_ranges);
    for (size_t i = 0; i < n;) {
        struct pc_rank_range r = pc_rank_range_next(ranks + i, n - i);
        pc_put_varint(b, r.first - last);
        pc_put_varint(b, r.n);
        if (r.n > 1)
            pc_put_varint(b, r.stride);
        last = r.first + (r.n - 1) * r.stride;
        i += r.n;
    }
}

size_t pc_rank_set_get(struct pc_cursor *c, uint32_t limit, int32_t *out, size_t most)
{
    uint32_t n_ranges = pc_get_count(c, 2);
    size_t n = 0;
    uint64_t next = 0; /* the least rank that the range may begin with */
    for (uint32_t k = 0; k < n_ranges && !c->failed; k++) {
        uint64_t first = pc_get_below(c, limit) + (k ? next - 1 : 0);
        uint64_t in_range = pc_get_below(c, limit);
        uint64_t stride = in_range > 1 ? pc_get_below(c, limit) : 1;
        uint64_t last = first + (in_range - 1) * stride;
        if (c->failed || first < next || !in_range || !stride || last >= limit ||
            in_range > most - n)
            return 0;
        for (uint64_t i = 0; i < in_range; i++)
            out[n++] = (int32_t)(first + i * stride);
        next = last + 1;
    }
    return c->failed ? 0 : n;
}
