/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pcollect scale on runs whose ranks have several threads. Each rank computes alone in `serial`,
 * with its team in a region of `work`, where it waits for the others at the end, and calls MPI; the
 * other threads poll in the runtime while it is elsewhere. All times follow from Amdahl's law.
 */
#include "tests/report/scale_rows.h"

enum {
    MAIN = 0x1000,
    IN_SERIAL = 0x2000,
    IN_WORK = 0x3000,
    REGION = 0x4000,
    RUNTIME_CODE = 0x100,
    MOST_THREADS = 4,
    N_RUNS = 3
};
enum { SERIAL_MS = 400, WORK_MS = 1200, WAIT_MS = 20, MPI_MS = 30 };

static struct run {
    struct sample sample;
    struct pc_profile_table tables[2];
    uint64_t records[SAMPLE_RANKS * MOST_THREADS][5], sampling[SAMPLE_RANKS * MOST_THREADS][5];
} made[N_RUNS];
static struct pct_run runs[N_RUNS];

static bool unsampled; /* threads of the runs */
static bool renewed;   /* the runtime ends its threads and makes others */

static char *strings[] = {(char *)"main", (char *)"runtime"};
enum { NAME_OF_MAIN = 1, NAME_OF_RUNTIME };

static double region_ms(unsigned threads)
{
    return (double)WORK_MS / threads;
}

static double wait_ms(unsigned threads)
{
    return threads > 1 ? WAIT_MS : 0;
}

static double outside_ms(unsigned threads)
{
    return SERIAL_MS + region_ms(threads) + wait_ms(threads);
}

static void add_tables(struct run *m, unsigned ranks, unsigned threads)
{
    static struct pc_profile_column records[] = {
        {.name = (char *)"rank", .type = PCOLLECT_COLUMN_RANK},
        {.name = (char *)"thread", .type = PCOLLECT_COLUMN_NUMBER},
        {.name = (char *)"kind", .type = PCOLLECT_COLUMN_STRING},
        {.name = (char *)"in_runtime", .type = PCOLLECT_COLUMN_NUMBER},
        {.name = (char *)"threads", .type = PCOLLECT_COLUMN_NUMBER}};
    static struct pc_profile_column sampling[] = {
        {.name = (char *)"rank", .type = PCOLLECT_COLUMN_RANK},
        {.name = (char *)"thread", .type = PCOLLECT_COLUMN_NUMBER},
        {.name = (char *)"period", .type = PCOLLECT_COLUMN_NUMBER},
        {.name = (char *)"compute_time", .type = PCOLLECT_COLUMN_NUMBER},
        {.name = (char *)"compute_squares", .type = PCOLLECT_COLUMN_NUMBER}};
    for (unsigned i = 0; i < ranks * threads; i++) {
        unsigned rank = i / threads, thread = i % threads;
        double waits = thread ? SERIAL_MS : wait_ms(threads);
        double all = region_ms(threads) + waits + (thread ? 0 : SERIAL_MS);
        const uint64_t record[] = {rank, thread, thread ? NAME_OF_RUNTIME : NAME_OF_MAIN,
                                   (uint64_t)(waits * ms), thread && renewed ? 60 : 1};
        const uint64_t of[] = {rank, thread, (uint64_t)ms, (uint64_t)(all * ms), 0};
        memcpy(m->records[i], record, sizeof record);
        memcpy(m->sampling[i], of, sizeof of);
    }
    m->tables[0] = (struct pc_profile_table){.name = (char *)"sampling",
                                             .n_keys = 2,
                                             .columns = sampling,
                                             .n_columns = PC_ARRAY_LEN(sampling),
                                             .n_rows = unsampled ? 0 : ranks * threads,
                                             .cells = m->sampling[0]};
    m->tables[1] = (struct pc_profile_table){.name = (char *)"thread_records",
                                             .n_keys = 2,
                                             .columns = records,
                                             .n_columns = PC_ARRAY_LEN(records),
                                             .n_rows = ranks * threads,
                                             .cells = m->records[0]};
    m->sample.p.tables = m->tables;
    m->sample.p.n_tables = 2;
    m->sample.p.strings = strings;
    m->sample.p.n_strings = 2;
}

static void add_point(struct sample *s, uint32_t parent, uint32_t module, uint64_t offset,
                      double time_ms)
{
    sample_point(s, parent, module, offset);
    for (unsigned r = 0; r < s->p.n_ranks; r++)
        sample_add_samples(s, (int32_t)r, (uint64_t)(time_ms * ms));
}

static void open_run(unsigned k, unsigned ranks, unsigned threads)
{
    static struct pct_frame in_main = {"main", "a.c", 10, false, false},
                            in_serial = {"serial", "a.c", 20, false, false},
                            in_work = {"work", "a.c", 30, false, false},
                            in_region = {"work._omp_fn.0", "a.c", 31, false, false};
    struct sample *s = &made[k].sample;
    sample_begin(s);
    sample_clock(s);
    s->p.exe = (char *)"/bin/a";
    s->modules[0] = (struct pc_profile_module){.build_id = {1},
                                               .build_id_bytes = 20,
                                               .flags = PCOLLECT_MODULE_EXE,
                                               .path = (char *)"/bin/a"};
    s->modules[1] =
        (struct pc_profile_module){.flags = PCOLLECT_MODULE_RUNTIME | PCOLLECT_MODULE_STARTS,
                                   .path = (char *)"/lib/libgomp.so.1"};
    s->ops[0] = (struct pc_profile_op){(char *)"MPI_Barrier", PCOLLECT_CLASS_COLL};
    s->p.n_modules = 2;
    s->p.n_ops = 1;
    s->p.n_ranks = s->p.world_size = ranks;
    uint32_t main = sample_frame(s, 0, 0, MAIN);
    sample_op(s, main, 0);
    add_calls(s, ranks, MPI_MS);
    uint32_t serial = sample_frame(s, main, 0, IN_SERIAL);
    add_point(s, serial, 0, IN_SERIAL + 0x10, SERIAL_MS);
    uint32_t work = sample_frame(s, main, 0, IN_WORK);
    if (threads > 1)
        add_point(s, work, 1, RUNTIME_CODE, WAIT_MS);
    add_point(s, work, 0, REGION, WORK_MS);
    if (threads > 1)
        add_point(s, 0, 1, RUNTIME_CODE, (threads - 1) * SERIAL_MS);
    for (unsigned r = 0; r < ranks; r++)
        s->ranks[r] =
            (struct pc_profile_rank){.rank = (int32_t)r,
                                     .host = (char *)"node",
                                     .inside_ns = (uint64_t)((outside_ms(threads) + MPI_MS) * ms),
                                     .mpi_ns = MPI_MS * (uint64_t)ms,
                                     .closed = 1};
    add_tables(&made[k], ranks, threads);
    sample_end(s);
    struct pct_symbols *symbols = pct_symbols_new(&s->p);
    pct_symbols_teach(symbols, 0, MAIN, (struct pct_place){&in_main, 1});
    pct_symbols_teach(symbols, 0, IN_SERIAL, (struct pct_place){&in_serial, 1});
    pct_symbols_teach(symbols, 0, IN_SERIAL + 0x11, (struct pct_place){&in_serial, 1});
    pct_symbols_teach(symbols, 0, IN_WORK, (struct pct_place){&in_work, 1});
    pct_symbols_teach(symbols, 0, REGION + 1, (struct pct_place){&in_region, 1});
    pct_run_adopt(&runs[k], "run", &s->p, symbols);
}

static struct pct_scale *compare(unsigned n)
{
    struct pct_scale *s = NULL;
    struct pc_error error = {""};
    if (pct_scale_make(runs, n, &(struct pct_scale_options){0}, &s, &error))
        fail_msg("%s", error.text);
    return s;
}

static void close_runs(struct pct_scale *s, unsigned n)
{
    pct_scale_free(s);
    for (unsigned k = 0; k < n; k++)
        pct_run_close(&runs[k]);
}

static void runs_of_one_number_of_ranks_are_compared_by_threads(void **state)
{
    enum { RANKS = 2 };
    static const unsigned threads[N_RUNS] = {1, 2, 4};
    (void)state;
    for (unsigned k = 0; k < N_RUNS; k++)
        open_run(k, RANKS, threads[k]);
    struct pct_scale *s = compare(N_RUNS);
    double first = outside_ms(1) + MPI_MS, lost = 0;
    assert_true(s->by_threads);
    assert_int_equal(s->scaling, PCT_SCALING_STRONG);
    assert_true(fabs(s->growth) < 1e-6);
    for (unsigned k = 0; k < N_RUNS; k++) {
        const struct pct_scale_point *p = &s->points[k];
        unsigned t = threads[k];
        double time = outside_ms(t) + MPI_MS, work = (double)(SERIAL_MS + WORK_MS) / t;
        assert_true(is_near(p->width, RANKS * t));
        assert_true(is_near(p->time_ns, time * ms));
        assert_true(is_near(p->core_ns, RANKS * t * time * ms));
        assert_true(fabs(p->efficiency - first / time / t) < 1e-6);
        assert_true(fabs(p->speed_up - first / time) < 1e-6);
        assert_true(fabs(p->threads - work / outside_ms(t)) < 1e-6);
        assert_true(fabs(p->parallel - work / time) < 1e-6);
        assert_true(fabs(p->parallel - p->balance * p->communication * p->threads) < 1e-6);
        assert_true(fabs(p->computation - 1) < 1e-6);
        /* The others do not work while the main thread is alone, or in MPI. */
        assert_true(is_near(row_named(s, "computation in serial")->costs[k].ns,
                            RANKS * t * SERIAL_MS * ms));
        assert_true(is_near(row_named(s, "computation in work._omp_fn.0")->costs[k].ns,
                            RANKS * WORK_MS * ms));
        assert_true(is_near(row_named(s, "MPI_Barrier")->costs[k].ns, RANKS * t * MPI_MS * ms));
    }
    for (size_t i = 0; i < s->n_rows; i++)
        lost += s->rows[i].lost_ns;
    assert_true(is_near(lost, s->lost_ns));
    assert_says(s, "Strong scaling of a: 2, 4, 8 threads of 2 ranks (the total of computation does "
                   "not grow)");
    assert_says(s, "A rank computes 400.0 ms on 2 threads, 400.0 ms on 8.");
    assert_says(s, "A call takes 3.000 ms on 2 threads, 3.000 ms on 8.");
    close_runs(s, N_RUNS);
}

static void check_main_threads(const struct pct_scale *s, const unsigned ranks[2], unsigned threads)
{
    assert_false(s->by_threads);
    assert_int_equal(s->scaling, PCT_SCALING_WEAK);
    for (unsigned k = 0; k < 2; k++) {
        const struct pct_scale_row *waits = row_named(s, "waiting of threads in libgomp.so.1");
        assert_true(
            is_near(row_named(s, "computation in serial")->costs[k].ns, ranks[k] * SERIAL_MS * ms));
        assert_true(is_near(row_named(s, "computation in work._omp_fn.0")->costs[k].ns,
                            ranks[k] * region_ms(threads) * ms));
        assert_true(is_near(waits->costs[k].ns, ranks[k] * WAIT_MS * ms));
    }
}

/* The main thread alone has all of its time in `serial`, and its part of the region, also where it
 * is not known how many threads there are. */
static void contexts_of_ranks_have_the_time_of_main_threads(void **state)
{
    static const unsigned ranks[] = {2, 4};
    enum { THREADS = 4 };
    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        unsigned k = i % 2;
        renewed = i / 2;
        open_run(k, ranks[k], THREADS);
        if (!k)
            continue;
        struct pct_scale *s = compare(2);
        check_main_threads(s, ranks, THREADS);
        close_runs(s, 2);
    }
    renewed = false;
}

/* Nine samples at the smallest or at the largest scale tell no efficiency, and no point of a model.
 * Ten do. */
static void few_samples_at_a_scale_tell_no_efficiency(void **state)
{
    static const struct {
        double samples[2];
        bool known;
    } cases[] = {{{10, 10}, true}, {{9, 1000}, false}, {{1000, 9}, false}};
    const struct pct_choice choice = {.columns = "place,efficiency_percent"};
    (void)state;
    for (size_t i = 0; i < PC_ARRAY_LEN(cases); i++) {
        char *table = NULL;
        size_t n;
        open_run(0, 2, 1);
        open_run(1, 4, 1);
        struct pct_scale *s = compare(2);
        const struct pct_scale_row *serial = row_named(s, "computation in serial");
        for (size_t k = 0; k < 2; k++) {
            serial->costs[k].samples = cases[i].samples[k];
            assert_int_equal(pct_scale_lacks(s, serial, k), cases[i].samples[k] < 10);
        }
        FILE *out = open_memstream(&table, &n);
        pct_scale_tsv(out, s, &pct_scale_tables[1], &choice);
        fclose(out);
        if ((strstr(table, "computation in serial (a.c:20)\t\n") == NULL) != cases[i].known)
            fail_msg("case %zu: %s", i, table);
        free(table);
        close_runs(s, 2);
    }
}

static void runs_that_differ_in_nothing_are_refused(void **state)
{
    struct pct_scale *s = NULL;
    struct pc_error error = {""};
    (void)state;
    for (unsigned k = 0; k < 2; k++)
        open_run(k, 2, 4);
    assert_int_equal(pct_scale_make(runs, 2, &(struct pct_scale_options){0}, &s, &error), PC_EARG);
    assert_string_equal(error.text, "all runs have the same number of ranks, 2, and of threads, 8: "
                                    "give runs at two or more");
    close_runs(NULL, 2);
}

/* Most threads of a run without samples are in no table. */
static void threads_of_runs_without_samples_are_not_known(void **state)
{
    struct pct_scale *s = NULL;
    struct pc_error error = {""};
    (void)state;
    unsampled = true;
    for (unsigned k = 0; k < 2; k++)
        open_run(k, 2, 1);
    unsampled = false;
    assert_int_equal(pct_scale_make(runs, 2, &(struct pct_scale_options){0}, &s, &error), PC_EARG);
    assert_string_equal(error.text,
                        "all runs have the same number of ranks, 2: give runs at two or "
                        "more; threads are known of sampled runs alone");
    close_runs(NULL, 2);
}

/* The runtime may make a thread while another ends: there are more numbers than threads at once. */
static void renewed_threads_are_not_counted(void **state)
{
    struct pct_scale *s = NULL;
    struct pc_error error = {""};
    char *text = NULL;
    size_t n;
    (void)state;
    renewed = true;
    for (unsigned k = 0; k < N_RUNS; k++)
        open_run(k, 2, 1 + k);
    assert_int_equal(pct_scale_make(runs, N_RUNS, &(struct pct_scale_options){0}, &s, &error),
                     PC_EARG);
    assert_string_equal(error.text, "all runs have the same number of ranks, 2: give runs at two "
                                    "or more; how many threads they have at once is not known, "
                                    "since a runtime ends some and makes others");
    close_runs(NULL, N_RUNS);
    for (unsigned i = 0; i < 2; i++) {
        renewed = i;
        open_run(0, 2, 2);
        open_run(1, 4, 4);
        s = compare(2);
        FILE *out = open_memstream(&text, &n);
        pct_scale_print(out, s, &(struct pct_compare_print){.width = 0});
        fclose(out);
        assert_int_equal(strstr(text, "A rank works with 2 threads on 2 ranks, 4 on 4") == NULL, i);
        free(text);
        close_runs(s, 2);
    }
    renewed = false;
}

/* Runs of one number of ranks are no repeats if they have other numbers of threads. */
static void repeats_with_other_threads_are_told(void **state)
{
    (void)state;
    open_run(0, 2, 1);
    open_run(1, 2, 4);
    open_run(2, 4, 1);
    struct pct_scale *s = compare(3);
    assert_says(s, "The runs of 2 ranks have 2 to 8 threads in all: their figures are means over "
                   "these.");
    close_runs(s, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_of_one_number_of_ranks_are_compared_by_threads),
        cmocka_unit_test(contexts_of_ranks_have_the_time_of_main_threads),
        cmocka_unit_test(few_samples_at_a_scale_tell_no_efficiency),
        cmocka_unit_test(runs_that_differ_in_nothing_are_refused),
        cmocka_unit_test(threads_of_runs_without_samples_are_not_known),
        cmocka_unit_test(renewed_threads_are_not_counted),
        cmocka_unit_test(repeats_with_other_threads_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
