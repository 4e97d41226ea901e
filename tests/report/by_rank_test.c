/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sums by rank of a profile that keeps times in steps, against those of the same profile with exact
 * values.
 */
#include "sample.h"

#include "analysis/gather.h"
#include "analysis/tree/roll_up.h"
#include "view/tables/tables.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct sample exact, stepped;

/* Rounds the times of a record. */
static void round_record(struct sample *s, uint32_t i)
{
    static uint16_t steps[SAMPLE_NODES][SAMPLE_RANKS];
    struct pc_profile_data *d = &s->data[i];
    uint32_t field = d->first_field ? SAMPLED : TIME;
    for (uint32_t r = 0; r < d->n_ranks; r++)
        steps[i][r] = (uint16_t)pc_step_of(pc_data_value(&s->p, d, r, field));
    d->kept = PC_KEPT_STEPS;
    d->steps = steps[i];
}

static struct pct_data *open_sample(struct sample *s)
{
    static const struct pct_tree_options options;
    return pct_data_new("ranks", &s->p, pct_symbols_new(&s->p), &options);
}

static const struct pct_rolled_row *find_row(const struct pct_rolled *in,
                                             const struct pct_rolled_row *like)
{
    for (size_t i = 0; i < in->n; i++) {
        const struct pct_rolled_row *r = &in->row[i];
        bool same_call =
            r->primitive == like->primitive ||
            (r->primitive && like->primitive && !strcmp(r->primitive, like->primitive));
        if (same_call && r->context == like->context && r->has_rank == like->has_rank &&
            r->rank == like->rank)
            return r;
    }
    return NULL;
}

static void assert_near(pc_u128 is, pc_u128 was)
{
    assert_true((is > was ? is - was : was - is) * 100 <= was);
}

/* Each rank has its times in both; the calls of records in steps are in a row without a rank. */
static void compare(struct pct_data *a, struct pct_data *b, unsigned keys, uint64_t calls_apart)
{
    const struct pct_rolled *x = pct_data_rolled(a, keys), *y = pct_data_rolled(b, keys);
    pc_u128 calls[2] = {0}, bytes[2] = {0}, apart = 0;
    uint64_t samples[2] = {0};
    for (size_t i = 0; i < x->n; i++) {
        const struct pct_rolled_row *r = &x->row[i], *q = find_row(y, r);
        assert_true(r->has_rank);
        assert_non_null(q);
        assert_near(q->own.sum[PCT_TIME], r->own.sum[PCT_TIME]);
        assert_near(q->own.sum[PCT_EXCLUSIVE], r->own.sum[PCT_EXCLUSIVE]);
        assert_near(q->self.ns, r->self.ns);
        assert_near(q->self.samples, r->self.samples);
        calls[0] += r->own.sum[PCT_CALLS];
        bytes[0] += r->own.sum[PCT_SENT];
        samples[0] += r->self.samples;
    }
    for (size_t i = 0; i < y->n; i++) {
        const struct pct_rolled_row *r = &y->row[i];
        calls[1] += r->own.sum[PCT_CALLS];
        bytes[1] += r->own.sum[PCT_SENT];
        samples[1] += r->self.samples;
        apart += r->has_rank ? 0 : r->own.sum[PCT_CALLS];
        assert_true(r->has_rank || (!r->own.sum[PCT_TIME] && r->in_steps));
    }
    assert_true(calls[0] == calls[1] && bytes[0] == bytes[1]);
    assert_near(samples[1], samples[0]);
    assert_int_equal(apart, calls_apart);
}

static void ranks_have_their_times_though_they_are_in_steps(void **state)
{
    (void)state;
    for (uint32_t rounded = 0; rounded < 64; rounded++) { /* of six records */
        uint64_t apart = 0;
        sample_solver(&exact);
        sample_solver(&stepped);
        for (uint32_t i = 0; i < exact.p.n_data; i++)
            if (rounded >> i & 1) {
                apart += (uint64_t)stepped.data[i].stats[COUNT].sum;
                round_record(&stepped, i);
            }
        struct pct_data *a = open_sample(&exact), *b = open_sample(&stepped);
        compare(a, b, PCT_KEY_RANK | PCT_KEY_PRIMITIVE, apart);
        compare(a, b, PCT_KEY_RANK, apart);
        compare(a, b, PCT_KEY_RANK | PCT_KEY_CONTEXT | PCT_KEY_PRIMITIVE, apart);
        pct_data_free(a);
        pct_data_free(b);
    }
}

/* True if the meaning of the column says how exact times of ranks are. */
static bool says_steps(struct pct_data *d, unsigned keys, const char *column)
{
    struct pct_cube cube;
    pct_cube_make(&cube, d, keys, "sums");
    bool says = strstr(pct_column_find(&cube.table, column)->doc, "within 0.8 %") != NULL;
    pct_cube_free(&cube);
    return says;
}

static void columns_say_that_times_are_in_steps(void **state)
{
    (void)state;
    for (int rounded = 0; rounded < 2; rounded++) {
        sample_solver(&stepped);
        if (rounded)
            round_record(&stepped, 0);
        struct pct_data *d = open_sample(&stepped);
        assert_true(says_steps(d, PCT_KEY_RANK | PCT_KEY_PRIMITIVE, "time_s") == rounded);
        assert_true(says_steps(d, PCT_KEY_RANK, "mpi_exclusive_s") == rounded);
        assert_false(says_steps(d, PCT_KEY_PRIMITIVE, "time_s"));
        assert_false(says_steps(d, PCT_KEY_RANK, "calls"));
        pct_data_free(d);
    }
}

/* Without its calls a mean time of a call would be wrong. */
static void rows_of_times_alone_have_no_mean(void **state)
{
    (void)state;
    sample_solver(&stepped);
    round_record(&stepped, 0);
    struct pct_data *d = open_sample(&stepped);
    const struct pct_column *mean = pct_column_find(pct_table_find("call_sites"), "mean_s");
    struct pct_column by_rank = *mean;
    by_rank.of = PCT_KEY_RANK | PCT_KEY_PRIMITIVE;
    const struct pct_rolled *r = pct_data_rolled(d, by_rank.of);
    unsigned n_none = 0;
    for (size_t i = 0; i < r->n; i++) {
        struct pct_value v = pct_table_value(&by_rank, d, i);
        assert_int_equal(v.none, r->row[i].in_steps);
        n_none += v.none;
    }
    assert_in_range(n_none, 2, r->n - 1);
    pct_data_free(d);
}

static void add_places(struct sample *s)
{
    sample_begin(s);
    sample_clock(s);
    for (int32_t i = 0; i < 3; i++)
        s->ranks[i] = (struct pc_profile_rank){.rank = i, .host = (char *)"n", .n_threads = 1};
    s->modules[0] = (struct pc_profile_module){.path = (char *)"/nowhere/app", .identity = 1};
    s->p.n_ranks = s->p.world_size = 3;
    s->p.n_modules = 1;
    sample_point(s, sample_frame(s, 0, 0, 0x10), 0, 0x30);
    sample_add_samples(s, 0, 40000000000);
    sample_add_samples(s, 2, 100000000000);
    sample_point(s, sample_frame(s, 0, 0, 0x20), 0, 0x30);
    sample_add_samples(s, 1, 77770000000);
    sample_end(s);
}

static void samples_of_a_rank_are_in_proportion_to_its_times(void **state)
{
    (void)state;
    add_places(&exact);
    add_places(&stepped);
    round_record(&stepped, 0);
    struct pct_data *a = open_sample(&exact), *b = open_sample(&stepped);
    compare(a, b, PCT_KEY_RANK, 0);
    pct_data_free(a);
    pct_data_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_have_their_times_though_they_are_in_steps),
        cmocka_unit_test(columns_say_that_times_are_in_steps),
        cmocka_unit_test(rows_of_times_alone_have_no_mean),
        cmocka_unit_test(samples_of_a_rank_are_in_proportion_to_its_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
