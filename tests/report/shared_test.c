/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The finding about ranks that share processors: it says that others had a part of them if, and
 * only if, the ranks and their threads cannot have used all of their time; and it gives a reason
 * only if that is known and can be all of it. Threads are not blamed for waits that such waits
 * explain.
 */
#include "made_run.h"

#include "analysis/compare/compared_run_private.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* The threads of all ranks, each of which uses a processor as much as its main thread does. */
static void add_threads(unsigned n_threads)
{
    static const char *const columns[] = {"rank", "thread", "kind", "cpu", "known", NULL};
    static const uint16_t types[] = {PCOLLECT_COLUMN_RANK, PCOLLECT_COLUMN_NUMBER,
                                     PCOLLECT_COLUMN_STRING, PCOLLECT_COLUMN_NUMBER,
                                     PCOLLECT_COLUMN_NUMBER};
    uint64_t kind = add_string("program");
    struct pc_profile_table *t = add_table("thread_records", 2, columns, types);
    for (unsigned r = 0; r < m.n; r++)
        for (unsigned k = 0; k < n_threads; k++)
            add_cells(t, (const uint64_t[]){r, k, kind,
                                            (uint64_t)((m.user_ms[r] + m.system_ms[r]) * ms), 1});
}

/* All ranks are on one host with 2 processors, and each waits for one for 1 s. */
static void others_are_named_if_the_ranks_used_less(void **state)
{
    static const struct {
        double used_ms; /* by all ranks */
        unsigned n_threads;
        const char *says; /* NULL: nothing of others */
    } cases[] = {
        {1000, 1, "Meanwhile they had at most 50 % of the time of these processors: something"},
        {1400, 1, "at most 70 % of the time"},
        {1600, 1, NULL}, /* the clocks of the kernel are not that exact */
        {2000, 1, NULL},
        {1000, 2, NULL}, /* delays of two threads may be at one time */
        {1000, 0, NULL}, /* threads are not known */
    };
    (void)state;
    for (size_t k = 0; k < PC_ARRAY_LEN(cases); k++) {
        begin_run(5, false);
        for (unsigned r = 0; r < m.n; r++) {
            m.sample.ranks[r].host = (char *)"node1";
            m.bound[r] = "0-1";
            m.delayed_ms[r] = 1000;
            m.compute_ms[r] += m.delayed_ms[r];
            m.user_ms[r] = cases[k].used_ms / m.n / 2;
            m.system_ms[r] = cases[k].used_ms / m.n / 2;
        }
        assert_true(m.n > 2);
        if (cases[k].n_threads)
            add_threads(cases[k].n_threads);
        struct pct_data *d = end_run();
        const char *text = d->findings->n ? d->findings->list[0].text : "";
        if (!strstr(text, "ranks share 2 processors on node1") ||
            (cases[k].says ? !strstr(text, cases[k].says) : strstr(text, "Meanwhile") != NULL) ||
            !strstr(text, cases[k].says ? " Run where the processors are free, with a rank for each"
                                        : " Run fewer ranks there: "))
            fail_msg("case %zu: %s", k, text);
        pct_data_free(d);
    }
}

/* The sentence of the finding; "" without one. */
static const char *finding(const struct pct_data *d)
{
    for (size_t i = 0; i < d->findings->n; i++)
        if (!strcmp(d->findings->list[i].rule, "shared-processors"))
            return d->findings->list[i].text;
    return "";
}

/* Six threads in each rank, of which so many are busy; all but the main one are of the MPI library,
 * or of a runtime. They are ready to run all the time. */
static void add_busy_threads(unsigned busy, bool of_mpi)
{
    static const char *const columns[] = {"rank",  "thread",  "kind", "cpu",
                                          "known", "delayed", NULL};
    static const uint16_t types[] = {PCOLLECT_COLUMN_RANK,   PCOLLECT_COLUMN_NUMBER,
                                     PCOLLECT_COLUMN_STRING, PCOLLECT_COLUMN_NUMBER,
                                     PCOLLECT_COLUMN_NUMBER, PCOLLECT_COLUMN_NUMBER};
    struct pc_profile_table *t = add_table("thread_records", 2, columns, types);
    for (unsigned r = 0; r < m.n; r++)
        for (unsigned i = 0; i < 6; i++)
            add_cells(t, (const uint64_t[]){r, i,
                                            i ? add_string(of_mpi ? "MPI library" : "runtime") : 6,
                                            i < busy ? (uint64_t)(900 * ms) : (uint64_t)ms, 1,
                                            (uint64_t)(1000 * ms)});
}

/* Ranks 0 to 3 with so many busy threads each. Another program is blamed only if all threads of the
 * job that may run on the processors of a rank fit there. */
static void the_reason_of_a_wait_for_a_processor_is_known_or_not_told(void **state)
{
    static const struct {
        const char *bound[4]; /* NULL: 0-15 */
        unsigned busy;        /* 0: nothing is known of threads */
        bool of_mpi;
        double other_ms; /* CPU time of threads that are not known */
        const char *says;
    } cases[] = {
        {{NULL}, 1, false, 0, ": something else ran there, or its CPU time is limited."},
        {{NULL}, 4, false, 0, ": something else ran there"},
        {{NULL}, 5, false, 0, ": the 4 ranks there compute with 20 threads on 16 processors."},
        {{NULL}, 5, true, 0, ")."}, /* threads of the MPI library may be the reason */
        {{NULL}, 0, false, 0, ")."},
        {{NULL}, 1, false, 800, ")."},
        {{"0", "1", "2", "3"}, 1, false, 0, ": something else ran there"},
        {{"0", "1", "2", "3"}, 2, false, 0, ", which computes with 2 threads on 1 processor."},
        {{"0", "0", "1", "2-3"},
         1,
         false,
         0,
         ", which computes on 1 processor, as another rank does: they have 2 threads together."},
        {{"0-1", "1-2", "4", "5"}, 1, false, 0, ": something else ran there"},
        {{"0-1", "1-2", "2", "5"}, 2, false, 0, ": the 4 ranks there compute with 8 threads on 4"},
        {{"0-1", "0-4", "5-7", "5-7"}, 2, false, 0, ")."}, /* rank 1 may be the reason */
        {{"", "1", "2", "3"}, 1, false, 0, ")."},
        {{"0", "", "2", "3"}, 1, false, 0, ")."},
    };
    (void)state;
    for (size_t k = 0; k < PC_ARRAY_LEN(cases); k++) {
        begin_run(1, false);
        m.n = m.sample.p.n_ranks = m.sample.p.world_size = 4;
        m.late = 0;
        if (cases[k].busy)
            add_busy_threads(cases[k].busy, cases[k].of_mpi);
        for (unsigned r = 0; r < m.n; r++) {
            m.bound[r] = cases[k].bound[0] ? cases[k].bound[r] : NULL;
            m.others_ms[r] = cases[k].busy > 1 ? 900 * (cases[k].busy - 1) : 0;
            m.others_ms[r] += cases[k].other_ms;
            m.system_ms[r] = 900 + m.others_ms[r];
            m.delayed_ms[r] = r ? 300 : 400;
            m.compute_ms[r] += 400;
        }
        struct pct_data *d = end_run();
        const char *text = finding(d);
        if (!strstr(text, "most on rank 0 of node1 (400.0 ms)") || !strstr(text, cases[k].says))
            fail_msg("case %zu: %s", k, text);
        pct_data_free(d);
    }
}

/* Two ranks on the host, each bound to processors of its own. */
static void begin_pair(unsigned busy, const char *first, const char *second)
{
    begin_run(1, false);
    m.n = m.sample.p.n_ranks = m.sample.p.world_size = 2;
    m.late = 0;
    m.bound[0] = first;
    m.bound[1] = second;
    add_busy_threads(busy, false);
    for (unsigned r = 0; r < m.n; r++) {
        m.system_ms[r] = 900 * busy;
        m.others_ms[r] = m.system_ms[r] - 900;
        m.delayed_ms[r] = r ? 300 : 400;
        m.compute_ms[r] += 400;
    }
}

static void more_processors_are_offered_where_the_host_has_free_ones(void **state)
{
    static const char *const columns[] = {"host", "socket", "cores", "processors", NULL};
    static const uint16_t types[] = {PCOLLECT_COLUMN_STRING, PCOLLECT_COLUMN_NUMBER,
                                     PCOLLECT_COLUMN_NUMBER, PCOLLECT_COLUMN_NUMBER};
    static const struct {
        unsigned processors, busy;
        const char *says;
    } cases[] = {
        {0, 2, " 2 threads on 1 processor. Start it with fewer threads, or bind it to more proc"},
        {4, 2, " 2 threads on 1 processor. Start it with fewer threads, or bind it to more proc"},
        {2, 2, ": the 2 ranks there compute with 4 threads on 2 processors. Start fewer ranks or"},
        {4, 3, ": the 2 ranks there compute with 6 threads on 2 processors. Start fewer ranks or"},
    };
    (void)state;
    for (size_t k = 0; k < PC_ARRAY_LEN(cases); k++) {
        begin_pair(cases[k].busy, "0", "1");
        struct pc_profile_table *t = add_table("machine", 2, columns, types);
        if (cases[k].processors)
            add_cells(t, (const uint64_t[]){add_string("node1"), 0, cases[k].processors,
                                            cases[k].processors});
        struct pct_data *d = end_run();
        if (!strstr(finding(d), cases[k].says))
            fail_msg("case %zu: %s", k, finding(d));
        pct_data_free(d);
    }
}

/* Rank 0 has two busy threads on one processor, and waits for it for 400 ms. The other one ran for
 * less, or for as long. */
static void threads_that_ran_for_less_than_a_wait_are_not_its_reason(void **state)
{
    static const struct {
        double others_ms;
        const char *says;
        bool told; /* the threads are a reason */
        bool more; /* there is another one */
    } cases[] = {
        {38,
         ": something else ran there, or its CPU time is limited. Other threads of the job ran "
         "there for at most 10 % of this time.",
         false, true},
        {200,
         " Other threads of the job ran there for at most 50 % of this time: something else "
         "did, too, or its CPU time is limited.",
         true, true},
        {400, "more processors", true, false},
        {900, "more processors", true, false},
    };
    (void)state;
    for (size_t k = 0; k < PC_ARRAY_LEN(cases); k++) {
        begin_pair(2, "0", "1");
        m.others_ms[0] = cases[k].others_ms;
        struct pct_data *d = end_run();
        const char *text = finding(d);
        if (!strstr(text, cases[k].says) ||
            cases[k].told != (strstr(text, "with 2 threads on 1 processor") != NULL) ||
            cases[k].more != (strstr(text, "something else") != NULL))
            fail_msg("case %zu: %s", k, text);
        pct_data_free(d);
    }
}

/* Two threads of rank 0 share its processor and take turns on it: together they need one for 600 ms
 * of the run. The other one ran for so long, or is of the MPI library. */
static void threads_that_take_turns_share_a_processor(void **state)
{
    static const char *const columns[] = {"rank",  "thread",  "kind", "cpu",
                                          "known", "delayed", NULL};
    static const uint16_t types[] = {PCOLLECT_COLUMN_RANK,   PCOLLECT_COLUMN_NUMBER,
                                     PCOLLECT_COLUMN_STRING, PCOLLECT_COLUMN_NUMBER,
                                     PCOLLECT_COLUMN_NUMBER, PCOLLECT_COLUMN_NUMBER};
    static const struct {
        const char *kind;
        double other_ms;
        const char *says;
    } cases[] = {
        {"runtime", 300,
         ", whose 2 busy threads share 1 processor. Start it with fewer threads, or bind it to "
         "more"},
        {"MPI library", 300, "(400.0 ms). It may run on 1 processor."},
    };
    (void)state;
    for (size_t k = 0; k < PC_ARRAY_LEN(cases); k++) {
        begin_run(1, false);
        m.n = m.sample.p.n_ranks = m.sample.p.world_size = 1;
        m.late = 0;
        struct pc_profile_table *t = add_table("thread_records", 2, columns, types);
        for (unsigned i = 0; i < 2; i++)
            add_cells(t, (const uint64_t[]){0, i, i ? add_string(cases[k].kind) : 6,
                                            (uint64_t)((i ? cases[k].other_ms : 300) * ms), 1, 0});
        m.bound[0] = "0";
        m.others_ms[0] = cases[k].other_ms;
        m.system_ms[0] = 300 + cases[k].other_ms;
        m.delayed_ms[0] = 400;
        struct pct_data *d = end_run();
        if (!strstr(finding(d), cases[k].says))
            fail_msg("case %zu: %s", k, finding(d));
        pct_data_free(d);
    }
}

/* Rank 0 computes for 2 s. Each of the others needs 1 s and waits 0.5 s for a processor, and 0.5 s
 * for messages: of rank 0, or of each other. */
static void a_delay_costs_all_where_no_messages_link_with_the_busiest(void **state)
{
    double saves[2] = {0}, list[SAMPLE_RANKS] = {0}, want;
    (void)state;
    for (unsigned linked = 0; linked < 2; linked++) {
        begin_run(5, false);
        struct pc_profile_table *t = add_pairs();
        m.compute_ms[0] = 2000;
        for (unsigned r = 1; r < m.n; r++) {
            m.compute_ms[r] = 1500;
            m.delayed_ms[r] = list[r] = 500;
            if (linked || r + 1 < m.n)
                add_pair(t, linked ? 0 : r, linked ? r : r + 1, 50);
        }
        call("MPI_Recv", PCOLLECT_CLASS_P2P, 50, 1000, list);
        struct pct_data *d = end_run();
        for (size_t i = 0; i < d->findings->n; i++)
            if (!strcmp(d->findings->list[i].rule, "shared-processors"))
                saves[linked] = d->findings->list[i].saves;
        pct_data_free(d);
    }
    want = 500. * (m.n - 1) / (2000. * m.n);
    /* The kernel does not tell how much of a delay was in MPI. */
    if (fabs(saves[0] - want) > 0.01 * want || fabs(saves[1] - want / 2) > 0.1 * want)
        fail_msg("%g, %g: not %g and half of it", saves[0], saves[1], want);
}

/* Rank 0 waits for a processor for 1 ms. The others were killed and were off the processor for
 * 800 ms, which need not be waits for one. */
static void what_killed_ranks_did_is_no_delay(void **state)
{
    (void)state;
    begin_run(5, false);
    m.killed = true;
    for (unsigned r = 0; r < m.n; r++) {
        m.compute_ms[r] = 1000;
        m.delayed_ms[r] = !r;
        m.blocked_ms[r] = r ? 800 : 0;
    }
    add_resources();
    struct pct_data *d = end_run();
    assert_string_equal(finding(d), "");
    pct_data_free(d);
}

/* The main thread is blocked while so many threads compute on two processors, each of which waits
 * for one as well. They are a reason if more of them than processors are ready to run at a time, or
 * if they use most of the processors; else they may wait for a lock of their own. */
static void threads_are_a_reason_only_if_they_can_run_at_once(void **state)
{
    static const char *const columns[] = {"rank",  "thread",  "kind", "cpu",
                                          "known", "delayed", NULL};
    static const uint16_t types[] = {PCOLLECT_COLUMN_RANK,   PCOLLECT_COLUMN_NUMBER,
                                     PCOLLECT_COLUMN_STRING, PCOLLECT_COLUMN_NUMBER,
                                     PCOLLECT_COLUMN_NUMBER, PCOLLECT_COLUMN_NUMBER};
    static const char *const samples[] = {"rank",         "thread",          "period",
                                          "compute_time", "compute_squares", NULL};
    static const uint16_t sample_types[] = {PCOLLECT_COLUMN_RANK, PCOLLECT_COLUMN_NUMBER,
                                            PCOLLECT_COLUMN_NUMBER, PCOLLECT_COLUMN_NUMBER,
                                            PCOLLECT_COLUMN_NUMBER};
    static const struct {
        unsigned n_threads;
        double run_ms, cpu_ms, delayed_ms;
        const char *says;
    } cases[] = {
        {8, 3900, 120, 300, " of node1. It may run on 2 processors."},
        {3, 3900, 300, 1000,
         " of node1: something else ran there, or its CPU time is limited. Other threads of the "
         "job ran there for at most 61 % of this time."},
        {3, 3900, 30, 1000,
         " of node1: something else ran there, or its CPU time is limited. Other threads of the "
         "job ran there for at most 8 % of this time."},
        {1, 3900, 500, 500, " of node1: something else ran there, or its CPU time is limited."},
        {2, 3900, 500, 500, " of node1. It may run on 2 processors."}, /* on one, perhaps */
        {5, 1000, 60, 600,
         " of node1: something else ran there, or its CPU time is limited. Other threads of the "
         "job ran there for at most 42 % of this time."}, /* ready to run, five at a time */
        {8, 3700, 900, 2000, ", which computes with 8 threads on 2 processors."},
        {3, 1000, 550, 100, ", whose 3 busy threads share 2 processors."},
    };
    (void)state;
    for (size_t k = 0; k < PC_ARRAY_LEN(cases); k++) {
        begin_run(1, false);
        m.n = m.sample.p.n_ranks = m.sample.p.world_size = 1;
        m.late = 0;
        m.bound[0] = "0-1";
        m.compute_ms[0] = cases[k].run_ms;
        m.blocked_ms[0] = cases[k].run_ms - 10;
        m.others_ms[0] = cases[k].n_threads * cases[k].cpu_ms;
        m.system_ms[0] = 0;
        m.user_ms[0] = m.others_ms[0] + 10;
        struct pc_profile_table *of = add_table("sampling", 2, samples, sample_types);
        struct pc_profile_table *t = add_table("thread_records", 2, columns, types);
        for (unsigned i = 0; i <= cases[k].n_threads; i++) {
            uint64_t cpu_ns = (uint64_t)((i ? cases[k].cpu_ms : 10) * ms);
            add_cells(of, (const uint64_t[]){0, i, (uint64_t)ms, cpu_ns, 1});
            add_cells(t, (const uint64_t[]){0, i, i ? 8 : 6, cpu_ns, 1,
                                            (uint64_t)((i ? cases[k].delayed_ms : 0) * ms)});
        }
        struct pct_data *d = end_run();
        if (!strstr(finding(d), "no processor was free for thread 1 of rank 0") ||
            !strstr(finding(d), cases[k].says))
            fail_msg("case %zu: %s", k, finding(d));
        pct_data_free(d);
    }
}

/* The main thread waits for threads that wait for a processor. */
static void waits_for_threads_without_a_processor_are_not_blamed_on_the_program(void **state)
{
    (void)state;
    for (unsigned delayed = 0; delayed < 2; delayed++) {
        begin_run(1, false);
        add_thread_waits(0.9, delayed ? 450 : 0);
        const char *text = sentence("thread-waits");
        if (!delayed != (strstr(text, "Threads wait for each other for 90 % of their CPU") != NULL))
            fail_msg("%u: %s", delayed, text);
    }
}

/* Four threads of each rank compute for 100 ms each behind one lock. The main thread waits for a
 * processor for 500 ms, and is blocked for 400 ms: each other thread waited for 500 ms, perhaps at
 * the same time. */
static void time_behind_a_lock_is_no_wait_of_the_main_thread(void **state)
{
    struct pc_profile_table *of, *t;
    (void)state;
    begin_run(5, false);
    add_thread_tables(&of, &t);
    for (unsigned r = 0; r < m.n; r++) {
        m.compute_ms[r] = 1000;
        m.delayed_ms[r] = 500;
        m.blocked_ms[r] = 400;
        m.user_ms[r] = 400 - m.system_ms[r];
        m.others_ms[r] = 300;
        for (unsigned i = 0; i < 4; i++) {
            add_cells(t, (const uint64_t[]){r, i, i ? 7 : 6, 0, (uint64_t)(500 * ms)});
            add_cells(of, (const uint64_t[]){r, i, (uint64_t)ms, (uint64_t)(100 * ms), 100000});
        }
    }
    struct pct_data *d = end_run();
    if (!strstr(finding(d), "The ranks waited for a processor for 50 % of the run, ") ||
        !strstr(finding(d), " (500.0 ms)") ||
        !strstr(finding(d), " For up to another 40 % of the run main threads were blocked"))
        fail_msg("%s", finding(d));
    const struct pct_rank_times *times = pct_data_rank_times(d);
    assert_int_equal(pct_rank_times_division(times), PCT_DIVISION_UNSURE);
    assert_true(times->delayed_ns - times->unsure_ns <= 500 * ms * m.n);
    struct pct_run run;
    pct_run_adopt(&run, "run", d->profile, pct_symbols_new(d->profile));
    assert_true(run.delayed_ns - run.others_ns <= 500 * ms * m.n);
    assert_true(run.others_ns > 0 && run.others_ns <= 400 * ms * m.n);
    pct_run_close(&run);
    pct_data_free(d);
}

/* The cure of page faults: memory that is touched once is not reused. */
static void page_faults_are_compared_with_the_memory(void **state)
{
    static const struct {
        double pages;
        const char *says;
    } cases[] = {
        {0, ". Reuse memory instead"},
        {249000, ". Reuse memory instead"},
        {250000,
         " They may be first touches of memory, of which a rank has at most 976.6 MiB at a "
         "time: use larger pages, or less memory. If it is freed and allocated again, reuse "
         "it."},
    };
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        begin_run(1, false);
        for (unsigned r = 0; r < m.n; r++) {
            m.system_ms[r] = 250;
            m.faults[r] = 500000;
        }
        m.memory_pages = cases[k].pages;
        const char *text = sentence("page-faults");
        if (!strstr(text, cases[k].says))
            fail_msg("%s", text);
    }
}

/* That page faults are in main and the libraries that it calls would say nothing. */
static void main_is_no_place_of_page_faults(void **state)
{
    (void)state;
    for (int in_main = 0; in_main < 2; in_main++) {
        begin_run(1, true);
        uint32_t at = m.caller;
        while (in_main && m.sample.p.nodes[at].parent)
            at = m.sample.p.nodes[at].parent;
        m.sample.modules[1] =
            (struct pc_profile_module){.path = (char *)"/lib/libc.so", .identity = 2};
        m.sample.p.n_modules = 2;
        sample_point(&m.sample, at, 1, COPYING);
        for (unsigned r = 0; r < m.n; r++) {
            m.system_ms[r] = 250;
            m.faults[r] = 500000;
            sample_add_samples(&m.sample, (int32_t)r, (uint64_t)(390 * ms));
        }
        const char *text = sentence("page-faults");
        if ((strstr(text, " and the libraries that it calls.") == NULL) != in_main)
            fail_msg("%s", text);
    }
}

/* The function has page faults for 390 ms, 20 in each of 400 windows. Another one has as many in
 * each of its windows, which are few. */
static void a_part_of_page_faults_is_one_of_all_that_were_counted(void **state)
{
    static const struct {
        double other_ms;
        uint64_t other_readings;
        const char *says, *never;
    } cases[] = {
        {910, 400, " Of those that were counted 65 to 75 % are in update_all", "100 %"},
        {39, 5, " to 100 % are in ", "counted 100"},
        {910, 5, "", " Of those that were counted"}, /* 30 %, or 100 % */
        {0, 0, " Of those that were counted 100 % are in ", " to "},
    };
    (void)state;
    for (size_t k = 0; k < PC_ARRAY_LEN(cases); k++) {
        begin_run(1, true);
        struct pc_profile_table *t = add_readings_table();
        for (unsigned other = 0; other < 2; other++) {
            double each_ms = other ? cases[k].other_ms : 390;
            if (!(each_ms > 0))
                continue;
            uint32_t node = sample_point(&m.sample, m.caller, 0, other ? ELSEWHERE : IN_FUNCTION);
            for (unsigned r = 0; r < m.n; r++)
                sample_add_samples(&m.sample, (int32_t)r, (uint64_t)(each_ms * ms));
            add_readings(t, node, 5, other ? cases[k].other_readings : 400, 20);
        }
        for (unsigned r = 0; r < m.n; r++) {
            m.system_ms[r] = 250;
            m.faults[r] = 500000;
        }
        const char *text = sentence("page-faults");
        if (!*text || !strstr(text, cases[k].says) || strstr(text, cases[k].never))
            fail_msg("case %zu: %s", k, text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(others_are_named_if_the_ranks_used_less),
        cmocka_unit_test(the_reason_of_a_wait_for_a_processor_is_known_or_not_told),
        cmocka_unit_test(more_processors_are_offered_where_the_host_has_free_ones),
        cmocka_unit_test(threads_that_ran_for_less_than_a_wait_are_not_its_reason),
        cmocka_unit_test(threads_that_take_turns_share_a_processor),
        cmocka_unit_test(threads_are_a_reason_only_if_they_can_run_at_once),
        cmocka_unit_test(waits_for_threads_without_a_processor_are_not_blamed_on_the_program),
        cmocka_unit_test(a_delay_costs_all_where_no_messages_link_with_the_busiest),
        cmocka_unit_test(what_killed_ranks_did_is_no_delay),
        cmocka_unit_test(time_behind_a_lock_is_no_wait_of_the_main_thread),
        cmocka_unit_test(page_faults_are_compared_with_the_memory),
        cmocka_unit_test(main_is_no_place_of_page_faults),
        cmocka_unit_test(a_part_of_page_faults_is_one_of_all_that_were_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
