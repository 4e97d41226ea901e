/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The plugin series under a host of its own: what is in which bin, and that there are never more
 * rows than doc/internals/series.md says, however long the run and whatever it does.
 *
 * The oracle books each call by the definition of bins, and remembers nothing from call to call.
 */
#include "plugins/plugins.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { SLOTS = 1 << 20, N_KEYS = 4, N_VALUES = 5, TOLD_APART = 32, CONTEXTS = 3 };

/* Ticks are nanoseconds here, and begin at this time. */
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

static struct rows *got, *wanted;
static uint64_t met[TOLD_APART]; /* by the oracle */

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
    (void)thread;
    assert_true(node != 0);
    assert_int_equal(table->n_keys, N_KEYS);
    assert_int_equal(table->n_values, N_VALUES);
    return find(got, keys);
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

static uint64_t told_apart(uint64_t domain)
{
    for (unsigned i = 0; domain && i < TOLD_APART; i++) {
        if (!met[i])
            met[i] = domain;
        if (met[i] == domain)
            return domain;
    }
    return 0;
}

static void book(const struct pcollect_event *e)
{
    uint64_t width = width_after(e->end - BEGIN), at = e->begin;
    uint64_t keys[N_KEYS] = {(uint64_t)(int64_t)PCOLLECT_RANK_SELF, at / width * width, width,
                             told_apart(e->domain)};
    uint64_t *values = find(wanted, keys);
    values[0]++;
    values[4] += e->domain && !keys[3];
    while (at / width != e->end / width) {
        keys[1] = at / width * width;
        find(wanted, keys)[3] += keys[1] + width - at;
        at = keys[1] + width;
    }
    keys[1] = at / width * width;
    values = find(wanted, keys);
    values[1] += e->bytes_sent;
    values[2] += e->bytes_received;
    values[3] += e->end - at;
}

/* Bytes of a receive that was posted before. */
static void book_completion(const struct pcollect_event *e)
{
    uint64_t width = width_after(e->end - BEGIN);
    uint64_t keys[N_KEYS] = {(uint64_t)(int64_t)PCOLLECT_RANK_SELF, e->end / width * width, width,
                             told_apart(e->domain)};
    find(wanted, keys)[2] += e->bytes_received;
}

static void assert_same(void)
{
    assert_int_equal(got->n, wanted->n);
    for (uint32_t i = 0; i < SLOTS; i++)
        if (wanted->all[i].keys[2])
            assert_memory_equal(find(got, wanted->all[i].keys), wanted->all[i].values,
                                sizeof wanted->all[i].values);
    assert_int_equal(got->n, wanted->n);
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

/* Calls, now and then a long one, for so long, over so many communicators. */
static void run(uint64_t length_ns, uint64_t step_ns, uint64_t n_domains)
{
    static uint64_t records[CONTEXTS][64];
    const struct pcollect_comm_plugin *p = &pc_plugin_series;
    static struct pcollect_host host;
    void *state = NULL;
    host = (struct pcollect_host){
        .ns_per_tick_q32 = UINT64_C(1) << 32, .row_at = row_at, .realtime_ns = realtime_ns};
    assert_true(p->record_bytes <= sizeof records[0]);
    memset(records, 0, sizeof records);
    memset(got, 0, sizeof *got);
    memset(wanted, 0, sizeof *wanted);
    memset(met, 0, sizeof met);
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
        e.begin = e.end + draw(step_ns);
    }
}

/* As doc/internals/series.md has it: 128 bins, 64 for each doubling, one more for a begun one. */
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

static void communicators_are_bounded(void **unused)
{
    (void)unused;
    run(3600 * SECOND, 5000000, 1000);
    assert_same();
    assert_in_range(got->n, 10 * 700, (TOLD_APART + 1) * most_bins(3600 * SECOND));
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
        cmocka_unit_test(communicators_are_bounded),
    };
    got = calloc(1, sizeof *got);
    wanted = calloc(1, sizeof *wanted);
    if (!got || !wanted)
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(got);
    free(wanted);
    return failed;
}
