/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The clock: the processor's invariant counter where there is one, else CLOCK_MONOTONIC.
 */
#include "base/base.h"

#if defined __x86_64__
#include <cpuid.h>
#endif

bool pc_clock_is_counter;

static bool counter_is_invariant(void)
{
#if defined __x86_64__
    unsigned a, b, c, d;
    if (!__get_cpuid(0x80000007u, &a, &b, &c, &d))
        return false;
    return d & (1u << 8); /* invariant TSC: one rate in every power state */
#elif defined __aarch64__
    return true; /* the architecture guarantees this for cntvct_el0 */
#else
    return PC_CLOCK_TIME_REGISTER;
#endif
}

void pc_clock_init(void)
{
    pc_clock_is_counter = counter_is_invariant();
}

void pc_clock_pair(uint64_t *ticks_out, uint64_t *mono_ns_out)
{
    uint64_t best = UINT64_MAX;
    for (int i = 0; i < 5; i++) {
        uint64_t before = pc_ticks();
        uint64_t ns = pc_mono_ns();
        uint64_t after = pc_ticks();
        if (after - before < best) {
            best = after - before;
            *ticks_out = before + best / 2;
            *mono_ns_out = ns;
        }
    }
}

uint64_t pc_clock_scale(uint64_t ticks_0, uint64_t mono_0, uint64_t ticks_1, uint64_t mono_1)
{
    if (!pc_clock_is_counter && ticks_0 == mono_0)
        return (uint64_t)1 << 32;
    if (ticks_1 <= ticks_0 || mono_1 <= mono_0)
        return (uint64_t)1 << 32;
    unsigned __int128 ns = (unsigned __int128)(mono_1 - mono_0) << 32;
    return (uint64_t)(ns / (ticks_1 - ticks_0));
}
