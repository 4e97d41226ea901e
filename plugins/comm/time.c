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

static const struct pcollect_field fields[] = {
    {"count", "calls", PCOLLECT_SUM, PCOLLECT_UNIT_COUNT, 0,
     offsetof(struct pc_time_record, count)},
    {"time", "time in the calls", PCOLLECT_SUM, PCOLLECT_UNIT_TICKS, 0,
     offsetof(struct pc_time_record, sum)},
    {"min", "shortest call", PCOLLECT_MIN, PCOLLECT_UNIT_TICKS, 0,
     offsetof(struct pc_time_record, min)},
    {"max", "longest call", PCOLLECT_MAX, PCOLLECT_UNIT_TICKS, 0,
     offsetof(struct pc_time_record, max)},
    {"bytes_sent", "bytes described by send arguments", PCOLLECT_SUM, PCOLLECT_UNIT_BYTES, 0,
     offsetof(struct pc_time_record, bytes_sent)},
    {"bytes_received", "bytes received", PCOLLECT_SUM, PCOLLECT_UNIT_BYTES, 0,
     offsetof(struct pc_time_record, bytes_received)},
    {"durations", "calls by duration, in powers of two of a nanosecond", PCOLLECT_HIST,
     PCOLLECT_UNIT_NS, PC_TIME_BINS, offsetof(struct pc_time_record, durations)},
};

static int start(const struct pcollect_host *host, void **state)
{
    *state = (void *)host;
    return 0;
}

static void post(void *state, const struct pcollect_event *event, void *record)
{
    pc_time_add(state, event, record);
}

static void complete(void *state, const struct pcollect_event *event, void *data)
{
    (void)state;
    ((struct pc_time_record *)data)->bytes_received += event->bytes_received;
}

const struct pcollect_comm_plugin pc_plugin_time = {
    .abi = PCOLLECT_PLUGIN_ABI,
    .size = sizeof(struct pcollect_comm_plugin),
    .kind = PCOLLECT_PLUGIN_COMM,
    .record_bytes = sizeof(struct pc_time_record),
    .name = "time",
    .doc = "calls, durations and bytes of each primitive in each context",
    .fields = fields,
    .n_fields = sizeof fields / sizeof fields[0],
    .init = start,
    .post = post,
    .complete = complete,
};
