/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Simulated profiles of ranks: see merge_ranks.h. Times differ between ranks, calls and bytes do
 * not.
 */
#include "bench/merge_ranks.h"

#include "format/build.h"

#include <stdio.h>

enum { RECEIVED, SENT, COUNT, DURATIONS, MAX, MIN, TIME, SAMPLES, SQUARES, SAMPLED, N_FIELDS };
enum { N_COMM = SAMPLES, BINS = 40, PER_CALLER = 25, RANKS_PER_NODE = 128, MOST_NEIGHBOURS = 26 };
enum { CORES = 1, MAIN, P2P, N_STRINGS = P2P }; /* cells that name strings */

static struct pc_profile_field fields[N_FIELDS] = {
    [RECEIVED] = {(char *)"time", (char *)"bytes_received", PCOLLECT_SUM, PCOLLECT_UNIT_BYTES, 0,
                  PCOLLECT_GROUP_COMM},
    [SENT] = {(char *)"time", (char *)"bytes_sent", PCOLLECT_SUM, PCOLLECT_UNIT_BYTES, 0,
              PCOLLECT_GROUP_COMM},
    [COUNT] = {(char *)"time", (char *)"count", PCOLLECT_SUM, PCOLLECT_UNIT_COUNT, 0,
               PCOLLECT_GROUP_COMM},
    [DURATIONS] = {(char *)"time", (char *)"durations", PCOLLECT_HIST, PCOLLECT_UNIT_NS, BINS,
                   PCOLLECT_GROUP_COMM},
    [MAX] = {(char *)"time", (char *)"max", PCOLLECT_MAX, PCOLLECT_UNIT_NS, 0, PCOLLECT_GROUP_COMM},
    [MIN] = {(char *)"time", (char *)"min", PCOLLECT_MIN, PCOLLECT_UNIT_NS, 0, PCOLLECT_GROUP_COMM},
    [TIME] = {(char *)"time", (char *)"time", PCOLLECT_SUM, PCOLLECT_UNIT_NS, 0,
              PCOLLECT_GROUP_COMM},
    [SAMPLES] = {(char *)"clock", (char *)"samples", PCOLLECT_SUM, PCOLLECT_UNIT_COUNT, 0,
                 PCOLLECT_GROUP_COMPUTE},
    [SQUARES] = {(char *)"clock", (char *)"squares", PCOLLECT_SUM, PCOLLECT_UNIT_COUNT, 0,
                 PCOLLECT_GROUP_COMPUTE},
    [SAMPLED] = {(char *)"clock", (char *)"time", PCOLLECT_SUM, PCOLLECT_UNIT_NS, 0,
                 PCOLLECT_GROUP_COMPUTE},
};
static struct pc_profile_module module = {
    .path = (char *)"/nowhere/app", .flags = PCOLLECT_MODULE_EXE, .identity = 1};
static struct pc_profile_op op = {(char *)"MPI_Allreduce", PCOLLECT_CLASS_COLL};
static char *strings[N_STRINGS] = {
    [CORES - 1] = (char *)"0", [MAIN - 1] = (char *)"main", [P2P - 1] = (char *)"p2p"};

/* ---- Tables --------------------------------------------------------------------------------- */

enum { PAIRS, PLACE, RESOURCES, THREADS, N_TABLES };

#define KEY(name, type)                                                                            \
    {                                                                                              \
        (char *)name, PCOLLECT_COLUMN_##type, 0, PCOLLECT_UNIT_COUNT                               \
    }
#define VALUE(name, unit)                                                                          \
    {                                                                                              \
        (char *)name, PCOLLECT_COLUMN_NUMBER, PCOLLECT_SUM, PCOLLECT_UNIT_##unit                   \
    }

static struct pc_profile_column pair_columns[] = {
    KEY("source", RANK),       KEY("destination", RANK),
    KEY("class", STRING),      KEY("domain", DOMAIN),
    KEY("phase", NUMBER),      VALUE("messages", COUNT),
    VALUE("bytes", BYTES),     VALUE("time", NS),
    VALUE("received", COUNT),  VALUE("received_bytes", BYTES),
    VALUE("receive_time", NS),
};
static struct pc_profile_column place_columns[] = {
    KEY("rank", RANK),
    VALUE("socket", COUNT),
    {(char *)"cores", PCOLLECT_COLUMN_STRING, PCOLLECT_MIN, PCOLLECT_UNIT_COUNT},
};
static struct pc_profile_column resource_columns[] = {
    KEY("rank", RANK),    VALUE("memory", BYTES),       VALUE("user", NS),
    VALUE("system", NS),  VALUE("minor_faults", COUNT), VALUE("waits", COUNT),
    VALUE("cpu", COUNT),  VALUE("cpus", COUNT),         VALUE("delayed", NS),
    VALUE("on_cpu", NS),  VALUE("migrations", COUNT),   VALUE("preempted", COUNT),
    VALUE("blocked", NS), VALUE("major_faults", COUNT), VALUE("paused", NS),
};
static struct pc_profile_column thread_columns[] = {
    KEY("rank", RANK),
    KEY("kind", STRING),
    KEY("name", STRING),
    VALUE("threads", COUNT),
};

#define TABLE(table, plugin_name, n, described)                                                    \
    {                                                                                              \
        .name = (char *)table, .plugin = (char *)plugin_name, .n_keys = n,                         \
        .n_columns = PC_ARRAY_LEN(described), .columns = described                                 \
    }

static const struct pc_profile_table tables[N_TABLES] = {
    [PAIRS] = TABLE("pairs", "topology", 5, pair_columns),
    [PLACE] = TABLE("place", "topology", 1, place_columns),
    [RESOURCES] = TABLE("resources", "pcollect", 1, resource_columns),
    [THREADS] = TABLE("threads", "pcollect", 3, thread_columns),
};

static uint64_t random_of(uint64_t a, uint64_t b, uint64_t below)
{
    return pc_hash_u64(a * 1000003 + b) % below;
}

/* ---- The grid ------------------------------------------------------------------------------- */

static int32_t grid_edge(const struct merge_ranks *job)
{
    int32_t edge = 1;
    while ((uint64_t)edge * (uint64_t)edge * (uint64_t)edge < job->n_ranks)
        edge++;
    return edge;
}

/* One of 27: the rank lies at the begin, inside or at the end of each dimension. */
static uint32_t place_of(const struct merge_ranks *job, int32_t rank)
{
    uint32_t place = 0;
    int32_t edge = grid_edge(job);
    for (int i = 0; i < 3; i++, rank /= edge)
        place = 3 * place + (rank % edge == 0 ? 0 : rank % edge == edge - 1 ? 2 : 1);
    return place;
}

/* Ranks of the neighbours in ascending order. */
static unsigned neighbours_of(const struct merge_ranks *job, int32_t rank,
                              int32_t out[MOST_NEIGHBOURS])
{
    unsigned n = 0;
    int32_t edge = grid_edge(job), at[3] = {rank % edge, rank / edge % edge, rank / edge / edge};
    for (int32_t step = 0; step < 27; step++) {
        int32_t x = at[0] + step % 3 - 1, y = at[1] + step / 3 % 3 - 1, z = at[2] + step / 9 - 1;
        int32_t other = (z * edge + y) * edge + x;
        bool inside = x >= 0 && y >= 0 && z >= 0 && x < edge && y < edge && z < edge;
        if (inside && other != rank && (uint32_t)other < job->n_ranks)
            out[n++] = other;
    }
    return n;
}

/* ---- The profile of a rank ------------------------------------------------------------------ */

static void fill_pair(uint64_t *row, int32_t from, int32_t to, bool sent)
{
    uint64_t bytes = 8192 + 128 * random_of((uint64_t)to - (uint64_t)from, 1, 64);
    const uint64_t keys[] = {(uint64_t)from, (uint64_t)to, P2P, 0x123456789abcdefu, 0};
    memcpy(row, keys, sizeof keys);
    uint64_t *values = row + PC_ARRAY_LEN(keys) + (sent ? 0 : 3);
    values[0] = 1000;
    values[1] = 1000 * bytes;
    values[2] = 2000000 + random_of((uint64_t)from * 2 + sent, (uint64_t)to, 200000);
}

/* Rows for the messages that the rank sent to each neighbour and received from it. */
static void fill_pairs(const struct merge_ranks *job, int32_t rank, struct pc_profile_table *t)
{
    int32_t others[MOST_NEIGHBOURS];
    unsigned n = neighbours_of(job, rank, others), i = 0;
    uint64_t *row = t->cells;
    for (; i < n && others[i] < rank; i++, row += t->n_columns)
        fill_pair(row, others[i], rank, false);
    for (unsigned k = 0; k < n; k++, row += t->n_columns)
        fill_pair(row, rank, others[k], true);
    for (; i < n; i++, row += t->n_columns)
        fill_pair(row, others[i], rank, false);
    t->n_rows = 2 * n;
}

/* A row of the rank; some digits of its values differ between ranks. */
static void fill_row(int32_t rank, struct pc_profile_table *t)
{
    t->n_rows = 1;
    t->cells[0] = (uint64_t)rank;
    for (uint32_t i = 1; i < t->n_columns; i++) {
        const struct pc_profile_column *c = &t->columns[i];
        bool measured = c->unit == PCOLLECT_UNIT_NS || c->unit == PCOLLECT_UNIT_BYTES;
        t->cells[i] = c->type == PCOLLECT_COLUMN_STRING ? MAIN
                      : measured ? 1000000000 + random_of((uint64_t)rank, i, 50000000)
                                 : 1 + random_of((uint64_t)rank, i, 4);
    }
}

static void make_tables(const struct merge_ranks *job, struct pc_profile *p, int32_t rank)
{
    p->tables = pc_pool_array(p->memory, N_TABLES, sizeof *p->tables);
    for (unsigned i = job->neighbours ? PAIRS : PLACE; i < N_TABLES; i++) {
        struct pc_profile_table *t = &p->tables[p->n_tables++];
        uint32_t n_rows = i == PAIRS ? 2 * MOST_NEIGHBOURS : 1;
        *t = tables[i];
        t->cells = pc_pool_array(p->memory, (size_t)n_rows * t->n_columns, sizeof *t->cells);
        if (i == PAIRS)
            fill_pairs(job, rank, t);
        else
            fill_row(rank, t);
    }
}

static uint64_t calls_of(uint32_t context)
{
    return 1 + context % 1000;
}

static bool is_sampled(uint32_t context)
{
    return context % 4 == 3;
}

/* The record of context i, as in the profile of an arena. `list` has the rank, `room` is for the
 * bytes of histograms. */
static void make_record(struct pc_profile *p, struct pc_profile_data *d, int32_t *list, uint32_t i,
                        struct pc_buffer *room)
{
    int32_t rank = *list;
    unsigned kind = is_sampled(i) ? PCOLLECT_NODE_POINT : PCOLLECT_NODE_OP;
    if (!pc_profile_data_of_one(p, d, kind, list))
        exit(2);
    uint64_t calls = calls_of(i), mean = 1000 + random_of(1u << 31, i, 1000000);
    uint64_t time = mean * calls * (90 + random_of((uint64_t)rank, i, 20)) / 100;
    const uint64_t of_call[N_FIELDS] = {
        [RECEIVED] = 8 * calls,
        [SENT] = 8 * calls,
        [COUNT] = calls,
        [MAX] = 3 * mean + random_of((uint64_t)rank, i, mean),
        [MIN] = mean / 2 + random_of((uint64_t)rank, i, mean / 4),
        [TIME] = time,
    };
    const uint64_t of_place[] = {calls, time / 1000, time};
    if (is_sampled(i))
        memcpy(d->values, of_place, sizeof of_place);
    else
        memcpy(d->values, of_call, sizeof of_call);
    uint64_t durations[PC_PROFILE_MAX_BINS] = {0};
    const uint64_t *bins[N_FIELDS] = {[DURATIONS] = durations};
    for (unsigned k = 0; k < 4; k++)
        durations[18 + k] = calls / 4;
    if (!pc_profile_data_code(p, d, bins, room))
        exit(2);
}

static struct pc_profile_node *add_node(struct pc_profile *p, uint32_t parent, uint16_t kind)
{
    struct pc_profile_node *n = &p->nodes[p->n_nodes++];
    *n = (struct pc_profile_node){.parent = parent,
                                  .kind = kind,
                                  .module = PC_NO_INDEX,
                                  .op = PC_NO_INDEX,
                                  .data = PC_NO_INDEX};
    return n;
}

static uint32_t add_frame(struct pc_profile *p, uint32_t parent, uint64_t offset)
{
    struct pc_profile_node *n = add_node(p, parent, PCOLLECT_NODE_FRAME);
    n->module = 0;
    n->offset = offset;
    return p->n_nodes - 1;
}

/* Callers of 25 frames with one record each; the contexts that differ are the last. */
static void make_tree(const struct merge_ranks *job, struct pc_profile *p, int32_t rank)
{
    uint64_t whose = 1 + (job->own ? (uint64_t)rank : place_of(job, rank));
    int32_t *list = pc_pool_array(p->memory, 1, sizeof *list);
    struct pc_buffer room = {0};
    *list = rank;
    uint32_t caller = 0, n_callers = job->n_contexts / PER_CALLER + 2;
    p->nodes =
        pc_pool_array(p->memory, 1 + n_callers + 2 * (size_t)job->n_contexts, sizeof *p->nodes);
    p->data = pc_pool_array(p->memory, job->n_contexts, sizeof *p->data);
    add_node(p, PC_NO_INDEX, PCOLLECT_NODE_ROOT);
    for (uint32_t i = 0; i < job->n_contexts; i++) {
        bool differs = i >= job->n_contexts - job->n_differ;
        if (i % PER_CALLER == 0 || i == job->n_contexts - job->n_differ)
            caller = add_frame(p, 0, 4096 * (uint64_t)i + (differs ? whose << 32 : 0));
        uint32_t frame = add_frame(p, caller, 4096 * (uint64_t)i + 16);
        struct pc_profile_node *n =
            add_node(p, frame, is_sampled(i) ? PCOLLECT_NODE_POINT : PCOLLECT_NODE_OP);
        n->data = i;
        if (is_sampled(i)) {
            n->module = 0;
            n->offset = 4096 * (uint64_t)i + 32;
        } else {
            n->op = 0;
        }
        make_record(p, &p->data[p->n_data++], list, i, &room);
    }
    free(room.data);
    pc_profile_count_descendants(p);
}

static void make_rank(struct pc_profile *p, int32_t rank)
{
    char host[16];
    snprintf(host, sizeof host, "node%05d", (int)rank / RANKS_PER_NODE);
    p->n_ranks = 1;
    p->ranks = pc_pool_array(p->memory, 1, sizeof *p->ranks);
    p->ranks[0] = (struct pc_profile_rank){
        .rank = rank,
        .pid = 1000 + rank % RANKS_PER_NODE,
        .host = pc_pool_text(p->memory, host, strlen(host)),
        .start_realtime_ns = 1700000000000000000u + random_of((uint64_t)rank, 1, 100000000),
        .before_init_ns = 10000000 + random_of((uint64_t)rank, 2, 10000000),
        .inside_ns = 3600000000000u + random_of((uint64_t)rank, 3, 10000000),
        .mpi_ns = 1300000000000u + random_of((uint64_t)rank, 4, 100000000000u),
        .mpi_calls = 500000,
        .merge_ns = random_of((uint64_t)rank, 5, 1000000),
        .n_threads = 1,
    };
}

struct pc_profile *merge_ranks_make(const struct merge_ranks *job, int32_t rank)
{
    struct pc_profile *p = pc_profile_new();
    p->world_size = job->n_ranks;
    p->job_key = 1;
    p->values_bytes = job->values_bytes;
    p->contexts = job->contexts;
    p->n_modules = p->n_ops = 1;
    p->modules = &module;
    p->ops = &op;
    p->n_fields = N_FIELDS;
    p->n_comm = N_COMM;
    p->fields = fields;
    p->n_strings = N_STRINGS;
    p->strings = strings;
    make_rank(p, rank);
    make_tree(job, p, rank);
    make_tables(job, p, rank);
    return p;
}

/* ---- The sum -------------------------------------------------------------------------------- */

bool merge_ranks_agree(const struct merge_ranks *job, const struct pc_profile *sum)
{
    uint64_t calls = 0, expected = 0, n_pairs = 0;
    int32_t others[MOST_NEIGHBOURS];
    for (uint32_t i = 0; i < job->n_contexts; i++)
        expected += is_sampled(i) ? 0 : calls_of(i) * job->n_ranks;
    for (uint32_t i = 0; i < sum->n_data; i++)
        calls += (uint64_t)pc_data_sum(sum, &sum->data[i], COUNT);
    for (uint32_t r = 0; job->neighbours && r < job->n_ranks; r++)
        n_pairs += neighbours_of(job, (int32_t)r, others);
    const struct pc_profile_table *pairs = pc_profile_table(sum, "pairs");
    return sum->n_ranks == job->n_ranks && calls == expected &&
           n_pairs == (pairs ? pairs->n_rows : 0);
}
