/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The profile of one rank from its arena, compared with a table of path strings made of the same
 * facts.
 */
#include "tests/merge/made_arena.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>

#define SEEDS 6

static struct pc_profile *read_part(const struct made *m, enum pc_merge_part part)
{
    struct pc_profile *p = NULL;
    struct pc_error error;
    int err = pc_merge_arena(m->arena.base, m->arena.header->used_bytes, part, &p, &error);
    if (err || error.text[0])
        fail_msg("%d: %s", err, error.text);
    assert_int_equal(pc_profile_check(p, &error), PC_OK);
    return p;
}

static void profile_of_several_threads_agrees_with_a_table_of_strings(void **state)
{
    (void)state;
    for (unsigned s = 0; s < n_shapes; s++)
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            struct made m;
            struct making how = {.rank = (int)seed % 3,
                                 .n_ranks = 3,
                                 .seed = seed * 31,
                                 .lacks_volume = shapes[s].lacks_volume && seed % 3 % 2,
                                 .all_kinds = shapes[s].all_kinds,
                                 .tables = shapes[s].tables,
                                 .per_rank = shapes[s].per_rank};
            unsigned n;
            struct fact *facts = random_facts(&shapes[s], seed, how.rank, &n);
            made_arena(&m, &how, facts, n);
            struct pc_profile *p = read_part(&m, PC_MERGE_MAIN);
            assert_int_equal(m.n_collapsed, 0);
            assert_profile_tells(p, facts, used_facts(facts, n));
            pc_profile_free(p);
            pc_arena_close(&m.arena);
            free(facts);
        }
}

/* Tables and tree equal those of the profile that is made from the facts without an arena. */
static void modules_and_primitives_are_sorted_and_unique(void **state)
{
    (void)state;
    struct made m;
    struct making how = {.rank = 1, .n_ranks = 2, .seed = 5};
    made_arena(&m, &how, NULL, 0);
    struct pc_profile *p = read_part(&m, PC_MERGE_MAIN);
    assert_int_equal(p->n_modules, N_TEST_MODULES);
    for (int i = 0; i < N_TEST_MODULES; i++) {
        struct pc_profile_module want;
        char path[TEST_PATH_BYTES];
        test_module(i, 1, &want, path);
        assert_int_equal(pc_module_compare(&p->modules[i], &want), 0);
        assert_string_equal(p->modules[i].path, path);
        assert_int_equal(p->modules[i].flags, want.flags);
    }
    assert_int_equal(p->n_ops, N_TEST_OPS);
    for (int i = 0; i < N_TEST_OPS; i++)
        assert_string_equal(p->ops[i].name, test_op_names[i]);
    pc_profile_free(p);
    pc_arena_close(&m.arena);
}

static void late_trees_are_a_part_of_their_own(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct made m;
        struct making how = {.n_ranks = 1, .seed = seed};
        unsigned n_main, n_late;
        struct fact *facts = random_facts(&shapes[1], seed, 0, &n_main);
        struct fact *late = random_facts(&shapes[2], seed + 100, 0, &n_late);
        made_arena(&m, &how, facts, n_main);
        made_book_late(&m, &how, late, n_late);
        struct pc_profile *p = read_part(&m, PC_MERGE_MAIN);
        n_main = used_facts(facts, n_main);
        n_late = used_facts(late, n_late);
        assert_profile_tells(p, facts, n_main);
        pc_profile_free(p);
        facts = realloc(facts, (n_main + n_late + 1) * sizeof *facts);
        memcpy(facts + n_main, late, n_late * sizeof *facts);
        p = read_part(&m, PC_MERGE_ALL);
        assert_profile_tells(p, facts, n_main + n_late);
        pc_profile_free(p);
        pc_arena_close(&m.arena);
        free(facts);
        free(late);
    }
}

/* Renumbered tables: facts use modules 3 and 5 alone, so they become 0 and 1. */
/* A row made after the merge names a context of before it, as for a request that completes late. */
static void late_rows_may_name_earlier_contexts(void **state)
{
    (void)state;
    struct made m;
    struct making how = {.n_ranks = 1, .seed = 4, .tables = true};
    struct fact fact = {
        .depth = 2, .frames = {{0, 5}, {1, 7}}, .op = 3, .has_data = true, .values = {1}};
    made_arena(&m, &how, &fact, 1);
    made_book_late(&m, &how, NULL, 0);
    pcollect_ref node = 0;
    for (unsigned i = 0; i < MADE_THREADS && !node; i++) { /* one thread has it */
        node = pc_tree_node(m.trees[i], m.trees[i]->root)->first_child;
        while (node && pc_tree_node(m.trees[i], node)->first_child)
            node = pc_tree_node(m.trees[i], node)->first_child;
    }
    const uint64_t keys[] = {2, node, 0};
    uint64_t *row = pc_tree_row(m.late, m.tables[0], 3, 4, keys);
    assert_non_null(row);
    row[0] = 9;
    struct pc_profile *p = read_part(&m, PC_MERGE_LATE);
    const struct pc_profile_table *t = pc_profile_table(p, "pairs");
    assert_non_null(t);
    assert_int_equal(t->n_rows, 1);
    assert_int_equal(t->cells[3], 9);
    const struct pc_profile_node *n = &p->nodes[t->cells[1]];
    assert_int_equal(n->kind, PCOLLECT_NODE_OP);
    assert_int_equal(p->n_nodes, 4);
    assert_int_equal(p->nodes[n->parent].offset, 7);
    assert_int_equal(n->data, PC_NO_INDEX); /* its record is the main part's */
    pc_profile_free(p);
    pc_arena_close(&m.arena);
}

static void late_part_has_only_the_tables_that_it_needs(void **state)
{
    (void)state;
    struct made m;
    struct making how = {.n_ranks = 1, .seed = 3};
    struct fact facts[2] = {
        {.depth = 2, .frames = {{3, 77}, {5, 99}}, .op = 5, .has_data = true, .values = {1}},
        {.depth = 1, .frames = {{5, 11}}, .op = 2, .has_data = true, .values = {4}}};
    made_arena(&m, &how, NULL, 0);
    made_book_late(&m, &how, facts, 2);
    struct pc_profile *p = read_part(&m, PC_MERGE_LATE);
    assert_int_equal(p->n_modules, 2);
    assert_int_equal(p->n_ops, 2);
    assert_string_equal(p->modules[0].path, "/node0/lib3.so");
    assert_string_equal(p->modules[1].path, "/opt/app5");
    assert_string_equal(p->ops[0].name, test_op_names[2]);
    assert_string_equal(p->ops[1].name, test_op_names[5]);
    assert_string_equal(p->exe, "");
    assert_int_equal(p->n_nodes, 6);
    assert_int_equal(p->nodes[1].module, 0);
    assert_int_equal(p->nodes[1].offset, 77);
    assert_int_equal(p->nodes[4].module, 1);
    assert_int_equal(p->nodes[4].offset, 11);
    pc_profile_free(p);
    pc_arena_close(&m.arena);
}

static void unused_records_and_empty_branches_are_left_out(void **state)
{
    (void)state;
    struct made m;
    struct making how = {.n_ranks = 1, .seed = 9};
    struct fact facts[4] = {
        {.depth = 2, .frames = {{1, 1}, {1, 2}}, .op = -1},
        {.depth = 2, .frames = {{1, 1}, {1, 3}}, .op = 4, .has_data = true}, /* all zero */
        {.depth = 1, .frames = {{2, 1}}, .op = 3, .has_data = true, .values = {1}},
        {.depth = 1, .frames = {{2, 1}}, .op = 1, .has_data = false},
    };
    made_arena(&m, &how, facts, 4);
    struct pc_profile *p = read_part(&m, PC_MERGE_MAIN);
    assert_int_equal(p->n_nodes, 3);
    assert_int_equal(p->n_data, 1);
    assert_int_equal(p->nodes[2].op, 3);
    pc_profile_free(p);
    pc_arena_close(&m.arena);
}

/* ---- Collapsing ----------------------------------------------------------------------------- */

static uint64_t sum_of(const struct pc_profile *p, unsigned field, uint32_t op)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < p->n_nodes; i++)
        if (p->nodes[i].op == op && p->nodes[i].data != PC_NO_INDEX)
            sum += (uint64_t)pc_data_stat(p, &p->data[p->nodes[i].data], field).sum;
    return sum;
}

static void full_arena_keeps_totals_and_marks_where_they_went(void **state)
{
    (void)state;
    static const struct shape wide = {"wide", 6000, 6, 100000, false, 1000, false, false, 0};
    struct made m;
    struct making how = {.n_ranks = 1, .seed = 11, .bytes = PC_ARENA_MIN_BYTES};
    uint64_t calls[N_TEST_OPS] = {0}, bytes[N_TEST_OPS] = {0}, counted = 0, in_bins = 0;
    unsigned n, n_flagged = 0;
    struct fact *facts = random_facts(&wide, 5, 0, &n);
    made_arena(&m, &how, facts, n);
    assert_true(m.n_collapsed > 100);
    n = used_facts(facts, n);
    for (unsigned i = 0; i < n; i++) {
        calls[facts[i].op] += facts[i].values[0];
        bytes[facts[i].op] += facts[i].values[5];
        for (unsigned bin = 0; bin < TEST_BINS; bin++)
            counted += facts[i].bins[bin];
    }
    struct pc_profile *p = read_part(&m, PC_MERGE_MAIN);
    for (uint32_t op = 0; op < N_TEST_OPS; op++) {
        assert_int_equal(sum_of(p, 0, op), calls[op]);
        assert_int_equal(sum_of(p, 5, op), bytes[op]);
    }
    for (uint32_t i = 0; i < p->n_data; i++)
        for (unsigned bin = 0; bin < TEST_BINS; bin++)
            in_bins += pc_data_bins(p, &p->data[i], 1)[bin];
    assert_int_equal(in_bins + pc_rank_lost(&p->ranks[0], PCOLLECT_LOST_BINS), counted);
    for (uint32_t i = 0; i < p->n_nodes; i++)
        n_flagged += p->nodes[i].flags & PCOLLECT_FLAG_COLLAPSED;
    assert_in_range(n_flagged, 1, N_TEST_OPS * MADE_THREADS * 50);
    pc_profile_free(p);
    pc_arena_close(&m.arena);
    free(facts);
}

/* ---- Clock ---------------------------------------------------------------------------------- */

static const struct clock_case {
    const char *name;
    uint64_t ticks, mono_ns; /* between the two points */
    uint64_t sum[2];         /* of two threads, in ticks */
    uint64_t ns;             /* of their sum, from exact arithmetic: floor(sum * mono / ticks) */
} clock_cases[] = {
    {"one to one", 1000, 1000, {3, 4}, 7},
    {"not measured", 0, 0, {3, 4}, 7},
    {"clock went back", 1000, 0, {3, 4}, 7},
    {"threads are added before rounding", 2, 1, {1, 1}, 1},
    {"rounded down", 3, 2, {1, 1}, 1},
    {"2.45 GHz for an hour", 8820000000000, 3600000000000, {8820000000000, 1}, 3600000000000},
    {"3 GHz, 10 s, a product of 73 bits",
     30000000000,
     10000000001,
     {600000000007, 0},
     200000000022},
    {"more than 64 bits between",
     999999999989,
     1000000000039,
     {1ull << 62, 1ull << 62},
     9223372037315944409ull},
};

static void ticks_become_nanoseconds_exactly(void **state)
{
    (void)state;
    for (unsigned c = 0; c < PC_ARRAY_LEN(clock_cases); c++) {
        const struct clock_case *k = &clock_cases[c];
        struct made m;
        struct making how = {.n_ranks = 1, .seed = c};
        struct fact fact = {.depth = 1, .frames = {{1, 1}}, .op = 0, .has_data = true};
        made_open(&m, &how);
        struct pcollect_arena_header *h = m.arena.header;
        h->ticks_1 = h->ticks_0 + k->ticks;
        h->mono_1_ns = h->mono_0_ns + k->mono_ns;
        for (int i = 0; i < 2; i++) { /* fields: 2 max, 3 min, 4 total, all in ticks; 5 in bytes */
            struct making other = how;
            while (pc_hash_u64(other.seed) % MADE_THREADS != (unsigned)i)
                other.seed++;
            fact.values[4] = fact.values[5] = k->sum[i];
            fact.values[2] = fact.values[3] = k->sum[i];
            made_book(&m, &other, &fact, 1);
            pc_tree_thread(m.trees[i])->mpi_ticks = k->sum[i];
        }
        struct pc_profile *p = read_part(&m, PC_MERGE_MAIN);
        const uint64_t *v = p->data[0].values;
        if (v[4] != k->ns || p->ranks->mpi_ns != k->ns)
            fail_msg("%s: %lu and %lu, wanted %lu", k->name, (unsigned long)v[4],
                     (unsigned long)p->ranks->mpi_ns, (unsigned long)k->ns);
        assert_true(v[5] == k->sum[0] + k->sum[1]);
        assert_true(v[2] >= v[3]);
        pc_profile_free(p);
        pc_arena_close(&m.arena);
    }
}

static void minimum_of_none_is_none(void **state)
{
    (void)state;
    struct made m;
    struct making how = {.n_ranks = 1, .seed = 1};
    struct fact facts[3] = {
        {.depth = 1, .frames = {{1, 1}}, .op = 0, .has_data = true, .values = {1}},
        {.depth = 1, .frames = {{1, 1}}, .op = 1, .has_data = true, .values = {1, 0, 0, 9}},
        {.depth = 1, .frames = {{1, 1}}, .op = 1, .has_data = true, .values = {1}}};
    made_open(&m, &how);
    for (unsigned i = 0; i < 12; i++) { /* in every order, so in every thread */
        how.seed = i;
        made_book(&m, &how, &facts[i % 3], 1);
    }
    struct pc_profile *p = read_part(&m, PC_MERGE_MAIN);
    assert_int_equal(p->n_data, 2);
    assert_int_equal(pc_data_stat(p, &p->data[0], 3).n, 0);
    assert_int_equal(pc_data_stat(p, &p->data[0], 3).min, 0);
    assert_int_equal(pc_data_stat(p, &p->data[1], 3).n, 1);
    assert_int_equal(pc_data_stat(p, &p->data[1], 3).min, 9);
    pc_profile_free(p);
    pc_arena_close(&m.arena);
}

/* ---- The rank -------------------------------------------------------------------------------- */

/* An arena whose clock has two ticks a nanosecond, from tick 2 on. */
static struct pcollect_arena_header *make_clocked(struct made *m, unsigned seed)
{
    struct making how = {.n_ranks = 1, .seed = seed};
    made_arena(m, &how, NULL, 0);
    struct pcollect_arena_header *h = m->arena.header;
    h->ticks_0 = 2;
    h->ticks_1 = 4;
    h->mono_1_ns = h->mono_0_ns + 1;
    return h;
}

static void spans_add_up(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint64_t start, init, finalize_end, exit, last; /* ticks, after point 0 */
        uint64_t before, inside, after;                 /* ns: half of the ticks */
        bool closed;
    } cases[] = {
        {"to the end", 10, 110, 1110, 1310, 0, 50, 500, 100, true},
        {"killed while running", 10, 110, 0, 0, 2110, 50, 1000, 0, false},
        {"exit without finalize", 10, 110, 0, 1110, 900, 50, 500, 0, true},
        {"killed after finalize", 10, 110, 1110, 0, 1200, 50, 500, 0, false},
        {"never came to init", 10, 0, 0, 510, 0, 250, 0, 0, true},
        {"nothing known", 0, 0, 0, 0, 0, 0, 0, 0, false},
    };
    for (unsigned c = 0; c < PC_ARRAY_LEN(cases); c++) {
        struct made m;
        struct pcollect_arena_header *h = make_clocked(&m, c);
        h->start_ticks = cases[c].start;
        h->init_begin_ticks = cases[c].init;
        h->finalize_end_ticks = cases[c].finalize_end;
        h->exit_ticks = cases[c].exit;
        pc_tree_thread(m.trees[1])->end_ticks = cases[c].last;
        struct pc_profile *p = read_part(&m, PC_MERGE_ALL);
        const struct pc_profile_rank *r = p->ranks;
        if (r->before_init_ns != cases[c].before || r->inside_ns != cases[c].inside ||
            r->after_ns != cases[c].after || r->closed != cases[c].closed)
            fail_msg("%s: %lu %lu %lu", cases[c].name, (unsigned long)r->before_init_ns,
                     (unsigned long)r->inside_ns, (unsigned long)r->after_ns);
        assert_int_equal(r->n_threads, MADE_THREADS + 1); /* one tree had two threads */
        pc_profile_free(p);
        pc_arena_close(&m.arena);
    }
}

/* The time since its begin counts where all data is read, and not in the merge of a job that ends;
 * a call that began before the last end has ended. */
static void calls_in_progress_are_time_in_mpi(void **state)
{
    (void)state;
    static const struct {
        uint64_t open, end, seen, want; /* ticks, after point 0; ns */
        enum pc_merge_part part;
    } cases[] = {
        {1000, 500, 3000, 1000, PC_MERGE_ALL},
        {1000, 500, 3000, 0, PC_MERGE_MAIN},
        {1000, 1200, 3000, 0, PC_MERGE_ALL},
        {1000, 500, 0, 0, PC_MERGE_ALL}, /* nothing is known after its begin */
    };
    for (unsigned c = 0; c < PC_ARRAY_LEN(cases); c++) {
        struct made m;
        struct pcollect_arena_header *h = make_clocked(&m, c);
        h->seen_ticks = cases[c].seen;
        struct pcollect_thread *t = pc_tree_thread(m.trees[1]);
        t->open_node = t->root;
        t->open_ticks = cases[c].open;
        t->end_ticks = cases[c].end;
        struct pc_profile *p = read_part(&m, cases[c].part);
        assert_int_equal(p->ranks->mpi_ns, cases[c].want);
        pc_profile_free(p);
        pc_arena_close(&m.arena);
    }
}

static void process_without_a_rank_is_rank_0_of_1(void **state)
{
    (void)state;
    struct made m;
    struct making how = {.rank = -1, .n_ranks = 0, .seed = 2};
    made_arena(&m, &how, NULL, 0);
    struct pc_profile *p = read_part(&m, PC_MERGE_ALL);
    assert_int_equal(p->ranks->rank, 0);
    assert_int_equal(p->world_size, 1);
    pc_profile_free(p);
    pc_arena_close(&m.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(profile_of_several_threads_agrees_with_a_table_of_strings),
        cmocka_unit_test(modules_and_primitives_are_sorted_and_unique),
        cmocka_unit_test(late_trees_are_a_part_of_their_own),
        cmocka_unit_test(late_rows_may_name_earlier_contexts),
        cmocka_unit_test(late_part_has_only_the_tables_that_it_needs),
        cmocka_unit_test(unused_records_and_empty_branches_are_left_out),
        cmocka_unit_test(full_arena_keeps_totals_and_marks_where_they_went),
        cmocka_unit_test(ticks_become_nanoseconds_exactly),
        cmocka_unit_test(minimum_of_none_is_none),
        cmocka_unit_test(spans_add_up),
        cmocka_unit_test(calls_in_progress_are_time_in_mpi),
        cmocka_unit_test(process_without_a_rank_is_rank_0_of_1),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
