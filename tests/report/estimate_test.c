/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Estimates from windows, over many runs of programs made here, of which every event is known: the
 * mean over the runs is the truth, and 95 % intervals hold it in 93 to 97 % of the cells of 30
 * windows or more (93 % and more of contexts in which the program stays for several interrupts);
 * also where a context lasts for tens of microseconds only, where reading whole intervals gives a
 * large error. Windows of a run are all longer or shorter than noted. The events that windows add,
 * always the same number, cancel in differences of lengths. Also tested is a program whose phases
 * repeat with the turns of groups, of which round-robin always sees the same phase. Everything is
 * drawn from fixed seeds.
 */
#include "analysis/counters/estimate.h"
#include "tests/seed.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { CONTEXTS = 6, GROUPS = 3, RUNS = 150, WINDOW = 20000, LONGER = 4, PERIOD = 1000000 };

static uint64_t seed;

static uint64_t draw(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

/* From half of `mean` to one and a half. Integers, so that every machine draws the same run. */
static uint64_t around(uint64_t mean)
{
    return mean / 2 + draw() % (mean + 1);
}

/* ---- A program: stays in contexts, and events in them ---------------------------------------- */

struct context {
    uint64_t stay_ns;      /* mean length of a stay */
    uint64_t distances[2]; /* mean time between events in ns; each stay has one of the two */
    uint64_t weight;       /* probability that it is entered, in percent */
};

static const struct context contexts[CONTEXTS] = {
    {2000000, {5000, 5000}, 2}, {300000, {1000, 3000}, 12}, {60000, {4000, 4000}, 38},
    {45000, {250, 450}, 38},    {5000000, {700, 1000}, 1},  {150000, {50, 900}, 9},
};

struct cell {
    struct pct_readings readings;
    uint64_t samples, begun[2], stayed[2], simple_x; /* of brief and of lasting windows */
    uint64_t truth;
};

struct run {
    struct cell cells[CONTEXTS];
    uint64_t samples;
    uint64_t now;
    /* The next interrupt, and the window that is open since the last one. */
    uint64_t due, window_end;
    int window_context;
    uint64_t window_x, interval_x;
    bool window_read, open, lasting;
    int64_t longer_ns; /* true length of windows minus the noted one */
    uint64_t adds;     /* events that counting adds to each window */
};

static struct pct_moments reading(uint64_t x, uint64_t t)
{
    return (struct pct_moments){.n = 1,
                                .weight = 1,
                                .seen = x > 0,
                                .x = x,
                                .t = t,
                                .xx = (pc_u128)x * x,
                                .tt = (pc_u128)t * t,
                                .xt = (pc_u128)x * t};
}

static uint64_t window_ns(const struct run *r)
{
    return r->lasting ? LONGER * WINDOW : WINDOW;
}

static void end_window(struct run *r, int context)
{
    struct cell *c = &r->cells[r->window_context];
    r->open = false;
    c->begun[r->lasting]++;
    if (context != r->window_context)
        return;
    c->stayed[r->lasting]++;
    if (!r->window_read)
        return;
    const struct pct_moments m = reading(r->window_x + r->adds, window_ns(r));
    pct_moments_add(r->lasting ? &c->readings.lasting : &c->readings.brief, &m);
}

static void interrupt(struct run *r, int context)
{
    struct cell *c = &r->cells[context];
    r->samples++;
    c->samples++;
    /* The simple estimate: all events since the last interrupt belong to the context of this
     * one. */
    c->simple_x += r->interval_x;
    r->interval_x = 0;
    r->open = true;
    r->window_context = context;
    r->lasting = draw() % 2;
    r->window_end = r->due + window_ns(r) + (uint64_t)r->longer_ns;
    r->window_x = 0;
    r->window_read = draw() % GROUPS == 0;
    r->due += around(PERIOD);
}

/* Advances to `until`, which is in the stay or its end. */
static void pass_to(struct run *r, int context, uint64_t until)
{
    for (;;) {
        bool window = r->open && r->window_end < r->due;
        uint64_t next = window ? r->window_end : r->due;
        if (next >= until)
            break;
        if (window)
            end_window(r, context);
        else
            interrupt(r, context);
    }
    r->now = until;
}

static void stay(struct run *r, int context)
{
    const struct context *c = &contexts[context];
    uint64_t end = r->now + around(c->stay_ns), distance = c->distances[draw() % 2];
    /* The first event comes as if others had come before: after the lesser of two random times. */
    uint64_t one = draw() % (2 * distance), other = draw() % (2 * distance);
    uint64_t at = r->now + (one < other ? one : other);
    for (;; at += 1 + draw() % (2 * distance)) {
        pass_to(r, context, at < end ? at : end);
        if (at >= end)
            return;
        r->cells[context].truth++;
        r->window_x++;
        r->interval_x++;
    }
}

static int choose_context(void)
{
    uint64_t at = draw() % 100;
    int i = 0;
    while (at >= contexts[i].weight)
        at -= contexts[i++].weight;
    return i;
}

static void make_run(struct run *r, uint64_t ns, int64_t longer_ns, uint64_t adds)
{
    memset(r, 0, sizeof *r);
    r->longer_ns = longer_ns;
    r->adds = adds;
    r->due = draw() % PERIOD;
    while (r->now < ns)
        stay(r, choose_context());
}

static struct pct_estimate estimate(struct run *r, int context)
{
    struct cell *c = &r->cells[context];
    double n = (double)c->samples, each = (double)r->now / (double)r->samples;
    const struct pct_extent extent = {n * each, n * (1 - n / (double)r->samples) * each * each};
    c->readings.by_difference = c->stayed[1] * 2 > c->begun[1];
    struct pct_estimate e = pct_estimate_count(&c->readings, extent);
    pct_estimate_mix(&e, c->begun[0], c->stayed[0]);
    return e;
}

/* Returns by how much all windows of a run are longer than noted. It is nearly normal, with the
 * standard deviation that the estimates assume. */
static int64_t draw_longer(void)
{
    int64_t sum = 0;
    for (int i = 0; i < 12; i++)
        sum += (int64_t)(draw() % (2 * PCT_LENGTH_NS)) - PCT_LENGTH_NS;
    return sum / 2;
}

/* ---- Tests ----------------------------------------------------------------------------------- */

static void test_intervals_hold(void **state)
{
    (void)state;
    unsigned cells[2] = {0}, held[2] = {0};
    double off[CONTEXTS] = {0}, off_squares[CONTEXTS] = {0}, simple[CONTEXTS] = {0};
    seed = test_seed(20240607);
    for (int k = 0; k < RUNS; k++) {
        struct run r;
        make_run(&r, 2000000000, draw_longer(), 0);
        for (int i = 0; i < CONTEXTS; i++) {
            struct pct_estimate e = estimate(&r, i);
            double d = e.value / (double)r.cells[i].truth - 1;
            off[i] += d / RUNS;
            off_squares[i] += d * d / RUNS;
            simple[i] += ((double)r.cells[i].simple_x / (double)r.cells[i].truth - 1) / RUNS;
            if (e.trust != PCT_TRUST_FULL)
                continue;
            bool is_long = contexts[i].stay_ns > PERIOD;
            cells[is_long]++;
            held[is_long] += fabs(e.value - (double)r.cells[i].truth) <= e.error;
        }
    }
    for (int i = 0; i < CONTEXTS; i++) {
        double error = sqrt((off_squares[i] - off[i] * off[i]) / RUNS);
        print_message("# context %d: mean error %+.4f, its standard error %.4f; simple %+.3f\n", i,
                      off[i], error, simple[i]);
        assert_true(fabs(off[i]) < 3.5 * error);
    }
    for (int k = 0; k < 2; k++)
        print_message("# %u cells, %.2f %% held\n", cells[k], 100.0 * held[k] / cells[k]);
    assert_in_range(cells[0], RUNS * 2, RUNS * CONTEXTS);
    assert_true(held[0] >= 0.93 * cells[0] && held[0] <= 0.97 * cells[0]);
    /* Samples are distributed more evenly over a long stay than the interval of its time
     * assumes. */
    assert_true(cells[1] && held[1] >= 0.93 * cells[1]);
    /* The reason for windows: contexts shorter than the distance of interrupts. */
    assert_true(fabs(simple[3]) > 0.25 && fabs(simple[5]) > 0.5);
}

/* Windows that lose 3 us to cold caches and see two events of ours each: these cancel in
 * differences. They remain in the estimates of contexts in which few long windows stay. */
static void test_differences(void **state)
{
    (void)state;
    enum { ROUNDS = 40 };
    double off[CONTEXTS] = {0}, off_squares[CONTEXTS] = {0};
    seed = test_seed(20261122);
    for (int k = 0; k < ROUNDS; k++) {
        struct run r;
        make_run(&r, 2000000000, -3000, 2);
        for (int i = 0; i < CONTEXTS; i++) {
            double d = estimate(&r, i).value / (double)r.cells[i].truth - 1;
            off[i] += d / ROUNDS;
            off_squares[i] += d * d / ROUNDS;
        }
    }
    for (int i = 0; i < CONTEXTS; i++) {
        double error = sqrt((off_squares[i] - off[i] * off[i]) / ROUNDS);
        print_message("# context %d: mean error %+.4f, its standard error %.4f\n", i, off[i],
                      error);
        if (contexts[i].stay_ns >= 300000)
            assert_true(fabs(off[i]) < 3.5 * error);
        else if (contexts[i].stay_ns < LONGER * WINDOW)
            assert_true(fabs(off[i]) > 4 * error);
    }
}

/* ---- A program in step with the turns -------------------------------------------------------- */

/* Events before `ns`: one each us in every other phase, none in the others. */
static uint64_t events_before(uint64_t ns)
{
    uint64_t phases = ns / PERIOD, rest = ns % PERIOD;
    return ((phases + 1) / 2 * PERIOD + (phases % 2 ? 0 : rest)) / 1000;
}

static struct pct_moments look(uint64_t begin, uint64_t ns)
{
    uint64_t x = events_before(begin + ns) - events_before(begin);
    return reading(x, ns);
}

/* Two groups count the same event, an eighth of a phase after the phases begin. */
static void test_phases_in_step(void **state)
{
    (void)state;
    enum { TURNS = 8000, TRUE_DISTANCE = 2000 };
    struct pct_readings turns[2], drawn[2];
    memset(turns, 0, sizeof turns);
    memset(drawn, 0, sizeof drawn);
    uint64_t at = PERIOD / 8;
    seed = test_seed(20240607);
    for (uint64_t k = 0; k < TURNS; k++) {
        struct pct_moments one = look(k * PERIOD + PERIOD / 8, PERIOD), other = look(at, WINDOW);
        pct_moments_add(&turns[k % 2].brief, &one);
        pct_moments_add(&drawn[draw() % 2].brief, &other);
        at += around(PERIOD);
    }
    for (int g = 0; g < 2; g++) {
        struct pct_estimate simple = pct_estimate_rate(&turns[g], 1e18);
        struct pct_estimate e = pct_estimate_rate(&drawn[g], 1e18);
        print_message("# group %d: in turns %.2f, drawn %.2f of the truth, +- %.2f\n", g,
                      simple.value * TRUE_DISTANCE, e.value * TRUE_DISTANCE,
                      e.error * TRUE_DISTANCE);
        assert_true(g ? simple.value * TRUE_DISTANCE < 0.5 : simple.value * TRUE_DISTANCE > 1.5);
        assert_true(fabs(e.value * TRUE_DISTANCE - 1) < 0.1);
        assert_true(e.error * TRUE_DISTANCE < 0.1);
    }
}

/* ---- Numbers --------------------------------------------------------------------------------- */

enum { LENGTH = 1000000 };

/* n windows of LENGTH with x events each. */
static struct pct_moments repeat(uint64_t n, uint64_t x)
{
    return (struct pct_moments){.n = n,
                                .weight = n,
                                .seen = x ? n : 0,
                                .x = (pc_u128)n * x,
                                .t = (pc_u128)n * LENGTH,
                                .xx = (pc_u128)n * x * x,
                                .tt = (pc_u128)n * LENGTH * LENGTH,
                                .xt = (pc_u128)n * x * LENGTH};
}

static struct pct_estimate count(struct pct_moments brief, struct pct_extent extent)
{
    const struct pct_readings r = {.brief = brief};
    return pct_estimate_count(&r, extent);
}

static void test_what_is_not_known(void **state)
{
    (void)state;
    const struct pct_extent extent = {1e9, 0};
    assert_int_equal(count(repeat(0, 0), extent).trust, PCT_TRUST_NONE);
    assert_int_equal(count(repeat(29, 5), extent).trust, PCT_TRUST_FEW);
    assert_true(count(repeat(29, 5), extent).error == 0);
    /* No event in a thousand windows: the estimate is 0, and the interval is not 0. */
    assert_int_equal(count(repeat(1000, 0), extent).trust, PCT_TRUST_FEW);
    struct pct_estimate e = count(repeat(30, 5), extent);
    assert_int_equal(e.trust, PCT_TRUST_FULL);
    assert_true(fabs(e.value - 5e3) < 1e-3 && e.variance < 1e-6);
    assert_true(fabs(e.error - (1.96 + 2.4 / 29) * 5e3 * PCT_LENGTH_NS / LENGTH) < 1e-3);
    pct_estimate_mix(&e, 100, 50);
    assert_int_equal(e.trust, PCT_TRUST_FULL);
    pct_estimate_mix(&e, 101, 50);
    assert_int_equal(e.trust, PCT_TRUST_MIXED);
    assert_true(e.error == 0);
}

/* If windows cover the whole extent, only their length and the extent are uncertain. */
static void test_whole_population(void **state)
{
    (void)state;
    struct pct_moments m = repeat(50, 4), other = repeat(50, 8);
    pct_moments_add(&m, &other);
    struct pct_estimate all = count(m, (struct pct_extent){100.0 * LENGTH, 0});
    assert_true(fabs(all.value - 600) < 1e-9);
    assert_true(fabs(all.variance) < 1e-9 &&
                fabs(all.common - PCT_LENGTH_NS * 1.0 / LENGTH) < 1e-12);
    struct pct_estimate half = count(m, (struct pct_extent){200.0 * LENGTH, 0});
    struct pct_estimate much = count(m, (struct pct_extent){1e15, 0});
    /* Residuals are 2 each: s^2 is 4 n / (n - 1). */
    double relative = 4.0 / 99 / 36;
    assert_true(fabs(much.variance / much.value / much.value - relative) < 1e-9);
    assert_true(fabs(half.variance / half.value / half.value - relative / 2) < 1e-9);
    struct pct_estimate time = count(m, (struct pct_extent){100.0 * LENGTH, 1e14});
    assert_true(fabs(time.variance / time.value / time.value - 0.01) < 1e-9);
}

/* Windows that add 7.5 events to each count: the estimate is made from the counts without them, and
 * they contribute to its error. */
static void test_what_windows_add(void **state)
{
    (void)state;
    struct pct_moments m = repeat(50, 40), other = repeat(50, 80);
    struct pct_moments more = repeat(50, 47), yet_more = repeat(50, 88);
    pct_moments_add(&m, &other);
    more.added = yet_more.added = 50 * 7500;
    pct_moments_add(&more, &yet_more);
    const struct pct_extent extent = {1e12, 1e18};
    struct pct_estimate plain = count(m, extent), without = count(more, extent);
    assert_true(fabs(without.value / plain.value - 1) < 1e-12);
    /* 20.5 from the mean, not 20, and a quarter of 7.5 in each of 10^6 windows. */
    double off = (20.5 * 20.5 - 20 * 20) / 99 * 1e12, added = PCT_ADDED_PERCENT * 7.5e4;
    assert_true(fabs(without.variance / (plain.variance + off + added * added) - 1) < 1e-4);
    more.added = 2 * 100 * 80000;
    assert_true(count(more, extent).value == 0);
}

/* 60 events more in a long window than in a brief one, which has half of them by itself: of 4 ms
 * and 1 ms. They differ by 2 from window to window. */
static void test_difference(void **state)
{
    (void)state;
    struct pct_readings r = {.by_difference = true};
    for (int k = 0; k < 40; k++) {
        struct pct_moments brief = reading(k % 2 ? 58 : 62, LENGTH);
        struct pct_moments lasting = reading(k % 2 ? 118 : 122, 4 * LENGTH);
        pct_moments_add(&r.brief, &brief);
        pct_moments_add(&r.lasting, &lasting);
    }
    struct pct_estimate e = pct_estimate_count(&r, (struct pct_extent){3e9, 0});
    assert_int_equal(e.n, 80);
    assert_true(fabs(e.value - 60000) < 1e-6);
    /* Variances of the means are 4 / 39, of which each counts. */
    assert_true(fabs(sqrt(e.variance) - 1000 * sqrt(2 * 4.0 / 39)) < 1e-6);
    /* Twice the weight of the lasting windows does not change the estimate. */
    struct pct_readings heavy = r;
    heavy.lasting.weight *= 2;
    heavy.lasting.x *= 2;
    heavy.lasting.t *= 2;
    assert_true(fabs(pct_estimate_rate(&heavy, 1e18).value * 3e9 - 60000) < 1e-6);
    r.lasting.n = PCT_FEW_READINGS / 2 - 1;
    assert_int_equal(pct_estimate_rate(&r, 1e18).n, 40);
    r.by_difference = false;
    assert_true(fabs(pct_estimate_rate(&r, 1e18).value - 60.0 / LENGTH) < 1e-12);
}

static void test_ratios(void **state)
{
    (void)state;
    struct pct_estimate part = {PCT_TRUST_FULL, 100, 30, 9, 0.125, 6},
                        whole = {PCT_TRUST_FULL, 90, 60, 9, 0.125, 6};
    struct pct_estimate r = pct_estimate_ratio(&part, &whole);
    assert_true(fabs(r.value - 0.5) < 1e-12);
    assert_true(fabs(r.variance - (9 + 0.25 * 9) / 3600) < 1e-12);
    assert_int_equal(r.n, 90);
    /* Windows of both are as long, however long that is. */
    assert_true(r.common == 0);
    whole.trust = PCT_TRUST_FEW;
    r = pct_estimate_ratio(&part, &whole);
    assert_int_equal(r.trust, PCT_TRUST_FEW);
    assert_true(r.error == 0);
    whole.value = 0;
    assert_int_equal(pct_estimate_ratio(&part, &whole).trust, PCT_TRUST_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_intervals_hold),
        cmocka_unit_test(test_phases_in_step),
        cmocka_unit_test(test_what_is_not_known),
        cmocka_unit_test(test_whole_population),
        cmocka_unit_test(test_what_windows_add),
        cmocka_unit_test(test_difference),
        cmocka_unit_test(test_ratios),
        cmocka_unit_test(test_differences),
    };
    return cmocka_run_group_tests_name("estimates", tests, NULL, NULL);
}
