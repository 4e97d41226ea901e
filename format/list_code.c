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

static uint64_t median_step(const struct pc_step_survey *survey)
{
    uint64_t step = 0;
    for (uint32_t below = 0; survey->n && below + survey->count[step] <= survey->n / 2; step++)
        below += survey->count[step];
    return step;
}

struct pc_step_origin pc_step_survey_origin(const struct pc_step_survey *survey)
{
    uint64_t median = median_step(survey);
    uint64_t from_median = 0;
    for (uint64_t step = 0; step <= PC_MOST_STEP; step++)
        from_median += survey->count[step] * distance(step, median);
    from_median -= survey->n ? distance(survey->first, median) : 0;
    return (struct pc_step_origin){.step = median, .follow = survey->from_last < from_median};
}

void pc_step_origin_put(const struct pc_step_origin *o, struct pc_buffer *b)
{
    pc_put_varint(b, o->step << 1 | o->follow);
}

struct pc_step_origin pc_step_origin_get(struct pc_cursor *c)
{
    uint64_t head = pc_get_below(c, PC_MOST_STEP << 1 | 1);
    return (struct pc_step_origin){.step = head >> 1, .follow = head & 1};
}

void pc_steps_put(const struct pc_by_rank *by, struct pc_buffer *b)
{
    struct pc_step_survey survey = {.n = 0};
    for (uint32_t r = 0; r < by->n; r++)
        pc_step_survey_add(&survey, step_at(by, r));
    struct pc_step_origin from = pc_step_survey_origin(&survey);
    pc_step_origin_put(&from, b);
    for (uint32_t r = 0; r < by->n; r++)
        pc_step_put(&from, step_at(by, r), b);
}

void pc_steps_get(struct pc_cursor *c, uint32_t n, uint16_t *out, size_t stride)
{
    struct pc_step_origin from = pc_step_origin_get(c);
    for (uint32_t r = 0; r < n; r++)
        out[r * stride] = (uint16_t)pc_step_get(&from, c);
}
