/* SPDX-License-Identifier: BSD-3-Clause
 *
 * request: nonblocking, persistent and partitioned operations, from the call that started one to
 * the call that completed it.
 *
 * Figures of the context that started them: their number, the time from start to end, the part of
 * that time that the thread was outside of MPI (overlap), and the time that it then waited for
 * them. The table `requests` has these for each pair of contexts, so that a wait can be read from
 * either end. The time of a call that completes several operations is shared equally among them:
 * the waits of a completing context add up to the time of its calls that completed anything.
 */
#include "plugins/plugins.h"

#include <stddef.h>

struct request_record {
    uint64_t operations, flight, wait, overlap;
};

static const struct pcollect_field fields[] = {
    {"operations", "operations started here that have ended", PCOLLECT_SUM, PCOLLECT_UNIT_COUNT, 0,
     offsetof(struct request_record, operations)},
    {"flight", "time from their start to the end of the call that completed them", PCOLLECT_SUM,
     PCOLLECT_UNIT_TICKS, 0, offsetof(struct request_record, flight)},
    {"wait", "time waited for them in the calls that completed them", PCOLLECT_SUM,
     PCOLLECT_UNIT_TICKS, 0, offsetof(struct request_record, wait)},
    {"overlap", "part of their flight in which the thread was outside MPI", PCOLLECT_SUM,
     PCOLLECT_UNIT_TICKS, 0, offsetof(struct request_record, overlap)},
};

enum { COUNT, SENT, RECEIVED, FLIGHT, WAIT, LONGEST_WAIT, OVERLAP, HOW };

static const struct pcollect_column columns[] = {
    PC_KEY("start", "context that started the operations", NODE),
    PC_KEY("completion", "context that completed them; empty: none did, or it was not seen", NODE),
    PC_SUM("operations", "operations", COUNT),
    PC_SUM("bytes_sent", "bytes described by send arguments", BYTES),
    PC_SUM("bytes_received", "bytes received", BYTES),
    PC_SUM("flight", "time under way", TICKS),
    PC_SUM("wait", "time in the completing calls", TICKS),
    PC_MAX("longest_wait", "longest share of a completing call", TICKS),
    PC_SUM("overlap", "time under way and outside of MPI", TICKS),
    PC_SUM("at_once", "of the operations those that were complete when started", COUNT),
    PC_SUM("cancelled", "those that were cancelled", COUNT),
    PC_SUM("failed", "those that ended with an error", COUNT),
    PC_SUM("freed", "those whose end was not seen, mostly because their request was freed before",
           COUNT),
    PC_SUM("never", "those that were not completed before MPI_Finalize", COUNT),
};

static const struct pcollect_table table = {
    .name = "requests",
    .doc = "nonblocking, persistent and partitioned operations by where they start and complete",
    .columns = columns,
    .n_keys = 2,
    .n_values = sizeof columns / sizeof columns[0] - 2,
};

static int start(const struct pcollect_host *host, void **state)
{
    *state = (void *)host;
    return 0;
}

static void add_row(const struct pcollect_host *host, const struct pcollect_end *end)
{
    const uint64_t keys[2] = {end->start_node, end->end_node};
    uint64_t *v = host->row(end->thread, &table, keys);
    if (!v)
        return;
    v[COUNT]++;
    v[SENT] += end->bytes_sent;
    v[RECEIVED] += end->bytes_received;
    v[FLIGHT] += end->flight;
    v[WAIT] += end->wait;
    v[OVERLAP] += end->overlap;
    if (end->wait > v[LONGEST_WAIT])
        v[LONGEST_WAIT] = end->wait;
    if (end->how)
        v[HOW + end->how - 1]++;
}

static void ended(void *state, const struct pcollect_end *end, void *data)
{
    struct request_record *r = data;
    r->operations++;
    r->flight += end->flight;
    r->wait += end->wait;
    r->overlap += end->overlap;
    add_row(state, end);
}

const struct pcollect_comm_plugin pc_plugin_request = {
    .abi = PCOLLECT_PLUGIN_ABI,
    .size = sizeof(struct pcollect_comm_plugin),
    .kind = PCOLLECT_PLUGIN_COMM,
    .record_bytes = sizeof(struct request_record),
    .name = "request",
    .doc = "nonblocking operations: where they start and complete, waits and overlap",
    .fields = fields,
    .tables = &table,
    .n_fields = sizeof fields / sizeof fields[0],
    .n_tables = 1,
    .init = start,
    .wants = PCOLLECT_WANT_REQUEST,
    .ended = ended,
};
