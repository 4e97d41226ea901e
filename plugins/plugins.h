/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The plugins that are part of libpcollect.so.
 */
#ifndef PC_PLUGINS_H
#define PC_PLUGINS_H

#include "counting/counting.h"
#include "include/pcollect/plugin.h"
#include "plugins/columns.h"
#include "plugins/names.h"

#include <stdbool.h>

#define PC_DECLARE_PLUGIN(name, answers) extern const struct pcollect_comm_plugin pc_plugin_##name;
PC_COMM_PLUGINS(PC_DECLARE_PLUGIN)
#undef PC_DECLARE_PLUGIN
#define PC_DECLARE_PLUGIN(name, answers)                                                           \
    extern const struct pcollect_compute_plugin pc_plugin_##name;
PC_COMPUTE_PLUGINS(PC_DECLARE_PLUGIN)
#undef PC_DECLARE_PLUGIN

/* Contains each sample that a plugin gets, with data for the library's own plugins. */
struct pc_plugin_sample {
    struct pcollect_sample sample;
    struct pc_counting_meter *counting; /* counts events in the thread; NULL: nothing is counted */
};

/* ---- counters: the events that it counts, set before it starts. */

struct pc_counters_use {
    uint32_t n_events; /* 0: none can be counted */
    uint32_t n_groups;
    const uint32_t *strings; /* names of the events, for columns of type STRING */
    bool round_robin;
};

void pc_counters_ask(const struct pc_counters_use *asked);

/* ---- time: its record, and how a call is added to it. It is here and not in time_plugin.c because
 * the core adds calls by this inline function, not through the plugin's table, if `time` is the
 * only plugin. */

enum { PC_TIME_BINS = 40 };

struct pc_time_record {
    uint64_t count, sum, min, max;
    uint64_t durations[PCOLLECT_HIST_WORDS(PC_TIME_BINS)]; /* up to 4 s in the line of the count */
    uint64_t bytes_sent, bytes_received;
};

extern const struct pcollect_host *pc_time_host __attribute__((visibility("hidden")));

/* Table from ticks to bins, which needs no arithmetic. Durations with the same highest bit fall
 * into one bin or the next one. An entry holds that bin in its lowest 6 bits, and above them the
 * longest duration, in ticks, that belongs to it. Entries are found by pc_time_class. */
extern uint64_t pc_time_bins[64] __attribute__((visibility("hidden")));

/* One number for all durations with the same highest bit. On x86 the instruction is lzcnt if the
 * processor has it, else bsr, which counts from the other end: the table is filled with the same
 * instruction. */
static inline unsigned pc_time_class(uint64_t ticks)
{
#if defined __x86_64__
    uint64_t class;
    __asm__("rep; bsrq %1, %0" : "=r"(class) : "r"(ticks | 1) : "cc");
    return (unsigned)class;
#else
    return (unsigned)__builtin_clzll(ticks | 1);
#endif
}

/* Fills the table for a clock; called again when the clock is known better. MT-safe: entries read
 * meanwhile belong to the old clock or to the new one. */
void pc_time_set_clock(uint64_t ns_per_tick_q32);

static inline void pc_time_add(const struct pcollect_event *event, uint64_t ticks,
                               struct pc_time_record *r)
{
    uint64_t bin = pc_time_bins[pc_time_class(ticks)];
    ((uint8_t *)r->durations)[(bin & 63) + (ticks > bin >> 6)]++;
    /* A minimum of 0 means none yet. */
    if (__builtin_expect(ticks - 1 < r->min - 1, 0))
        r->min = ticks;
    if (__builtin_expect(ticks > r->max, 0))
        r->max = ticks;
    r->count++;
    r->sum += ticks;
    if (event->bytes_sent | event->bytes_received) {
        r->bytes_sent += event->bytes_sent;
        r->bytes_received += event->bytes_received;
    }
}

/* True after each 128th call: pc_time_carry must follow. One test for all bins instead of that of
 * pcollect_count. */
static inline bool pc_time_carries(const struct pc_time_record *r)
{
    return !(r->count & 127);
}

static inline void pc_time_carry(struct pc_time_record *r)
{
    pc_time_host->carry(r->durations, PC_TIME_BINS);
}

#endif
