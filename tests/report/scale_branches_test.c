/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pcollect scale names a function that is sure to lose with all that it calls, although none of its
 * contexts is sure to: each has a few samples.
 */
#include "tests/report/scale_rows.h"

enum { MAIN = 0x1000, PREPARE = 0x2000, SOLVE = 0x3000, STEP = 0x4000, N_STEPS = 10 };

static struct sample samples[2];

static void teach(struct pct_run *run, struct sample *s)
{
    static struct pct_frame frames[] = {
        {"main", "a.c", 10, false, false},
        {"prepare", "a.c", 20, false, false},
        {"solve", "a.c", 30, false, false},
    };
    static struct pct_frame steps[N_STEPS];
    static char names[N_STEPS][8];
    static const uint64_t at[] = {MAIN, PREPARE, SOLVE + 1};
    struct pct_symbols *symbols = pct_symbols_new(&s->p);
    for (unsigned i = 0; i < PC_ARRAY_LEN(at); i++)
        pct_symbols_teach(symbols, 0, at[i], (struct pct_place){&frames[i], 1});
    for (unsigned i = 0; i < N_STEPS; i++) {
        snprintf(names[i], sizeof names[i], "step%u", i % N_STEPS);
        steps[i] = (struct pct_frame){names[i], "a.c", 100 + i, false, false};
        pct_symbols_teach(symbols, 0, STEP + 0x100 * i + 1, (struct pct_place){&steps[i], 1});
    }
    pct_run_adopt(run, "run", &s->p, symbols);
}

/* Each rank computes each_ms in each step of prepare, and its part of 1 s in solve. Samples are 1
 * ms apart. */
static void open_run(struct pct_run *run, struct sample *s, unsigned p, double each_ms)
{
    sample_begin(s);
    sample_clock(s);
    s->p.exe = (char *)"/bin/solver";
    s->modules[0] = (struct pc_profile_module){.build_id = {1},
                                               .build_id_bytes = 20,
                                               .flags = PCOLLECT_MODULE_EXE,
                                               .path = (char *)"/bin/solver"};
    s->p.n_modules = 1;
    s->p.n_ranks = s->p.world_size = p;
    uint32_t in_main = sample_frame(s, 0, 0, MAIN);
    sample_point(s, in_main, 0, SOLVE);
    for (unsigned r = 0; r < p; r++)
        sample_add_samples(s, (int32_t)r, (uint64_t)(1000 / p * ms));
    uint32_t in_prepare = sample_frame(s, in_main, 0, PREPARE);
    for (unsigned i = 0; i < N_STEPS; i++) {
        sample_point(s, in_prepare, 0, STEP + 0x100 * i);
        for (unsigned r = 0; r < p; r++)
            sample_add_samples(s, (int32_t)r, (uint64_t)(each_ms * ms));
    }
    for (unsigned r = 0; r < p; r++)
        s->ranks[r] =
            (struct pc_profile_rank){.rank = (int32_t)r,
                                     .host = (char *)"node",
                                     .inside_ns = (uint64_t)((1000 / p + N_STEPS * each_ms) * ms),
                                     .closed = 1};
    sample_end(s);
    teach(run, s);
}

static struct pct_scale *compare(struct pct_run *runs, double at_2_ms, double at_4_ms)
{
    struct pct_scale *s = NULL;
    const struct pct_scale_options strong = {.scaling = PCT_SCALING_STRONG};
    open_run(&runs[0], &samples[0], 2, at_2_ms);
    open_run(&runs[1], &samples[1], 4, at_4_ms);
    assert_int_equal(pct_scale_make(runs, 2, &strong, &s, NULL), PC_OK);
    pct_scale_find_branches(s);
    return s;
}

static void close_runs(struct pct_run *runs, struct pct_scale *s)
{
    pct_scale_free(s);
    for (unsigned i = 0; i < 2; i++)
        pct_run_close(&runs[i]);
}

/* 40 samples on 2 ranks, 80 on 4: the loss of 40 ms is 3.65 standard errors; that of a step, with 4
 * and 8 samples, is 1.15. */
static void what_loses_in_many_contexts_is_named_once(void **state)
{
    struct pct_run runs[2];
    struct pct_scale *s = compare(runs, 2, 2);
    (void)state;
    for (size_t i = 0; i < s->n_rows; i++)
        assert_false(pct_scale_blames(s, &s->rows[i]));
    assert_int_equal(s->n_branches, 1);
    const struct pct_scale_branch *b = s->branches;
    assert_true(b->calls && is_near(b->first_ns, 40 * ms) && is_near(b->last_ns, 80 * ms));
    assert_true(is_near(b->lost_ns, 40 * ms) && b->waits_ns == 0);
    assert_says(s, "1. prepare (a.c), with all that it calls: 3.7 % of the run lost. Together the "
                   "ranks compute 40.00 ms there on 2 ranks, 80.00 ms on 4: work that is repeated, "
                   "or slower when divided.");
    close_runs(runs, s);
}

/* The tree has the function, although nothing of its own is in it. */
static void the_tree_is_opened_for_it(void **state)
{
    struct pct_run runs[2];
    struct pct_scale *s = compare(runs, 2, 2);
    struct pct_scale_tree *t = pct_scale_tree_new(s);
    double moved = 0;
    (void)state;
    for (uint32_t i = 0; i < t->tree->n; i++)
        if (!strcmp(t->tree->nodes[i].name, "prepare"))
            moved = t->moved[i];
    assert_true(moved >= 39.9 * ms);
    pct_scale_tree_free(t);
    close_runs(runs, s);
}

/* A gain, and a loss of 2.6 standard errors. */
static void what_may_be_chance_is_not_named(void **state)
{
    struct pct_run runs[2];
    struct pct_scale *s = compare(runs, 4, 1);
    (void)state;
    assert_int_equal(s->n_branches, 0);
    close_runs(runs, s);
    s = compare(runs, 1, 1);
    assert_int_equal(s->n_branches, 0);
    close_runs(runs, s);
}

/* 400 samples and 800: each step is sure by itself. */
static void what_contexts_explain_is_not_named_again(void **state)
{
    struct pct_run runs[2];
    struct pct_scale *s = compare(runs, 20, 20);
    (void)state;
    assert_true(pct_scale_blames(s, row_named(s, "computation in step0 (a.c:100)")));
    assert_int_equal(s->n_branches, 0);
    close_runs(runs, s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_loses_in_many_contexts_is_named_once),
        cmocka_unit_test(the_tree_is_opened_for_it),
        cmocka_unit_test(what_may_be_chance_is_not_named),
        cmocka_unit_test(what_contexts_explain_is_not_named_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
