/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What findings say of system calls, in runs made by hand. A system call is named if the samples
 * found it, with the advice for it; a few samples are no evidence for the rest of the time, nor is
 * a call in which no thread can be blocked a reason for blocked time. A clock is named only if no
 * other code can have the system time. A few ticks of a clock are none. Calls that threads make
 * concurrently take the time of one.
 */
#include "made_run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void add_samples(uint64_t at, double each_ms)
{
    sample_point(&m.sample, m.caller, 1, at);
    for (unsigned r = 0; r < m.n; r++)
        sample_add_samples(&m.sample, (int32_t)r, (uint64_t)(each_ms * ms));
}

/* Two threads in each rank, of which each spends that time in the runtime of threads. */
static void add_threads(double in_runtime_ms)
{
    struct pc_profile_table *of, *t;
    add_thread_tables(&of, &t);
    for (unsigned r = 0; r < m.n; r++)
        for (unsigned i = 0; i < 2; i++) {
            add_cells(t, (const uint64_t[]){r, i, i ? 7 : 6, (uint64_t)(in_runtime_ms * ms), 0});
            add_cells(of,
                      (const uint64_t[]){r, i, (uint64_t)ms, (uint64_t)(m.compute_ms[r] * ms), 1});
        }
}

static void begin(void)
{
    begin_run(1, true);
    m.sample.modules[1] = (struct pc_profile_module){.path = (char *)"libc.so", .identity = 2};
    m.sample.p.n_modules = 2;
}

#define GENERAL "look for sleeps, locks and calls that read a clock"

/* In the kernel for 300 ms, of which 20 are before MPI_Init. */
static void a_system_call_is_named_if_samples_found_it(void **state)
{
    static const struct {
        double write_ms, brk_ms, runtime_ms;
        const char *want, *other, *never;
        bool renames;
    } cases[] = {
        {250, 0, 0, "100 % are in the system call write", "). Read and write larger blocks.",
         GENERAL, false},
        {20, 230, 0, "92 % are in the system call brk", "). Keep memory instead of", "larger",
         false},
        {0, 0.5, 0, "of the run", GENERAL, "brk", false}, /* less than 10 samples */
        {0, 60, 0, "of the run", GENERAL, "brk", false},  /* less than half of the time */
        {0, 0, 0, "of the run", GENERAL, "samples", false},
        {0, 60, 400, "Part of it may be threads that wait for each other", "by thread)", "brk",
         false},
        {0, 250, 400, "100 % are in the system call brk", "Keep memory", "wait for each other",
         false},
        {0, 60, 10, "of the run", GENERAL, "wait for each other", false},
        {250, 0, 0, "100 % are in the system call rename", "). Make, rename and remove fewer files",
         "Keep files open", true},
    };
    (void)state;
    for (size_t k = 0; k < PC_ARRAY_LEN(cases); k++) {
        begin();
        for (unsigned r = 0; r < m.n; r++)
            m.system_ms[r] = 300;
        add_samples(COPYING, 500);
        if (cases[k].write_ms > 0)
            add_samples(cases[k].renames ? RENAMING : WRITING, cases[k].write_ms);
        if (cases[k].brk_ms > 0)
            add_samples(SHRINKING, cases[k].brk_ms);
        if (cases[k].runtime_ms > 0)
            add_threads(cases[k].runtime_ms);
        const char *text = sentence("system-time");
        if (!strstr(text, cases[k].want) || !strstr(text, cases[k].other) ||
            strstr(text, cases[k].never))
            fail_msg("case %zu: %s", k, text);
    }
}

/* A page fault may take 2 us: system time that may be due to them is none of system calls. */
static void page_faults_are_no_system_calls(void **state)
{
    (void)state;
    for (unsigned many = 0; many < 2; many++) {
        begin();
        add_samples(COPYING, 500);
        for (unsigned r = 0; r < m.n; r++) {
            m.system_ms[r] = 300;
            m.faults[r] = many ? 130000 : 30000;
        }
        const char *text = sentence("system-time");
        if (many ? *text : !strstr(text, " if each page fault takes 2.5 us or less, most on "))
            fail_msg("%u: %s", many, text);
    }
}

/* Nine samples of one rank, or ten, are all that there is. */
static void page_faults_are_placed_by_ten_samples(void **state)
{
    (void)state;
    for (unsigned n = 9; n <= 10; n++) {
        begin();
        for (unsigned r = 0; r < m.n; r++) {
            m.system_ms[r] = 300;
            m.faults[r] = 130000;
        }
        sample_point(&m.sample, m.caller, 0, IN_FUNCTION);
        sample_add_samples(&m.sample, 0, (uint64_t)(n * ms));
        const char *text = sentence("page-faults");
        if (!strstr(text, " page faults per rank") ||
            (strstr(text, "Of the samples of computation 100 % are in ") != NULL) != (n == 10))
            fail_msg("%u: %s", n, text);
    }
}

/* With a tick each 10 ms, two of two may have been in the kernel by chance, and 4 or 6 of 100 are
 * hardly more than none. */
static void time_in_the_kernel_may_be_a_few_ticks(void **state)
{
    static const struct {
        double user_ms, system_ms;
        bool is_found;
    } cases[] = {
        {0, 10, false},   {10, 10, false},   {0, 20, false},   {0, 60, true},
        {60, 40, false},  {960, 40, false},  {800, 200, true}, {17000, 3000, true},
        {400, 600, true}, {1000, 60, false},
    };
    (void)state;
    for (size_t k = 0; k < PC_ARRAY_LEN(cases); k++) {
        begin();
        for (unsigned r = 0; r < m.n; r++) {
            m.user_ms[r] = cases[k].user_ms;
            m.system_ms[r] = cases[k].system_ms;
            m.compute_ms[r] = cases[k].user_ms + cases[k].system_ms;
            m.sample.ranks[r].before_init_ns = 0;
        }
        const char *text = sentence("system-time");
        if ((*text != 0) != cases[k].is_found)
            fail_msg("case %zu: %s", k, text);
    }
}

static void blocked_time_is_not_due_to_calls_that_return_at_once(void **state)
{
    char want[96];
    (void)state;
    for (unsigned writes = 0; writes < 2; writes++) {
        begin();
        for (unsigned r = 0; r < m.n; r++)
            m.blocked_ms[r] = 200;
        add_samples(COPYING, 500);
        add_samples(SHRINKING, 30);
        if (writes)
            add_samples(WRITING, 3);
        snprintf(want, sizeof want,
                 " Of %u samples of CPU time in functions that may block %u are in", 3 * m.n,
                 3 * m.n);
        const char *text = sentence("blocked");
        if (!*text || strstr(text, "brk") || (strstr(text, want) != NULL) != writes)
            fail_msg("%u: %s", writes, text);
    }
}

/* 300 ms in the kernel, while the samples are in a function that reads a clock, or elsewhere. */
static void a_clock_is_named_if_no_other_code_has_the_time(void **state)
{
    static const struct {
        double clock_ms, other_ms;
        bool is_named;
    } cases[] = {{500, 0, true}, {500, 100, true}, {500, 200, false}, {0.5, 0, false}};
    (void)state;
    for (size_t k = 0; k < PC_ARRAY_LEN(cases); k++) {
        begin();
        for (unsigned r = 0; r < m.n; r++)
            m.system_ms[r] = 300;
        add_samples(READING_CLOCK, cases[k].clock_ms);
        if (cases[k].other_ms > 0)
            add_samples(COPYING, cases[k].other_ms);
        const char *text = sentence("system-time");
        if ((strstr(text, "are in clock_gettime, called by ") != NULL) != cases[k].is_named ||
            (strstr(text, GENERAL) != NULL) == cases[k].is_named)
            fail_msg("case %zu: %s", k, text);
    }
}

/* The ranks have 300 ms of system time and compute for some 1 s; four threads of each have the CPU
 * time, or one. */
static void concurrent_system_calls_take_the_time_of_one_thread(void **state)
{
    static const struct {
        unsigned n_threads;
        double each_ms;
        bool is_found;
    } cases[] = {{4, 100, true}, {4, 10, false}, {1, 10, true}};
    (void)state;
    for (size_t k = 0; k < PC_ARRAY_LEN(cases); k++) {
        struct pc_profile_table *of, *t;
        begin();
        add_thread_tables(&of, &t);
        for (unsigned r = 0; r < m.n; r++) {
            m.system_ms[r] = 300;
            for (unsigned i = 0; i < cases[k].n_threads; i++) {
                add_cells(t, (const uint64_t[]){r, i, i ? 7 : 6, 0, 0});
                add_cells(of, (const uint64_t[]){r, i, (uint64_t)ms,
                                                 (uint64_t)(cases[k].each_ms * ms), 1});
            }
        }
        const char *text = sentence("system-time");
        if ((*text != 0) != cases[k].is_found)
            fail_msg("case %zu: %s", k, text);
    }
}

/* Contexts that are added up are below a frame of no module. */
static void samples_of_no_known_module_are_no_evidence(void **state)
{
    (void)state;
    begin();
    uint32_t folded = sample_frame(&m.sample, 0, PC_NO_INDEX, PC_NODE_FOLDED);
    sample_point(&m.sample, folded, 1, COPYING);
    for (unsigned r = 0; r < m.n; r++)
        sample_add_samples(&m.sample, (int32_t)r, (uint64_t)(500 * ms));
    add_threads(400);
    assert_null(strstr(sentence("thread-waits"), "poll for locks"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_system_call_is_named_if_samples_found_it),
        cmocka_unit_test(page_faults_are_no_system_calls),
        cmocka_unit_test(page_faults_are_placed_by_ten_samples),
        cmocka_unit_test(time_in_the_kernel_may_be_a_few_ticks),
        cmocka_unit_test(blocked_time_is_not_due_to_calls_that_return_at_once),
        cmocka_unit_test(a_clock_is_named_if_no_other_code_has_the_time),
        cmocka_unit_test(concurrent_system_calls_take_the_time_of_one_thread),
        cmocka_unit_test(samples_of_no_known_module_are_no_evidence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
