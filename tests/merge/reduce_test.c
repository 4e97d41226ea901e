/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The reduction over ranks, over a transport in memory. A rank that waits for ever ends the test by
 * the alarm.
 */
#include "merge/message.h"
#include "tests/merge/made_job.h"
#include "tests/merge/numbering.h"
#include "tests/merge/unpacked.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <unistd.h>

#include "tests/folder.h"

enum { HANG_S = 600 };

static _Thread_local int this_rank;

static void reduce(struct net_rank *r, void *arg)
{
    struct job *j = arg;
    int me = this_rank = r->transport.rank;
    struct pc_profile *mine = me == j->missing ? NULL : profile_of_rank(j, me);
    struct pc_reduced reduced = {.sum = (void *)j};
    j->err[me] = pc_merge_reduce(&r->transport, mine, &reduced, &j->error[me]);
    j->result[me] = reduced.sum;
    assert_null(reduced.share);
}

static const int sizes[] = {1, 2, 3, 4, 5, 7, 8, 16, 64};

static void reduction_equals_sequential_and_offline_merge_to_the_bit(void **state)
{
    (void)state;
    for (unsigned i = 0; i < PC_ARRAY_LEN(sizes); i++)
        for (unsigned s = 0; s < n_shapes; s++) {
            if (sizes[i] > 8 && s % 3)
                continue;
            static struct job j;
            make_job(&j, &shapes[s], sizes[i]);
            struct net *net = net_new(j.n_ranks, s % 2);
            net_run(net, reduce, &j);
            for (int rank = 0; rank < j.n_ranks; rank++) {
                assert_int_equal(j.err[rank], PC_OK);
                if (rank)
                    assert_null(j.result[rank]);
            }
            assert_int_equal(net_left(net), 0);
            struct pc_profile *in_order = merge_in_order(&j),
                              *offline = made_merge(j.arenas, j.n_ranks, folder);
            assert_int_equal(j.result[0]->n_ranks, j.n_ranks);
            assert_int_equal(j.result[0]->packed != NULL, j.n_ranks > 1);
            assert_same_bytes(j.result[0], in_order);
            assert_same_bytes(j.result[0], offline);
            if (j.n_ranks <= 8)
                assert_profile_tells(in_order, j.facts,
                                     j.n_facts); /* rows of the result are packed */
            pc_profile_free(j.result[0]);
            pc_profile_free(in_order);
            pc_profile_free(offline);
            net_free(net);
            free_job(&j);
        }
}

/* ---- Which values are kept ------------------------------------------------------------------- */

static const struct shape many = {"many", 200, 4, 6, false, 1000000, true, true, 0};

static uint64_t bytes_of(const struct pc_profile *p, const struct pc_profile_data *d)
{
    return d->n_ranks * (4 + 8 * ((uint64_t)p->n_fields - d->first_field));
}

static uint64_t bytes_of_steps(const struct pc_profile *p, const struct pc_profile_data *d)
{
    uint64_t n = 0;
    for (uint32_t k = d->first_field; k < p->n_fields; k++)
        n += pc_field_in_steps(p, d, k);
    return n ? d->n_ranks * (4 + 2 * n) : 0;
}

/* The order in which records are thought of: by time (counted in units of about a microsecond per
 * rank), then by size. */
struct wish {
    uint64_t time, exact, steps;
    uint32_t record;
    enum pc_kept kept;
};

static int by_time(const void *a, const void *b)
{
    const struct wish *x = a, *y = b;
    if (x->time != y->time)
        return x->time > y->time ? -1 : 1;
    return (x->exact > y->exact) - (x->exact < y->exact);
}

/* Time of the record as its ranks count it. */
static uint64_t counted_time(const struct pc_profile *whole, const struct pc_profile_data *d)
{
    uint64_t time = 0;
    for (uint32_t r = 0; r < d->n_ranks; r++) {
        pc_u128 of_rank = 0;
        for (uint32_t k = d->first_field; k < whole->n_fields; k++)
            if (whole->fields[k].combine == PCOLLECT_SUM &&
                whole->fields[k].unit == PCOLLECT_UNIT_NS)
                of_rank += pc_data_value(whole, d, r, k);
        time += (uint64_t)(of_rank >> 10);
    }
    return time;
}

/* Chooses what is kept of each record: steps for the first hundred, then exact values for all, as
 * far as the bytes reach. */
static struct wish *wish_all(const struct pc_profile *whole, uint64_t left)
{
    struct wish *w = calloc(whole->n_data + 1, sizeof *w);
    for (uint32_t i = 0; i < whole->n_data; i++) {
        const struct pc_profile_data *d = &whole->data[i];
        w[i] = (struct wish){.time = counted_time(whole, d),
                             .exact = bytes_of(whole, d),
                             .steps = bytes_of_steps(whole, d),
                             .record = i};
    }
    qsort(w, whole->n_data, sizeof *w, by_time);
    for (uint32_t i = 0; i < whole->n_data && i < 100; i++)
        if (w[i].steps && w[i].steps <= left) {
            left -= w[i].steps;
            w[i].kept = PC_KEPT_STEPS;
        }
    for (uint32_t i = 0; i < whole->n_data; i++) {
        uint64_t price = w[i].exact - (w[i].kept ? w[i].steps : 0);
        if (price <= left) {
            left -= price;
            w[i].kept = PC_KEPT_EXACT;
        }
    }
    return w;
}

static void check_steps(const struct pc_profile *p, const struct pc_profile_data *d,
                        const struct pc_profile_data *w)
{
    assert_memory_equal(d->ranks, w->ranks, d->n_ranks * sizeof *d->ranks);
    for (uint32_t k = d->first_field; k < p->n_fields; k++) {
        struct pc_by_rank by = pc_data_by_rank(p, d, k);
        assert_int_equal(by.n, pc_field_in_steps(p, d, k) ? d->n_ranks : 0);
        for (uint32_t r = 0; r < by.n; r++) {
            uint64_t exact = pc_data_value(p, w, r, k), is = pc_by_rank_value(&by, r);
            assert_int_equal(is, pc_step_value(pc_step_of(exact)));
            assert_true((is > exact ? is - exact : exact - is) <= exact / 100);
        }
    }
}

/* The result has the statistics of `whole`, and the values of those of its records that have most
 * time, as many as `most` bytes hold. Records of as much time and size may have changed places. */
static void check_choice(const struct pc_profile *result, const struct pc_profile *whole,
                         uint64_t most, unsigned n_kept[3])
{
    struct pc_profile *p = unpacked(result);
    struct wish *w = wish_all(whole, most);
    assert_int_equal(p->n_data, whole->n_data);
    for (uint32_t i = 0; i < p->n_data; i++) {
        const struct pc_profile_data *d = &p->data[w[i].record], *e = &whole->data[w[i].record];
        size_t width = p->n_fields - d->first_field;
        bool alone = !(i && !by_time(&w[i - 1], &w[i])) &&
                     !(i + 1 < p->n_data && !by_time(&w[i], &w[i + 1]));
        for (uint32_t k = d->first_field; k < p->n_fields; k++) {
            struct pc_stat got = pc_data_stat(p, d, k), wanted = pc_data_stat(whole, e, k);
            assert_memory_equal(&got, &wanted, sizeof got);
        }
        assert_int_equal(d->kept != PC_KEPT_NONE, d->ranks != NULL);
        if (alone)
            assert_int_equal(d->kept, w[i].kept);
        n_kept[d->kept]++;
        if (d->kept == PC_KEPT_STEPS)
            check_steps(p, d, e);
        if (d->kept != PC_KEPT_EXACT)
            continue;
        assert_memory_equal(d->ranks, e->ranks, d->n_ranks * sizeof *d->ranks);
        assert_memory_equal(d->values, e->values, d->n_ranks * width * sizeof *d->values);
    }
    free(w);
    pc_profile_free(p);
}

static void values_get_their_room_by_time_in_the_job_and_after_it(void **state)
{
    (void)state;
    static const uint32_t bounds[] = {1, 2, 8, 32, 4096};
    unsigned n_kept[3] = {0};
    for (unsigned i = 0; i < PC_ARRAY_LEN(bounds); i++)
        for (int n_ranks = 1; n_ranks <= 16; n_ranks += 5) {
            static struct job j;
            make_bounded_job(&j, &many, n_ranks, bounds[i], false);
            struct net *net = net_new(n_ranks, true);
            net_run(net, reduce, &j);
            assert_int_equal(j.err[0], PC_OK);
            struct pc_profile *whole = merge_in_order(&j),
                              *offline = made_merge(j.arenas, j.n_ranks, folder);
            check_choice(j.result[0], whole, (uint64_t)bounds[i] << 10, n_kept);
            assert_same_bytes(j.result[0], offline);
            pc_profile_free(j.result[0]);
            pc_profile_free(whole);
            pc_profile_free(offline);
            net_free(net);
            free_job(&j);
        }
    for (unsigned kind = 0; kind < PC_ARRAY_LEN(n_kept); kind++)
        assert_in_range(n_kept[kind], 100, 10000);
}

static uint64_t bytes_sent(uint32_t per_rank, uint32_t values_kib)
{
    static struct job j;
    struct shape shape = many;
    shape.per_rank = per_rank;
    make_bounded_job(&j, &shape, 16, values_kib, true);
    struct net *net = net_new(16, false);
    net_run(net, reduce, &j);
    assert_int_equal(j.err[0], PC_OK);
    pc_profile_free(j.result[0]);
    uint64_t n = net_bytes(net);
    net_free(net);
    free_job(&j);
    return n;
}

/* All records are those of all 16 ranks: with a bound of 15 none will have values. */
static void values_that_will_be_dropped_are_not_sent(void **state)
{
    (void)state;
    uint64_t none = bytes_sent(1, 0);
    assert_int_equal(bytes_sent(15, 0), none);
    uint64_t some = bytes_sent(0, 8), all = bytes_sent(0, 0);
    assert_true(none < some && some < all);
}

static void a_rank_without_profile_is_an_error_on_rank_0_and_holds_up_nobody(void **state)
{
    (void)state;
    for (unsigned i = 0; i < PC_ARRAY_LEN(sizes) - 1; i++) {
        static struct job j;
        make_job(&j, &shapes[1], sizes[i]);
        for (j.missing = 0; j.missing < j.n_ranks; j.missing++) {
            struct net *net = net_new(j.n_ranks, true);
            net_run(net, reduce, &j);
            assert_int_equal(j.err[0], PC_EMISMATCH);
            assert_null(j.result[0]);
            assert_non_null(strstr(j.error[0].text, "1 of"));
            assert_int_equal(net_left(net), 0);
            net_free(net);
        }
        free_job(&j);
    }
}

static int unsent_rank = -1; /* the one that has no memory for what it would send, or -1 */

int __real_pc_profile_encode(const struct pc_profile *p, uint8_t **data_out, size_t *n_out);
int __wrap_pc_profile_encode(const struct pc_profile *p, uint8_t **data_out, size_t *n_out);
int __wrap_pc_profile_encode(const struct pc_profile *p, uint8_t **data_out, size_t *n_out)
{
    return this_rank == unsent_rank ? PC_ENOMEM : __real_pc_profile_encode(p, data_out, n_out);
}

static void a_profile_that_cannot_be_sent_is_an_error_there_and_on_rank_0(void **state)
{
    (void)state;
    static struct job j;
    make_job(&j, &shapes[1], 4);
    for (unsent_rank = 1; unsent_rank < j.n_ranks; unsent_rank++) {
        struct net *net = net_new(j.n_ranks, true);
        net_run(net, reduce, &j);
        assert_int_equal(j.err[0], PC_EMISMATCH);
        assert_int_equal(j.err[unsent_rank], PC_ENOMEM);
        assert_non_null(strstr(j.error[unsent_rank].text, "not enough memory"));
        assert_int_equal(net_left(net), 0);
        net_free(net);
    }
    unsent_rank = -1;
    free_job(&j);
}

/* Every call of the transport of every rank fails once. Either rank 0 has an error, or nothing is
 * missing from its result. */
static void every_failing_transfer_is_an_error_on_rank_0(void **state)
{
    (void)state;
    static struct job j;
    make_job(&j, &shapes[0], 7);
    struct pc_profile *whole = merge_in_order(&j);
    for (int rank = 0; rank < j.n_ranks; rank++) {
        unsigned n_failed = 0, n_errors = 0;
        for (unsigned at = 1; n_failed < at; at++, n_failed++) {
            struct net *net = net_new(j.n_ranks, false);
            net_rank(net, rank)->fail_at = at;
            net_run(net, reduce, &j);
            bool failed = net_rank(net, rank)->n_calls >= at;
            assert_true(failed || !j.err[0]);
            if (j.err[0]) {
                assert_null(j.result[0]);
                assert_int_not_equal(j.error[0].text[0], 0);
                n_errors++;
            } else {
                assert_same_bytes(j.result[0], whole);
                pc_profile_free(j.result[0]);
            }
            net_free(net);
            if (!failed)
                break;
        }
        /* A message of values in which there are none may be lost. */
        assert_true(n_errors + 6 >= n_failed);
        assert_in_range(n_failed, 8, 90); /* a rank that only sends: length and data of each */
    }
    pc_profile_free(whole);
    free_job(&j);
}

/* ---- A profile that is too large for rank 0 -------------------------------------------------- */

static uint64_t available = UINT64_MAX;
static int poor_rank = -1; /* the one that has so little, or -1: all */

uint64_t __wrap_pc_memory_available(void);
uint64_t __wrap_pc_memory_available(void)
{
    return poor_rank < 0 || poor_rank == this_rank ? available : UINT64_MAX;
}

static uint64_t sent_with(struct job *j, uint64_t bytes)
{
    struct net *net = net_new(j->n_ranks, true);
    available = bytes;
    net_run(net, reduce, j);
    available = UINT64_MAX;
    assert_int_equal(net_left(net), 0);
    uint64_t n = net_bytes(net);
    net_free(net);
    return n;
}

/* Bytes of the values by rank in the result, if rank 0 has so many left. */
static uint64_t values_kept_with(struct job *j, uint64_t bytes)
{
    uint64_t sum = 0;
    sent_with(j, bytes);
    assert_int_equal(j->err[0], PC_OK);
    struct pc_profile *p = unpacked(j->result[0]);
    for (uint32_t i = 0; i < p->n_data; i++)
        sum += p->data[i].kept == PC_KEPT_EXACT   ? bytes_of(p, &p->data[i])
               : p->data[i].kept == PC_KEPT_STEPS ? bytes_of_steps(p, &p->data[i])
                                                  : 0;
    pc_profile_free(p);
    pc_profile_free(j->result[0]);
    return sum;
}

/* The least memory with which the job is merged, found by halving. Values by rank get half of what
 * is left beside the records. */
static void a_profile_without_room_on_rank_0_is_refused_before_it_is_sent(void **state)
{
    (void)state;
    static struct job j;
    make_bounded_job(&j, &many, 13, 1, false);
    uint64_t enough = (uint64_t)1 << 40, too_little = 0, all = sent_with(&j, enough);
    assert_int_equal(j.err[0], PC_OK);
    uint32_t n_records = j.result[0]->n_data;
    pc_profile_free(j.result[0]);
    while (enough - too_little > 1) {
        uint64_t middle = (enough + too_little) / 2, n = sent_with(&j, middle);
        for (int rank = 1; rank < j.n_ranks; rank++)
            assert_null(j.result[rank]);
        if (j.err[0]) {
            assert_int_equal(j.err[0], PC_ENOMEM);
            assert_non_null(strstr(j.error[0].text, "of memory on rank 0"));
            assert_null(j.result[0]);
            assert_true(n < all / 2);
            too_little = middle;
        } else {
            assert_in_range(n, all - 4096, all); /* without some values */
            pc_profile_free(j.result[0]);
            enough = middle;
        }
    }
    assert_in_range(enough / n_records, 300, 5000);
    assert_int_equal(values_kept_with(&j, enough), 0);
    uint64_t most = values_kept_with(&j, UINT64_MAX);
    assert_in_range(values_kept_with(&j, enough + most), 1, most / 2);
    assert_int_equal(values_kept_with(&j, enough + 2 * 1024), most);
    free_job(&j);
}

/* Ranks within the tree need room, too; one that merges nothing needs none. */
static void a_profile_without_room_on_any_rank_is_refused_before_it_is_sent(void **state)
{
    (void)state;
    static struct job j;
    make_bounded_job(&j, &many, 13, 1, false);
    uint64_t all = sent_with(&j, UINT64_MAX);
    pc_profile_free(j.result[0]);
    for (poor_rank = 1; poor_rank < j.n_ranks; poor_rank++) {
        char where[64];
        uint64_t n = sent_with(&j, 1);
        bool merges = poor_rank % 2 == 0 && poor_rank + 1 < j.n_ranks;
        assert_int_equal(j.err[0], merges ? PC_ENOMEM : PC_OK);
        if (merges) {
            snprintf(where, sizeof where, "of memory on rank %d, where 0 MiB", poor_rank);
            assert_non_null(strstr(j.error[0].text, where));
            assert_null(j.result[0]);
            assert_true(n < all / 2);
        } else {
            pc_profile_free(j.result[0]);
        }
    }
    poor_rank = -1;
    free_job(&j);
}

/* ---- Nodes ----------------------------------------------------------------------------------- */

/* Messages between nodes: from a node to another one, and to it from there. */
static const uint64_t *counted_nodes; /* NULL: none are counted */
static unsigned sent_up[MOST_RANKS + 1], sent_down[MOST_RANKS + 1];

int __real_pc_message_send(const struct pc_transport *t, const void *data, size_t n, int to);
int __wrap_pc_message_send(const struct pc_transport *t, const void *data, size_t n, int to);
int __wrap_pc_message_send(const struct pc_transport *t, const void *data, size_t n, int to)
{
    const uint64_t *node = counted_nodes;
    if (node && node[t->rank] != node[to])
        __atomic_fetch_add(to == t->route->parent ? &sent_up[node[t->rank]] : &sent_down[node[to]],
                           1, __ATOMIC_RELAXED);
    return __real_pc_message_send(t, data, n, to);
}

/* A node has sent counts, a profile and values, and got the choice. */
static void check_messages(const struct job *j)
{
    for (int rank = 0; rank < j->n_ranks; rank++) {
        uint64_t node = j->nodes[rank];
        assert_int_equal(sent_up[node], node == j->nodes[0] ? 0 : 3);
        assert_int_equal(sent_down[node], node == j->nodes[0] ? 0 : 1);
    }
}

static void a_node_sends_one_message_a_step_whatever_its_ranks_are(void **state)
{
    (void)state;
    static const struct {
        enum numbering how;
        int n_ranks, ranks_a_node;
    } jobs[] = {{BY_NODE, 144, 48}, {BY_NODE, 64, 16}, {ROUND_ROBIN, 60, 12}, {ROUND_ROBIN, 96, 48},
                {AT_RANDOM, 60, 7}, {BY_NODE, 20, 1},  {UNEQUAL, 55, 1},      {BY_NODE, 12, 12}};
    for (unsigned i = 0; i < PC_ARRAY_LEN(jobs); i++) {
        static struct job j;
        uint64_t nodes[MOST_RANKS];
        make_job(&j, &shapes[i % n_shapes], jobs[i].n_ranks);
        number_nodes(jobs[i].how, j.n_ranks, jobs[i].ranks_a_node, nodes);
        j.nodes = counted_nodes = nodes;
        memset(sent_up, 0, sizeof sent_up);
        memset(sent_down, 0, sizeof sent_down);
        struct net *net = net_of(&j, i % 2);
        net_run(net, reduce, &j);
        counted_nodes = NULL;
        assert_int_equal(j.err[0], PC_OK);
        assert_int_equal(net_left(net), 0);
        check_messages(&j);
        struct pc_profile *in_order = merge_in_order(&j);
        assert_same_bytes(j.result[0], in_order);
        pc_profile_free(in_order);
        pc_profile_free(j.result[0]);
        net_free(net);
        free_job(&j);
    }
}

/* ---- Ranks that are lost --------------------------------------------------------------------- */

/* Runs the job with the transport of a rank failing at a call, or from then on. Returns the number
 * of calls that the rank made. */
static unsigned lose_rank(struct job *j, int rank, unsigned at, bool from_then_on,
                          const struct pc_profile *whole)
{
    struct net *net = net_of(j, false);
    net_rank(net, rank)->fail_at = at;
    net_rank(net, rank)->fails_on = from_then_on;
    net_run(net, reduce, j);
    unsigned n_calls = net_rank(net, rank)->n_calls;
    for (int r = 1; r < j->n_ranks; r++)
        assert_null(j->result[r]);
    if (j->err[0]) {
        assert_null(j->result[0]);
        assert_int_not_equal(j->error[0].text[0], 0);
    } else { /* what was lost had no data */
        assert_same_bytes(j->result[0], whole);
        pc_profile_free(j->result[0]);
    }
    net_free(net);
    return n_calls;
}

/* Loses the rank at some moments. */
static void lose_at_moments(struct job *j, int rank, unsigned n, const struct pc_profile *whole)
{
    unsigned n_calls = lose_rank(j, rank, 0, false, whole);
    assert_int_equal(j->err[0], PC_OK);
    for (unsigned at = 1; at <= n_calls; at += 1 + n_calls / n) {
        lose_rank(j, rank, at, false, whole);
        lose_rank(j, rank, at, true, whole);
        assert_true(at > 1 || j->err[0]);
    }
}

/* Lost are the last rank, others without ranks below them, and inner ones above 2 to 32 ranks. One
 * that never comes is always missed; later only messages without data can be lost unnoticed. */
static void a_rank_lost_at_any_moment_among_64_holds_up_nobody(void **state)
{
    (void)state;
    static const int lost[] = {63, 1, 2, 20, 40, 48, 32, 0};
    static struct job j;
    make_job(&j, &shapes[0], 64);
    struct pc_profile *whole = merge_in_order(&j);
    for (unsigned i = 0; i < PC_ARRAY_LEN(lost); i++)
        lose_at_moments(&j, lost[i], 6, whole);
    pc_profile_free(whole);
    free_job(&j);
}

/* A rank of five nodes has no profile, or is lost at any moment. */
static void a_rank_lost_in_a_tree_of_nodes_holds_up_nobody(void **state)
{
    (void)state;
    static struct job j;
    uint64_t nodes[MOST_RANKS];
    make_job(&j, &shapes[0], 15);
    number_nodes(ROUND_ROBIN, j.n_ranks, 3, nodes);
    j.nodes = nodes;
    struct pc_profile *whole = merge_in_order(&j);
    for (int rank = 0; rank < j.n_ranks; rank++) {
        lose_at_moments(&j, rank, 9, whole);
        j.missing = rank;
        lose_rank(&j, rank, 0, false, whole);
        assert_int_equal(j.err[0], PC_EMISMATCH);
        j.missing = -1;
    }
    pc_profile_free(whole);
    free_job(&j);
}

static int begin(void **state)
{
    alarm(HANG_S);
    return folder_make(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reduction_equals_sequential_and_offline_merge_to_the_bit),
        cmocka_unit_test(values_get_their_room_by_time_in_the_job_and_after_it),
        cmocka_unit_test(values_that_will_be_dropped_are_not_sent),
        cmocka_unit_test(a_profile_without_room_on_rank_0_is_refused_before_it_is_sent),
        cmocka_unit_test(a_profile_without_room_on_any_rank_is_refused_before_it_is_sent),
        cmocka_unit_test(a_rank_without_profile_is_an_error_on_rank_0_and_holds_up_nobody),
        cmocka_unit_test(a_profile_that_cannot_be_sent_is_an_error_there_and_on_rank_0),
        cmocka_unit_test(every_failing_transfer_is_an_error_on_rank_0),
        cmocka_unit_test(a_rank_lost_at_any_moment_among_64_holds_up_nobody),
        cmocka_unit_test(a_node_sends_one_message_a_step_whatever_its_ranks_are),
        cmocka_unit_test(a_rank_lost_in_a_tree_of_nodes_holds_up_nobody),
    };
    return cmocka_run_group_tests(tests, begin, folder_remove);
}
