/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A sum of arenas as a reader gets it, for tests: its records and tables are packed before.
 */
#ifndef TESTS_MERGE_UNPACKED_H
#define TESTS_MERGE_UNPACKED_H

#include "format/profile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static inline struct pc_profile *unpacked(const struct pc_profile *sum)
{
    struct pc_profile *p;
    uint8_t *data;
    size_t n;
    assert_int_equal(pc_profile_encode(sum, &data, &n), PC_OK);
    assert_int_equal(pc_profile_decode(data, n, &p, NULL), PC_OK);
    free(data);
    return p;
}

#endif
