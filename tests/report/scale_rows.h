/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the tests of pcollect scale have in common: calls of a made run, and rows of a comparison.
 */
#ifndef PC_TEST_SCALE_ROWS_H
#define PC_TEST_SCALE_ROWS_H

#include "sample.h"
#include "view/compare_print.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const double ms = 1e6;

/* Ten calls of each rank from the newest context. */
static inline void add_calls(struct sample *s, unsigned p, double time_ms)
{
    for (unsigned r = 0; r < p; r++)
        sample_add(s, &(struct sample_calls){.rank = (int32_t)r,
                                             .count = 10,
                                             .time = (uint64_t)llround(time_ms * ms),
                                             .min = 1,
                                             .max = (uint64_t)llround(time_ms * ms),
                                             .sent = 80});
}

static inline const struct pct_scale_row *row_named(const struct pct_scale *s, const char *start)
{
    for (size_t i = 0; i < s->n_rows; i++) {
        if (!strncmp(s->rows[i].place, start, strlen(start)))
            return &s->rows[i];
    }
    fail_msg("no row %s", start);
    return NULL;
}

static inline bool is_near(double a, double b)
{
    return fabs(a - b) <= 1e-5 * (fabs(a) + fabs(b)) + 1;
}

#endif
