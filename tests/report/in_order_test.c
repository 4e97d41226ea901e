/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Totals of contexts that are left in the file are those of contexts in memory.
 */
#include "sample.h"

#include "analysis/open_calls.h"
#include "analysis/tree/totals.h"
#include "format/contexts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "tests/folder.h"

enum { FINALIZE, INIT, INIT_THREAD, SEND, N_OPS };
enum { RANKS = 3, KEPT_RANKS = 2 };

static struct sample sample;

/* Adds calls of the first n ranks to the last context, each longer than the one before. */
static void add_calls(uint32_t n, uint64_t ns)
{
    for (int32_t r = 0; r < (int32_t)n; r++, ns += 3)
        sample_add(&sample, &(struct sample_calls){r, 2, ns, ns / 4, ns / 2, 10 + ns, 20 + ns});
}

/* Takes the values by rank from records that have too many of them. */
static void bound_records(void)
{
    sample.p.per_rank = KEPT_RANKS;
    for (uint32_t i = 0; i < sample.p.n_data; i++) {
        struct pc_profile_data *d = &sample.data[i];
        if (d->n_ranks <= KEPT_RANKS)
            continue;
        d->kept = PC_KEPT_NONE;
        d->ranks = NULL;
        d->values = NULL;
    }
}

static void make_run(bool nested)
{
    static const char *const names[N_OPS] = {"MPI_Finalize", "MPI_Init", "MPI_Init_thread",
                                             "MPI_Send"};
    sample_begin(&sample);
    sample.p.n_ops = N_OPS;
    sample.p.n_modules = 1;
    sample.p.n_ranks = sample.p.world_size = RANKS;
    sample.modules[0] = (struct pc_profile_module){.path = (char *)"/app", .identity = 1};
    for (uint32_t op = 0; op < N_OPS; op++)
        sample.ops[op] = (struct pc_profile_op){(char *)names[op], PCOLLECT_CLASS_P2P};
    for (int32_t r = 0; r < RANKS; r++)
        sample.ranks[r] = (struct pc_profile_rank){
            .rank = r, .host = (char *)"", .inside_ns = 5000, .mpi_ns = 1000, .n_threads = 1};
    for (uint32_t i = 0; i < 2 * N_OPS; i++) {
        sample_op(&sample, sample_frame(&sample, 0, 0, 0x1000 + i), i % N_OPS);
        add_calls(1 + i % RANKS, 100 * (1 + i));
    }
    uint32_t send = sample.p.n_nodes - 1, part = sample_op(&sample, send, PC_NO_INDEX);
    sample.nodes[part].kind = PCOLLECT_NODE_DOMAIN;
    sample.nodes[part].offset = 7;
    add_calls(KEPT_RANKS, 50);
    if (nested) {
        sample_op(&sample, sample_frame(&sample, 0, 0, 0x2000), SEND);
        add_calls(KEPT_RANKS, 500);
        sample_op(&sample, sample_frame(&sample, sample.p.n_nodes - 1, 0, 0x3000), SEND);
        add_calls(1, 5);
    }
    sample_end(&sample);
    bound_records();
}

static void assert_same_op(const struct pct_totals *m, const struct pct_totals *n, uint32_t op)
{
    const struct pct_op *a = &m->ops[op], *b = &n->ops[op];
    assert_memory_equal(a->calls.sum, b->calls.sum, sizeof a->calls.sum);
    assert_true(a->calls.min_ns == b->calls.min_ns && a->calls.max_ns == b->calls.max_ns);
    assert_true(a->n_contexts == b->n_contexts && a->n_contexts);
    struct pct_spread x = pct_totals_op_time(m, op), y = pct_totals_op_time(n, op);
    assert_true(x.n == y.n && x.min == y.min && x.max == y.max && x.n);
    assert_true(x.min_rank == y.min_rank && x.max_rank == y.max_rank);
    assert_memory_equal(pct_totals_op_values(m, op), pct_totals_op_values(n, op),
                        RANKS * sizeof(uint64_t));
}

static void assert_same_totals(const struct pct_totals *m, const struct pct_totals *n)
{
    const double outside_ns[RANKS] = {3000, 2000, 1000};
    for (uint32_t op = 0; op < N_OPS; op++)
        assert_same_op(m, n, op);
    assert_true(m->context_mpi_ns == n->context_mpi_ns && m->calls_inside == n->calls_inside);
    assert_true(m->init_ns == n->init_ns && m->init_ns > 0);
    assert_true(m->end.all_ns == n->end.all_ns && m->end.own_ns == n->end.own_ns);
    assert_true(m->end.own_ns > 0 && m->end.all_ns > m->end.own_ns);
    double sum_ns = 0;
    for (uint32_t r = 0; r < RANKS; r++) {
        assert_true(m->rank_init_ns[r] == n->rank_init_ns[r]);
        sum_ns += m->rank_init_ns[r];
    }
    assert_true(sum_ns > m->init_ns - 1 && sum_ns < m->init_ns + 1);
    struct pct_wait_times a = pct_totals_wait_times(m, outside_ns, NULL),
                          b = pct_totals_wait_times(n, outside_ns, NULL);
    assert_true(a.known && a.most_ns == b.most_ns && a.longest == b.longest);
    assert_memory_equal(a.op_ns, b.op_ns, N_OPS * sizeof *a.op_ns);
    assert_memory_equal(a.rank_ns, b.rank_ns, RANKS * sizeof *a.rank_ns);
}

/* Some records keep their values by rank, others do not; one is a part of a call. */
static void totals_in_order_are_those_in_memory(void **state)
{
    (void)state;
    char path[PATH_BYTES];
    struct pc_error error = {""};
    struct pc_profile *whole = NULL, *left = NULL;
    make_run(false);
    path_in(path, "run.pcol");
    if (pc_pcol_write(&sample.p, path, 0, &error) || pc_pcol_read_columns(path, &whole, &error) ||
        pc_pcol_read_contexts(path, true, &left, &error))
        fail_msg("%s", error.text);
    assert_true(left->later_contexts && !pc_contexts_are_nested(left));
    struct pct_totals *m = pct_totals_new(whole), *n = pct_totals_new(left);
    assert_same_totals(m, n);
    pct_totals_free(m);
    pct_totals_free(n);
    pc_profile_free(whole);
    pc_profile_free(left);
    unlink(path);
}

/* Such a profile is read as a whole: totals of its contexts in the file would be wrong. */
static void calls_inside_others_are_told(void **state)
{
    (void)state;
    char path[PATH_BYTES];
    struct pc_error error = {""};
    struct pc_profile *left = NULL;
    make_run(true);
    path_in(path, "nested.pcol");
    if (pc_pcol_write(&sample.p, path, 0, &error) ||
        pc_pcol_read_contexts(path, true, &left, &error))
        fail_msg("%s", error.text);
    assert_true(pc_contexts_are_nested(left) && !pct_open_calls_abort(left));
    pc_profile_free(left);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(totals_in_order_are_those_in_memory),
        cmocka_unit_test(calls_inside_others_are_told),
    };
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
