/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A loop of two instructions per round, independent of the compiler.
 */
#ifndef PC_TEST_LOOP_H
#define PC_TEST_LOOP_H

#include <stdint.h>

static inline __attribute__((always_inline)) void loop(uint64_t rounds)
{
#if defined __aarch64__
    __asm__ volatile("1: subs %0, %0, #1\n\tb.ne 1b" : "+r"(rounds) : : "cc");
#elif defined __x86_64__
    __asm__ volatile("1: subq $1, %0\n\tjne 1b" : "+r"(rounds) : : "cc");
#else
#error "the loop is not known for this processor"
#endif
}

#endif
