/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A plugin with three tables: `moves` has a row for each rank, primitive and context; `peers` one
 * for each rank and destination; `made_ends` one for each rank, made at the end of the process by
 * no thread in particular.
 */
#include <pcollect/plugin.h>
#include <stddef.h>

static const struct pcollect_column move_columns[] = {
    {"rank", "who called", PCOLLECT_COLUMN_RANK, 0, PCOLLECT_UNIT_COUNT, 0},
    {"primitive", "what", PCOLLECT_COLUMN_STRING, 0, PCOLLECT_UNIT_COUNT, 0},
    {"context", "from where", PCOLLECT_COLUMN_NODE, 0, PCOLLECT_UNIT_COUNT, 0},
    {"calls", "how often", PCOLLECT_COLUMN_NUMBER, PCOLLECT_SUM, PCOLLECT_UNIT_COUNT, 0},
    {"bytes", "sent", PCOLLECT_COLUMN_NUMBER, PCOLLECT_SUM, PCOLLECT_UNIT_BYTES, 0},
    {"time", "in the call", PCOLLECT_COLUMN_NUMBER, PCOLLECT_SUM, PCOLLECT_UNIT_TICKS, 0},
    {"largest", "sent at once", PCOLLECT_COLUMN_NUMBER, PCOLLECT_MAX, PCOLLECT_UNIT_BYTES, 0},
    {"spelt", "the primitive again", PCOLLECT_COLUMN_STRING, PCOLLECT_MIN, PCOLLECT_UNIT_COUNT, 0},
};
static const struct pcollect_column peer_columns[] = {
    {"rank", "who sent", PCOLLECT_COLUMN_RANK, 0, PCOLLECT_UNIT_COUNT, 0},
    {"to", "to whom", PCOLLECT_COLUMN_RANK, 0, PCOLLECT_UNIT_COUNT, 0},
    {"messages", "how many", PCOLLECT_COLUMN_NUMBER, PCOLLECT_SUM, PCOLLECT_UNIT_COUNT, 0},
    {"smallest", "of them", PCOLLECT_COLUMN_NUMBER, PCOLLECT_MIN, PCOLLECT_UNIT_BYTES, 0},
};
static const struct pcollect_column end_columns[] = {
    {"rank", "who ended", PCOLLECT_COLUMN_RANK, 0, PCOLLECT_UNIT_COUNT, 0},
    {"ends", "how often", PCOLLECT_COLUMN_NUMBER, PCOLLECT_SUM, PCOLLECT_UNIT_COUNT, 0},
};
static const struct pcollect_table tables[] = {
    {"moves", "what each rank did", move_columns, 3, 5, 0},
    {"peers", "messages by destination", peer_columns, 2, 2, 0},
    {"made_ends", "ends of processes", end_columns, 1, 1, 0},
};

static const struct pcollect_host *host;
static uint32_t names[4096];

static const uint64_t self = (uint64_t)(int64_t)PCOLLECT_RANK_SELF;

static int init(const struct pcollect_host *h, void **state)
{
    (void)state;
    host = h;
    return 0;
}

static void post(void *state, const struct pcollect_event *e, void *record)
{
    (void)state, (void)record;
    if (!names[e->op])
        names[e->op] = host->string(host->op_name(e->op));
    const uint64_t keys[] = {self, names[e->op], e->node};
    uint64_t *row = host->row(e->thread, &tables[0], keys);
    if (!row)
        return;
    row[0]++;
    row[1] += e->bytes_sent;
    row[2] += e->end - e->begin;
    row[3] = e->bytes_sent > row[3] ? e->bytes_sent : row[3];
    row[4] = names[e->op];
    if (e->op_class != PCOLLECT_CLASS_P2P || !e->bytes_sent)
        return;
    const uint64_t pair[] = {self, (uint64_t)(int64_t)e->peer};
    row = host->row(e->thread, &tables[1], pair);
    if (!row)
        return;
    row[0]++;
    row[1] = !row[1] || e->bytes_sent < row[1] ? e->bytes_sent : row[1];
}

static void fini(void *state)
{
    (void)state;
    uint64_t *row = host->row(NULL, &tables[2], &self);
    if (row)
        row[0]++;
}

__attribute__((visibility("default"))) extern const struct pcollect_comm_plugin pcollect_plugin;
const struct pcollect_comm_plugin pcollect_plugin = {
    .abi = PCOLLECT_PLUGIN_ABI,
    .size = sizeof pcollect_plugin,
    .kind = PCOLLECT_PLUGIN_COMM,
    .name = "tests",
    .doc = "tables for tests",
    .tables = tables,
    .n_tables = sizeof tables / sizeof tables[0],
    .init = init,
    .post = post,
    .fini = fini,
    .wants = PCOLLECT_WANT_THREAD,
};
