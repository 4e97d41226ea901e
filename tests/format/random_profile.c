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
};

const struct shape shapes[] = {
    {"one context", 1, 2, 1, false, 100},
    {"shared, flat", 40, 2, 3, false, 1000},
    {"shared, deep", 30, MAX_DEPTH, 2, false, 1000000},
    {"little shared", 60, 8, 100000, false, 1u << 30},
    {"a plugin on some ranks only", 25, 6, 4, true, 1000},
    {"figures of 64 bits", 20, 5, 4, false, UINT64_MAX - 1},
    {"no context at all", 0, 1, 1, false, 1},
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

/* ---- Facts -------------------------------------------------------------------------------- */

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
    struct rng r = {pc_hash_u64(seed) + (uint64_t)rank * 77777};
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
        f->op = (int)rng_below(&r, N_TEST_OPS + 1) - 1;
        f->has_data = f->op >= 0 && rng_below(&r, 10);
        for (unsigned k = 0; k < N_TEST_FIELDS; k++) {
            f->values[k] = 0;
            if (f->has_data && test_fields[k].combine != PCOLLECT_HIST && rng_below(&r, 5))
                f->values[k] = rng_below(&r, s->max_value) + 1;
        }
        memset(f->bins, 0, sizeof f->bins);
        for (unsigned k = 0; f->has_data && k < 3; k++)
            f->bins[rng_below(&r, TEST_BINS)] = rng_below(&r, s->max_value);
        if (s->lacks_volume && rank % 2)
            f->values[5] = 0;
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

static void add_fact(struct branch *b, const struct fact *f)
{
    for (unsigned k = 0; k < f->depth; k++) {
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
        b = child_of(b, &key);
    }
    if (f->op < 0)
        return;
    struct pc_profile_node key = {
        .kind = PCOLLECT_NODE_OP, .op = (uint32_t)f->op, .module = PC_NO_INDEX};
    b = child_of(b, &key);
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

static void write_data(struct pc_profile *p, const struct branch *b, int rank)
{
    struct pc_profile_data *d = &p->data[p->n_data++];
    assert_true(pc_profile_data_init(p, d, 1));
    d->ranks[0] = rank;
    for (unsigned k = 0; k < p->n_fields; k++) {
        if (test_fields[k].combine == PCOLLECT_HIST)
            memcpy(d->bins[k], b->bins, sizeof b->bins);
        else
            d->values[k] = b->values[k];
    }
    pc_profile_data_derive(p, d);
}

static void write_branch(struct pc_profile *p, struct branch *b, uint32_t parent, int rank)
{
    uint32_t at = p->n_nodes++;
    p->nodes[at] = b->key;
    p->nodes[at].parent = parent;
    p->nodes[at].data = PC_NO_INDEX;
    if (b->has_data) {
        p->nodes[at].data = p->n_data;
        write_data(p, b, rank);
    }
    if (b->n_children)
        qsort(b->children, b->n_children, sizeof *b->children, compare_branches);
    for (unsigned i = 0; i < b->n_children; i++)
        write_branch(p, b->children[i], at, rank);
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
    p->n_fields = N_TEST_FIELDS - (s->lacks_volume && rank % 2 ? 1 : 0);
    p->fields = pc_pool_array(p->memory, p->n_fields, sizeof *p->fields);
    for (unsigned k = 0; k < p->n_fields; k++) {
        const struct test_field *f = &test_fields[k];
        p->fields[k].plugin = pc_pool_text(p->memory, f->plugin, strlen(f->plugin));
        p->fields[k].name = pc_pool_text(p->memory, f->name, strlen(f->name));
        p->fields[k].combine = (uint16_t)f->combine;
        p->fields[k].unit = (uint16_t)f->unit;
        p->fields[k].bins = (uint16_t)f->bins;
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
                                         .n_threads = 1 + (uint32_t)rank % 3};
    p->ranks->lost[rank % PCOLLECT_N_LOST] = (uint64_t)rank;
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
        n_nodes += facts[i].depth + 1;
    }
    write_tables(p, s, rank);
    write_rank(p, rank);
    p->job_key = 0x1122334455667788u;
    p->world_size = world_size;
    p->exe = pc_pool_text(p->memory, rank % 2 ? "/bin/b" : "/bin/a", 6);
    p->mpi = pc_pool_text(p->memory, "Some MPI 1.0", 12);
    p->nodes = pc_pool_array(p->memory, n_nodes, sizeof *p->nodes);
    p->data = pc_pool_array(p->memory, n, sizeof *p->data);
    write_branch(p, root, PC_NO_INDEX, rank);
    pc_profile_count_descendants(p);
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

/* ---- The oracle: a table of path strings --------------------------------------------------- */

#define PATH_BYTES 2048

struct entry {
    char path[PATH_BYTES];
    int rank; /* -1: the context itself, whoever has it */
    bool has_data;
    uint64_t values[N_TEST_FIELDS], bins[TEST_BINS];
};

struct entry_table {
    struct entry *entries;
    unsigned n;
};

static struct entry *entry_of(struct entry_table *t, const char *path, int rank)
{
    for (unsigned i = 0; i < t->n; i++)
        if (t->entries[i].rank == rank && !strcmp(t->entries[i].path, path))
            return &t->entries[i];
    t->entries = realloc(t->entries, (t->n + 1) * sizeof *t->entries);
    struct entry *e = memset(&t->entries[t->n++], 0, sizeof *e);
    snprintf(e->path, sizeof e->path, "%s", path);
    e->rank = rank;
    return e;
}

static void append(char *path, const char *text)
{
    strncat(path, text, PATH_BYTES - strlen(path) - 1);
}

static void append_frame(char *path, int module, uint64_t offset)
{
    char text[80];
    if (module == -2)
        snprintf(text, sizeof text, " > cut");
    else
        snprintf(text, sizeof text, " > %d+%lx", module, (unsigned long)offset);
    append(path, text);
}

static void add_to_table(struct entry_table *t, const struct fact *f)
{
    char path[PATH_BYTES] = "root";
    entry_of(t, path, -1);
    for (unsigned k = 0; k < f->depth; k++) {
        append_frame(path, f->frames[k].module, f->frames[k].offset);
        entry_of(t, path, -1);
    }
    if (f->op < 0)
        return;
    append(path, " > ");
    append(path, test_op_names[f->op]);
    entry_of(t, path, -1);
    if (!f->has_data)
        return;
    entry_of(t, path, -1)->has_data = true;
    struct entry *e = entry_of(t, path, f->rank);
    e->has_data = true;
    for (unsigned k = 0; k < N_TEST_FIELDS; k++) {
        uint64_t v = f->values[k];
        if (test_fields[k].combine == PCOLLECT_SUM)
            e->values[k] += v;
        if (test_fields[k].combine == PCOLLECT_MAX && v > e->values[k])
            e->values[k] = v;
        if (test_fields[k].combine == PCOLLECT_MIN && v && (!e->values[k] || v < e->values[k]))
            e->values[k] = v;
    }
    for (unsigned k = 0; k < TEST_BINS; k++)
        e->bins[k] += f->bins[k];
}

static void path_of(const struct pc_profile *p, uint32_t node, char *path)
{
    uint32_t way[MAX_DEPTH + 3];
    unsigned n = 0;
    for (; node != 0; node = p->nodes[node].parent)
        way[n++] = node;
    snprintf(path, PATH_BYTES, "root");
    while (n--) {
        const struct pc_profile_node *x = &p->nodes[way[n]];
        if (x->kind == PCOLLECT_NODE_OP) {
            append(path, " > ");
            append(path, p->ops[x->op].name);
        } else {
            int module = x->kind == PCOLLECT_NODE_CUT ? -2
                         : x->module == PC_NO_INDEX   ? -1
                                                      : (int)x->module;
            append_frame(path, module, x->offset);
        }
    }
}

/* The statistics of field k in this context, from the table. */
static void assert_stat(const struct entry_table *t, const char *path, unsigned k,
                        const struct pc_stat *s)
{
    struct pc_stat o = {0};
    for (unsigned i = 0; i < t->n; i++) {
        const struct entry *e = &t->entries[i];
        uint64_t v = e->values[k];
        if (e->rank < 0 || strcmp(e->path, path) != 0 ||
            (test_fields[k].combine == PCOLLECT_MIN && !v))
            continue;
        o.n++;
        o.sum += v;
        o.sum_squares += (pc_u128)v * v;
        if (o.n == 1 || v < o.min || (v == o.min && e->rank < o.min_rank)) {
            o.min = v;
            o.min_rank = e->rank;
        }
        if (o.n == 1 || v > o.max || (v == o.max && e->rank < o.max_rank)) {
            o.max = v;
            o.max_rank = e->rank;
        }
    }
    assert_int_equal(s->n, o.n);
    if (test_fields[k].combine == PCOLLECT_HIST)
        return;
    assert_true(s->sum == o.sum && s->sum_squares == o.sum_squares);
    assert_true(s->min == o.min && s->max == o.max);
    assert_int_equal(s->min_rank, o.min_rank);
    assert_int_equal(s->max_rank, o.max_rank);
}

static void assert_record(const struct pc_profile *p, const struct pc_profile_data *d,
                          const struct entry_table *t, const char *path)
{
    uint64_t bins[TEST_BINS] = {0};
    for (unsigned i = 0; i < t->n; i++)
        for (unsigned k = 0; k < TEST_BINS && !strcmp(t->entries[i].path, path); k++)
            bins[k] += t->entries[i].bins[k];
    for (unsigned k = 0; k < p->n_fields; k++) {
        assert_string_equal(p->fields[k].name, test_fields[k].name);
        assert_stat(t, path, k, &d->stats[k]);
        if (test_fields[k].combine == PCOLLECT_HIST)
            assert_memory_equal(d->bins[k], bins, sizeof bins);
        for (unsigned r = 0; r < d->n_ranks && test_fields[k].combine != PCOLLECT_HIST; r++) {
            struct entry_table copy = *t;
            const struct entry *e = entry_of(&copy, path, d->ranks[r]);
            assert_true(d->values[(size_t)r * p->n_fields + k] == e->values[k]);
        }
    }
}

void assert_profile_tells(const struct pc_profile *p, const struct fact *facts, unsigned n)
{
    struct entry_table t = {NULL, 0};
    unsigned n_contexts = 0;
    char path[PATH_BYTES];
    entry_of(&t, "root", -1);
    for (unsigned i = 0; i < n; i++)
        add_to_table(&t, &facts[i]);
    for (unsigned i = 0; i < t.n; i++)
        n_contexts += t.entries[i].rank < 0;
    assert_int_equal(p->n_nodes, n_contexts); /* each once, and below each is in the table */
    for (uint32_t i = 0; i < p->n_nodes; i++) {
        unsigned n_before = t.n;
        path_of(p, i, path);
        struct entry *e = entry_of(&t, path, -1);
        assert_int_equal(t.n, n_before);
        assert_int_equal(e->has_data, p->nodes[i].data != PC_NO_INDEX);
        if (e->has_data)
            assert_record(p, &p->data[p->nodes[i].data], &t, path);
    }
    free(t.entries);
}

void assert_same_bytes(const struct pc_profile *a, const struct pc_profile *b)
{
    uint8_t *x, *y;
    size_t n_x, n_y;
    assert_int_equal(pc_profile_encode(a, &x, &n_x), PC_OK);
    assert_int_equal(pc_profile_encode(b, &y, &n_y), PC_OK);
    assert_int_equal(n_x, n_y);
    assert_memory_equal(x, y, n_x);
    free(x);
    free(y);
}
