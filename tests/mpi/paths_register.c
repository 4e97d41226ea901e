/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Truth program `paths`: the register of the frame pointer holds other values. This file is always
 * compiled with -O2 -fomit-frame-pointer. Seven values that live across a call need all registers
 * that a call preserves. The program checks that the frame pointer's register has changed.
 */
#include "tests/mpi/paths.h"

static uintptr_t last_register;
static int n_changes;

__attribute__((always_inline)) static inline void look(void)
{
    uintptr_t now = 0;
#if defined __x86_64__
    __asm__ volatile("mov %%rbp, %0" : "=r"(now));
#elif defined __aarch64__
    __asm__ volatile("mov %0, x29" : "=r"(now));
#endif
    n_changes += now != last_register;
    last_register = now;
}

TRUTH_FUNCTION static void leaf(void)
{
    ENTER;
    TOUCH;
    LEAVE;
}

TRUTH_FUNCTION static uint64_t busy(uint64_t a, uint64_t n)
{
    uint64_t b = a + 1, c = a + 2, d = a + 3, e = a + 4, f = a + 5, g = a + 6;
    ENTER;
    for (uint64_t i = 0; i < n; i++) {
        look();
        TOUCH;
        DO(leaf());
        a += b ^ i;
        b += c ^ a;
        c += d ^ b;
        d += e ^ c;
        e += f ^ d;
        f += g ^ e;
        g += a ^ f;
    }
    LEAVE;
    return a ^ b ^ c ^ d ^ e ^ f ^ g;
}

void paths_register(void)
{
    uint64_t sum = 0;
    ENTER;
    for (uint64_t i = 0; i < 10; i++)
        DO(sum += busy(i + sum, 50));
    LEAVE;
#if defined __x86_64__
    REQUIRE(n_changes > 100);
#endif
}
