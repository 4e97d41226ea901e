/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Where random tests begin: the number that is written in the test, so that each run is the same,
 * or another for each PCOLLECT_TEST_SEED. tests/run-test says with which one a failure is repeated.
 * Scripts have $seed (tests/lib.sh).
 */
#ifndef TEST_SEED_H
#define TEST_SEED_H

#include <stdint.h>
#include <stdlib.h>

static inline uint64_t test_seed(uint64_t usual)
{
    const char *asked = getenv("PCOLLECT_TEST_SEED");
    return usual + (asked ? strtoull(asked, NULL, 10) : 0) * 0x9e3779b97f4a7c15u;
}

#endif
