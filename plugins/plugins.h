/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The plugins that are part of libpcollect.so.
 */
#ifndef PC_PLUGINS_H
#define PC_PLUGINS_H

#include "include/pcollect/plugin.h"

extern const struct pcollect_comm_plugin pc_plugin_time;
extern const struct pcollect_comm_plugin pc_plugin_null;
extern const struct pcollect_compute_plugin pc_plugin_clock;
extern const struct pcollect_comm_plugin pc_plugin_request;
extern const struct pcollect_comm_plugin pc_plugin_object;
extern const struct pcollect_comm_plugin pc_plugin_series;
extern const struct pcollect_comm_plugin pc_plugin_volume;
extern const struct pcollect_comm_plugin pc_plugin_topology;
extern const struct pcollect_comm_plugin pc_plugin_domain;

/* ---- time: its record, and how a call is added to it. Here and not in time.c because the core
 * adds calls by this function, without a step through the plugin's table, when `time` is the only
 * one. */

enum { PC_TIME_BINS = 40 };

struct pc_time_record {
    uint64_t count, sum, min, max;
    uint64_t bytes_sent, bytes_received;
    uint64_t durations[PC_TIME_BINS];
};

static inline void pc_time_add(const struct pcollect_host *host, const struct pcollect_event *event,
                               struct pc_time_record *r)
{
    uint64_t ticks = event->end - event->begin;
    uint64_t ns = (uint64_t)(((unsigned __int128)ticks * host->ns_per_tick_q32) >> 32);
    unsigned bin = 63u - (unsigned)__builtin_clzll(ns | 1);
    if (__builtin_expect(ticks < r->min || !r->count, 0))
        r->min = ticks;
    if (__builtin_expect(ticks > r->max, 0))
        r->max = ticks;
    r->count++;
    r->sum += ticks;
    r->bytes_sent += event->bytes_sent;
    r->bytes_received += event->bytes_received;
    r->durations[bin < PC_TIME_BINS ? bin : PC_TIME_BINS - 1]++;
}

#endif
