/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Times of ranks in steps: they are near the exact ones, and everything else is as without them; in
 * memory, in files, in sums, beside late parts, and in damaged files.
 */
#include "tests/format/mend.h"
#include "tests/format/random_profile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <unistd.h>

#include "tests/folder.h"

static bool is_near(uint64_t rounded, uint64_t exact)
{
    uint64_t error = rounded > exact ? rounded - exact : exact - rounded;
    return error <= exact / PC_STEPS;
}

static struct pc_profile *read_well(const char *path, bool columns)
{
    struct pc_profile *p;
    struct pc_error e;
    if (columns ? pc_pcol_read_columns(path, &p, &e) : pc_pcol_read(path, &p, &e))
        fail_msg("%s", e.text);
    assert_string_equal(e.text, "");
    return p;
}

/* Samples are times here, so that points have times as well. */
static void make_samples_times(struct pc_profile *p)
{
    for (uint32_t k = p->n_comm; k < p->n_fields; k++)
        if (p->fields[k].combine == PCOLLECT_SUM)
            p->fields[k].unit = PCOLLECT_UNIT_NS;
}

static struct pc_profile *profile_of_ranks(const struct shape *shape, int first, int end, int n)
{
    struct shape s = *shape;
    struct pc_profile_sum sum = {{NULL}};
    struct pc_profile *p;
    s.per_rank = 0;
    for (int rank = first; rank < end; rank++) {
        p = random_profile(&s, 5, rank, (unsigned)n);
        make_samples_times(p);
        assert_int_equal(pc_profile_sum_add(&sum, p, NULL), PC_OK);
    }
    assert_int_equal(pc_profile_sum_finish(&sum, &p, NULL), PC_OK);
    return p;
}

static unsigned count_rounded(const struct pc_profile *p)
{
    unsigned n = 0;
    for (uint32_t i = 0; i < p->n_data; i++)
        n += pc_data_has(p, &p->data[i]) == PC_KEPT_STEPS;
    return n;
}

/* Fails the test unless q has the statistics of p, and each of its times by rank within a step. */
static unsigned assert_near(const struct pc_profile *p, const struct pc_profile *q)
{
    unsigned n = 0;
    assert_int_equal(p->n_data, q->n_data);
    for (uint32_t i = 0; i < p->n_data; i++) {
        const struct pc_profile_data *d = &p->data[i], *e = &q->data[i];
        bool steps = pc_data_has(q, e) == PC_KEPT_STEPS;
        for (uint32_t k = d->first_field; k < p->n_fields; k++) {
            struct pc_stat x = pc_data_stat(p, d, k), y = pc_data_stat(q, e, k);
            struct pc_by_rank by = pc_data_by_rank(q, e, k);
            assert_memory_equal(&x, &y, sizeof x);
            assert_int_equal(by.n, !steps || pc_field_in_steps(q, e, k) ? d->n_ranks : 0);
            assert_true((by.steps != NULL) == (by.n && steps));
            for (uint32_t r = 0; r < by.n; r++) {
                uint64_t exact = pc_data_value(p, d, r, k), is = pc_by_rank_value(&by, r);
                assert_int_equal(by.ranks[r], d->ranks[r]);
                assert_true(steps ? is_near(is, exact) && !is == !exact : is == exact);
                n += steps && is != exact;
            }
        }
    }
    assert_null(pc_profile_unread(q));
    return n;
}

static void times_in_steps_are_near_those_that_were_measured(void **state)
{
    (void)state;
    unsigned n_rounded = 0;
    for (unsigned s = 0; s < n_shapes; s++)
        for (int n_ranks = 1; n_ranks < 1000; n_ranks *= 30) {
            char path[PATH_BYTES];
            size_t n;
            struct pc_profile *exact = profile_of_ranks(&shapes[s], 0, n_ranks, n_ranks);
            struct pc_profile *p = profile_of_ranks(&shapes[s], 0, n_ranks, n_ranks);
            struct pc_error e = {""};
            round_times(p);
            if (pc_profile_check(p, &e))
                fail_msg("%s", e.text);
            path_in(path, "steps.pcol");
            assert_int_equal(pc_pcol_write(p, path, 0, NULL), PC_OK);
            uint8_t *data = slurp(path, &n);
            assert_int_equal(data[10], count_rounded(p) ? 3 : 2); /* the minor version */
            free(data);
            struct pc_profile *whole = read_well(path, false), *q = read_well(path, true);
            assert_same_bytes(p, whole);
            n_rounded += assert_near(exact, p);
            assert_near(exact, q);
            assert_near(exact, whole);
            assert_int_equal(pc_profile_check_values(q, &e), PC_OK);
            assert_int_equal(count_rounded(q), count_rounded(p));
            pc_profile_free(whole);
            pc_profile_free(q);
            pc_profile_free(p);
            pc_profile_free(exact);
            unlink(path);
        }
    assert_true(n_rounded > 1000);
}

/* Bytes of the steps, after they came back. */
static size_t bytes_of(const uint16_t *steps, uint32_t n)
{
    struct pc_buffer b = {0};
    uint16_t *back = calloc(2 * n + 1, sizeof *back);
    const struct pc_by_rank by = {.n = n, .steps = steps, .stride = 1};
    pc_steps_put(&by, &b);
    struct pc_cursor c = pc_cursor_over(b.data, b.n);
    pc_steps_get(&c, n, back, 2);
    assert_true(!c.failed && c.at == c.end);
    for (uint32_t r = 0; r < n; r++)
        assert_int_equal(back[2 * r], steps[r]);
    size_t n_bytes = b.n;
    free(back);
    free(b.data);
    return n_bytes;
}

static void steps_come_back_in_a_byte_each_if_they_are_near(void **state)
{
    (void)state;
    enum { N = 4000 };
    static uint16_t steps[N];
    struct rng r = {1};
    for (uint32_t i = 0; i < N; i++) /* about a median */
        steps[i] = (uint16_t)(2000 + rng_below(&r, 127));
    assert_in_range(bytes_of(steps, N), N, N + N / 50);
    for (uint32_t i = 0; i < N; i++) /* one near the other */
        steps[i] = (uint16_t)(i * PC_MOST_STEP / N);
    assert_in_range(bytes_of(steps, N), N, N + N / 50);
    for (uint32_t i = 0; i < N; i++) /* any */
        steps[i] = (uint16_t)rng_below(&r, PC_MOST_STEP + 1);
    assert_in_range(bytes_of(steps, N), N, 2 * N + 2);
    assert_int_equal(bytes_of(steps, 0), 1);
    steps[0] = PC_MOST_STEP;
    assert_int_equal(bytes_of(steps, 1), 3);
    /* A step that does not exist. */
    const uint8_t most[] = {0xfe, 0x3a, 2}; /* 3775, and one more */
    struct pc_cursor c = pc_cursor_over(most, sizeof most);
    pc_steps_get(&c, 1, steps, 1);
    assert_true(c.failed);
}

/* A reader of version 1.2 does not know the section: it has the statistics of these records. */
static void a_reader_that_does_not_know_steps_passes_over_them(void **state)
{
    (void)state;
    char path[PATH_BYTES];
    size_t n;
    struct pc_profile *p = profile_of_ranks(&shapes[7], 0, 40, 40), *q;
    round_times(p);
    path_in(path, "unknown.pcol");
    assert_int_equal(pc_pcol_write(p, path, 0, NULL), PC_OK);
    uint8_t *data = slurp(path, &n);
    uint64_t at = 64;
    while (pc_load_le(data + at, 4) != PC_PCOL_TYPE_STEPS)
        at += 32 + pc_load_le(data + at + 8, 8);
    assert_false(pc_load_le(data + at + 6, 2) & PC_SECTION_REQUIRED);
    data[at] = 99;
    mend_checksums(data, n);
    spit(path, data, n);
    q = read_well(path, false);
    assert_int_equal(count_rounded(q), 0);
    for (uint32_t i = 0; i < p->n_data; i++) {
        bool exact = p->data[i].kept == PC_KEPT_EXACT;
        assert_int_equal(q->data[i].kept, exact ? PC_KEPT_EXACT : PC_KEPT_NONE);
        assert_true(exact == (q->data[i].ranks != NULL));
        assert_memory_equal(p->data[i].stats, q->data[i].stats,
                            (p->n_fields - p->data[i].first_field) * sizeof *p->data[i].stats);
    }
    pc_profile_free(p);
    pc_profile_free(q);
    free(data);
    unlink(path);
}

/* The file of the profile, which is then removed. */
static uint8_t *file_of(const struct pc_profile *p, size_t *n)
{
    char path[PATH_BYTES];
    path_in(path, "copy.pcol");
    assert_int_equal(pc_pcol_write(p, path, 0, NULL), PC_OK);
    uint8_t *data = slurp(path, n);
    unlink(path);
    return data;
}

static void assert_same_file(const struct pc_profile *p, const struct pc_profile *q)
{
    size_t n, n_again;
    uint8_t *data = file_of(p, &n), *again = file_of(q, &n_again);
    assert_int_equal(n, n_again);
    assert_memory_equal(data, again, n);
    free(data);
    free(again);
}

static void steps_pass_from_file_to_file(void **state)
{
    (void)state;
    for (unsigned s = 0; s < n_shapes; s++) {
        char path[PATH_BYTES];
        struct pc_profile *p = profile_of_ranks(&shapes[s], 0, 20, 20), *q;
        round_times(p);
        path_in(path, "passed.pcol");
        assert_int_equal(pc_pcol_write(p, path, 0, NULL), PC_OK);
        assert_int_equal(pc_pcol_read_histograms(path, &q, NULL), PC_OK);
        assert_same_file(p, q);
        pc_profile_free(p);
        pc_profile_free(q);
        unlink(path);
    }
}

/* Records behind contexts that late parts alone have get other numbers in the new file. */
static void steps_pass_beside_late_contexts(void **state)
{
    (void)state;
    unsigned n_left = 0;
    struct shape few = shapes[3]; /* contexts of one rank */
    few.n_facts = 6;
    for (unsigned s = 0; s < n_shapes; s++) {
        char path[PATH_BYTES];
        struct pc_profile *p = profile_of_ranks(&shapes[s], 0, 20, 20), *q,
                          *late = random_profile(&few, 9, 1, 20);
        round_times(p);
        for (uint32_t i = 0; i < p->n_data; i += 3)
            pc_profile_data_drop(&p->data[i]);
        path_in(path, "beside.pcol");
        assert_int_equal(pc_pcol_write(p, path, PC_PCOL_LATE_SLOTS, NULL), PC_OK);
        assert_int_equal(pc_pcol_write_late(path, late, true, NULL), PC_OK);
        pc_profile_free(p);
        p = read_well(path, false);
        assert_int_equal(pc_pcol_read_around(path, &q, NULL), PC_OK);
        n_left += q->later_contexts && count_rounded(p);
        assert_same_file(p, q);
        pc_profile_free(p);
        pc_profile_free(q);
        pc_profile_free(late);
        unlink(path);
    }
    assert_in_range(n_left, 1, n_shapes);
}

/* In sums of different ranks exact times become steps beside those in steps, whichever side has
 * them; statistics are as without. */
static void a_sum_with_times_in_steps_has_steps(void **state)
{
    (void)state;
    unsigned n_joined = 0;
    for (unsigned s = 0; s < n_shapes; s++) {
        struct pc_profile *a = profile_of_ranks(&shapes[s], 0, 8, 15),
                          *b = profile_of_ranks(&shapes[s], 8, 15, 15), *exact, *ab, *ba;
        assert_int_equal(pc_profile_merge(a, b, &exact, NULL), PC_OK);
        round_times(a);
        assert_int_equal(pc_profile_merge(a, b, &ab, NULL), PC_OK);
        assert_int_equal(pc_profile_merge(b, a, &ba, NULL), PC_OK);
        assert_same_bytes(ab, ba);
        assert_int_equal(pc_profile_check(ab, NULL), PC_OK);
        assert_near(exact, ab);
        assert_true(count_rounded(ab) >= count_rounded(a));
        for (uint32_t i = 0; i < ab->n_data; i++)
            n_joined += ab->data[i].kept == PC_KEPT_STEPS &&
                        ab->data[i].ranks[ab->data[i].n_ranks - 1] >= 8 && ab->data[i].ranks[0] < 8;
        pc_profile_free(a);
        pc_profile_free(b);
        pc_profile_free(ab);
        pc_profile_free(ba);
        pc_profile_free(exact);
    }
    assert_true(n_joined > 20);
}

/* Late parts leave a record that they add to with statistics alone, however the file is read. */
static void a_late_part_adds_to_the_statistics_of_times_in_steps(void **state)
{
    (void)state;
    unsigned n_touched = 0, n_left = 0;
    for (unsigned s = 0; s < n_shapes; s++) {
        char path[PATH_BYTES];
        struct shape shape = shapes[s];
        shape.per_rank = 0;
        struct late_job j = make_late_job(&shape, 6, 20);
        round_times(j.main);
        path_in(path, "late.pcol");
        assert_int_equal(pc_pcol_write(j.main, path, PC_PCOL_LATE_SLOTS, NULL), PC_OK);
        assert_int_equal(pc_pcol_write_late(path, j.late[1], true, NULL), PC_OK);
        struct pc_profile *p = read_well(path, false), *q = read_well(path, true), *t;
        assert_int_equal(pc_pcol_read_statistics(path, &t, NULL), PC_OK);
        assert_int_equal(pc_profile_check(p, NULL), PC_OK);
        assert_int_equal(pc_profile_check(q, NULL), PC_OK);
        assert_int_equal(pc_profile_check_values(q, NULL), PC_OK);
        for (uint32_t i = 0; i < p->n_data; i++) {
            assert_int_equal(pc_data_has(p, &p->data[i]), pc_data_has(q, &q->data[i]));
            assert_int_equal(p->data[i].n_ranks, t->data[i].n_ranks);
            for (uint32_t k = p->data[i].first_field; k < p->n_fields; k++) {
                struct pc_stat x = pc_data_stat(p, &p->data[i], k),
                               y = pc_data_stat(q, &q->data[i], k),
                               z = pc_data_stat(t, &t->data[i], k);
                assert_memory_equal(&x, &y, sizeof x);
                assert_memory_equal(&x, &z, sizeof x);
            }
        }
        n_left += count_rounded(p);
        n_touched += count_rounded(j.main) - count_rounded(p);
        pc_profile_free(p);
        pc_profile_free(q);
        pc_profile_free(t);
        unlink(path);
        free_late_job(&j);
    }
    assert_in_range(n_touched, 1, 10000);
    assert_in_range(n_left, 1, 10000);
}

/* Finds the content of the last section, which has the steps. */
static uint64_t find_steps(const uint8_t *data, size_t n)
{
    uint64_t at = 64;
    while (at + 32 + pc_load_le(data + at + 8, 8) < n)
        at += 32 + pc_load_le(data + at + 8, 8);
    assert_int_equal(pc_load_le(data + at, 4), PC_PCOL_TYPE_STEPS);
    return at + 32;
}

static bool ask_for_all(const struct pc_profile *p)
{
    for (uint32_t i = 0; i < p->n_data; i++)
        for (uint32_t k = p->data[i].first_field; k < p->n_fields; k++) {
            struct pc_by_rank by = pc_data_by_rank(p, &p->data[i], k);
            for (uint32_t r = 0; r < by.n; r++)
                assert_true(!by.steps || pc_step_valid(by.steps[r * by.stride]));
            if (p->data[i].kept == PC_KEPT_STEPS && pc_field_in_steps(p, &p->data[i], k) && !by.n)
                return false;
        }
    return true;
}

static void wrong_steps_never_crash(void **state)
{
    (void)state;
    char path[PATH_BYTES];
    size_t n;
    struct pc_profile *p = profile_of_ranks(&shapes[7], 0, 3, 3);
    round_times(p);
    path_in(path, "wrong.pcol");
    assert_int_equal(pc_pcol_write(p, path, 0, NULL), PC_OK);
    uint8_t *data = slurp(path, &n), *copy = malloc(n);
    uint64_t first = find_steps(data, n);
    unsigned n_refused = 0, n_unread = 0, n_found = 0;
    for (unsigned i = 0; i < 2000; i++) {
        struct rng r = {i};
        struct pc_profile *q = NULL, *whole = NULL;
        struct pc_error e = {""};
        memcpy(copy, data, n);
        for (uint64_t k = 1 + rng_below(&r, 2); k; k--)
            copy[first + rng_below(&r, i % 2 ? n - first : 40)] = (uint8_t)rng_next(&r);
        mend_checksums(copy, n);
        spit(path, copy, n);
        int err = pc_pcol_read_columns(path, &q, &e);
        assert_true((err != 0) == (q == NULL) && (!err || *e.text));
        n_refused += err != 0;
        n_unread += !err && !ask_for_all(q);
        n_found += !err && pc_profile_check_values(q, NULL);
        if (!pc_pcol_read(path, &whole, NULL))
            assert_true(!err && ask_for_all(whole));
        pc_profile_free(whole);
        pc_profile_free(q);
    }
    assert_true(n_refused > 100 && n_unread > 100 && n_found > n_unread);
    pc_profile_free(p);
    free(copy);
    free(data);
    unlink(path);
}

/* Checks that steps which cannot be those of the statistics are refused. */
static void steps_are_held_against_statistics(void **state)
{
    (void)state;
    struct pc_error e;
    for (int wrong = 0; wrong < 5; wrong++) {
        struct pc_profile *p = profile_of_ranks(&shapes[3], 0, 4, 4);
        uint32_t i = 0;
        round_times(p);
        while (p->data[i].kept != PC_KEPT_STEPS || pc_data_stat(p, &p->data[i], 4).sum < 1u << 20)
            i++;
        struct pc_profile_data *d = &p->data[i];
        struct pc_stat *time = &d->stats[4 - d->first_field];
        if (wrong == 1) /* twice as much */
            d->steps[0] = (uint16_t)(d->steps[0] + PC_STEPS / 2);
        if (wrong == 2)
            d->steps[0] = PC_MOST_STEP + 1;
        if (wrong == 3)
            time->min = time->min * 3 / 2;
        if (wrong == 4)
            d->ranks[0] = 1000;
        assert_int_equal(pc_profile_check(p, &e), wrong ? PC_EFORMAT : PC_OK);
        pc_profile_free(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_in_steps_are_near_those_that_were_measured),
        cmocka_unit_test(steps_come_back_in_a_byte_each_if_they_are_near),
        cmocka_unit_test(a_reader_that_does_not_know_steps_passes_over_them),
        cmocka_unit_test(steps_pass_from_file_to_file),
        cmocka_unit_test(steps_pass_beside_late_contexts),
        cmocka_unit_test(a_sum_with_times_in_steps_has_steps),
        cmocka_unit_test(a_late_part_adds_to_the_statistics_of_times_in_steps),
        cmocka_unit_test(wrong_steps_never_crash),
        cmocka_unit_test(steps_are_held_against_statistics),
    };
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
