/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pcollect diff on profiles made by hand: only real changes are found, changes add up, and scatter
 * alone is called noise as often as stated. Seeds are fixed.
 */
#include "sample.h"
#include "tests/seed.h"

#include "analysis/compare/compared_run_private.h"
#include "analysis/compare/difference.h"
#include "analysis/compare/repeats.h"
#include "analysis/symbols/symbols_private.h"
#include "tests/random.h"
#include "view/compare_print.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MAX_RUNS = 8, CONTEXTS = 12, RANKS = 2, OFFSET = 0x1000, RARE = 0x9000 };

static struct sample samples[MAX_RUNS];
static struct pct_frame frames[CONTEXTS];
static char names[CONTEXTS][16];

/* Times of one run: time per rank of each context in ns, 0: no such context. */
struct times {
    double ns[CONTEXTS];
};

static uint64_t seed;

/* By run: factor by which all its times are longer because no processor was free; 0: none. */
static double stretched[MAX_RUNS];
static const char *program = "";
static unsigned char build_bytes = 20; /* of the build-id; 0: it is not known */
static bool around;                    /* runs have MPI_Init and MPI_Finalize */
/* By run: what rank 0 computes in the function `rare`, with a sample for each ms; 0: no samples at
 * all. */
static double rare_ms[MAX_RUNS];
static bool on_both; /* rank 1 does so, too */
static struct pct_frame rare = {"rare", "a.c", 400, false, false};
/* By run: part of that before MPI_Init, which is in no time of the run; and the time before it. */
static double early_ms[MAX_RUNS], before_ms[MAX_RUNS];
/* It computes for 80 ms in another function in each run. */
static struct pct_frame often = {"often", "a.c", 500, false, false};

/* Adds a call outside of the functions; returns its time. */
static uint64_t add_around(struct sample *s, uint32_t op, const char *name, uint64_t ns)
{
    s->ops[op] = (struct pc_profile_op){(char *)name, PCOLLECT_CLASS_ENV};
    s->p.n_ops = op + 1;
    sample_op(s, 0, op);
    for (int r = 0; r < RANKS; r++)
        sample_add(s,
                   &(struct sample_calls){.rank = r, .count = 1, .time = ns, .min = ns, .max = ns});
    return ns;
}

/* Adds the samples of rank 0 from MPI_Init on, as the process summed them up. */
static void add_sampling(unsigned k)
{
    static struct pc_profile_column columns[] = {
        {.name = (char *)"rank", .type = PCOLLECT_COLUMN_RANK},
        {.name = (char *)"compute_time", .type = PCOLLECT_COLUMN_NUMBER}};
    static uint64_t cells[MAX_RUNS][2];
    static struct pc_profile_table tables[MAX_RUNS];
    cells[k][1] = (uint64_t)((rare_ms[k] - early_ms[k] + 80) * 1e6);
    tables[k] = (struct pc_profile_table){.name = (char *)"sampling",
                                          .n_keys = 1,
                                          .n_columns = 2,
                                          .n_rows = 1,
                                          .columns = columns,
                                          .cells = cells[k]};
    samples[k].p.tables = &tables[k];
    samples[k].p.n_tables = 1;
}

/* Each context is a call of MPI_Barrier in a separate function. */
static void open_run(struct pct_run *run, unsigned k, const struct times *t)
{
    struct sample *s = &samples[k];
    uint64_t mpi = 0;
    sample_begin(s);
    s->p.exe = (char *)program;
    if (rare_ms[k] > 0)
        sample_clock(s);
    s->modules[0] = (struct pc_profile_module){.build_id = {1},
                                               .build_id_bytes = build_bytes,
                                               .flags = PCOLLECT_MODULE_EXE,
                                               .path = (char *)"/bin/a"};
    s->ops[0] = (struct pc_profile_op){(char *)"MPI_Barrier", PCOLLECT_CLASS_COLL};
    s->p.n_modules = s->p.n_ops = 1;
    s->p.n_ranks = s->p.world_size = RANKS;
    struct pct_symbols *symbols = pct_symbols_new(&s->p);
    for (unsigned c = 0; c < CONTEXTS; c++) {
        uint64_t ns = (uint64_t)llround(t->ns[c]);
        snprintf(names[c], sizeof names[c], "f%u", c);
        frames[c] = (struct pct_frame){names[c], "a.c", c + 1, false, false};
        pct_symbols_teach(symbols, 0, OFFSET + c, (struct pct_place){&frames[c], 1});
        if (!ns)
            continue;
        sample_op(s, sample_frame(s, 0, 0, OFFSET + c), 0);
        for (int r = 0; r < RANKS; r++)
            sample_add(s, &(struct sample_calls){
                              .rank = r, .count = 1 + c, .time = ns, .min = ns, .max = ns});
        mpi += ns;
    }
    if (rare_ms[k] > 0) {
        pct_symbols_teach(symbols, 0, RARE + 1, (struct pct_place){&rare, 1});
        if (rare_ms[k] >= 1) {
            sample_point(s, 0, 0, RARE);
            for (int r = 0; r <= on_both; r++)
                sample_add_samples(s, r, (uint64_t)(rare_ms[k] * 1e6));
        }
        pct_symbols_teach(symbols, 0, RARE + 0x101, (struct pct_place){&often, 1});
        sample_point(s, 0, 0, RARE + 0x100);
        sample_add_samples(s, 0, 80000000);
        add_sampling(k);
    }
    if (around)
        mpi += add_around(s, 1, "MPI_Init", 40000000) + add_around(s, 2, "MPI_Finalize", 30000000);
    for (int r = 0; r < RANKS; r++)
        s->ranks[r] = (struct pc_profile_rank){.rank = r,
                                               .host = (char *)"node",
                                               .before_init_ns = (uint64_t)(before_ms[k] * 1e6),
                                               .inside_ns = mpi + 1000000000,
                                               .mpi_ns = mpi};
    if (stretched[k] > 0)
        sample_stretch(s, stretched[k]);
    sample_end(s);
    pct_run_adopt(run, "run\x1b", &s->p, symbols);
}

static struct pct_diff *compare(struct pct_run *runs, const struct times *times, size_t n_before,
                                size_t n_after, enum pct_diff_metric metric)
{
    for (unsigned k = 0; k < n_before + n_after; k++)
        open_run(&runs[k], k, &times[k]);
    struct pc_error error = {""};
    return pct_diff_make(runs, n_before, n_after, metric, &error);
}

static void close_all(struct pct_run *runs, size_t n, struct pct_diff *d)
{
    pct_diff_free(d);
    for (size_t k = 0; k < n; k++)
        pct_run_close(&runs[k]);
}

static const struct pct_diff_row *row_of(const struct pct_diff *d, const char *place)
{
    for (size_t i = 0; i < d->n_rows; i++) {
        if (!strcmp(d->rows[i].place, place))
            return &d->rows[i];
    }
    fail_msg("no row %s", place);
    return NULL;
}

static void single_runs_are_compared_context_by_context(void **state)
{
    static const struct times times[] = {{{1e8, 2e8, 3e8, 0, 5e7}}, {{1e8, 2.6e8, 1e8, 7e7, 0}}};
    static const struct {
        const char *place;
        enum pct_verdict verdict;
        double change; /* of both ranks */
    } rows[] = {{"MPI_Barrier in f0 (a.c:1)", PCT_VERDICT_SAME, 0},
                {"MPI_Barrier in f1 (a.c:2)", PCT_VERDICT_MORE, 1.2e8},
                {"MPI_Barrier in f2 (a.c:3)", PCT_VERDICT_LESS, -4e8},
                {"MPI_Barrier in f3 (a.c:4)", PCT_VERDICT_NEW, 1.4e8},
                {"MPI_Barrier in f4 (a.c:5)", PCT_VERDICT_GONE, -1e8},
                {"computation outside MPI", PCT_VERDICT_SAME, 0}};
    struct pct_run runs[2];
    const char *place;
    double sum = 0;
    (void)state;
    struct pct_diff *d = compare(runs, times, 1, 1, PCT_DIFF_TIME);
    assert_int_equal(d->n_rows, PC_ARRAY_LEN(rows));
    for (size_t i = 0; i < PC_ARRAY_LEN(rows); i++) {
        const struct pct_diff_row *row = row_of(d, rows[i].place);
        assert_int_equal(row->verdict, rows[i].verdict);
        assert_true(fabs(row->change - rows[i].change) < 2);
        assert_true(row->doubt < 0);
        sum += row->change;
    }
    assert_true(fabs(sum - d->total.change) < 1);
    /* before: 650 ms of MPI and 1 s of computation per rank */
    assert_true(fabs(pct_diff_worst(d, &place) - 1.4e8 / (2 * 1.65e9)) < 1e-6);
    assert_string_equal(place, "MPI_Barrier in f3 (a.c:4)");
    close_all(runs, 2, d);
}

/* The second run takes longer, and makes as many calls. */
static void the_metric_alone_is_judged(void **state)
{
    static const struct times times[] = {{{1e8, 2e8}}, {{1e8, 4e8}}};
    struct pct_run runs[2];
    const char *place;
    (void)state;
    for (unsigned metric = 0; metric < PCT_N_DIFF_METRICS; metric++) {
        struct pct_diff *d = compare(runs, times, 1, 1, (enum pct_diff_metric)metric);
        assert_int_equal(pct_diff_worst(d, &place) > 0, metric == PCT_DIFF_TIME);
        close_all(runs, 2, d);
    }
}

/* The text of a comparison with a threshold in thousandths of a percent. */
static char *text_of(const struct pct_diff *d, unsigned least)
{
    char *text = NULL;
    size_t n;
    FILE *out = open_memstream(&text, &n);
    assert_non_null(out);
    pct_diff_print(out, d,
                   &(struct pct_compare_print){.width = 0, .has_least = true, .least = least});
    fclose(out);
    return text;
}

/* No limit holds what has grown from nothing, and it has no share of the total before. */
static void what_grows_from_nothing_is_above_every_limit(void **state)
{
    static const struct times times[] = {{{0}}, {{1e8}}};
    struct pct_run runs[2];
    const char *place;
    (void)state;
    struct pct_diff *d = compare(runs, times, 1, 1, PCT_DIFF_CALLS);
    assert_true(isinf(pct_diff_worst(d, &place)) && !place);
    char *text = text_of(d, 1000);
    if (!strstr(text, "\n          -          -          2  f0  a.c") ||
        !strstr(text, "before -> after)\n          -  0 -> 2 "))
        fail_msg("%s", text);
    free(text);
    close_all(runs, 2, d);
}

/* A run of one call of MPI_Barrier below each path: digits of functions, outermost first, a
 * letter for a phase. Paths are in order, and no function above the point where one leaves that
 * before is told again. */
static void open_paths(struct pct_run *run, unsigned k, const char *const *paths, size_t n)
{
    struct sample *s = &samples[k];
    uint32_t at[CONTEXTS] = {0}; /* nodes of the last path, from the root */
    sample_begin(s);
    s->p.exe = (char *)program;
    s->modules[0] =
        (struct pc_profile_module){.flags = PCOLLECT_MODULE_EXE, .path = (char *)"/bin/a"};
    s->ops[0] = (struct pc_profile_op){(char *)"MPI_Barrier", PCOLLECT_CLASS_COLL};
    s->p.n_modules = s->p.n_ops = s->p.n_ranks = s->p.world_size = 1;
    struct pct_symbols *symbols = pct_symbols_new(&s->p);
    for (unsigned c = 0; c < CONTEXTS; c++) {
        snprintf(names[c], sizeof names[c], "f%u", c);
        frames[c] = (struct pct_frame){names[c], "a.c", c + 1, false, false};
        pct_symbols_teach(symbols, 0, OFFSET + c, (struct pct_place){&frames[c], 1});
    }
    for (size_t i = 0; i < n; i++) {
        size_t depth = 0;
        while (i && paths[i][depth] == paths[i - 1][depth])
            depth++;
        for (; paths[i][depth]; depth++)
            at[depth + 1] =
                paths[i][depth] < 'a'
                    ? sample_frame(s, at[depth], 0, OFFSET + (uint64_t)(paths[i][depth] - '0'))
                    : sample_around(s, at[depth], PCOLLECT_NODE_PHASE,
                                    (uint64_t)(paths[i][depth] - 'a'));
        sample_op(s, at[depth], 0);
        sample_add(s, &(struct sample_calls){.count = 1, .time = 1e8, .min = 1e8, .max = 1e8});
    }
    s->ranks[0] = (struct pc_profile_rank){
        .host = (char *)"node", .inside_ns = n * 100000000 + 1000000000, .mpi_ns = n * 100000000};
    sample_end(s);
    pct_run_adopt(run, "run", &s->p, symbols);
}

/* Places that three callers do not distinguish have those further up that do, and no others. */
static void places_have_the_callers_that_tell_them_apart(void **state)
{
    static const char *const paths[] = {"0123456", "0723456", "23456", "8723456"};
    static const char start[] =
        "MPI_Barrier in f6 (a.c:7), from f5 (a.c:6), from f4 (a.c:5), from f3 (a.c:4)";
    static const char *const ends[] = {", ... from f1 (a.c:2)",
                                       ", ... from f7 (a.c:8), from f0 (a.c:1)", "",
                                       ", ... from f7 (a.c:8), from f8 (a.c:9)"};
    struct pct_run runs[2];
    struct pc_error error = {""};
    (void)state;
    for (unsigned k = 0; k < 2; k++)
        open_paths(&runs[k], k, paths, PC_ARRAY_LEN(paths));
    struct pct_diff *d = pct_diff_make(runs, 1, 1, PCT_DIFF_TIME, &error);
    assert_non_null(d);
    for (size_t i = 0; i < PC_ARRAY_LEN(ends); i++) {
        char place[256];
        snprintf(place, sizeof place, "%s%s", start, ends[i]);
        row_of(d, place);
    }
    close_all(runs, 2, d);
}

static void places_in_other_phases_are_told_apart(void **state)
{
    static const char *const paths[] = {"0", "b0", "c0", "c1"};
    static const char *const places[] = {
        "MPI_Barrier in f0 (a.c:1)", "MPI_Barrier in f0 (a.c:1), in phase 1",
        "MPI_Barrier in f0 (a.c:1), in phase 2", "MPI_Barrier in f1 (a.c:2)"};
    struct pct_run runs[2];
    struct pc_error error = {""};
    (void)state;
    for (unsigned k = 0; k < 2; k++)
        open_paths(&runs[k], k, paths, PC_ARRAY_LEN(paths));
    struct pct_diff *d = pct_diff_make(runs, 1, 1, PCT_DIFF_TIME, &error);
    assert_non_null(d);
    for (size_t i = 0; i < PC_ARRAY_LEN(places); i++)
        row_of(d, places[i]);
    close_all(runs, 2, d);
}

static void a_tree_without_a_line_is_one_sentence(void **state)
{
    static const struct times times[] = {{{1e8, 2e8}}, {{1e8, 2.6e8}}, {{1e8, 2e8}}};
    static const struct {
        unsigned after, least;
        const char *said;
    } cases[] = {
        {1, 1000, "\n\nWhere it changes (contexts below which 1 % of the total"},
        {1, 7000, "\n\nNo context has 7 % of the total before or more lost or gained below it.\n"},
        {2, 1000, "\n\nNo context has 1 % of the total before or more lost or gained below it.\n"},
        {2, 0, "\n\nNo context loses or gains any of the total before.\n"}};
    struct pct_run runs[2];
    (void)state;
    for (size_t i = 0; i < PC_ARRAY_LEN(cases); i++) {
        const struct times both[] = {times[0], times[cases[i].after]};
        struct pct_diff *d = compare(runs, both, 1, 1, PCT_DIFF_TIME);
        char *text = text_of(d, cases[i].least);
        if (!strstr(text, cases[i].said))
            fail_msg("expected %s in %s", cases[i].said, text);
        assert_int_equal(strstr(text, "Where it changes") != NULL, i == 0);
        assert_int_equal(strstr(text, "before      after  context") != NULL, i == 0);
        free(text);
        close_all(runs, 2, d);
    }
}

/* Before, 1.53 s a rank in contexts, of which two that change by 10 and 5 ms have 230 ms. */
static void hidden_nodes_are_a_line_with_their_sum(void **state)
{
    static const struct times times[] = {{{1e8, 2e8, 1e8, 1.3e8}}, {{1e8, 2.6e8, 1.1e8, 1.35e8}}};
    struct pct_run runs[2];
    (void)state;
    struct pct_diff *d = compare(runs, times, 1, 1, PCT_DIFF_TIME);
    char *text = text_of(d, 900);
    assert_non_null(strstr(text, "\n    +0.98 %   460.0 ms   490.0 ms  ... 2 more\n"));
    free(text);
    close_all(runs, 2, d);
}

/* Runs of which the builds are not known have no context in common. */
static void two_programs_without_a_name_get_none(void **state)
{
    static const struct times times[] = {{{1e8, 2e8, 3e8}}, {{0, 0, 0, 1e8, 2e8, 3e8}}};
    static const char *const
        programs[] = {"", "/bin/a", "/bin/a\x1b"},
        *const said[] = {
            "6 of 6 contexts of MPI calls are not in all runs: either the runs are of two "
            "programs, or ",
            "6 of 6 contexts of MPI calls are not in all runs: either the runs are of two programs "
            "named a, or ",
            "6 of 6 contexts of MPI calls are not in all runs: either the runs are of two programs "
            "named a\\x1b, or "};
    struct pct_run runs[2];
    (void)state;
    build_bytes = 0;
    for (size_t i = 0; i < PC_ARRAY_LEN(programs); i++) {
        program = programs[i];
        struct pct_diff *d = compare(runs, times, 1, 1, PCT_DIFF_TIME);
        char *text = text_of(d, 1000);
        if (!strstr(text, said[i]))
            fail_msg("expected %s in %s", said[i], text);
        free(text);
        close_all(runs, 2, d);
    }
    program = "";
    build_bytes = 20;
}

/* 18 samples of 1 ms before, on a rank or two: after it 6, or none, are not chance, 12 may be. */
static void change_within_the_error_of_samples_is_no_change(void **state)
{
    static const struct times times[] = {{{1e8}}, {{1e8}}};
    static const double after_ms[] = {12, 6, 0.5};
    struct pct_run runs[2];
    (void)state;
    rare_ms[0] = 18;
    for (unsigned k = 0; k < 2 * PC_ARRAY_LEN(after_ms); k++) {
        unsigned i = k / 2;
        on_both = k % 2;
        rare_ms[1] = after_ms[i];
        struct pct_diff *d = compare(runs, times, 1, 1, PCT_DIFF_TIME);
        const struct pct_diff_row *row = row_of(d, "computation in rare (a.c:400)");
        assert_int_equal(row->verdict, i ? PCT_VERDICT_LESS : PCT_VERDICT_NOISE);
        assert_true(fabs(pct_diff_unseen_ns(d, row, true) - (i == 2 ? 3e6 : 0)) < 10);
        assert_true(fabs(row->rank_part - (i && !on_both)) < 1e-6 && row->rank == 0);
        close_all(runs, 2, d);
    }
    on_both = false;
    rare_ms[0] = rare_ms[1] = 0;
}

/* Two functions of which the second run computes less: in one of them there are few samples. */
static void few_samples_are_no_change(void **state)
{
    static const struct times times[] = {{{1e8}}, {{1e8}}};
    struct pct_run runs[2];
    (void)state;
    for (unsigned few = 0; few < 2; few++) {
        for (unsigned k = 0; k < 2; k++)
            rare_ms[k] = (few ? 3 : 18) / (1 + 2 * k);
        struct pct_diff *d = compare(runs, times, 1, 1, PCT_DIFF_TIME);
        assert_int_equal(row_of(d, "computation in rare (a.c:400)")->verdict,
                         few ? PCT_VERDICT_NOISE : PCT_VERDICT_LESS);
        struct pct_diff_tree *t = pct_diff_tree_new(d);
        size_t i = 0;
        while (strcmp(t->tree->nodes[i].name, "rare") != 0)
            assert_true(++i < t->tree->n);
        assert_int_equal(t->moved[i] > 0, !few);
        assert_true(fabs(pct_diff_tree_change(t, (uint32_t)i).change + (few ? 2e6 : 12e6)) < 10);
        pct_diff_tree_free(t);
        close_all(runs, 2, d);
    }
    rare_ms[0] = rare_ms[1] = 0;
}

/* Ranks are outside MPI for 1 s, of which samples leave over 382 ms less in the second run. */
static void what_samples_leave_over_has_their_error(void **state)
{
    static const struct times times[] = {{{1e8}}, {{1e8}}};
    struct pct_run runs[2];
    (void)state;
    rare_ms[0] = 18;
    rare_ms[1] = 400;
    struct pct_diff *d = compare(runs, times, 1, 1, PCT_DIFF_TIME);
    for (unsigned unsure = 0; unsure < 2; unsure++) {
        pct_diff_free(d);
        runs[0].variance = runs[1].variance = unsure * pow(200e6, 2);
        d = pct_diff_make(runs, 1, 1, PCT_DIFF_TIME, NULL);
        const struct pct_diff_row *rest = row_of(d, "time outside MPI without a sample");
        assert_true(fabs(rest->change + 382e6) < 10);
        assert_int_equal(rest->verdict, unsure ? PCT_VERDICT_NOISE : PCT_VERDICT_LESS);
    }
    rare_ms[0] = rare_ms[1] = 0;
    close_all(runs, 2, d);
}

/* Output of pcollect diff, in `text`. */
static void print_diff(const struct pct_diff *d, char *text, size_t room)
{
    FILE *out = fmemopen(text, room, "w");
    assert_non_null(out);
    pct_diff_print(out, d, &(struct pct_compare_print){.width = 0});
    fclose(out);
}

/* Ranks with 2 threads compute for 300 ms in one function, and then for 100 ms in it; the other
 * function, with 80 ms, is as it was. Samples of both runs stand for more than the time outside MPI
 * of 20 ms. */
static void contexts_of_several_threads_are_not_scaled(void **state)
{
    static const struct times times[] = {{{1e8}}, {{1e8}}};
    static char text[1 << 14];
    struct pct_run runs[2];
    (void)state;
    rare_ms[0] = 300;
    rare_ms[1] = 100;
    struct pct_diff *d = compare(runs, times, 1, 1, PCT_DIFF_TIME);
    pct_diff_free(d);
    for (unsigned k = 0; k < 2; k++) {
        runs[k].n_working = 2;
        runs[k].own.compute_ns = 20e6;
    }
    d = pct_diff_make(runs, 1, 1, PCT_DIFF_TIME, NULL);
    assert_true(fabs(row_of(d, "computation in rare (a.c:400)")->change + 200e6) < 10);
    assert_true(fabs(row_of(d, "computation in often (a.c:500)")->change) < 10);
    assert_int_equal(row_of(d, "computation in often (a.c:500)")->verdict, PCT_VERDICT_SAME);
    for (size_t i = 0; i < d->n_rows; i++)
        assert_string_not_equal(d->rows[i].place, "time outside MPI without a sample");
    print_diff(d, text, sizeof text);
    assert_non_null(strstr(text,
                           "\nRanks work with several threads: computation of contexts is the "
                           "CPU time of all threads, "));
    const char *total = strstr(text, "The time of all ranks and threads together: ");
    assert_non_null(total);
    assert_non_null(strstr(total, ", 34.5 % less.\n"));
    rare_ms[0] = rare_ms[1] = 0;
    close_all(runs, 2, d);
}

/* The second run computes for 3 s before MPI_Init, and outside MPI both ranks are for 2 s. */
static void samples_before_init_squeeze_no_others(void **state)
{
    static const struct times times[] = {{{1e8}}, {{1e8}}};
    static char text[1 << 14];
    struct pct_run runs[2];
    double sum = 0;
    (void)state;
    rare_ms[0] = 18;
    rare_ms[1] = 3018;
    early_ms[1] = 3000;
    struct pct_diff *d = compare(runs, times, 1, 1, PCT_DIFF_TIME);
    assert_true(fabs(row_of(d, "computation in often (a.c:500)")->change) < 10);
    assert_true(fabs(row_of(d, "computation in rare (a.c:400)")->change - 3e9) < 10);
    for (size_t i = 0; i < d->n_rows; i++)
        sum += d->rows[i].change;
    assert_true(fabs(sum - RANKS * d->time.change) < 10);
    print_diff(d, text, sizeof text);
    assert_non_null(
        strstr(text, "\nIn run\\x1b 1.500 s per rank of computation before MPI_Init are "));
    close_all(runs, 2, d);
    rare_ms[0] = rare_ms[1] = early_ms[1] = 0;
}

static void much_time_before_init_is_told(void **state)
{
    static const struct times times[] = {{{1e8}}, {{1e8}}};
    static const struct {
        double before, after;
        bool want;
    } cases[] = {{0, 0, false}, {30, 30, false}, {30, 6000, true}, {6000, 30, true}};
    static char text[1 << 14];
    struct pct_run runs[2];
    char says[96];
    (void)state;
    for (size_t k = 0; k < PC_ARRAY_LEN(cases); k++) {
        before_ms[0] = cases[k].before;
        before_ms[1] = cases[k].after;
        struct pct_diff *d = compare(runs, times, 1, 1, PCT_DIFF_TIME);
        print_diff(d, text, sizeof text);
        snprintf(says, sizeof says, " MPI_Init it takes %s: only the wall time contains this.",
                 cases[k].before > 100 ? "6.000 s -> 30.00 ms" : "30.00 ms -> 6.000 s");
        if ((strstr(text, cases[k].want ? says : "efore MPI_Init") != NULL) != cases[k].want)
            fail_msg("case %zu: %s", k, text);
        close_all(runs, 2, d);
    }
    before_ms[0] = before_ms[1] = 0;
}

/* The runs take 2.2 s on both ranks together. */
static void what_the_program_left_out_is_told_if_it_is_much(void **state)
{
    static const struct times times[] = {{{1e8}}, {{1e8}}};
    static const double left_out_ns[][2] = {{0, 0}, {0, 1e8}, {0, 2e9}, {4e9, 1e8}};
    static const char *const told[] = {
        NULL, NULL, "\nMPI_Pcontrol left out 1.000 s per rank of run\\x1b: this time",
        "\nMPI_Pcontrol left out 2.000 s per rank of run\\x1b, 50.00 ms per rank of run\\x1b: "
        "this"};
    static char text[1 << 14];
    struct pct_run runs[2];
    (void)state;
    struct pct_diff *d = compare(runs, times, 1, 1, PCT_DIFF_TIME);
    for (unsigned i = 0; i < PC_ARRAY_LEN(told); i++) {
        runs[0].paused_ns = left_out_ns[i][0];
        runs[1].paused_ns = left_out_ns[i][1];
        print_diff(d, text, sizeof text);
        const char *found = strstr(text, told[i] ? told[i] : "MPI_Pcontrol");
        if (!found != !told[i])
            fail_msg("%s", text);
    }
    close_all(runs, 2, d);
}

/* Compares two runs with and without waiting for a processor in one of them or in both: only the
 * wait in MPI_Init makes a difference. The text begins with what is left out. */
static void waiting_for_a_processor_is_in_no_figure(void **state)
{
    static const struct times times[] = {{{1e8, 2e8, 3e8}}, {{1e8, 2.6e8, 1e8}}};
    static const double factors[][2] = {{3, 0}, {0, 2.5}, {3, 2.5}};
    static char text[1 << 14];
    struct pct_run runs[2];
    (void)state;
    for (unsigned i = 0; i < 2 * PC_ARRAY_LEN(factors); i++) {
        struct pct_diff_change time, total, rows[4];
        const char *const places[] = {"MPI_Barrier in f0 (a.c:1)", "MPI_Barrier in f1 (a.c:2)",
                                      "MPI_Barrier in f2 (a.c:3)", "computation outside MPI"};
        around = i & 1;
        struct pct_diff *d = compare(runs, times, 1, 1, PCT_DIFF_TIME);
        print_diff(d, text, sizeof text);
        assert_null(strstr(text, "no processor was free"));
        time = d->time;
        total = d->total;
        for (unsigned k = 0; k < 4; k++)
            rows[k] = pct_diff_figure(d, row_of(d, places[k]));
        close_all(runs, 2, d);

        memcpy(stretched, factors[i / 2], sizeof factors[i / 2]);
        d = compare(runs, times, 1, 1, PCT_DIFF_TIME);
        stretched[0] = stretched[1] = 0;
        /* The delay in MPI_Init is 40 ms for each rank and unit of the factor. It is taken off the
         * other calls, because nobody knows in which it was. */
        double off = around ? RANKS * 40e6 * fmax(factors[i / 2][0], factors[i / 2][1]) : 2;
        assert_true(fabs(d->time.change - time.change) < off);
        assert_true(fabs(d->total.change - total.change) < off);
        for (unsigned k = 0; k < 4; k++)
            assert_true(fabs(row_of(d, places[k])->change - rows[k].change) < off);
        double sum = 0;
        for (size_t k = 0; k < d->n_rows; k++)
            sum += d->rows[k].change;
        assert_true(fabs(sum - d->total.change) < 1);
        assert_true(fabs(d->total.before.mean - d->runs[0].undelayed.core_ns) < 2);
        assert_true(fabs(d->total.after.mean - d->runs[1].undelayed.core_ns) < 2);
        print_diff(d, text, sizeof text);
        const char *left_out = strstr(text, "no processor was free"),
                   *first = strstr(text, "The machine was busy: ");
        assert_true(left_out && left_out < first);
        assert_true(first && strstr(first, "By its wall time the run takes "));
        /* The changes of calls, which nobody knows, are in no figure of the tree. */
        assert_null(strstr(text, "\n\nWhere it changes"));
        assert_int_equal(row_of(d, places[2])->verdict, PCT_VERDICT_NOISE);
        assert_true(fabs(RANKS * d->time.change - d->total.change) < 4);
        assert_true(fabs(d->wall.after.mean - d->runs[1].told.wall_ns) < 1);
        assert_non_null(strstr(text, "left out of the figures below, but for the wall time."));
        assert_non_null(strstr(text, "MPI calls still contain the time"));
        assert_non_null(strstr(text, "In run\\x1b no processor was free"));
        close_all(runs, 2, d);
    }
    around = false;
}

/* The share of f0 in the wait for a processor of the runs before is its only change: nobody knows
 * whether it has it. f1 takes less with the wait and without. */
static void change_by_a_share_of_delay_is_no_change(void **state)
{
    static const struct times one[] = {{{1e8, 2e8}}, {{1.1e8, 1.9e8}}},
                              two[] = {{{1e8, 2e8}},
                                       {{1.01e8, 2.01e8}},
                                       {{1.1e8, 1.9e8}},
                                       {{1.11e8, 1.91e8}}};
    static char text[1 << 14];
    (void)state;
    for (unsigned n = 1; n <= 2; n++) {
        struct pct_run runs[4];
        const char *place = "";
        stretched[0] = 1.1;
        stretched[1] = n == 2 ? 1.1 : 0;
        struct pct_diff *d = compare(runs, n == 2 ? two : one, n, n, PCT_DIFF_TIME);
        stretched[0] = stretched[1] = 0;
        const struct pct_diff_row *f0 = row_of(d, "MPI_Barrier in f0 (a.c:1)");
        assert_true(f0->change > 19e6 && f0->by_delay);
        assert_int_equal(f0->verdict, PCT_VERDICT_NOISE);
        assert_int_equal(row_of(d, "MPI_Barrier in f1 (a.c:2)")->verdict, PCT_VERDICT_LESS);
        assert_true(pct_diff_worst(d, &place) < 1e-3 && !place);
        print_diff(d, text, sizeof text);
        assert_non_null(strstr(text, ", 1 that may differ only by what is left out"));
        close_all(runs, 2 * (size_t)n, d);
    }
}

/* Waits for a processor, of one repeat of two or of both, are a row of their own in the average. */
static void waiting_for_a_processor_is_a_row_of_the_average(void **state)
{
    static const struct times times[] = {{{1e8, 2e8}}, {{1e8, 2e8}}};
    static const double factors[][2] = {{0, 0}, {3, 0}, {3, 2}};
    struct pct_run runs[2];
    (void)state;
    for (unsigned i = 0; i < PC_ARRAY_LEN(factors); i++) {
        struct pct_repeats *r = NULL;
        const struct pct_repeat_row *waits = NULL, *rest = NULL;
        double sum = 0, wanted = 0;
        memcpy(stretched, factors[i], sizeof factors[i]);
        for (unsigned k = 0; k < 2; k++)
            open_run(&runs[k], k, &times[k]);
        stretched[0] = stretched[1] = 0;
        for (unsigned k = 0; k < 2; k++)
            wanted += factors[i][k] > 0 ? runs[k].compute_ns * (1 - 1 / factors[i][k]) / 2 : 0;
        assert_int_equal(pct_repeats_make(runs, 2, &r, NULL), PC_OK);
        for (size_t k = 0; k < r->n_rows; k++) {
            sum += r->rows[k].ns.mean;
            if (!strcmp(r->rows[k].place, "waiting for a processor outside MPI"))
                waits = &r->rows[k];
            if (!strcmp(r->rows[k].place, "computation outside MPI"))
                rest = &r->rows[k];
        }
        assert_int_equal(waits != NULL, wanted > 0);
        assert_true(rest && fabs((waits ? waits->ns.mean : 0) - wanted) < 10);
        assert_true(fabs(rest->ns.mean + wanted - (runs[0].compute_ns + runs[1].compute_ns) / 2) <
                    10);
        assert_true(fabs(sum - r->core_ns.mean) < 10);
        pct_repeats_free(r);
        close_all(runs, 2, NULL);
    }
}

static void calls_are_compared_too(void **state)
{
    static const struct times times[] = {{{1e8, 2e8}}, {{5e8, 0, 1e8}}};
    struct pct_run runs[2];
    (void)state;
    struct pct_diff *d = compare(runs, times, 1, 1, PCT_DIFF_CALLS);
    assert_int_equal(row_of(d, "MPI_Barrier in f0 (a.c:1)")->verdict, PCT_VERDICT_SAME);
    assert_true(row_of(d, "MPI_Barrier in f1 (a.c:2)")->change == -4);
    assert_true(row_of(d, "MPI_Barrier in f2 (a.c:3)")->change == 6);
    close_all(runs, 2, d);
}

/* A call takes 40 % more or twice the time: with a scatter of 7 % both are no noise, but two
 * degrees of freedom tell only the greater one. */
static void two_runs_may_be_too_few_to_tell(void **state)
{
    static const struct times times[][4] = {{{{1e8}}, {{1.1e8}}, {{1.4e8}}, {{1.54e8}}},
                                            {{{1e8}}, {{1.1e8}}, {{2e8}}, {{2.2e8}}}};
    static char text[1 << 14];
    (void)state;
    for (unsigned great = 0; great < 2; great++) {
        struct pct_run runs[4];
        struct pct_diff *d = compare(runs, times[great], 2, 2, PCT_DIFF_TIME);
        assert_int_equal(row_of(d, "MPI_Barrier in f0 (a.c:1)")->verdict,
                         great ? PCT_VERDICT_MORE : PCT_VERDICT_UNSURE);
        print_diff(d, text, sizeof text);
        assert_int_equal(strstr(text, ", 1 with too few runs to tell: each side needs 3 or more") !=
                             NULL,
                         !great);
        close_all(runs, 4, d);
    }
}

/* All contexts scatter by 5 %; of `changed` the second half of the runs is a fifth slower. */
static void make_noisy(struct times *times, size_t n, unsigned changed)
{
    for (size_t k = 0; k < n; k++) {
        for (unsigned c = 0; c < CONTEXTS; c++) {
            double mean = c < changed && k >= n / 2 ? 1.2e8 : 1e8;
            times[k].ns[c] = mean * (1 + 0.05 * random_normal(&seed));
        }
    }
}

static void scatter_is_called_noise_and_changes_are_found(void **state)
{
    enum { TRIES = 200 };
    unsigned n_alarmed = 0, n_found = 0, n_false = 0, n_called = 0;
    (void)state;
    seed = test_seed(77);
    for (unsigned i = 0; i < 2 * TRIES; i++) {
        struct times times[MAX_RUNS];
        struct pct_run runs[MAX_RUNS];
        unsigned changed = i % 2 ? 4 : 0, n = 0;
        make_noisy(times, MAX_RUNS, changed);
        struct pct_diff *d = compare(runs, times, MAX_RUNS / 2, MAX_RUNS / 2, PCT_DIFF_TIME);
        for (size_t k = 0; k < d->n_rows; k++) {
            const struct pct_diff_row *row = &d->rows[k];
            bool called = row->verdict == PCT_VERDICT_MORE || row->verdict == PCT_VERDICT_LESS;
            bool real = row->node != d->join->compute && atoi(strstr(row->place, " f") + 2) < 4;
            n += called;
            n_found += changed && called && real;
            n_false += changed && called && !real;
            n_called += changed && called;
        }
        n_alarmed += !changed && n;
        close_all(runs, MAX_RUNS, d);
    }
    /* Without a change: any alarm in 5 of 100 comparisons, binomial bound. */
    assert_true(n_alarmed <= TRIES * 9 / 100);
    /* With changes of four times the scatter: most are found, and few of the reported ones are
     * false. */
    assert_true(n_found >= TRIES * 4 * 75 / 100);
    assert_true(n_false <= n_called * 7 / 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(single_runs_are_compared_context_by_context),
        cmocka_unit_test(change_within_the_error_of_samples_is_no_change),
        cmocka_unit_test(few_samples_are_no_change),
        cmocka_unit_test(the_metric_alone_is_judged),
        cmocka_unit_test(what_grows_from_nothing_is_above_every_limit),
        cmocka_unit_test(what_samples_leave_over_has_their_error),
        cmocka_unit_test(contexts_of_several_threads_are_not_scaled),
        cmocka_unit_test(samples_before_init_squeeze_no_others),
        cmocka_unit_test(much_time_before_init_is_told),
        cmocka_unit_test(what_the_program_left_out_is_told_if_it_is_much),
        cmocka_unit_test(places_have_the_callers_that_tell_them_apart),
        cmocka_unit_test(places_in_other_phases_are_told_apart),
        cmocka_unit_test(a_tree_without_a_line_is_one_sentence),
        cmocka_unit_test(hidden_nodes_are_a_line_with_their_sum),
        cmocka_unit_test(two_programs_without_a_name_get_none),
        cmocka_unit_test(waiting_for_a_processor_is_in_no_figure),
        cmocka_unit_test(change_by_a_share_of_delay_is_no_change),
        cmocka_unit_test(waiting_for_a_processor_is_a_row_of_the_average),
        cmocka_unit_test(calls_are_compared_too),
        cmocka_unit_test(two_runs_may_be_too_few_to_tell),
        cmocka_unit_test(scatter_is_called_noise_and_changes_are_found),
    };
    return cmocka_run_group_tests_name("diff", tests, NULL, NULL);
}
