/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The table `placement`, which shows where threads run: the samples of each thread on each
 * processor.
 *
 * Every function of this file may run in a signal handler.
 */
#include "libcollect/sampling/sampler.h"
#include "libcollect/state/plugin_table.h"

#include <sys/syscall.h>
#include <unistd.h>

void pc_sampler_book_place(struct pc_thread *t, struct pc_sampler *s)
{
    unsigned processor = 0;
    if (syscall(SYS_getcpu, &processor, NULL, NULL))
        return;
    bool moved = s->place && processor != s->processor;
    if (!s->place || moved) {
        const uint64_t keys[3] = {(uint64_t)(int64_t)PCOLLECT_RANK_SELF, t->number, processor};
        s->place = pc_table_row(t, &pc_table_placement, keys);
        s->processor = processor;
    }
    if (!s->place)
        return;
    s->place[PC_PLACEMENT_SAMPLES]++;
    s->place[PC_PLACEMENT_TIME] += s->sample_ns;
    s->place[PC_PLACEMENT_ARRIVALS] += moved;
}
