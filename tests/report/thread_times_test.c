/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Times of threads: which time of a rank is surely blocked if its threads may compute by turns, and
 * what findings say of threads that do. What the user time cannot be of a rank's CPU time outside
 * MPI is system time there.
 */
#include "made_run.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { MAIN = 6, OWN = 7 }; /* texts of made_run.c */

/* Threads with the same times in ms, all of one kind. `slot`: threads one after another in it. */
struct threads {
    unsigned n, slot;
    double work, delayed;
};

/* Begins a run of so many ranks, which compute for 1,000 ms outside MPI. */
static void begin(unsigned n_ranks, bool sampled)
{
    begin_run(3, sampled);
    m.n = m.sample.p.n_ranks = m.sample.p.world_size = n_ranks;
    m.late = 0;
    for (unsigned r = 0; r < n_ranks; r++)
        m.compute_ms[r] = 1000;
}

static void add_row(struct pc_profile_table *of, struct pc_profile_table *t, unsigned r, unsigned i,
                    const struct threads *as)
{
    uint64_t work_ns = (uint64_t)(as->work * ms), delayed_ns = (uint64_t)(as->delayed * ms);
    /* each sample stands for a tenth of the time, and they miss a fifth of it */
    uint64_t seen_ns = work_ns / 5 * 4, us = seen_ns / 1000;
    add_cells(of, (const uint64_t[]){r, i, (uint64_t)(10 * ms), seen_ns, us * us / 10, 0});
    add_cells(t, (const uint64_t[]){r, i, i ? OWN : MAIN, as->slot, work_ns, 1, delayed_ns});
}

/* Adds threads to each rank: a main thread that is blocked or delayed for all the time that it does
 * not work, and the others; up to two kinds. */
static void add_threads(const struct threads *main, const struct threads *others)
{
    static const char *const columns[] = {"rank", "thread", "kind",    "threads",
                                          "cpu",  "known",  "delayed", NULL};
    static const char *const samples[] = {
        "rank", "thread", "period", "compute_time", "compute_squares", "cost", NULL};
    static const uint16_t number = PCOLLECT_COLUMN_NUMBER, types[] = {PCOLLECT_COLUMN_RANK,
                                                                      number,
                                                                      PCOLLECT_COLUMN_STRING,
                                                                      number,
                                                                      number,
                                                                      number,
                                                                      number},
                          sample_types[] = {
                              PCOLLECT_COLUMN_RANK, number, number, number, number, number};
    struct pc_profile_table *of = add_table("sampling", 2, samples, sample_types),
                            *t = add_table("thread_records", 2, columns, types);
    for (unsigned r = 0; r < m.n; r++) {
        unsigned next = 1;
        add_row(of, t, r, 0, main);
        m.delayed_ms[r] = main->delayed;
        m.blocked_ms[r] = m.compute_ms[r] - main->work - main->delayed;
        m.user_ms[r] = main->work;
        for (unsigned k = 0; k < 2; k++)
            for (unsigned i = 0; i < others[k].n; i++) {
                add_row(of, t, r, next++, &others[k]);
                m.others_ms[r] += others[k].work;
            }
        m.user_ms[r] += m.others_ms[r];
        m.system_ms[r] = 0;
    }
}

/* The main thread waits for others for all the time that it does not work. They may compute by
 * turns, or at the same time: what is called blocked is left if they compute by turns. Samples find
 * four fifths of their time, and its clock all. */
static void time_is_blocked_if_no_thread_can_have_computed(void **state)
{
    static const struct {
        struct threads main, others[2];
        double want_blocked, want_either, want_unsure;
        bool known;
    } cases[] = {
        {{1, 1, 0, 0}, {{8, 1, 125, 0}}, 0, 875, 0, true},
        {{1, 1, 0, 0}, {{4, 1, 100, 0}}, 600, 300, 0, true},
        {{1, 1, 250, 0}, {{2, 1, 200, 0}}, 350, 400, 0, true},
        {{1, 1, 0, 0}, {{1, 1, 400, 0}}, 600, 0, 0, true},
        {{1, 1, 0, 0}, {{4, 1, 100, 50}}, 400, 300, 200, true},
        {{1, 1, 0, 0}, {{4, 1, 200, 250}}, 0, 0, 800, false},  /* work, or wait for a processor */
        {{1, 1, 0, 0}, {{1, 300, 400, 0}}, 300, 0, 300, true}, /* up to 1 ms a thread is not seen */
    };
    (void)state;
    for (size_t k = 0; k < PC_ARRAY_LEN(cases); k++) {
        begin(2, false);
        add_threads(&cases[k].main, cases[k].others);
        struct pct_data *d = end_run();
        const struct pct_rank_times *t = pct_data_rank_times(d);
        const struct pct_rank_time *rank = &t->list[0];
        double times[] = {rank->blocked_ns, rank->either_ns, rank->unsure_ns},
               want[] = {cases[k].want_blocked, cases[k].want_either, cases[k].want_unsure};
        for (unsigned i = 0; i < PC_ARRAY_LEN(times); i++)
            if (fabs(times[i] - want[i] * ms) > ms)
                fail_msg("case %zu: %u is %g, not %g", k, i, times[i], want[i] * ms);
        assert_true(fabs(rank->cpu_ns + rank->blocked_ns + rank->delayed_ns - 1000 * ms) < 1);
        assert_int_equal(pct_rank_times_know_busiest(t), cases[k].known);
        pct_data_free(d);
    }
}

/* The sentence says that much is blocked, and no sentence says it of threads that take turns. */
static void ranks_whose_threads_take_turns_are_not_blocked(void **state)
{
    const char *text;
    (void)state;
    begin(1, false);
    add_threads(&(const struct threads){1, 1, 0, 0}, (const struct threads[2]){{8, 1, 122, 0}});
    assert_string_equal(sentence("blocked"), "");
    begin(1, false);
    add_threads(&(const struct threads){1, 1, 0, 0}, (const struct threads[2]){{2, 1, 100, 0}});
    text = sentence("blocked");
    if (!strstr(text, " for at least 80 % of the run (800.0 ms)"))
        fail_msg("%s", text);
}

/* One thread has 800 ms, the other 200, by their clocks: both could have 500. */
static void a_lead_by_the_clock_of_threads_has_no_error_of_samples(void **state)
{
    (void)state;
    begin(1, false);
    add_threads(&(const struct threads){1, 1, 0, 0},
                (const struct threads[2]){{1, 1, 800, 0}, {1, 1, 200, 0}});
    const char *text = sentence("threads");
    if (!strstr(text, " computes for 800.0 ms, ") || !strstr(text, ": 30 % of the run."))
        fail_msg("%s", text);
}

/* Samples are of all threads of a rank: in a function they may be more than the rank computes. */
static void a_sum_over_threads_is_told_from_the_time_of_a_rank(void **state)
{
    (void)state;
    for (unsigned n = 0; n < 2; n++) {
        begin(2, true);
        m.compute_ms[0] = 2000;
        sample_point(&m.sample, m.caller, 0, IN_FUNCTION);
        for (unsigned r = 0; r < 2; r++)
            sample_add_samples(&m.sample, (int32_t)r, (uint64_t)(m.compute_ms[r] * ms));
        add_threads(&(const struct threads){1, 1, 2500, 0},
                    (const struct threads[2]){{n, 1, 2500, 0}});
        m.blocked_ms[0] = m.blocked_ms[1] = 0;
        m.delayed_ms[0] = m.delayed_ms[1] = 1;
        const char *text = sentence("imbalance");
        if (!strstr(text, ", where it spends ") ||
            !strstr(text, " as the sum of its threads: ") != !n)
            fail_msg("%u: %s", n, text);
    }
}

/* Twelve threads one after another have the same number, and compute for as long as the other one
 * together. */
static void threads_one_after_another_are_not_one(void **state)
{
    (void)state;
    for (unsigned slot = 1; slot < 13; slot += 11) {
        begin(1, false);
        add_threads(&(const struct threads){1, 1, 0, 0},
                    (const struct threads[2]){{1, 1, 300, 0}, {1, slot, 900, 0}});
        assert_int_equal(*sentence("threads") != '\0', slot == 1);
    }
}

/* Each rank has eight threads, and may run on the same three processors as the other one. Threads
 * that are ready to run for an eighth of the time take turns. */
static void threads_that_take_turns_need_one_processor(void **state)
{
    (void)state;
    for (unsigned all = 0; all < 2; all++) {
        begin(2, false);
        m.shares = true;
        add_threads(&(const struct threads){1, 1, 0, 200},
                    (const struct threads[2]){{8, 1, 100, all ? 900 : 20}});
        const char *text = sentence("shared-processors");
        if (!strstr(text, "The ranks waited for a processor for ") ||
            !strstr(text, " computes with 8 threads on 3 processors") != !all)
            fail_msg("%u: %s", all, text);
    }
}

/* Each of two ranks has as many numbers as threads at once, or more of them, since the runtime ends
 * its threads and makes others. The mean of those that are ready to run is known. */
static void renewed_threads_are_at_least_as_many_as_run_in_the_mean(void **state)
{
    static const struct {
        unsigned slot;
        double work, delayed;
        const char *want;
    } cases[] = {
        {1, 100, 800, ", which computes with 8 threads on 3 processors. Start it with fewer"},
        {60, 100, 800, ", which computes with at least 7 threads on 3 processors. Start it with"},
        {1, 100, 20, ", whose 8 busy threads share 3 processors. Start it with fewer threads"},
        {60, 100, 20, " It may run on 3 processors."},
    };
    (void)state;
    for (size_t k = 0; k < PC_ARRAY_LEN(cases); k++) {
        begin(2, false);
        m.bound[1] = "8-10";
        m.bound[0] = "0-2";
        add_threads(&(const struct threads){1, 1, 5, 900},
                    (const struct threads[2]){{8, cases[k].slot, cases[k].work, cases[k].delayed}});
        const char *text = sentence("shared-processors");
        if (!strstr(text, cases[k].want))
            fail_msg("case %zu: %s", k, text);
    }
}

/* The main thread sleeps while four others share a processor, or have three. */
static void a_thread_may_wait_for_a_processor_for_the_main_one(void **state)
{
    (void)state;
    for (unsigned shares = 0; shares < 2; shares++) {
        begin(1, false);
        m.bound[0] = shares ? "1" : "0,2-3";
        add_threads(&(const struct threads){1, 1, 0, 0},
                    (const struct threads[2]){{4, 1, 240, shares ? 740 : 10}});
        const char *text = sentence("shared-processors");
        if (!shares != !*text ||
            (shares && !strstr(text, "For 740.0 ms no processor was free for thread 1 of rank 0 of "
                                     "node1, which computes with 4 threads on 1 processor.")))
            fail_msg("%u: %s", shares, text);
    }
}

/* The main thread is blocked while one other computes, or two at the same time, or it has hardly
 * any work itself. */
static void threads_that_may_take_turns_are_told(void **state)
{
    static const struct {
        double main;
        struct threads others;
        bool turns;
    } cases[] = {{500, {1, 1, 450, 0}, true},   {250, {3, 1, 240, 0}, true},
                 {500, {2, 1, 450, 0}, false},  {40, {2, 1, 480, 0}, false},
                 {250, {3, 2, 240, 0}, true},     /* two threads one after another in each */
                 {500, {1, 1, 450, 450}, false}}; /* it may have waited for a processor */
    (void)state;
    for (size_t k = 0; k < PC_ARRAY_LEN(cases); k++) {
        begin(1, false);
        add_threads(&(const struct threads){1, 1, cases[k].main, 0},
                    (const struct threads[2]){cases[k].others});
        const char *text = sentence("thread-waits"),
                   *want = k == 4 ? ", whose other 6 threads compute for 720.0 ms in all: they may "
                           : k    ? ", whose other 3 threads compute for 720.0 ms in all: they may "
                               : " for at least 40 % of the run, most on rank 0 (400.0 ms), whose "
                                 "other thread computes for 450.0 ms: they may compute by turns";
        if (cases[k].turns ? !strstr(text, want) : *text)
            fail_msg("case %zu: %s", k, text);
    }
}

/* A run in which one thread works for 800 ms, and the other for 200 ms. Half of the samples of both
 * are in a function of this name. */
static void make_function(const char *name)
{
    begin(1, true);
    snprintf(m.function, sizeof m.function, "%s", name);
    sample_point(&m.sample, m.caller, 0, IN_FUNCTION);
    sample_add_samples(&m.sample, 0, (uint64_t)(400 * ms));
    add_threads(&(const struct threads){1, 1, 0, 0},
                (const struct threads[2]){{1, 1, 800, 0}, {1, 1, 200, 0}});
}

/* A thread may be ahead of the other one by polling for a lock. */
static void polling_for_a_lock_is_no_work(void **state)
{
    static const char *const names[] = {"solve", "spin_lock", "spin_unlock", "SpinLock::lock()"};
    (void)state;
    for (size_t k = 0; k < PC_ARRAY_LEN(names); k++) {
        bool spins = k % 2;
        make_function(names[k]);
        if (!*sentence("threads") != spins)
            fail_msg("%s: a thread is ahead: %u", names[k], !spins);
        make_function(names[k]);
        const char *text = sentence("thread-waits");
        if (spins ? !strstr(text, "Threads poll for locks for 50 % of their CPU time outside MPI "
                                  "(400.0 ms), most in ") ||
                        !strstr(text, " called by step (advance.c:13). ")
                  : *text)
            fail_msg("%s: %s", names[k], text);
    }
}

/* All ranks are in MPI for far longer than in the kernel, as on a busy machine. They compute for
 * 1,000 ms outside of it, of which user time may be 100 ms, or all. */
static void system_time_is_not_hidden_by_waits_in_mpi(void **state)
{
    (void)state;
    for (unsigned hides = 0; hides < 2; hides++) {
        begin(2, false);
        add_threads(&(const struct threads){1, 1, 1000, 0}, (const struct threads[2]){{0}});
        call_all("MPI_Barrier", PCOLLECT_CLASS_COLL, 1, 0, 2000);
        for (unsigned r = 0; r < m.n; r++) {
            m.user_ms[r] = hides ? 1000 : 100;
            m.system_ms[r] = 900;
            m.faults[r] = 0;
        }
        const char *text = sentence("system-time");
        if (hides ? *text : !strstr(text, " outside MPI take at least 27 % of the run, most on "))
            fail_msg("%u: %s", hides, text);
    }
}

/* Writes a run whose threads may compute by turns while the main thread is blocked, or while it is
 * blocked or waits for a processor. */
static int write_turns(const char *path, bool delayed)
{
    begin(2, false);
    add_threads(&(const struct threads){1, 1, 200, 0},
                (const struct threads[2]){{4, 1, 150, delayed ? 200 : 0}});
    pct_data_free(end_run());
    return write_run(path);
}

int main(int argc, char **argv)
{
    if (argc == 4 && !strcmp(argv[1], "-w"))
        return write_turns(argv[2], !strcmp(argv[3], "either"));
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(time_is_blocked_if_no_thread_can_have_computed),
        cmocka_unit_test(ranks_whose_threads_take_turns_are_not_blocked),
        cmocka_unit_test(a_lead_by_the_clock_of_threads_has_no_error_of_samples),
        cmocka_unit_test(a_sum_over_threads_is_told_from_the_time_of_a_rank),
        cmocka_unit_test(threads_one_after_another_are_not_one),
        cmocka_unit_test(threads_that_take_turns_need_one_processor),
        cmocka_unit_test(renewed_threads_are_at_least_as_many_as_run_in_the_mean),
        cmocka_unit_test(a_thread_may_wait_for_a_processor_for_the_main_one),
        cmocka_unit_test(threads_that_may_take_turns_are_told),
        cmocka_unit_test(polling_for_a_lock_is_no_work),
        cmocka_unit_test(system_time_is_not_hidden_by_waits_in_mpi),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
