/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/format/random_profile.h"
#include "tests/seed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>

static struct pc_profile *merged(const struct pc_profile *a, const struct pc_profile *b)
{
    struct pc_profile *out = NULL;
    struct pc_error e = {""};
    if (pc_profile_merge(a, b, &out, &e))
        fail_msg("%s", e.text);
    if (pc_profile_check(out, &e))
        fail_msg("%s", e.text);
    return out;
}

static void decoding_gives_back_what_was_encoded(void **state)
{
    (void)state;
    for (unsigned s = 0; s < n_shapes; s++) {
        struct pc_profile *p = random_profile(&shapes[s], 1, 0, 2);
        struct pc_profile *q = random_profile(&shapes[s], 1, 1, 2);
        struct pc_profile *both = merged(p, q), *back;
        uint8_t *data;
        size_t n;
        struct pc_error e = {""};
        assert_int_equal(pc_profile_encode(both, &data, &n), PC_OK);
        if (pc_profile_decode(data, n, &back, &e))
            fail_msg("%s", e.text);
        assert_same_bytes(both, back);
        assert_int_equal(back->n_nodes, both->n_nodes);
        assert_string_equal(back->ranks[1].host, both->ranks[1].host);
        free(data);
        pc_profile_free(p);
        pc_profile_free(q);
        pc_profile_free(both);
        pc_profile_free(back);
    }
}

static void merging_is_commutative_to_the_bit(void **state)
{
    (void)state;
    for (unsigned s = 0; s < n_shapes; s++)
        for (uint64_t seed = 0; seed < 40; seed++) {
            struct pc_profile *a = random_profile(&shapes[s], test_seed(seed), 0, 2);
            struct pc_profile *b = random_profile(&shapes[s], test_seed(seed), 1, 2);
            struct pc_profile *ab = merged(a, b), *ba = merged(b, a);
            assert_same_bytes(ab, ba);
            pc_profile_free(a);
            pc_profile_free(b);
            pc_profile_free(ab);
            pc_profile_free(ba);
        }
}

static void merging_is_associative_to_the_bit(void **state)
{
    (void)state;
    for (unsigned s = 0; s < n_shapes; s++)
        for (uint64_t seed = 0; seed < 40; seed++) {
            struct pc_profile *a = random_profile(&shapes[s], test_seed(seed), 5, 9);
            struct pc_profile *b = random_profile(&shapes[s], test_seed(seed), 0, 9);
            struct pc_profile *c = random_profile(&shapes[s], test_seed(seed), 7, 9);
            struct pc_profile *ab = merged(a, b), *bc = merged(b, c);
            struct pc_profile *left = merged(ab, c), *right = merged(a, bc);
            assert_same_bytes(left, right);
            struct pc_profile *all[] = {a, b, c, ab, bc, left, right};
            for (size_t i = 0; i < PC_ARRAY_LEN(all); i++)
                pc_profile_free(all[i]);
        }
}

static void sum_of_many_ranks_agrees_with_a_table_of_strings(void **state)
{
    (void)state;
    for (unsigned s = 0; s < n_shapes; s++) {
        enum { RANKS = 6 };
        struct fact *all = NULL;
        unsigned n_all = 0;
        struct pc_profile_sum sum = {{NULL}};
        for (int rank = RANKS - 1; rank >= 0; rank--) {
            unsigned n;
            struct fact *facts = random_facts(&shapes[s], 99, rank, &n);
            all = realloc(all, (n_all + n + 1) * sizeof *all);
            memcpy(all + n_all, facts, n * sizeof *all);
            n_all += n;
            struct pc_profile *p = profile_of(&shapes[s], facts, n, rank, RANKS);
            assert_int_equal(pc_profile_sum_add(&sum, p, NULL), PC_OK);
            free(facts);
        }
        struct pc_profile *p;
        assert_int_equal(pc_profile_sum_finish(&sum, &p, NULL), PC_OK);
        assert_int_equal(p->n_ranks, RANKS);
        assert_profile_tells(p, all, n_all);
        assert_string_equal(p->exe, "/bin/a");
        assert_string_equal(p->modules[0].path, "/node0/lib0.so");
        assert_int_equal(p->modules[0].flags, 7);
        free(all);
        pc_profile_free(p);
    }
}

static void profiles_that_do_not_belong_together_are_refused(void **state)
{
    (void)state;
    struct pc_profile *a = random_profile(&shapes[1], 1, 0, 4);
    struct pc_profile *b = random_profile(&shapes[1], 1, 1, 4), *out = NULL;
    struct pc_error e;
    assert_int_equal(pc_profile_merge(a, a, &out, &e), PC_EMISMATCH);
    assert_non_null(strstr(e.text, "rank 0 is in both"));
    b->job_key++;
    assert_int_equal(pc_profile_merge(a, b, &out, &e), PC_EMISMATCH);
    assert_non_null(strstr(e.text, "different jobs"));
    b->job_key--;
    b->world_size++;
    assert_int_equal(pc_profile_merge(a, b, &out, &e), PC_EMISMATCH);
    assert_non_null(strstr(e.text, "different size"));
    b->world_size--;
    b->fields[2].unit = PCOLLECT_UNIT_BYTES;
    assert_int_equal(pc_profile_merge(a, b, &out, &e), PC_EMISMATCH);
    assert_non_null(strstr(e.text, "field 'max' of plugin 'time'"));
    assert_false(pc_fields_agree(a, b));
    assert_null(out);
    pc_profile_free(a);
    pc_profile_free(b);
}

/* The late part of a rank, merged into its profile, gives the same as if all had been in one
 * part. */
static void overlay_adds_records_of_the_same_rank(void **state)
{
    (void)state;
    for (unsigned s = 0; s < n_shapes; s++)
        for (uint64_t seed = 0; seed < 20; seed++) {
            unsigned n;
            struct shape kept = shapes[s], *shape = &kept;
            kept.per_rank = 0;
            struct fact *facts = random_facts(shape, test_seed(seed), 1, &n);
            struct pc_profile *early = profile_of(shape, facts, n / 2, 1, 2);
            struct pc_profile *late = profile_of(shape, facts + n / 2, n - n / 2, 1, 2);
            struct pc_profile *whole = profile_of(shape, facts, n, 1, 2), *both, *with_0, *out;
            struct pc_profile *other = random_profile(shape, test_seed(seed), 0, 2);
            both = overlaid(early, late);
            assert_same_bytes(both, whole);
            with_0 = merged(other, early);
            pc_profile_free(both);
            both = merged(other, whole);
            out = overlaid(with_0, late);
            assert_int_equal(pc_profile_check(out, NULL), PC_OK);
            assert_same_bytes(out, both);
            struct pc_profile *all[] = {early, late, whole, both, with_0, out, other};
            for (size_t i = 0; i < PC_ARRAY_LEN(all); i++)
                pc_profile_free(all[i]);
            free(facts);
        }
}

/* Contexts stay where they are if a late part has none of its own, and so do records that it does
 * not have. */
static void what_is_laid_over_stays_where_it_is(void **state)
{
    (void)state;
    unsigned n_stayed = 0;
    for (unsigned s = 0; s < n_shapes; s++) {
        struct pc_profile *rank = random_profile(&shapes[s], test_seed(1), 1, 2);
        struct pc_profile *other = random_profile(&shapes[s], test_seed(1), 0, 2);
        struct pc_profile *late = random_profile(&shapes[s], test_seed(2), 1, 2);
        struct pc_profile *p = merged(other, rank);
        const struct pc_profile_node *nodes = p->nodes;
        const struct pc_stat *stats = p->n_data ? p->data[0].stats : NULL;
        uint32_t n_fields = p->n_fields;
        late->n_nodes = 1; /* the root */
        late->n_data = late->n_tables = 0;
        assert_int_equal(pc_profile_overlay(&p, late, NULL), PC_OK);
        assert_int_equal(pc_profile_check(p, NULL), PC_OK);
        assert_ptr_equal(p->nodes, nodes);
        if (p->n_data && p->n_fields == n_fields) {
            assert_ptr_equal(p->data[0].stats, stats);
            n_stayed++;
        }
        struct pc_profile *all[] = {rank, other, late, p};
        for (size_t i = 0; i < PC_ARRAY_LEN(all); i++)
            pc_profile_free(all[i]);
    }
    assert_true(n_stayed > 0);
}

/* If values by rank are not kept, late calls are nevertheless added to the sums. */
static void overlay_over_statistics_keeps_sums_exact(void **state)
{
    (void)state;
    for (unsigned s = 0; s < n_shapes; s++)
        for (uint64_t seed = 0; seed < 10; seed++) {
            unsigned n;
            struct shape shape = shapes[s];
            shape.per_rank = 1;
            struct fact *facts = random_facts(&shape, test_seed(seed), 1, &n);
            struct pc_profile *early = profile_of(&shape, facts, n / 2, 1, 2), *out;
            struct pc_profile *late = profile_of(&shape, facts + n / 2, n - n / 2, 1, 2);
            struct pc_profile *whole = profile_of(&shape, facts, n, 1, 2);
            struct pc_profile *other = random_profile(&shape, test_seed(seed), 0, 2);
            struct pc_profile *with_0 = merged(other, early), *both = merged(other, whole);
            out = overlaid(with_0, late);
            assert_int_equal(pc_profile_check(out, NULL), PC_OK);
            assert_int_equal(out->n_nodes, both->n_nodes);
            for (uint32_t i = 0; i < out->n_data; i++)
                for (uint32_t k = 0; k < out->n_fields - out->data[i].first_field; k++) {
                    bool adds = out->fields[k + out->data[i].first_field].combine == PCOLLECT_SUM;
                    assert_true(!adds || out->data[i].stats[k].sum == both->data[i].stats[k].sum);
                    assert_true(out->data[i].n_ranks <= both->data[i].n_ranks);
                    assert_true(!out->data[i].bins[k] ||
                                !memcmp(out->data[i].bins[k], both->data[i].bins[k],
                                        TEST_BINS * sizeof **out->data[i].bins));
                }
            struct pc_profile *all[] = {early, late, whole, both, with_0, out, other};
            for (size_t i = 0; i < PC_ARRAY_LEN(all); i++)
                pc_profile_free(all[i]);
            free(facts);
        }
}

static void overlay_replaces_what_is_known_of_the_rank(void **state)
{
    (void)state;
    struct pc_profile *a = random_profile(&shapes[1], 1, 0, 1), *out;
    struct pc_profile *b = random_profile(&shapes[1], 2, 0, 1);
    static char empty[1];
    b->ranks[0] = (struct pc_profile_rank){
        .rank = 0, .host = empty, .inside_ns = 77, .after_ns = 5, .closed = 1};
    uint64_t lost_a[PCOLLECT_N_LOST] = {[3] = 4, [4] = 2}, lost_b[PCOLLECT_N_LOST] = {[3] = 9};
    a->ranks[0].lost = lost_a;
    b->ranks[0].lost = lost_b;
    a->ranks[0].notes = PCOLLECT_NOTE_DAMAGED; /* known to the main part alone */
    b->ranks[0].notes = PCOLLECT_NOTE_ANONYMOUS;
    out = overlaid(a, b);
    const struct pc_profile_rank *r = &out->ranks[0];
    assert_int_equal(r->inside_ns, 77);
    assert_int_equal(r->after_ns, 5);
    assert_int_equal(r->closed, 1);
    assert_true(r->before_init_ns == a->ranks[0].before_init_ns);
    assert_string_equal(r->host, "node0");
    assert_int_equal(r->lost[3], 9);
    assert_int_equal(r->lost[4], 2);
    assert_int_equal(r->notes, PCOLLECT_NOTE_DAMAGED | PCOLLECT_NOTE_ANONYMOUS);
    pc_profile_free(a);
    pc_profile_free(b);
    pc_profile_free(out);
}

/* Each row breaks one invariant of a good profile. */
static void break_rank_order(struct pc_profile *p)
{
    p->ranks[1].rank = p->ranks[0].rank;
}
static void break_world(struct pc_profile *p)
{
    p->world_size = 1;
}
static void break_module_order(struct pc_profile *p)
{
    p->modules[1] = p->modules[0];
}
static void break_op_order(struct pc_profile *p)
{
    p->ops[1] = p->ops[0];
}
static void break_field_order(struct pc_profile *p)
{
    p->fields[3] = p->fields[2];
}
static void break_field_kind(struct pc_profile *p)
{
    p->fields[1].bins = 65;
}
static void break_root(struct pc_profile *p)
{
    p->nodes[0].kind = PCOLLECT_NODE_FRAME;
}
static void break_parent(struct pc_profile *p)
{
    p->nodes[p->n_nodes - 1].parent = p->n_nodes - 1;
}
static void break_descendants(struct pc_profile *p)
{
    p->nodes[0].n_descendants++;
}
static void break_reference(struct pc_profile *p)
{
    for (uint32_t i = 0; i < p->n_nodes; i++)
        if (p->nodes[i].kind == PCOLLECT_NODE_OP)
            p->nodes[i].op = p->n_ops;
}
static void break_data_order(struct pc_profile *p)
{
    for (uint32_t i = 0; i < p->n_nodes; i++)
        if (p->nodes[i].data != PC_NO_INDEX)
            p->nodes[i].data ^= 1;
}
static void break_statistics(struct pc_profile *p)
{
    p->data[0].stats[0].sum++;
}
static void break_list(struct pc_profile *p)
{
    p->data[0].ranks[0] = 4;
}

static void check_finds_every_broken_invariant(void **state)
{
    (void)state;
    static void (*const breaks[])(struct pc_profile *) = {
        break_rank_order,  break_world,      break_module_order, break_op_order,
        break_field_order, break_field_kind, break_root,         break_parent,
        break_descendants, break_reference,  break_data_order,   break_statistics,
        break_list};
    for (size_t i = 0; i < PC_ARRAY_LEN(breaks); i++) {
        struct pc_profile *a = random_profile(&shapes[1], 3, 0, 2);
        struct pc_profile *b = random_profile(&shapes[1], 3, 1, 2), *p = merged(a, b);
        assert_true(p->n_data > 1);
        breaks[i](p);
        struct pc_error e = {""};
        if (pc_profile_check(p, &e) != PC_EFORMAT || !*e.text)
            fail_msg("break %zu was not found", i);
        pc_profile_free(a);
        pc_profile_free(b);
        pc_profile_free(p);
    }
}

static void varints_hold_every_number(void **state)
{
    (void)state;
    struct pc_buffer b = {0};
    struct rng r = {5};
    uint64_t values[400];
    for (unsigned i = 0; i < PC_ARRAY_LEN(values); i++) {
        values[i] = i < 2 ? UINT64_MAX * i : rng_next(&r) >> rng_below(&r, 64);
        pc_put_varint(&b, values[i]);
        pc_put_varint(&b, pc_zigzag(values[i]));
    }
    struct pc_cursor c = pc_cursor_over(b.data, b.n);
    for (unsigned i = 0; i < PC_ARRAY_LEN(values); i++) {
        assert_true(pc_get_varint(&c) == values[i]);
        assert_true(pc_unzigzag(pc_get_varint(&c)) == values[i]);
    }
    assert_false(c.failed);
    assert_ptr_equal(c.at, c.end);
    assert_int_equal(pc_get_varint(&c), 0);
    assert_true(c.failed);
    static const uint8_t long_one[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2};
    c = pc_cursor_over(long_one, sizeof long_one);
    assert_int_equal(pc_get_varint(&c), 0);
    assert_true(c.failed);
    free(b.data);
}

static void every_count_of_what_was_left_out_has_a_name(void **state)
{
    (void)state;
    for (unsigned i = 0; i < PCOLLECT_N_LOST; i++)
        assert_non_null(pcollect_lost_names[i]);
}

/* In a large job most ranks have lost nothing, and each host has many. */
static void ranks_take_what_they_need(void **state)
{
    (void)state;
    enum { N = 64, PER_HOST = 16, LOSER = 21 };
    assert_int_equal(sizeof(struct pc_profile_rank), 112);
    struct pc_profile_sum all = {{NULL}};
    struct pc_profile *sum, *read;
    uint8_t *data;
    size_t n;
    for (int rank = 0; rank < N; rank++) {
        struct pc_profile *p = random_profile(&shapes[1], 1, rank, N);
        char host[16];
        snprintf(host, sizeof host, "node%d", rank / PER_HOST);
        p->ranks->host = pc_pool_text(p->memory, host, strlen(host));
        uint64_t lost[PCOLLECT_N_LOST] = {[PCOLLECT_LOST_CUT] = rank == LOSER};
        assert_true(pc_losses_copy(p->memory, lost, &p->ranks->lost));
        assert_int_equal(pc_profile_sum_add(&all, p, NULL), PC_OK);
    }
    assert_int_equal(pc_profile_sum_finish(&all, &sum, NULL), PC_OK);
    assert_int_equal(pc_profile_encode(sum, &data, &n), PC_OK);
    assert_int_equal(pc_profile_decode(data, n, &read, NULL), PC_OK);
    for (unsigned i = 0; i < 2; i++) {
        const struct pc_profile *p = i ? read : sum;
        assert_int_equal(p->n_ranks, N);
        for (uint32_t r = 0; r < N; r++) {
            assert_true((p->ranks[r].lost != NULL) == (r == LOSER));
            assert_int_equal(pc_rank_lost(&p->ranks[r], PCOLLECT_LOST_CUT), r == LOSER);
            assert_true(r % PER_HOST == 0 || p->ranks[r].host == p->ranks[r - 1].host);
        }
    }
    free(data);
    pc_profile_free(read);
    pc_profile_free(sum);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decoding_gives_back_what_was_encoded),
        cmocka_unit_test(merging_is_commutative_to_the_bit),
        cmocka_unit_test(merging_is_associative_to_the_bit),
        cmocka_unit_test(sum_of_many_ranks_agrees_with_a_table_of_strings),
        cmocka_unit_test(ranks_take_what_they_need),
        cmocka_unit_test(profiles_that_do_not_belong_together_are_refused),
        cmocka_unit_test(overlay_adds_records_of_the_same_rank),
        cmocka_unit_test(what_is_laid_over_stays_where_it_is),
        cmocka_unit_test(overlay_over_statistics_keeps_sums_exact),
        cmocka_unit_test(overlay_replaces_what_is_known_of_the_rank),
        cmocka_unit_test(check_finds_every_broken_invariant),
        cmocka_unit_test(varints_hold_every_number),
        cmocka_unit_test(every_count_of_what_was_left_out_has_a_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
