/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Profiles made by hand: see sample.h.
 */
#include "sample.h"
#include "analysis/symbols/symbols_private.h"

#include "include/pcollect/plugin.h"

#include <stdio.h>
#include <string.h>

void sample_begin(struct sample *s)
{
    static const struct {
        const char *name;
        uint16_t combine, unit, bins;
    } fields[SAMPLE_FIELDS] = {
        [RECEIVED] = {"bytes_received", PCOLLECT_SUM, PCOLLECT_UNIT_BYTES, 0},
        [SENT] = {"bytes_sent", PCOLLECT_SUM, PCOLLECT_UNIT_BYTES, 0},
        [COUNT] = {"count", PCOLLECT_SUM, PCOLLECT_UNIT_COUNT, 0},
        [DURATIONS] = {"durations", PCOLLECT_HIST, PCOLLECT_UNIT_NS, 40},
        [MAX] = {"max", PCOLLECT_MAX, PCOLLECT_UNIT_NS, 0},
        [MIN] = {"min", PCOLLECT_MIN, PCOLLECT_UNIT_NS, 0},
        [TIME] = {"time", PCOLLECT_SUM, PCOLLECT_UNIT_NS, 0},
    };
    memset(s, 0, sizeof *s);
    for (size_t k = 0; k < SAMPLE_FIELDS; k++)
        s->fields[k] = (struct pc_profile_field){.plugin = (char *)"time",
                                                 .name = (char *)fields[k].name,
                                                 .combine = fields[k].combine,
                                                 .unit = fields[k].unit,
                                                 .bins = fields[k].bins};
    s->p = (struct pc_profile){.exe = (char *)"",
                               .mpi = (char *)"",
                               .job = (char *)"",
                               .job_key = 1,
                               .n_fields = SAMPLE_FIELDS,
                               .n_comm = SAMPLE_FIELDS,
                               .n_nodes = 1,
                               .ranks = s->ranks,
                               .modules = s->modules,
                               .ops = s->ops,
                               .fields = s->fields,
                               .nodes = s->nodes,
                               .data = s->data};
    s->nodes[0] = (struct pc_profile_node){.parent = PC_NO_INDEX,
                                           .kind = PCOLLECT_NODE_ROOT,
                                           .module = PC_NO_INDEX,
                                           .op = PC_NO_INDEX,
                                           .data = PC_NO_INDEX};
}

void sample_clock(struct sample *s)
{
    s->fields[SAMPLES] = (struct pc_profile_field){.plugin = (char *)"clock",
                                                   .name = (char *)"samples",
                                                   .combine = PCOLLECT_SUM,
                                                   .unit = PCOLLECT_UNIT_COUNT,
                                                   .group = PCOLLECT_GROUP_COMPUTE};
    s->fields[SAMPLED] = s->fields[SAMPLES];
    s->fields[SAMPLED].name = (char *)"time";
    s->fields[SAMPLED].unit = PCOLLECT_UNIT_NS;
    s->p.n_fields += SAMPLE_CLOCK_FIELDS;
}

static uint32_t add_node(struct sample *s, uint32_t parent, uint16_t kind)
{
    uint32_t node = s->p.n_nodes++;
    s->nodes[node] = (struct pc_profile_node){.parent = parent,
                                              .kind = kind,
                                              .module = PC_NO_INDEX,
                                              .op = PC_NO_INDEX,
                                              .data = PC_NO_INDEX};
    for (uint32_t up = parent; up != PC_NO_INDEX; up = s->nodes[up].parent)
        s->nodes[up].n_descendants++;
    return node;
}

uint32_t sample_frame(struct sample *s, uint32_t parent, uint32_t module, uint64_t offset)
{
    uint32_t node = add_node(s, parent, PCOLLECT_NODE_FRAME);
    s->nodes[node].module = module;
    s->nodes[node].offset = offset;
    return node;
}

uint32_t sample_around(struct sample *s, uint32_t parent, uint16_t kind, uint64_t offset)
{
    uint32_t node = add_node(s, parent, kind);
    s->nodes[node].offset = offset;
    return node;
}

uint32_t sample_cut(struct sample *s, uint32_t parent)
{
    return add_node(s, parent, PCOLLECT_NODE_CUT);
}

uint32_t sample_op(struct sample *s, uint32_t parent, uint32_t op)
{
    uint32_t node = add_node(s, parent, PCOLLECT_NODE_OP), data = s->p.n_data++;
    s->nodes[node].op = op;
    s->nodes[node].data = data;
    s->bin_lists[data][DURATIONS] = s->bins[data];
    s->data[data] = (struct pc_profile_data){.stats = s->stats[data],
                                             .bins = s->bin_lists[data],
                                             .ranks = s->rank_lists[data],
                                             .values = s->values[data]};
    return node;
}

uint32_t sample_point(struct sample *s, uint32_t parent, uint32_t module, uint64_t offset)
{
    uint32_t node = add_node(s, parent, PCOLLECT_NODE_POINT), data = s->p.n_data++;
    s->nodes[node].module = module;
    s->nodes[node].offset = offset;
    s->nodes[node].data = data;
    s->data[data] = (struct pc_profile_data){.first_field = SAMPLE_FIELDS,
                                             .stats = s->stats[data],
                                             .bins = s->bin_lists[data],
                                             .ranks = s->rank_lists[data],
                                             .values = s->values[data]};
    return node;
}

void sample_add_samples(struct sample *s, int32_t rank, uint64_t ns)
{
    uint32_t data = s->p.n_data - 1;
    struct pc_profile_data *d = &s->data[data];
    size_t width = s->p.n_fields - d->first_field;
    uint64_t *row = &s->values[data][d->n_ranks * width];
    row[SAMPLES - d->first_field] = ns / 1000000;
    row[SAMPLED - d->first_field] = ns;
    d->ranks[d->n_ranks++] = rank;
    d->first_rank = d->ranks[0];
    d->kept = true;
}

void sample_add(struct sample *s, const struct sample_calls *calls)
{
    uint32_t data = s->p.n_data - 1;
    struct pc_profile_data *d = &s->data[data];
    uint64_t *row = &s->values[data][(size_t)d->n_ranks * s->p.n_fields];
    row[RECEIVED] = calls->received;
    row[SENT] = calls->sent;
    row[COUNT] = calls->count;
    row[MAX] = calls->max;
    row[MIN] = calls->min;
    row[TIME] = calls->time;
    s->bins[data][10] += calls->count;
    d->ranks[d->n_ranks++] = calls->rank;
    d->first_rank = d->ranks[0];
    d->kept = true;
}

static void add_stat(struct pc_stat *t, int32_t rank, uint64_t value)
{
    if (!t->n || value < t->min) {
        t->min = value;
        t->min_rank = rank;
    }
    if (!t->n || value > t->max) {
        t->max = value;
        t->max_rank = rank;
    }
    t->n++;
    t->sum += value;
    t->sum_squares += (pc_u128)value * value;
}

void sample_stretch(struct sample *s, double factor)
{
    for (uint32_t i = 0; i < s->p.n_data; i++)
        for (unsigned r = 0; r < s->p.n_ranks; r++)
            s->values[i][r * s->p.n_fields + TIME] =
                (uint64_t)(factor * (double)s->values[i][r * s->p.n_fields + TIME]);
    s->resources = (struct pc_profile_table){.name = (char *)"resources",
                                             .n_keys = 1,
                                             .n_columns = 2,
                                             .columns = s->resource_columns,
                                             .n_rows = s->p.n_ranks,
                                             .cells = s->resource_cells};
    s->resource_columns[0] =
        (struct pc_profile_column){.name = (char *)"rank", .type = PCOLLECT_COLUMN_RANK};
    s->resource_columns[1] =
        (struct pc_profile_column){.name = (char *)"delayed", .type = PCOLLECT_COLUMN_NUMBER};
    for (unsigned r = 0; r < s->p.n_ranks; r++) {
        double inside_ns = (double)s->ranks[r].inside_ns;
        s->resource_cells[2 * r] = r;
        s->resource_cells[2 * r + 1] = (uint64_t)(inside_ns * (factor - 1));
        s->ranks[r].inside_ns = (uint64_t)(inside_ns * factor);
        s->ranks[r].mpi_ns = (uint64_t)((double)s->ranks[r].mpi_ns * factor);
    }
    s->p.tables = &s->resources;
    s->p.n_tables = 1;
}

void sample_end(struct sample *s)
{
    for (uint32_t i = 0; i < s->p.n_data; i++) {
        const struct pc_profile_data *d = &s->data[i];
        uint32_t width = s->p.n_fields - d->first_field;
        for (uint32_t r = 0; r < d->n_ranks; r++) {
            for (uint32_t k = 0; k < width; k++) {
                uint64_t value = d->values[(size_t)r * width + k];
                if (k + d->first_field == DURATIONS)
                    d->stats[k].n++;
                else if (k + d->first_field != MIN || value)
                    add_stat(&d->stats[k], d->ranks[r], value);
            }
        }
    }
}

/* ---- The solver ------------------------------------------------------------------------------ */

enum { MAIN = 0x1200, SOLVE = 0x1300, DOT = 0x1400, CALLBACK = 0x1500, EXCHANGE = 0x1600 };

enum { ALLREDUCE, INIT, SEND, WAITALL };

void sample_lose(struct sample *s, int32_t rank, unsigned what, uint64_t n)
{
    s->ranks[rank].lost = s->lost[rank];
    s->lost[rank][what] = n;
}

static void add_ranks(struct sample *s)
{
    static const uint64_t ms = 1000000;
    for (int32_t r = 0; r < 4; r++) {
        s->ranks[r] = (struct pc_profile_rank){.rank = r,
                                               .pid = 4000 + r,
                                               .host = (char *)(r < 2 ? "node17" : "node18"),
                                               .start_realtime_ns =
                                                   1700000000u * 1000000000ull + (uint64_t)r * ms,
                                               .before_init_ns = 20 * ms,
                                               .inside_ns = 1000 * ms,
                                               .after_ns = r == 3 ? 0 : 5 * ms,
                                               .merge_ns = r == 3 ? 0 : (uint64_t)(2 + r) * ms,
                                               .n_threads = 1,
                                               .closed = r != 3,
                                               .incomplete = r == 3};
    }
    sample_lose(s, 1, PCOLLECT_LOST_CUT, 2);
    s->ranks[3].notes = PCOLLECT_NOTE_ANONYMOUS;
    s->p.n_ranks = s->p.world_size = 4;
}

/* Adds equal calls in every rank, times scaled by the rank. */
static void add_calls(struct sample *s, uint64_t count, uint64_t time, uint64_t sent,
                      uint64_t received)
{
    for (int32_t r = 0; r < 4; r++) {
        uint64_t ns = time * (uint64_t)(r + 1), mean = ns / count;
        sample_add(s, &(struct sample_calls){r, count, ns, mean / 2, mean * 3, sent, received});
    }
}

void sample_solver(struct sample *s)
{
    static const char *const names[] = {"MPI_Allreduce", "MPI_Init", "MPI_Send", "MPI_Waitall"};
    static const uint16_t classes[] = {PCOLLECT_CLASS_COLL, PCOLLECT_CLASS_ENV, PCOLLECT_CLASS_P2P,
                                       PCOLLECT_CLASS_COMPLETION};
    sample_begin(s);
    s->p.exe = (char *)"/opt/app/solver";
    s->p.mpi = (char *)"Open MPI v4.1.4";
    s->p.job = (char *)"4711";
    add_ranks(s);
    for (uint32_t i = 0; i < 4; i++)
        s->ops[i] = (struct pc_profile_op){(char *)names[i], classes[i]};
    s->p.n_ops = 4;
    s->modules[0] = (struct pc_profile_module){
        .path = (char *)"/opt/app/solver", .identity = 1, .flags = PCOLLECT_MODULE_EXE};
    s->modules[1] =
        (struct pc_profile_module){.path = (char *)"/opt/lib/libplug.so", .identity = 2};
    s->p.n_modules = 2;

    uint32_t from_main = sample_frame(s, 0, 0, MAIN);
    sample_op(s, from_main, INIT);
    add_calls(s, 1, 10000000, 0, 0);
    uint32_t solve = sample_frame(s, 0, 0, MAIN + 8);
    uint32_t dot = sample_frame(s, solve, 0, SOLVE);
    dot = sample_frame(s, dot, 0, DOT);
    uint32_t reduce = sample_op(s, dot, ALLREDUCE);
    add_calls(s, 1000, 60000000, 8000, 8000);
    uint32_t callback = sample_frame(s, reduce, 0, CALLBACK);
    sample_op(s, callback, SEND);
    add_calls(s, 10, 1000000, 40, 0);
    uint32_t halo = sample_frame(s, solve, 0, SOLVE + 8);
    halo = sample_frame(s, halo, 0, EXCHANGE);
    sample_op(s, halo, WAITALL);
    add_calls(s, 500, 30000000, 0, 4096000);
    sample_op(s, sample_frame(s, 0, 1, 0x77), SEND);
    sample_add(s, &(struct sample_calls){2, 1, 300, 300, 300, 1024, 0});
    uint32_t cut_off = sample_cut(s, 0);
    sample_op(s, cut_off, SEND);
    sample_add(s, &(struct sample_calls){1, 2, 4000, 1500, 2500, 16, 0});
    sample_end(s);
    for (uint64_t r = 0; r < 4; r++) {
        s->ranks[r].mpi_ns = (r + 1) * 100000000 + (r == 1 ? 4000 : r == 2 ? 300 : 0);
        s->ranks[r].mpi_calls = 1501 + (r == 1 ? 2 : r == 2 ? 1 : 0);
    }
}

void sample_teach_solver(struct pct_symbols *symbols)
{
    static const char solver[] = "/src/solver/solver.c", field[] = "/src/solver/field.h";
    static const struct pct_frame in_main[] = {{"main", solver, 200, false, false, NULL, 0}};
    static const struct pct_frame in_main_2[] = {{"main", solver, 210, false, false, NULL, 0}};
    static const struct pct_frame in_solve[] = {{"solve", solver, 120, false, false, NULL, 0}};
    static const struct pct_frame in_solve_2[] = {{"solve", solver, 131, false, false, NULL, 0}};
    static const struct pct_frame in_dot[] = {{"dot", solver, 44, false, false, NULL, 0}};
    static const struct pct_frame in_add[] = {
        {"sum<double>(double*, int)", solver, 31, false, false, NULL, 0}};
    static const struct pct_frame in_halo[] = {{"exchange", solver, 77, false, false, NULL, 0},
                                               {"field::wait", field, 12, true, false, NULL, 0}};
    const struct {
        uint64_t offset;
        const struct pct_frame *frames;
        uint32_t n;
    } places[] = {{MAIN, in_main, 1},         {MAIN + 8, in_main_2, 1}, {SOLVE, in_solve, 1},
                  {SOLVE + 8, in_solve_2, 1}, {DOT, in_dot, 1},         {CALLBACK, in_add, 1},
                  {EXCHANGE, in_halo, 2}};
    for (size_t i = 0; i < PC_ARRAY_LEN(places); i++)
        pct_symbols_teach(symbols, 0, places[i].offset,
                          (struct pct_place){places[i].frames, places[i].n});
}

/* ---- Hostile names --------------------------------------------------------------------------- */

const char *const sample_hostile_names[] = {
    "a > b",
    "a >b> c",
    "> ",
    ">",
    "tab\there",
    "line\nbreak\r",
    "back\\slash \\n",
    "at@file:3",
    "\x1b[31mred\x07",
    "bad \xff\xc3 utf8",
    "over \xc0\xaf long",
    "\xe2\x80\xae"
    "reversed",
    "c1 \xc2\x9b"
    "31m",
    "gr\xc3\xbc\xc3\x9f dich",
    "\"quoted\"",
    "</script><img src=x onerror=window.ran=1>",
    "\xe2\x81\xa6isolated\xe2\x81\xa9 \xd7\x90 <b>'&amp;",
    "operator>",
    "std::map<int, std::vector<int> >",
    "",
    NULL,
};

/* A thread and the source of its samples, with names from the strings. */
static void add_hostile_thread(struct sample *s)
{
    static char *strings[] = {(char *)"\x1b[31m", (char *)"a\x1b[31m\tb\n\xff\"c\\"};
    enum { SOURCE = 1, NAME, N = 6 };
    static struct pc_profile_column columns[2][N] = {
        {{.name = (char *)"rank", .type = PCOLLECT_COLUMN_RANK},
         {.name = (char *)"thread", .type = PCOLLECT_COLUMN_NUMBER},
         {.name = (char *)"interrupts", .type = PCOLLECT_COLUMN_NUMBER, .combine = PCOLLECT_SUM},
         {.name = (char *)"cpu", .type = PCOLLECT_COLUMN_NUMBER, .combine = PCOLLECT_SUM},
         {.name = (char *)"cost", .type = PCOLLECT_COLUMN_NUMBER, .combine = PCOLLECT_SUM},
         {.name = (char *)"source", .type = PCOLLECT_COLUMN_STRING, .combine = PCOLLECT_MAX}},
        {{.name = (char *)"rank", .type = PCOLLECT_COLUMN_RANK},
         {.name = (char *)"thread", .type = PCOLLECT_COLUMN_NUMBER},
         {.name = (char *)"kind", .type = PCOLLECT_COLUMN_STRING, .combine = PCOLLECT_MAX},
         {.name = (char *)"name", .type = PCOLLECT_COLUMN_STRING, .combine = PCOLLECT_MAX},
         {.name = (char *)"threads", .type = PCOLLECT_COLUMN_NUMBER, .combine = PCOLLECT_SUM},
         {.name = (char *)"calls", .type = PCOLLECT_COLUMN_NUMBER, .combine = PCOLLECT_SUM}},
    };
    static uint64_t cells[2][N] = {{0, 0, 2, 10000000, 0, SOURCE}, {0, 0, SOURCE, NAME, 1, 3}};
    static struct pc_profile_table tables[2] = {
        {.name = (char *)"sampling", .plugin = (char *)""},
        {.name = (char *)"thread_records", .plugin = (char *)""}};
    for (unsigned i = 0; i < 2; i++) {
        tables[i].n_keys = 2;
        tables[i].n_columns = N;
        tables[i].columns = columns[i];
        tables[i].n_rows = 1;
        tables[i].cells = cells[i];
        for (unsigned k = 0; k < N; k++)
            columns[i][k].unit = PCOLLECT_UNIT_COUNT;
    }
    s->p.strings = strings;
    s->p.n_strings = PC_ARRAY_LEN(strings);
    s->p.tables = tables;
    s->p.n_tables = 2;
}

void sample_hostile(struct sample *s)
{
    sample_begin(s);
    s->p.exe = (char *)"/tmp/evil\n\tname\xff";
    s->p.mpi = (char *)"MPI \"x\" \x1b[0m";
    s->p.n_ranks = s->p.world_size = 1;
    s->ranks[0] = (struct pc_profile_rank){.host = (char *)"ho\tst\n\xfe",
                                           .pid = 1,
                                           .inside_ns = 1000,
                                           .mpi_ns = 30,
                                           .mpi_calls = 3,
                                           .n_threads = 1,
                                           .closed = 1};
    s->ops[0] = (struct pc_profile_op){(char *)"MPI_Barrier", PCOLLECT_CLASS_COLL};
    s->p.n_ops = 1;
    s->modules[0] = (struct pc_profile_module){.path = (char *)"/tmp/evil\n > @lib", .identity = 1};
    s->p.n_modules = 1;
    uint32_t up = 0;
    for (uint64_t i = 0; sample_hostile_names[i]; i++)
        up = sample_frame(s, up, 0, i + 1);
    for (uint64_t i = 0; i < 2; i++) {
        sample_op(s, sample_frame(s, up, 0, 0x1000 + i), 0);
        sample_add(s, &(struct sample_calls){0, 1, 10 + 10 * i, 10 + 10 * i, 10 + 10 * i, 5, 7});
    }
    add_hostile_thread(s);
    sample_end(s);
}

void sample_teach_hostile(struct pct_symbols *symbols)
{
    static struct pct_frame frames[32];
    static const struct pct_frame same = {"same", "/x/same.c", 1, false, false, NULL, 0};
    for (uint64_t i = 0; sample_hostile_names[i]; i++) {
        frames[i] =
            (struct pct_frame){sample_hostile_names[i], "/x/a > @b\n.c", 5, false, false, NULL, 0};
        pct_symbols_teach(symbols, 0, i + 1, (struct pct_place){&frames[i], 1});
    }
    for (uint64_t i = 0; i < 2; i++)
        pct_symbols_teach(symbols, 0, 0x1000 + i, (struct pct_place){&same, 1});
}

/* ---- Large numbers --------------------------------------------------------------------------- */

/* One rank that calls MPI twice, each time as long as `calls` says. */
static void add_two_calls(struct sample *s, const struct sample_calls calls[2])
{
    sample_begin(s);
    s->p.n_ranks = s->p.world_size = 1;
    s->ranks[0] = (struct pc_profile_rank){.host = (char *)"h",
                                           .pid = 1,
                                           .inside_ns = 2 * (calls[0].time + calls[1].time),
                                           .mpi_ns = calls[0].time + calls[1].time,
                                           .mpi_calls = 2,
                                           .n_threads = 1,
                                           .closed = 1};
    s->ops[0] = (struct pc_profile_op){(char *)"MPI_Sendrecv", PCOLLECT_CLASS_P2P};
    s->p.n_ops = 1;
    s->modules[0] = (struct pc_profile_module){.path = (char *)"/opt/app/limits", .identity = 1};
    s->p.n_modules = 1;
    for (uint64_t i = 0; i < 2; i++) {
        sample_op(s, sample_frame(s, 0, 0, i + 1), 0);
        sample_add(s, &calls[i]);
    }
    sample_end(s);
}

void sample_limits(struct sample *s)
{
    const uint64_t four = UINT32_MAX, exact = (uint64_t)1 << 53;
    add_two_calls(s, (const struct sample_calls[]){{0, 1, four, four, four, four - 1, exact - 1},
                                                   {0, 1, 1, 1, 1, 1, 1}});
}

void sample_great(struct sample *s)
{
    const uint64_t ns = ((uint64_t)1 << 53) + 8, less = 1072102922104;
    add_two_calls(
        s, (const struct sample_calls[]){{0, 1, ns, ns, ns, 8, 8}, {0, 1, less, less, less, 8, 8}});
}

/* ---- Many ranks ------------------------------------------------------------------------------ */

enum { WIDE_RANKS = 4096, WIDE_HOST = 64, WIDE_PEAK = 2777, WIDE_OTHERS = 3 };

static void add_wide_ranks(struct sample *s)
{
    static struct pc_profile_rank ranks[WIDE_RANKS];
    static char hosts[WIDE_RANKS / WIDE_HOST][16];
    for (int32_t r = 0; r < WIDE_RANKS; r++) {
        snprintf(hosts[r / WIDE_HOST], sizeof hosts[0], "node%02d", r / WIDE_HOST);
        ranks[r] = (struct pc_profile_rank){.rank = r,
                                            .pid = 1000 + r % WIDE_HOST,
                                            .host = hosts[r / WIDE_HOST],
                                            .inside_ns = 200000000,
                                            .n_threads = 1,
                                            .closed = 1};
    }
    s->p.ranks = ranks;
    s->p.n_ranks = s->p.world_size = WIDE_RANKS;
}

/* Each third rank does not call the second function. */
static void add_wide_calls(struct sample *s, uint32_t op)
{
    static int32_t lists[2][WIDE_RANKS];
    static uint64_t values[2][WIDE_RANKS * SAMPLE_FIELDS];
    sample_op(s, sample_frame(s, 0, 0, 0x1000 + op), op);
    struct pc_profile_data *d = &s->data[s->p.n_data - 1];
    d->ranks = lists[op];
    d->values = values[op];
    d->kept = true;
    for (int32_t r = 0; r < WIDE_RANKS; r++) {
        if (op && r % 3 == 0)
            continue;
        uint64_t *row = &d->values[(size_t)d->n_ranks * SAMPLE_FIELDS];
        uint64_t ns = 1000000 + (uint64_t)(r % 7) * 50000;
        row[COUNT] = 1;
        row[TIME] = row[MIN] = row[MAX] = r == WIDE_PEAK ? 90000000 : ns;
        row[SENT] = row[RECEIVED] = 8 * (uint64_t)r;
        s->p.ranks[r].mpi_ns += row[TIME];
        s->p.ranks[r].mpi_calls++;
        d->ranks[d->n_ranks++] = r;
    }
    d->first_rank = d->ranks[0];
}

/* A ring with more between some pairs than between others, and one message right across it; behind
 * the rows of the table are three of two pairs with another rank. */
static void make_wide_pairs(struct pc_profile_table *t)
{
    static struct pc_profile_column columns[] = {
        {(char *)"source", PCOLLECT_COLUMN_RANK, 0, PCOLLECT_UNIT_COUNT},
        {(char *)"destination", PCOLLECT_COLUMN_RANK, 0, PCOLLECT_UNIT_COUNT},
        {(char *)"class", PCOLLECT_COLUMN_STRING, 0, PCOLLECT_UNIT_COUNT},
        {(char *)"domain", PCOLLECT_COLUMN_DOMAIN, 0, PCOLLECT_UNIT_COUNT},
        {(char *)"messages", PCOLLECT_COLUMN_NUMBER, PCOLLECT_SUM, PCOLLECT_UNIT_COUNT},
        {(char *)"bytes", PCOLLECT_COLUMN_NUMBER, PCOLLECT_SUM, PCOLLECT_UNIT_BYTES}};
    static uint64_t cells[WIDE_RANKS + 1 + WIDE_OTHERS][PC_ARRAY_LEN(columns)];
    *t = (struct pc_profile_table){.name = (char *)"pairs",
                                   .plugin = (char *)"topology",
                                   .n_keys = 4,
                                   .n_columns = PC_ARRAY_LEN(columns),
                                   .columns = columns,
                                   .n_rows = WIDE_RANKS + 1,
                                   .cells = cells[0]};
    for (uint64_t i = 0; i <= WIDE_RANKS; i++) {
        uint64_t from = i < 2 ? 0 : i - 1, to = i == 1 ? WIDE_PEAK : (from + 1) % WIDE_RANKS;
        const uint64_t row[] = {from, to, 0, 7, 1 + i % 3, 1000 * (1 + i * 37 % 101)};
        memcpy(cells[i], row, sizeof row);
    }
    for (uint64_t i = 0; i < WIDE_OTHERS; i++) {
        const uint64_t row[] = {WIDE_RANKS - !i, i ? 0 : WIDE_RANKS, 0, 7 + i, 1, 1000};
        memcpy(cells[WIDE_RANKS + 1 + i], row, sizeof row);
    }
}

/* Ranks on four sockets, ranks that were bound to none, and one of which nothing is known. */
static void make_wide_places(struct pc_profile_table *t)
{
    static struct pc_profile_column columns[] = {
        {(char *)"rank", PCOLLECT_COLUMN_RANK, 0, PCOLLECT_UNIT_COUNT},
        {(char *)"socket", PCOLLECT_COLUMN_NUMBER, PCOLLECT_MAX, PCOLLECT_UNIT_COUNT}};
    static uint64_t cells[WIDE_RANKS - 1][PC_ARRAY_LEN(columns)];
    for (uint64_t r = 0; r < PC_ARRAY_LEN(cells); r++) {
        cells[r][0] = r;
        cells[r][1] = r * 5 / WIDE_RANKS;
    }
    *t = (struct pc_profile_table){.name = (char *)"place",
                                   .plugin = (char *)"topology",
                                   .n_keys = 1,
                                   .n_columns = PC_ARRAY_LEN(columns),
                                   .columns = columns,
                                   .n_rows = PC_ARRAY_LEN(cells),
                                   .cells = cells[0]};
}

void sample_wide(struct sample *s)
{
    static struct pc_profile_table tables[2];
    sample_begin(s);
    add_wide_ranks(s);
    s->ops[0] = (struct pc_profile_op){(char *)"MPI_Allreduce", PCOLLECT_CLASS_COLL};
    s->ops[1] = (struct pc_profile_op){(char *)"MPI_Barrier", PCOLLECT_CLASS_COLL};
    s->p.n_ops = 2;
    s->modules[0] = (struct pc_profile_module){.path = (char *)"/opt/app/wide", .identity = 1};
    s->p.n_modules = 1;
    for (uint32_t op = 0; op < 2; op++)
        add_wide_calls(s, op);
    make_wide_pairs(&tables[0]);
    make_wide_places(&tables[1]);
    s->p.tables = tables;
    s->p.n_tables = PC_ARRAY_LEN(tables);
    sample_end(s);
}

void sample_gap(struct sample *s)
{
    sample_wide(s);
    s->p.world_size++;
    s->p.tables[0].n_rows += WIDE_OTHERS;
}

void sample_timeless(struct sample *s)
{
    sample_solver(s);
    s->p.n_fields = s->p.n_comm = s->p.n_data = 0;
    s->p.n_nodes = 1;
}

void sample_recorded(struct sample *s)
{
    sample_begin(s);
    sample_clock(s);
    s->p.world_size = s->p.n_ranks = 2;
    for (int32_t r = 0; r < 2; r++)
        s->ranks[r] = (struct pc_profile_rank){.rank = r,
                                               .pid = 5000 + r,
                                               .host = (char *)"node17",
                                               .before_init_ns = 1000000000,
                                               .n_threads = 1,
                                               .closed = true,
                                               .notes = PCOLLECT_NOTE_OUTSIDE};
    s->ops[0] = (struct pc_profile_op){(char *)"MPI_Barrier", PCOLLECT_CLASS_COLL};
    s->p.n_ops = 1;
    s->modules[0] = (struct pc_profile_module){.path = (char *)"/opt/app/ring", .identity = 1};
    s->p.n_modules = 1;
    uint32_t main = sample_frame(s, 0, 0, MAIN);
    sample_op(s, main, 0);
    sample_add_samples(s, 1, 70000000);
    sample_point(s, main, 0, SOLVE);
    for (int32_t r = 0; r < 2; r++)
        sample_add_samples(s, r, 300000000);
    sample_end(s);
}

/* ---- Tables of others ------------------------------------------------------------------------ */

/* Names of tables that the report reads, and of the columns that it looks for; the keys first. */
static const struct {
    const char *name, *columns[13];
    uint32_t n_keys;
} known_tables[] = {
    {"collectives", {"operation", "root", "domain", "calls"}, 3},
    {"communicators", {"domain", "name", "size"}, 1},
    {"counters", {"event", "rank", "thread", "total", "own", "read", "skipped", "unplaced"}, 3},
    {"edge_samples", {"rank", "thread", "from", "to", "inside", "context", "samples"}, 6},
    {"edges", {"event", "rank", "thread", "from", "to", "inside", "count", "times"}, 6},
    {"events", {"event", "why_not", "ranks", "in_turns"}, 2},
    {"jobs", {"rank", "number", "made_by", "job", "parent", "port"}, 2},
    {"machine", {"host", "socket", "cores", "list"}, 2},
    {"pairs", {"source", "destination", "class", "domain", "messages", "bytes"}, 4},
    {"place", {"rank", "socket", "cores"}, 1},
    {"readings", {"context", "event", "readings", "seen", "count", "time"}, 2},
    {"requests", {"start", "completion", "never"}, 2},
    {"resources",
     {"rank", "delayed", "user", "system", "minor_faults", "major_faults", "bound"},
     1},
    {"sampling", {"rank", "thread", "interrupts", "cpu", "cost", "source"}, 2},
    {"series", {"rank", "start", "width", "calls", "mpi_time"}, 3},
};

void sample_mistyped(struct sample *s)
{
    enum {
        N = PC_ARRAY_LEN(known_tables),
        ROWS = 3,
        COLUMNS = PC_ARRAY_LEN(known_tables->columns)
    };
    static struct pc_profile_table tables[N];
    static struct pc_profile_column columns[N][COLUMNS];
    static uint64_t cells[N][ROWS * COLUMNS];
    sample_solver(s);
    for (size_t i = 0; i < N; i++) {
        struct pc_profile_table *t = &tables[i];
        *t = (struct pc_profile_table){.name = (char *)known_tables[i].name,
                                       .plugin = (char *)"counters",
                                       .n_keys = known_tables[i].n_keys,
                                       .columns = columns[i],
                                       .n_rows = ROWS,
                                       .cells = cells[i]};
        for (; t->n_columns < COLUMNS && known_tables[i].columns[t->n_columns]; t->n_columns++)
            columns[i][t->n_columns] =
                (struct pc_profile_column){.name = (char *)known_tables[i].columns[t->n_columns],
                                           .type = PCOLLECT_COLUMN_NUMBER,
                                           .combine = t->n_columns < t->n_keys ? 0 : PCOLLECT_SUM,
                                           .unit = PCOLLECT_UNIT_COUNT};
        for (uint32_t k = 0; k < ROWS * t->n_columns; k++)
            cells[i][k] = (UINT64_C(1) << 40) + k;
    }
    s->p.tables = tables;
    s->p.n_tables = N;
}

void sample_unsorted(struct sample *s)
{
    static struct pc_profile_column columns[] = {
        {(char *)"option", PCOLLECT_COLUMN_NUMBER, 0, PCOLLECT_UNIT_COUNT},
        {(char *)"processes", PCOLLECT_COLUMN_NUMBER, PCOLLECT_SUM, PCOLLECT_UNIT_COUNT}};
    static uint64_t cells[2][PC_ARRAY_LEN(columns)] = {{1, 1}, {1, 1}};
    static struct pc_profile_table table = {.name = (char *)"settings",
                                            .plugin = (char *)"pcollect",
                                            .n_keys = 1,
                                            .n_columns = PC_ARRAY_LEN(columns),
                                            .columns = columns,
                                            .n_rows = 2,
                                            .cells = cells[0]};
    sample_solver(s);
    s->p.tables = &table;
    s->p.n_tables = 1;
}
