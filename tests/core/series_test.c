/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The plugin series with a host made by this test: the contents of each bin, and that there are
 * never more rows than doc/internals/series.md says, for any run of any length.
 *
 * The oracle books each call, sample and region by the definition of bins, and keeps no state
 * between them.
 */
#include "plugins/plugins.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { SLOTS = 1 << 18, N_KEYS = 4, N_VALUES = 8, TOLD_APART = 32, CONTEXTS = 3 };

/* A tick is a nanosecond here, and the first one is at this time. */
#define BEGIN UINT64_C(1700000000000000000)
#define SECOND UINT64_C(1000000000)

struct row {
    uint64_t keys[N_KEYS]; /* width 0: free */
    uint64_t values[N_VALUES];
};

struct rows {
    uint32_t n;
    struct row all[SLOTS];
};

/* Rows of the table `series`, and of `series_regions`, which has one value. */
static struct rows *got, *wanted, *got_regions, *wanted_regions;
static uint64_t met[TOLD_APART], met_regions[TOLD_APART]; /* by the oracle */

static uint64_t *find(struct rows *rows, const uint64_t *keys)
{
    uint64_t hash = (keys[1] >> 24) * 31 + keys[2] + keys[3] * UINT64_C(0x9e3779b97f4a7c15);
    uint32_t i = (uint32_t)(hash * UINT64_C(0xd6e8feb86659fd93) >> 40) % SLOTS;
    while (rows->all[i].keys[2] && memcmp(rows->all[i].keys, keys, N_KEYS * sizeof *keys) != 0)
        i = (i + 1) % SLOTS;
    if (!rows->all[i].keys[2]) {
        assert_true(rows->n++ < SLOTS / 2);
        memcpy(rows->all[i].keys, keys, N_KEYS * sizeof *keys);
    }
    return rows->all[i].values;
}

static uint64_t *row_at(void *thread, uint32_t node, const struct pcollect_table *table,
                        const uint64_t *keys)
{
    bool regions = !strcmp(table->name, "series_regions");
    (void)thread;
    (void)node;
    assert_int_equal(table->n_keys, N_KEYS);
    assert_int_equal(table->n_values, regions ? 1 : N_VALUES);
    return find(regions ? got_regions : got, keys);
}

static uint64_t realtime_ns(uint64_t ticks)
{
    return ticks;
}

/* ---- The oracle ----------------------------------------------------------------------------- */

static uint64_t width_after(uint64_t elapsed_ns)
{
    uint64_t width = UINT64_C(1) << 24;
    while (elapsed_ns / width >= 128)
        width *= 2;
    return width;
}

static uint64_t told_apart(uint64_t *known, uint64_t id)
{
    for (unsigned i = 0; id && i < TOLD_APART; i++) {
        if (!known[i])
            known[i] = id;
        if (known[i] == id)
            return id;
    }
    return 0;
}

/* Books the time of the stretch in each of its bins. */
static void book_time(struct rows *rows, uint64_t *keys, uint64_t begin, uint64_t end,
                      unsigned value)
{
    for (uint64_t at = begin, width = keys[2], next; at < end; at = next) {
        next = at / width * width + width < end ? at / width * width + width : end;
        keys[1] = at / width * width;
        find(rows, keys)[value] += next - at;
    }
}

static void book(const struct pcollect_event *e)
{
    uint64_t width = width_after(e->end - BEGIN), at = e->begin;
    uint64_t keys[N_KEYS] = {(uint64_t)(int64_t)PCOLLECT_RANK_SELF, at / width * width, width,
                             told_apart(met, e->domain)};
    uint64_t *values = find(wanted, keys);
    values[0]++;
    values[4] += e->domain && !keys[3];
    keys[1] = e->end / width * width;
    values = find(wanted, keys);
    values[1] += e->bytes_sent;
    values[2] += e->bytes_received;
    book_time(wanted, keys, at, e->end, 3);
}

static void book_sample(const struct pcollect_sample *sample)
{
    uint64_t width = width_after(sample->now - BEGIN);
    uint64_t keys[N_KEYS] = {(uint64_t)(int64_t)PCOLLECT_RANK_SELF, sample->now / width * width,
                             width, 0};
    uint64_t *values = find(wanted, keys);
    values[5]++;
    values[6] += sample->period_ns;
    values[7] += sample->node ? sample->period_ns : 0;
}

static void book_region(const struct pcollect_region *region)
{
    uint64_t before = region->begin < BEGIN ? BEGIN - region->begin : 0;
    uint64_t width = width_after(region->end - BEGIN + before);
    uint64_t keys[N_KEYS] = {(uint64_t)(int64_t)PCOLLECT_RANK_SELF, 0, width,
                             told_apart(met_regions, region->id) ? region->node : 0};
    book_time(wanted_regions, keys, region->begin, region->end, 0);
}

/* Books the bytes of a receive that was posted before. */
static void book_completion(const struct pcollect_event *e)
{
    uint64_t width = width_after(e->end - BEGIN);
    uint64_t keys[N_KEYS] = {(uint64_t)(int64_t)PCOLLECT_RANK_SELF, e->end / width * width, width,
                             told_apart(met, e->domain)};
    find(wanted, keys)[2] += e->bytes_received;
}

static void assert_equal(struct rows *is, struct rows *should_be)
{
    assert_int_equal(is->n, should_be->n);
    for (uint32_t i = 0; i < SLOTS; i++)
        if (should_be->all[i].keys[2])
            assert_memory_equal(find(is, should_be->all[i].keys), should_be->all[i].values,
                                sizeof should_be->all[i].values);
    assert_int_equal(is->n, should_be->n);
}

static void assert_same(void)
{
    assert_equal(got, wanted);
    assert_equal(got_regions, wanted_regions);
}

/* ---- Runs ----------------------------------------------------------------------------------- */

static uint64_t draw(uint64_t n)
{
    static uint64_t x = 88172645463325252u;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return x % n;
}

/* A sample, in a context or in a call. */
static void interrupt(void *state, uint64_t now)
{
    struct pcollect_sample sample = {.size = sizeof sample,
                                     .now = now,
                                     .node = (uint32_t)draw(CONTEXTS),
                                     .period_ns = 1 + draw(20000000)};
    pc_plugin_series.sample(state, &sample);
    book_sample(&sample);
}

/* Ends one of n_regions regions, which may be as long as the run. */
static void leave_region(void *state, uint64_t now, uint64_t n_regions)
{
    uint64_t longest = draw(10) ? 100000000 : now - BEGIN + 1;
    struct pcollect_region region = {
        .size = sizeof region, .begin = now - draw(longest), .end = now};
    region.id = 1 + draw(n_regions);
    region.node = (uint32_t)region.id;
    pc_plugin_series.region(state, &region);
    book_region(&region);
}

static void forget(void)
{
    memset(got, 0, sizeof *got);
    memset(wanted, 0, sizeof *wanted);
    memset(got_regions, 0, sizeof *got);
    memset(wanted_regions, 0, sizeof *wanted);
    memset(met, 0, sizeof met);
    memset(met_regions, 0, sizeof met_regions);
}

/* Intervals are not compared here (tests/mpi/histograms.test). */
static void carry(void *histogram, uint32_t n_bins)
{
    (void)histogram;
    (void)n_bins;
}

/* Makes calls, sometimes a long one, for length_ns, on n_domains communicators, and in as many
 * regions.
 */
static void run(uint64_t length_ns, uint64_t step_ns, uint64_t n_domains)
{
    static uint64_t records[CONTEXTS][64];
    const struct pcollect_comm_plugin *p = &pc_plugin_series;
    static struct pcollect_host host;
    void *state = NULL;
    host = (struct pcollect_host){.ns_per_tick_q32 = UINT64_C(1) << 32,
                                  .row_at = row_at,
                                  .realtime_ns = realtime_ns,
                                  .carry = carry};
    assert_true(p->record_bytes <= sizeof records[0]);
    memset(records, 0, sizeof records);
    forget();
    assert_int_equal(p->init(&host, &state), 0);
    struct pcollect_event e = {.size = sizeof e, .begin = BEGIN};
    while (e.begin - BEGIN < length_ns) {
        unsigned context = (unsigned)draw(CONTEXTS);
        e.node = context + 1;
        e.end = e.begin + draw(draw(100) ? 1000 : 3 * step_ns);
        e.domain = n_domains ? draw(n_domains + 1) : 0;
        e.bytes_sent = draw(100);
        e.bytes_received = draw(100);
        struct pcollect_event inner = e; /* made by a callback, from the same place */
        inner.begin = e.end - (e.end - e.begin) / 8;
        if (!draw(10)) {
            p->post(state, &inner, records[context]);
            book(&inner);
        }
        p->post(state, &e, records[context]);
        book(&e);
        if (!draw(10)) {
            struct pcollect_event completion = {
                .end = e.end, .node = e.node, .domain = e.domain, .bytes_received = 7};
            p->complete(state, &completion, records[context]);
            book_completion(&completion);
        }
        if (!draw(10))
            interrupt(state, e.end);
        if (!draw(5))
            leave_region(state, e.end, n_domains + 1);
        e.begin = e.end + draw(step_ns);
    }
}

/* The bound of doc/internals/series.md: 128 bins, 64 for each doubling, one more for a doubling
 * that has begun. */
static uint32_t most_bins(uint64_t length_ns)
{
    uint32_t n = 130;
    for (uint64_t width = UINT64_C(1) << 24; length_ns / width >= 128; width *= 2)
        n += 66;
    return n;
}

static void bins_are_those_of_the_definition(void **unused)
{
    (void)unused;
    run(60 * SECOND, 100000, 0);
    assert_same();
    assert_true(got->n > 128);
    run(60 * SECOND, 3000000, 3);
    assert_same();
    run(60 * SECOND, 3000000, 50);
    assert_same();
}

static void rows_are_bounded(void **unused)
{
    (void)unused;
    run(3600 * SECOND, 5000000, 0);
    assert_in_range(got->n, 700, most_bins(3600 * SECOND));
    assert_in_range(most_bins(3600 * SECOND), 128 + 64 * 11, 900);
    run(365 * 86400 * SECOND, 20 * SECOND, 0);
    assert_in_range(got->n, 1000, most_bins(366 * 86400 * SECOND));
}

/* Before the first call, and in a run without one. */
static void regions_may_be_alone(void **unused)
{
    static struct pcollect_host host;
    void *state = NULL;
    (void)unused;
    host = (struct pcollect_host){
        .ns_per_tick_q32 = UINT64_C(1) << 32, .row_at = row_at, .realtime_ns = realtime_ns};
    forget();
    assert_int_equal(pc_plugin_series.init(&host, &state), 0);
    struct pcollect_region region = {
        .size = sizeof region, .id = 1, .node = 1, .begin = BEGIN, .end = BEGIN + 3600 * SECOND};
    pc_plugin_series.region(state, &region);
    book_region(&region);
    assert_same();
    assert_in_range(got_regions->n, 64, 129);
    region.begin = BEGIN - 100 * SECOND;
    region.end = BEGIN + SECOND;
    pc_plugin_series.region(state, &region);
    book_region(&region);
    assert_same();
}

static void communicators_are_bounded(void **unused)
{
    (void)unused;
    run(3600 * SECOND, 5000000, 1000);
    assert_same();
    assert_in_range(got->n, 10 * 700, (TOLD_APART + 1) * most_bins(3600 * SECOND));
    assert_in_range(got_regions->n, 10 * 700, (TOLD_APART + 1) * most_bins(3600 * SECOND));
    uint64_t others = 0;
    for (uint32_t i = 0; i < SLOTS; i++)
        others += got->all[i].values[4];
    assert_true(others > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bins_are_those_of_the_definition),
        cmocka_unit_test(rows_are_bounded),
        cmocka_unit_test(regions_may_be_alone),
        cmocka_unit_test(communicators_are_bounded),
    };
    got = calloc(4, sizeof *got);
    if (!got)
        return 1;
    wanted = got + 1;
    got_regions = got + 2;
    wanted_regions = got + 3;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(got);
    return failed;
}
