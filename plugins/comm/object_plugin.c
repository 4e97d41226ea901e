/* SPDX-License-Identifier: BSD-3-Clause
 *
 * object: files and windows. The table `files` has a row for each file and context: calls, bytes
 * and time, and how much of that was collective. The table `windows` has one for each window and
 * target (a rank of the window's group): its name, calls, bytes and time. Calls that
 * synchronise, make or free the window are synchronisation; those that only ask about it, name it,
 * set its hints or attach memory are left out. Rows are by phase, and by communicator if some
 * plugin wants communicators.
 *
 * The bytes of a nonblocking read are known when it completes; they go to the file that its context
 * used last.
 */
#include "plugins/plugins.h"

#include <stddef.h>

struct object_record {
    uint64_t file; /* file used last from this context */
};

enum { CALLS, COLLECTIVE, READ, WRITTEN, TIME, COLLECTIVE_TIME };
enum { W_NAME, W_CALLS, W_SENT, W_RECEIVED, W_TIME, W_SYNC_CALLS, W_SYNC_TIME };

static const struct pcollect_column file_columns[] = {
    PC_KEY("file", "name given to MPI_File_open, of the first 1,024 files of a rank", STRING),
    PC_KEY("context", "of the calls", NODE),
    PC_SUM("calls", "calls", COUNT),
    PC_SUM("collective", "of these the collective ones", COUNT),
    PC_SUM("bytes_read", "bytes read", BYTES),
    PC_SUM("bytes_written", "bytes written", BYTES),
    PC_SUM("time", "time in the calls", TICKS),
    PC_SUM("collective_time", "of that in collective ones", TICKS),
};

static const struct pcollect_column window_columns[] = {
    PC_KEY("window",
           "number of the window in its process, from 1; 1024: that one and all later ones",
           NUMBER),
    PC_KEY("target", "rank in the window's group", RANK),
    PC_KEY("domain", "communicator over which it was made", DOMAIN),
    PC_TEXT("name", "name given to it before one of the calls"),
    PC_SUM("calls", "calls that move data", COUNT),
    PC_SUM("bytes_put", "bytes that went to the target", BYTES),
    PC_SUM("bytes_got", "bytes that came from it", BYTES),
    PC_SUM("time", "time in calls that move data", TICKS),
    PC_SUM("sync_calls", "calls that synchronise, make or free the window", COUNT),
    PC_SUM("sync_time", "time in these", TICKS),
};

#define N_COLUMNS(c) (sizeof(c) / sizeof(c)[0])

static const struct pcollect_table tables[] = {
    {"files", "bytes and time of MPI-IO by file and context", file_columns, 2,
     N_COLUMNS(file_columns) - 2, 0},
    {"windows", "bytes and time of one-sided communication by window and target", window_columns, 3,
     N_COLUMNS(window_columns) - 3, PCOLLECT_TABLE_BY_PHASE},
};

static int start(const struct pcollect_host *host, void **state)
{
    *state = (void *)host;
    return 0;
}

static void add_file(const struct pcollect_host *host, const struct pcollect_event *e)
{
    const uint64_t keys[2] = {e->object, e->node};
    uint64_t *v = host->row(e->thread, &tables[0], keys);
    int collective = (host->op_traits(e->op) & PCOLLECT_TRAIT_TOGETHER) != 0;
    if (!v)
        return;
    v[CALLS]++;
    v[COLLECTIVE] += (uint64_t)collective;
    v[READ] += e->bytes_received;
    v[WRITTEN] += e->bytes_sent;
    v[TIME] += e->end - e->begin;
    v[COLLECTIVE_TIME] += collective ? e->end - e->begin : 0;
}

static void add_window(const struct pcollect_host *host, const struct pcollect_event *e)
{
    const uint64_t keys[3] = {e->object, (uint64_t)(int64_t)(e->peer < 0 ? -1 : e->peer),
                              e->domain};
    uint32_t traits = host->op_traits(e->op);
    int moves = (traits & PCOLLECT_TRAIT_MOVES) != 0;
    uint64_t *v = traits & PCOLLECT_TRAIT_ASKS ? NULL : host->row(e->thread, &tables[1], keys);
    if (!v)
        return;
    if (e->window_name)
        v[W_NAME] = e->window_name;
    v[moves ? W_CALLS : W_SYNC_CALLS]++;
    v[moves ? W_TIME : W_SYNC_TIME] += e->end - e->begin;
    v[W_SENT] += e->bytes_sent;
    v[W_RECEIVED] += e->bytes_received;
}

static void post(void *state, const struct pcollect_event *e, void *record)
{
    if (__builtin_expect(!e->object, 1))
        return;
    if (e->op_class == PCOLLECT_CLASS_IO) {
        ((struct object_record *)record)->file = e->object;
        add_file(state, e);
    } else if (e->op_class == PCOLLECT_CLASS_RMA) {
        add_window(state, e);
    }
}

static void complete(void *state, const struct pcollect_event *e, void *record)
{
    const struct pcollect_host *host = state;
    const uint64_t keys[2] = {((struct object_record *)record)->file, e->node};
    uint64_t *v =
        keys[0] && e->op_class == PCOLLECT_CLASS_IO ? host->row(e->thread, &tables[0], keys) : NULL;
    if (v)
        v[READ] += e->bytes_received;
}

const struct pcollect_comm_plugin pc_plugin_object = {
    .abi = PCOLLECT_PLUGIN_ABI,
    .size = sizeof(struct pcollect_comm_plugin),
    .kind = PCOLLECT_PLUGIN_COMM,
    .record_bytes = sizeof(struct object_record),
    .name = "object",
    .doc = "files and windows: bytes and time by file, window and target",
    .tables = tables,
    .n_tables = 2,
    .init = start,
    .post = post,
    .complete = complete,
    .wants = PCOLLECT_WANT_OBJECT,
};
