/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/merge/made_arena.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define COMM_BYTES 512u
#define RECORD_BYTES 576u

/* ---- Tables --------------------------------------------------------------------------------- */

static void fill_header(struct made *m, const struct making *how)
{
    struct pcollect_arena_header *h = m->arena.header;
    h->state = PCOLLECT_STATE_INITIALISED;
    h->job_key = MADE_JOB_KEY;
    h->rank = how->rank;
    h->n_ranks = how->n_ranks;
    h->record_bytes = RECORD_BYTES;
    h->comm_bytes = COMM_BYTES;
    h->per_rank = how->per_rank;
    h->values_kib = how->values_kib;
    h->contexts = how->contexts;
    h->ticks_0 = 1000; /* one tick a nanosecond */
    h->mono_0_ns = 500;
    h->ticks_1 = 1000 + 1000000;
    h->mono_1_ns = 500 + 1000000;
    h->start_ticks = 1000;
    h->init_begin_ticks = 2000;
    h->init_end_ticks = 3000;
    h->finalize_begin_ticks = 900000;
    snprintf(h->exe, sizeof h->exe, "%s", "/bin/solver");
    snprintf(h->mpi, sizeof h->mpi, "%s", "Some MPI 1.0");
}

static void add_modules(struct made *m, const struct making *how)
{
    for (int twice = 0; twice < 2; twice++)
        for (int i = 0; i < N_TEST_MODULES; i++) {
            struct pc_profile_module p;
            struct pcollect_module a = {0};
            char path[TEST_PATH_BYTES];
            test_module(i, how->rank < 0 ? 0 : how->rank, &p, path);
            a.flags = p.flags;
            a.identity = p.identity;
            a.build_id_bytes = p.build_id_bytes;
            memcpy(a.build_id, p.build_id, sizeof a.build_id);
            a.path_bytes = (uint32_t)strlen(path);
            a.bias = (uint64_t)(i + 1) << 40;
            m->modules[i][twice] = pc_arena_add_module(&m->arena, &a, path);
            assert_int_not_equal(m->modules[i][twice], 0);
        }
}

static void add_ops(struct made *m, struct rng *r)
{
    uint16_t first = (uint16_t)rng_below(r, 300);
    for (uint16_t i = 0; i < N_TEST_OPS; i++) { /* ids in another order than names */
        m->ops[i] = (uint16_t)(first + i * 5 % N_TEST_OPS * 17);
        assert_int_not_equal(
            pc_arena_add_op(&m->arena, m->ops[i], PCOLLECT_CLASS_P2P, test_op_names[i]), 0);
    }
}

static void add_plugin(struct made *m, const char *name, uint32_t record_offset, bool in_ticks,
                       struct rng *r)
{
    struct pcollect_plugin_rec plugin = {.record_offset = record_offset,
                                         .group = record_offset >= COMM_BYTES};
    struct pcollect_field_rec fields[N_TEST_FIELDS] = {0};
    uint32_t at = 8 * (uint32_t)rng_below(r, 4), turn = (uint32_t)rng_below(r, N_TEST_FIELDS);
    snprintf(plugin.name, sizeof plugin.name, "%s", name);
    for (uint32_t i = 0; i < N_TEST_FIELDS; i++) {
        uint32_t k = (i + turn) % N_TEST_FIELDS;
        const struct test_field *t = &test_fields[k];
        if (strcmp(t->plugin, name) != 0)
            continue;
        struct pcollect_field_rec *f = &fields[plugin.n_fields++];
        snprintf(f->name, sizeof f->name, "%s", t->name);
        f->combine = (uint16_t)t->combine;
        f->unit = (uint16_t)t->unit;
        f->bins = (uint16_t)t->bins;
        if (in_ticks && f->unit == PCOLLECT_UNIT_NS && f->combine != PCOLLECT_HIST)
            f->unit = PCOLLECT_UNIT_TICKS;
        f->offset = (uint16_t)at;
        m->offsets[k] = record_offset + at;
        at += 8 * (t->bins ? PCOLLECT_HIST_WORDS(t->bins) : 1);
    }
    assert_true(record_offset + at <= RECORD_BYTES);
    plugin.record_bytes = at;
    assert_int_not_equal(pc_arena_add_plugin(&m->arena, &plugin, fields), 0);
}

/* Tables and strings; the latter from several threads in made_book as well. */
static void add_tables(struct made *m)
{
    for (unsigned i = N_TEST_TABLES; i--;) {
        const struct pcollect_table *t = &test_tables[i];
        struct pcollect_table_rec rec = {
            .n_keys = t->n_keys, .n_values = t->n_values, .plugin = "test"};
        struct pcollect_column_rec columns[TEST_ROW_CELLS] = {0};
        snprintf(rec.name, sizeof rec.name, "%s", t->name);
        for (unsigned k = 0; k < (unsigned)t->n_keys + t->n_values; k++) {
            const struct pcollect_column *c = &t->columns[k];
            bool in_ticks = k >= t->n_keys && c->unit == PCOLLECT_UNIT_NS;
            snprintf(columns[k].name, sizeof columns[k].name, "%s", c->name);
            columns[k].type = c->type;
            columns[k].combine = c->combine;
            columns[k].unit = in_ticks ? (uint16_t)PCOLLECT_UNIT_TICKS : c->unit;
        }
        m->tables[i] = pc_arena_add_table(&m->arena, &rec, columns);
        assert_int_not_equal(m->tables[i], 0);
    }
}

void made_open(struct made *m, const struct making *how)
{
    struct pc_error error;
    struct rng r = {how->seed};
    memset(m, 0, sizeof *m);
    size_t bytes = how->bytes ? how->bytes : (size_t)16 << 20;
    assert_int_equal(pc_arena_open(&m->arena, how->spool, bytes, &error), PC_OK);
    fill_header(m, how);
    add_modules(m, how);
    add_ops(m, &r);
    if (!how->lacks_volume)
        add_plugin(m, "volume", 424, true, &r);
    if (how->all_kinds)
        add_plugin(m, "clock", COMM_BYTES, true, &r);
    add_plugin(m, "time", 0, true, &r);
    if (how->tables)
        add_tables(m);
}

/* ---- Facts ---------------------------------------------------------------------------------- */

/* Counts as a plugin does, except that many counts are written at once. What finds no room is noted
 * as lost. */
static void add_to_bin(struct pc_tree *t, void *histogram, unsigned n_bins, unsigned bin,
                       uint64_t n)
{
    const pcollect_ref *link = &pc_hist_refs(histogram, n_bins)[bin / PCOLLECT_HIST_GROUP];
    uint8_t *low = (uint8_t *)histogram + bin;
    uint64_t lost = 0;
    for (unsigned i = 0; i < 1000 && n; i++, n--)
        if (!(++*low & 127))
            lost += pc_tree_carry(t, histogram, n_bins);
    if (n && *link) {
        uint64_t *wide = (uint64_t *)pc_arena_at(t->arena, *link) + bin % PCOLLECT_HIST_GROUP;
        *wide = pcollect_hist_value(*low, *wide) + n;
        *low = (uint8_t)*wide;
        n = 0;
    }
    __atomic_fetch_add(&t->arena->header->lost[PCOLLECT_LOST_BINS], lost + n, __ATOMIC_RELAXED);
}

static void book_figures(const struct made *m, struct pc_tree *t, char *record,
                         const struct fact *f)
{
    for (unsigned k = 0; f->has_data && k < N_TEST_FIELDS; k++) {
        uint64_t *to = (uint64_t *)(record + m->offsets[k]), v = f->values[k];
        if (k && !m->offsets[k] && strcmp(test_fields[k].plugin, "time") != 0)
            continue; /* the plugin is not here */
        for (unsigned bin = 0; bin < test_fields[k].bins; bin++)
            add_to_bin(t, to, test_fields[k].bins, bin, f->bins[bin]);
        if (test_fields[k].combine == PCOLLECT_SUM)
            *to += v;
        if (test_fields[k].combine == PCOLLECT_MIN && v && (!*to || v < *to))
            *to = v;
        if (test_fields[k].combine == PCOLLECT_MAX && v > *to)
            *to = v;
    }
}

/* Regions and phases have their contexts below them. */
static pcollect_ref book_parts(const struct made *m, struct pc_tree *t, const struct fact *f,
                               bool *collapsed)
{
    pcollect_ref at = t->root, next = at;
    if (f->phase)
        next = pc_tree_part(t, at, PCOLLECT_NODE_PHASE, f->phase);
    at = next ? next : at;
    if (f->region) {
        const char *name = test_strings[f->region - 1];
        pcollect_ref text = pc_arena_string((struct pc_arena *)&m->arena, name, strlen(name));
        const struct pcollect_string *s = pc_arena_at(&m->arena, text);
        next = text && next ? pc_tree_part(t, at, PCOLLECT_NODE_REGION, s->hash) : 0;
    }
    *collapsed |= !next;
    return next ? next : at;
}

static bool is_less_text(const struct made *m, uint64_t a, uint64_t b)
{
    const struct pcollect_string *x = pc_arena_at(&m->arena, (pcollect_ref)a);
    const struct pcollect_string *y = pc_arena_at(&m->arena, (pcollect_ref)b);
    size_t n = x->n_bytes < y->n_bytes ? x->n_bytes : y->n_bytes;
    int order = memcmp(x->text, y->text, n);
    return order < 0 || (!order && x->n_bytes < y->n_bytes);
}

static void book_rows(const struct made *m, struct pc_tree *t, const struct fact *f,
                      pcollect_ref node)
{
    for (unsigned i = 0; i < N_TEST_TABLES && m->tables[i] && fact_is_used(f); i++) {
        const struct pcollect_table *table = &test_tables[i];
        unsigned n = (unsigned)table->n_keys + table->n_values;
        uint64_t cells[TEST_ROW_CELLS];
        test_row(f, i, node, cells);
        for (unsigned k = 0; k < n; k++)
            if (table->columns[k].type == PCOLLECT_COLUMN_STRING && cells[k]) {
                const char *text = test_strings[cells[k] - 1];
                cells[k] = pc_arena_string((struct pc_arena *)&m->arena, text, strlen(text));
                assert_int_not_equal(cells[k], 0);
            }
        uint64_t *to = pc_tree_row(t, m->tables[i], table->n_keys, table->n_values, cells);
        assert_non_null(to);
        for (unsigned k = table->n_keys; k < n; k++, to++) {
            bool is_text = table->columns[k].type == PCOLLECT_COLUMN_STRING;
            if (table->columns[k].combine == PCOLLECT_SUM)
                *to += cells[k];
            else if (table->columns[k].combine == PCOLLECT_MAX)
                *to = *to > cells[k] ? *to : cells[k];
            else if (cells[k] &&
                     (!*to || (is_text ? is_less_text(m, cells[k], *to) : cells[k] < *to)))
                *to = cells[k];
        }
    }
}

/* True if it had room of its own and was not collapsed. */
static bool book(const struct made *m, struct pc_tree *t, const struct fact *f, uint64_t salt)
{
    bool collapsed = false;
    uint32_t point_bytes = RECORD_BYTES - COMM_BYTES;
    pcollect_ref at = book_parts(m, t, f, &collapsed);
    for (unsigned k = 0; k < f->depth && !collapsed; k++) {
        int module = f->frames[k].module;
        pcollect_ref ref = module < 0 ? 0 : m->modules[module][(salt + k) % 2], next;
        if (f->is_point && k + 1 == f->depth)
            next = pc_tree_point(t, at, ref, f->frames[k].offset, point_bytes, &collapsed);
        else if (module == -2)
            next = pc_tree_cut(t, at);
        else
            next = pc_tree_frame(t, at, ref, f->frames[k].offset);
        if (next)
            at = next;
        else
            collapsed = true;
    }
    if (f->op < 0 && !f->is_point)
        return true;
    if (f->op >= 0)
        at = pc_tree_op(t, at, m->ops[f->op], f->domain ? 0 : RECORD_BYTES, &collapsed);
    if (f->op >= 0 && f->domain && at)
        at = pc_tree_domain(t, at, f->domain, RECORD_BYTES, &collapsed);
    assert_int_not_equal(at, 0);
    book_figures(m, t, (char *)pc_tree_record(t, at) - (f->is_point ? COMM_BYTES : 0), f);
    book_rows(m, t, f, at);
    pc_tree_thread(t)->mpi_calls++;
    return !collapsed;
}

struct worker {
    struct made *m;
    const struct making *how;
    const struct fact *facts;
    unsigned n, number, n_collapsed;
};

static bool is_mine(const struct worker *w, unsigned i)
{
    return pc_hash_u64(w->how->seed + i) % MADE_THREADS == w->number;
}

static void *work(void *arg)
{
    struct worker *w = arg;
    struct pc_tree *t = w->m->trees[w->number];
    for (unsigned i = 0; i < w->n; i++)
        if (is_mine(w, i) && !book(w->m, t, &w->facts[i], w->how->seed + i))
            w->n_collapsed++;
    return NULL;
}

void made_book(struct made *m, const struct making *how, const struct fact *facts, unsigned n)
{
    pthread_t threads[MADE_THREADS];
    struct worker workers[MADE_THREADS];
    for (unsigned i = 0; i < MADE_THREADS; i++) {
        if (!m->trees[i]) { /* the last one was another thread's before */
            m->trees[i] = pc_tree_open(&m->arena, 100 + (int)i, false);
            assert_non_null(m->trees[i]);
            if (i + 1 == MADE_THREADS) {
                pc_tree_retire(m->trees[i]);
                assert_ptr_equal(pc_tree_open(&m->arena, 200, false), m->trees[i]);
            }
        }
        workers[i] = (struct worker){m, how, facts, n, i, 0};
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (unsigned i = 0; i < MADE_THREADS; i++) {
        pthread_join(threads[i], NULL);
        m->n_collapsed += workers[i].n_collapsed;
    }
}

void made_book_late(struct made *m, const struct making *how, const struct fact *facts, unsigned n)
{
    if (!m->late)
        m->late = pc_tree_open(&m->arena, 300, true);
    assert_non_null(m->late);
    for (unsigned i = 0; i < n; i++)
        m->n_collapsed += !book(m, m->late, &facts[i], how->seed + i);
}

void made_arena(struct made *m, const struct making *how, const struct fact *facts, unsigned n)
{
    made_open(m, how);
    made_book(m, how, facts, n);
}

unsigned used_facts(struct fact *facts, unsigned n)
{
    unsigned used = 0;
    for (unsigned i = 0; i < n; i++)
        if (fact_is_used(&facts[i]))
            facts[used++] = facts[i];
    return used;
}

/* ---- Bytes ---------------------------------------------------------------------------------- */

static void guarded_unmap(struct guarded *g)
{
    if (g->mapping)
        munmap(g->mapping, g->mapping_bytes);
}

/* The mapping of the last image that was freed: new pages cost more than all the rest. */
static struct guarded kept;

void guarded_copy(struct guarded *g, const void *data, size_t n)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), body;
    n = n / PCOLLECT_REF_UNIT * PCOLLECT_REF_UNIT;
    body = (n + page - 1) / page * page;
    *g = kept;
    kept = (struct guarded){0};
    if (g->mapping_bytes < body + page) {
        guarded_unmap(g);
        g->mapping_bytes = body + page;
        g->mapping = mmap(NULL, g->mapping_bytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        assert_true(g->mapping != MAP_FAILED);
        assert_int_equal(mprotect((char *)g->mapping + body, page, PROT_NONE), 0);
    }
    g->n = n;
    g->data = (char *)g->mapping + g->mapping_bytes - page - n;
    memcpy(g->data, data, n);
}

void guarded_free(struct guarded *g)
{
    guarded_unmap(&kept);
    kept = *g;
}

void made_write(const struct made *m, const char *path)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    size_t n = m->arena.header->used_bytes;
    assert_int_equal(fwrite(m->arena.base, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

static void say_nothing(void *arg, const char *line)
{
    (void)arg;
    fail_msg("said: %s", line);
}

struct pc_profile *made_merge(const struct made *arenas, int n, const char *folder)
{
    char(*paths)[300] = calloc((size_t)n, sizeof *paths), **list = calloc((size_t)n, sizeof *list);
    struct pc_profile *p;
    for (int rank = 0; rank < n; rank++) {
        list[n % 5 ? (rank * 5 + 3) % n : n - 1 - rank] = paths[rank];
        snprintf(paths[rank], sizeof paths[rank], "%s/%d.arena", folder, rank);
        made_write(&arenas[rank], paths[rank]);
    }
    assert_int_equal(pc_merge_files(list, (size_t)n, &p, say_nothing, NULL, NULL), PC_OK);
    for (int rank = 0; rank < n; rank++)
        unlink(paths[rank]);
    free(paths);
    free(list);
    return p;
}
