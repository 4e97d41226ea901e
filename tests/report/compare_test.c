/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What comparisons say of runs that differ in more than their times: threads that wait in a runtime
 * library, ranks that were killed, two MPIs, one build without lines. Two runs made by hand of a
 * program in which main calls solve.
 */
#include "tests/report/scale_rows.h"

#include "analysis/compare/compared_run_private.h"
#include "analysis/compare/difference.h"
#include "analysis/symbols/symbols_private.h"
#include "view/compare_print.h"

#include <stdio.h>
#include <stdlib.h>

enum { MAIN = 0x1000, SOLVE = 0x2000, CODE = 0x3000, RUNTIME_CODE = 0x100 };

/* Two runs, the second on more ranks. */
struct pair {
    struct sample samples[2];
    struct pct_run runs[2];
};
static struct pair pair;
static struct pct_frame in_main[2] = {{"main", "a.c", 10, false, false},
                                      {"main", "a.c", 10, false, false}},
                        in_solve[2] = {{"solve", "a.c", 20, false, false},
                                       {"solve", "a.c", 20, false, false}};
static const char *mpis[2] = {"Open MPI v4.1.4", "Open MPI v4.1.4"};
static bool two_builds, lineless; /* lineless: the second build */
static const struct pct_frame
    *leaf; /* of the first run: solve, and what is inlined in it; or NULL */
/* Computation of each rank of the first run beside 100 ms. */
static unsigned longer_ms;
/* Time of each rank of the second run for which no sample stands; true if its ranks are killed. */
static unsigned unsampled_ms, killed_ranks;
/* Factor by which the first run is longer because no processor was free; 0: none. */
static double stretched;
/* For so long the last rank of the second run sleeps, and the others wait for it in MPI. */
static unsigned sleep_ms;
/* For so long each rank of the second run is in a call that has not ended. */
static unsigned open_ms;

/* Path of a library, of which each run has another build, and which calls MPI at another offset
 * where it has no name; NULL: solve does. */
static const char *libraries[2];

static void add_open_calls(struct sample *s, uint32_t call)
{
    enum { COLUMNS = 4 };
    static struct pc_profile_column columns[COLUMNS] = {
        {.name = (char *)"rank", .type = PCOLLECT_COLUMN_RANK},
        {.name = (char *)"thread", .type = PCOLLECT_COLUMN_NUMBER},
        {.name = (char *)"call", .type = PCOLLECT_COLUMN_NODE},
        {.name = (char *)"time", .type = PCOLLECT_COLUMN_NUMBER}};
    static uint64_t cells[SAMPLE_RANKS * COLUMNS];
    static struct pc_profile_table table = {.name = (char *)"open_calls",
                                            .n_keys = 2,
                                            .columns = columns,
                                            .n_columns = COLUMNS,
                                            .cells = cells};
    table.n_rows = s->p.n_ranks;
    for (unsigned r = 0; r < s->p.n_ranks; r++) {
        const uint64_t row[COLUMNS] = {r, 0, call, open_ms * 1000000ULL};
        memcpy(&cells[r * COLUMNS], row, sizeof row);
        s->ranks[r].inside_ns += open_ms * 1000000ULL;
        s->ranks[r].mpi_ns += open_ms * 1000000ULL;
    }
    s->p.tables = &table;
    s->p.n_tables = 1;
}

/* The function in which threads are in the runtime. */
static struct pct_frame in_runtime;

static void add_modules(struct sample *s, unsigned k)
{
    s->modules[0] = (struct pc_profile_module){.build_id = {two_builds ? (unsigned char)k : 1},
                                               .build_id_bytes = 20,
                                               .flags = PCOLLECT_MODULE_EXE,
                                               .path = (char *)"/bin/a"};
    s->modules[1] =
        (struct pc_profile_module){.flags = PCOLLECT_MODULE_RUNTIME | PCOLLECT_MODULE_STARTS,
                                   .path = (char *)"/lib/libgomp.so.1"};
    if (libraries[k])
        s->modules[1] = (struct pc_profile_module){.build_id = {(unsigned char)(k + 1)},
                                                   .build_id_bytes = 20,
                                                   .path = (char *)libraries[k]};
    s->p.n_modules = 2;
}

/* Each rank computes 100 ms in solve, and is 50 ms in the runtime library for each rank. */
static void open_run(unsigned k)
{
    struct sample *s = &pair.samples[k];
    unsigned n = 2 * (k + 1);
    sample_begin(s);
    sample_clock(s);
    s->p.mpi = (char *)mpis[k];
    add_modules(s, k);
    s->ops[0] = (struct pc_profile_op){(char *)"MPI_Barrier", PCOLLECT_CLASS_COLL};
    s->p.n_ops = 1;
    s->p.n_ranks = s->p.world_size = n;
    uint32_t at = sample_frame(s, 0, 0, MAIN);
    at = libraries[k] ? sample_frame(s, at, 1, 0x5000 + 0x10 * k) : sample_frame(s, at, 0, SOLVE);
    uint32_t barrier = sample_op(s, at, 0);
    for (unsigned r = 0; r < n; r++)
        sample_add(
            s, &(struct sample_calls){.rank = (int32_t)r,
                                      .count = 1,
                                      .time = (10 + (k && r + 1 < n ? sleep_ms : 0)) * 1000000ULL});
    sample_point(s, at, 1, RUNTIME_CODE);
    for (unsigned r = 0; r < n; r++)
        sample_add_samples(s, (int32_t)r, n * 50 * 1000000ULL);
    sample_point(s, at, 0, CODE);
    for (unsigned r = 0; r < n; r++)
        sample_add_samples(s, (int32_t)r,
                           (k && sleep_ms && r + 1 == n ? 102 : 100 + !k * longer_ms) * 1000000ULL);
    for (unsigned r = 0; r < n; r++)
        s->ranks[r] = (struct pc_profile_rank){
            .rank = (int32_t)r,
            .host = (char *)"node",
            .inside_ns =
                (110 + n * 50ULL + !k * longer_ms + k * (unsampled_ms + sleep_ms)) * 1000000,
            .incomplete = k * killed_ranks,
            .mpi_ns = (10 + (k && r + 1 < n ? sleep_ms : 0)) * 1000000ULL,
            .closed = 1};
    if (k && open_ms)
        add_open_calls(s, barrier);
    if (!k && stretched > 0)
        sample_stretch(s, stretched);
    sample_end(s);
    struct pct_symbols *symbols = pct_symbols_new(&s->p);
    in_main[k].line = k && lineless ? 0 : 10;
    in_solve[k].line = k && lineless ? 0 : 20;
    pct_symbols_teach(symbols, 0, MAIN, (struct pct_place){&in_main[k], 1});
    pct_symbols_teach(symbols, 0, SOLVE, (struct pct_place){&in_solve[k], 1});
    pct_symbols_teach(symbols, 0, CODE + 1,
                      !k && leaf ? (struct pct_place){leaf, 2}
                                 : (struct pct_place){&in_solve[k], 1});
    if (in_runtime.function)
        pct_symbols_teach(symbols, 1, RUNTIME_CODE + 1, (struct pct_place){&in_runtime, 1});
    pct_run_adopt(&pair.runs[k], k ? "b" : "a", &s->p, symbols);
}

static void open_pair(void)
{
    for (unsigned k = 0; k < 2; k++)
        open_run(k);
}

static void close_pair(void)
{
    for (unsigned k = 0; k < 2; k++)
        pct_run_close(&pair.runs[k]);
}

/* The text of the comparison, by `diff` or by `scale`. Freed by the caller. */
static char *compare(bool by_scale)
{
    const struct pct_compare_print how = {.has_least = true, .least = 100};
    char *text = NULL;
    size_t n;
    FILE *out = open_memstream(&text, &n);
    struct pc_error error = {""};
    if (by_scale) {
        struct pct_scale *s = NULL;
        const struct pct_scale_options strong = {.scaling = PCT_SCALING_STRONG};
        assert_int_equal(pct_scale_make(pair.runs, 2, &strong, &s, &error), PC_OK);
        pct_scale_print(out, s, &how);
        pct_scale_free(s);
    } else {
        struct pct_diff *d = pct_diff_make(pair.runs, 1, 1, PCT_DIFF_TIME, &error);
        assert_non_null(d);
        pct_diff_print(out, d, &how);
        pct_diff_free(d);
    }
    fclose(out);
    return text;
}

static void says(const char *text, const char *sentence, bool wanted)
{
    if ((strstr(text, sentence) != NULL) != wanted)
        fail_msg("%s %s:\n%s", wanted ? "no" : "there is", sentence, text);
}

static void threads_that_wait_in_a_runtime_do_not_compute(void **state)
{
    (void)state;
    for (int by_scale = 0; by_scale < 2; by_scale++) {
        open_pair();
        char *text = compare(by_scale);
        says(text, "waiting of threads in libgomp.so.1", true);
        says(text, "computation in libgomp.so.1", false);
        says(text, "libgomp.so.1  a.c:20 (threads wait there)\n", true);
        if (by_scale)
            says(text, "Together the threads wait 200.0 ms on 2 ranks, 800.0 ms on 4.\n", true);
        free(text);
        close_pair();
    }
}

static void nameless_computation_has_a_caller_with_a_name(void **state)
{
    (void)state;
    libraries[0] = libraries[1] = "/lib/libfft.so.3";
    open_pair();
    char *text = compare(true);
    says(text, "computation in libfft.so.3, ... from main (a.c:10)", true);
    free(text);
    close_pair();
    libraries[0] = libraries[1] = NULL;
}

static void a_runtime_that_handles_tasks_need_not_wait(void **state)
{
    static const char *const functions[] = {"GOMP_barrier", "GOMP_taskwait",
                                            "__kmpc_global_thread_num", "omp_get_wtime",
                                            "omp_test_lock"};
    (void)state;
    for (size_t i = 0; i < PC_ARRAY_LEN(functions); i++) {
        in_runtime = (struct pct_frame){.function = functions[i]};
        open_pair();
        char *text = compare(false);
        says(text, functions[i], true);
        says(text, "(threads wait there)", !i);
        free(text);
        close_pair();
    }
    in_runtime = (struct pct_frame){0};
}

/* The main threads are in the runtime for half of the time outside MPI on 4 ranks, and on 2 for
 * less than is worth a word. */
static void scale_says_how_long_main_threads_wait_for_others(void **state)
{
    (void)state;
    open_pair();
    pair.runs[0].for_threads_ns = 0.04 * pair.runs[0].own.compute_ns;
    pair.runs[1].for_threads_ns = 0.5 * pair.runs[1].own.compute_ns;
    char *text = compare(true);
    says(text,
         "Main threads wait for other threads, in a runtime library, for a part of the time that "
         "counts as computation: 50 % on 4 ranks.\n",
         true);
    free(text);
    close_pair();
}

/* With several threads a rank has more than one core. If their numbers differ, so does what ranks
 * compute together. */
static void scale_says_that_ranks_have_other_numbers_of_threads(void **state)
{
    static const struct {
        double threads[2];
        const char *says; /* NULL: nothing */
        bool several;
    } cases[] = {
        {{1, 4}, "A rank works with 1 thread on 2 ranks, 4 on 4: times and", true},
        {{3.5, 1}, "A rank works with 3.5 threads on 2 ranks, 1 on 4: times and", true},
        {{4, 4}, NULL, true},
        {{1, 1}, NULL, false},
        {{0, 4}, NULL, true}, /* not known */
    };
    (void)state;
    for (size_t i = 0; i < PC_ARRAY_LEN(cases); i++) {
        const char *said = cases[i].says ? cases[i].says : "A rank works with";
        open_pair();
        pair.runs[0].n_working = cases[i].threads[0];
        pair.runs[1].n_working = cases[i].threads[1];
        char *text = compare(true);
        says(text, said, cases[i].says);
        says(text, "work that is repeated, or slower when divided", !cases[i].says);
        says(text, " rank time (", cases[i].several);
        says(text, "% of the rank time is lost", cases[i].several);
        says(text, " core time", !cases[i].several);
        free(text);
        close_pair();
    }
}

/* Time that samples leave over may be delay. Samples tell what the ranks compute. */
static void sampled_computation_is_known_beside_what_may_be_delays(void **state)
{
    (void)state;
    for (int too_short = 0; too_short < 2; too_short++) {
        unsampled_ms = 500;
        open_pair();
        unsampled_ms = 0;
        pair.runs[1].guessed = true;
        pair.runs[1].too_short = too_short;
        char *text = compare(true);
        says(text,
             "On 4 ranks it is not known how much of the time outside MPI is blocked (asleep, "
             "files, locks) and how much is waiting for a processor, nor what follows from it.\n",
             !too_short);
        says(text, "On 4 ranks the time outside MPI is too short for samples, so ", too_short);
        says(text, "500.0 ms  (time outside MPI without a sample)", false);
        says(text, "waiting of threads in libgomp.so.1: 18.5 % of the run lost", !too_short);
        says(text, " 100.0 ms   200.0 ms  ", !too_short);
        free(text);
        close_pair();
    }
}

/* A sample more or less is no reason for what others wait. */
static void others_wait_for_a_rank_that_sleeps_where_it_sleeps(void **state)
{
    (void)state;
    sleep_ms = 500;
    open_pair();
    sleep_ms = 0;
    char *text = compare(true);
    says(text, "  1. time outside MPI without a sample: ", true);
    says(text, " The busiest rank computes or is blocked ", true);
    free(text);
    close_pair();
}

/* Samples leave over 500 ms of each rank on 4 ranks, which are killed. */
static void delays_of_killed_ranks_are_said_to_be_unknown(void **state)
{
    static const char note[] = "b: 4 of 4 ranks did not reach MPI_Finalize: their times end with "
                               "the last moment known. How long they waited for a processor is not "
                               "known: that is in all figures of this run.\n";
    (void)state;
    for (int killed = 0; killed < 2; killed++)
        for (int by_scale = 0; by_scale < 2; by_scale++) {
            unsampled_ms = 500;
            killed_ranks = killed;
            open_pair();
            char *text = compare(by_scale);
            says(text, note, killed);
            if (by_scale)
                says(text, ". time outside MPI without a sample: ", !killed);
            free(text);
            close_pair();
        }
    unsampled_ms = killed_ranks = 0;
}

/* A wait that is not known, as of a killed run, is in its figures: then that of the other stays in.
 */
static void a_delay_is_left_out_of_all_runs_or_of_none(void **state)
{
    (void)state;
    for (int killed = 0; killed < 2; killed++)
        for (int by_scale = 0; by_scale < 2; by_scale++) {
            const struct pct_run *a = &pair.runs[0];
            stretched = 3;
            killed_ranks = killed;
            open_pair();
            assert_true(a->own.core_ns < 0.4 * a->core_ns && a->delayed_ns > 0);
            assert_int_equal(pct_runs_agree(pair.runs, 2, NULL), PC_OK);
            if (killed) {
                assert_true(is_near(a->own.core_ns, a->core_ns));
                assert_true(is_near(a->own.compute_ns, a->compute_ns));
                assert_true(is_near(a->undelayed.core_ns, a->core_ns));
                assert_true(a->delayed_ns == 0 && a->undelayed.mpi_part == 1);
            }
            char *text = compare(by_scale);
            says(text, "By its wall time the run takes", !killed && !by_scale);
            says(text, "is not known: that is in all figures of all runs.\n", killed);
            says(text,
                 "In a no processor was free for 67 % of the time: this time stays in all figures, "
                 "since it is not known of all runs.\n",
                 killed);
            says(text, "no processor was free for 67 % of the time: this time is left out",
                 !killed);
            free(text);
            close_pair();
        }
    stretched = killed_ranks = 0;
}

/* On 4 ranks computation loses 800 ms of 1,240 ms, and MPI 20 ms. No processor was free for longer,
 * but not in computation. */
static void waiting_for_ranks_without_a_processor_is_lost_in_mpi(void **state)
{
    (void)state;
    for (int in_mpi = 0; in_mpi < 2; in_mpi++) {
        open_ms = in_mpi ? 300 : 0;
        open_pair();
        pair.runs[1].delayed_ns = 3e9;
        char *text = compare(true);
        says(text, "Up to 1.220 s of this (60 %) may be waiting in MPI for ranks that no", in_mpi);
        says(text, "may be waiting in MPI", in_mpi);
        free(text);
        close_pair();
    }
    open_ms = 0;
}

/* 2 ranks take 840 ms, so that 4 with ideal scaling would take 420 ms; they take 310 ms. */
static void faster_than_ideal_is_called_a_gain(void **state)
{
    (void)state;
    open_pair();
    pair.runs[0].own.time_ns *= 4;
    pair.runs[0].own.core_ns *= 4;
    char *text = compare(true);
    says(text,
         "Gained on 4 ranks against ideal scaling: 440.0 ms, beside 1.240 s core time (35.5 %)",
         true);
    says(text, "Lost on", false);
    says(text, "Where it is gained (", true);
    free(text);
    close_pair();
}

/* All costs add up to the core time with them, too. */
static void calls_that_had_not_ended_are_in_their_contexts(void **state)
{
    static const char note[] = "b: 4 of 4 ranks did not reach MPI_Finalize: their times end with "
                               "the last moment known. MPI calls that had not ended take 1.200 s "
                               "in all.";
    struct pct_scale *s = NULL;
    double sum = 0;
    (void)state;
    open_ms = 300;
    killed_ranks = 1;
    open_pair();
    open_ms = killed_ranks = 0;
    for (int by_scale = 0; by_scale < 2; by_scale++) {
        char *text = compare(by_scale);
        says(text, note, true);
        says(text, "Calls of it that had not ended take 1.200 s together on 4 ranks.", by_scale);
        free(text);
    }
    const struct pct_scale_options strong = {.scaling = PCT_SCALING_STRONG};
    assert_int_equal(pct_scale_make(pair.runs, 2, &strong, &s, NULL), PC_OK);
    for (size_t i = 0; i < s->n_rows; i++)
        sum += s->rows[i].costs[1].ns;
    assert_true(is_near(sum, s->core_ns));
    pct_scale_free(s);
    close_pair();
}

/* All time in MPI may be delay on one side: the calls are there nevertheless. */
static void calls_that_may_be_delay_alone_are_not_gone(void **state)
{
    (void)state;
    for (unsigned k = 0; k < 2; k++) {
        open_pair();
        pair.runs[k].undelayed.mpi_part = 0;
        char *text = compare(false);
        says(text, "New (", false);
        says(text, "Gone (", false);
        says(text, " MPI_Barrier in solve (", false);
        free(text);
        close_pair();
    }
}

/* The type of a communicator in the name of a C++ function is that of the MPI library. */
static void handles_of_two_mpis_are_one_type(void **state)
{
    static const struct {
        const char *mpi, *name;
        bool matches;
    } cases[] = {
        {"MPICH Version: 4.0.2", "solve(ADIOI_FileD*, int*, MPI_Status*)", true},
        {"MPICH Version: 4.0.2", "solve(ADIOI_FileD*, int, MPI_Status*)", false},
        {"Open MPI v5.0.0", "solve(ADIOI_FileD*, int*, MPI_Status*)", false},
        {"", "solve(ADIOI_FileD*, int*, MPI_Status*)", false},
    };
    (void)state;
    two_builds = true;
    in_solve[0].function = "solve(ompi_file_t*, ompi_request_t**, ompi_status_public_t*)";
    for (size_t i = 0; i < PC_ARRAY_LEN(cases); i++) {
        mpis[1] = cases[i].mpi;
        in_solve[1].function = cases[i].name;
        open_pair();
        char *text = compare(false);
        says(text, "MPI_Barrier in solve", true);
        says(text, "New (", !cases[i].matches);
        free(text);
        close_pair();
    }
    two_builds = false;
    mpis[1] = mpis[0];
    in_solve[0].function = in_solve[1].function = "solve";
}

/* Offsets in two builds of a library have nothing in common; its name may have that of the MPI. */
static void functions_without_a_name_are_matched_by_their_callers(void **state)
{
    static const struct {
        const char *libraries[2];
        bool matches;
    } cases[] = {
        {{"/lib/libdata_openmpi.so.1", "/lib/libdata_mpich.so.1"}, true},
        {{"/lib/libdata.so.1", "/opt/lib/libdata.so.1"}, true},
        {{"/lib/libdata_openmpi.so.1", "/lib/libother_mpich.so.1"}, false},
    };
    (void)state;
    two_builds = true;
    mpis[1] = "MPICH Version: 4.0.2";
    for (size_t i = 0; i < PC_ARRAY_LEN(cases); i++) {
        memcpy(libraries, cases[i].libraries, sizeof libraries);
        open_pair();
        char *text = compare(false);
        says(text, "MPI_Barrier in nameless functions of libdata.so.1, from main (a.c:10)",
             cases[i].matches);
        says(text, "MPI_Barrier in libother_mpich.so.1+0x5010, from main (a.c:10)",
             !cases[i].matches);
        says(text, "New (", !cases[i].matches);
        free(text);
        close_pair();
    }
    libraries[0] = libraries[1] = NULL;
    two_builds = false;
    mpis[1] = mpis[0];
}

/* Other options make the compiler copy a function, or inline a lambda. */
static void a_copy_of_a_function_is_matched_with_it(void **state)
{
    static const struct {
        const char *names[2];
        bool matches;
    } cases[] = {
        {{"solve", "solve.constprop.0"}, true},
        {{"solve.isra.0", "solve.part.1.cold"}, true},
        {{"solve(int)", "solve(int) [clone .isra.0] [clone .cold]"}, true},
        {{"solve(int)", "solve(long) [clone .isra.0]"}, false},
        {{"solve._omp_fn.0", "solve._omp_fn.1"}, false},
        {{"solve._omp_fn.0", "solve._omp_fn.0.constprop.0"}, true},
        {{"solve.partial", "solve"}, false},
        {{"solve", "solve_"}, true},
        {{"solve._omp_fn.0", "solve_._omp_fn.0.constprop.0"}, true},
        {{"solve", "solve__"}, false},
        {{"a::solve_(int)", "a::solve(int)"}, false},
        {{"main::{lambda#1}::operator()",
          "main::{lambda(int)#1}::operator()(int) const [clone .constprop.0]"},
         true},
        {{"main::{lambda#1}::operator()", "main::{lambda(int)#2}::operator()(int) const"}, false},
        {{"main::{lambda#1}::operator()<int>",
          "auto main::{lambda(auto:1)#1}::operator()<int>(int) const"},
         true},
        {{"main::{lambda#1}::operator()<int>",
          "auto main::{lambda(auto:1)#1}::operator()<long>(long) const"},
         false},
        {{"main::{lambda#1}::operator()::{lambda#2}::operator()",
          "main::{lambda(void (*)(a<1>))#1}::operator()(void (*)(a<1>)) "
          "const::{lambda()#2}::operator()()"},
         true},
        {{"void sort<main::{lambda#1}>(int)", "void sort<main::{lambda(int, int)#1}>(int)"}, true},
        {{"void sort<main::{lambda#1}>(int)", "void sort<main::{lambda(int, int)#1}>(long)"},
         false},
        {{"double run<int>(int)", "std::enable_if<(1>0), double>::type run<int>(int)"}, true},
        {{"main::{unnamed type}::run(int)", "main::{other type}::run(int)"}, false},
    };
    static const char *const marks[] = {".constprop.", ".isra.", ".part.", ".cold", "[clone"};
    (void)state;
    two_builds = true;
    for (size_t i = 0; i < PC_ARRAY_LEN(cases); i++) {
        in_solve[0].function = cases[i].names[0];
        in_solve[1].function = cases[i].names[1];
        open_pair();
        char *text = compare(false);
        says(text, "New (", !cases[i].matches);
        for (size_t k = 0; k < PC_ARRAY_LEN(marks); k++)
            says(text, marks[k], false);
        free(text);
        close_pair();
    }
    two_builds = false;
    in_solve[0].function = in_solve[1].function = "solve";
}

/* Without debug information the main program of Fortran has the name of its symbol. */
static void the_main_program_of_fortran_is_matched_with_its_symbol(void **state)
{
    (void)state;
    two_builds = true;
    in_solve[1].function = "MAIN__";
    in_main[1].file = NULL;
    for (int fortran = 0; fortran < 2; fortran++) {
        in_main[0].file = fortran ? "a.f90" : "a.c";
        open_pair();
        char *text = compare(false);
        says(text, "New (", !fortran);
        free(text);
        close_pair();
    }
    in_main[0].file = in_main[1].file = "a.c";
    in_solve[1].function = "solve";
    two_builds = false;
}

/* The second run is of the same build, of which the lines were stripped. */
static void a_build_that_was_stripped_of_its_lines_is_matched_by_function(void **state)
{
    (void)state;
    lineless = true;
    open_pair();
    lineless = false;
    char *text = compare(false);
    says(text, "New (", false);
    says(text, "Gone (", false);
    free(text);
    close_pair();
}

/* The code of solve is a function that is inlined in it; the second build has no lines. */
static void a_build_without_lines_is_said_to_have_no_inlined_functions(void **state)
{
    static struct pct_frame frames[2] = {{"solve", "a.c", 25, false, false},
                                         {"leaf", "a.c", 40, true, false}};
    static const char note[] = "b has no lines of the program: functions that were inlined are "
                               "missing there, and their time is in their callers.";
    (void)state;
    two_builds = true;
    for (int without = 0; without < 2; without++)
        for (int by_scale = 0; by_scale < 2; by_scale++) {
            leaf = frames;
            lineless = without;
            open_pair();
            leaf = NULL;
            lineless = false;
            char *text = compare(by_scale);
            says(text, note, without);
            says(text, "leaf  a.c:25 [inlined]\n", true);
            free(text);
            close_pair();
        }
    two_builds = false;
}

/* On 4 ranks the function that is inlined in solve has no sample, but may have computed there. */
static void a_time_without_samples_is_said_to_be_at_least_so_long(void **state)
{
    static struct pct_frame frames[2] = {{"solve", "a.c", 25, false, false},
                                         {"leaf", "a.c", 40, true, false}};
    (void)state;
    two_builds = true;
    leaf = frames;
    longer_ms = 2000;
    open_pair();
    char *text = compare(true);
    says(text, "  >310.0 ms  main", true);
    says(text, "  > at least, < at most: computation below has no sample on that number of ranks\n",
         true);
    free(text);
    close_pair();
    longer_ms = 0;
    leaf = NULL;
    two_builds = false;
}

/* With arguments of 4,000 characters, on lines of 60, the tree has the rows that it has with short
 * ones.
 */
static void full_names_hide_no_rows(void **state)
{
    static char name[4001];
    char *texts[2];
    (void)state;
    snprintf(name, sizeof name, "f(%03996d)", 0);
    in_main[0].function = in_main[1].function = in_solve[0].function = in_solve[1].function = name;
    open_pair();
    for (int full = 0; full < 2; full++) {
        struct pc_error error = {""};
        struct pct_diff *d = pct_diff_make(pair.runs, 1, 1, PCT_DIFF_TIME, &error);
        size_t n;
        FILE *out = open_memstream(&texts[full], &n);
        pct_diff_name_places(d, full);
        pct_diff_print(out, d, &(struct pct_compare_print){.width = 60, .full_names = full});
        fclose(out);
        pct_diff_free(d);
        says(texts[full], "contexts below which 1 % of the", true);
        free(texts[full]);
    }
    close_pair();
    in_main[0].function = in_main[1].function = "main";
    in_solve[0].function = in_solve[1].function = "solve";
}

static void a_large_growth_is_told_as_a_factor(void **state)
{
    static const struct {
        double factor;
        const char *says;
    } cases[] = {{2, "The run takes 100.0 % more."},
                 {0.5, "The run takes 50.0 % less."},
                 {3.02, "The run takes 3.02 times as long."},
                 {23.9, "The run takes 23.9 times as long."},
                 {2476, "The run takes 2,476 times as long."}};
    (void)state;
    for (size_t i = 0; i < PC_ARRAY_LEN(cases); i++) {
        open_pair();
        pair.runs[1].undelayed.core_ns = 2 * cases[i].factor * pair.runs[0].undelayed.core_ns;
        char *text = compare(false);
        says(text, cases[i].says, true);
        free(text);
        close_pair();
    }
}

/* A copy has another path. MPICH gives jobs no name. */
static void a_run_and_its_copy_are_one(void **state)
{
    static const struct {
        struct pct_run a, b;
        bool one;
    } cases[] = {
        {{.path = "a", .job = "7"}, {.path = "a", .job = "7"}, true},
        {{.path = "a", .job = "7", .start_ns = 5}, {.path = "b", .job = "7", .start_ns = 5}, true},
        {{.path = "a", .job = "7", .start_ns = 5}, {.path = "b", .job = "8", .start_ns = 5}, false},
        {{.path = "a", .job = "", .start_ns = 5}, {.path = "b", .job = "", .start_ns = 5}, true},
        {{.path = "a", .job = "", .start_ns = 5}, {.path = "b", .job = "", .start_ns = 6}, false},
        {{.path = "a", .job = "", .start_ns = 5, .pid = 1},
         {.path = "b", .job = "", .start_ns = 5, .pid = 2},
         false},
        {{.path = "a", .job = ""}, {.path = "b", .job = ""}, false}, /* nothing is known */
    };
    (void)state;
    for (size_t i = 0; i < PC_ARRAY_LEN(cases); i++) {
        struct pct_run a = cases[i].a, b = cases[i].b;
        if (pct_runs_are_one(&a, &b) != cases[i].one)
            fail_msg("case %zu", i);
    }
}

static void add_remark(void *arg, const char *sentence)
{
    pct_buf_text(arg, sentence);
}

static void ranks_that_did_not_end_are_counted(void **state)
{
    static const struct {
        uint32_t incomplete, ranks;
        const char *says;
    } cases[] = {
        {0, 1, ""},
        {1, 1,
         "run: 1 of 1 rank did not reach MPI_Finalize: its times end with the last moment known."},
        {1, 4,
         "run: 1 of 4 ranks did not reach MPI_Finalize: its times end with the last moment known."},
        {2, 4,
         "run: 2 of 4 ranks did not reach MPI_Finalize: their times end with the last moment "
         "known."},
    };
    (void)state;
    for (size_t k = 0; k < PC_ARRAY_LEN(cases); k++) {
        struct pct_run run = {.path = "run",
                              .n_incomplete = cases[k].incomplete,
                              .n_ranks = cases[k].ranks,
                              .core_ns = 1};
        struct pct_buf said = {0};
        pct_buf_text(&said, "");
        pct_runs_remarks(&run, 1, add_remark, &said);
        assert_string_equal(said.data, cases[k].says);
        pct_buf_free(&said);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_that_wait_in_a_runtime_do_not_compute),
        cmocka_unit_test(nameless_computation_has_a_caller_with_a_name),
        cmocka_unit_test(a_runtime_that_handles_tasks_need_not_wait),
        cmocka_unit_test(scale_says_how_long_main_threads_wait_for_others),
        cmocka_unit_test(scale_says_that_ranks_have_other_numbers_of_threads),
        cmocka_unit_test(sampled_computation_is_known_beside_what_may_be_delays),
        cmocka_unit_test(others_wait_for_a_rank_that_sleeps_where_it_sleeps),
        cmocka_unit_test(delays_of_killed_ranks_are_said_to_be_unknown),
        cmocka_unit_test(a_delay_is_left_out_of_all_runs_or_of_none),
        cmocka_unit_test(waiting_for_ranks_without_a_processor_is_lost_in_mpi),
        cmocka_unit_test(faster_than_ideal_is_called_a_gain),
        cmocka_unit_test(calls_that_had_not_ended_are_in_their_contexts),
        cmocka_unit_test(calls_that_may_be_delay_alone_are_not_gone),
        cmocka_unit_test(handles_of_two_mpis_are_one_type),
        cmocka_unit_test(functions_without_a_name_are_matched_by_their_callers),
        cmocka_unit_test(a_copy_of_a_function_is_matched_with_it),
        cmocka_unit_test(the_main_program_of_fortran_is_matched_with_its_symbol),
        cmocka_unit_test(a_build_that_was_stripped_of_its_lines_is_matched_by_function),
        cmocka_unit_test(a_run_and_its_copy_are_one),
        cmocka_unit_test(a_build_without_lines_is_said_to_have_no_inlined_functions),
        cmocka_unit_test(a_time_without_samples_is_said_to_be_at_least_so_long),
        cmocka_unit_test(full_names_hide_no_rows),
        cmocka_unit_test(a_large_growth_is_told_as_a_factor),
        cmocka_unit_test(ranks_that_did_not_end_are_counted),
    };
    return cmocka_run_group_tests_name("compare", tests, NULL, NULL);
}
