/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a record has for a field, as bytes: a statistic, or the bins of a histogram. Inline, because
 * a merge reads and writes each of them for every record. Used by record_code.c, for records as
 * structures, and record_rows.c, where bytes are added to bytes.
 */
#ifndef PC_FORMAT_STAT_CODE_H
#define PC_FORMAT_STAT_CODE_H

#include "format/build.h"

static inline uint8_t *pc_store_u128(uint8_t *at, pc_u128 v)
{
    return pc_store_varint(pc_store_varint(at, (uint64_t)v), (uint64_t)(v >> 64));
}

static inline pc_u128 pc_u128_get(struct pc_cursor *c)
{
    pc_u128 low = pc_get_varint(c);
    return (pc_u128)pc_get_varint(c) << 64 | low;
}

/* Puts a statistic; for a single rank its value is enough. */
static inline void pc_stat_put(const struct pc_stat *s, struct pc_buffer *b)
{
    enum { NUMBERS = 9 };
    uint8_t *at = pc_buffer_end(b, (size_t)NUMBERS * PC_VARINT_MOST);
    if (!at)
        return;
    at = pc_store_varint(at, s->n);
    if (s->n) {
        at = pc_store_varint(at, s->min);
        at = pc_store_varint(at, (uint64_t)s->min_rank);
    }
    if (s->n > 1) {
        at = pc_store_varint(at, s->max - s->min);
        at = pc_store_varint(at, (uint64_t)s->max_rank);
        at = pc_store_u128(at, s->sum);
        at = pc_store_u128(at, s->sum_squares);
    }
    b->n = (size_t)(at - b->data);
}

/* Number of varints that a statistic of n ranks takes. */
static inline unsigned pc_stat_numbers(uint64_t n)
{
    return !n ? 1 : n == 1 ? 3 : 9;
}

static inline struct pc_stat pc_stat_get(struct pc_cursor *c, uint32_t n_ranks)
{
    struct pc_stat s = {.n = pc_get_below(c, n_ranks)};
    if (!s.n)
        return s;
    s.min = s.max = pc_get_varint(c);
    s.min_rank = s.max_rank = (int32_t)pc_get_below(c, INT32_MAX);
    s.sum = s.min;
    s.sum_squares = (pc_u128)s.min * s.min;
    if (s.n == 1)
        return s;
    uint64_t more = pc_get_varint(c);
    c->failed |= __builtin_add_overflow(s.min, more, &s.max);
    s.max_rank = (int32_t)pc_get_below(c, INT32_MAX);
    s.sum = pc_u128_get(c);
    s.sum_squares = pc_u128_get(c);
    return s;
}

/* Bins from `first` up to `end`; those outside are 0. */
struct pc_bin_range {
    uint32_t first, end;
};

/* Puts bins without those at both ends that are 0. */
static inline void pc_bins_put(const uint64_t *bins, struct pc_bin_range in, struct pc_buffer *b)
{
    while (in.first < in.end && !bins[in.first])
        in.first++;
    while (in.end > in.first && !bins[in.end - 1])
        in.end--;
    pc_put_varint(b, in.first == in.end ? 0 : in.first);
    pc_put_varint(b, in.end - in.first);
    for (uint32_t i = in.first; i < in.end; i++)
        pc_put_varint(b, bins[i]);
}

/* The bins, of at most n, whose counts follow. */
static inline struct pc_bin_range pc_bin_range_get(struct pc_cursor *c, uint32_t n)
{
    uint32_t first = (uint32_t)pc_get_below(c, n);
    return (struct pc_bin_range){first, first + (uint32_t)pc_get_below(c, n - first)};
}

static inline void pc_bins_get(struct pc_cursor *c, uint32_t n, uint64_t *bins)
{
    struct pc_bin_range in = pc_bin_range_get(c, n);
    for (uint32_t i = in.first; i < in.end; i++)
        bins[i] = pc_get_varint(c);
}

/* The begin of a record. */
struct pc_record_head {
    uint32_t n_ranks;
    int32_t first_rank;
    bool keeps_values;
};

static inline void pc_record_head_put(struct pc_record_head h, struct pc_buffer *b)
{
    pc_put_varint(b, (uint64_t)h.n_ranks << 1 | h.keeps_values);
    pc_put_varint(b, (uint64_t)h.first_rank);
}

static inline struct pc_record_head pc_record_head_get(struct pc_cursor *c)
{
    uint64_t head = pc_get_below(c, (uint64_t)INT32_MAX << 1 | 1);
    return (struct pc_record_head){.n_ranks = (uint32_t)(head >> 1),
                                   .keeps_values = head & 1,
                                   .first_rank = (int32_t)pc_get_below(c, INT32_MAX)};
}

#endif
