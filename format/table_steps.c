/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Steps of times in large tables: see table_rows.h.
 */
#include "format/table_rows.h"

enum { HALF = PC_TABLE_STEPS / 2, MOST_STEP = HALF * 57 + PC_TABLE_STEPS - 1 };

uint64_t pc_step_of(uint64_t v)
{
    if (v < PC_TABLE_STEPS)
        return v;
    unsigned shift = 57u - (unsigned)__builtin_clzll(v); /* 7 bits are left */
    uint64_t step = (uint64_t)HALF * shift + (v >> shift) + (v >> (shift - 1) & 1);
    return step < MOST_STEP ? step : MOST_STEP;
}

bool pc_step_valid(uint64_t step)
{
    return step <= MOST_STEP;
}

uint64_t pc_step_value(uint64_t step)
{
    return step < PC_TABLE_STEPS ? step : (HALF + step % HALF) << (step / HALF - 1);
}
