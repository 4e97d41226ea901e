/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The plugin topology with a host made by this test: a rank keeps rows for its first partners, as
 * many as the number of ranks allows, and sums the rest by distance. Each message is in one row of
 * one table, whichever thread sends it.
 */
#include "plugins/plugins.h"
#include "tests/random.h"
#include "tests/seed.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { MOST_ROWS = 8192, BUCKETS = 4096, N_THREADS = 4, LEAST_PARTNERS = 32, MOST_PARTNERS = 1024 };
enum { MESSAGES, BYTES, TIME, RECEIVED, RECEIVED_BYTES };

struct row {
    bool is_pair;
    uint64_t keys[4];
    uint64_t last_key, phase, values[6]; /* as plugin.h says */
    struct row *next;                    /* with the same hash */
};

/* Data that one thread has written. */
struct rows {
    uint32_t n;
    struct row all[MOST_ROWS];
    struct row *by_hash[BUCKETS];
};

static struct rows threads[N_THREADS];

static bool is_pairs(const struct pcollect_table *table)
{
    return !strcmp(table->name, "pairs");
}

static uint64_t *row_at(void *thread, uint32_t node, const struct pcollect_table *table,
                        const uint64_t *keys)
{
    struct rows *rows = thread;
    (void)node;
    assert_true(is_pairs(table) || !strcmp(table->name, "pairs_by_distance"));
    assert_int_equal(table->n_keys, is_pairs(table) ? 4 : 3);
    assert_int_equal(table->n_values, 6);
    uint64_t hash = is_pairs(table);
    for (uint32_t k = 0; k < table->n_keys; k++)
        hash = hash * 31 + keys[k];
    struct row **at = &rows->by_hash[hash % BUCKETS];
    for (; *at; at = &(*at)->next)
        if ((*at)->is_pair == is_pairs(table) &&
            !memcmp((*at)->keys, keys, table->n_keys * sizeof *keys))
            return (*at)->values;
    assert_true(rows->n < MOST_ROWS);
    struct row *row = *at = &rows->all[rows->n++];
    *row = (struct row){.is_pair = is_pairs(table)};
    memcpy(row->keys, keys, table->n_keys * sizeof *keys);
    row->last_key = keys[table->n_keys - 1];
    return row->values;
}

static uint32_t string(const char *text)
{
    return (uint32_t)strlen(text);
}

static void begin(int32_t rank, int32_t n_ranks)
{
    static const struct pcollect_host host = {.row_at = row_at, .string = string};
    const struct pcollect_comm_plugin *p = &pc_plugin_topology;
    struct pcollect_domain world = {.size = sizeof world,
                                    .change = PCOLLECT_DOMAIN_MADE,
                                    .as_world = 1,
                                    .rank = rank,
                                    .n_local = n_ranks};
    void *state = NULL;
    memset(threads, 0, sizeof threads);
    assert_int_equal(p->init(&host, &state), 0);
    p->domain(state, &world);
}

static void exchange_on(uint64_t domain, unsigned thread, void *record, int32_t to, int32_t from,
                        uint64_t bytes)
{
    struct pcollect_event e = {.size = sizeof e,
                               .op_class = PCOLLECT_CLASS_P2P,
                               .domain = domain,
                               .bytes_sent = to == PCOLLECT_RANK_NONE ? 0 : bytes,
                               .bytes_received = from == PCOLLECT_RANK_NONE ? 0 : bytes,
                               .world_peer = to,
                               .world_source = from,
                               .thread = &threads[thread]};
    pc_plugin_topology.post(NULL, &e, record);
}

static void exchange(unsigned thread, void *record, int32_t to, int32_t from, uint64_t bytes)
{
    exchange_on(1, thread, record, to, from, bytes);
}

static const struct row *find_pair(unsigned thread, int32_t source, int32_t destination)
{
    for (uint32_t i = 0; i < threads[thread].n; i++) {
        const struct row *r = &threads[thread].all[i];
        if (r->is_pair && (int32_t)r->keys[0] == source && (int32_t)r->keys[1] == destination)
            return r;
    }
    return NULL;
}

static const struct row *find_distance(unsigned thread, uint64_t least)
{
    for (uint32_t i = 0; i < threads[thread].n; i++)
        if (!threads[thread].all[i].is_pair && threads[thread].all[i].keys[0] == least)
            return &threads[thread].all[i];
    return NULL;
}

/* Number of pairs in which this process sends, over all threads, each counted once. */
static uint32_t count_partners(void)
{
    uint32_t n = 0;
    for (unsigned k = 0; k < N_THREADS; k++)
        for (uint32_t i = 0; i < threads[k].n; i++) {
            const struct row *r = &threads[k].all[i];
            bool is_first = r->is_pair && (int32_t)r->keys[0] == PCOLLECT_RANK_SELF;
            for (unsigned before = 0; before < k && is_first; before++)
                is_first = !find_pair(before, PCOLLECT_RANK_SELF, (int32_t)r->keys[1]);
            n += is_first;
        }
    return n;
}

static uint64_t total(bool of_pairs, unsigned value)
{
    uint64_t sum = 0;
    for (unsigned k = 0; k < N_THREADS; k++)
        for (uint32_t i = 0; i < threads[k].n; i++)
            if (threads[k].all[i].is_pair == of_pairs)
                sum += threads[k].all[i].values[value];
    return sum;
}

/* The 26 neighbours of a block are kept at any number of ranks. */
static void few_partners_are_kept(void **unused)
{
    static uint64_t record[64];
    (void)unused;
    begin(50000, 1000000);
    memset(record, 0, sizeof record);
    for (int32_t i = 1; i <= LEAST_PARTNERS; i++) {
        exchange(0, record, 50000 + 100 * i, PCOLLECT_RANK_NONE, 10);
        exchange(0, record, PCOLLECT_RANK_NONE, 50000 + 100 * i, 20);
    }
    assert_int_equal(count_partners(), LEAST_PARTNERS);
    assert_int_equal(total(true, BYTES), 10 * LEAST_PARTNERS);
    assert_int_equal(total(true, RECEIVED_BYTES), 20 * LEAST_PARTNERS);
    assert_int_equal(total(false, MESSAGES) + total(false, RECEIVED), 0);
}

/* Partner i lies i ranks away; those after the first 32 are summed. */
static void others_are_summed_by_distance(void **unused)
{
    static uint64_t record[64];
    (void)unused;
    begin(50000, 1000000);
    memset(record, 0, sizeof record);
    for (int turn = 0; turn < 3; turn++)
        for (int32_t i = 1; i <= 100; i++)
            exchange(0, record, 50000 - i, 50000 + i, (uint64_t)i);
    /* The first call takes in two partners. */
    assert_int_equal(count_partners(), LEAST_PARTNERS / 2);
    assert_non_null(find_pair(0, PCOLLECT_RANK_SELF, 49984));
    assert_non_null(find_pair(0, 50016, PCOLLECT_RANK_SELF));
    assert_null(find_pair(0, PCOLLECT_RANK_SELF, 49983));
    assert_int_equal(total(true, MESSAGES), 3 * 16);
    assert_int_equal(total(false, MESSAGES), 3 * 84);
    assert_null(find_distance(0, 8));
    for (uint64_t least = 16; least <= 64; least *= 2) {
        const struct row *r = find_distance(0, least);
        uint64_t first = least == 16 ? 17 : least, last = least == 64 ? 100 : 2 * least - 1;
        assert_non_null(r);
        assert_int_equal(r->values[MESSAGES], 3 * (last - first + 1));
        assert_int_equal(r->values[RECEIVED], 3 * (last - first + 1));
        assert_int_equal(r->values[BYTES], 3 * (first + last) * (last - first + 1) / 2);
        assert_int_equal(r->values[RECEIVED_BYTES], r->values[BYTES]);
    }
}

/* The rank itself and processes outside of the job take no place of a partner. */
static void self_and_outside_are_kept(void **unused)
{
    static uint64_t record[64];
    (void)unused;
    begin(7, 1000000);
    memset(record, 0, sizeof record);
    for (int32_t i = 0; i < 100; i++)
        exchange(0, record, 1000 + i, PCOLLECT_RANK_NONE, 1);
    exchange(0, record, 7, 7, 5);
    exchange(0, record, PCOLLECT_RANK_OUTSIDE, PCOLLECT_RANK_OUTSIDE, 6);
    assert_int_equal(find_pair(0, PCOLLECT_RANK_SELF, 7)->values[BYTES], 5);
    assert_int_equal(find_pair(0, 7, PCOLLECT_RANK_SELF)->values[RECEIVED_BYTES], 5);
    assert_int_equal(find_pair(0, PCOLLECT_RANK_SELF, PCOLLECT_RANK_OUTSIDE)->values[BYTES], 6);
    assert_int_equal(total(false, MESSAGES), 100 - LEAST_PARTNERS);
}

static void small_jobs_are_kept_whole(void **unused)
{
    static uint64_t record[64];
    (void)unused;
    begin(0, 512);
    memset(record, 0, sizeof record);
    for (int32_t i = 1; i < 512; i++)
        exchange(0, record, i, i, 8);
    assert_int_equal(count_partners(), 511);
    assert_int_equal(total(false, MESSAGES), 0);
    begin(0, 4096);
    memset(record, 0, sizeof record);
    for (int32_t i = 1; i < 4096; i++)
        exchange(0, record, i, i, 8);
    assert_int_equal(count_partners(), (1 << 19) / 4096);
}

/* Rows of one record against a model: messages in both directions, on three communicators, with a
 * few ranks and those outside of the job, so that each takes the place of others in the record. */
static void one_record_serves_all_pairs(void **unused)
{
    enum { N_OTHERS = 9, N_DOMAINS = 3, N_MESSAGES = 20000 };
    static uint64_t record[64], sent[N_OTHERS][N_DOMAINS], received[N_OTHERS][N_DOMAINS];
    uint64_t seed = test_seed(6);
    (void)unused;
    begin(0, 512);
    memset(record, 0, sizeof record);
    for (int i = 0; i < N_MESSAGES; i++) {
        uint64_t other = random_below(&seed, N_OTHERS), domain = random_below(&seed, N_DOMAINS);
        int32_t rank = other ? (int32_t)other : PCOLLECT_RANK_OUTSIDE;
        bool sends = random_below(&seed, 2);
        (sends ? sent : received)[other][domain]++;
        exchange_on(1 + domain, 0, record, sends ? rank : PCOLLECT_RANK_NONE,
                    sends ? PCOLLECT_RANK_NONE : rank, 1);
    }
    assert_int_equal(threads[0].n, 2 * N_OTHERS * N_DOMAINS);
    for (uint32_t i = 0; i < threads[0].n; i++) {
        const struct row *r = &threads[0].all[i];
        bool sends = (int32_t)r->keys[0] == PCOLLECT_RANK_SELF;
        int32_t rank = (int32_t)r->keys[sends];
        uint64_t other = rank == PCOLLECT_RANK_OUTSIDE ? 0 : (uint64_t)rank;
        assert_int_equal(r->values[MESSAGES], sends ? sent[other][r->keys[3] - 1] : 0);
        assert_int_equal(r->values[RECEIVED], sends ? 0 : received[other][r->keys[3] - 1]);
    }
}

static void *send_to_many(void *number)
{
    uint64_t record[64] = {0}, seed = test_seed(5) + (uintptr_t)number;
    for (int i = 0; i < 20000; i++)
        exchange((unsigned)(uintptr_t)number, record, 1 + (int32_t)random_below(&seed, 2000),
                 PCOLLECT_RANK_NONE, 3);
    return NULL;
}

/* No partner is taken in twice, none is beyond the limit, and all threads see the same ones. */
static void threads_share_partners(void **unused)
{
    pthread_t thread[N_THREADS];
    (void)unused;
    for (int turn = 0; turn < 20; turn++) {
        begin(0, 512);
        for (uintptr_t k = 0; k < N_THREADS; k++)
            assert_int_equal(pthread_create(&thread[k], NULL, send_to_many, (void *)k), 0);
        for (unsigned k = 0; k < N_THREADS; k++)
            assert_int_equal(pthread_join(thread[k], NULL), 0);
        assert_int_equal(count_partners(), MOST_PARTNERS);
        assert_int_equal(total(true, MESSAGES) + total(false, MESSAGES), N_THREADS * 20000);
        assert_int_equal(total(true, BYTES) + total(false, BYTES), 3 * N_THREADS * 20000);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_partners_are_kept),
        cmocka_unit_test(others_are_summed_by_distance),
        cmocka_unit_test(self_and_outside_are_kept),
        cmocka_unit_test(small_jobs_are_kept_whole),
        cmocka_unit_test(one_record_serves_all_pairs),
        cmocka_unit_test(threads_share_partners),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
