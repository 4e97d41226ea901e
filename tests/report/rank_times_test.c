/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The time of ranks outside MPI: its division, against runs whose parts are known; and the lead of
 * the busiest rank. In runs without a lead one is reported as certain in at most PCT_LEAD_FALSE of
 * the cases, with scatter of samples or of the ranks themselves; a planted one is found. Runs are
 * drawn from fixed seeds.
 */
#include "analysis/compare/compared_run_private.h"
#include "analysis/gather.h"
#include "analysis/rank_times.h"
#include "sample.h"
#include "tests/random.h"
#include "tests/seed.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { RUNS = 2000, PERIOD_US = 10000 };
static const double ms = 1e6;

/* One run: ranks and their tables. */
static struct {
    struct pc_profile p;
    struct pc_profile_rank ranks[SAMPLE_RANKS];
    struct pc_profile_table tables[3];
    struct pc_profile_column columns[3][10];
    uint64_t cells[3][SAMPLE_RANKS * 10];
} run;

static uint64_t seed;

static struct pc_profile_table *add_table(const char *name, const char *const *columns)
{
    uint32_t k = run.p.n_tables++;
    struct pc_profile_table *t = &run.tables[k];
    *t = (struct pc_profile_table){
        .name = (char *)name, .n_keys = 1, .columns = run.columns[k], .cells = run.cells[k]};
    for (; columns[t->n_columns]; t->n_columns++)
        run.columns[k][t->n_columns] = (struct pc_profile_column){
            .name = (char *)columns[t->n_columns],
            .type = t->n_columns ? PCOLLECT_COLUMN_NUMBER : PCOLLECT_COLUMN_RANK};
    run.p.tables = run.tables;
    return t;
}

static void begin(uint32_t n)
{
    memset(&run, 0, sizeof run);
    run.p.ranks = run.ranks;
    run.p.n_ranks = n;
    for (uint32_t r = 0; r < n; r++)
        run.ranks[r].rank = (int32_t)r;
}

/* Times in ms. */
static void set_rank(uint32_t r, double wall, double mpi)
{
    run.ranks[r].inside_ns = (uint64_t)((wall + mpi) * ms);
    run.ranks[r].mpi_ns = (uint64_t)(mpi * ms);
}

/* `others`: CPU time of other threads than the main thread, which has the time that is left. */
static void add_resources(uint32_t r, double delayed, double blocked, double others)
{
    static const char *const columns[] = {"rank",   "delayed", "blocked", "user",
                                          "on_cpu", "paused",  NULL};
    struct pc_profile_table *t = r ? &run.tables[0] : add_table("resources", columns);
    uint64_t *cells = t->cells + 6 * (size_t)t->n_rows++;
    double cpu_ns = (double)run.ranks[r].inside_ns - (delayed + blocked) * ms;
    cells[0] = r;
    cells[1] = (uint64_t)(delayed * ms);
    cells[2] = (uint64_t)(blocked * ms);
    cells[4] = (uint64_t)fmax(0, cpu_ns);
    cells[3] = cells[4] + (uint64_t)(others * ms);
    cells[5] = (uint64_t)(7 * ms);
}

struct sampled {
    double n, us, squares;
};

/* Threads that end before a sample have the row of the others, and half of its CPU time. */
static void add_thread_sampling(uint32_t r, uint32_t thread, struct sampled compute,
                                struct sampled mpi)
{
    static const char *const columns[] = {
        "rank",        "thread", "booked", "period", "compute_time", "compute_squares", "mpi_time",
        "mpi_squares", "cpu",    "seen",   NULL};
    struct pc_profile_table *t = r || thread ? &run.tables[1] : add_table("sampling", columns);
    uint64_t *cells = t->cells + 10 * (size_t)t->n_rows++;
    cells[0] = r;
    cells[1] = thread;
    cells[2] = (uint64_t)compute.n;
    cells[3] = PERIOD_US * 1000;
    cells[4] = (uint64_t)(compute.us * 1000);
    cells[5] = (uint64_t)compute.squares;
    cells[6] = (uint64_t)(mpi.us * 1000);
    cells[7] = (uint64_t)mpi.squares;
    cells[9] = cells[4] + cells[6];
    cells[8] = 2 * cells[9];
}

static void add_sampling(uint32_t r, struct sampled compute, struct sampled mpi)
{
    add_thread_sampling(r, 0, compute, mpi);
}

/* A thread with that time in the runtime of threads, and that time without a processor, in ms. */
static void add_thread(uint32_t r, uint32_t thread, double cpu, double in_runtime, double delayed)
{
    static const char *const columns[] = {"rank",       "thread",  "cpu", "known",
                                          "in_runtime", "delayed", NULL};
    struct pc_profile_table *t =
        r || thread ? &run.tables[2] : add_table("thread_records", columns);
    uint64_t *cells = t->cells + 6 * (size_t)t->n_rows++;
    cells[0] = r;
    cells[1] = thread;
    cells[2] = (uint64_t)(cpu * ms);
    cells[3] = 1;
    cells[4] = (uint64_t)(in_runtime * ms);
    cells[5] = (uint64_t)(delayed * ms);
}

/* Interrupts of a thread that computes and waits in turns, as the sampler draws their distance.
 * `compute` and `mpi` are the CPU time in ms; a turn of both takes the given number of periods on
 * average, and its length is random or constant. */
static void draw_samples(uint32_t r, double compute, double mpi, double periods, bool regular)
{
    struct sampled of[2] = {{0, 0, 0}, {0, 0, 0}};
    const double all[2] = {compute * 1000, mpi * 1000}, sum = all[0] + all[1];
    double left[2] = {all[0], all[1]}, now = 0, last = 0;
    double due = PERIOD_US / 2.0 + random_below(&seed, PERIOD_US);
    for (unsigned in = 0; left[0] + left[1] > 0; in = !in) {
        double drawn = regular ? 1 : 2 * random_uniform(&seed);
        double stay = PERIOD_US * periods * drawn * all[in] / sum;
        stay = left[!in] > 0 ? fmin(stay, left[in]) : left[in];
        left[in] -= stay;
        now += stay;
        for (; due <= now; due += PERIOD_US / 2.0 + random_below(&seed, PERIOD_US)) {
            of[in].n++;
            of[in].us += due - last;
            of[in].squares += (due - last) * (due - last);
            last = due;
        }
    }
    add_sampling(r, of[0], of[1]);
}

static struct pct_lead lead_of_run(double *imbalance_out)
{
    struct pct_rank_times *t = rank_times_of(&run.p);
    struct pct_lead lead = pct_rank_times_lead(t);
    if (imbalance_out)
        *imbalance_out = pct_rank_times_imbalance(t);
    pct_rank_times_free(t);
    return lead;
}

/* Compares the time that comparisons say they leave out with what they do. */
static void compare_run(void)
{
    struct pct_run of;
    run.p.exe = (char *)"";
    pct_run_adopt(&of, "", &run.p, pct_symbols_new(&run.p));
    double left_out_ns = of.core_ns - of.init_ns - of.undelayed.core_ns - of.library_ns;
    if (fabs(of.delayed_ns - left_out_ns) > 1)
        fail_msg("%g is left out, not %g", left_out_ns, of.delayed_ns);
    assert_true(of.variance > 0);
    assert_true(fabs(of.paused_ns - 7 * ms * run.p.n_ranks) < 1);
    pct_run_close(&of);
}

/* Bound for the number of RUNS with an event of this probability; exceeded in one of 10,000
 * cases. */
static unsigned most_false(void)
{
    return (unsigned)(PCT_LEAD_FALSE * RUNS + 3.9 * sqrt(PCT_LEAD_FALSE * RUNS));
}

/* ---- Division -------------------------------------------------------------------------------- */

/* Ranks with 1,000 ms outside MPI: one computes, one sleeps, one waits for a processor; their main
 * threads have samples without error. The last columns are the expected parts. */
static void time_outside_mpi_is_divided(void **state)
{
    static const struct {
        double delayed, blocked, sampled, want_cpu, want_blocked, want_delayed;
    } ranks[] = {
        {1, 1, 998, 998, 1, 1},     /* computes */
        {1, 899, 100, 100, 899, 1}, /* sleeps */
        {900, 0, 100, 100, 0, 900}, /* waits for a processor */
        {950, 0, 100, 100, 0, 900}, /* waits for a processor also in MPI */
        {0, 0, 0, 1000, 0, 0},      /* nothing is known */
    };
    (void)state;
    for (unsigned sampled = 0; sampled < 2; sampled++) {
        begin(PC_ARRAY_LEN(ranks));
        for (uint32_t r = 0; r < run.p.n_ranks; r++) {
            set_rank(r, 1000, 0);
            add_resources(r, ranks[r].delayed, ranks[r].blocked, 0);
        }
        for (uint32_t r = 0; r < run.p.n_ranks && sampled; r++)
            add_sampling(r, (struct sampled){100, ranks[r].sampled * 1000, 0},
                         (struct sampled){0, 0, 0});
        struct pct_rank_times *t = rank_times_of(&run.p);
        for (uint32_t r = 0; r < run.p.n_ranks; r++) {
            const struct pct_rank_time *rank = &t->list[r];
            double off =
                sampled ? 0.01 * ms : 60 * ms; /* without samples the delay is divided evenly */
            if (fabs(rank->cpu_ns - ranks[r].want_cpu * ms) > off ||
                fabs(rank->blocked_ns - ranks[r].want_blocked * ms) > ms ||
                fabs(rank->delayed_ns - ranks[r].want_delayed * ms) > off)
                fail_msg("rank %u, %u: %g %g %g", r, sampled, rank->cpu_ns, rank->blocked_ns,
                         rank->delayed_ns);
            assert_true(fabs(rank->cpu_ns + rank->blocked_ns + rank->delayed_ns - 1000 * ms) < 1);
        }
        pct_rank_times_free(t);
    }
}

/* Gives the run a call, of which each rank has that many ms; with by_rank this is known of each of
 * them, else of all together. */
static void add_call(const char *name, uint16_t op_class, const double *time_ms, bool by_rank)
{
    static int32_t ranks[SAMPLE_RANKS];
    static uint64_t values[SAMPLE_RANKS];
    static struct pc_profile_op op;
    static struct pc_profile_field time = {
        .plugin = (char *)"time", .name = (char *)"time", .combine = PCOLLECT_SUM};
    static struct pc_profile_node node = {.parent = PC_NO_INDEX, .kind = PCOLLECT_NODE_OP};
    static struct pc_stat stat;
    static struct pc_profile_data data;
    stat = (struct pc_stat){.n = run.p.n_ranks};
    data = (struct pc_profile_data){.n_ranks = run.p.n_ranks, .stats = &stat};
    for (uint32_t r = 0; r < run.p.n_ranks; r++) {
        ranks[r] = (int32_t)r;
        stat.sum += values[r] = (uint64_t)(time_ms[r] * ms);
    }
    if (by_rank) {
        data.kept = PC_KEPT_EXACT;
        data.ranks = ranks;
        data.values = values;
    }
    op = (struct pc_profile_op){(char *)name, op_class};
    run.p.ops = &op;
    run.p.fields = &time;
    run.p.nodes = &node;
    run.p.data = &data;
    run.p.n_ops = run.p.n_fields = run.p.n_nodes = run.p.n_data = 1;
}

static void add_init(const double *init, bool by_rank)
{
    add_call("MPI_Init", PCOLLECT_CLASS_ENV, init, by_rank);
}

/* Ranks have equal work, 500 ms; the last one comes to MPI_Init 6,000 ms after the others, and then
 * waits for a processor for most of its time outside MPI. */
static void a_rank_that_comes_late_to_init_does_not_compute_longer(void **state)
{
    static const struct {
        double wall, mpi, init, delayed, blocked;
    } ranks[] = {{600, 10600, 6100, 100, 4500},
                 {550, 10650, 6100, 50, 4550},
                 {520, 10680, 6100, 20, 4580},
                 {5100, 100, 100, 4580, 20}};
    double init[PC_ARRAY_LEN(ranks)];
    (void)state;
    begin(PC_ARRAY_LEN(ranks));
    for (uint32_t r = 0; r < run.p.n_ranks; r++) {
        init[r] = ranks[r].init;
        set_rank(r, ranks[r].wall, ranks[r].mpi);
        add_resources(r, ranks[r].delayed, ranks[r].blocked, 0);
        uint64_t *cells = run.tables[0].cells + 6 * r;
        cells[3] = cells[4] =
            run.ranks[r].inside_ns - (uint64_t)(init[r] * ms) - cells[1] - cells[2];
    }
    for (uint32_t r = 0; r < run.p.n_ranks; r++)
        add_sampling(r, (struct sampled){50, 500e3, 0}, (struct sampled){0, 0, 0});
    add_init(init, false);
    struct pct_rank_times *t = rank_times_of(&run.p);
    for (uint32_t r = 0; r < run.p.n_ranks; r++)
        if (fabs(t->list[r].own_ns - 510 * ms) > 11 * ms ||
            fabs(t->list[r].all_delayed_ns - ranks[r].delayed * ms) > 1)
            fail_msg("rank %u: own %g, delayed %g", r, t->list[r].own_ns,
                     t->list[r].all_delayed_ns);
    assert_true(pct_rank_times_imbalance(t) < 0.05);
    pct_rank_times_free(t);
}

/* Both ranks were without a processor for 500 ms, of which it is not known how much was in MPI:
 * rank 0 is in MPI_Init for 4,000 ms, and outside MPI from then on, rank 1 comes to MPI_Init last.
 * Where only the mean time in MPI_Init is known, nothing is left of the time of rank 1 in MPI. */
static void the_time_in_init_is_that_of_the_rank(void **state)
{
    static const char *const columns[] = {"rank", "delayed", NULL};
    static const double init[] = {4000, 0}, want[2][2] = {{2500. / 3, 500}, {500, 750}};
    (void)state;
    for (unsigned by_rank = 0; by_rank < 2; by_rank++) {
        begin(2);
        set_rank(0, 1000, 4000);
        set_rank(1, 1000, 1000);
        struct pc_profile_table *t = add_table("resources", columns);
        t->n_rows = 2;
        memcpy(t->cells, (uint64_t[]){0, 500000000, 1, 500000000}, 4 * sizeof *t->cells);
        add_init(init, by_rank);
        struct pct_rank_times *times = rank_times_of(&run.p);
        for (uint32_t r = 0; r < 2; r++)
            if (fabs(times->list[r].own_ns - want[by_rank][r] * ms) > 1)
                fail_msg("rank %u, %u: %g", r, by_rank, times->list[r].own_ns);
        pct_rank_times_free(times);
    }
}

/* The main thread of rank 0 sleeps outside MPI for as long as another thread of the rank is in a
 * call, in which this one waits for rank 1. */
static void ranks_wait_for_one_that_does_not_wait_for_its_threads(void **state)
{
    static const double call[] = {800, 300};
    (void)state;
    begin(2);
    set_rank(0, 200, 800);
    run.ranks[0].others_mpi_ns = run.ranks[0].mpi_ns;
    set_rank(1, 700, 300);
    add_resources(0, 0, 800, 0);
    add_resources(1, 0, 0, 0);
    add_call("MPI_Recv", PCOLLECT_CLASS_P2P, call, true);
    struct pct_data *d =
        pct_data_new("", &run.p, pct_symbols_new(&run.p), &(struct pct_tree_options){0});
    struct pct_wait_times waits = pct_data_wait_times(d);
    assert_true(waits.known);
    assert_int_equal(waits.longest, 1);
    assert_true(fabs(waits.rank_ns[0] - 500 * ms) < 1);
    assert_true(waits.rank_ns[1] == 0);
    pct_data_free(d);
}

/* A rank that polls has no figure of its own, nor has one that sleeps a delay: the kernel counts
 * delays if any rank of the run has a figure. */
static void a_rank_need_not_be_delayed_to_be_divided(void **state)
{
    static const struct {
        double delayed, blocked;
        bool want;
    } cases[] = {{0, 0, false}, {0, 900, true}, {5, 0, true}};
    (void)state;
    for (size_t k = 0; k < PC_ARRAY_LEN(cases); k++) {
        begin(2);
        for (uint32_t r = 0; r < run.p.n_ranks; r++) {
            set_rank(r, r ? 1000 : 1, r ? 1 : 1000);
            add_resources(r, r ? cases[k].delayed : 0, r ? cases[k].blocked : 0, 0);
        }
        struct pct_rank_times *t = rank_times_of(&run.p);
        assert_int_equal(t->divided, cases[k].want);
        assert_true(fabs(t->list[1].blocked_low_ns - fmax(0, cases[k].blocked - 1) * ms) < 1);
        pct_rank_times_free(t);
    }
}

/* Ranks with 1,000 ms outside MPI, of which samples found 200 computing and some in the library. It
 * had a processor there: only the rest is delay, and with free processors nothing is. */
static void the_library_does_not_wait_for_a_processor(void **state)
{
    static const char *const columns[] = {"rank",         "booked",   "period",
                                          "compute_time", "own_time", NULL};
    static const struct {
        double delayed, library, want_cpu, want_library, want_delayed;
    } ranks[] = {
        {600, 300, 500, 300, 500},                         /* 100 of the delay were in MPI */
        {500, 300, 500, 300, 500}, {0, 300, 1000, 300, 0}, /* other CPU time was not sampled */
        {900, 3000, 1000, 800, 0},                         /* longer than the run */
        {900, 0, 200, 0, 800},
    };
    (void)state;
    begin(PC_ARRAY_LEN(ranks));
    for (uint32_t r = 0; r < run.p.n_ranks; r++) {
        set_rank(r, 1000, 200);
        add_resources(r, ranks[r].delayed, 0, 0);
    }
    struct pc_profile_table *t = add_table("sampling", columns);
    for (uint32_t r = 0; r < run.p.n_ranks; r++) {
        uint64_t *cells = t->cells + 5 * (size_t)t->n_rows++;
        cells[0] = r;
        cells[1] = 20;
        cells[2] = PERIOD_US * 1000;
        cells[3] = (uint64_t)(200 * ms);
        cells[4] = (uint64_t)(ranks[r].library * ms);
    }
    struct pct_rank_times *times = rank_times_of(&run.p);
    for (uint32_t r = 0; r < run.p.n_ranks; r++) {
        const struct pct_rank_time *rank = &times->list[r];
        if (fabs(rank->cpu_ns - ranks[r].want_cpu * ms) > 1 ||
            fabs(rank->own_ns - (ranks[r].want_cpu - ranks[r].want_library) * ms) > 1 ||
            fabs(rank->library_ns - ranks[r].want_library * ms) > 1 ||
            fabs(rank->delayed_ns - ranks[r].want_delayed * ms) > 1)
            fail_msg("rank %u: %g %g %g", r, rank->cpu_ns, rank->library_ns, rank->delayed_ns);
    }
    pct_rank_times_free(times);
}

/* Ranks with 1,000 ms outside MPI, of which 200 are CPU time, and as long in MPI, are blocked for
 * 700 ms and delayed for 800: nothing tells which of both is outside MPI. A comparison takes that
 * for a guess. */
static void delay_that_may_be_blocked_is_unsure(void **state)
{
    static const double mpi[] = {1000, 400, 0}, delayed[] = {800, 500, 100}, want[] = {700, 400, 0};
    (void)state;
    begin(PC_ARRAY_LEN(mpi));
    for (uint32_t r = 0; r < run.p.n_ranks; r++) {
        set_rank(r, 1000, mpi[r]);
        add_resources(r, delayed[r], 700, 0);
        add_sampling(r, (struct sampled){100, 200 * 1000, 0}, (struct sampled){0, 0, 0});
    }
    struct pct_rank_times *t = rank_times_of(&run.p);
    for (uint32_t r = 0; r < run.p.n_ranks; r++)
        if (fabs(t->list[r].unsure_ns - want[r] * ms) > ms)
            fail_msg("rank %u: %g", r, t->list[r].unsure_ns);
    assert_true(fabs(t->unsure_ns - 1100 * ms) < ms);
    assert_int_equal(pct_rank_times_division(t), PCT_DIVISION_UNSURE);
    pct_rank_times_free(t);
    struct pct_run compared;
    run.p.exe = (char *)"";
    pct_run_adopt(&compared, "run", &run.p, pct_symbols_new(&run.p));
    assert_true(compared.guessed && !compared.too_short && compared.waiting_ns > 0);
    pct_run_close(&compared);
}

/* A helper with 5 ms beside three threads with 100 does not count, nor one that waits in the
 * runtime of threads, nor a rank that computes nothing. */
static void threads_that_work_are_counted(void **state)
{
    static const struct {
        uint32_t rank, thread;
        double work, waits;
    } threads[] = {{0, 0, 100, 0}, {0, 1, 100, 0}, {0, 2, 100, 50}, {0, 3, 5, 0},
                   {1, 0, 100, 0}, {1, 1, 0, 100}, {2, 0, 0, 0}};
    (void)state;
    begin(3);
    for (uint32_t r = 0; r < run.p.n_ranks; r++) {
        set_rank(r, 1000, 0);
        add_resources(r, 1, 0, 0);
    }
    for (size_t i = 0; i < PC_ARRAY_LEN(threads); i++) {
        double ns = threads[i].work + threads[i].waits;
        add_thread_sampling(threads[i].rank, threads[i].thread, (struct sampled){10, ns * 1e3, 0},
                            (struct sampled){0, 0, 0});
    }
    for (size_t i = 0; i < PC_ARRAY_LEN(threads); i++)
        add_thread(threads[i].rank, threads[i].thread, threads[i].work + threads[i].waits,
                   threads[i].waits, 0);
    struct pct_rank_times *t = rank_times_of(&run.p);
    assert_true(fabs(t->n_working - 2) < 1e-9); /* 3 and 1 */
    pct_rank_times_free(t);
}

/* The main threads sleep for 899 ms of 1,000; others of the rank have no samples. */
static void a_rank_whose_threads_compute_is_not_blocked(void **state)
{
    static const double others[] = {0, 600, 3000}, want_blocked[] = {899, 299, 0};
    (void)state;
    begin(PC_ARRAY_LEN(others));
    for (uint32_t r = 0; r < run.p.n_ranks; r++) {
        set_rank(r, 1000, 0);
        add_resources(r, 1, 899, others[r]);
    }
    struct pct_rank_times *t = rank_times_of(&run.p);
    for (uint32_t r = 0; r < run.p.n_ranks; r++) {
        assert_true(fabs(t->list[r].blocked_ns - want_blocked[r] * ms) < 1);
        assert_true(fabs(t->list[r].cpu_ns - (999 - want_blocked[r]) * ms) < 1);
    }
    pct_rank_times_free(t);
}

/* The main threads sleep for 899 ms of 1,000; a thread with 100 ms has samples, others have none.
 */
static void threads_without_samples_are_not_blocked(void **state)
{
    static const double others[] = {100, 140, 700, 3000};
    static const double want_blocked[] = {899, 899, 299, 0}, want_unsampled[] = {0, 0, 600, 2900};
    double unsampled = 0;
    (void)state;
    begin(PC_ARRAY_LEN(others));
    for (uint32_t r = 0; r < run.p.n_ranks; r++) {
        set_rank(r, 1000, 0);
        add_resources(r, 1, 899, others[r]);
    }
    for (uint32_t r = 0; r < run.p.n_ranks; r++) {
        add_thread_sampling(r, 0, (struct sampled){10, 100e3, 0}, (struct sampled){0, 0, 0});
        add_thread_sampling(r, 1, (struct sampled){10, 100e3, 0}, (struct sampled){0, 0, 0});
    }
    struct pct_rank_times *t = rank_times_of(&run.p);
    for (uint32_t r = 0; r < run.p.n_ranks; r++) {
        unsampled += want_unsampled[r] * ms;
        if (fabs(t->list[r].blocked_ns - want_blocked[r] * ms) > 1 * ms)
            fail_msg("rank %u: blocked %g", r, t->list[r].blocked_ns);
    }
    assert_true(fabs(t->unsampled_ns - unsampled) < 1);
    pct_rank_times_free(t);
}

/* Earlier versions took time in transports of MPI libraries for waits for other threads. */
static void expect_no_waits_in_transports(void)
{
    struct pc_profile kept = run.p;
    struct pc_profile_module transport = {.flags = PCOLLECT_MODULE_RUNTIME};
    run.p.modules = &transport;
    run.p.n_modules = 1;
    for (int waits = 0; waits < 2; waits++) {
        transport.path = (char *)(waits ? "/lib/libgomp.so.1" : "/lib/libucs.so.0");
        struct pct_rank_times *t = rank_times_of(&run.p);
        assert_int_equal(t->for_threads_ns > 0, waits);
        pct_rank_times_free(t);
    }
    run.p = kept;
}

/* Two threads of each rank have equal work. On one processor they take turns: while the main thread
 * is blocked, the other one works or waits for the processor. With a processor for each, the other
 * one may work meanwhile, and cannot if it only waits in the runtime. What
 * the main thread polls in the runtime for longer than the other one works is no computation. */
static void threads_that_take_turns_are_not_blocked(void **state)
{
    static const struct {
        double delayed, blocked, sampled, in_runtime, other_delayed, want_blocked, want_delayed,
            want_for_threads;
    } ranks[] = {{400, 200, 400, 100, 450, 0, 600, 100},
                 {0, 600, 400, 100, 0, 300, 0, 100},
                 {400, 200, 400, 400, 450, 200, 400, 400}};
    (void)state;
    begin(PC_ARRAY_LEN(ranks));
    for (uint32_t r = 0; r < run.p.n_ranks; r++) {
        set_rank(r, 1000, 0);
        add_resources(r, ranks[r].delayed + 1, ranks[r].blocked, 0);
    }
    for (uint32_t r = 0; r < run.p.n_ranks; r++)
        for (uint32_t i = 0; i < 2; i++)
            add_thread_sampling(r, i, (struct sampled){100, ranks[r].sampled * 1000, 0},
                                (struct sampled){0, 0, 0});
    for (uint32_t r = 0; r < run.p.n_ranks; r++)
        for (uint32_t i = 0; i < 2; i++)
            add_thread(r, i, ranks[r].sampled, ranks[r].in_runtime,
                       i ? ranks[r].other_delayed : ranks[r].delayed);
    struct pct_rank_times *t = rank_times_of(&run.p);
    for (uint32_t r = 0; r < run.p.n_ranks; r++)
        if (fabs(t->list[r].blocked_ns - ranks[r].want_blocked * ms) > 1 * ms ||
            fabs(t->list[r].delayed_ns - ranks[r].want_delayed * ms) > 1 * ms ||
            fabs(t->list[r].for_threads_ns - ranks[r].want_for_threads * ms) > 1)
            fail_msg("rank %u: blocked %g, delayed %g, for threads %g", r, t->list[r].blocked_ns,
                     t->list[r].delayed_ns, t->list[r].for_threads_ns);
    assert_string_equal(pct_rank_times_verb(t), "computes, is blocked or waits for its threads");
    pct_rank_times_free(t);
    expect_no_waits_in_transports();
    compare_run();
}

/* The main thread is outside MPI for 1,000 ms, other threads are in MPI for `others`. It may wait
 * for them as long as it is blocked or polls in a runtime; of a killed rank, as long as no sample
 * shows it on a processor. */
static void a_rank_waits_in_mpi_for_its_threads(void **state)
{
    enum { DIVIDED, KILLED, NOT_SAMPLED, N_KINDS };
    static const struct {
        double others, blocked, sampled, in_runtime;
        double own[N_KINDS], want_blocked, want_for_threads;
    } ranks[] = {{900, 600, 400, 0, {400, 400, 100}, 0, 0},
                 {300, 600, 400, 0, {700, 700, 700}, 300, 0},
                 {900, 0, 1000, 800, {200, 200, 100}, 0, 0},
                 {900, 0, 1000, 0, {1000, 1000, 100}, 0, 0},
                 {0, 600, 400, 300, {1000, 1000, 1000}, 600, 300}};
    (void)state;
    for (unsigned kind = 0; kind < N_KINDS; kind++) {
        begin(PC_ARRAY_LEN(ranks));
        for (uint32_t r = 0; r < run.p.n_ranks; r++) {
            set_rank(r, 1000, 0);
            run.ranks[r].mpi_ns = run.ranks[r].others_mpi_ns = (uint64_t)(ranks[r].others * ms);
            run.ranks[r].incomplete = kind != DIVIDED;
            if (kind == DIVIDED)
                add_resources(r, 0, ranks[r].blocked, 0);
        }
        if (kind == KILLED) /* without the first table */
            run.tables[run.p.n_tables++].name = (char *)"";
        for (uint32_t r = 0; r < run.p.n_ranks && kind != NOT_SAMPLED; r++)
            for (uint32_t i = 0; i < 2; i++)
                add_thread_sampling(r, i, (struct sampled){100, i ? 0 : ranks[r].sampled * 1000, 0},
                                    (struct sampled){0, 0, 0});
        for (uint32_t r = 0; r < run.p.n_ranks && kind != NOT_SAMPLED; r++)
            for (uint32_t i = 0; i < 2; i++)
                add_thread(r, i, i ? 0 : ranks[r].sampled, i ? 0 : ranks[r].in_runtime, 0);
        struct pct_rank_times *t = rank_times_of(&run.p);
        for (uint32_t r = 0; r < run.p.n_ranks; r++) {
            const struct pct_rank_time *rank = &t->list[r];
            if (fabs(rank->own_ns - ranks[r].own[kind] * ms) > ms ||
                fabs(rank->wall_ns + rank->for_mpi_ns - 1000 * ms) > 1 ||
                fabs(rank->cpu_ns + rank->blocked_ns + rank->delayed_ns - rank->wall_ns) > 1)
                fail_msg("%u, rank %u: own %g, for MPI %g", kind, r, rank->own_ns,
                         rank->for_mpi_ns);
            if (kind == DIVIDED &&
                (fabs(rank->blocked_ns - ranks[r].want_blocked * ms) > ms ||
                 fabs(rank->for_threads_ns - ranks[r].want_for_threads * ms) > ms))
                fail_msg("rank %u: blocked %g, for threads %g", r, rank->blocked_ns,
                         rank->for_threads_ns);
        }
        pct_rank_times_free(t);
    }
}

/* A rank of 10 ms, delayed for most of the time, without an interrupt outside MPI: it has computed
 * although it has no samples. */
static void samples_say_nothing_of_a_short_run(void **state)
{
    (void)state;
    begin(1);
    set_rank(0, 4, 6);
    add_resources(0, 7, 0, 0);
    add_sampling(0, (struct sampled){0, 0, 0}, (struct sampled){1, 10000, 1e8});
    struct pct_rank_times *t = rank_times_of(&run.p);
    assert_true(fabs(t->list[0].own_ns - 0.3 * 4 * ms) < 1);
    pct_rank_times_free(t);
}

/* Rank 1 has the least time of its own by samples. It is told if it has many of them, or was not
 * delayed: then its wall time is its own. */
static void few_samples_do_not_tell_the_least_time(void **state)
{
    static const struct {
        double wall, delayed, n_samples, sampled;
        size_t want; /* 2: not known */
    } cases[] = {{1000, 900, 0, 0, 2},
                 {1000, 900, 9, 90, 2},
                 {1000, 900, 10, 100, 1},
                 {100, 0, 0, 0, 1},
                 {100, 1, 2, 20, 1}};
    (void)state;
    for (size_t k = 0; k < PC_ARRAY_LEN(cases); k++) {
        begin(2);
        set_rank(0, 1000, 0);
        set_rank(1, cases[k].wall, 1000);
        add_resources(0, 1, 0, 0);
        add_resources(1, cases[k].delayed, 0, 0);
        add_sampling(0, (struct sampled){100, 999e3, 0}, (struct sampled){0, 0, 0});
        add_sampling(1, (struct sampled){cases[k].n_samples, cases[k].sampled * 1000, 0},
                     (struct sampled){0, 0, 0});
        struct pct_rank_times *t = rank_times_of(&run.p);
        if (pct_rank_times_least(t) != cases[k].want)
            fail_msg("case %zu: %zu", k, pct_rank_times_least(t));
        pct_rank_times_free(t);
    }
}

/* Killed ranks: one is outside MPI when its data ends, after 1,000 ms, and the others in a call.
 * Their data ends later: what that rank did meanwhile is not known. Rank 0 has most time of its own
 * until then. */
static void a_rank_whose_data_ends_early_may_lead(void **state)
{
    static const char *const columns[] = {"rank", "thread", "call", "time", NULL};
    static const struct {
        double later; /* the end of the others, in ms */
        bool complete, in_call, want;
        uint64_t silent;
    } cases[] = {{0, false, false, false, 1},   {50, false, false, false, 1},
                 {5000, false, false, true, 1}, {5000, false, true, false, 1},
                 {5000, true, false, false, 1}, {0, false, false, false, 0},
                 {10, false, false, false, 0},  {5000, false, false, true, 0},
                 {5000, false, true, false, 0}, {5000, true, false, false, 0}};
    (void)state;
    for (size_t k = 0; k < PC_ARRAY_LEN(cases); k++) {
        begin(3);
        struct pc_profile_table *t = add_table("open_calls", columns);
        t->columns[2].type = PCOLLECT_COLUMN_NODE;
        set_rank(0, 300, 700 + (cases[k].silent ? cases[k].later : 0));
        set_rank(1, 200, 800 + (cases[k].silent ? 0 : cases[k].later));
        set_rank(2, 200, 800 + cases[k].later);
        for (uint64_t r = 0; r < 3; r++) {
            run.ranks[r].incomplete = !cases[k].complete;
            if (r != cases[k].silent || cases[k].in_call)
                t->cells[4 * (size_t)t->n_rows++] = r;
        }
        struct pct_rank_times *times = rank_times_of(&run.p);
        if (times->busiest != 0 || times->ends_early != cases[k].want ||
            pct_rank_times_know_imbalance(times) == cases[k].want)
            fail_msg("case %zu: %d", k, times->ends_early);
        bool is_silent = !cases[k].complete && !cases[k].in_call;
        for (size_t r = 0; r < 3; r++)
            assert_true(times->list[r].silent_ns ==
                        (is_silent && r == cases[k].silent ? cases[k].later * 1e6 : 0));
        pct_rank_times_free(times);
    }
}

/* ---- Leads ----------------------------------------------------------------------------------- */

/* All ranks have the same work and wait for processors for most of the run: only samples show the
 * work. */
static void equal_work_has_no_sure_lead_by_samples(void **state)
{
    static const struct {
        uint32_t n;
        double compute, mpi, periods;
        bool regular;
    } runs[] = {{2, 300, 100, 1, false},     {2, 300, 100, 5, true},     {8, 300, 100, 1.25, true},
                {8, 300, 100, 0.65, false},  {8, 330, 2, 3, false},      {16, 1000, 3000, 1, false},
                {16, 500, 1500, 0.65, true}, {16, 500, 1500, 0.1, true}, {16, 150, 50, 10, false}};
    (void)state;
    seed = test_seed(5);
    for (size_t k = 0; k < PC_ARRAY_LEN(runs); k++) {
        unsigned n_false = 0;
        for (unsigned i = 0; i < RUNS; i++) {
            begin(runs[k].n);
            for (uint32_t r = 0; r < runs[k].n; r++) {
                set_rank(r, 2000, 2000);
                add_resources(r, 3000, 0, 0);
            }
            for (uint32_t r = 0; r < runs[k].n; r++)
                draw_samples(r, runs[k].compute, runs[k].mpi, runs[k].periods, runs[k].regular);
            n_false += lead_of_run(NULL).low_ns > 0;
        }
        if (n_false > most_false())
            fail_msg("case %zu: %u of %u have a lead", k, n_false, RUNS);
    }
}

/* Nobody waits for a processor, and equal work takes different time from rank to rank. */
static void scatter_of_ranks_is_no_lead(void **state)
{
    static const struct {
        uint32_t n;
        double deviation;
    } runs[] = {{2, 0.04}, {3, 0.05}, {4, 0.01}, {4, 0.06}, {8, 0.003}, {16, 0.06}};
    (void)state;
    seed = test_seed(6);
    for (size_t k = 0; k < PC_ARRAY_LEN(runs); k++) {
        unsigned n_false = 0;
        for (unsigned i = 0; i < RUNS; i++) {
            begin(runs[k].n);
            for (uint32_t r = 0; r < runs[k].n; r++)
                set_rank(r, 1000 * (1 + runs[k].deviation * random_normal(&seed)), 100);
            n_false += lead_of_run(NULL).real;
        }
        if (n_false > most_false())
            fail_msg("%u ranks, %g: %u of %u have a lead", runs[k].n, runs[k].deviation, n_false,
                     RUNS);
    }
}

static void planted_leads_are_found(void **state)
{
    unsigned n_found = 0, n_small = 0;
    double imbalance;
    (void)state;
    seed = test_seed(7);
    for (unsigned i = 0; i < 100; i++) {
        begin(8); /* twice the work, and no processor for three quarters of the time */
        for (uint32_t r = 0; r < 8; r++) {
            set_rank(r, 2000, 2000);
            add_resources(r, 3000, 0, 0);
        }
        for (uint32_t r = 0; r < 8; r++)
            draw_samples(r, r == 5 ? 700 : 350, r == 5 ? 10 : 100, 3, false);
        struct pct_lead lead = lead_of_run(&imbalance);
        n_found += lead.low_ns > 0 && lead.real && fabs(imbalance - 0.777) < 0.3;
        begin(8); /* a tenth, where equal work differs by 1 % */
        for (uint32_t r = 0; r < 8; r++)
            set_rank(r, (r == 3 ? 1100 : 1000) * (1 + 0.01 * random_normal(&seed)), 100);
        lead = lead_of_run(NULL);
        n_small += lead.low_ns > 0 && lead.real;
    }
    assert_true(n_found >= 90);
    assert_true(n_small >= 90);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(time_outside_mpi_is_divided),
        cmocka_unit_test(a_rank_that_comes_late_to_init_does_not_compute_longer),
        cmocka_unit_test(the_time_in_init_is_that_of_the_rank),
        cmocka_unit_test(ranks_wait_for_one_that_does_not_wait_for_its_threads),
        cmocka_unit_test(a_rank_need_not_be_delayed_to_be_divided),
        cmocka_unit_test(the_library_does_not_wait_for_a_processor),
        cmocka_unit_test(delay_that_may_be_blocked_is_unsure),
        cmocka_unit_test(threads_that_work_are_counted),
        cmocka_unit_test(a_rank_whose_threads_compute_is_not_blocked),
        cmocka_unit_test(threads_without_samples_are_not_blocked),
        cmocka_unit_test(threads_that_take_turns_are_not_blocked),
        cmocka_unit_test(a_rank_waits_in_mpi_for_its_threads),
        cmocka_unit_test(samples_say_nothing_of_a_short_run),
        cmocka_unit_test(few_samples_do_not_tell_the_least_time),
        cmocka_unit_test(a_rank_whose_data_ends_early_may_lead),
        cmocka_unit_test(equal_work_has_no_sure_lead_by_samples),
        cmocka_unit_test(scatter_of_ranks_is_no_lead),
        cmocka_unit_test(planted_leads_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
