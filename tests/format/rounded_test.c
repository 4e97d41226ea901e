/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Times of large tables, which a file has in steps: their error, and what stays exact.
 */
#include "format/table_rows.h"
#include "tests/format/random_profile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <unistd.h>

#include "tests/folder.h"
#include "tests/seed.h"

enum { SOURCE, DESTINATION, MESSAGES, BYTES, TIME, LONGEST, N_COLUMNS, N_KEYS = MESSAGES };

static struct pc_profile_column columns[N_COLUMNS] = {
    [SOURCE] = {(char *)"source", PCOLLECT_COLUMN_RANK, 0, PCOLLECT_UNIT_COUNT},
    [DESTINATION] = {(char *)"destination", PCOLLECT_COLUMN_RANK, 0, PCOLLECT_UNIT_COUNT},
    [MESSAGES] = {(char *)"messages", PCOLLECT_COLUMN_NUMBER, PCOLLECT_SUM, PCOLLECT_UNIT_COUNT},
    [BYTES] = {(char *)"bytes", PCOLLECT_COLUMN_NUMBER, PCOLLECT_SUM, PCOLLECT_UNIT_BYTES},
    [TIME] = {(char *)"time", PCOLLECT_COLUMN_NUMBER, PCOLLECT_SUM, PCOLLECT_UNIT_NS},
    [LONGEST] = {(char *)"longest", PCOLLECT_COLUMN_NUMBER, PCOLLECT_MAX, PCOLLECT_UNIT_NS},
};

/* A profile with one table, of that many pairs of ranks. Its times have 1 to 64 bits. */
static struct pc_profile *make_pairs(uint32_t n_rows, struct pc_profile_table *t)
{
    struct pc_profile *p = random_profile(&shapes[1], 1, 0, 4);
    struct rng r = {test_seed(7)};
    *t = (struct pc_profile_table){.name = (char *)"pairs",
                                   .plugin = (char *)"test",
                                   .n_keys = N_KEYS,
                                   .n_columns = N_COLUMNS,
                                   .columns = columns,
                                   .n_rows = n_rows};
    t->cells = pc_pool_array(p->memory, n_rows, N_COLUMNS * sizeof *t->cells);
    assert_non_null(t->cells);
    for (uint32_t i = 0; i < n_rows; i++) {
        uint64_t *row = t->cells + (size_t)i * N_COLUMNS;
        row[SOURCE] = i / 26;
        row[DESTINATION] = i % 26;
        for (uint32_t k = MESSAGES; k < N_COLUMNS; k++)
            row[k] = rng_next(&r) >> rng_below(&r, 64);
    }
    p->tables = t;
    p->n_tables = 1;
    return p;
}

static bool is_near(uint64_t rounded, uint64_t exact)
{
    uint64_t error = rounded > exact ? rounded - exact : exact - rounded;
    return error <= exact / PC_STEPS;
}

static void a_step_is_near_and_steps_ascend(void **state)
{
    struct rng r = {test_seed(1)};
    (void)state;
    const uint64_t last = pc_step_of(UINT64_MAX);
    for (uint64_t step = 0; step <= last; step++) {
        assert_int_equal(pc_step_of(pc_step_value(step)), step);
        assert_true(step == last || pc_step_value(step) < pc_step_value(step + 1));
    }
    for (unsigned i = 0; i < 100000; i++) {
        uint64_t v = rng_next(&r) >> rng_below(&r, 64), step = pc_step_of(v);
        assert_true(is_near(pc_step_value(step), v));
        assert_true(v < PC_STEPS ? step == v : step >= pc_step_of(v - 1));
        assert_int_equal(pc_step_of(pc_step_value(step)), step);
    }
    for (unsigned bit = 0; bit < 64; bit++)
        for (uint64_t v = (1ull << bit) - 1; v <= (1ull << bit) + 1; v++)
            assert_true(is_near(pc_step_value(pc_step_of(v)), v));
    assert_true(is_near(pc_step_value(pc_step_of(UINT64_MAX)), UINT64_MAX));
}

/* Fails the test unless q has the rows of `t`: times near them where `rounded`, all else exactly.
 */
static void assert_rows(const struct pc_profile *q, const struct pc_profile_table *t, bool rounded)
{
    const struct pc_profile_table *u = pc_profile_table(q, "pairs");
    assert_int_equal(u->n_rows, t->n_rows);
    assert_true(u->rounded == rounded);
    for (uint32_t i = 0; i < t->n_rows; i++)
        for (uint32_t k = 0; k < N_COLUMNS; k++) {
            uint64_t was = pc_table_cell(t, i, k), is = pc_table_cell(u, i, k);
            if (k == TIME && rounded ? !is_near(is, was) : is != was)
                fail_msg("row %u: %s is %lu, was %lu", i, columns[k].name, (unsigned long)is,
                         (unsigned long)was);
        }
}

static struct pc_profile *write_and_read(const struct pc_profile *p)
{
    char path[PATH_BYTES];
    assert_int_equal(pc_pcol_write(p, path_in(path, "pairs.pcol"), 0, NULL), PC_OK);
    struct pc_profile *q = must_read(path);
    unlink(path);
    return q;
}

static void only_times_of_many_pairs_are_rounded(void **state)
{
    (void)state;
    for (unsigned more = 0; more < 2; more++) {
        struct pc_profile_table t;
        struct pc_profile *p = make_pairs(PC_TABLE_EXACT_ROWS + more, &t), *q = write_and_read(p);
        assert_rows(q, &t, more);
        struct pc_profile *again = write_and_read(q);
        assert_same_bytes(again, q);
        pc_profile_free(again);
        pc_profile_free(q);
        pc_profile_free(p);
    }
}

/* The version of the part of tables in a file of p. */
static unsigned tables_version(const struct pc_profile *p)
{
    char path[PATH_BYTES];
    uint8_t head[PC_PCOL_SECTION_BYTES] = {0};
    assert_int_equal(pc_pcol_write(p, path_in(path, "version.pcol"), 0, NULL), PC_OK);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    fseek(f, PC_PCOL_HEADER_BYTES, SEEK_SET);
    while (fread(head, sizeof head, 1, f) == 1 && pc_load_le(head, 4) != PC_PART_TABLES)
        fseek(f, (long)pc_load_le(head + 8, 8), SEEK_CUR);
    fclose(f);
    unlink(path);
    assert_int_equal(pc_load_le(head, 4), PC_PART_TABLES);
    return (unsigned)pc_load_le(head + 4, 2);
}

/* Readers of earlier versions read files without steps in tables, and refuse the others. */
static void only_steps_raise_the_version_of_tables(void **state)
{
    (void)state;
    for (unsigned more = 0; more < 2; more++) {
        struct pc_profile_table t;
        struct pc_profile *p = make_pairs(PC_TABLE_EXACT_ROWS + more, &t);
        assert_int_equal(tables_version(p), 2 + more);
        pc_profile_free(p);
    }
}

/* The first byte in which the two differ. */
static size_t first_difference(const struct pc_buffer *a, const struct pc_buffer *b)
{
    size_t at = 0;
    while (at < a->n && at < b->n && a->data[at] == b->data[at])
        at++;
    return at;
}

/* Numbers below PC_STEPS are their own steps: so exact cells become a table of version 2 if it is
 * said to have steps, which have no origin there. */
static void steps_of_version_2_are_read(void **state)
{
    (void)state;
    struct pc_profile_table t;
    struct pc_profile *p = make_pairs(1000, &t), *q = pc_profile_new();
    struct pc_buffer exact = {0}, stepped = {0};
    struct rng r = {test_seed(8)};
    for (uint32_t i = 0; i < t.n_rows; i++)
        t.cells[i * N_COLUMNS + TIME] = rng_below(&r, PC_STEPS);
    pc_part_encode(p, PC_PART_TABLES, &exact);
    t.rounded = true;
    pc_part_encode(p, PC_PART_TABLES, &stepped);
    size_t at = first_difference(&exact, &stepped);
    assert_int_equal(exact.data[at], 0);
    assert_int_equal(stepped.data[at], 2);
    exact.data[at] = 1;
    for (unsigned version = 2; version <= 3; version++) {
        const struct pc_buffer *b = version == 2 ? &exact : &stepped;
        struct pc_cursor c = pc_cursor_over(b->data, b->n);
        assert_int_equal(pc_part_decode(q, PC_PART_TABLES, &c, NULL), PC_OK);
        assert_rows(q, &t, true);
        q->n_tables = 0;
    }
    free(exact.data);
    free(stepped.data);
    pc_profile_free(q);
    pc_profile_free(p);
}

/* The median is nearer than the step before to noise, and not to times that go up slowly. */
static void steps_begin_where_distances_are_least(void **state)
{
    (void)state;
    struct pc_profile_table t;
    struct pc_profile *p = make_pairs(10000, &t);
    struct rng r = {test_seed(9)};
    for (unsigned slow = 0; slow < 2; slow++) {
        struct pc_buffer b = {0};
        for (uint32_t i = 0; i < t.n_rows; i++)
            t.cells[i * N_COLUMNS + TIME] =
                slow ? 1000u << i / 1000 : 1000000 + rng_below(&r, 1000000);
        pc_rows_put_steps(&t, TIME, &b);
        struct pc_cursor c = pc_cursor_over(b.data, b.n);
        assert_int_equal(pc_step_origin_get(&c).follow, slow);
        free(b.data);
    }
    pc_profile_free(p);
}

static void rows_without_a_rank_stay_exact(void **state)
{
    (void)state;
    struct pc_profile_table t;
    struct pc_profile *p = make_pairs(PC_TABLE_EXACT_ROWS + 1, &t);
    columns[SOURCE].type = columns[DESTINATION].type = PCOLLECT_COLUMN_NUMBER;
    struct pc_profile *q = write_and_read(p);
    assert_rows(q, &t, false);
    columns[SOURCE].type = columns[DESTINATION].type = PCOLLECT_COLUMN_RANK;
    pc_profile_free(q);
    pc_profile_free(p);
}

/* Ranks send each other exact times, without values by rank. What they send is rounded in the file.
 */
static void packed_rows_are_rounded_alike(void **state)
{
    (void)state;
    struct pc_profile_table t;
    struct pc_profile *p = make_pairs(PC_TABLE_EXACT_ROWS + 1, &t), *sent, *packed;
    uint8_t *data;
    size_t n;
    for (uint32_t i = 0; i < p->n_data; i++) {
        p->data[i].kept = false;
        p->data[i].ranks = NULL;
    }
    assert_int_equal(pc_profile_encode(p, &data, &n), PC_OK);
    assert_int_equal(pc_profile_decode(data, n, &sent, NULL), PC_OK);
    assert_int_equal(pc_profile_decode_packed(data, n, &packed, NULL), PC_OK);
    assert_rows(sent, &t, false);
    struct pc_profile *a = write_and_read(p), *b = write_and_read(packed);
    assert_same_bytes(a, b);
    pc_profile_free(a);
    pc_profile_free(b);
    pc_profile_free(packed);
    pc_profile_free(sent);
    pc_profile_free(p);
}

/* The sum with late rows of a rank stays marked. */
static void a_sum_with_rounded_rows_is_rounded(void **state)
{
    (void)state;
    struct pc_profile_table t, few;
    struct pc_profile *p = make_pairs(PC_TABLE_EXACT_ROWS + 1, &t), *q = write_and_read(p);
    struct pc_profile *late = make_pairs(10, &few), *sum;
    for (unsigned swapped = 0; swapped < 2; swapped++) {
        sum = overlaid(swapped ? late : q, swapped ? q : late);
        assert_true(pc_profile_table(sum, "pairs")->rounded);
        pc_profile_free(sum);
    }
    pc_profile_free(late);
    pc_profile_free(q);
    pc_profile_free(p);
}

static void a_step_beyond_the_last_is_refused(void **state)
{
    (void)state;
    struct pc_profile_table t;
    struct pc_profile *p = make_pairs(1, &t), *q;
    const uint64_t last = pc_step_of(UINT64_MAX);
    uint8_t steps[16] = {0};
    for (unsigned more = 0; more < 2; more++) {
        struct pc_buffer b = {0};
        pc_put_varint(&b, pc_zigzag(last + more));
        memcpy(steps, b.data, b.n);
        struct pc_cursor c = pc_cursor_over(steps, b.n);
        t.rounded = true;
        pc_rows_get(&t, TIME, &c);
        assert_true(c.failed == (more == 1));
        free(b.data);
    }
    /* Ranks do not send rounded tables. */
    uint8_t *data;
    size_t n;
    assert_int_equal(pc_profile_encode(p, &data, &n), PC_OK);
    assert_int_equal(pc_profile_decode(data, n, &q, NULL), PC_OK);
    pc_profile_free(q);
    assert_int_equal(pc_profile_decode_packed(data, n, &q, NULL), PC_EFORMAT);
    pc_profile_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_is_near_and_steps_ascend),
        cmocka_unit_test(only_times_of_many_pairs_are_rounded),
        cmocka_unit_test(only_steps_raise_the_version_of_tables),
        cmocka_unit_test(steps_of_version_2_are_read),
        cmocka_unit_test(steps_begin_where_distances_are_least),
        cmocka_unit_test(rows_without_a_rank_stay_exact),
        cmocka_unit_test(packed_rows_are_rounded_alike),
        cmocka_unit_test(a_sum_with_rounded_rows_is_rounded),
        cmocka_unit_test(a_step_beyond_the_last_is_refused),
    };
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
