/* SPDX-License-Identifier: BSD-3-Clause
 *
 * An index of hashes finds what a search through all things finds, whatever the hashes are: all
 * equal, few, or many.
 */
#include "tests/random.h"
#include "tests/seed.h"

#include "analysis/hash_index.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { THINGS = 5000, VALUES = 1500 };

static uint32_t hash_of(uint32_t value, uint32_t mask)
{
    return (uint32_t)pc_hash_u64(value) & mask;
}

static uint32_t find(const struct pct_hash_index *x, const uint32_t *things, uint32_t value,
                     uint32_t mask)
{
    struct pct_hash_search search = {.hash = hash_of(value, mask)};
    uint32_t i;
    while ((i = pct_hash_next(x, &search)) != PC_NO_INDEX)
        if (things[i] == value)
            break;
    return i;
}

static void finds_what_a_list_finds(void **state)
{
    static const uint32_t masks[] = {0, 7, UINT32_MAX};
    (void)state;
    for (unsigned k = 0; k < PC_ARRAY_LEN(masks); k++) {
        uint64_t seed = test_seed(16 + k);
        struct pct_hash_index x = {0};
        uint32_t things[VALUES], where[VALUES], n = 0;
        for (unsigned i = 0; i < VALUES; i++)
            where[i] = PC_NO_INDEX;
        for (unsigned i = 0; i < THINGS; i++) {
            uint32_t value = random_below(&seed, VALUES);
            assert_int_equal(find(&x, things, value, masks[k]), where[value]);
            if (where[value] != PC_NO_INDEX)
                continue;
            pct_hash_add(&x, hash_of(value, masks[k]), n);
            things[n] = value;
            where[value] = n++;
        }
        assert_true(n > VALUES / 2);
        assert_true(x.n == n && x.n <= x.n_slots / 4 * 3);
        pct_hash_free(&x);
        assert_null(x.slots);
    }
}

static void all_of_one_hash_are_seen_once(void **state)
{
    enum { N = 100 };
    struct pct_hash_index x = {0};
    struct pct_hash_search search = {.hash = UINT32_MAX};
    unsigned seen[N] = {0};
    uint32_t i;
    (void)state;
    assert_int_equal(pct_hash_next(&x, &search), PC_NO_INDEX);
    for (i = 0; i < N; i++)
        pct_hash_add(&x, i % 2 ? UINT32_MAX : i, i);
    while ((i = pct_hash_next(&x, &search)) != PC_NO_INDEX)
        seen[i]++;
    for (i = 0; i < N; i++)
        assert_int_equal(seen[i], i % 2);
    pct_hash_free(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_what_a_list_finds),
        cmocka_unit_test(all_of_one_hash_are_seen_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
