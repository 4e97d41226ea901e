/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Encodes the ranks of a record, and its values of one field, as bytes: each as the distance from
 * the previous one; steps, if that is less, as the distance from the median of all, and values in
 * shares from the mean. Used for both
 * forms that a profile has: in one piece (record_code.c), and in blocks of a file (value_blocks.c).
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

/* ---- Values in shares ------------------------------------------------------------------------ */

static uint64_t mean_of(const struct pc_by_rank *by)
{
    pc_u128 sum = 0;
    for (uint32_t r = 0; r < by->n; r++)
        sum += by->values[r * by->stride];
    return by->n ? (uint64_t)(sum / by->n) : 0;
}

static uint64_t distance(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

void pc_share_column_put(const struct pc_by_rank *by, struct pc_buffer *b)
{
    uint64_t mean = mean_of(by), last = 0;
    pc_u128 from_last = 0, from_mean = 0;
    for (uint32_t r = 0; r < by->n; r++) {
        uint64_t v = by->values[r * by->stride];
        from_last += distance(v, last);
        from_mean += distance(v, mean);
        last = v;
    }
    bool near = mean && from_mean < from_last;
    pc_put_varint(b, near ? mean : 0);
    last = 0;
    for (uint32_t r = 0; r < by->n; r++) {
        uint64_t v = by->values[r * by->stride];
        pc_put_varint(b, pc_zigzag(v - (near ? mean : last)));
        last = v;
    }
}

void pc_share_column_get(struct pc_cursor *c, uint32_t n, uint64_t *out)
{
    uint64_t mean = pc_get_varint(c), last = 0;
    for (uint32_t r = 0; r < n; r++) {
        last = (mean ? mean : last) + pc_unzigzag(pc_get_varint(c));
        out[r] = last;
    }
}

/* ---- Steps ---------------------------------------------------------------------------------- */

static uint16_t step_at(const struct pc_by_rank *by, uint32_t r)
{
    return by->steps[r * by->stride];
}

static uint16_t median_step(const struct pc_by_rank *by)
{
    uint32_t count[PC_MOST_STEP + 1] = {0}, below = 0;
    uint16_t step = 0;
    for (uint32_t r = 0; r < by->n; r++)
        count[step_at(by, r)]++;
    while (below + count[step] <= by->n / 2)
        below += count[step++];
    return step;
}

/* True if steps are nearer to the one before than to the median: of noise they are not. */
static bool follow_each_other(const struct pc_by_rank *by, uint16_t median)
{
    uint64_t from_last = 0, from_median = 0;
    for (uint32_t r = 1; r < by->n; r++) {
        from_last += (uint64_t)abs(step_at(by, r) - step_at(by, r - 1));
        from_median += (uint64_t)abs(step_at(by, r) - median);
    }
    return from_last < from_median;
}

void pc_steps_put(const struct pc_by_rank *by, struct pc_buffer *b)
{
    uint16_t median = by->n ? median_step(by) : 0;
    bool follow = follow_each_other(by, median);
    uint64_t from = median;
    pc_put_varint(b, from << 1 | follow);
    for (uint32_t r = 0; r < by->n; r++) {
        pc_put_varint(b, pc_zigzag(step_at(by, r) - from));
        from = follow ? step_at(by, r) : from;
    }
}

void pc_steps_get(struct pc_cursor *c, uint32_t n, uint16_t *out, size_t stride)
{
    uint64_t head = pc_get_below(c, PC_MOST_STEP << 1 | 1), from = head >> 1;
    for (uint32_t r = 0; r < n; r++) {
        uint64_t step = from + pc_unzigzag(pc_get_varint(c));
        c->failed |= !pc_step_valid(step);
        step = c->failed ? 0 : step;
        out[r * stride] = (uint16_t)step;
        from = head & 1 ? step : from;
    }
}
