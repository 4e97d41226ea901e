/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Histograms in records, compared with plain counts: at each instant, in a full arena, and after
 * they have been cleared.
 */
#include "cct/cct_private.h"
#include "include/pcollect/plugin.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>

enum { N_RECORDS = 50, MOST_BINS = 64, N_COUNTS = 400000 };

static struct pc_arena arena;
static struct pc_tree *tree;
static uint64_t lost;

static void carry(void *histogram, uint32_t n_bins)
{
    lost += pc_tree_carry(tree, histogram, n_bins);
}

static const struct pcollect_host host = {.carry = carry};

static void open_arena(size_t bytes)
{
    struct pc_error error;
    assert_int_equal(pc_arena_open(&arena, NULL, bytes, &error), PC_OK);
    tree = pc_tree_open(&arena, 1, false);
    assert_non_null(tree);
    lost = 0;
}

/* The count of a bin, as readers find it. */
static uint64_t count_of(void *histogram, uint32_t n_bins, uint32_t bin)
{
    pcollect_ref link = pc_hist_refs(histogram, n_bins)[bin / PCOLLECT_HIST_GROUP];
    const uint64_t *wide = link ? pc_arena_at(&arena, link) : NULL;
    return pcollect_hist_value(((uint8_t *)histogram)[bin],
                               wide ? wide[bin % PCOLLECT_HIST_GROUP] : 0);
}

static void *new_histogram(uint32_t op, uint32_t n_bins)
{
    bool collapsed = false;
    pcollect_ref node =
        pc_tree_op(tree, tree->root, (uint16_t)op, 8 * PCOLLECT_HIST_WORDS(n_bins), &collapsed);
    assert_int_not_equal(node, 0);
    assert_false(collapsed);
    return pc_tree_record(tree, node);
}

static uint64_t next(uint64_t *state)
{
    return (*state = *state * 6364136223846793005u + 1442695040888963407u) >> 33;
}

static void bytes_and_wide_counts_are_all_counts(void **state)
{
    static uint64_t model[N_RECORDS][MOST_BINS];
    void *histograms[N_RECORDS];
    uint64_t seed = 1;
    (void)state;
    open_arena((size_t)4 << 20);
    memset(model, 0, sizeof model);
    for (uint32_t i = 0; i < N_RECORDS; i++)
        histograms[i] = new_histogram(i, i + 15);
    for (uint32_t n = 0; n < N_COUNTS; n++) {
        uint32_t i = (uint32_t)(next(&seed) % N_RECORDS), n_bins = i + 15;
        uint32_t bin = (uint32_t)(next(&seed) % n_bins);
        bin = n % 3 ? bin / 8 : bin; /* some bins are used often */
        pcollect_count(&host, histograms[i], n_bins, bin);
        model[i][bin]++;
        assert_int_equal(count_of(histograms[i], n_bins, bin), model[i][bin]);
    }
    for (uint32_t i = 0; i < N_RECORDS; i++)
        for (uint32_t bin = 0; bin < i + 15; bin++)
            assert_int_equal(count_of(histograms[i], i + 15, bin), model[i][bin]);
    assert_int_equal(lost, 0);
    pc_arena_close(&arena);
}

/* The byte is written before the wide count, or after it: a reader sees the same. */
static void a_count_is_whole_between_two_stores(void **state)
{
    (void)state;
    open_arena(PC_ARENA_MIN_BYTES);
    uint8_t *histogram = new_histogram(1, 8);
    for (uint64_t n = 1; n <= 5000; n++) {
        ++*histogram;
        assert_int_equal(count_of(histogram, 8, 0), n);
        if (!(*histogram & 127))
            carry(histogram, 8);
        assert_int_equal(count_of(histogram, 8, 0), n);
    }
    pc_arena_close(&arena);
}

/* One test after 128 counts of any bins is enough: what `time` does. */
static void a_carry_serves_all_bins(void **state)
{
    uint64_t model[40] = {0}, seed = 2;
    (void)state;
    open_arena(PC_ARENA_MIN_BYTES);
    uint8_t *histogram = new_histogram(1, 40);
    for (uint32_t n = 1; n <= 100000; n++) {
        uint32_t bin = n < 50000 ? 7 : (uint32_t)(next(&seed) % 40);
        histogram[bin]++;
        model[bin]++;
        if (!(n & 127))
            carry(histogram, 40);
        assert_int_equal(count_of(histogram, 40, bin), model[bin]);
    }
    assert_int_equal(lost, 0);
    pc_arena_close(&arena);
}

static void what_finds_no_room_is_counted(void **state)
{
    (void)state;
    open_arena(PC_ARENA_MIN_BYTES);
    uint8_t *seldom = new_histogram(1, 40), *often = new_histogram(2, 40);
    while (pc_tree_take(tree, 64))
        ;
    for (unsigned n = 0; n < 100; n++)
        pcollect_count(&host, seldom, 40, 3);
    for (unsigned n = 0; n < 10000; n++)
        pcollect_count(&host, often, 40, n % 2 ? 3 : 39);
    assert_int_equal(count_of(seldom, 40, 3), 100);
    assert_int_equal(count_of(often, 40, 3) + count_of(often, 40, 39) + lost, 10000);
    assert_true(lost > 9000);
    pc_arena_close(&arena);
}

static void a_cleared_histogram_keeps_its_room(void **state)
{
    (void)state;
    open_arena((size_t)1 << 20);
    void *histogram = new_histogram(1, 40);
    uint64_t used = 0;
    for (unsigned turn = 0; turn < 1000; turn++) {
        for (unsigned n = 0; n < 300 + turn; n++)
            pcollect_count(&host, histogram, 40, n % 2 ? 0 : 25);
        assert_int_equal(count_of(histogram, 40, 0), (300 + turn) / 2);
        assert_int_equal(count_of(histogram, 40, 25), (301 + turn) / 2);
        pc_tree_clear_bins(tree, histogram, 40);
        for (uint32_t bin = 0; bin < 40; bin++)
            assert_int_equal(count_of(histogram, 40, bin), 0);
        assert_true(!turn || arena.header->used_bytes == used);
        used = arena.header->used_bytes;
    }
    pc_arena_close(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_and_wide_counts_are_all_counts),
        cmocka_unit_test(a_count_is_whole_between_two_stores),
        cmocka_unit_test(a_carry_serves_all_bins),
        cmocka_unit_test(what_finds_no_room_is_counted),
        cmocka_unit_test(a_cleared_histogram_keeps_its_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
