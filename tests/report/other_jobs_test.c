/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Findings about jobs that have profiles of their own, in runs made by hand: calls that reach a job
 * which this one spawned, was spawned by or met may wait for it, and no others. What waits for it
 * is not called late by turns, and what ran on the processors besides may be such a job.
 */
#include "made_run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* The communicator of the collective operations of a made run. */
enum { OF_CALLS = 1, ANOTHER };

/* Jobs that this one knows by such a call, which made this communicator; `also`: NULL, or of one
 * more. */
static void add_jobs(const char *made_by, const char *also, uint64_t domain)
{
    static const char *const columns[] = {"rank", "number", "made_by", "domain", NULL};
    static const uint16_t types[] = {PCOLLECT_COLUMN_RANK, PCOLLECT_COLUMN_NUMBER,
                                     PCOLLECT_COLUMN_STRING, PCOLLECT_COLUMN_DOMAIN};
    struct pc_profile_table *t = add_table("jobs", 2, columns, types);
    add_cells(t, (const uint64_t[]){0, 1, add_string(made_by), domain});
    if (also)
        add_cells(t, (const uint64_t[]){0, 2, add_string(also), 0});
}

/* Each rank waits for 300 ms for messages from this process. */
static void add_waits(int64_t source)
{
    static const char *const columns[] = {"source",   "destination",  "class", "messages",
                                          "received", "receive_time", "time",  NULL};
    static const uint16_t types[] = {PCOLLECT_COLUMN_RANK,   PCOLLECT_COLUMN_RANK,
                                     PCOLLECT_COLUMN_STRING, PCOLLECT_COLUMN_NUMBER,
                                     PCOLLECT_COLUMN_NUMBER, PCOLLECT_COLUMN_NUMBER,
                                     PCOLLECT_COLUMN_NUMBER};
    struct pc_profile_table *t = add_table("pairs", 3, columns, types);
    for (unsigned r = 0; r < m.n; r++)
        add_cells(t, (const uint64_t[]){(uint64_t)source, r, add_string("p2p"), 0, 100,
                                        (uint64_t)(300 * ms), 0});
}

#define SPAWN "MPI_Comm_spawn"

/* All ranks compute for 1 s and are in calls for 300 ms: 23 % of the run. */
static void waits_for_other_jobs_are_told_and_no_others(void **state)
{
    static const struct {
        const char *made_by, *also;
        uint64_t domain;
        int64_t source;          /* of messages; PCOLLECT_RANK_NONE: the call is another one */
        const char *call, *says; /* NULL: no finding */
    } cases[] = {
        {SPAWN, NULL, 0, PCOLLECT_RANK_OUTSIDE, "MPI_Recv",
         "For 23 % of the run ranks are in calls that may wait for processes that this job "
         "spawned, most in messages. Let the ranks compute"},
        {"MPI_Comm_get_parent", NULL, 0, PCOLLECT_RANK_OUTSIDE, "MPI_Recv",
         "wait for the job that spawned this one, most in messages."},
        {"MPI_Comm_accept", NULL, 0, PCOLLECT_RANK_OUTSIDE, "MPI_Recv",
         "wait for processes of other jobs, most in messages."},
        {"MPI_Comm_get_parent", SPAWN, 0, PCOLLECT_RANK_OUTSIDE, "MPI_Recv",
         "wait for processes of other jobs, most in messages."},
        {SPAWN, NULL, 0, 0, "MPI_Recv", NULL},
        {NULL, NULL, 0, PCOLLECT_RANK_OUTSIDE, "MPI_Recv", NULL},
        {SPAWN, NULL, OF_CALLS, PCOLLECT_RANK_NONE, "MPI_Bcast",
         "For 23 % of the run ranks are in calls that may wait for processes that this job "
         "spawned, most in collective operations."},
        {SPAWN "_multiple", NULL, OF_CALLS, PCOLLECT_RANK_NONE, "MPI_Bcast",
         "most in collective operations."},
        {SPAWN, NULL, ANOTHER, PCOLLECT_RANK_NONE, "MPI_Bcast", NULL},
        {SPAWN, NULL, 0, PCOLLECT_RANK_NONE, "MPI_Bcast", NULL},
        {"MPI_Comm_accept", NULL, OF_CALLS, PCOLLECT_RANK_NONE, "MPI_Bcast", NULL},
        {SPAWN, NULL, 0, PCOLLECT_RANK_NONE, SPAWN, "most in " SPAWN " in "},
    };
    (void)state;
    for (size_t k = 0; k < PC_ARRAY_LEN(cases); k++) {
        begin_run(5, false);
        if (cases[k].made_by)
            add_jobs(cases[k].made_by, cases[k].also, cases[k].domain);
        if (cases[k].source != PCOLLECT_RANK_NONE)
            add_waits(cases[k].source);
        uint16_t op_class = !strcmp(cases[k].call, SPAWN)        ? PCOLLECT_CLASS_PROCESS
                            : !strcmp(cases[k].call, "MPI_Recv") ? PCOLLECT_CLASS_P2P
                                                                 : PCOLLECT_CLASS_COLL;
        call_all(cases[k].call, op_class, 100, 8, 300);
        const char *text = sentence("other-jobs");
        if (cases[k].says ? !strstr(text, cases[k].says) : *text != '\0')
            fail_msg("case %zu: %s", k, text);
    }
}

/* The wait for the rank that computes longest is its own finding. */
static void waits_for_the_busiest_rank_are_none_for_other_jobs(void **state)
{
    (void)state;
    for (unsigned longer = 0; longer < 2; longer++) {
        double list[SAMPLE_RANKS];
        begin_run(5, false);
        add_jobs(SPAWN, NULL, OF_CALLS);
        m.compute_ms[m.late] += longer ? 300 : 0;
        for (unsigned r = 0; r < m.n; r++)
            list[r] = r == m.late && longer ? 1 : 300;
        call("MPI_Bcast", PCOLLECT_CLASS_COLL, 100, 8, list);
        const char *text = sentence("other-jobs");
        if ((*text == '\0') != (longer == 1))
            fail_msg("%u: %s", longer, text);
    }
}

static void waits_for_a_parent_are_not_by_turns(void **state)
{
    (void)state;
    for (unsigned spawned = 0; spawned < 2; spawned++) {
        begin_run(5, false);
        if (spawned)
            add_jobs("MPI_Comm_get_parent", NULL, 0);
        call_all("MPI_Recv", PCOLLECT_CLASS_P2P, 100, 8, 300);
        const char *text = sentence("by-turns");
        if ((*text == '\0') != (spawned == 1))
            fail_msg("%u: %s", spawned, text);
    }
}

/* Each rank has a processor of its own, and waits for it. */
static void what_ran_besides_may_be_another_job(void **state)
{
    static const char *const columns[] = {"rank", "thread", "kind", "cpu", "known", NULL};
    static const uint16_t types[] = {PCOLLECT_COLUMN_RANK, PCOLLECT_COLUMN_NUMBER,
                                     PCOLLECT_COLUMN_STRING, PCOLLECT_COLUMN_NUMBER,
                                     PCOLLECT_COLUMN_NUMBER};
    (void)state;
    for (unsigned spawns = 0; spawns < 2; spawns++) {
        begin_run(1, false);
        if (spawns)
            add_jobs(SPAWN, NULL, 0);
        struct pc_profile_table *t = add_table("thread_records", 2, columns, types);
        for (unsigned r = 0; r < m.n; r++) {
            add_cells(t, (const uint64_t[]){r, 0, 6, (uint64_t)(900 * ms), 1});
            m.system_ms[r] = 900;
            m.delayed_ms[r] = 400;
            m.compute_ms[r] += 400;
        }
        const char *text = sentence("shared-processors");
        if (!strstr(text, ": something else ran there, or its CPU time is limited.") ||
            (strstr(text,
                    " limited. What else ran there may be processes that this job spawned.") !=
             NULL) != spawns)
            fail_msg("%u: %s", spawns, text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waits_for_other_jobs_are_told_and_no_others),
        cmocka_unit_test(waits_for_the_busiest_rank_are_none_for_other_jobs),
        cmocka_unit_test(waits_for_a_parent_are_not_by_turns),
        cmocka_unit_test(what_ran_besides_may_be_another_job),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
