/* SPDX-License-Identifier: BSD-3-Clause
 *
 * An example of a communication plugin: which tags does a program send with, and which calls
 * failed?
 *
 *     make -C examples/plugin
 *     PCOLLECT_COLLECT_PLUGINS=time,$PWD/examples/plugin/tags.so pcollect run -- mpirun ...
 *
 * It shows the two places in which a plugin keeps what it learns. A record of fixed size belongs to
 * each calling context: here the number of calls that returned an error, and the longest message. A
 * table has one row for each combination of keys: here one for each tag.
 */
#include <pcollect/plugin.h>

#include <stddef.h>

/* ---- The record of one context ------------------------------------------------------------- */

struct record {
    uint64_t failed;
    uint64_t longest;
};

static const struct pcollect_field fields[] = {
    {.name = "failed",
     .doc = "calls that returned an error",
     .combine = PCOLLECT_SUM, /* of threads, of ranks */
     .unit = PCOLLECT_UNIT_COUNT,
     .offset = offsetof(struct record, failed)},
    {.name = "longest",
     .doc = "the longest message that was sent",
     .combine = PCOLLECT_MAX,
     .unit = PCOLLECT_UNIT_BYTES,
     .offset = offsetof(struct record, longest)},
};

/* ---- The table ----------------------------------------------------------------------------- */

enum { MESSAGES, BYTES, N_VALUES };

static const struct pcollect_column columns[] = {
    {.name = "tag",
     .doc = "of the messages",
     .type = PCOLLECT_COLUMN_NUMBER,
     .unit = PCOLLECT_UNIT_COUNT},
    {.name = "messages",
     .doc = "that were sent with it",
     .type = PCOLLECT_COLUMN_NUMBER,
     .combine = PCOLLECT_SUM,
     .unit = PCOLLECT_UNIT_COUNT},
    {.name = "bytes",
     .doc = "in them",
     .type = PCOLLECT_COLUMN_NUMBER,
     .combine = PCOLLECT_SUM,
     .unit = PCOLLECT_UNIT_BYTES},
};

static const struct pcollect_table tables[] = {
    {.name = "tags",
     .doc = "messages by tag",
     .columns = columns,
     .n_keys = 1,
     .n_values = N_VALUES},
};

/* ---- The hooks ----------------------------------------------------------------------------- */

static const struct pcollect_host *host;

static int start(const struct pcollect_host *given, void **state)
{
    host = given; /* stays valid */
    *state = NULL;
    return 0;
}

/* Runs in the program's threads, in the middle of its calls: no malloc, no lock, no system call, no
 * MPI. The record is this thread's alone, and so are the values of the row. */
static void post(void *state, const struct pcollect_event *event, void *record)
{
    struct record *r = record;
    (void)state;
    if (event->result != 0) { /* MPI_SUCCESS is 0 in every MPI */
        r->failed++;
        return;
    }
    if (event->op_class != PCOLLECT_CLASS_P2P || event->tag < 0 || event->bytes_sent == 0)
        return;
    if (event->bytes_sent > r->longest)
        r->longest = event->bytes_sent;
    uint64_t key = (uint64_t)event->tag;
    uint64_t *row = host->row(event->thread, &tables[0], &key);
    if (row) { /* NULL: no room; the library counts that */
        row[MESSAGES]++;
        row[BYTES] += event->bytes_sent;
    }
}

extern const struct pcollect_comm_plugin pcollect_plugin;
const struct pcollect_comm_plugin pcollect_plugin = {
    .abi = PCOLLECT_PLUGIN_ABI,
    .size = sizeof(struct pcollect_comm_plugin),
    .kind = PCOLLECT_PLUGIN_COMM,
    .record_bytes = sizeof(struct record),
    .name = "tags",
    .doc = "messages by tag, calls that failed",
    .fields = fields,
    .n_fields = sizeof fields / sizeof fields[0],
    .tables = tables,
    .n_tables = sizeof tables / sizeof tables[0],
    .init = start,
    .post = post,
    .wants = PCOLLECT_WANT_THREAD, /* event->thread, for host->row */
};
