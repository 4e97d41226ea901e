/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Times of threads, and what findings say of them.
 */
#include "made_run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { MAIN = 6, OWN = 7 }; /* texts of made_run.c */

/* Threads with the same times in ms, all of one kind. `slot`: threads one after another in it. */
struct threads {
    unsigned n, slot;
    double work, delayed;
};

/* Begins a run of so many ranks, which compute for 1,000 ms outside MPI. */
static void begin(unsigned n_ranks)
{
    begin_run(3, false);
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

/* One thread has 800 ms, the other 200, by their clocks: both could have 500. */
static void a_lead_by_the_clock_of_threads_has_no_error_of_samples(void **state)
{
    (void)state;
    begin(1);
    add_threads(&(const struct threads){1, 1, 0, 0},
                (const struct threads[2]){{1, 1, 800, 0}, {1, 1, 200, 0}});
    const char *text = sentence("threads");
    if (!strstr(text, " computes for 800.0 ms, ") || !strstr(text, ": 30 % of the run."))
        fail_msg("%s", text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lead_by_the_clock_of_threads_has_no_error_of_samples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
