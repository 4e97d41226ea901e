/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/merge/made_arena.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#define RECORD_BYTES 512u

/* ---- Tables --------------------------------------------------------------------------------- */

static void fill_header(struct made *m, const struct making *how)
{
    struct pcollect_arena_header *h = m->arena.header;
    h->state = PCOLLECT_STATE_INITIALISED;
    h->job_key = MADE_JOB_KEY;
    h->rank = how->rank;
    h->n_ranks = how->n_ranks;
    h->record_bytes = RECORD_BYTES;
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
    struct pcollect_plugin_rec plugin = {.record_offset = record_offset};
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
        at += 8 * (t->bins ? t->bins : 1);
    }
    assert_true(record_offset + at <= RECORD_BYTES);
    plugin.record_bytes = at;
    assert_int_not_equal(pc_arena_add_plugin(&m->arena, &plugin, fields), 0);
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
    add_plugin(m, "time", 0, true, &r);
}

/* ---- Facts ---------------------------------------------------------------------------------- */

static void book_figures(const struct made *m, char *record, const struct fact *f)
{
    for (unsigned k = 0; f->has_data && k < N_TEST_FIELDS; k++) {
        uint64_t *to = (uint64_t *)(record + m->offsets[k]), v = f->values[k];
        if (k == N_TEST_FIELDS - 1 && !m->offsets[k])
            continue; /* no `volume` here */
        for (unsigned bin = 0; bin < test_fields[k].bins; bin++)
            to[bin] += f->bins[bin];
        if (test_fields[k].combine == PCOLLECT_SUM)
            *to += v;
        if (test_fields[k].combine == PCOLLECT_MIN && v && (!*to || v < *to))
            *to = v;
        if (test_fields[k].combine == PCOLLECT_MAX && v > *to)
            *to = v;
    }
}

/* True if it found room of its own. */
static bool book(const struct made *m, struct pc_tree *t, const struct fact *f, uint64_t salt)
{
    pcollect_ref at = t->root;
    bool collapsed = false;
    for (unsigned k = 0; k < f->depth && !collapsed; k++) {
        int module = f->frames[k].module;
        pcollect_ref ref = module < 0 ? 0 : m->modules[module][(salt + k) % 2], next;
        next = module == -2 ? pc_tree_cut(t) : pc_tree_frame(t, at, ref, f->frames[k].offset);
        if (next)
            at = next;
        else
            collapsed = true;
    }
    if (f->op < 0)
        return true;
    pcollect_ref op = pc_tree_op(t, at, m->ops[f->op], RECORD_BYTES, &collapsed);
    assert_int_not_equal(op, 0);
    book_figures(m, pc_tree_record(t, op), f);
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
            m->trees[i] = pc_tree_open(&m->arena, 100 + (int)i, "worker", false);
            assert_non_null(m->trees[i]);
            if (i + 1 == MADE_THREADS) {
                pc_tree_retire(m->trees[i]);
                assert_ptr_equal(pc_tree_open(&m->arena, 200, "heir", false), m->trees[i]);
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
        m->late = pc_tree_open(&m->arena, 300, "late", true);
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
    for (unsigned i = 0; i < n; i++) {
        uint64_t any = 0;
        for (unsigned k = 0; k < N_TEST_FIELDS; k++)
            any |= test_fields[k].combine == PCOLLECT_HIST ? 0 : facts[i].values[k];
        for (unsigned bin = 0; bin < TEST_BINS; bin++)
            any |= facts[i].bins[bin];
        if (facts[i].has_data && any)
            facts[used++] = facts[i];
    }
    return used;
}

/* ---- Bytes ---------------------------------------------------------------------------------- */

void guarded_copy(struct guarded *g, const void *data, size_t n)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), body;
    g->n = n / PCOLLECT_REF_UNIT * PCOLLECT_REF_UNIT;
    body = (g->n + page - 1) / page * page;
    g->mapping_bytes = body + page;
    g->mapping =
        mmap(NULL, g->mapping_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(g->mapping != MAP_FAILED);
    assert_int_equal(mprotect((char *)g->mapping + body, page, PROT_NONE), 0);
    g->data = (char *)g->mapping + body - g->n;
    memcpy(g->data, data, g->n);
}

void guarded_free(struct guarded *g)
{
    munmap(g->mapping, g->mapping_bytes);
}

void made_write(const struct made *m, const char *path)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    size_t n = m->arena.header->used_bytes;
    assert_int_equal(fwrite(m->arena.base, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}
