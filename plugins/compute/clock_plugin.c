/* SPDX-License-Identifier: BSD-3-Clause
 *
 * clock: the number of samples in a context, and the CPU time that they stand for.
 *
 * The time is not measured but estimated: a sample stands for the CPU time of its thread since the
 * previous sample. The squares give the error of the estimate (doc/internals/sampling.md): samples
 * that stand for more time have more weight.
 */
#include "plugins/plugins.h"

#include <stddef.h>

struct record {
    uint64_t samples, time_ns, squares;
};

static const struct pcollect_field fields[] = {
    {"samples", "samples", PCOLLECT_SUM, PCOLLECT_UNIT_COUNT, 0, offsetof(struct record, samples)},
    {"time", "CPU time that the samples stand for", PCOLLECT_SUM, PCOLLECT_UNIT_NS, 0,
     offsetof(struct record, time_ns)},
    {"squares", "sum of squares of the time in us that each of them stands for", PCOLLECT_SUM,
     PCOLLECT_UNIT_COUNT, 0, offsetof(struct record, squares)},
};

static int start(const struct pcollect_host *host, void **state)
{
    (void)host;
    *state = NULL;
    return 0;
}

static void trigger(void *state, const struct pcollect_sample *sample, void *data)
{
    struct record *r = data;
    (void)state;
    r->samples++;
    r->time_ns += sample->period_ns;
    /* The sum of squares stays below 2^64 in a day of samples of a second each. */
    uint64_t us = (sample->period_ns + 500) / 1000;
    r->squares += us * us;
}

const struct pcollect_compute_plugin pc_plugin_clock = {
    .abi = PCOLLECT_PLUGIN_ABI,
    .size = sizeof(struct pcollect_compute_plugin),
    .kind = PCOLLECT_PLUGIN_COMPUTE,
    .record_bytes = sizeof(struct record),
    .name = "clock",
    .doc = "samples and the CPU time that they stand for in each context",
    .fields = fields,
    .n_fields = sizeof fields / sizeof fields[0],
    .init = start,
    .trigger = trigger,
};
