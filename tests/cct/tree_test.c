/* SPDX-License-Identifier: BSD-3-Clause */
#include "cct/cct_private.h"
#include "tests/cct/arena_image.h"
#include "tests/random.h"
#include "tests/seed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_OPS 6
#define RECORD_BYTES 200

/* The record of these tests: calls, then a pattern that no other code may change. */
struct record {
    uint64_t calls;
    uint64_t rest[RECORD_BYTES / 8 - 1];
};

static uint64_t seed;

static void open_anonymous(struct pc_arena *a, size_t bytes)
{
    struct pc_error error;
    assert_int_equal(pc_arena_open(a, NULL, bytes, &error), PC_OK);
    a->header->record_bytes = RECORD_BYTES;
}

static void assert_whole(struct pc_arena *a, struct image *im)
{
    if (!image_walk(im, a->base, a->map_bytes))
        fail_msg("%s", im->wrong);
}

static void layout_is_that_of_the_format(void **state)
{
    (void)state;
    _Static_assert(sizeof(struct pcollect_node) == 32, "node");
    _Static_assert(sizeof(struct pcollect_thread) == 64, "thread");
    _Static_assert(sizeof(struct pcollect_op) == 64, "op");
    _Static_assert(sizeof(struct pcollect_module) % 16 == 0, "module");
    _Static_assert(sizeof(struct pcollect_plugin_rec) % 16 == 0, "plugin");
    _Static_assert(sizeof(struct pcollect_arena_header) % 8 == 0, "header");
    _Static_assert(offsetof(struct pcollect_arena_header, used_bytes) == 24, "header");
    _Static_assert(offsetof(struct pcollect_node, parent) == 16, "node");
}

static void equal_contexts_are_one_node(void **state)
{
    (void)state;
    struct pc_arena a;
    open_anonymous(&a, (size_t)1 << 20);
    struct pc_tree *t = pc_tree_new(&a, 7, false);
    const struct pcollect_module m = {.path_bytes = 4};
    pcollect_ref module = pc_arena_add_module(&a, &m, "/lib");
    pcollect_ref other = pc_arena_add_module(&a, &m, "/bin");
    pcollect_ref f = pc_tree_frame(t, t->root, module, 64);
    assert_true(f != 0);
    assert_int_equal(pc_tree_frame(t, t->root, module, 64), f);
    assert_int_not_equal(pc_tree_frame(t, t->root, module, 65), f);
    assert_int_not_equal(pc_tree_frame(t, t->root, other, 64), f);
    assert_int_not_equal(pc_tree_frame(t, f, module, 64), f);
    bool collapsed = false;
    pcollect_ref op = pc_tree_op(t, f, 3, RECORD_BYTES, &collapsed);
    assert_int_equal(pc_tree_op(t, f, 3, RECORD_BYTES, &collapsed), op);
    assert_int_not_equal(pc_tree_op(t, f, 4, RECORD_BYTES, &collapsed), op);
    assert_int_not_equal(pc_tree_op(t, t->root, 3, RECORD_BYTES, &collapsed), op);
    assert_false(collapsed);
    assert_int_equal(pc_tree_cut(t, t->root), pc_tree_cut(t, t->root));
    static const char zero[RECORD_BYTES];
    assert_memory_equal(pc_tree_record(t, op), zero, RECORD_BYTES);
    assert_int_equal((uintptr_t)pc_tree_record(t, op) % PC_ARENA_LINE, 0);
    assert_int_equal(pc_tree_thread(t)->tid, 7);
    struct image im = {0};
    assert_whole(&a, &im);
    assert_int_equal(im.n_frames, 4);
    assert_int_equal(im.n_op_nodes, 3);
    assert_int_equal(im.n_cut, 1);
    assert_int_equal(im.n_modules, 2);
    pc_arena_close(&a);
}

static void contexts_with_equal_hashes_stay_apart(void **state)
{
    (void)state;
    /* The hash has 32 bits: among 300,000 keys about 10 pairs are equal. */
    enum { N = 300000 };
    struct pc_arena a;
    open_anonymous(&a, (size_t)64 << 20);
    struct pc_tree *t = pc_tree_new(&a, 1, false);
    for (unsigned i = 0; i < N; i++) {
        pcollect_ref ref = pc_tree_frame(t, t->root, 0, i);
        if (ref == 0 || pc_tree_node(t, ref)->offset != i)
            fail_msg("node of %u stands for another", i);
    }
    struct image im = {0};
    assert_whole(&a, &im);
    assert_int_equal(im.n_frames, N);
    pc_arena_close(&a);
}

/* ---- A model of the tree, kept in malloc'ed memory with plain lists ---- */

struct model {
    struct model *parent, *first, *next;
    uint32_t module, offset;
    uint64_t calls[N_OPS];
};

static struct model *model_child(struct model *parent, uint32_t module, uint32_t offset)
{
    for (struct model *m = parent->first; m; m = m->next)
        if (m->module == module && m->offset == offset)
            return m;
    struct model *m = calloc(1, sizeof *m);
    *m = (struct model){.parent = parent, .next = parent->first, .module = module};
    m->offset = offset;
    parent->first = m;
    return m;
}

static void model_free(struct model *m)
{
    while (m->first) {
        struct model *child = m->first;
        m->first = child->next;
        model_free(child);
        free(child);
    }
}

/* One call along a random path, in the model and in the tree. */
static void call_once(struct pc_tree *t, const pcollect_ref *modules, struct model *model,
                      uint64_t *n_collapsed, uint64_t *n_lost)
{
    pcollect_ref node = t->root;
    bool collapsed = false;
    for (uint32_t depth = random_below(&seed, 10) + 1; depth > 0; depth--) {
        uint32_t module = random_below(&seed, 2), offset = random_below(&seed, 4);
        model = model_child(model, module, offset);
        pcollect_ref child = collapsed ? 0 : pc_tree_frame(t, node, modules[module], offset);
        collapsed = child == 0;
        node = child ? child : node;
    }
    uint16_t op = (uint16_t)random_below(&seed, N_OPS);
    model->calls[op]++;
    pcollect_ref ref = pc_tree_op(t, node, op, RECORD_BYTES, &collapsed);
    *n_collapsed += collapsed;
    *n_lost += ref == 0;
    if (ref)
        ((struct record *)pc_tree_record(t, ref))->calls++;
}

struct totals {
    const pcollect_ref *modules;
    struct model *model;
    uint64_t calls[N_OPS];
    unsigned n_exact, n_flagged, n_unequal;
};

/* The node's place in the model is found from its own parents. */
static struct model *place_in_model(struct image *im, const struct pcollect_node *n,
                                    struct totals *totals)
{
    if (n->kind == PCOLLECT_NODE_ROOT)
        return totals->model;
    struct model *parent = place_in_model(im, image_at(im, n->parent), totals);
    return model_child(parent, n->module == totals->modules[1], (uint32_t)n->offset);
}

static void add_up(struct image *im, const struct pcollect_thread *thread,
                   const struct pcollect_node *n, void *arg)
{
    struct totals *totals = arg;
    (void)thread;
    if (n->kind != PCOLLECT_NODE_OP)
        return;
    const struct record *r = image_at(im, n->record);
    struct model *m = place_in_model(im, image_at(im, n->parent), totals);
    totals->calls[n->op] += r->calls;
    if (n->flags & PCOLLECT_FLAG_COLLAPSED) {
        totals->n_flagged++;
        totals->n_unequal += r->calls <= m->calls[n->op];
    } else {
        totals->n_exact++;
        totals->n_unequal += r->calls != m->calls[n->op];
    }
}

static void sum_model(const struct model *m, uint64_t *calls)
{
    for (int i = 0; i < N_OPS; i++)
        calls[i] += m->calls[i];
    for (const struct model *c = m->first; c; c = c->next)
        sum_model(c, calls);
}

static void run_against_model(size_t arena_bytes, unsigned n_calls, bool expect_full)
{
    struct pc_arena a;
    open_anonymous(&a, arena_bytes);
    const struct pcollect_module m = {.path_bytes = 1};
    const pcollect_ref modules[2] = {pc_arena_add_module(&a, &m, "a"),
                                     pc_arena_add_module(&a, &m, "b")};
    struct pc_tree *t = pc_tree_new(&a, 1, false);
    struct model model = {0};
    uint64_t n_collapsed = 0, n_lost = 0, expected[N_OPS] = {0};
    seed = test_seed(20260);
    for (unsigned i = 0; i < n_calls; i++)
        call_once(t, modules, &model, &n_collapsed, &n_lost);
    struct totals totals = {.modules = modules, .model = &model};
    struct image im = {.visit = add_up, .arg = &totals};
    assert_whole(&a, &im);
    sum_model(&model, expected);
    assert_memory_equal(totals.calls, expected, sizeof expected);
    assert_int_equal(totals.n_unequal, 0);
    assert_int_equal(n_lost, 0);
    assert_true(totals.n_exact > 100);
    assert_int_equal(n_collapsed > 0, expect_full);
    assert_int_equal(totals.n_flagged > 0, expect_full);
    model_free(&model);
    pc_arena_close(&a);
}

static void tree_equals_a_model_while_there_is_room(void **state)
{
    (void)state;
    run_against_model((size_t)64 << 20, 20000, false);
}

static void full_arena_collapses_with_exact_totals(void **state)
{
    (void)state;
    run_against_model(PC_ARENA_MIN_BYTES, 20000, true);
    run_against_model((size_t)1 << 20, 20000, true);
}

static void new_threads_find_a_tree_in_a_full_arena(void **state)
{
    (void)state;
    struct pc_arena a;
    open_anonymous(&a, PC_ARENA_MIN_BYTES);
    while (pc_arena_alloc(&a, 64))
        ;
    uint64_t calls = 0;
    for (int i = 0; i < 20; i++) {
        struct pc_tree *t = pc_tree_open(&a, i, false);
        assert_non_null(t);
        for (uint16_t op = 0; op < 4; op++) {
            bool collapsed = false;
            pcollect_ref ref = pc_tree_op(t, t->root, op, RECORD_BYTES, &collapsed);
            assert_true(ref != 0 && collapsed);
            assert_true(pc_tree_node(t, ref)->flags & PCOLLECT_FLAG_COLLAPSED);
            calls++;
        }
    }
    struct image im = {0};
    assert_whole(&a, &im);
    assert_int_equal(im.n_threads, 20);
    assert_int_equal(im.n_op_nodes, calls);
    pc_arena_close(&a);
}

static void exhausted_reserve_is_refused_not_overrun(void **state)
{
    (void)state;
    struct pc_arena a;
    open_anonymous(&a, PC_ARENA_MIN_BYTES);
    struct pc_tree *t = pc_tree_new(&a, 1, false);
    while (pc_arena_alloc_reserve(&a, 64))
        ;
    assert_null(pc_tree_new(&a, 2, false));
    unsigned n_refused = 0;
    for (uint16_t op = 0; op < 100; op++) {
        bool collapsed = false;
        n_refused += pc_tree_op(t, t->root, op, RECORD_BYTES, &collapsed) == 0;
    }
    assert_true(n_refused > 0 && n_refused < 100);
    struct image im = {0};
    assert_whole(&a, &im);
    assert_int_equal(im.n_op_nodes, 100 - n_refused);
    assert_int_equal(im.used, a.map_bytes);
    pc_arena_close(&a);
}

/* ---- Threads ---- */

struct inserter {
    pthread_t id;
    struct pc_arena *arena;
    int n;
    pthread_barrier_t *start;
};

static void *insert_many(void *arg)
{
    struct inserter *in = arg;
    struct pc_tree *t = pc_tree_open(in->arena, in->n, false);
    pthread_barrier_wait(in->start);
    for (unsigned i = 0; i < 3000 && t; i++) {
        bool collapsed = false;
        pcollect_ref f = pc_tree_frame(t, t->root, 0, i * 16 + (unsigned)in->n);
        pcollect_ref ref = f ? pc_tree_op(t, f, 1, RECORD_BYTES, &collapsed) : 0;
        if (ref)
            memset(pc_tree_record(t, ref), in->n, RECORD_BYTES);
        if (i % 100 == 0)
            pc_arena_alloc(in->arena, 16); /* what others publish must not shift the lines */
    }
    return t;
}

static void assert_own_pattern(struct image *im, const struct pcollect_thread *thread,
                               const struct pcollect_node *n, void *arg)
{
    (void)arg;
    if (n->kind != PCOLLECT_NODE_OP)
        return;
    const unsigned char *r = image_at(im, n->record);
    for (size_t i = 0; i < RECORD_BYTES; i++)
        if (r[i] != thread->tid)
            fail_msg("thread %d has a byte of thread %d", thread->tid, r[i]);
}

static void threads_never_write_into_one_line(void **state)
{
    (void)state;
    enum { N = 4 };
    struct pc_arena a;
    struct inserter in[N];
    pthread_barrier_t start;
    open_anonymous(&a, (size_t)16 << 20);
    pthread_barrier_init(&start, NULL, N);
    for (int i = 0; i < N; i++) {
        in[i] = (struct inserter){.arena = &a, .n = i + 1, .start = &start};
        assert_int_equal(pthread_create(&in[i].id, NULL, insert_many, &in[i]), 0);
    }
    for (int i = 0; i < N; i++)
        pthread_join(in[i].id, NULL);
    /* The walk fails where two threads have objects in one line. */
    struct image im = {.visit = assert_own_pattern};
    assert_whole(&a, &im);
    assert_int_equal(im.n_threads, N);
    assert_int_equal(im.n_op_nodes, N * 3000);
    pthread_barrier_destroy(&start);
    pc_arena_close(&a);
}

static void a_thousand_threads_take_little(void **state)
{
    (void)state;
    struct pc_arena a;
    open_anonymous(&a, (size_t)64 << 20);
    uint64_t before = a.header->used_bytes;
    for (int i = 0; i < 1000; i++) {
        struct pc_tree *t = pc_tree_new(&a, i, false);
        bool collapsed = false;
        assert_non_null(t);
        assert_int_equal(t->number, i);
        assert_true(pc_tree_op(t, t->root, 1, RECORD_BYTES, &collapsed) != 0);
    }
    assert_true(a.header->used_bytes - before <= (uint64_t)1000 * PC_TREE_CHUNK_FIRST);
    pc_arena_close(&a);
}

static void *come_and_go(void *arg)
{
    struct pc_arena *a = arg;
    struct pc_tree *t = pc_tree_open(a, 1, false);
    bool collapsed = false;
    pcollect_ref ref = pc_tree_op(t, pc_tree_frame(t, t->root, 0, 9), 1, RECORD_BYTES, &collapsed);
    ((struct record *)pc_tree_record(t, ref))->calls++;
    pc_tree_retire(t);
    return NULL;
}

static void ten_thousand_threads_in_turn_need_one_tree(void **state)
{
    (void)state;
    enum { N = 10000 };
    struct pc_arena a;
    open_anonymous(&a, PC_ARENA_MIN_BYTES);
    come_and_go(&a);
    uint64_t used = a.header->used_bytes;
    for (int i = 1; i < N; i++) {
        pthread_t id;
        assert_int_equal(pthread_create(&id, NULL, come_and_go, &a), 0);
        pthread_join(id, NULL);
    }
    assert_int_equal(a.header->used_bytes, used);
    assert_int_equal(a.n_trees, 1);
    struct image im = {0};
    assert_whole(&a, &im);
    assert_int_equal(im.n_op_nodes, 1);
    struct pc_tree *t = pc_tree_adopt_any(&a, 1, false);
    bool collapsed = false;
    pcollect_ref ref = pc_tree_op(t, pc_tree_frame(t, t->root, 0, 9), 1, RECORD_BYTES, &collapsed);
    assert_int_equal(((struct record *)pc_tree_record(t, ref))->calls, N);
    assert_int_equal(pc_tree_thread(t)->n_adopted, N + 1);
    pc_arena_close(&a);
}

static void a_list_that_has_come_back_is_seen_to_have_changed(void **state)
{
    (void)state;
    struct pc_arena a;
    open_anonymous(&a, (size_t)1 << 20);
    struct pc_tree *first = pc_tree_new(&a, 1, false);
    struct pc_tree *second = pc_tree_new(&a, 2, false);
    pc_tree_retire(second);
    pc_tree_retire(first);
    uint64_t read_by_a_stopped_thread = a.free_trees[0];
    assert_ptr_equal(pc_tree_adopt_any(&a, 3, false), first);
    assert_ptr_equal(pc_tree_adopt_any(&a, 4, false), second);
    pc_tree_retire(first);
    /* The first tree of the list is the same as before, but the second is in use: the stopped
     * thread must not succeed. */
    assert_int_not_equal(a.free_trees[0], read_by_a_stopped_thread);
    assert_ptr_equal(pc_tree_adopt_any(&a, 5, false), first);
    assert_null(pc_tree_adopt_any(&a, 5, false));
    pc_arena_close(&a);
}

static void late_threads_get_trees_of_their_own(void **state)
{
    (void)state;
    struct pc_arena a;
    open_anonymous(&a, (size_t)1 << 20);
    struct pc_tree *early = pc_tree_open(&a, 1, false);
    pc_tree_retire(early);
    assert_null(pc_tree_adopt_any(&a, 2, true));
    struct pc_tree *late = pc_tree_open(&a, 2, true);
    assert_ptr_not_equal(late, early);
    assert_int_equal(pc_tree_thread(late)->late, 1);
    assert_int_equal(pc_tree_thread(early)->late, 0);
    pc_tree_retire(late);
    assert_ptr_equal(pc_tree_open(&a, 3, true), late);
    assert_ptr_equal(pc_tree_open(&a, 3, false), early);
    assert_int_equal(pc_tree_thread(early)->tid, 3);
    pc_arena_close(&a);
}

static void ops_and_plugins_are_published_whole(void **state)
{
    (void)state;
    struct pc_arena a;
    open_anonymous(&a, (size_t)1 << 20);
    pcollect_ref send = pc_arena_add_op(&a, 5, PCOLLECT_NODE_OP, "MPI_Send");
    assert_true(send != 0);
    assert_int_equal(pc_arena_add_op(&a, 5, PCOLLECT_NODE_OP, "MPI_Send"), send);
    assert_int_equal(a.header->ops[5], send);
    assert_int_equal(pc_arena_add_op(&a, PCOLLECT_MAX_OPS, 0, "x"), 0);
    char longest[100];
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    assert_true(pc_arena_add_op(&a, 6, 0, longest) != 0);
    const struct pcollect_plugin_rec p = {.record_bytes = 16, .n_fields = 2, .name = "null"};
    const struct pcollect_field_rec fields[2] = {{.name = "count", .combine = 1, .unit = 1},
                                                 {.name = "total", .offset = 8}};
    pcollect_ref ref = pc_arena_add_plugin(&a, &p, fields);
    const struct pcollect_plugin_rec *copy = pc_arena_at(&a, ref);
    assert_int_equal(a.header->plugins, ref);
    assert_memory_equal(copy->fields, fields, sizeof fields);
    struct image im = {0};
    assert_whole(&a, &im);
    assert_int_equal(im.n_plugins, 1);
    assert_int_equal(im.n_ops_named, 2);
    pc_arena_close(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layout_is_that_of_the_format),
        cmocka_unit_test(equal_contexts_are_one_node),
        cmocka_unit_test(contexts_with_equal_hashes_stay_apart),
        cmocka_unit_test(tree_equals_a_model_while_there_is_room),
        cmocka_unit_test(full_arena_collapses_with_exact_totals),
        cmocka_unit_test(new_threads_find_a_tree_in_a_full_arena),
        cmocka_unit_test(exhausted_reserve_is_refused_not_overrun),
        cmocka_unit_test(threads_never_write_into_one_line),
        cmocka_unit_test(a_thousand_threads_take_little),
        cmocka_unit_test(ten_thousand_threads_in_turn_need_one_tree),
        cmocka_unit_test(a_list_that_has_come_back_is_seen_to_have_changed),
        cmocka_unit_test(late_threads_get_trees_of_their_own),
        cmocka_unit_test(ops_and_plugins_are_published_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
