/* SPDX-License-Identifier: BSD-3-Clause
 *
 * `arenas FOLDER RANKS CONTEXTS NEIGHBOURS OWN`: writes the arenas of a job that was killed, as
 * cct/ makes them, for bench/recover.sh. Each rank has calls from CONTEXTS contexts, the last OWN
 * of them its own, the others the same on all ranks, and pairs with NEIGHBOURS ranks on a ring. The
 * ranks belong to another host: recovery does not ask if they run.
 */
#include "cct/cct.h"
#include "include/pcollect/plugin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT, DURATIONS, MAX, MIN, RECEIVED, SENT, TIME, N_FIELDS };
enum {
    BINS = 40,
    RECORD_BYTES = 8 * (N_FIELDS - 1 + PCOLLECT_HIST_WORDS(BINS)),
    PER_CALLER = 25,
    RANKS_PER_NODE = 128
};
enum { N_KEYS = 5, N_VALUES = 6 };

#define FIELD(text, how, of, n_bins, at)                                                           \
    {                                                                                              \
        .name = text, .combine = PCOLLECT_##how, .unit = PCOLLECT_UNIT_##of, .bins = n_bins,       \
        .offset = 8 * (at)                                                                         \
    }

static const struct pcollect_field_rec fields[N_FIELDS] = {
    [COUNT] = FIELD("count", SUM, COUNT, 0, 0),
    [DURATIONS] = FIELD("durations", HIST, NS, BINS, 6),
    [MAX] = FIELD("max", MAX, NS, 0, 1),
    [MIN] = FIELD("min", MIN, NS, 0, 2),
    [RECEIVED] = FIELD("bytes_received", SUM, BYTES, 0, 3),
    [SENT] = FIELD("bytes_sent", SUM, BYTES, 0, 4),
    [TIME] = FIELD("time", SUM, NS, 0, 5),
};

#define COLUMN(text, what, how, of)                                                                \
    {                                                                                              \
        .name = text, .type = PCOLLECT_COLUMN_##what, .combine = how, .unit = PCOLLECT_UNIT_##of   \
    }

static const struct pcollect_column_rec columns[N_KEYS + N_VALUES] = {
    COLUMN("source", RANK, 0, COUNT),
    COLUMN("destination", RANK, 0, COUNT),
    COLUMN("class", STRING, 0, COUNT),
    COLUMN("domain", DOMAIN, 0, COUNT),
    COLUMN("phase", NUMBER, 0, COUNT),
    COLUMN("messages", NUMBER, PCOLLECT_SUM, COUNT),
    COLUMN("bytes", NUMBER, PCOLLECT_SUM, BYTES),
    COLUMN("time", NUMBER, PCOLLECT_SUM, NS),
    COLUMN("received", NUMBER, PCOLLECT_SUM, COUNT),
    COLUMN("received_bytes", NUMBER, PCOLLECT_SUM, BYTES),
    COLUMN("receive_time", NUMBER, PCOLLECT_SUM, NS),
};

struct job {
    const char *folder;
    int n_ranks, n_contexts, n_neighbours, n_own;
};

static uint64_t random_of(uint64_t a, uint64_t b, uint64_t below)
{
    return pc_hash_u64(a * 1000003 + b) % below;
}

static void fill_header(const struct job *job, int rank, struct pcollect_arena_header *h)
{
    h->state = PCOLLECT_STATE_INITIALISED;
    h->job_key = 1;
    h->rank = rank;
    h->n_ranks = job->n_ranks;
    h->pid = 1000 + rank % RANKS_PER_NODE;
    h->record_bytes = h->comm_bytes = RECORD_BYTES;
    h->values_kib = 64 << 10;
    h->ticks_1 = h->mono_1_ns = 3600000000000u; /* one tick is 1 ns */
    h->realtime_0_ns = 1700000000000000000u + random_of((uint64_t)rank, 1, 100000000);
    h->init_begin_ticks = 1000000;
    h->init_end_ticks = 2000000;
    snprintf(h->host, sizeof h->host, "node%05d", rank / RANKS_PER_NODE);
    snprintf(h->exe, sizeof h->exe, "/nowhere/app");
}

static void fill_record(uint64_t *record, int rank, int context)
{
    uint64_t calls = 1 + (uint64_t)context % 1000,
             mean = 1000 + random_of(1u << 31, (uint64_t)context, 1000000);
    uint64_t time = mean * calls * (90 + random_of((uint64_t)rank, (uint64_t)context, 20)) / 100;
    const uint64_t values[] = {calls, 3 * mean, mean / 2, 8 * calls, 8 * calls, time};
    memcpy(record, values, sizeof values);
    uint8_t *bins = (uint8_t *)(record + PC_ARRAY_LEN(values));
    for (unsigned k = 0; k < 4; k++)
        bins[18 + k] = (uint8_t)(calls / 4);
}

static void fill_tree(const struct job *job, int rank, struct pc_tree *t, pcollect_ref module)
{
    pcollect_ref caller = 0;
    for (int i = 0; i < job->n_contexts; i++) {
        bool collapsed = false;
        bool own = i >= job->n_contexts - job->n_own;
        uint64_t offset = 4096 * (uint64_t)i + (own ? (uint64_t)(rank + 1) << 32 : 0);
        if (i % PER_CALLER == 0)
            caller = pc_tree_frame(t, t->root, module, offset);
        pcollect_ref frame = pc_tree_frame(t, caller, module, offset + 16);
        fill_record(pc_tree_record(t, pc_tree_op(t, frame, 1, RECORD_BYTES, &collapsed)), rank, i);
    }
}

/* Messages and bytes of a rank, to each neighbour and from it. */
static void fill_pairs(const struct job *job, int rank, struct pc_tree *t, pcollect_ref table,
                       pcollect_ref text)
{
    for (int i = 0; i < job->n_neighbours; i++) {
        int step = i / 2 + 1, other = (rank + (i % 2 ? step : job->n_ranks - step)) % job->n_ranks;
        for (int sent = 0; sent < 2; sent++) {
            uint64_t from = (uint64_t)(sent ? rank : other), to = (uint64_t)(sent ? other : rank);
            const uint64_t keys[N_KEYS] = {from, to, text, 0x123456789abcdefu, 0};
            uint64_t *values = pc_tree_row(t, table, N_KEYS, N_VALUES, keys) + (sent ? 0 : 3);
            values[0] = 1000;
            values[1] = 1000 * (8192 + 128 * random_of(from, to, 64));
            values[2] = 2000000 + random_of(from * 2 + (unsigned)sent, to, 200000);
        }
    }
}

static bool write_arena(const struct job *job, int rank, const struct pc_arena *a)
{
    char path[PCOLLECT_PATH_BYTES];
    snprintf(path, sizeof path, "%s/%d.arena", job->folder, rank);
    FILE *f = fopen(path, "w");
    bool ok = f && fwrite(a->base, a->header->used_bytes, 1, f) == 1;
    return f && !fclose(f) && ok;
}

static bool make_arena(const struct job *job, int rank)
{
    static const char path[] = "/nowhere/app";
    const struct pcollect_module module = {
        .flags = PCOLLECT_MODULE_EXE, .identity = 1, .path_bytes = sizeof path - 1};
    const struct pcollect_plugin_rec plugin = {
        .name = "time", .n_fields = N_FIELDS, .record_bytes = RECORD_BYTES};
    const struct pcollect_table_rec table = {
        .name = "pairs", .plugin = "topology", .n_keys = N_KEYS, .n_values = N_VALUES};
    struct pc_arena a;
    struct pc_error error;
    if (pc_arena_open(&a, NULL, (size_t)256 << 20, &error))
        return false;
    fill_header(job, rank, a.header);
    pc_arena_add_op(&a, 1, PCOLLECT_CLASS_COLL, "MPI_Allreduce");
    pc_arena_add_plugin(&a, &plugin, fields);
    pcollect_ref app = pc_arena_add_module(&a, &module, path);
    pcollect_ref pairs = pc_arena_add_table(&a, &table, columns);
    struct pc_tree *t = pc_tree_open(&a, 1, false);
    fill_tree(job, rank, t, app);
    fill_pairs(job, rank, t, pairs, pc_arena_string(&a, "p2p", 3));
    bool ok = write_arena(job, rank, &a);
    pc_arena_close(&a);
    return ok;
}

int main(int argc, char **argv)
{
    if (argc != 6) {
        fprintf(stderr, "arenas FOLDER RANKS CONTEXTS NEIGHBOURS OWN\n");
        return 2;
    }
    const struct job job = {argv[1], atoi(argv[2]), atoi(argv[3]), atoi(argv[4]), atoi(argv[5])};
    for (int rank = 0; rank < job.n_ranks; rank++)
        if (!make_arena(&job, rank)) {
            fprintf(stderr, "arenas: %s: rank %d cannot be written\n", job.folder, rank);
            return 1;
        }
    return 0;
}
