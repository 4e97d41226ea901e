/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sums of record counts: of rows in memory and of encoded ones, whole and damaged.
 */
#include "merge/record_counts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "tests/random.h"
#include "tests/seed.h"

enum { MOST_ROWS = 40, KEYS = 64 };

/* Counts of some keys of 0 to KEYS - 1, in order. */
static struct pc_record_counts make_counts(uint64_t *seed)
{
    struct pc_record_counts c = {malloc(MOST_ROWS * sizeof *c.rows), 0};
    uint32_t share = random_below(seed, 4);
    for (uint64_t key = 0; key < KEYS && c.n < MOST_ROWS; key++) {
        if (random_below(seed, 4) >= share)
            continue;
        bool is_large = random_below(seed, 8) == 0;
        c.rows[c.n++] = (struct pc_record_count){
            .key = key,
            .n_ranks = is_large ? UINT32_MAX - 1 : 1 + random_below(seed, 1000),
            .n_times = random_below(seed, 5000),
            .bytes = is_large ? UINT64_MAX : random_below(seed, 100000),
            .time = random_next(seed) >> random_below(seed, 64)};
    }
    return c;
}

static struct pc_record_counts copy_of(const struct pc_record_counts *c)
{
    struct pc_record_counts copy = {malloc(c->n * sizeof *c->rows + 1), c->n};
    memcpy(copy.rows, c->rows, c->n * sizeof *c->rows);
    return copy;
}

static uint64_t most_64(uint64_t a, uint64_t b)
{
    return a + b < a ? UINT64_MAX : a + b;
}

static uint32_t most_32(uint64_t sum)
{
    return sum < UINT32_MAX ? (uint32_t)sum : UINT32_MAX;
}

static const struct pc_record_count *row_of(const struct pc_record_counts *c, uint64_t key)
{
    static const struct pc_record_count none;
    for (size_t i = 0; i < c->n; i++)
        if (c->rows[i].key == key)
            return &c->rows[i];
    return &none;
}

static void check_sum(const struct pc_record_counts *a, const struct pc_record_counts *b,
                      const struct pc_record_counts *sum)
{
    size_t n = 0;
    for (uint64_t key = 0; key < KEYS; key++) {
        const struct pc_record_count *x = row_of(a, key), *y = row_of(b, key);
        if (!x->n_ranks && !y->n_ranks)
            continue;
        assert_true(n < sum->n);
        const struct pc_record_count *row = &sum->rows[n++];
        assert_int_equal(row->key, key);
        assert_int_equal(row->n_ranks, most_32((uint64_t)x->n_ranks + y->n_ranks));
        assert_int_equal(row->n_times, most_32((uint64_t)x->n_times + y->n_times));
        assert_int_equal(row->bytes, most_64(x->bytes, y->bytes));
        assert_int_equal(row->time, most_64(x->time, y->time));
    }
    assert_int_equal(n, sum->n);
}

static void sums_are_those_of_the_rows(void **state)
{
    uint64_t seed = test_seed(1);
    (void)state;
    for (unsigned round = 0; round < 2000; round++) {
        struct pc_record_counts a = make_counts(&seed), b = make_counts(&seed);
        struct pc_record_counts rows = copy_of(&a), bytes = copy_of(&a);
        struct pc_buffer coded = {0};
        struct pc_record_keys keys;
        assert_int_equal(pc_record_counts_add(&rows, &b), PC_OK);
        check_sum(&a, &b, &rows);
        pc_record_counts_encode(&b, &coded);
        assert_int_equal(pc_record_counts_add_encoded(&bytes, coded.data, coded.n, &keys), PC_OK);
        check_sum(&a, &b, &bytes);
        assert_int_equal(keys.n, b.n);
        for (size_t i = 0; i < b.n; i++)
            assert_int_equal(keys.keys[i], b.rows[i].key);
        free(keys.keys);
        free(coded.data);
        free(bytes.rows);
        free(rows.rows);
        free(b.rows);
        free(a.rows);
    }
}

/* Damaged bytes are refused, and leave a sum whose rows are in order. */
static void damage_is_refused(void **state)
{
    uint64_t seed = test_seed(2);
    unsigned refused = 0;
    (void)state;
    for (unsigned round = 0; round < 5000; round++) {
        struct pc_record_counts a = make_counts(&seed), b = make_counts(&seed);
        struct pc_buffer coded = {0};
        struct pc_record_keys keys;
        bool cut = random_below(&seed, 2);
        pc_record_counts_encode(&b, &coded);
        size_t n = cut ? random_below(&seed, (uint32_t)coded.n) : coded.n;
        if (!cut)
            coded.data[random_below(&seed, (uint32_t)n)] ^= (uint8_t)(1 + random_below(&seed, 255));
        uint8_t *exact = malloc(n ? n : 1); /* so that a tool sees what is read behind it */
        memcpy(exact, coded.data, n);
        int err = pc_record_counts_add_encoded(&a, exact, n, &keys);
        assert_true(err == PC_EFORMAT || (err == PC_OK && !cut));
        assert_true(err == PC_OK ? keys.keys != NULL : !keys.keys && !keys.n);
        for (size_t i = 1; i < a.n; i++)
            assert_true(a.rows[i - 1].key < a.rows[i].key);
        refused += err != PC_OK;
        free(keys.keys);
        free(exact);
        free(coded.data);
        free(b.rows);
        free(a.rows);
    }
    assert_true(refused > 2500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_those_of_the_rows),
        cmocka_unit_test(damage_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
