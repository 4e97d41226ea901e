/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The finding about ranks that are late by turns, in runs made by hand: what is surely a wait is
 * one, with its size and place. What a slow network, the set-up of connections, waits for
 * processors, or processes outside of the profile explain is none. Calls are not blamed for their
 * number if they take long because others are late. No wait is longer than the time in MPI.
 */
#include "made_run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The texts of the findings of a rule, and how many other findings there are. */
struct said {
    char text[1024];
    double saves;
    size_t n_others;
};

static struct said listen(const char *rule)
{
    struct said said = {.text = ""};
    struct pct_data *d = end_run();
    for (size_t i = 0; i < d->findings->n; i++) {
        const struct pct_finding *f = &d->findings->list[i];
        if (strcmp(f->rule, rule) != 0) {
            said.n_others++;
            continue;
        }
        snprintf(said.text, sizeof said.text, "%s", f->text);
        said.saves = f->saves;
    }
    pct_data_free(d);
    return said;
}

/* The ranks compute for 1 s each, and are in these calls for 300 ms. */
static void a_wait_is_told_from_what_calls_take(void **state)
{
    static const struct {
        const char *name;
        uint16_t op_class;
        double calls, bytes;
        const char *says; /* NULL: no finding */
        bool apart;       /* ranks are on two hosts */
    } cases[] = {
        {"MPI_Recv", PCOLLECT_CLASS_P2P, 100, 8, "3.000 ms a call", false},
        {"MPI_Sendrecv", PCOLLECT_CLASS_P2P, 50, 1000, "6.000 ms a call", false},
        {"MPI_Allgather", PCOLLECT_CLASS_COLL, 30, 8, "10.00 ms a call", false},
        {"MPI_Recv", PCOLLECT_CLASS_P2P, 1500, 8, NULL, true},     /* 0.2 ms: a slow network */
        {"MPI_Recv", PCOLLECT_CLASS_P2P, 350, 5000, NULL, true},   /* and both sides agree */
        {"MPI_Recv", PCOLLECT_CLASS_P2P, 6000, 8, NULL, false},    /* 0.05 ms */
        {"MPI_Recv", PCOLLECT_CLASS_P2P, 1400, 5000, NULL, false}, /* 0.2 ms */
        {"MPI_Recv", PCOLLECT_CLASS_P2P, 300, 8, "1.000 ms a call", false},
        {"MPI_Recv", PCOLLECT_CLASS_P2P, 100, 2 << 20, NULL, false}, /* 1.4 GB/s */
        {"MPI_Recv", PCOLLECT_CLASS_P2P, 100, 1 << 17, "3.000 ms a call", false},
        {"MPI_Recv", PCOLLECT_CLASS_P2P, 100, 1 << 17, NULL, true},
        {"MPI_Allgather", PCOLLECT_CLASS_COLL, 700, 8, NULL, true},
        {"MPI_Alltoall", PCOLLECT_CLASS_COLL, 30, 8, "10.00 ms a call", false},
        {"MPI_Alltoall", PCOLLECT_CLASS_COLL, 320, 8, NULL, true}, /* a message for each rank */
        {"MPI_Neighbor_alltoallw", PCOLLECT_CLASS_COLL, 30, 8, "10.00 ms a call", false},
        {"MPI_Neighbor_allgather", PCOLLECT_CLASS_COLL, 30, 8, "10.00 ms a call", false},
        {"MPI_Neighbor_allgather", PCOLLECT_CLASS_COLL, 320, 8, NULL, true},
        {"MPI_Alltoallv", PCOLLECT_CLASS_COLL, 30, 8, NULL, false}, /* of another rule */
        {"MPI_Recv", PCOLLECT_CLASS_P2P, 5, 8, NULL, false}, /* they may set up connections */
        {"MPI_Wait", PCOLLECT_CLASS_COMPLETION, 100, 0, NULL, false},
        {"MPI_Comm_dup", PCOLLECT_CLASS_COMM, 15, 0, NULL, false},
    };
    (void)state;
    for (size_t k = 0; k < PC_ARRAY_LEN(cases); k++) {
        double list[SAMPLE_RANKS];
        char place[128];
        begin_run(5, false);
        for (unsigned r = 0; r < m.n; r++)
            list[r] = 300;
        m.sample.ranks[0].host = cases[k].apart ? (char *)"node0" : m.sample.ranks[0].host;
        call(cases[k].name, cases[k].op_class, cases[k].calls, cases[k].bytes, list);
        snprintf(place, sizeof place, "most in %s in %s (%s:", cases[k].name, m.function, m.file);
        struct said said = listen("by-turns");
        if (!cases[k].says ? *said.text
                           : !strstr(said.text, cases[k].says) || !strstr(said.text, place))
            fail_msg("case %zu: %s", k, said.text);
        /* of 1.3 s and what equal work differs by, without 0.2 ms a message, or 1 ms a large one */
        if (cases[k].says &&
            (said.saves < (cases[k].bytes > 4096 ? 0.13 : 0.18) || said.saves > 0.23))
            fail_msg("case %zu: %.3f", k, said.saves);
    }
}

/* In a program with datatypes of its own, calls of 3 ms with many bytes may copy tiny blocks. */
static void packing_is_no_wait(void **state)
{
    (void)state;
    for (unsigned types = 0; types < 2; types++)
        for (unsigned large = 0; large < 2; large++) {
            begin_run(5, false);
            call_all("MPI_Recv", PCOLLECT_CLASS_P2P, 100, large ? 1 << 17 : 8, 300);
            if (types)
                call_all("MPI_Type_vector", PCOLLECT_CLASS_TYPE, 1, 0, 0.1);
            struct said said = listen("by-turns");
            if ((*said.text == 0) != (types && large))
                fail_msg("%u, %u: %s", types, large, said.text);
        }
}

/* A reduction may compute in an operation of the program; a broadcast does not. */
static void operations_of_the_program_are_no_wait(void **state)
{
    static const char *const names[] = {"MPI_Allreduce", "MPI_Scan", "MPI_Exscan",
                                        "MPI_Reduce_scatter", "MPI_Bcast"};
    (void)state;
    for (size_t k = 0; k < PC_ARRAY_LEN(names); k++)
        for (unsigned own = 0; own < 2; own++) {
            begin_run(5, false);
            call_all(names[k], PCOLLECT_CLASS_COLL, 30, 8, 300);
            if (own)
                call_all("MPI_Op_create", PCOLLECT_CLASS_COLL, 1, 0, 0.1);
            struct said said = listen("by-turns");
            if ((*said.text == 0) != (own && strcmp(names[k], "MPI_Bcast") != 0))
                fail_msg("%s, %u: %s", names[k], own, said.text);
        }
}

/* While one rank waits for a processor, all others may wait for it. */
static void delay_of_one_rank_counts_for_all(void **state)
{
    (void)state;
    for (unsigned long_delay = 0; long_delay < 2; long_delay++) {
        begin_run(5, false);
        call_all("MPI_Recv", PCOLLECT_CLASS_P2P, 100, 8, 300);
        m.delayed_ms[m.late] = long_delay ? 290 : 50;
        struct said said = listen("by-turns");
        if ((*said.text == 0) != long_delay)
            fail_msg("%u: %s", long_delay, said.text);
    }
}

static void waits_for_other_processes_are_not_known(void **state)
{
    (void)state;
    begin_run(5, false);
    call_all("MPI_Comm_spawn", PCOLLECT_CLASS_COMM, 1, 0, 1);
    call_all("MPI_Recv", PCOLLECT_CLASS_P2P, 100, 8, 300);
    struct said said = listen("by-turns");
    assert_string_equal(said.text, "");
}

/* Rank `late` computes for 400 ms longer, for which the others wait: that is not counted again. */
static void wait_for_the_busiest_is_not_in_it(void **state)
{
    (void)state;
    begin_run(5, false);
    m.compute_ms[m.late] += 400;
    call_all("MPI_Recv", PCOLLECT_CLASS_P2P, 100, 8, 300);
    struct said said = listen("by-turns");
    assert_int_equal(said.n_others, 1);         /* imbalance */
    if (said.saves < 0.15 || said.saves > 0.18) /* 280 ms of 1.7 s */
        fail_msg("%.3f: %s", said.saves, said.text);
}

static void calls_are_not_blamed_for_their_number(void **state)
{
    static const struct {
        const char *name;
        uint16_t op_class;
    } cases[] = {{"MPI_Send", PCOLLECT_CLASS_P2P}, {"MPI_Reduce", PCOLLECT_CLASS_COLL}};
    (void)state;
    for (size_t k = 0; k < PC_ARRAY_LEN(cases); k++) {
        begin_run(5, false);
        m.sample.ranks[0].host = (char *)(k ? "node0" : "node1");
        call_all(cases[k].name, cases[k].op_class, 300, 8, 800);
        struct said said = listen("by-turns");
        assert_true(*said.text);
        assert_int_equal(said.n_others, k ? 1 : 0); /* 0.2 ms for each step of a reduction */
    }
}

/* Delays of 60 ms hide the cost of 4,000 calls, 200 ms at most. So no rule blames their number for
 * the 20 s that the ranks wait for each other. */
static void a_wait_that_is_certain_is_in_no_bound(void **state)
{
    (void)state;
    begin_run(5, false);
    for (unsigned r = 0; r < m.n; r++)
        m.delayed_ms[r] = 60;
    call_all("MPI_Recv", PCOLLECT_CLASS_P2P, 4000, 8, 10000);
    call_all("MPI_Send", PCOLLECT_CLASS_P2P, 4000, 8, 10000);
    struct said said = listen("by-turns");
    assert_true(*said.text);
    assert_int_equal(said.n_others, 0);
}

/* The data of the other ranks ends 200 ms after they began to wait, that of rank 1 later. */
static void waits_are_within_the_time_in_mpi(void **state)
{
    static const struct pct_tree_options options = {0};
    const struct pc_profile *p = &m.sample.p;
    (void)state;
    begin_run(3, false);
    m.n = m.sample.p.n_ranks = m.sample.p.world_size = 3;
    for (unsigned r = 0; r < m.n; r++) {
        m.compute_ms[r] = r == 1 ? 1000 : 100;
        m.delayed_ms[r] = 0;
    }
    pct_data_free(end_run());
    for (unsigned r = 0; r < m.n; r++) {
        m.sample.ranks[r].incomplete = r == 1;
        m.sample.ranks[r].mpi_ns = (uint64_t)(r == 1 ? 0 : 200 * ms);
        m.sample.ranks[r].inside_ns = (uint64_t)(r == 1 ? 1000 * ms : 300 * ms);
    }
    struct pct_data *d = pct_data_new("killed", p, pct_symbols_new(p), &options);
    d->findings = pct_findings_make(d, NULL);
    const struct pct_finding *first = d->findings->list;
    if (!d->findings->n || !strstr(first->text, "wait, 25 % of the time of all ranks"))
        fail_msg("%s", d->findings->n ? first->text : "no finding");
    pct_data_free(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waits_are_within_the_time_in_mpi),
        cmocka_unit_test(a_wait_is_told_from_what_calls_take),
        cmocka_unit_test(packing_is_no_wait),
        cmocka_unit_test(operations_of_the_program_are_no_wait),
        cmocka_unit_test(delay_of_one_rank_counts_for_all),
        cmocka_unit_test(waits_for_other_processes_are_not_known),
        cmocka_unit_test(wait_for_the_busiest_is_not_in_it),
        cmocka_unit_test(calls_are_not_blamed_for_their_number),
        cmocka_unit_test(a_wait_that_is_certain_is_in_no_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
