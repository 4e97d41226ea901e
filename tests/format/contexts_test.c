/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Contexts that are read from the file in their order are those in memory, with the same records
 * and values, and with what late parts add to them.
 */
#include "format/contexts.h"

#include "tests/format/mend.h"
#include "tests/format/random_profile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <unistd.h>

#include "tests/folder.h"

static struct pc_profile *read_in_order(const char *path, bool with_values)
{
    struct pc_profile *p = NULL;
    struct pc_error e = {""};
    if (pc_pcol_read_contexts(path, with_values, &p, &e) || *e.text)
        fail_msg("%s", e.text);
    return p;
}

/* Compares field k of two records: the statistics, and what is known by rank. */
static void assert_same_field(const struct pc_profile *p, const struct pc_profile_data *a,
                              const struct pc_profile *q, const struct pc_profile_data *b,
                              uint32_t k, bool with_values)
{
    struct pc_stat x = pc_data_stat(p, a, k), y = pc_data_stat(q, b, k);
    assert_true(x.n == y.n && x.sum == y.sum && x.sum_squares == y.sum_squares);
    assert_true(x.min == y.min && x.max == y.max);
    assert_true(x.min_rank == y.min_rank && x.max_rank == y.max_rank);
    struct pc_by_rank v = pc_data_by_rank(p, a, k), w = pc_data_by_rank(q, b, k);
    bool known = with_values || b->ranks;
    assert_int_equal(w.n, known && p->fields[k].combine != PCOLLECT_HIST ? v.n : w.n);
    for (uint32_t r = 0; r < w.n; r++) {
        assert_int_equal(v.ranks[r], w.ranks[r]);
        assert_true(pc_by_rank_value(&v, r) == pc_by_rank_value(&w, r));
    }
}

/* Compares the contexts of q in their order with those of p, and returns their number. */
static unsigned assert_same_contexts(const struct pc_profile *p, const struct pc_profile *q,
                                     bool with_values)
{
    struct pc_contexts a, b;
    pc_contexts_open(&a, p);
    pc_contexts_open(&b, q);
    unsigned n = 0;
    for (; pc_contexts_next(&a); n++) {
        assert_true(pc_contexts_next(&b));
        assert_true(a.i == n && b.i == n && a.level == b.level);
        assert_true(!n || pc_contexts_at(&b, b.level - 1)->kind == p->nodes[a.node->parent].kind);
        assert_true(a.node->parent == b.node->parent && a.node->flags == b.node->flags);
        assert_true(!pc_node_compare(a.node, b.node) && !a.data == !b.data);
        if (!a.data)
            continue;
        assert_true(a.data->n_ranks == b.data->n_ranks && a.data->kept == b.data->kept &&
                    a.data->first_rank == b.data->first_rank);
        for (uint32_t k = a.data->first_field; k < p->n_fields; k++)
            assert_same_field(p, a.data, q, b.data, k, with_values);
    }
    assert_false(pc_contexts_next(&b));
    assert_int_equal(pc_contexts_close(&a), PC_OK);
    assert_int_equal(pc_contexts_close(&b), PC_OK);
    assert_true(!pc_profile_unread(p) == !pc_profile_unread(q));
    return n;
}

/* Late parts are added to records without values by rank, and come without rows. */
static void contexts_in_their_order_are_those_in_memory(void **state)
{
    (void)state;
    unsigned n_left[2] = {0, 0}, n_all = 0, n_values = 0;
    for (unsigned s = 0; s < 2 * n_shapes; s++) {
        char path[PATH_BYTES];
        struct shape shape = shapes[s / 2];
        shape.per_rank = s % 2 ? 1 : shape.per_rank;
        struct late_job j = make_late_job(&shape, 3, 2);
        for (uint32_t t = 0; t < j.late[1]->n_tables; t++)
            j.late[1]->tables[t].n_rows = 0;
        path_in(path, "contexts.pcol");
        assert_int_equal(pc_pcol_write(j.main, path, PC_PCOL_LATE_SLOTS, NULL), PC_OK);
        for (int late = 0; late < 2; late++) {
            struct pc_profile *p = must_read(path);
            for (int with_values = 0; with_values < 2; with_values++) {
                struct pc_profile *q = read_in_order(path, with_values);
                n_all += assert_same_contexts(p, q, with_values);
                if (with_values)
                    assert_int_equal(pc_profile_check_values(q, NULL), PC_OK);
                n_left[late] += q->later_contexts && q->n_nodes == 1;
                n_values += q->later_contexts ? q->n_data : 0;
                assert_true(late || q->later_contexts);
                pc_profile_free(q);
            }
            pc_profile_free(p);
            assert_int_equal(pc_pcol_write_late(path, j.late[1], true, NULL), PC_OK);
        }
        unlink(path);
        free_late_job(&j);
    }
    assert_true(n_all > 1000 && n_values > 100 && n_left[0] == 4 * n_shapes && n_left[1] > 4);
}

/* Wrong bytes of contexts and records that have a right checksum are refused, or are contexts that
 * may be. */
static void wrong_contexts_never_crash(void **state)
{
    (void)state;
    char path[PATH_BYTES];
    size_t n;
    struct late_job j = make_late_job(&shapes[7], 3, 2);
    path_in(path, "wrong.pcol");
    assert_int_equal(pc_pcol_write(j.main, path, 0, NULL), PC_OK);
    uint8_t *data = slurp(path, &n), *copy = malloc(n);
    assert_non_null(copy);
    unsigned n_refused = 0, n_read = 0;
    for (size_t at = 0; at < n; at += 3) {
        struct pc_profile *whole = NULL, *q = NULL;
        struct pc_error e = {""};
        data[at] ^= (uint8_t)(1 + at % 255);
        memcpy(copy, data, n);
        mend_checksums(copy, n);
        spit(path, copy, n);
        int err = pc_pcol_read_columns(path, &whole, NULL);
        assert_true(!pc_pcol_read_contexts(path, true, &q, &e) == !err && (!err || *e.text));
        n_refused += err != 0;
        n_read += !err;
        if (!err)
            assert_same_contexts(whole, q, true);
        pc_profile_free(whole);
        pc_profile_free(q);
        data[at] ^= (uint8_t)(1 + at % 255);
    }
    assert_true(n_refused > 100 && n_read > 10);
    free(copy);
    free(data);
    unlink(path);
    free_late_job(&j);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contexts_in_their_order_are_those_in_memory),
        cmocka_unit_test(wrong_contexts_never_crash),
    };
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
