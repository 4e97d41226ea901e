/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Packed rows of tables, which a merge copies in runs where it can: the sum has the bytes of one
 * that is made row by row, and no wrong row goes with a run.
 */
#include "format/table_rows.h"
#include "tests/format/random_profile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/seed.h"

enum { FIRST, SECOND, THIRD, COUNT, TIME, NAME, N_COLUMNS, N_KEYS = COUNT };
enum { MOST_ROWS = 600 };

static struct pc_profile_column columns[N_COLUMNS] = {
    [FIRST] = {(char *)"first", PCOLLECT_COLUMN_RANK, 0, PCOLLECT_UNIT_COUNT},
    [SECOND] = {(char *)"second", PCOLLECT_COLUMN_RANK, 0, PCOLLECT_UNIT_COUNT},
    [THIRD] = {(char *)"third", PCOLLECT_COLUMN_STRING, 0, PCOLLECT_UNIT_COUNT},
    [COUNT] = {(char *)"count", PCOLLECT_COLUMN_NUMBER, PCOLLECT_SUM, PCOLLECT_UNIT_COUNT},
    [TIME] = {(char *)"time", PCOLLECT_COLUMN_NUMBER, PCOLLECT_MAX, PCOLLECT_UNIT_NS},
    [NAME] = {(char *)"name", PCOLLECT_COLUMN_STRING, PCOLLECT_MIN, PCOLLECT_UNIT_COUNT},
};

/* A profile of that rank with a table without rows. Each rank lacks another one of the strings. */
static struct pc_profile *make_profile(int rank)
{
    static const char *const texts[] = {"cores", "main", "p2p"};
    struct pc_profile *p = random_profile(&shapes[1], 1, rank, 4);
    for (uint32_t i = 0; i < p->n_data; i++) {
        p->data[i].kept = false;
        p->data[i].ranks = NULL;
    }
    p->strings = pc_pool_array(p->memory, 3, sizeof *p->strings);
    p->n_strings = 0;
    for (int i = 0; i < 3; i++)
        if (i != rank)
            p->strings[p->n_strings++] = (char *)texts[i];
    p->tables = pc_pool_array(p->memory, 1, sizeof *p->tables);
    p->tables[0] = (struct pc_profile_table){.name = (char *)"rows",
                                             .plugin = (char *)"test",
                                             .n_keys = N_KEYS,
                                             .n_columns = N_COLUMNS,
                                             .columns = columns};
    p->tables[0].cells = pc_pool_array(p->memory, MOST_ROWS, N_COLUMNS * sizeof(uint64_t));
    p->n_tables = 1;
    return p;
}

/* Adds a row behind the last one with random values, mostly small ones. */
static void add_row(struct pc_profile *p, struct rng *r, uint64_t first, uint64_t second,
                    uint64_t third)
{
    struct pc_profile_table *t = &p->tables[0];
    assert_true(t->n_rows < MOST_ROWS);
    uint64_t *row = t->cells + (size_t)t->n_rows++ * N_COLUMNS;
    row[FIRST] = first;
    row[SECOND] = second;
    row[THIRD] = third;
    row[COUNT] = rng_below(r, 4) ? rng_below(r, 3) : rng_next(r) >> rng_below(r, 64);
    row[TIME] = rng_next(r) >> rng_below(r, 64);
    row[NAME] = rng_below(r, p->n_strings + 1u);
}

/* Adds random rows in their order; the distance of first keys is at most `stride`. */
static void add_rows(struct pc_profile *p, struct rng *r, uint64_t first, uint32_t n,
                     uint64_t stride)
{
    while (n) {
        uint64_t second = rng_below(r, 5);
        for (uint64_t same = 1 + rng_below(r, 30); same && n; same--) {
            uint64_t third = rng_below(r, p->n_strings + 1u);
            add_row(p, r, first, second, third);
            n--;
            if (n && third < p->n_strings && rng_below(r, 4) == 0) {
                add_row(p, r, first, second, third + 1);
                n--;
            }
            second += 1 + rng_below(r, 3);
        }
        first += 1 + rng_below(r, stride);
    }
}

static struct pc_buffer encoded(const struct pc_profile *p)
{
    struct pc_buffer b = {0};
    assert_int_equal(pc_profile_encode(p, &b.data, &b.n), PC_OK);
    return b;
}

/* The profile as it arrives at another rank. */
static struct pc_profile *received(const struct pc_profile *p)
{
    struct pc_profile *out;
    struct pc_buffer b = encoded(p);
    assert_int_equal(pc_profile_decode_packed(b.data, b.n, &out, NULL), PC_OK);
    return out;
}

/* The sum as the ranks make it, from the bytes of both. */
static int merge_packed(const struct pc_profile *a, const struct pc_profile *b,
                        struct pc_profile **out)
{
    struct pc_profile *x = received(a), *y = received(b);
    int err = pc_profile_merge(x, y, out, NULL);
    pc_profile_free(x);
    pc_profile_free(y);
    return err;
}

static void assert_sums_agree(const struct pc_profile *a, const struct pc_profile *b)
{
    struct pc_profile *by_row, *by_run;
    assert_int_equal(pc_profile_merge(a, b, &by_row, NULL), PC_OK);
    assert_int_equal(merge_packed(a, b, &by_run), PC_OK);
    struct pc_buffer x = encoded(by_row), y = encoded(by_run);
    assert_int_equal(x.n, y.n);
    assert_memory_equal(x.data, y.data, x.n);
    free(x.data);
    free(y.data);
    pc_profile_free(by_row);
    pc_profile_free(by_run);
}

static void sums_of_packed_rows_are_those_of_cells(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 300; i++) {
        struct rng r = {test_seed(i)};
        struct pc_profile *a = make_profile(0), *b = make_profile(1);
        uint64_t stride = 1 + rng_below(&r, 3);
        add_rows(a, &r, 0, (uint32_t)rng_below(&r, MOST_ROWS), stride);
        add_rows(b, &r, rng_below(&r, 40), (uint32_t)rng_below(&r, MOST_ROWS), stride);
        columns[FIRST].type = i % 3 ? PCOLLECT_COLUMN_RANK : PCOLLECT_COLUMN_NUMBER;
        assert_sums_agree(a, b);
        assert_sums_agree(b, a);
        pc_profile_free(a);
        pc_profile_free(b);
    }
    columns[FIRST].type = PCOLLECT_COLUMN_RANK;
}

/* Rows of two ranks: a few of the one before many of the other. The cell of column k of row 150 of
 * the many is set to `cell`. Returns what the merge says. */
static int merge_with_wrong_cell(uint32_t k, uint64_t cell)
{
    struct rng r = {test_seed(k)};
    struct pc_profile *a = make_profile(0), *b = make_profile(1), *sum = NULL;
    for (uint64_t i = 0; i < 300; i++)
        add_row(b, &r, 10 + i / 100, i % 100, 1);
    add_row(a, &r, 1, 1, 1);
    add_row(a, &r, 2, 1, 1);
    b->tables[0].cells[150 * N_COLUMNS + k] = cell;
    int err = merge_packed(a, b, &sum);
    pc_profile_free(sum);
    pc_profile_free(a);
    pc_profile_free(b);
    return err;
}

static void wrong_rows_do_not_go_with_a_run(void **state)
{
    (void)state;
    assert_int_equal(merge_with_wrong_cell(SECOND, 50), PC_OK); /* as it is */
    assert_int_equal(merge_with_wrong_cell(FIRST, 10), PC_EFORMAT);
    assert_int_equal(merge_with_wrong_cell(FIRST, 12), PC_EFORMAT);
    assert_int_equal(merge_with_wrong_cell(SECOND, 49), PC_EFORMAT);
    assert_int_equal(merge_with_wrong_cell(SECOND, 51), PC_EFORMAT);
    assert_int_equal(merge_with_wrong_cell(THIRD, 3), PC_EFORMAT);
    assert_int_equal(merge_with_wrong_cell(NAME, 3), PC_EFORMAT);
}

/* Rows of two ranks as above, of which row k of the many has a time that takes ten bytes; the last
 * of these is changed. Returns what the merge says. */
static int merge_with_long_number(uint32_t k, uint8_t last_byte)
{
    struct rng r = {test_seed(k)};
    struct pc_profile *a = make_profile(0), *b = make_profile(1), *sum = NULL;
    add_row(a, &r, 1, 1, 1);
    for (uint64_t i = 0; i < 300; i++) {
        add_row(b, &r, 10, i, 1);
        b->tables[0].cells[i * N_COLUMNS + TIME] = i < k ? 0 : UINT64_C(1) << 63;
    }
    struct pc_profile *x = received(a), *y = received(b);
    uint8_t *bytes = (uint8_t *)y->tables[0].packed[TIME].data;
    assert_int_equal(bytes[k + 9], 1);
    bytes[k + 9] = last_byte;
    int err = pc_profile_merge(x, y, &sum, NULL);
    pc_profile_free(sum);
    pc_profile_free(x);
    pc_profile_free(y);
    pc_profile_free(a);
    pc_profile_free(b);
    return err;
}

static void numbers_of_more_than_64_bits_do_not_go_with_a_run(void **state)
{
    (void)state;
    for (uint32_t k = 280; k < 300; k++) {
        assert_int_equal(merge_with_long_number(k, 1), PC_OK);
        assert_int_equal(merge_with_long_number(k, 2), PC_EFORMAT);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_of_packed_rows_are_those_of_cells),
        cmocka_unit_test(wrong_rows_do_not_go_with_a_run),
        cmocka_unit_test(numbers_of_more_than_64_bits_do_not_go_with_a_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
