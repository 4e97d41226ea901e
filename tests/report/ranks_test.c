/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Findings that compare ranks, in runs made by hand: a rank is alone only if that is sure, a wait
 * has its condition, time of one rank is not said of all, and ranks of other programs are not told
 * to take part in the work.
 */
#include "made_run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* Adds CPU time outside MPI by samples, in ms, and in MPI, each sample for the time `each`. */
static void add_samples(const double *compute_ms, const double *mpi_ms, double each_ms)
{
    static const char *const columns[] = {
        "rank",     "booked",      "period", "compute_time", "compute_squares",
        "mpi_time", "mpi_squares", NULL};
    static const uint16_t types[] = {PCOLLECT_COLUMN_RANK,   PCOLLECT_COLUMN_NUMBER,
                                     PCOLLECT_COLUMN_NUMBER, PCOLLECT_COLUMN_NUMBER,
                                     PCOLLECT_COLUMN_NUMBER, PCOLLECT_COLUMN_NUMBER,
                                     PCOLLECT_COLUMN_NUMBER};
    struct pc_profile_table *t = add_table("sampling", 1, columns, types);
    for (unsigned r = 0; r < m.n; r++)
        add_cells(t, (const uint64_t[]){
                         r, (uint64_t)(compute_ms[r] / each_ms), (uint64_t)(each_ms * ms),
                         (uint64_t)(compute_ms[r] * ms), (uint64_t)(compute_ms[r] * each_ms * 1e6),
                         (uint64_t)(mpi_ms[r] * ms), (uint64_t)(mpi_ms[r] * each_ms * 1e6)});
}

/* Ranks wait for a processor for most of the time. Samples find 5 times as much computation on one
 * as on the others, two of which hardly compute: if they stand for 10 ms each, the one may compute
 * for as long as the fourth. */
static void a_rank_is_alone_if_that_is_sure(void **state)
{
    static const double wall_ms[] = {65, 64, 973, 782}, compute_ms[] = {10, 20, 330, 150},
                        mpi_ms[] = {450, 450, 140, 320};
    (void)state;
    for (unsigned sure = 0; sure < 2; sure++) {
        begin_ranks(4);
        for (unsigned r = 0; r < m.n; r++) {
            m.compute_ms[r] = wall_ms[r];
            m.delayed_ms[r] = 1700;
            m.user_ms[r] = 480;
        }
        add_samples(compute_ms, mpi_ms, sure ? 0.1 : 10);
        call_all("MPI_Barrier", PCOLLECT_CLASS_COLL, 100, 0, 1200);
        const char *text = sentence(sure ? "serial" : "imbalance");
        if (strncmp(text, "Rank 2 computes ", 16) != 0 ||
            !strstr(text, sure ? " 5.5 times as long as the mean of the others: "
                               : " 160 % longer than the mean: "))
            fail_msg("%u: %s", sure, text);
    }
}

/* The other ranks compute for 150 ms at most, of which 10 samples of 20 ms would tell how much is a
 * wait for a processor. */
static void a_rank_is_not_alone_beside_ranks_too_short_for_samples(void **state)
{
    static const double wall_ms[] = {150, 150, 973, 150}, compute_ms[] = {20, 20, 950, 20},
                        mpi_ms[] = {400, 400, 100, 400};
    (void)state;
    begin_ranks(4);
    for (unsigned r = 0; r < m.n; r++) {
        m.compute_ms[r] = wall_ms[r];
        m.delayed_ms[r] = r == 2 ? 10 : 1700;
        m.user_ms[r] = 480;
    }
    add_samples(compute_ms, mpi_ms, 20);
    call_all("MPI_Barrier", PCOLLECT_CLASS_COLL, 100, 0, 1200);
    const char *text = sentence("serial");
    if (!strstr(text, "Rank 2 computes at least 6.4 times as long as the mean of the others: "))
        fail_msg("%s", text);
}

/* The last rank computes alone, or longer than another, or rank 0 hardly computes. */
static void ranks_of_other_programs_need_not_take_part(void **state)
{
    static const double compute_ms[][3] = {{10, 10, 1000}, {600, 600, 1000}, {10, 1000, 1000}};
    static const char *const rules[] = {"serial", "imbalance", "imbalance"};
    static const char *const advice[] = {" Divide this work, or let all ranks do it.", "",
                                         " Let it take part in the work."};
    (void)state;
    for (size_t k = 0; k < PC_ARRAY_LEN(rules); k++)
        for (unsigned several = 0; several < 2; several++) {
            const char *wanted = several ? " The ranks run several programs: give more ranks to "
                                           "the one whose ranks have most work (pcollect report "
                                           "--by program)."
                                         : advice[k];
            begin_ranks(3);
            memcpy(m.compute_ms, compute_ms[k], sizeof compute_ms[k]);
            m.sample.modules[1] = (struct pc_profile_module){
                .path = (char *)"/bin/other", .identity = 2, .flags = PCOLLECT_MODULE_EXE};
            m.sample.p.n_modules += several;
            const char *text = sentence(rules[k]), *end = text + strlen(text);
            if (strlen(text) < strlen(wanted) || strcmp(end - strlen(wanted), wanted) != 0 ||
                (strstr(text, "several programs") != NULL) != several)
                fail_msg("%zu, %u: %s", k, several, text);
        }
}

/* The ranks that work wait for a processor for as long as they compute, or not at all: the wait of
 * the one that hands out work is 1 s less than theirs. */
static void a_wait_without_delays_says_so(void **state)
{
    static const double compute_ms[] = {5, 1000, 1000}, mpi_ms[] = {1, 1, 1};
    (void)state;
    for (unsigned delayed = 0; delayed < 2; delayed++) {
        begin_ranks(3);
        for (unsigned r = 0; r < m.n; r++) {
            m.delayed_ms[r] = r && delayed ? 1000 : 1;
            m.compute_ms[r] = compute_ms[r] + m.delayed_ms[r];
        }
        add_samples(compute_ms, mpi_ms, 0.1);
        const char *text = sentence("imbalance");
        if (strncmp(text, "Rank 0 computes for ", 20) != 0 ||
            (strstr(text, " of all ranks even if each rank had a processor of its own, most in ") !=
             NULL) != delayed)
            fail_msg("%u: %s", delayed, text);
    }
}

/* Two of three ranks sleep: one for nearly all of the time, or both for as long. */
static void blocked_time_of_one_rank_is_its_own(void **state)
{
    static const struct {
        double first_ms, second_ms;
        const char *begin, *then;
    } cases[] = {
        {300, 10, "Rank 0 is blocked outside MPI for 10 % of the time of all ranks (298.", ": it "},
        {300, 300, "The ranks are blocked outside MPI for 20 % of the run, most on rank ", "they "},
    };
    (void)state;
    for (size_t k = 0; k < PC_ARRAY_LEN(cases); k++) {
        begin_ranks(3);
        for (unsigned r = 0; r < m.n; r++) {
            m.compute_ms[r] = 1000;
            m.delayed_ms[r] = 1;
        }
        m.blocked_ms[0] = cases[k].first_ms;
        m.blocked_ms[1] = cases[k].second_ms;
        const char *text = sentence("blocked");
        if (strncmp(text, cases[k].begin, strlen(cases[k].begin)) != 0 ||
            !strstr(text, cases[k].then))
            fail_msg("%zu: %s", k, text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rank_is_alone_if_that_is_sure),
        cmocka_unit_test(a_rank_is_not_alone_beside_ranks_too_short_for_samples),
        cmocka_unit_test(ranks_of_other_programs_need_not_take_part),
        cmocka_unit_test(a_wait_without_delays_says_so),
        cmocka_unit_test(blocked_time_of_one_rank_is_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
