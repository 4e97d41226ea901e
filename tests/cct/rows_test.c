/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rows of tables and interned texts in the arena, compared with lists without hashing.
 */
#include "cct/cct_private.h"
#include "include/pcollect/plugin.h"
#include "tests/cct/arena_image.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N_TABLES = 3, N_ROWS = 3000 };

static const struct {
    uint16_t n_keys, n_values;
} sizes[N_TABLES] = {{1, 1}, {3, 2}, {PCOLLECT_MAX_KEYS, PCOLLECT_MAX_VALUES}};

static struct pc_arena arena;
static pcollect_ref tables[N_TABLES];

static void open_arena(size_t bytes)
{
    struct pc_error error;
    assert_int_equal(pc_arena_open(&arena, NULL, bytes, &error), PC_OK);
    for (unsigned i = 0; i < N_TABLES; i++) {
        struct pcollect_column_rec columns[PCOLLECT_MAX_KEYS + PCOLLECT_MAX_VALUES] = {0};
        struct pcollect_table_rec rec = {.n_keys = sizes[i].n_keys, .n_values = sizes[i].n_values};
        snprintf(rec.name, sizeof rec.name, "table %u", i);
        tables[i] = pc_arena_add_table(&arena, &rec, columns);
        assert_int_not_equal(tables[i], 0);
    }
}

static void keys_of(unsigned table, uint64_t number, uint64_t *keys)
{
    for (unsigned k = 0; k < sizes[table].n_keys; k++) /* many equal, few distinct each */
        keys[k] = number >> 2 * k & (k + 1 == sizes[table].n_keys ? UINT64_MAX : 3);
}

static uint64_t *row_of(struct pc_tree *t, unsigned table, uint64_t number)
{
    uint64_t keys[PCOLLECT_MAX_KEYS];
    keys_of(table, number, keys);
    return pc_tree_row(t, tables[table], sizes[table].n_keys, sizes[table].n_values, keys);
}

static void assert_whole(unsigned n_rows, unsigned n_strings)
{
    struct image im = {0};
    if (!image_walk(&im, arena.base, arena.header->used_bytes))
        fail_msg("%s", im.wrong);
    assert_int_equal(im.n_tables, N_TABLES);
    assert_int_equal(im.n_rows, n_rows);
    assert_int_equal(im.n_strings, n_strings);
}

static void rows_with_equal_keys_are_one_row(void **state)
{
    (void)state;
    static uint64_t counts[N_TABLES][N_ROWS];
    memset(counts, 0, sizeof counts);
    open_arena((size_t)16 << 20);
    struct pc_tree *t = pc_tree_open(&arena, 1, false);
    unsigned n_distinct = 0;
    for (uint64_t i = 0; i < 20000; i++) {
        unsigned table = i % N_TABLES;
        uint64_t number = pc_hash_u64(i) % N_ROWS, *row = row_of(t, table, number);
        assert_non_null(row);
        n_distinct += !counts[table][number];
        assert_int_equal(row[sizes[table].n_values - 1], counts[table][number]);
        row[sizes[table].n_values - 1] = ++counts[table][number];
    }
    assert_whole(n_distinct, 0);
    for (unsigned table = 0; table < N_TABLES; table++)
        for (unsigned i = 0; i < N_ROWS; i++)
            if (counts[table][i])
                assert_int_equal(row_of(t, table, i)[sizes[table].n_values - 1], counts[table][i]);
    assert_whole(n_distinct, 0);
    pc_arena_close(&arena);
}

static void an_heir_finds_the_rows_of_the_thread_before(void **state)
{
    (void)state;
    open_arena((size_t)1 << 20);
    struct pc_tree *t = pc_tree_open(&arena, 1, false);
    row_of(t, 1, 7)[0] = 5;
    struct pc_tree *other = pc_tree_open(&arena, 2, false);
    row_of(other, 1, 7)[0] = 6; /* its own row */
    pc_tree_retire(t);
    assert_ptr_equal(pc_tree_open(&arena, 3, false), t);
    assert_int_equal(row_of(t, 1, 7)[0], 5);
    assert_whole(2, 0);
    pc_arena_close(&arena);
}

static void a_full_arena_refuses_rows_and_keeps_those_that_are_there(void **state)
{
    (void)state;
    open_arena(PC_ARENA_MIN_BYTES);
    struct pc_tree *t = pc_tree_open(&arena, 1, false);
    unsigned n = 0;
    while (row_of(t, 2, n)) {
        row_of(t, 2, n)[0] = n + 1;
        n++;
    }
    assert_true(n > 100 && n < PC_ARENA_MIN_BYTES / 256);
    for (unsigned i = 0; i < n; i++)
        assert_int_equal(row_of(t, 2, i)[0], i + 1);
    assert_null(row_of(t, 2, n));
    bool collapsed = false; /* calls still find a node */
    assert_int_not_equal(pc_tree_op(t, t->root, 3, 64, &collapsed), 0);
    assert_whole(n, 0);
    pc_arena_close(&arena);
}

static void equal_texts_are_one_string(void **state)
{
    (void)state;
    static char longest[3000];
    memset(longest, 'x', sizeof longest);
    open_arena((size_t)1 << 20);
    pcollect_ref a = pc_arena_string(&arena, "abc", 3), ab = pc_arena_string(&arena, "abc", 2);
    assert_int_not_equal(a, 0);
    assert_int_not_equal(a, ab);
    assert_int_equal(pc_arena_string(&arena, "abcd", 3), a);
    assert_int_equal(pc_arena_string(&arena, "", 0), 0);
    pcollect_ref cut = pc_arena_string(&arena, longest, sizeof longest);
    assert_int_equal(pc_arena_string(&arena, longest, PCOLLECT_STRING_BYTES), cut);
    const struct pcollect_string *s = pc_arena_at(&arena, cut);
    assert_int_equal(s->n_bytes, PCOLLECT_STRING_BYTES);
    assert_true(s->hash == pc_hash_bytes(longest, PCOLLECT_STRING_BYTES, 0));
    assert_whole(0, 3);
    pc_arena_close(&arena);
}

enum { N_THREADS = 4, N_TEXTS = 500 };

static pcollect_ref interned[N_THREADS][N_TEXTS];

static void *intern_all(void *arg)
{
    unsigned number = *(unsigned *)arg;
    for (unsigned i = 0; i < N_TEXTS; i++) {
        char text[32];
        int n = snprintf(text, sizeof text, "text %u", i);
        interned[number][i] = pc_arena_string(&arena, text, (size_t)n);
    }
    return NULL;
}

static void threads_that_race_get_the_same_string(void **state)
{
    (void)state;
    pthread_t threads[N_THREADS];
    unsigned numbers[N_THREADS];
    open_arena((size_t)4 << 20);
    for (unsigned i = 0; i < N_THREADS; i++) {
        numbers[i] = i;
        assert_int_equal(pthread_create(&threads[i], NULL, intern_all, &numbers[i]), 0);
    }
    for (unsigned i = 0; i < N_THREADS; i++)
        pthread_join(threads[i], NULL);
    for (unsigned i = 0; i < N_TEXTS; i++)
        for (unsigned k = 0; k < N_THREADS; k++)
            assert_true(interned[k][i] && interned[k][i] == interned[0][i]);
    assert_whole(0, N_TEXTS);
    pc_arena_close(&arena);
}

static void parts_domains_and_points_are_found_again(void **state)
{
    (void)state;
    open_arena((size_t)1 << 20);
    arena.header->record_bytes = 128;
    arena.header->comm_bytes = 64;
    struct pc_tree *t = pc_tree_open(&arena, 1, false);
    bool collapsed = false;
    pcollect_ref phase = pc_tree_part(t, t->root, PCOLLECT_NODE_PHASE, 3);
    pcollect_ref region = pc_tree_part(t, phase, PCOLLECT_NODE_REGION, 77);
    pcollect_ref frame = pc_tree_frame(t, region, 0, 5);
    pcollect_ref op = pc_tree_op(t, frame, 9, 0, &collapsed);
    pcollect_ref domain = pc_tree_domain(t, op, 1234, 128, &collapsed);
    pcollect_ref point = pc_tree_point(t, frame, 0, 5, 64, &collapsed);
    assert_false(collapsed);
    assert_null(pc_tree_record(t, op));
    assert_non_null(pc_tree_record(t, domain));
    assert_non_null(pc_tree_record(t, point));
    assert_int_not_equal(pc_tree_part(t, t->root, PCOLLECT_NODE_PHASE, 4), phase);
    assert_int_equal(pc_tree_part(t, phase, PCOLLECT_NODE_REGION, 77), region);
    assert_int_equal(pc_tree_domain(t, op, 1234, 128, &collapsed), domain);
    assert_int_equal(pc_tree_point(t, frame, 0, 5, 64, &collapsed), point);
    assert_int_not_equal(frame, point);
    /* A call without a communicator, in a context that had calls with one. */
    assert_int_equal(pc_tree_op(t, frame, 9, 128, &collapsed), op);
    assert_non_null(pc_tree_record(t, op));
    assert_false(collapsed);
    assert_whole(0, 0);
    pc_arena_close(&arena);
}

static void without_room_a_domain_is_its_primitive_and_a_point_has_no_place(void **state)
{
    (void)state;
    open_arena(PC_ARENA_MIN_BYTES);
    arena.header->record_bytes = 2048;
    arena.header->comm_bytes = 1024;
    struct pc_tree *t = pc_tree_open(&arena, 1, false);
    bool collapsed = false;
    pcollect_ref op = pc_tree_op(t, t->root, 9, 0, &collapsed);
    uint64_t i = 0;
    while (!collapsed)
        pc_tree_domain(t, op, ++i, 2048, &collapsed);
    assert_true(i > 50);
    collapsed = false;
    assert_int_equal(pc_tree_domain(t, op, i + 1, 2048, &collapsed), op);
    assert_true(collapsed);
    assert_non_null(pc_tree_record(t, op));
    assert_true(pc_tree_node(t, op)->flags & PCOLLECT_FLAG_COLLAPSED);
    collapsed = false;
    pcollect_ref point = 0;
    for (uint64_t at = 1; !collapsed; at++) /* the chunk may still have room for one */
        point = pc_tree_point(t, t->root, 0, at, 1024, &collapsed);
    assert_int_not_equal(point, 0);
    assert_int_equal(pc_tree_node(t, point)->offset, 0);
    collapsed = false;
    assert_int_equal(pc_tree_point(t, t->root, 0, 1000, 1024, &collapsed), point);
    assert_true(collapsed);
    assert_whole(0, 0);
    pc_arena_close(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_with_equal_keys_are_one_row),
        cmocka_unit_test(an_heir_finds_the_rows_of_the_thread_before),
        cmocka_unit_test(a_full_arena_refuses_rows_and_keeps_those_that_are_there),
        cmocka_unit_test(equal_texts_are_one_string),
        cmocka_unit_test(threads_that_race_get_the_same_string),
        cmocka_unit_test(parts_domains_and_points_are_found_again),
        cmocka_unit_test(without_room_a_domain_is_its_primitive_and_a_point_has_no_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
