/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Seed of random tests: the number in the test, so that each run is the same, or another one for
 * each PCOLLECT_TEST_SEED. tests/run-test prints the one that repeats a failure. Scripts have $seed
 * (tests/lib.sh). PCOLLECT_TEST_LONG asks for the long form of a test.
 */
#ifndef TEST_SEED_H
#define TEST_SEED_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

static inline uint64_t test_seed(uint64_t usual)
{
    const char *asked = getenv("PCOLLECT_TEST_SEED");
    return usual + (asked ? strtoull(asked, NULL, 10) : 0) * 0x9e3779b97f4a7c15u;
}

static inline bool test_is_long(void)
{
    return getenv("PCOLLECT_TEST_LONG") != NULL;
}

#endif
