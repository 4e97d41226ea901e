/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the head of the report says of runs made by hand: which ranks are missing, where the ranks
 * of a killed job were, by what the samples were taken, and of how much CPU time.
 */
#include "made_run.h"

#include "view/report_print.h"
#include "view/tables/tables.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* Writes @ for the function of the run and its line. */
static void shorten_places(char *text)
{
    char place[128];
    snprintf(place, sizeof place, " in %s (%s:14)", m.function, m.file);
    for (char *at; (at = strstr(text, place));) {
        char *rest = at + strlen(place);
        *at = '@';
        memmove(at + 1, rest, strlen(rest) + 1);
    }
}

/* Returns the head of the report as one line of words with one blank between them, and @ for the
 * function of the run. */
static const char *head_of(struct pct_data *d)
{
    static const struct pct_options options;
    static char text[4096];
    FILE *file = tmpfile();
    size_t n = 0;
    assert_non_null(file);
    pct_print_head(file, d, &options);
    rewind(file);
    for (int c; (c = fgetc(file)) != EOF && n + 1 < sizeof text;)
        if ((c != ' ' && c != '\n') || (n && text[n - 1] != ' '))
            text[n++] = c == '\n' ? ' ' : (char)c;
    text[n] = '\0';
    fclose(file);
    shorten_places(text);
    return text;
}

/* Each rank has been in a function of its own for 1 s, save the last ones. */
static void ranks_outside_mpi_are_never_left_out(void **state)
{
    static const char *const ops[] = {"MPI_Recv",  "MPI_Barrier", "MPI_Probe",
                                      "MPI_Ssend", "MPI_Wait",    "MPI_Bcast"};
    static const struct {
        unsigned ranks, outside;
        const char *says, *found;
    } cases[] = {
        {1, 0, " How long it waited for a processor is not known at the end rank 0 in MPI_Recv@ ",
         ") for 1.000 s."},
        {3, 0,
         " How long ranks waited for a processor is not known at the end rank 0 in MPI_Recv@ ",
         " s, 1 other rank in another place."},
        {4, 0, " in MPI_Probe@ for 1.000 s, rank 3 in MPI_Ssend@ for 1.000 s ",
         " s, others in 2 other places."},
        {5, 1, " in MPI_Ssend@ for 1.000 s, rank 4 outside MPI ",
         " in 2 other places, and rank 4 is outside MPI."},
        {7, 2,
         "end ranks 5, 6 outside MPI, rank 0 in MPI_Recv@ for 1.000 s, rank 1 in MPI_Barrier@ "
         "for 1.000 s, rank 2 in MPI_Probe@ for 1.000 s, rank 3 in MPI_Ssend@ for 1.000 s, "
         "1 other rank in another function ",
         " in 3 other places, and 2 ranks are outside MPI."},
        {7, 1, " for 1.000 s, rank 6 outside MPI, others in other functions ",
         " in 4 other places, and rank 6 is outside MPI."},
        {2, 2, " at the end ranks 0, 1 outside MPI ", NULL},
    };
    (void)state;
    for (size_t k = 0; k < PC_ARRAY_LEN(cases); k++) {
        begin_ranks(cases[k].ranks);
        m.killed = true;
        m.sample.p.mpi = (char *)"MPI";
        struct pc_profile_table *t = add_open_calls();
        for (unsigned r = 0; r < m.n; r++) {
            m.sample.ranks[r].incomplete = true;
            if (r >= m.n - cases[k].outside)
                continue;
            call_all(ops[r], PCOLLECT_CLASS_P2P, 1, 0, 1);
            add_cells(t, (const uint64_t[]){r, 0, m.last_op, (uint64_t)(1000 * ms)});
        }
        struct pct_data *d = end_run();
        if (!strstr(head_of(d), cases[k].says))
            fail_msg("case %zu: %s", k, head_of(d));
        if (cases[k].found &&
            (!d->findings->n || !strstr(d->findings->list[0].text, cases[k].found)))
            fail_msg("case %zu: %s", k, d->findings->n ? d->findings->list[0].text : "nothing");
        pct_data_free(d);
    }
}

/* Two ranks are in calls of one function of MPI, of one place or of two. */
static void ranks_in_one_place_are_there(void **state)
{
    static const char *const says[] = {" at the end ranks 0, 1 in MPI_Recv@ for up to 1.000 s ",
                                       " at the end ranks 0, 1 in MPI_Recv for up to 1.000 s "};
    (void)state;
    for (unsigned k = 0; k < PC_ARRAY_LEN(says); k++) {
        begin_ranks(2);
        m.killed = true;
        struct pc_profile_table *t = add_open_calls();
        call_all("MPI_Recv", PCOLLECT_CLASS_P2P, 1, 0, 1);
        uint32_t op = m.sample.nodes[m.last_op].op, node = m.last_op;
        for (unsigned r = 0; r < m.n; r++) {
            m.sample.ranks[r].incomplete = true;
            add_cells(t, (const uint64_t[]){r, 0, node, (uint64_t)(1000 * ms)});
            if (k)
                node = sample_op(&m.sample, m.sample.nodes[m.caller].parent, op);
        }
        struct pct_data *d = end_run();
        if (!strstr(head_of(d), says[k]))
            fail_msg("case %u: %s", k, head_of(d));
        pct_data_free(d);
    }
}

/* Rank 0 sleeps for 6 s, the others for 2.5 s. In MPI, where these wait for it, no processor is
 * free for as long as they sleep: they may have slept, or waited for a processor outside MPI. */
static void ranks_that_may_have_slept_are_not_idle(void **state)
{
    struct pc_profile_table *sampling, *threads;
    (void)state;
    begin_run(3, false);
    add_thread_tables(&sampling, &threads);
    for (unsigned r = 0; r < m.n; r++) {
        m.compute_ms[r] = m.blocked_ms[r] = r ? 2500 : 6000;
        m.delayed_ms[r] = r ? 2900 : 0;
        add_cells(sampling, (const uint64_t[]){r, 0, (uint64_t)ms, 0, 0});
    }
    struct pct_data *d = end_run();
    if (!strstr(head_of(d), "Rank 0 is blocked outside MPI for 6.000 s: ") ||
        !strstr(head_of(d), " 77.8 % .. 300.0 %: rank 0 computes or is blocked for 6.000 s, the "
                            "mean rank 1.500 s .. 3.375 s ") ||
        strstr(head_of(d), " only, the mean of the other "))
        fail_msg("%s", head_of(d));
    pct_data_free(d);
}

/* Ranks are outside MPI for less than ten distances of samples, and wait for a processor and are
 * blocked for longer than they are in MPI. */
static void a_part_that_was_blocked_is_told_of_a_short_time(void **state)
{
    struct pc_profile_table *sampling, *threads;
    (void)state;
    begin_run(5, false);
    add_thread_tables(&sampling, &threads);
    for (unsigned r = 0; r < m.n; r++) {
        m.compute_ms[r] = 50;
        m.delayed_ms[r] = 20;
        m.blocked_ms[r] = 25;
        add_cells(sampling, (const uint64_t[]){r, 0, (uint64_t)(10 * ms), 0, 0});
    }
    call_all("MPI_Allgather", PCOLLECT_CLASS_COLL, 1, 8, 5);
    struct pct_data *d = end_run();
    if (!strstr(head_of(d),
                " blocked or waiting for a processor, 17.95 ms or more of it blocked ") ||
        !strstr(head_of(d), "one of them rank 0 (at least 17.95 ms)"))
        fail_msg("%s", head_of(d));
    for (size_t i = 0; i < 3; i++) {
        static const char *const parts[] = {"cpu_s", "blocked_s", "delayed_s"};
        assert_true(pct_table_value(pct_column_find(&pct_ranks_table, parts[i]), d, 0).none);
    }
    pct_data_free(d);
}

/* Shares are of the time from MPI_Init on, which is said if the program ran for long before. */
static void a_share_of_the_time_after_init_says_so(void **state)
{
    (void)state;
    for (unsigned late = 0; late < 2; late++) {
        begin_run(5, false);
        for (unsigned r = 0; r < m.n; r++) {
            m.compute_ms[r] = 1000;
            m.delayed_ms[r] = 500;
            m.sample.ranks[r].before_init_ns = (uint64_t)((late ? 2000 : 20) * ms);
        }
        struct pct_data *d = end_run();
        const char *head = head_of(d);
        if ((strstr(head, " % of the run after MPI_Init, most on rank") != NULL) != late ||
            (strstr(head, " per rank after MPI_Init: 501.0 ms computing, ") != NULL) != late)
            fail_msg("%u: %s", late, head);
        pct_data_free(d);
    }
}

/* The data of the last rank ends outside MPI, 3 s before those of the others, or with them. */
static void a_killed_rank_that_left_no_trace_is_named(void **state)
{
    (void)state;
    for (unsigned silent = 0; silent < 2; silent++) {
        begin_ranks(3);
        m.killed = true;
        for (unsigned r = 0; r < m.n; r++) {
            m.compute_ms[r] = r == 2 ? 1000 : 1;
            m.sample.ranks[r].incomplete = true;
            m.sample.ranks[r].closed = false;
            m.sample.ranks[r].start_realtime_ns = silent && r < 2 ? (uint64_t)(3000 * ms) : 0;
        }
        call_all("MPI_Recv", PCOLLECT_CLASS_P2P, 1, 0, 1000);
        struct pc_profile_table *t = add_open_calls();
        for (unsigned r = 0; r < 2; r++)
            add_cells(t, (const uint64_t[]){r, 0, m.last_op, (uint64_t)(1000 * ms)});
        struct pct_data *d = end_run();
        if ((strstr(head_of(d), " rank 2 left no trace: it slept ") != NULL) != silent)
            fail_msg("%u: %s", silent, head_of(d));
        assert_int_equal(strstr(head_of(d), " imbalance ") == NULL, silent);
        pct_data_free(d);
    }
}

/* Rank 0 is outside MPI for 5 ms of a run of 1 s, or for 50; or it is killed after these, while
 * rank 1 is in MPI_Init. */
static void little_time_outside_mpi_has_no_imbalance(void **state)
{
    static const struct {
        double compute_ms;
        bool killed, told;
    } cases[] = {{5, false, false}, {50, false, true}, {50, true, false}};
    (void)state;
    for (size_t k = 0; k < PC_ARRAY_LEN(cases); k++) {
        begin_ranks(2);
        for (unsigned r = 0; r < m.n; r++) {
            m.compute_ms[r] = r ? 0 : cases[k].compute_ms;
            m.delayed_ms[r] = 0;
            m.sample.ranks[r].incomplete = cases[k].killed;
        }
        call_all("MPI_Init", PCOLLECT_CLASS_ENV, 1, 0, 1000);
        struct pct_data *d = end_run();
        if ((strstr(head_of(d), " imbalance 100.0 %") != NULL) != cases[k].told)
            fail_msg("case %zu: %s", k, head_of(d));
        pct_data_free(d);
    }
}

/* Two of four ranks exit outside MPI, with one status or two, the first 3 s before the others' data
 * ends: they are not silent. */
static void ranks_that_exit_are_named_with_their_status(void **state)
{
    static const char *const says[] = {
        "ranks 1, 2 exited with status 7; ranks 0-3 did not reach",
        "rank 1 exited with status 7, 3.000 s before the last moment "
        "known of others; rank 2 exited with status 0; ranks 0-3 did",
        "rank 1 exited with status 7, 3.000 s before the last moment "
        "known of others; rank 2 exited; ranks 0-3 did"};
    (void)state;
    for (unsigned k = 0; k < PC_ARRAY_LEN(says); k++) {
        begin_ranks(4);
        m.killed = true;
        for (unsigned r = 0; r < m.n; r++) {
            bool exits = r == 1 || r == 2;
            m.sample.ranks[r].incomplete = true;
            m.sample.ranks[r].closed = exits;
            m.sample.ranks[r].start_realtime_ns = r == 1 ? 0 : (uint64_t)(3000 * ms);
            if (exits && (r == 1 || k < 2))
                m.sample.ranks[r].notes |= PCOLLECT_NOTE_STATUS | (uint64_t)(r == 1 || !k ? 7 : 0)
                                                                      << PCOLLECT_NOTE_STATUS_BIT;
        }
        call_all("MPI_Recv", PCOLLECT_CLASS_P2P, 1, 0, 1000);
        struct pc_profile_table *t = add_open_calls();
        for (unsigned r = 0; r < m.n; r += 3)
            add_cells(t, (const uint64_t[]){r, 0, m.last_op, (uint64_t)(1000 * ms)});
        struct pct_data *d = end_run();
        if (!strstr(head_of(d), says[k]) || strstr(head_of(d), "left no trace"))
            fail_msg("%u: %s", k, head_of(d));
        pct_data_free(d);
    }
}

/* Two of four ranks abort at one place, one exits in a call, and a signal ends the last. */
static void ends_are_told_with_place_or_signal(void **state)
{
    static const char *const columns[] = {"rank", "how", "place", NULL};
    static const uint16_t types[] = {PCOLLECT_COLUMN_RANK, PCOLLECT_COLUMN_STRING,
                                     PCOLLECT_COLUMN_NODE};
    static const char says[] =
        " incomplete ranks 0, 2 called abort@; rank 1 called exit in MPI_Recv@ with status 7; rank "
        "3 was ended by signal 11 (Segmentation fault); ranks 0-3 did not reach MPI_Finalize";
    (void)state;
    begin_ranks(4);
    m.killed = true;
    m.sample.p.mpi = (char *)"MPI";
    for (unsigned r = 0; r < m.n; r++) {
        m.sample.ranks[r].incomplete = true;
        m.sample.ranks[r].closed = false;
    }
    m.sample.ranks[1].notes |= PCOLLECT_NOTE_STATUS | UINT64_C(7) << PCOLLECT_NOTE_STATUS_BIT;
    m.sample.ranks[3].notes |= PCOLLECT_NOTE_SIGNAL | UINT64_C(11) << PCOLLECT_NOTE_STATUS_BIT;
    call_all("MPI_Recv", PCOLLECT_CLASS_P2P, 1, 0, 1000);
    struct pc_profile_table *t = add_table("ends", 1, columns, types);
    for (unsigned r = 0; r < 3; r++)
        add_cells(t, (const uint64_t[]){r, add_string(r == 1 ? "exit" : "abort"),
                                        r == 1 ? m.last_op : m.caller});
    struct pct_data *d = end_run();
    if (!strstr(head_of(d), says) || strstr(head_of(d), "left no trace"))
        fail_msg("%s", head_of(d));
    pct_data_free(d);
}

/* Two ranks are in a call with their main thread. What the last ones are in, with which thread and
 * for how many ms: a main thread comes before others, of which the longest call counts. */
static void a_rank_is_in_mpi_if_any_of_its_threads_is(void **state)
{
    static const struct {
        unsigned ranks, n; /* ranks, and rows of the last ones */
        uint64_t rows[3][3];
        const char *says, *found;
    } cases[] = {
        {3,
         1,
         {{2, 2, 1500}},
         "end ranks 0, 1 in MPI_Recv@ for up to 1.000 s, rank 2 in MPI_Recv@ in thread 2 for 1.500 "
         "s ",
         "At the end of the data 3 ranks have been in MPI_Recv in "},
        {3,
         3,
         {{2, 0, 10}, {2, 1, 1500}, {2, 3, 1600}},
         "end ranks 0-2 in MPI_Recv@ for up to 1.000 s ",
         "At the end of the data 3 ranks have been in MPI_Recv in "},
        {3, 2, {{2, 1, 1500}, {2, 3, 1600}}, ", rank 2 in MPI_Recv@ in thread 3 for 1.600 s ", ""},
        {4,
         2,
         {{2, 1, 1500}, {3, 1, 1600}},
         "end ranks 0, 1 in MPI_Recv@ for up to 1.000 s, ranks 2, 3 in MPI_Recv@ in other threads "
         "than the main one for up to 1.600 s ",
         "At the end of the data 4 ranks have been in MPI_Recv in "},
    };
    (void)state;
    for (size_t k = 0; k < PC_ARRAY_LEN(cases); k++) {
        begin_ranks(cases[k].ranks);
        m.killed = true;
        call_all("MPI_Recv", PCOLLECT_CLASS_P2P, 1, 0, 1);
        struct pc_profile_table *t = add_open_calls();
        for (unsigned r = 0; r < m.n; r++) {
            m.sample.ranks[r].incomplete = true;
            if (r < 2)
                add_cells(t, (const uint64_t[]){r, 0, m.last_op, (uint64_t)(1000 * ms)});
        }
        for (unsigned i = 0; i < cases[k].n; i++)
            add_cells(t, (const uint64_t[]){cases[k].rows[i][0], cases[k].rows[i][1], m.last_op,
                                            cases[k].rows[i][2] * (uint64_t)ms});
        struct pct_data *d = end_run();
        if (!strstr(head_of(d), cases[k].says))
            fail_msg("case %zu: %s", k, head_of(d));
        if (!d->findings->n || !strstr(d->findings->list[0].text, cases[k].found) ||
            strstr(d->findings->list[0].text, "outside"))
            fail_msg("case %zu: %s", k, d->findings->n ? d->findings->list[0].text : "nothing");
        pct_data_free(d);
    }
}

static void missing_ranks_are_listed_as_ranges(void **state)
{
    static const struct {
        unsigned world;
        int32_t ranks[9];
        const char *says;
    } cases[] = {
        {4, {0, 1, 2}, " missing rank 3: not in this profile "},
        {300000, {0, 1, 2, 3}, " missing ranks 4-299999: not in this profile "},
        {8, {2, 3, 5}, " missing ranks 0, 1, 4, 6, 7: not in this profile "},
        {2000000000,
         {1, 3, 5, 7, 9, 11, 1999999999},
         " missing ranks 0, 2, 4, 6, 8, 10 and 1999999987 more: not in this profile "},
    };
    (void)state;
    for (size_t k = 0; k < PC_ARRAY_LEN(cases); k++) {
        unsigned n = 1;
        while (cases[k].ranks[n])
            n++;
        begin_ranks(n);
        m.sample.p.world_size = cases[k].world;
        for (unsigned r = 0; r < m.n; r++)
            m.sample.ranks[r].rank = cases[k].ranks[r];
        struct pct_data *d = end_run();
        if (!strstr(head_of(d), cases[k].says))
            fail_msg("case %zu: %s", k, head_of(d));
        pct_data_free(d);
    }
}

static void all_sources_of_interrupts_are_named(void **state)
{
    static const char *const columns[] = {"rank", "interrupts", "cpu", "source", NULL};
    static const uint16_t types[] = {PCOLLECT_COLUMN_RANK, PCOLLECT_COLUMN_NUMBER,
                                     PCOLLECT_COLUMN_NUMBER, PCOLLECT_COLUMN_STRING};
    static const struct {
        uint64_t interrupts[4];
        const char *sources[4], *says;
    } cases[] = {
        {{5, 1}, {"clock", "clock"}, " sampling 6 interrupts by clock, "},
        {{5, 1, 2, 7}, {"timer", "clock", "timer", "clock"}, " 15 interrupts by clock and timer, "},
        {{5, 0}, {"clock", "timer"}, " sampling 5 interrupts by clock, "},
        {{1}, {NULL}, " sampling 1 interrupt, "},
    };
    (void)state;
    for (size_t k = 0; k < PC_ARRAY_LEN(cases); k++) {
        begin_ranks(4);
        struct pc_profile_table *t = add_table("sampling", 1, columns, types);
        add_string("clock");
        for (uint64_t r = 0; r < m.n; r++) {
            const char *source = cases[k].sources[r];
            add_cells(t, (const uint64_t[]){r, cases[k].interrupts[r], (uint64_t)(100 * ms),
                                            source ? add_string(source) : 0});
        }
        struct pct_data *d = end_run();
        if (!strstr(head_of(d), cases[k].says))
            fail_msg("case %zu: %s", k, head_of(d));
        pct_data_free(d);
    }
}

static void own_samples_are_told_where_they_matter(void **state)
{
    static const char *const columns[] = {"rank", "interrupts", "cpu", "own", "own_time", NULL};
    static const uint16_t types[] = {PCOLLECT_COLUMN_RANK, PCOLLECT_COLUMN_NUMBER,
                                     PCOLLECT_COLUMN_NUMBER, PCOLLECT_COLUMN_NUMBER,
                                     PCOLLECT_COLUMN_NUMBER};
    static const struct {
        double own, own_ms;
        const char *says; /* NULL: nothing */
    } cases[] = {
        {9, 120, "; pcollect took about 12.0 % more in its own code (9 samples) "},
        {1, 10, "; pcollect took about 1.0 % more in its own code (1 sample) "},
        {1, 9, NULL},
        {0, 0, NULL},
        {10, 5, "; pcollect took about 0.5 % more in its own code "},
    };
    (void)state;
    for (size_t k = 0; k < PC_ARRAY_LEN(cases); k++) {
        begin_ranks(1);
        struct pc_profile_table *t = add_table("sampling", 1, columns, types);
        add_cells(t, (const uint64_t[]){0, 90, (uint64_t)(1000 * ms), (uint64_t)cases[k].own,
                                        (uint64_t)(cases[k].own_ms * ms)});
        struct pct_data *d = end_run();
        const char *head = head_of(d);
        if (cases[k].says ? !strstr(head, cases[k].says) : strstr(head, "own code") != NULL)
            fail_msg("case %zu: %s", k, head);
        pct_data_free(d);
    }
}

/* A thread with 100 interrupts in 1 s of CPU time. */
static void the_limit_of_samples_is_told_where_they_cost_more(void **state)
{
    static const char *const columns[] = {"rank", "interrupts", "cpu", "cost", NULL},
                             *const set[] = {"option", "value", NULL};
    static const uint16_t types[] = {PCOLLECT_COLUMN_RANK, PCOLLECT_COLUMN_NUMBER,
                                     PCOLLECT_COLUMN_NUMBER, PCOLLECT_COLUMN_NUMBER},
                          set_types[] = {PCOLLECT_COLUMN_STRING, PCOLLECT_COLUMN_STRING};
    static const struct {
        double cost_ms;
        const char *limit, *says; /* limit: NULL: that without a setting */
    } cases[] = {
        {10, NULL, " cost 1.0 % of it, 100.0 us each "},
        {88, NULL, " 880.0 us each (max_overhead, 1 %, does not limit the first 64 of a thread) "},
        {88, "5", " 880.0 us each (max_overhead, 5 %, does not limit the first 64 of a thread) "},
        {88, "10", " cost 8.8 % of it, 880.0 us each "},
    };
    (void)state;
    for (size_t k = 0; k < PC_ARRAY_LEN(cases); k++) {
        begin_ranks(1);
        struct pc_profile_table *t = add_table("sampling", 1, columns, types);
        add_cells(t, (const uint64_t[]){0, 100, (uint64_t)(1000 * ms),
                                        (uint64_t)(cases[k].cost_ms * ms)});
        t = add_table("settings", 2, set, set_types);
        add_cells(t, (const uint64_t[]){add_string("[sample] source"), add_string("50")});
        if (cases[k].limit)
            add_cells(t, (const uint64_t[]){add_string("[sample] max_overhead"),
                                            add_string(cases[k].limit)});
        struct pct_data *d = end_run();
        const char *head = head_of(d);
        bool tells = strstr(head, "max_overhead") != NULL;
        if (!strstr(head, cases[k].says) || tells != (strstr(cases[k].says, "max_") != NULL))
            fail_msg("case %zu: %s", k, head);
        pct_data_free(d);
    }
}

/* Contexts without their outer frames in which next to no time is: it is counted all the same. */
static void unknown_callers_are_told_where_they_matter(void **state)
{
    (void)state;
    begin_ranks(2);
    wait_for_all();
    sample_lose(&m.sample, 0, PCOLLECT_LOST_CUT, 4);
    struct pct_data *d = end_run();
    if (strstr(head_of(d), "outer frames"))
        fail_msg("%s", head_of(d));
    pct_data_free(d);
}

/* Ranks with 1,000 ms of which 700 are computing and 5 in the library: too
 * little to be named, but not computing. */
static void the_library_never_computes(void **state)
{
    static const char *const columns[] = {"rank",         "booked",   "period",
                                          "compute_time", "own_time", NULL};
    static const uint16_t types[] = {PCOLLECT_COLUMN_RANK, PCOLLECT_COLUMN_NUMBER,
                                     PCOLLECT_COLUMN_NUMBER, PCOLLECT_COLUMN_NUMBER,
                                     PCOLLECT_COLUMN_NUMBER};
    (void)state;
    begin_ranks(2);
    struct pc_profile_table *t = add_table("sampling", 1, columns, types);
    for (uint64_t r = 0; r < m.n; r++) {
        m.compute_ms[r] = 1000;
        m.delayed_ms[r] = 300;
        add_cells(t, (const uint64_t[]){r, 70, (uint64_t)(10 * ms), (uint64_t)(700 * ms),
                                        (uint64_t)(5 * ms)});
    }
    add_resources();
    struct pct_data *d = end_run();
    if (!strstr(head_of(d), ": 700.0 ms computing, 295.0 ms waiting for a processor"))
        fail_msg("%s", head_of(d));
    pct_data_free(d);
}

/* Killed ranks were outside MPI for 1,000 ms, for which samples find them computing in part. */
static void killed_ranks_compute_only_where_samples_say_so(void **state)
{
    static const struct {
        double blocked_ms;
        const char *says;
    } cases[] = {
        {700, ": 300.0 ms computing, 700.0 ms not known if computing "},
        {1000, " per rank: not known if computing "},
        {0, NULL},
    };
    (void)state;
    for (size_t k = 0; k < PC_ARRAY_LEN(cases); k++) {
        begin_ranks(2);
        m.killed = true;
        for (unsigned r = 0; r < m.n; r++) {
            m.compute_ms[r] = 1000;
            m.blocked_ms[r] = cases[k].blocked_ms;
        }
        struct pct_data *d = end_run();
        if (cases[k].says ? !strstr(head_of(d), cases[k].says)
                          : strstr(head_of(d), "computing") != NULL)
            fail_msg("case %zu: %s", k, head_of(d));
        pct_data_free(d);
    }
}

/* Adds the table of threads: each rank has one, and rank 0 is in bindings of MPI. */
static void add_bindings(double bindings_ms)
{
    static const char *const columns[] = {"rank", "thread", "kind", "in_bindings", NULL};
    static const uint16_t types[] = {PCOLLECT_COLUMN_RANK, PCOLLECT_COLUMN_NUMBER,
                                     PCOLLECT_COLUMN_STRING, PCOLLECT_COLUMN_NUMBER};
    struct pc_profile_table *t = add_table(PCOLLECT_TABLE_THREAD_RECORDS, 2, columns, types);
    for (uint64_t r = 0; r < m.n; r++)
        add_cells(
            t, (const uint64_t[]){r, 0, add_string("main"), (uint64_t)(r ? 0 : bindings_ms * ms)});
}

/* Rank 0 polls until rank 1 has computed for 500 ms: it makes 8 million calls, in which the library
 * and bindings of MPI take 800 ms. Without samples this is not known, and the other rank may have
 * waited for it. */
static void a_rank_does_not_compute_because_it_is_measured(void **state)
{
    static const char *const columns[] = {"rank",     "booked", "period", "compute_time",
                                          "own_time", "seen",   NULL};
    static const uint16_t types[] = {PCOLLECT_COLUMN_RANK,   PCOLLECT_COLUMN_NUMBER,
                                     PCOLLECT_COLUMN_NUMBER, PCOLLECT_COLUMN_NUMBER,
                                     PCOLLECT_COLUMN_NUMBER, PCOLLECT_COLUMN_NUMBER};
    static const struct {
        unsigned mpi_calls;
        double library_ms, bindings_ms; /* 0: there are no samples */
        const char *says, *rule;
    } cases[] = {
        {8000000, 800, 0, ": rank 1 computes 500.0 ms, the mean rank 250.0 ms, rank 0 0 ns ",
         "serial"},
        {8000000, 500, 300, ": rank 1 computes 500.0 ms, the mean rank 250.0 ms, rank 0 0 ns ",
         "serial"},
        {8000000, 500, 300,
         " 250.0 ms computing, 150.0 ms in the MPI library beside its calls, 250.0 ms in pcollect",
         "serial"},
        {8000000, 0, 0, ", rank 1 499.9 ms; within noise ", NULL},
        {8, 0, 0, ", rank 1 499.9 ms ", "imbalance"},
    };
    (void)state;
    for (size_t k = 0; k < PC_ARRAY_LEN(cases); k++) {
        bool sampled = cases[k].library_ms > 0;
        begin_ranks(2);
        struct pc_profile_table *t = sampled ? add_table("sampling", 1, columns, types) : NULL;
        m.compute_ms[0] = 800;
        m.compute_ms[1] = 500;
        for (uint64_t r = 0; t && r < m.n; r++)
            add_cells(t, (const uint64_t[]){r, r ? 50 : 30, (uint64_t)(10 * ms),
                                            (uint64_t)((r ? 500 : cases[k].bindings_ms) * ms),
                                            (uint64_t)((r ? 0 : cases[k].library_ms) * ms),
                                            (uint64_t)((r ? 500 : 800) * ms)});
        if (sampled)
            add_bindings(cases[k].bindings_ms);
        call("MPI_Barrier", PCOLLECT_CLASS_COLL, 1, 0, (const double[]){300, 600});
        m.sample.ranks[0].mpi_calls = cases[k].mpi_calls;
        add_resources();
        struct pct_data *d = end_run();
        if (!strstr(head_of(d), cases[k].says))
            fail_msg("case %zu: %s", k, head_of(d));
        const struct pct_findings *f = d->findings;
        if (f->n && sampled != !strcmp(f->list[0].rule, "recording"))
            fail_msg("case %zu: %s", k, f->list[0].text);
        if (!pct_is_same_text(f->n ? f->list[f->n - 1].rule : NULL, cases[k].rule))
            fail_msg("case %zu: %s", k, f->n ? f->list[f->n - 1].text : "no finding");
        pct_data_free(d);
    }
}

/* Samples of 670 ms, each of 1 ms; 165 others were lost. */
static void lost_samples_are_not_in_the_part_that_is_covered(void **state)
{
    static const struct pct_tree_options options;
    (void)state;
    sample_recorded(&m.sample);
    sample_lose(&m.sample, 0, PCOLLECT_LOST_SAMPLES, 165);
    sample_lose(&m.sample, 0, PCOLLECT_LOST_CPU_MS, 165);
    struct pct_data *d =
        pct_data_new("recorded", &m.sample.p, pct_symbols_new(&m.sample.p), &options);
    if (!strstr(head_of(d), " samples stand for 67.0 % of the CPU time: "))
        fail_msg("%s", head_of(d));
    /* Milliseconds are not added to counts. */
    static const char *const tables[] = {"header", "ranks"};
    for (size_t i = 0; i < PC_ARRAY_LEN(tables); i++) {
        const struct pct_column *lost = pct_column_find(pct_table_find(tables[i]), "lost");
        assert_int_equal(pct_table_value(lost, d, 0).number, 165);
    }
    pct_data_free(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_outside_mpi_are_never_left_out),
        cmocka_unit_test(ranks_in_one_place_are_there),
        cmocka_unit_test(ranks_that_may_have_slept_are_not_idle),
        cmocka_unit_test(a_part_that_was_blocked_is_told_of_a_short_time),
        cmocka_unit_test(a_share_of_the_time_after_init_says_so),
        cmocka_unit_test(a_killed_rank_that_left_no_trace_is_named),
        cmocka_unit_test(little_time_outside_mpi_has_no_imbalance),
        cmocka_unit_test(ranks_that_exit_are_named_with_their_status),
        cmocka_unit_test(ends_are_told_with_place_or_signal),
        cmocka_unit_test(a_rank_is_in_mpi_if_any_of_its_threads_is),
        cmocka_unit_test(all_sources_of_interrupts_are_named),
        cmocka_unit_test(own_samples_are_told_where_they_matter),
        cmocka_unit_test(the_limit_of_samples_is_told_where_they_cost_more),
        cmocka_unit_test(missing_ranks_are_listed_as_ranges),
        cmocka_unit_test(unknown_callers_are_told_where_they_matter),
        cmocka_unit_test(the_library_never_computes),
        cmocka_unit_test(killed_ranks_compute_only_where_samples_say_so),
        cmocka_unit_test(a_rank_does_not_compute_because_it_is_measured),
        cmocka_unit_test(lost_samples_are_not_in_the_part_that_is_covered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
