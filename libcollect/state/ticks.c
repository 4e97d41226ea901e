/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Length of a tick, from two points on both clocks, as far apart as possible.
 */
#include "libcollect/state/state.h"
#include "plugins/plugins.h"

void pc_note_start(void)
{
    if (pc_process.first_ticks)
        return;
    pc_clock_init();
    pc_clock_pair(&pc_process.first_ticks, &pc_process.first_mono_ns);
}

void pc_guess_scale(void)
{
    uint64_t ticks, mono;
    do
        pc_clock_pair(&ticks, &mono);
    while (mono - pc_process.first_mono_ns < 50000);
    pc_process.host.ns_per_tick_q32 =
        pc_clock_scale(pc_process.first_ticks, pc_process.first_mono_ns, ticks, mono);
}

void pc_note_time(void)
{
    struct pcollect_arena_header *h = pc_header();
    pc_clock_pair(&h->ticks_1, &h->mono_1_ns);
    pc_process.host.ns_per_tick_q32 =
        pc_clock_scale(h->ticks_0, h->mono_0_ns, h->ticks_1, h->mono_1_ns);
    pc_time_set_clock(pc_process.host.ns_per_tick_q32);
}
