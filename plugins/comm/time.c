/* SPDX-License-Identifier: BSD-3-Clause
 *
 * time: how often, how long, how many bytes, for each primitive in each context.
 *
 * Durations are added in ticks, which is exact, and become nanoseconds at the merge. The histogram
 * must be comparable between machines, so its bins are nanoseconds: bin k counts durations d with
 * 2^k <= d < 2^(k+1) ns, bin 0 also d = 0, the last bin all that are longer (from 2^39 ns, 9 min).
 */
#include "plugins/plugins.h"

#include <stddef.h>

enum { BINS = 40 };

struct record {
    uint64_t count, sum, min, max;
    uint64_t bytes_sent, bytes_received;
    uint64_t durations[BINS];
};

static const struct pcollect_field fields[] = {
    {"count", "calls", PCOLLECT_SUM, PCOLLECT_UNIT_COUNT, 0, offsetof(struct record, count)},
    {"time", "time in the calls", PCOLLECT_SUM, PCOLLECT_UNIT_TICKS, 0,
     offsetof(struct record, sum)},
    {"min", "shortest call", PCOLLECT_MIN, PCOLLECT_UNIT_TICKS, 0, offsetof(struct record, min)},
    {"max", "longest call", PCOLLECT_MAX, PCOLLECT_UNIT_TICKS, 0, offsetof(struct record, max)},
    {"bytes_sent", "bytes described by send arguments", PCOLLECT_SUM, PCOLLECT_UNIT_BYTES, 0,
     offsetof(struct record, bytes_sent)},
    {"bytes_received", "bytes received", PCOLLECT_SUM, PCOLLECT_UNIT_BYTES, 0,
     offsetof(struct record, bytes_received)},
    {"durations", "calls by duration, in powers of two of a nanosecond", PCOLLECT_HIST,
     PCOLLECT_UNIT_NS, BINS, offsetof(struct record, durations)},
};

static int start(const struct pcollect_host *host, void **state)
{
    *state = (void *)host;
    return 0;
}

static void post(void *state, const struct pcollect_event *event, void *data)
{
    const struct pcollect_host *host = state;
    struct record *r = data;
    uint64_t ticks = event->end - event->begin;
    uint64_t ns = (uint64_t)(((unsigned __int128)ticks * host->ns_per_tick_q32) >> 32);
    unsigned bin = 63u - (unsigned)__builtin_clzll(ns | 1);
    if (!r->count || ticks < r->min)
        r->min = ticks;
    if (ticks > r->max)
        r->max = ticks;
    r->count++;
    r->sum += ticks;
    r->bytes_sent += event->bytes_sent;
    r->bytes_received += event->bytes_received;
    r->durations[bin < BINS ? bin : BINS - 1]++;
}

static void complete(void *state, const struct pcollect_event *event, void *data)
{
    (void)state;
    ((struct record *)data)->bytes_received += event->bytes_received;
}

const struct pcollect_comm_plugin pc_plugin_time = {
    .abi = PCOLLECT_PLUGIN_ABI,
    .size = sizeof(struct pcollect_comm_plugin),
    .kind = PCOLLECT_PLUGIN_COMM,
    .record_bytes = sizeof(struct record),
    .name = "time",
    .doc = "calls, durations and bytes of each primitive in each context",
    .fields = fields,
    .n_fields = sizeof fields / sizeof fields[0],
    .init = start,
    .post = post,
    .complete = complete,
};
