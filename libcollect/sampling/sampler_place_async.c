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

enum { SAMPLES, TIME, ARRIVALS, N_VALUES };

static const struct pcollect_column columns[] = {
    {"rank", "in MPI_COMM_WORLD", PCOLLECT_COLUMN_RANK, 0, PCOLLECT_UNIT_COUNT, 0},
    {"thread", "number of the thread's tree", PCOLLECT_COLUMN_NUMBER, 0, PCOLLECT_UNIT_COUNT, 0},
    {"processor", "on which it ran", PCOLLECT_COLUMN_NUMBER, 0, PCOLLECT_UNIT_COUNT, 0},
    [3 + SAMPLES] = {"samples", "interrupts of it there", PCOLLECT_COLUMN_NUMBER, PCOLLECT_SUM,
                     PCOLLECT_UNIT_COUNT, 0},
    [3 + TIME] = {"time", "CPU time that they stand for", PCOLLECT_COLUMN_NUMBER, PCOLLECT_SUM,
                  PCOLLECT_UNIT_NS, 0},
    [3 + ARRIVALS] = {"arrivals", "of them, after one on another processor", PCOLLECT_COLUMN_NUMBER,
                      PCOLLECT_SUM, PCOLLECT_UNIT_COUNT, 0},
};

const struct pcollect_table pc_sampler_placement = {.name = "placement",
                                                    .doc = "where each thread ran, by its samples",
                                                    .columns = columns,
                                                    .n_keys = 3,
                                                    .n_values = N_VALUES};

void pc_sampler_book_place(struct pc_thread *t, struct pc_sampler *s)
{
    unsigned processor = 0;
    if (syscall(SYS_getcpu, &processor, NULL, NULL))
        return;
    bool moved = s->place && processor != s->processor;
    if (!s->place || moved) {
        const uint64_t keys[3] = {(uint64_t)(int64_t)PCOLLECT_RANK_SELF, t->number, processor};
        s->place = pc_table_row(t, &pc_sampler_placement, keys);
        s->processor = processor;
    }
    if (!s->place)
        return;
    s->place[SAMPLES]++;
    s->place[TIME] += s->sample_ns;
    s->place[ARRIVALS] += moved;
}
