/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/format/random_profile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>

const struct test_field test_fields[N_TEST_FIELDS] = {
    {"time", "count", PCOLLECT_SUM, PCOLLECT_UNIT_COUNT, 0},
    {"time", "histogram", PCOLLECT_HIST, PCOLLECT_UNIT_NS, TEST_BINS},
    {"time", "max", PCOLLECT_MAX, PCOLLECT_UNIT_NS, 0},
    {"time", "min", PCOLLECT_MIN, PCOLLECT_UNIT_NS, 0},
    {"time", "total", PCOLLECT_SUM, PCOLLECT_UNIT_NS, 0},
    {"volume", "bytes", PCOLLECT_SUM, PCOLLECT_UNIT_BYTES, 0},
    {"clock", "samples", PCOLLECT_SUM, PCOLLECT_UNIT_COUNT, 0},
    {"clock", "slowest", PCOLLECT_MAX, PCOLLECT_UNIT_NS, 0},
};

static const struct pcollect_column pair_columns[] = {
    {"peer", "", PCOLLECT_COLUMN_RANK, 0, PCOLLECT_UNIT_COUNT, 0},
    {"context", "", PCOLLECT_COLUMN_NODE, 0, PCOLLECT_UNIT_COUNT, 0},
    {"name", "", PCOLLECT_COLUMN_STRING, 0, PCOLLECT_UNIT_COUNT, 0},
    {"calls", "", PCOLLECT_COLUMN_NUMBER, PCOLLECT_SUM, PCOLLECT_UNIT_COUNT, 0},
    {"least", "", PCOLLECT_COLUMN_NUMBER, PCOLLECT_MIN, PCOLLECT_UNIT_NS, 0},
    {"where", "", PCOLLECT_COLUMN_NODE, PCOLLECT_MIN, PCOLLECT_UNIT_COUNT, 0},
    {"label", "", PCOLLECT_COLUMN_STRING, PCOLLECT_MIN, PCOLLECT_UNIT_COUNT, 0},
};
static const struct pcollect_column series_columns[] = {
    {"rank", "", PCOLLECT_COLUMN_RANK, 0, PCOLLECT_UNIT_COUNT, 0},
    {"domain", "", PCOLLECT_COLUMN_DOMAIN, 0, PCOLLECT_UNIT_COUNT, 0},
    {"bin", "", PCOLLECT_COLUMN_NUMBER, 0, PCOLLECT_UNIT_COUNT, 0},
    {"total", "", PCOLLECT_COLUMN_NUMBER, PCOLLECT_SUM, PCOLLECT_UNIT_NS, 0},
    {"greatest", "", PCOLLECT_COLUMN_NUMBER, PCOLLECT_MAX, PCOLLECT_UNIT_BYTES, 0},
};
const struct pcollect_table test_tables[N_TEST_TABLES] = {
    {"pairs", "", pair_columns, 3, 4, 0},
    {"series", "", series_columns, 3, 2, 0},
};
const char *const test_strings[N_TEST_STRINGS] = {"MPI_BYTE", "a", "a b", "solve",
                                                  "\xc3\xa9t\xc3\xa9"};

const struct shape shapes[] = {
    {"one context", 1, 2, 1, false, 100, false, false, 0},
    {"shared, flat", 40, 2, 3, false, 1000, false, false, 0},
    {"shared, deep", 30, MAX_DEPTH, 2, false, 1000000, false, false, 0},
    {"little shared", 60, 8, 100000, false, 1u << 30, false, false, 0},
    {"a plugin on some ranks only", 25, 6, 4, true, 1000, false, true, 0},
    {"figures of 64 bits", 20, 5, 4, false, UINT64_MAX - 1, false, false, 1},
    {"no context at all", 0, 1, 1, false, 1, false, false, 0},
    {"all kinds, tables", 40, 4, 3, false, 1000, true, true, 0},
    {"all kinds, tables, a plugin on some ranks only", 30, 6, 4, true, 1u << 30, true, true, 2},
};
const unsigned n_shapes = PC_ARRAY_LEN(shapes);

const char *const test_op_names[N_TEST_OPS] = {"MPI_Allreduce", "MPI_Barrier", "MPI_Finalize",
                                               "MPI_Irecv",     "MPI_Isend",   "MPI_Send",
                                               "MPI_Waitall"};

uint64_t rng_next(struct rng *r)
{
    r->state += 0x9e3779b97f4a7c15u;
    return pc_hash_u64(r->state);
}

uint64_t rng_below(struct rng *r, uint64_t n)
{
    return n ? rng_next(r) % n : 0;
}

unsigned test_fields_of(const struct shape *s, int rank, unsigned list[N_TEST_FIELDS])
{
    unsigned n = 0;
    for (unsigned k = 0; k < N_TEST_FIELDS; k++)
        if (k < N_COMM_FIELDS ? k + 1 < N_COMM_FIELDS || !s->lacks_volume || rank % 2 == 0
                              : s->all_kinds)
            list[n++] = k;
    return n;
}

/* ---- Facts -------------------------------------------------------------------------------- */

/* Additions of shapes with all kinds of nodes. Drawn separately, so that other shapes do not
 * change: a kept file is compared with one of them. */
static void random_kinds(struct rng *r, const struct shape *s, struct fact *f)
{
    bool is_cut = f->depth && f->frames[0].module == -2;
    f->phase = rng_below(r, 3) ? 0 : 1 + rng_below(r, 2);
    f->region = (int)rng_below(r, N_TEST_STRINGS + 4) - 3;
    f->region = f->region < 0 ? 0 : f->region;
    f->is_point = f->op < 0 && f->depth > is_cut && rng_below(r, 2);
    f->domain = f->op >= 0 && rng_below(r, 2) ? pc_hash_u64(1 + rng_below(r, 3)) : 0;
    f->has_data |= f->is_point;
    for (unsigned k = N_COMM_FIELDS; f->has_data && k < N_TEST_FIELDS; k++)
        f->values[k] = rng_below(r, 3) ? rng_below(r, s->max_value) + 1 : 0;
}

bool fact_is_used(const struct fact *f)
{
    uint64_t any = 0;
    for (unsigned k = 0; k < N_TEST_FIELDS; k++)
        any |= f->values[k];
    for (unsigned bin = 0; bin < TEST_BINS; bin++)
        any |= f->bins[bin];
    return f->has_data && any;
}

void test_row(const struct fact *f, unsigned table, uint64_t node, uint64_t cells[TEST_ROW_CELLS])
{
    uint64_t h = f->values[0] + f->bins[3] + f->values[N_TEST_FIELDS - 1];
    memset(cells, 0, TEST_ROW_CELLS * sizeof *cells);
    if (table == 0) {
        cells[0] = h % 5 ? h % 5 : (uint64_t)-1;
        cells[1] = node;
        cells[2] = h / 5 % (N_TEST_STRINGS + 1);
        cells[3] = 1;
        cells[4] = f->values[3];
        cells[5] = h % 3 ? node : 0;
        cells[6] = h / 7 % (N_TEST_STRINGS + 1);
    } else {
        cells[0] = h % 2 ? (uint64_t)(int64_t)PCOLLECT_RANK_SELF : 1;
        cells[1] = f->domain;
        cells[2] = h / 2 % 4;
        cells[3] = f->values[4] + 1;
        cells[4] = f->values[2];
    }
}

static void random_frames(const struct shape *s, struct rng *r, struct fact *f)
{
    f->depth = (unsigned)rng_below(r, s->max_depth + 1);
    for (unsigned k = 0; k < f->depth; k++) {
        f->frames[k].module = (int)rng_below(r, N_TEST_MODULES + 1) - 1;
        f->frames[k].offset = rng_below(r, s->n_offsets) * 0x1234567;
    }
    if (f->depth && !rng_below(r, 5)) {
        f->frames[0].module = -2;
        f->frames[0].offset = 0;
    }
}

struct fact *random_facts(const struct shape *s, uint64_t seed, int rank, unsigned *n_out)
{
    struct rng r = {pc_hash_u64(seed) + (uint64_t)rank * 77777}, kinds = {r.state + 1};
    unsigned n = s->n_facts ? 1 + (unsigned)rng_below(&r, s->n_facts) : 0;
    struct fact *facts = calloc(n + 1, sizeof *facts);
    for (unsigned i = 0; i < n; i++) {
        struct fact *f = &facts[i];
        f->rank = rank;
        random_frames(s, &r, f);
        if (i && !rng_below(&r, 4)) { /* below or beside an earlier one */
            *f = facts[rng_below(&r, i)];
            if (f->depth < s->max_depth && f->depth < MAX_DEPTH) {
                f->frames[f->depth].module = 1;
                f->frames[f->depth].offset = rng_below(&r, s->n_offsets);
                f->depth++;
            }
        }
        f->region = 0;
        f->phase = f->domain = f->is_point = 0;
        f->op = (int)rng_below(&r, N_TEST_OPS + 1) - 1;
        f->has_data = f->op >= 0 && rng_below(&r, 10);
        for (unsigned k = 0; k < N_TEST_FIELDS; k++) {
            f->values[k] = 0;
            if (f->has_data && k < N_COMM_FIELDS && test_fields[k].combine != PCOLLECT_HIST &&
                rng_below(&r, 5))
                f->values[k] = rng_below(&r, s->max_value) + 1;
        }
        memset(f->bins, 0, sizeof f->bins);
        for (unsigned k = 0; f->has_data && k < 3; k++)
            f->bins[rng_below(&r, TEST_BINS)] = rng_below(&r, s->max_value);
        if (s->lacks_volume && rank % 2)
            f->values[5] = 0;
        if (s->all_kinds)
            random_kinds(&kinds, s, f);
        for (unsigned k = 0; f->is_point && k < N_COMM_FIELDS; k++)
            f->values[k] = 0;
        if (f->is_point)
            memset(f->bins, 0, sizeof f->bins);
    }
    *n_out = n;
    return facts;
}

/* ---- A profile of facts: a tree of pointers, sorted when it is written down ---------------- */

struct branch {
    struct pc_profile_node key;
    struct branch **children;
    unsigned n_children;
    bool has_data;
    uint64_t values[N_TEST_FIELDS], bins[TEST_BINS];
};

static struct branch *child_of(struct branch *b, const struct pc_profile_node *key)
{
    for (unsigned i = 0; i < b->n_children; i++)
        if (!pc_node_compare(&b->children[i]->key, key))
            return b->children[i];
    b->children = realloc(b->children, (b->n_children + 1) * sizeof *b->children);
    struct branch *child = calloc(1, sizeof *child);
    child->key = *key;
    return b->children[b->n_children++] = child;
}

static struct pc_profile_node frame_key(const struct fact *f, unsigned k)
{
    int module = f->frames[k].module;
    struct pc_profile_node key = {.kind = PCOLLECT_NODE_FRAME,
                                  .op = PC_NO_INDEX,
                                  .module = (uint32_t)module,
                                  .offset = f->frames[k].offset};
    if (module == -1)
        key.module = PC_NO_INDEX;
    if (module == -2) {
        key.kind = PCOLLECT_NODE_CUT;
        key.module = PC_NO_INDEX;
    }
    if (f->is_point && k + 1 == f->depth)
        key.kind = PCOLLECT_NODE_POINT;
    return key;
}

/* The keys of a fact's nodes below the root; returns their number. */
static unsigned keys_of(const struct fact *f, struct pc_profile_node keys[MAX_DEPTH + 4])
{
    unsigned n = 0;
    if (f->phase)
        keys[n++] = (struct pc_profile_node){.kind = PCOLLECT_NODE_PHASE,
                                             .op = PC_NO_INDEX,
                                             .module = PC_NO_INDEX,
                                             .offset = f->phase};
    if (f->region) {
        const char *name = test_strings[f->region - 1];
        keys[n++] = (struct pc_profile_node){.kind = PCOLLECT_NODE_REGION,
                                             .op = PC_NO_INDEX,
                                             .module = PC_NO_INDEX,
                                             .offset = pc_hash_bytes(name, strlen(name), 0)};
    }
    for (unsigned k = 0; k < f->depth; k++)
        keys[n++] = frame_key(f, k);
    if (f->op >= 0)
        keys[n++] = (struct pc_profile_node){
            .kind = PCOLLECT_NODE_OP, .op = (uint32_t)f->op, .module = PC_NO_INDEX};
    if (f->op >= 0 && f->domain)
        keys[n++] = (struct pc_profile_node){.kind = PCOLLECT_NODE_DOMAIN,
                                             .op = PC_NO_INDEX,
                                             .module = PC_NO_INDEX,
                                             .offset = f->domain};
    return n;
}

static void add_fact(struct branch *b, const struct fact *f)
{
    struct pc_profile_node keys[MAX_DEPTH + 4];
    unsigned n = keys_of(f, keys);
    for (unsigned k = 0; k < n; k++)
        b = child_of(b, &keys[k]);
    if (f->op < 0 && !f->is_point)
        return;
    b->has_data |= f->has_data;
    for (unsigned k = 0; k < N_TEST_FIELDS; k++) {
        uint64_t v = f->values[k], *to = &b->values[k];
        if (test_fields[k].combine == PCOLLECT_SUM)
            *to += v;
        else if (test_fields[k].combine == PCOLLECT_MIN)
            *to = *to && (!v || *to < v) ? *to : v;
        else if (test_fields[k].combine == PCOLLECT_MAX)
            *to = *to > v ? *to : v;
    }
    for (unsigned k = 0; k < TEST_BINS; k++)
        b->bins[k] += f->bins[k];
}

static int compare_branches(const void *a, const void *b)
{
    return pc_node_compare(&(*(struct branch *const *)a)->key, &(*(struct branch *const *)b)->key);
}

static void write_data(struct pc_profile *p, const struct shape *s, const struct branch *b,
                       int rank)
{
    struct pc_profile_data *d = &p->data[p->n_data++];
    unsigned list[N_TEST_FIELDS], n = test_fields_of(s, rank, list);
    assert_true(pc_profile_data_init(p, d, b->key.kind, 1));
    d->ranks[0] = rank;
    for (unsigned k = d->first_field; k < n; k++) {
        if (test_fields[list[k]].combine == PCOLLECT_HIST)
            memcpy(d->bins[k - d->first_field], b->bins, sizeof b->bins);
        else
            d->values[k - d->first_field] = b->values[list[k]];
    }
    pc_profile_data_derive(p, d);
}

static void write_branch(struct pc_profile *p, const struct shape *s, struct branch *b,
                         uint32_t parent, int rank)
{
    uint32_t at = p->n_nodes++;
    p->nodes[at] = b->key;
    p->nodes[at].parent = parent;
    p->nodes[at].data = PC_NO_INDEX;
    if (b->has_data) {
        p->nodes[at].data = p->n_data;
        write_data(p, s, b, rank);
    }
    if (b->n_children)
        qsort(b->children, b->n_children, sizeof *b->children, compare_branches);
    for (unsigned i = 0; i < b->n_children; i++)
        write_branch(p, s, b->children[i], at, rank);
    free(b->children);
    free(b);
}

void test_module(int i, int rank, struct pc_profile_module *m, char path[TEST_PATH_BYTES])
{
    memset(m, 0, sizeof *m);
    if (i < 4) { /* with build-id; on each rank at another place */
        m->build_id_bytes = i < 2 ? 20 : 8;
        memset(m->build_id, 'a' + i, m->build_id_bytes);
        snprintf(path, TEST_PATH_BYTES, "/node%d/lib%d.so", rank % 3, i);
    } else {
        m->identity = (uint64_t)i * 1000003;
        snprintf(path, TEST_PATH_BYTES, "/opt/app%d", i);
    }
    m->flags = 1u << rank % 3;
    m->path = path;
}

static void write_tables(struct pc_profile *p, const struct shape *s, int rank)
{
    char text[TEST_PATH_BYTES];
    p->modules = pc_pool_array(p->memory, N_TEST_MODULES, sizeof *p->modules);
    p->n_modules = N_TEST_MODULES;
    for (int i = 0; i < N_TEST_MODULES; i++) {
        test_module(i, rank, &p->modules[i], text);
        p->modules[i].path = pc_pool_text(p->memory, text, strlen(text));
    }
    p->ops = pc_pool_array(p->memory, N_TEST_OPS, sizeof *p->ops);
    p->n_ops = N_TEST_OPS;
    for (int i = 0; i < N_TEST_OPS; i++) {
        p->ops[i].name = pc_pool_text(p->memory, test_op_names[i], strlen(test_op_names[i]));
        p->ops[i].op_class = PCOLLECT_CLASS_P2P;
    }
    unsigned list[N_TEST_FIELDS];
    p->n_fields = test_fields_of(s, rank, list);
    p->fields = pc_pool_array(p->memory, p->n_fields, sizeof *p->fields);
    for (unsigned k = 0; k < p->n_fields; k++) {
        const struct test_field *f = &test_fields[list[k]];
        p->fields[k].plugin = pc_pool_text(p->memory, f->plugin, strlen(f->plugin));
        p->fields[k].name = pc_pool_text(p->memory, f->name, strlen(f->name));
        p->fields[k].combine = (uint16_t)f->combine;
        p->fields[k].unit = (uint16_t)f->unit;
        p->fields[k].bins = (uint16_t)f->bins;
        p->fields[k].group = list[k] >= N_COMM_FIELDS;
    }
    pc_profile_count_groups(p);
}

static char *pool_text(struct pc_profile *p, const char *text)
{
    return pc_pool_text(p->memory, text, strlen(text));
}

static uint32_t node_of(const struct pc_profile *p, const struct fact *f)
{
    struct pc_profile_node keys[MAX_DEPTH + 4];
    unsigned n = keys_of(f, keys);
    uint32_t at = 0;
    for (unsigned k = 0; k < n; k++) {
        uint32_t i = at + 1;
        while (p->nodes[i].parent != at || pc_node_compare(&p->nodes[i], &keys[k]) != 0)
            i++;
        at = i;
    }
    return at;
}

/* Adds one row, in the simplest way. */
static void write_row(struct pc_profile_table *t, const uint64_t *cells)
{
    uint32_t r = 0, width = t->n_columns;
    int order = -1;
    while (r < t->n_rows &&
           (order = pc_row_compare(t->cells + (size_t)r * width, cells, t->n_keys)) < 0)
        r++;
    uint64_t *at = t->cells + (size_t)r * width;
    if (r == t->n_rows || order) {
        memmove(at + width, at, (size_t)(t->n_rows++ - r) * width * sizeof *at);
        memcpy(at, cells, width * sizeof *at);
        return;
    }
    for (uint32_t i = t->n_keys; i < width; i++)
        at[i] = pc_column_combine(&t->columns[i], at[i], cells[i]);
}

static void write_rows(struct pc_profile *p, const struct fact *facts, unsigned n)
{
    p->strings = pc_pool_array(p->memory, N_TEST_STRINGS, sizeof *p->strings);
    for (; p->n_strings < N_TEST_STRINGS; p->n_strings++)
        p->strings[p->n_strings] = pool_text(p, test_strings[p->n_strings]);
    p->tables = pc_pool_array(p->memory, N_TEST_TABLES, sizeof *p->tables);
    for (; p->n_tables < N_TEST_TABLES; p->n_tables++) {
        const struct pcollect_table *from = &test_tables[p->n_tables];
        struct pc_profile_table *t = &p->tables[p->n_tables];
        t->name = pool_text(p, from->name);
        t->plugin = pool_text(p, "test");
        t->n_keys = from->n_keys;
        t->n_columns = (uint32_t)from->n_keys + from->n_values;
        t->columns = pc_pool_array(p->memory, t->n_columns, sizeof *t->columns);
        for (uint32_t i = 0; i < t->n_columns; i++)
            t->columns[i] = (struct pc_profile_column){
                pool_text(p, from->columns[i].name), from->columns[i].type,
                from->columns[i].combine, from->columns[i].unit};
        t->cells = pc_pool_array(p->memory, (size_t)n + 1, t->n_columns * sizeof *t->cells);
        for (unsigned i = 0; i < n; i++) {
            uint64_t cells[TEST_ROW_CELLS];
            if (!fact_is_used(&facts[i]))
                continue;
            test_row(&facts[i], p->n_tables, node_of(p, &facts[i]), cells);
            if (cells[0] == (uint64_t)(int64_t)PCOLLECT_RANK_SELF)
                cells[0] = (uint64_t)facts[i].rank;
            write_row(t, cells);
        }
    }
}

static void write_rank(struct pc_profile *p, int rank)
{
    char text[32];
    struct rng r = {(uint64_t)rank};
    p->ranks = pc_pool_array(p->memory, 1, sizeof *p->ranks);
    p->n_ranks = 1;
    snprintf(text, sizeof text, "node%d", rank / 4);
    *p->ranks = (struct pc_profile_rank){.rank = rank,
                                         .pid = 1000 + rank,
                                         .host = pc_pool_text(p->memory, text, strlen(text)),
                                         .start_realtime_ns = 1700000000000000000u,
                                         .before_init_ns = rng_next(&r),
                                         .inside_ns = rng_next(&r),
                                         .mpi_ns = rng_below(&r, 1000),
                                         .mpi_calls = rng_below(&r, 50),
                                         .n_threads = 1 + (uint32_t)rank % 3,
                                         .n_others = (uint32_t)rank % 2};
    uint64_t lost[PCOLLECT_N_LOST] = {0};
    lost[rank % PCOLLECT_N_LOST] = (uint64_t)rank;
    pc_losses_copy(p->memory, lost, &p->ranks->lost);
}

struct pc_profile *profile_of(const struct shape *s, const struct fact *facts, unsigned n, int rank,
                              unsigned world_size)
{
    struct pc_profile *p = pc_profile_new();
    assert_non_null(p);
    struct branch *root = calloc(1, sizeof *root);
    root->key = (struct pc_profile_node){
        .kind = PCOLLECT_NODE_ROOT, .module = PC_NO_INDEX, .op = PC_NO_INDEX};
    unsigned n_nodes = 1;
    for (unsigned i = 0; i < n; i++) {
        add_fact(root, &facts[i]);
        n_nodes += facts[i].depth + 4;
    }
    write_tables(p, s, rank);
    write_rank(p, rank);
    p->job_key = 0x1122334455667788u;
    p->world_size = world_size;
    p->per_rank = s->per_rank;
    p->exe = pc_pool_text(p->memory, rank % 2 ? "/bin/b" : "/bin/a", 6);
    p->mpi = pc_pool_text(p->memory, "Some MPI 1.0", 12);
    p->nodes = pc_pool_array(p->memory, n_nodes, sizeof *p->nodes);
    p->data = pc_pool_array(p->memory, n, sizeof *p->data);
    write_branch(p, s, root, PC_NO_INDEX, rank);
    pc_profile_count_descendants(p);
    if (s->tables)
        write_rows(p, facts, n);
    struct pc_error e = {""};
    if (pc_profile_check(p, &e))
        fail_msg("shape '%s', rank %d: %s", s->name, rank, e.text);
    return p;
}

struct pc_profile *random_profile(const struct shape *s, uint64_t seed, int rank,
                                  unsigned world_size)
{
    unsigned n;
    struct fact *facts = random_facts(s, seed, rank, &n);
    struct pc_profile *p = profile_of(s, facts, n, rank, world_size);
    free(facts);
    return p;
}

/* ---- Jobs ------------------------------------------------------------------------------------ */

/* Rounds the values of a record that has some, by the rules of the format. */
static void round_record(struct pc_profile *p, struct pc_profile_data *d)
{
    const struct pc_profile_data exact = *d;
    uint32_t n = 0;
    for (uint32_t k = d->first_field; k < p->n_fields; k++)
        n += pc_field_in_steps(p, d, k);
    if (!n)
        return;
    assert_true(pc_profile_data_steps(p, d, d->n_ranks));
    uint16_t *to = d->steps;
    for (uint32_t r = 0; r < d->n_ranks; r++) {
        d->ranks[r] = exact.ranks[r];
        for (uint32_t k = d->first_field; k < p->n_fields; k++)
            if (pc_field_in_steps(p, d, k))
                *to++ = (uint16_t)pc_step_of(pc_data_value(p, &exact, r, k));
    }
}

void round_times(struct pc_profile *p)
{
    for (uint32_t i = 0; i < p->n_data; i++)
        if (i % 3 && p->data[i].values)
            round_record(p, &p->data[i]);
}

struct late_job make_late_job(const struct shape *s, int n_ranks, unsigned n_late)
{
    struct late_job j = {.n_ranks = n_ranks, .late = calloc((size_t)n_ranks, sizeof *j.late)};
    struct pc_profile_sum early = {{NULL}}, whole = {{NULL}};
    for (int rank = 0; rank < n_ranks; rank++) {
        unsigned n, cut;
        struct fact *facts = random_facts(s, 21, rank, &n);
        cut = n > n_late ? n - n_late : 0;
        unsigned world = (unsigned)n_ranks;
        j.late[rank] = profile_of(s, facts + cut, n - cut, rank, world);
        assert_int_equal(pc_profile_sum_add(&early, profile_of(s, facts, cut, rank, world), NULL),
                         PC_OK);
        assert_int_equal(pc_profile_sum_add(&whole, profile_of(s, facts, n, rank, world), NULL),
                         PC_OK);
        free(facts);
    }
    assert_int_equal(pc_profile_sum_finish(&early, &j.main, NULL), PC_OK);
    assert_int_equal(pc_profile_sum_finish(&whole, &j.whole, NULL), PC_OK);
    return j;
}

void free_late_job(struct late_job *j)
{
    for (int i = 0; i < j->n_ranks; i++)
        pc_profile_free(j->late[i]);
    free(j->late);
    pc_profile_free(j->main);
    pc_profile_free(j->whole);
}

struct pc_profile *overlaid(const struct pc_profile *p, const struct pc_profile *late)
{
    struct pc_profile *copy = NULL;
    uint8_t *data;
    size_t n;
    assert_int_equal(pc_profile_encode(p, &data, &n), PC_OK);
    assert_int_equal(pc_profile_decode(data, n, &copy, NULL), PC_OK);
    assert_int_equal(pc_profile_overlay(&copy, late, NULL), PC_OK);
    free(data);
    return copy;
}
