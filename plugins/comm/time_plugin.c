/* SPDX-License-Identifier: BSD-3-Clause
 *
 * time: number, duration and bytes of calls, for each primitive in each context.
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

uint64_t pc_time_bins[64];
const struct pcollect_host *pc_time_host;

enum { LIMIT_BITS = 58 };

/* The entry for durations from 2^bit ticks on. ns = ticks * scale / 2^32, rounded down, as
 * everywhere: a bin ends before the least number of ticks whose ns reach a power of two. */
static uint64_t make_entry(unsigned bit, uint64_t scale)
{
    unsigned __int128 least = (unsigned __int128)((uint64_t)1 << bit) * scale >> 32;
    unsigned bin = 0;
    while (bin < PC_TIME_BINS - 1 && least >> (bin + 1))
        bin++;
    if (bin == PC_TIME_BINS - 1 || !scale)
        return PC_TIME_BINS - 2; /* longer than 0 ticks: all are in the last bin */
    unsigned __int128 last = (((unsigned __int128)1 << (bin + 33)) + scale - 1) / scale - 1;
    if (last >> LIMIT_BITS)
        last = ((uint64_t)1 << LIMIT_BITS) - 1;
    return (uint64_t)last << 6 | bin;
}

void pc_time_set_clock(uint64_t ns_per_tick_q32)
{
    static uint64_t filled_for;
    /* Bins move by less than the clock's own error. */
    uint64_t change =
        ns_per_tick_q32 > filled_for ? ns_per_tick_q32 - filled_for : filled_for - ns_per_tick_q32;
    if (filled_for && change < filled_for >> 16)
        return;
    filled_for = ns_per_tick_q32;
    for (unsigned bit = 0; bit < 64; bit++)
        __atomic_store_n(&pc_time_bins[pc_time_class((uint64_t)1 << bit)],
                         make_entry(bit, filled_for), __ATOMIC_RELAXED);
}

static int start(const struct pcollect_host *host, void **state)
{
    (void)state;
    pc_time_host = host;
    pc_time_set_clock(host->ns_per_tick_q32);
    return 0;
}

static void post(void *state, const struct pcollect_event *event, void *record)
{
    (void)state;
    pc_time_add(event, event->end - event->begin, record);
    if (pc_time_carries(record))
        pc_time_carry(record);
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
