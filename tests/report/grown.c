/* SPDX-License-Identifier: BSD-3-Clause
 *
 * `grown FILE own N`: writes a profile of N ranks, started by one command, each with a separate
 * context, whose values by rank are kept; with `split` each context has two records. `grown FILE
 * halo N`: one of N ranks on nodes of 16, two sockets each, that talk to the 8 neighbours of a grid
 * of 64 columns. For growth.test, which counts the instructions of readers. `grown FILE wide N`:
 * one of N ranks in each of 40 contexts, 1 ms for each. For screens.test. `grown FILE hung N`: one
 * of N ranks, all but the last for 2 s in a call that had not ended. For report.test. `grown FILE
 * deep N`: one of a call below N frames. For tools/diff.test. `grown FILE recursion N`: one of two
 * ranks in a function of this program that calls itself N times, and at each level makes a call,
 * and computes, for twice as long on rank 1, for which the other waits. `grown FILE regions N`: one
 * of a rank with a call in each of N regions. `grown FILE many N`: one of two ranks in N contexts,
 * whose values by rank are not kept. For room.test. `grown FILE threads N`: one of N ranks with
 * four threads each, of which one works longer, and of N files. For page_objects.test.
 */
#include "format/profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COUNT, TIME, N_FIELDS, SAMPLES = N_FIELDS, SAMPLED, N_ALL_FIELDS };
enum { WIDE_CONTEXTS = 40, WIDE_NS = 1000000, HUNG_NS = 2000000000 };
enum { NODE_RANKS = 16, GRID_COLUMNS = 64, NEIGHBOURS = 8 };

static void *take(size_t n, size_t size)
{
    void *p = calloc(n ? n : 1, size);
    if (!p)
        exit(2);
    return p;
}

static char *format(const char *text, uint32_t i)
{
    char *out = take(1, 32);
    snprintf(out, 32, text, i);
    return out;
}

static void make_ranks(struct pc_profile *p, uint32_t n)
{
    p->ranks = take(n, sizeof *p->ranks);
    p->n_ranks = p->world_size = n;
    for (uint32_t i = 0; i < n; i++)
        p->ranks[i] = (struct pc_profile_rank){.rank = (int32_t)i,
                                               .pid = 1,
                                               .host = format("n%06u", i / NODE_RANKS),
                                               .inside_ns = 1000000 + i % 10,
                                               .mpi_ns = 1000,
                                               .mpi_calls = 1,
                                               .n_threads = 1,
                                               .closed = 1};
}

static uint32_t add_node(struct pc_profile *p, uint32_t parent, uint16_t kind)
{
    uint32_t i = p->n_nodes++;
    p->nodes[i] =
        (struct pc_profile_node){parent, 0, kind, 0, PC_NO_INDEX, PC_NO_INDEX, PC_NO_INDEX, 0};
    for (uint32_t up = parent; up != PC_NO_INDEX; up = p->nodes[up].parent)
        p->nodes[up].n_descendants++;
    return i;
}

/* A call of each of n ranks. */
static void add_data(struct pc_profile *p, int32_t first, uint32_t n, uint64_t ns)
{
    struct pc_profile_data *d = &p->data[p->n_data];
    uint64_t values[N_ALL_FIELDS] = {[COUNT] = 1, [TIME] = ns};
    *d = (struct pc_profile_data){.n_ranks = n,
                                  .first_rank = first,
                                  .kept = true,
                                  .stats = take(p->n_fields, sizeof *d->stats),
                                  .bins = take(p->n_fields, sizeof *d->bins),
                                  .ranks = take(n, sizeof *d->ranks),
                                  .values = take(n, p->n_fields * sizeof *d->values)};
    for (uint32_t r = 0; r < n; r++) {
        d->ranks[r] = first + (int32_t)r;
        memcpy(&d->values[r * p->n_fields], values, p->n_fields * sizeof *values);
    }
    for (uint32_t k = 0; k < p->n_fields; k++) {
        uint64_t v = values[k];
        d->stats[k] = (struct pc_stat){n * v, (pc_u128)n * v * v, n, v, v, first, first};
    }
    p->nodes[p->n_nodes - 1].data = p->n_data++;
}

/* Lets rank 0 wait in the last call, which takes it `ns`, while it takes rank 1 as long as before.
 */
static void let_wait(struct pc_profile *p, uint64_t ns)
{
    struct pc_profile_data *d = &p->data[p->n_data - 1];
    uint64_t other = d->values[p->n_fields + TIME];
    d->values[TIME] = ns;
    d->stats[TIME] =
        (struct pc_stat){ns + other, (pc_u128)ns * ns + (pc_u128)other * other, 2, other, ns, 1, 0};
}

/* n contexts, each of another rank, or of all of them; or each with two records, one of them of a
 * communicator. */
static void make_contexts(struct pc_profile *p, uint32_t n, bool all, bool split)
{
    p->nodes = take(1 + 3 * (size_t)n, sizeof *p->nodes);
    p->data = take(2 * (size_t)n, sizeof *p->data);
    add_node(p, PC_NO_INDEX, PCOLLECT_NODE_ROOT);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t frame = add_node(p, 0, PCOLLECT_NODE_FRAME);
        p->nodes[frame].module = 0;
        p->nodes[frame].offset = 0x1000 + 16 * (uint64_t)i;
        uint32_t op = add_node(p, frame, PCOLLECT_NODE_OP);
        p->nodes[op].op = 0;
        if (all)
            add_data(p, 0, p->n_ranks, WIDE_NS);
        else
            add_data(p, (int32_t)i, 1, 1000);
        if (!split)
            continue;
        p->nodes[add_node(p, op, PCOLLECT_NODE_DOMAIN)].offset = 7;
        add_data(p, (int32_t)i, 1, 1000);
    }
}

/* A call of rank 0 below n frames, each called by the one before. */
static void make_deep(struct pc_profile *p, uint32_t n)
{
    make_ranks(p, 1);
    p->nodes = take(2 + (size_t)n, sizeof *p->nodes);
    p->data = take(1, sizeof *p->data);
    add_node(p, PC_NO_INDEX, PCOLLECT_NODE_ROOT);
    for (uint32_t i = 1; i <= n; i++)
        p->nodes[i] = (struct pc_profile_node){.parent = i - 1,
                                               .n_descendants = n - i,
                                               .kind = PCOLLECT_NODE_FRAME,
                                               .op = PC_NO_INDEX,
                                               .offset = 0x1000 + 16 * (uint64_t)i,
                                               .data = PC_NO_INDEX};
    p->nodes[0].n_descendants = n;
    p->n_nodes = n + 1;
    p->nodes[add_node(p, n, PCOLLECT_NODE_OP)].op = 0;
    add_data(p, 0, 1, 1000);
}

/* Samples of n ranks in the last node, one for each ms. */
static void add_samples(struct pc_profile *p, uint32_t n, const uint64_t *each_ms)
{
    enum { WIDTH = N_ALL_FIELDS - N_FIELDS };
    struct pc_profile_data *d = &p->data[p->n_data];
    *d = (struct pc_profile_data){.first_field = N_FIELDS,
                                  .n_ranks = n,
                                  .kept = true,
                                  .stats = take(WIDTH, sizeof *d->stats),
                                  .bins = take(WIDTH, sizeof *d->bins),
                                  .ranks = take(n, sizeof *d->ranks),
                                  .values = take(n, WIDTH * sizeof *d->values)};
    for (uint32_t r = 0; r < n; r++) {
        d->ranks[r] = (int32_t)r;
        for (uint32_t k = 0; k < WIDTH; k++) {
            uint64_t v = each_ms[r] * (k ? 1000000 : 1);
            struct pc_stat *s = &d->stats[k];
            d->values[r * WIDTH + k] = v;
            s->sum += v;
            s->sum_squares += (pc_u128)v * v;
            s->n++;
            s->min = !r || v < s->min ? v : s->min;
            s->max = v > s->max ? v : s->max;
            s->max_rank = s->max == v ? (int32_t)r : s->max_rank;
        }
    }
    p->nodes[p->n_nodes - 1].data = p->n_data++;
}

static void make_recursion(struct pc_profile *p, uint32_t n, struct pc_profile_module *module)
{
    extern const char __executable_start[];
    static char self[4096];
    static const uint64_t each_ms[2] = {1, 2};
    if (readlink("/proc/self/exe", self, sizeof self - 1) < 0)
        exit(2);
    p->exe = module->path = self;
    p->n_fields = N_ALL_FIELDS;
    make_ranks(p, 2);
    p->nodes = take(1 + 3 * (size_t)n, sizeof *p->nodes);
    p->data = take(2 * (size_t)n, sizeof *p->data);
    p->nodes[p->n_nodes++] = (struct pc_profile_node){.parent = PC_NO_INDEX,
                                                      .n_descendants = 3 * n,
                                                      .kind = PCOLLECT_NODE_ROOT,
                                                      .module = PC_NO_INDEX,
                                                      .op = PC_NO_INDEX,
                                                      .data = PC_NO_INDEX};
    uint64_t offset = (uintptr_t)make_recursion - (uintptr_t)__executable_start + 1;
    for (uint32_t i = 1; i <= n; i++)
        p->nodes[p->n_nodes++] = (struct pc_profile_node){.parent = i - 1,
                                                          .n_descendants = 3 * (n - i) + 2,
                                                          .kind = PCOLLECT_NODE_FRAME,
                                                          .op = PC_NO_INDEX,
                                                          .offset = offset,
                                                          .data = PC_NO_INDEX};
    for (uint32_t i = n; i > 0; i--) {
        p->nodes[p->n_nodes++] = (struct pc_profile_node){
            .parent = i, .kind = PCOLLECT_NODE_OP, .module = PC_NO_INDEX, .data = PC_NO_INDEX};
        add_data(p, 0, 2, 1000000);
        let_wait(p, 2000000);
        p->nodes[p->n_nodes++] = (struct pc_profile_node){.parent = i,
                                                          .kind = PCOLLECT_NODE_POINT,
                                                          .op = PC_NO_INDEX,
                                                          .offset = offset,
                                                          .data = PC_NO_INDEX};
        add_samples(p, 2, each_ms);
    }
    for (uint32_t r = 0; r < 2; r++) {
        p->ranks[r].mpi_ns = (uint64_t)n * (r ? 1000000 : 2000000);
        p->ranks[r].inside_ns = (uint64_t)n * 3000000;
    }
}

static void make_wide(struct pc_profile *p)
{
    make_contexts(p, WIDE_CONTEXTS, true, false);
    for (uint32_t i = 0; i < p->n_ranks; i++) {
        p->ranks[i].mpi_ns = WIDE_CONTEXTS * WIDE_NS;
        p->ranks[i].inside_ns = p->ranks[i].mpi_ns * 11 / 10;
    }
}

static void make_many(struct pc_profile *p, uint32_t n)
{
    make_ranks(p, 2);
    p->per_rank = 1;
    make_contexts(p, n, true, false);
    for (uint32_t i = 0; i < p->n_data; i++) {
        free(p->data[i].ranks);
        free(p->data[i].values);
        p->data[i].ranks = NULL;
        p->data[i].values = NULL;
        p->data[i].kept = PC_KEPT_NONE;
    }
}

/* Ranks that have been killed, all but the last in a call that had not ended. */
static void make_hung(struct pc_profile *p)
{
    static struct pc_profile_column columns[] = {
        {(char *)"rank", PCOLLECT_COLUMN_RANK, 0, PCOLLECT_UNIT_COUNT},
        {(char *)"thread", PCOLLECT_COLUMN_NUMBER, 0, PCOLLECT_UNIT_COUNT},
        {(char *)"call", PCOLLECT_COLUMN_NODE, PCOLLECT_MAX, PCOLLECT_UNIT_COUNT},
        {(char *)"time", PCOLLECT_COLUMN_NUMBER, PCOLLECT_SUM, PCOLLECT_UNIT_NS}};
    make_contexts(p, 1, true, false);
    p->tables = take(1, sizeof *p->tables);
    p->n_tables = 1;
    *p->tables = (struct pc_profile_table){.name = (char *)"open_calls",
                                           .plugin = (char *)"",
                                           .n_keys = 2,
                                           .n_columns = 4,
                                           .columns = columns,
                                           .n_rows = p->n_ranks - 1,
                                           .cells = take(4 * (size_t)p->n_ranks, sizeof(uint64_t))};
    for (uint32_t r = 0; r < p->n_ranks; r++) {
        uint64_t open_ns = r + 1 < p->n_ranks ? HUNG_NS : 0;
        p->ranks[r].incomplete = true;
        p->ranks[r].mpi_ns = WIDE_NS + open_ns;
        p->ranks[r].inside_ns = WIDE_NS + HUNG_NS;
        memcpy(&p->tables->cells[4 * (size_t)r], (const uint64_t[]){r, 0, p->n_nodes - 1, open_ns},
               4 * sizeof(uint64_t));
    }
}

static int compare(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return x[1] < y[1] ? -1 : x[1] > y[1];
}

static void make_pairs(struct pc_profile_table *t, uint32_t n)
{
    static struct pc_profile_column columns[] = {
        {(char *)"source", PCOLLECT_COLUMN_RANK, 0, PCOLLECT_UNIT_COUNT},
        {(char *)"destination", PCOLLECT_COLUMN_RANK, 0, PCOLLECT_UNIT_COUNT},
        {(char *)"messages", PCOLLECT_COLUMN_NUMBER, PCOLLECT_SUM, PCOLLECT_UNIT_COUNT},
        {(char *)"bytes", PCOLLECT_COLUMN_NUMBER, PCOLLECT_SUM, PCOLLECT_UNIT_BYTES}};
    *t = (struct pc_profile_table){.name = (char *)"pairs",
                                   .plugin = (char *)"topology",
                                   .n_keys = 2,
                                   .n_columns = 4,
                                   .columns = columns,
                                   .cells = take(4 * NEIGHBOURS * (size_t)n, sizeof *t->cells)};
    for (uint32_t r = 0; r < n; r++) {
        uint64_t *first = &t->cells[4 * (size_t)t->n_rows];
        for (int y = -1; y <= 1; y++)
            for (int x = -1; x <= 1; x++) {
                int64_t row = r / GRID_COLUMNS + y, column = r % GRID_COLUMNS + x;
                if ((!x && !y) || row < 0 || row >= n / GRID_COLUMNS || column < 0 ||
                    column >= GRID_COLUMNS)
                    continue;
                uint64_t *cells = &t->cells[4 * (size_t)t->n_rows++];
                cells[0] = r;
                cells[1] = (uint64_t)(row * GRID_COLUMNS + column);
                cells[2] = 10;
                cells[3] = x && y ? 100 : 1000;
            }
        qsort(first, (size_t)(&t->cells[4 * (size_t)t->n_rows] - first) / 4, 4 * sizeof *first,
              compare);
    }
}

/* Each rank is bound to one processor; its socket follows from the table of machines. */
static void make_places(struct pc_profile_table *t, struct pc_profile *p)
{
    static struct pc_profile_column columns[] = {
        {(char *)"rank", PCOLLECT_COLUMN_RANK, 0, PCOLLECT_UNIT_COUNT},
        {(char *)"cores", PCOLLECT_COLUMN_STRING, PCOLLECT_MIN, PCOLLECT_UNIT_COUNT},
        {(char *)"socket", PCOLLECT_COLUMN_NUMBER, PCOLLECT_MIN, PCOLLECT_UNIT_COUNT}};
    *t = (struct pc_profile_table){.name = (char *)"place",
                                   .plugin = (char *)"core",
                                   .n_keys = 1,
                                   .n_columns = 3,
                                   .columns = columns,
                                   .n_rows = p->n_ranks,
                                   .cells = take(3 * (size_t)p->n_ranks, sizeof *t->cells)};
    for (uint32_t r = 0; r < p->n_ranks; r++) {
        uint32_t at = r % NODE_RANKS; /* strings are sorted: 00, 01, ... */
        uint64_t *cells = &t->cells[3 * (size_t)r];
        cells[0] = r;
        cells[1] = 1 + at;
        cells[2] = 1 + at / (NODE_RANKS / 2);
    }
}

static void make_halo(struct pc_profile *p)
{
    p->nodes = take(1, sizeof *p->nodes);
    add_node(p, PC_NO_INDEX, PCOLLECT_NODE_ROOT);
    p->n_strings = NODE_RANKS;
    p->strings = take(p->n_strings, sizeof *p->strings);
    for (uint32_t i = 0; i < p->n_strings; i++)
        p->strings[i] = format("%02u", i);
    p->n_tables = 2;
    p->tables = take(p->n_tables, sizeof *p->tables);
    make_pairs(&p->tables[0], p->n_ranks);
    make_places(&p->tables[1], p);
}

enum { TEAM = 4, KIND_MAIN = 1, KIND_RUNTIME = 2 };

static struct pc_profile_table *add_table(struct pc_profile *p, const char *name,
                                          uint32_t n_columns, struct pc_profile_column *columns,
                                          uint32_t n_rows)
{
    struct pc_profile_table *t = &p->tables[p->n_tables++];
    *t = (struct pc_profile_table){.name = (char *)name,
                                   .plugin = (char *)"",
                                   .n_keys = 2,
                                   .n_columns = n_columns,
                                   .columns = columns,
                                   .n_rows = n_rows,
                                   .cells = take((size_t)n_columns * n_rows, sizeof *t->cells)};
    return t;
}

/* Threads work for 1 to 4 ms, and for 1 ms more on each tenth rank; a file has 1 ms more than the
 * one before. */
static void make_threads(struct pc_profile *p)
{
    enum { KEY = PCOLLECT_COLUMN_NUMBER, SUM = PCOLLECT_SUM };
    static struct pc_profile_column threads[] = {
        {(char *)"rank", PCOLLECT_COLUMN_RANK, 0, PCOLLECT_UNIT_COUNT},
        {(char *)"thread", KEY, 0, PCOLLECT_UNIT_COUNT},
        {(char *)"kind", PCOLLECT_COLUMN_STRING, PCOLLECT_MIN, PCOLLECT_UNIT_COUNT},
        {(char *)"threads", KEY, SUM, PCOLLECT_UNIT_COUNT},
        {(char *)"time", KEY, SUM, PCOLLECT_UNIT_NS}};
    static struct pc_profile_column samples[] = {
        {(char *)"rank", PCOLLECT_COLUMN_RANK, 0, PCOLLECT_UNIT_COUNT},
        {(char *)"thread", KEY, 0, PCOLLECT_UNIT_COUNT},
        {(char *)"compute_time", KEY, SUM, PCOLLECT_UNIT_NS},
        {(char *)"period", KEY, SUM, PCOLLECT_UNIT_NS}};
    static struct pc_profile_column files[] = {
        {(char *)"file", PCOLLECT_COLUMN_STRING, 0, PCOLLECT_UNIT_COUNT},
        {(char *)"context", PCOLLECT_COLUMN_NODE, 0, PCOLLECT_UNIT_COUNT},
        {(char *)"calls", KEY, SUM, PCOLLECT_UNIT_COUNT},
        {(char *)"collective", KEY, SUM, PCOLLECT_UNIT_COUNT},
        {(char *)"bytes_read", KEY, SUM, PCOLLECT_UNIT_BYTES},
        {(char *)"bytes_written", KEY, SUM, PCOLLECT_UNIT_BYTES},
        {(char *)"time", KEY, SUM, PCOLLECT_UNIT_NS},
        {(char *)"collective_time", KEY, SUM, PCOLLECT_UNIT_NS}};
    uint32_t n = p->n_ranks;
    make_contexts(p, 1, false, false);
    p->n_strings = n + 2; /* sorted */
    p->strings = take(p->n_strings, sizeof *p->strings);
    for (uint32_t i = 0; i < n; i++)
        p->strings[i] = format("/scratch/f%06u", i);
    p->strings[n] = format("main", 0);
    p->strings[n + 1] = format("runtime", 0);
    p->tables = take(3, sizeof *p->tables);
    struct pc_profile_table *used = add_table(p, "files", 8, files, n);
    struct pc_profile_table *sampling = add_table(p, "sampling", 4, samples, TEAM * n);
    struct pc_profile_table *records = add_table(p, "thread_records", 5, threads, TEAM * n);
    for (uint32_t i = 0; i < TEAM * n; i++) {
        uint64_t rank = i / TEAM, thread = i % TEAM, work = 1 + (thread + rank) % TEAM;
        uint64_t row[] = {rank, thread, n + (thread ? KIND_RUNTIME : KIND_MAIN), 1,
                          thread ? 0 : 1000};
        memcpy(&records->cells[5 * (size_t)i], row, sizeof row);
        uint64_t sampled[] = {rank, thread, 1000000 * (work + (rank % 10 == 9)), 1000000};
        memcpy(&sampling->cells[4 * (size_t)i], sampled, sizeof sampled);
    }
    for (uint32_t i = 0; i < n; i++) {
        uint64_t row[] = {1 + i, p->n_nodes - 1, 2, 0, 1000, i, 1000000 * (1 + (uint64_t)i), 0};
        memcpy(&used->cells[8 * (size_t)i], row, sizeof row);
    }
}

static void make_regions(struct pc_profile *p, uint32_t n)
{
    make_ranks(p, 1);
    p->strings = take(n, sizeof *p->strings);
    p->n_strings = n;
    p->nodes = take(1 + 2 * (size_t)n, sizeof *p->nodes);
    p->data = take(n, sizeof *p->data);
    add_node(p, PC_NO_INDEX, PCOLLECT_NODE_ROOT);
    uint64_t(*hashes)[2] = take(n, sizeof *hashes);
    for (uint32_t i = 0; i < n; i++) {
        p->strings[i] = format("region %06u", i);
        hashes[i][1] = pc_hash_bytes(p->strings[i], strlen(p->strings[i]), 0);
    }
    qsort(hashes, n, sizeof *hashes, compare);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t region = add_node(p, 0, PCOLLECT_NODE_REGION);
        p->nodes[region].offset = hashes[i][1];
        p->nodes[add_node(p, region, PCOLLECT_NODE_OP)].op = 0;
        add_data(p, 0, 1, 1000);
    }
}

/* The table of command lines: all ranks have the same. */
static void make_command(struct pc_profile *p)
{
    static struct pc_profile_column columns[] = {
        {(char *)"command", PCOLLECT_COLUMN_STRING, 0, PCOLLECT_UNIT_COUNT},
        {(char *)"processes", PCOLLECT_COLUMN_NUMBER, PCOLLECT_SUM, PCOLLECT_UNIT_COUNT}};
    p->n_strings = p->n_tables = 1;
    p->strings = take(1, sizeof *p->strings);
    p->strings[0] = format("./app -n %u", 7);
    p->tables = take(1, sizeof *p->tables);
    *p->tables = (struct pc_profile_table){.name = (char *)"command_lines",
                                           .plugin = (char *)"pcollect",
                                           .n_keys = 1,
                                           .n_columns = 2,
                                           .columns = columns,
                                           .n_rows = 1,
                                           .cells = take(2, sizeof *p->tables->cells)};
    p->tables->cells[0] = 1;
    p->tables->cells[1] = p->n_ranks;
}

int main(int argc, char **argv)
{
    static struct pc_profile_module module = {
        .path = (char *)"/nowhere/app", .flags = PCOLLECT_MODULE_EXE, .identity = 1};
    static struct pc_profile_op op = {(char *)"MPI_Send", PCOLLECT_CLASS_P2P};
    static struct pc_profile_field fields[N_ALL_FIELDS] = {
        {(char *)"time", (char *)"count", PCOLLECT_SUM, PCOLLECT_UNIT_COUNT, 0, 0},
        {(char *)"time", (char *)"time", PCOLLECT_SUM, PCOLLECT_UNIT_NS, 0, 0},
        {(char *)"clock", (char *)"samples", PCOLLECT_SUM, PCOLLECT_UNIT_COUNT, 0,
         PCOLLECT_GROUP_COMPUTE},
        {(char *)"clock", (char *)"time", PCOLLECT_SUM, PCOLLECT_UNIT_NS, 0,
         PCOLLECT_GROUP_COMPUTE}};
    struct pc_profile p = {.exe = module.path,
                           .mpi = (char *)"",
                           .job = (char *)"",
                           .job_key = 1,
                           .n_modules = 1,
                           .modules = &module,
                           .n_ops = 1,
                           .ops = &op,
                           .n_fields = N_FIELDS,
                           .n_comm = N_FIELDS,
                           .fields = fields,
                           .per_rank = 1024};
    struct pc_error error = {""};
    if (argc != 4)
        return 2;
    uint32_t n = (uint32_t)strtoul(argv[3], NULL, 10);
    make_ranks(&p, n);
    if (!strcmp(argv[2], "hung"))
        make_hung(&p);
    else if (!strcmp(argv[2], "deep"))
        make_deep(&p, n);
    else if (!strcmp(argv[2], "recursion"))
        make_recursion(&p, n, &module);
    else if (!strcmp(argv[2], "halo"))
        make_halo(&p);
    else if (!strcmp(argv[2], "threads"))
        make_threads(&p);
    else if (!strcmp(argv[2], "regions"))
        make_regions(&p, n);
    else if (!strcmp(argv[2], "wide"))
        make_wide(&p);
    else if (!strcmp(argv[2], "many"))
        make_many(&p, n);
    else
        make_contexts(&p, p.n_ranks, false, !strcmp(argv[2], "split"));
    if (!strcmp(argv[2], "own"))
        make_command(&p);
    if (pc_profile_check(&p, &error) || pc_pcol_write(&p, argv[1], 0, &error)) {
        fprintf(stderr, "grown: %s\n", error.text);
        return 1;
    }
    return 0;
}
