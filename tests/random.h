/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Numbers from a seed, the same on every machine: a 64-bit linear congruential generator (Knuth's
 * MMIX), of which the upper bits are taken.
 */
#ifndef TEST_RANDOM_H
#define TEST_RANDOM_H

#include <math.h>
#include <stdint.h>

static inline uint64_t random_next(uint64_t *seed)
{
    return *seed = *seed * 6364136223846793005u + 1442695040888963407u;
}

/* 0 .. below - 1 */
static inline uint32_t random_below(uint64_t *seed, uint32_t below)
{
    return (uint32_t)(random_next(seed) >> 33) % below;
}

/* Between 0 and 1, neither of them. */
static inline double random_uniform(uint64_t *seed)
{
    return ((double)(random_next(seed) >> 11) + 0.5) / 9007199254740992.0;
}

/* Draws with mean 0 and variance 1. */
static inline double random_normal(uint64_t *seed)
{
    return sqrt(-2 * log(random_uniform(seed))) * cos(6.283185307179586 * random_uniform(seed));
}

#endif
