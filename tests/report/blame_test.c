/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What findings give as a cause, in runs made by hand. A barrier is not to blame for the
 * wait for a rank that alone deletes files, and a rank that alone writes a file does not wait.
 * Where a rank hands out work to equal ones, it is named, and none of them. Operations that are
 * never completed are counted by the place that starts them. What is said of processors,
 * communicators, ranks and threads is what is known of them.
 */
#include "analysis/compare/compared_run_private.h"
#include "made_run.h"

#include "view/report_print.h"
#include "view/tables/tables.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The main thread of each rank is blocked for 300 ms and without a processor for 400 ms: outside
 * MPI, or in a long call of MPI, which nothing tells. */
static void make_blocked(bool in_mpi)
{
    begin_run(5, false);
    for (unsigned r = 0; r < m.n; r++) {
        m.blocked_ms[r] = 300;
        m.delayed_ms[r] = 400;
    }
    call_all("MPI_Allgather", PCOLLECT_CLASS_COLL, 1, 8, in_mpi ? 900 : 1);
}

static void blocked_time_and_delay_are_divided_only_if_they_are_outside_mpi(void **state)
{
    static const char whole[] = " blocked (asleep, files, locks) or waiting for a processor";
    static char text[1 << 14];
    (void)state;
    for (unsigned in_mpi = 0; in_mpi < 2; in_mpi++) {
        make_blocked(in_mpi == 1);
        struct pct_data *d = end_run();
        FILE *out = fmemopen(text, sizeof text, "w");
        pct_print_head(out, d, &(struct pct_options){.width = 0});
        fclose(out);
        if ((strstr(text, whole) != NULL) != in_mpi ||
            (strstr(text, "blocked (asleep, files, locks), ") != NULL) == in_mpi ||
            (strstr(text, "0.0 % .. ") != NULL) != in_mpi ||
            (strstr(text, ", the mean rank 791.1 ms .. 1.000 s") != NULL) != in_mpi)
            fail_msg("%u: %s", in_mpi, text);
        pct_data_free(d);
    }
}

static void a_course_says_where_it_begins_and_what_it_lacks(void **state)
{
    static char text[1 << 14];
    static const struct {
        uint64_t start_ns;
        const char *title;
    } cases[] = {{60ull << 24, "Over time, from 67.11 ms after the start of the run (a column is"},
                 {64ull << 24, "Over time (a column is"},
                 {65ull << 24, "Over time (a column is"},
                 {0, "Over time (a column is"}};
    (void)state;
    for (unsigned i = 0; i < PC_ARRAY_LEN(cases); i++) {
        begin_run(1, false);
        call_all("MPI_Allgather", PCOLLECT_CLASS_COLL, 1, 0, 1);
        add_course();
        add_cells(add_open_calls(),
                  (const uint64_t[]){0, 0, m.sample.p.n_nodes - 1, (uint64_t)(2000 * ms)});
        for (unsigned r = 0; r < m.n; r++)
            m.sample.ranks[r].start_realtime_ns = cases[i].start_ns;
        struct pct_data *d = end_run();
        FILE *out = fmemopen(text, sizeof text, "w");
        pct_print_series(out, d, &(struct pct_options){.width = 0});
        fclose(out);
        if (!strstr(text, cases[i].title) ||
            !strstr(text, "\n  without 2.000 s of calls that had not ended: --table open_calls "))
            fail_msg("%u: %s", i, text);
        pct_data_free(d);
    }
}

/* The time outside MPI is 5 or 50 distances of samples, and the delay as long. */
static void make_short(bool is_long, uint64_t n_samples)
{
    static const char *const columns[] = {
        "rank",        "compute_time", "compute_squares", "mpi_time",
        "mpi_squares", "booked",       "period",          NULL};
    static const uint16_t types[] = {PCOLLECT_COLUMN_RANK,   PCOLLECT_COLUMN_NUMBER,
                                     PCOLLECT_COLUMN_NUMBER, PCOLLECT_COLUMN_NUMBER,
                                     PCOLLECT_COLUMN_NUMBER, PCOLLECT_COLUMN_NUMBER,
                                     PCOLLECT_COLUMN_NUMBER};
    begin_run(5, false);
    struct pc_profile_table *t = add_table("sampling", 1, columns, types);
    for (unsigned r = 0; r < m.n; r++) {
        m.compute_ms[r] = m.delayed_ms[r] = is_long ? 50 : 5;
        m.sample.ranks[r].before_init_ns = 0;
        add_cells(t, (const uint64_t[]){r, (uint64_t)(m.compute_ms[r] * ms), 1, 1, 1, n_samples,
                                        (uint64_t)ms});
    }
    call_all("MPI_Allgather", PCOLLECT_CLASS_COLL, 1, 8, 10);
}

static void time_that_is_too_short_for_samples_is_not_divided(void **state)
{
    static char text[1 << 14];
    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        const bool is_long = i > 0, few = i > 1; /* samples: the least time is not told */
        make_short(is_long, few ? 2 : 100);
        struct pct_data *d = end_run();
        FILE *out = fmemopen(text, sizeof text, "w");
        pct_print_head(out, d, &(struct pct_options){.width = 0});
        fclose(out);
        const char *mean = strstr(text, ", the mean rank 50.00 ms");
        bool least = mean && !strncmp(mean + 24, ", rank ", 7);
        if (!strstr(text, "per rank: too short for samples") != is_long || !mean == is_long ||
            least != (is_long && !few))
            fail_msg("%u: %s", i, text);
        const struct pct_column *imbalance =
            pct_column_find(&pct_header_table, "imbalance_percent");
        assert_int_equal(pct_table_value(imbalance, d, 0).none, !is_long);
        struct pct_run run;
        pct_run_adopt(&run, "run", d->profile, pct_symbols_new(d->profile));
        assert_int_equal(run.guessed, !is_long);
        pct_run_close(&run);
        pct_data_free(d);
    }
}

/* Delays hide the cost of 40,000 calls a rank, which is in the bound with the waits of long calls.
 */
static void a_bound_names_the_waits_that_it_contains(void **state)
{
    static const struct {
        double each_ms; /* of all calls of a rank */
        bool late;
    } cases[] = {{1900, false}, {10000, true}, {13500, true}};
    (void)state;
    for (unsigned k = 0; k < 2 * PC_ARRAY_LEN(cases); k++) {
        const bool sends = k % 2;
        const double each_ms = cases[k / 2].each_ms;
        begin_run(5, false);
        for (unsigned r = 0; r < m.n; r++)
            m.compute_ms[r] += m.delayed_ms[r] = 12000;
        call_all(sends ? "MPI_Sendrecv" : "MPI_Allgather",
                 sends ? PCOLLECT_CLASS_P2P : PCOLLECT_CLASS_COLL, 40000, 8, each_ms);
        const char *text = sentence(sends ? "small-messages" : "many-collectives");
        if (!strstr(text, ", of which a part is waiting for a processor") ||
            !strstr(text, " and a part may be waiting for ranks that are late.") !=
                !cases[k / 2].late)
            fail_msg("case %u: %s", k, text);
    }
}

/* The ranks wait 300 ms in the barrier for one that deletes files, or that computes meanwhile as
 * the others do and has short barriers for another reason. */
static void a_barrier_is_not_to_blame_for_the_files_of_a_rank(void **state)
{
    static const struct {
        double files_ms, less_ms; /* of the late rank; less computation */
        bool blamed;
    } cases[] = {{0, 0, true}, {320, 0, false}, {320, 310, true}, {60, 0, true}};
    (void)state;
    for (size_t k = 0; k < PC_ARRAY_LEN(cases); k++) {
        double files[SAMPLE_RANKS], barrier[SAMPLE_RANKS];
        begin_run(3, false);
        for (unsigned r = 0; r < m.n; r++) {
            files[r] = r == m.late && cases[k].files_ms > 0 ? cases[k].files_ms : -1;
            barrier[r] = r == m.late ? 1 : 300;
        }
        m.compute_ms[m.late] -= cases[k].less_ms;
        call("MPI_Barrier", PCOLLECT_CLASS_COLL, 3, 0, barrier);
        call("MPI_File_delete", PCOLLECT_CLASS_IO, 3, 0, files);
        const char *text = sentence("barrier");
        if (strcmp(text, "") == 0 ? cases[k].blamed : !cases[k].blamed)
            fail_msg("case %zu: %s", k, text);
    }
}

/* Rank 0 computes less than the others, and is in one function while they compute: it waits only if
 * this is one that waits, also if the job was killed. */
static void a_rank_that_writes_a_file_alone_waits_for_nobody(void **state)
{
    static const struct {
        const char *name;
        uint16_t op_class;
        bool waits;
    } cases[] = {
        {"MPI_File_write_at", PCOLLECT_CLASS_IO, false},
        {"MPI_File_read_c", PCOLLECT_CLASS_IO, false},
        {"MPI_File_delete", PCOLLECT_CLASS_IO, false},
        {"MPI_File_write_at_all", PCOLLECT_CLASS_IO, true},
        {"MPI_File_write_ordered_c", PCOLLECT_CLASS_IO, true},
        {"MPI_File_sync", PCOLLECT_CLASS_IO, true},
        {"MPI_Barrier", PCOLLECT_CLASS_COLL, true},
        {"MPI_Recv", PCOLLECT_CLASS_P2P, true},
        {"MPI_Win_fence", PCOLLECT_CLASS_RMA, true},
    };
    (void)state;
    for (size_t i = 0; i < 2 * PC_ARRAY_LEN(cases); i++) {
        const size_t k = i / 2;
        double there[SAMPLE_RANKS];
        begin_run(3, false);
        m.killed = i % 2;
        for (unsigned r = 0; r < m.n; r++) {
            m.compute_ms[r] = r == 0 ? 400 : 1000;
            there[r] = r == 0 ? 600 : 1;
        }
        call(cases[k].name, cases[k].op_class, 3, 1000, there);
        const char *text = sentence("imbalance");
        bool says = strstr(text, cases[k].name) != NULL;
        if (says != cases[k].waits || (!cases[k].waits && *text))
            fail_msg("%s: %s", cases[k].name, text);
    }
}

/* Equal ranks are not to blame for the wait of those that hand out work: these compute too little.
 */
static void a_rank_that_only_hands_out_work_is_named(void **state)
{
    static const struct {
        unsigned n, masters;
        double longer_ms; /* the last rank computes longer than the others */
        const char *begin, *then;
    } cases[] = {
        {3, 1, 5, "Rank 0 computes for ", " only, the mean of the other 2 ranks for 1.00"},
        {4, 1, 5, "Rank 0 computes for ", " only, the mean of the other 3 ranks for 1.00"},
        {5, 2, 0, "2 ranks compute hardly anything, rank 0 for ",
         " only, the mean of the other 3 "},
        {5, 2, 0, "2 ranks are hardly outside MPI, rank 0 for ", " only, the mean of the other 3 "},
        {3, 1, 5, "Rank 0 is outside MPI for ", " only, the mean of the other 2 ranks for 1.00"},
        {4, 1, 1000, "Rank 3 is outside MPI 100 % longer than the mean", "the other 3 ranks wait"},
        {4, 1, 1000, "Rank 3 computes 100 % longer than the mean", "the other 3 ranks wait"},
        {3, 0, 1000, "Rank 2 computes 50 % longer than the mean", "the other 2 ranks wait"},
        {3, 0, 1000, "Rank 2 computes or is blocked 50 % longer than the mean", "ranks wait"},
    };
    enum { UNKNOWN = 3, COMPUTE = 6, BLOCKED = 8 }; /* the kernel counts no delays; it does */
    (void)state;
    for (size_t k = 0; k < PC_ARRAY_LEN(cases); k++) {
        double there[SAMPLE_RANKS];
        begin_run(3, false);
        m.n = cases[k].n;
        m.late = 0;
        m.sample.p.n_ranks = m.sample.p.world_size = m.n;
        for (unsigned r = 0; r < m.n; r++) {
            m.sample.ranks[r] = m.sample.ranks[0];
            m.sample.ranks[r].rank = (int32_t)r;
            m.compute_ms[r] = r < cases[k].masters ? 5 : 1000;
            m.compute_ms[r] += r == m.n - 1 ? cases[k].longer_ms : 0;
            m.blocked_ms[r] = k == BLOCKED ? 200 : 0;
            m.delayed_ms[r] = k < UNKNOWN || k >= COMPUTE;
            there[r] = r < cases[k].masters ? 995 : 1;
        }
        call("MPI_Recv", PCOLLECT_CLASS_P2P, 3, 1000, there);
        const char *text = sentence("imbalance");
        if (strncmp(text, cases[k].begin, strlen(cases[k].begin)) || !strstr(text, cases[k].then))
            fail_msg("%zu: %s", k, text);
    }
}

/* The others compute half as long as the busiest rank, and poll without a processor in MPI for most
 * of the rest: they wait for no longer than they are in MPI. */
static void ranks_wait_no_longer_than_they_are_in_mpi(void **state)
{
    (void)state;
    begin_run(3, false);
    for (unsigned r = 0; r < m.n; r++) {
        m.compute_ms[r] = r == m.late ? 2000 : 1000;
        m.delayed_ms[r] = r == m.late ? 0 : 900;
    }
    const char *text = sentence("imbalance"), *wait = strstr(text, " wait");
    wait = wait ? strpbrk(wait, "0123456789") : NULL;
    double percent = wait ? strtod(wait, NULL) : 0;
    if (fabs(percent - 50.0 * (m.n - 1) / m.n) > 1 || !strstr(text, " % of the time of all ranks"))
        fail_msg("%u ranks: %s", m.n, text);
}

/* Two places start operations that are never completed, one of them in two contexts: they are
 * counted by place. */
static void unfinished_operations_are_counted_by_place(void **state)
{
    enum { ONE, ALL, SOME, N };
    static const uint64_t left[N][3] = {{1, 0, 0}, {20, 21, 0}, {20, 21, 30}};
    static const char *const wants[N] = {
        "1 operation, started by %s (%s:", "41 operations, all started by %s (%s:",
        "71 operations were never completed, 41 of them started by %s (%s:"};
    static const char *const columns[] = {"start", "completion", "operations", "never", NULL};
    static const uint16_t types[] = {PCOLLECT_COLUMN_NODE, PCOLLECT_COLUMN_NODE,
                                     PCOLLECT_COLUMN_NUMBER, PCOLLECT_COLUMN_NUMBER};
    (void)state;
    for (unsigned how = 0; how < N; how++) {
        uint32_t starts[3];
        begin_run(1, false);
        const uint32_t caller = m.caller;
        const uint64_t offset = m.sample.p.nodes[caller].offset;
        call_all("MPI_Irecv", PCOLLECT_CLASS_P2P, 50, 4096, 1);
        starts[0] = m.last_op;
        m.caller = sample_frame(&m.sample, 0, 0, 0x1000);
        call_all("MPI_Isend", PCOLLECT_CLASS_P2P, 50, 4096, 1);
        starts[2] = m.last_op;
        m.caller = sample_frame(&m.sample, 0, 0, offset);
        call_all("MPI_Irecv", PCOLLECT_CLASS_P2P, 50, 4096, 1);
        starts[1] = m.last_op;
        struct pc_profile_table *t = add_table("requests", 2, columns, types);
        for (unsigned i = 0; i < 3; i++)
            add_cells(t, (const uint64_t[]){starts[i], 0, 50, left[how][i]});
        struct pct_data *d = end_run();
        char place[128], want[256];
        snprintf(place, sizeof place, "MPI_Irecv in %s", m.function);
        snprintf(want, sizeof want, wants[how], place, m.file);
        assert_true(d->findings->n > 0);
        assert_string_equal(d->findings->list[0].rule, "unfinished");
        if (strncmp(d->findings->list[0].text, want, strlen(want)) != 0)
            fail_msg("%s is not: %s", d->findings->list[0].text, want);
        pct_data_free(d);
    }
}

/* ---- Collective operations ------------------------------------------------------------------- */

/* Gathers and exchanges on one communicator of all ranks, on two, and on two of 4 ranks. */
static void collectives_are_judged_by_their_communicators(void **state)
{
    static const char *const columns[] = {"domain", "size", NULL};
    static const uint16_t types[] = {PCOLLECT_COLUMN_DOMAIN, PCOLLECT_COLUMN_NUMBER};
    static const struct {
        const char *rule, *name;
        double bytes;  /* of a call; below 0: for each rank of the job */
        bool two;      /* communicators, with two roots */
        uint64_t size; /* of both; 0: not known */
        bool some;     /* only half of the ranks call */
        const char *says;
    } cases[] = {
        {"rooted", "MPI_Gather", 100000, false, 0, false, "moves all data through one rank"},
        {"rooted", "MPI_Gatherv_c", 100000, false, 0, true, "moves all data through one rank"},
        {"rooted", "MPI_Gather", 100000, true, 0, false, ""},
        {"rooted", "MPI_Scatter", 100000, true, 4, false, ""},
        {"dense-collective", "MPI_Alltoallv", -8, false, 0, false, "exchanges 8 bytes with each"},
        {"dense-collective", "MPI_Alltoallv", -8, false, 0, true, ""},
        {"dense-collective", "MPI_Alltoallv", -8, true, 0, false, ""},
        {"dense-collective", "MPI_Alltoallw", 64, true, 4, false, "exchanges 16 bytes with each"},
        {"dense-collective", "MPI_Alltoallv", 400, true, 4, false, ""},
        {"dense-collective", "MPI_Alltoallv", 8, true, 2, false, ""},
    };
    (void)state;
    for (size_t k = 0; k < PC_ARRAY_LEN(cases); k++) {
        double list[SAMPLE_RANKS];
        begin_run(3, false);
        for (unsigned r = 0; r < m.n; r++)
            list[r] = cases[k].some && r % 2 ? -1 : 400;
        double bytes = cases[k].bytes < 0 ? -cases[k].bytes * m.n : cases[k].bytes;
        call(cases[k].name, PCOLLECT_CLASS_COLL, 100, bytes, list);
        if (cases[k].two)
            add_collective(cases[k].name, !m.late, 2, 0);
        if (cases[k].size) {
            struct pc_profile_table *t = add_table("communicators", 1, columns, types);
            add_cells(t, (const uint64_t[]){1, cases[k].size});
            add_cells(t, (const uint64_t[]){2, cases[k].size});
        }
        const char *text = sentence(cases[k].rule);
        if (!strstr(text, cases[k].says) || (*text == 0) != (*cases[k].says == 0))
            fail_msg("case %zu: %s", k, text);
    }
}

/* Rules about values and datatypes are silent about functions that have none, or make none. */
static void functions_that_only_look_alike_are_not_blamed(void **state)
{
    static const struct {
        const char *rule, *name;
        uint16_t op_class;
        bool blamed;
    } cases[] = {
        {"many-collectives", "MPI_Allreduce_c", PCOLLECT_CLASS_COLL, true},
        {"many-collectives", "MPI_Iallreduce", PCOLLECT_CLASS_COLL, true},
        {"many-collectives", "MPI_Ibarrier", PCOLLECT_CLASS_COLL, false},
        {"many-collectives", "MPI_Op_create", PCOLLECT_CLASS_COLL, false},
        {"many-collectives", "MPI_Bcast_init", PCOLLECT_CLASS_COLL, false},
        {"many-collectives", "MPI_Bcast_init_c", PCOLLECT_CLASS_COLL, false},
        {"small-io", "MPI_File_read_all_end", PCOLLECT_CLASS_IO, true},
        {"polling", "MPI_Testsome", PCOLLECT_CLASS_COMPLETION, true},
        {"polling", "MPI_Test_cancelled", PCOLLECT_CLASS_COMPLETION, false},
        {"polling", "MPI_Request_get_status", PCOLLECT_CLASS_COMPLETION, true},
        {"polling", "MPI_Parrived", PCOLLECT_CLASS_P2P, true},
        {"polling", "MPI_Win_test", PCOLLECT_CLASS_RMA, true},
        {"polling", "MPI_Win_sync", PCOLLECT_CLASS_RMA, true},
        {"polling", "MPI_Win_flush", PCOLLECT_CLASS_RMA, false},
        {"window-synchronisation", "MPI_Win_flush_all", PCOLLECT_CLASS_RMA, true},
        {"window-synchronisation", "MPI_Win_flush_local_all", PCOLLECT_CLASS_RMA, true},
        {"window-synchronisation", "MPI_Win_post", PCOLLECT_CLASS_RMA, true},
        {"communicators", "MPI_Win_create", PCOLLECT_CLASS_RMA, true},
        {"communicators", "MPI_Dist_graph_create_adjacent", PCOLLECT_CLASS_COMM, true},
        {"communicators", "MPI_File_open", PCOLLECT_CLASS_IO, true},
        {"communicators", "MPI_Comm_idup", PCOLLECT_CLASS_COMM, true},
        {"communicators", "MPI_Comm_create_from_group", PCOLLECT_CLASS_COMM, true},
        {"communicators", "MPI_Comm_size", PCOLLECT_CLASS_COMM, false},
        {"datatypes", "MPI_Type_vector_c", PCOLLECT_CLASS_TYPE, true},
        {"datatypes", "MPI_Type_free", PCOLLECT_CLASS_TYPE, true},
        {"datatypes", "MPI_Type_size", PCOLLECT_CLASS_TYPE, false},
        {"datatypes", "MPI_Pack", PCOLLECT_CLASS_TYPE, false},
        {"datatypes", "MPI_Get_address", PCOLLECT_CLASS_TYPE, false},
        {"datatypes", "X", PCOLLECT_CLASS_TYPE, false},
    };
    (void)state;
    for (size_t k = 0; k < PC_ARRAY_LEN(cases); k++) {
        begin_run(3, false);
        call_all(cases[k].name, cases[k].op_class, 5000, 8, 300);
        const char *text = sentence(cases[k].rule);
        if ((*text != 0) != cases[k].blamed)
            fail_msg("%s: %s", cases[k].name, text);
    }
}

/* A rank of a broadcast either sends or receives. Half of the calls of a split operation has no
 * bytes. */
static void bytes_are_those_of_a_call(void **state)
{
    static const struct {
        const char *rule, *name;
        uint16_t op_class;
        double bytes;
        const char *says; /* NULL: no finding */
    } cases[] = {
        {"many-collectives", "MPI_Bcast", PCOLLECT_CLASS_COLL, 8, "for 8 bytes on average"},
        {"many-collectives", "MPI_Ibcast_c", PCOLLECT_CLASS_COLL, 1000,
         "for 1000 bytes on average"},
        {"many-collectives", "MPI_Bcast", PCOLLECT_CLASS_COLL, 1030, NULL},
        {"many-collectives", "MPI_Reduce", PCOLLECT_CLASS_COLL, 1, "for 1 byte on average"},
        {"small-io", "MPI_File_read_at_all_begin", PCOLLECT_CLASS_IO, 0, NULL},
        {"small-io", "MPI_File_read_at_all_end", PCOLLECT_CLASS_IO, 1 << 20, NULL},
        {"small-io", "MPI_File_read_at_all_end", PCOLLECT_CLASS_IO, 64, "larger blocks."},
        {"small-io", "MPI_File_write_ordered", PCOLLECT_CLASS_IO, 64, "larger blocks."},
        {"small-io", "MPI_File_write_at", PCOLLECT_CLASS_IO, 64, "larger blocks, by collective"},
        {"small-io", "MPI_File_iwrite_at", PCOLLECT_CLASS_IO, 64, "larger blocks, by collective"},
        {"small-io", "MPI_File_iread_all", PCOLLECT_CLASS_IO, 64, "larger blocks."},
    };
    (void)state;
    for (size_t k = 0; k < PC_ARRAY_LEN(cases); k++) {
        begin_run(3, false);
        call_all(cases[k].name, cases[k].op_class, 5000, cases[k].bytes, 300);
        const char *text = sentence(cases[k].rule);
        if (cases[k].says ? !strstr(text, cases[k].says) : *text != 0)
            fail_msg("case %zu: %s", k, text);
    }
}

/* ---- Ranks ----------------------------------------------------------------------------------- */

static void a_rank_is_alone_only_if_the_others_do_nothing(void **state)
{
    static const struct {
        unsigned n;
        double others_ms;
        const char *says;
    } cases[] = {
        {4, 50, "Rank 1 alone computes: the other 3 ranks wait, "},
        {4, 240, "Rank 1 computes 4.2 times as long as the mean of the others: the other 3 ranks "},
        {2, 200, "Rank 1 computes 5.0 times as long as the other rank: the other rank waits, "},
        {2, 125, "Rank 1 computes 8.0 times as long as the other rank: the other rank waits, "},
        {4, 50, "Rank 1 alone computes or is blocked: the other 3 ranks wait, "},
        {4, 50, "Rank 1 alone is outside MPI: the other 3 ranks wait, "},
        {2, 200, "Rank 1 is outside MPI 5.0 times as long as the other rank: the other rank "},
    };
    enum { UNKNOWN = 5 }; /* and from there on: the kernel counts no delays */
    enum { BLOCKED = 4 }; /* the busiest, for a part of its time */
    enum { PAUSED = 3 };  /* others are paused: they wait for less, and have computed as much */
    (void)state;
    for (size_t k = 0; k < PC_ARRAY_LEN(cases); k++) {
        begin_run(3, false);
        m.n = m.sample.p.n_ranks = m.sample.p.world_size = cases[k].n;
        for (unsigned r = 0; r < m.n; r++) {
            m.compute_ms[r] = r == 1 ? 1000 : cases[k].others_ms;
            m.delayed_ms[r] = k < UNKNOWN;
            m.blocked_ms[r] = k == BLOCKED && r == 1 ? 100 : 0;
            m.paused_ms[r] = k == PAUSED && r != 1 ? 50 : 0;
        }
        const char *text = sentence("serial");
        if (strncmp(text, cases[k].says, strlen(cases[k].says)) != 0)
            fail_msg("case %zu: %s", k, text);
    }
}

/* Rank 0 alone, and all ranks, call one place in two contexts; of one no values by rank are kept,
 * but in the last cases. */
static void calls_are_of_all_ranks_if_the_callers_are_not_known(void **state)
{
    static const char *const says[] = {
        "375 times per rank: ", "1,200 times per rank (75 % of the calls from step): ",
        "300 times per rank (on 1 of 4 ranks): ", "is called up to 600 times per rank: "};
    (void)state;
    for (unsigned k = 0; k < PC_ARRAY_LEN(says); k++) {
        double list[SAMPLE_RANKS];
        uint32_t dropped;
        begin_run(3, false);
        assert_int_equal(m.n, 4);
        for (unsigned r = 0; r < m.n; r++)
            list[r] = r ? -1 : 400;
        call("MPI_Barrier", PCOLLECT_CLASS_COLL, k == 1 ? 3600 : 300, 0, list);
        m.caller = sample_frame(&m.sample, 0, 0, m.sample.nodes[m.caller].offset);
        for (unsigned r = 0; r < m.n; r++)
            list[r] = 400;
        if (k != 2)
            call("MPI_Barrier", PCOLLECT_CLASS_COLL, 300, 0, list);
        dropped = k ? 0 : m.sample.nodes[m.last_op].data;
        struct pct_data *d = end_run();
        if (k < 2) {
            m.sample.data[dropped].kept = PC_KEPT_NONE;
            m.sample.data[dropped].ranks = NULL;
        }
        struct pct_findings *found = pct_findings_make(d, NULL);
        const char *text = "";
        for (size_t i = 0; i < found->n; i++)
            text = strcmp(found->list[i].rule, "barrier") ? text : found->list[i].text;
        if (!strstr(text, says[k]))
            fail_msg("case %u: %s", k, text);
        pct_findings_free(found);
        pct_data_free(d);
    }
}

/* MPI_Comm_split gives none to a rank without a colour, so calls are not communicators. Calls are
 * counted in one place, and not taken for datatypes that are made and freed. */
static void calls_are_not_what_they_may_make(void **state)
{
    static const char *const says[] = {
        " is called 300 times per rank: ",
        " is called 300 times per rank: with other calls that make, commit or free datatypes, "};
    (void)state;
    for (unsigned k = 0; k < PC_ARRAY_LEN(says); k++) {
        begin_run(3, false);
        call_all("MPI_Type_indexed", PCOLLECT_CLASS_TYPE, 300, 0, 100);
        call_all("MPI_Type_contiguous", PCOLLECT_CLASS_TYPE, k ? 20000 : 2, 0, 90);
        char wanted[256];
        snprintf(wanted, sizeof wanted, "MPI_Type_indexed in %s (%s:14)%s%s", m.function, m.file,
                 says[k], k ? "1" : "8");
        const char *text = sentence("datatypes");
        if (strncmp(text, wanted, strlen(wanted)) != 0)
            fail_msg("%s, not %s", text, wanted);
    }
    begin_run(3, false);
    call_all("MPI_Comm_split", PCOLLECT_CLASS_COMM, 400, 0, 100);
    const char *text = sentence("communicators");
    if (!strstr(text, ") is called 400 times per rank: 9 %"))
        fail_msg("%s", text);
}

static void killed_ranks_are_where_they_were(void **state)
{
    static const struct {
        unsigned n; /* ranks in a call */
        double each_ms;
        const char *says;
    } cases[] = {
        {1, 1500,
         "At the end of the data rank 0 has been in MPI_Barrier in %s (%s:14) for 1.500 s, and 3 "
         "ranks are outside MPI."},
        {3, 2000,
         "At the end of the data 3 ranks have been in MPI_Barrier in %s (%s:14) for up to 2.000 s, "
         "and rank 3 is outside MPI."},
        {4, 2000,
         "At the end of the data 4 ranks have been in MPI_Barrier in %s (%s:14) for up to 2.000 "
         "s."},
        {3, 900, ""},
    };
    (void)state;
    for (size_t k = 0; k < PC_ARRAY_LEN(cases); k++) {
        begin_run(3, false);
        m.n = m.sample.p.n_ranks = m.sample.p.world_size = 4;
        call_all("MPI_Barrier", PCOLLECT_CLASS_COLL, 1, 0, 1);
        uint32_t node = m.sample.p.n_nodes - 1;
        struct pc_profile_table *t = add_open_calls();
        for (unsigned r = 0; r < m.n; r++) {
            m.sample.ranks[r].incomplete = true;
            if (r < cases[k].n)
                add_cells(t, (const uint64_t[]){r, 0, node, (uint64_t)(cases[k].each_ms * ms)});
        }
        char wanted[512];
        snprintf(wanted, sizeof wanted, cases[k].says, m.function, m.file);
        const char *text = sentence("open-calls");
        if (strcmp(text, wanted) != 0)
            fail_msg("case %zu: %s, not %s", k, text, wanted);
    }
}

static void one_rank_is_not_ranks(void **state)
{
    (void)state;
    begin_run(3, false);
    m.n = m.sample.p.n_ranks = m.sample.p.world_size = 1;
    m.blocked_ms[0] = 300;
    m.delayed_ms[0] = 1; /* the kernel counts it */
    const char *text = sentence("blocked");
    if (strncmp(text, "Rank 0 is blocked outside MPI for ", 34) != 0 ||
        !strstr(text, " % of the run (298.0 ms): it sleeps, or waits for files, locks, "))
        fail_msg("%s", text);
}

/* One thread computes for longer than two others: those of OpenMP's runtime wait for it, those that
 * the program made may have nothing to do with it. */
static void threads_of_the_program_need_not_wait(void **state)
{
    static const char *const records[] = {"rank", "thread", "kind", NULL};
    static const char *const samples[] = {"rank",         "thread",          "period",
                                          "compute_time", "compute_squares", NULL};
    static const uint16_t types[] = {PCOLLECT_COLUMN_RANK, PCOLLECT_COLUMN_NUMBER,
                                     PCOLLECT_COLUMN_STRING};
    static const uint16_t sample_types[] = {PCOLLECT_COLUMN_RANK, PCOLLECT_COLUMN_NUMBER,
                                            PCOLLECT_COLUMN_NUMBER, PCOLLECT_COLUMN_NUMBER,
                                            PCOLLECT_COLUMN_NUMBER};
    static const struct {
        const char *kind, *says, *then;
    } cases[] = {
        {"runtime", "the other 2 threads of its team, 400.0 ms on average, wait for it: 29 %",
         "have such a thread. Divide the work"},
        {"program", "the other 2 threads that the program made, 400.0 ms on average: 29 %",
         "have such a thread. If these wait for it, divide the work"},
    };
    (void)state;
    for (size_t k = 0; k < PC_ARRAY_LEN(cases); k++) {
        begin_run(3, false);
        struct pc_profile_table *of = add_table("sampling", 2, samples, sample_types);
        struct pc_profile_table *t = add_table("thread_records", 2, records, types);
        for (unsigned r = 0; r < m.n; r++)
            for (unsigned i = 0; i < 3; i++) {
                uint64_t work_ms = i ? 400 : 1000;
                add_cells(t, (const uint64_t[]){r, i, add_string(cases[k].kind)});
                add_cells(of, (const uint64_t[]){r, i, (uint64_t)ms, work_ms * (uint64_t)ms,
                                                 work_ms * 1000000});
            }
        const char *text = sentence("threads");
        if (!strstr(text, cases[k].says) || !strstr(text, cases[k].then))
            fail_msg("%s: %s", cases[k].kind, text);
    }
}

/* Writes a run with a course, or one whose time outside MPI is not known in parts. */
static int write_made(const char *path, const char *kind)
{
    if (!strcmp(kind, "killed")) {
        begin_run(1, false);
        m.killed = true;
        call_all("MPI_Allgather", PCOLLECT_CLASS_COLL, 1, 0, 1);
        add_course();
        struct pc_profile_table *t = add_open_calls();
        for (uint64_t r = 0, node = m.sample.p.n_nodes - 1; r < m.n; r++) {
            m.blocked_ms[r] = 300;
            m.mpi_ms[r] += 2000 + 10 * r;
            add_cells(t, (const uint64_t[]){r, 0, node, (2000 + 10 * r) * (uint64_t)ms});
        }
    } else if (!strcmp(kind, "blocked"))
        make_blocked(true);
    else if (!strcmp(kind, "course")) {
        begin_run(1, false);
        add_course();
    } else
        make_short(false, 100);
    pct_data_free(end_run());
    return write_run(path);
}

int main(int argc, char **argv)
{
    if (argc == 4 && !strcmp(argv[1], "-w"))
        return write_made(argv[2], argv[3]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocked_time_and_delay_are_divided_only_if_they_are_outside_mpi),
        cmocka_unit_test(a_course_says_where_it_begins_and_what_it_lacks),
        cmocka_unit_test(a_bound_names_the_waits_that_it_contains),
        cmocka_unit_test(a_barrier_is_not_to_blame_for_the_files_of_a_rank),
        cmocka_unit_test(a_rank_that_writes_a_file_alone_waits_for_nobody),
        cmocka_unit_test(a_rank_that_only_hands_out_work_is_named),
        cmocka_unit_test(unfinished_operations_are_counted_by_place),
        cmocka_unit_test(collectives_are_judged_by_their_communicators),
        cmocka_unit_test(functions_that_only_look_alike_are_not_blamed),
        cmocka_unit_test(time_that_is_too_short_for_samples_is_not_divided),
        cmocka_unit_test(ranks_wait_no_longer_than_they_are_in_mpi),
        cmocka_unit_test(bytes_are_those_of_a_call),
        cmocka_unit_test(a_rank_is_alone_only_if_the_others_do_nothing),
        cmocka_unit_test(one_rank_is_not_ranks),
        cmocka_unit_test(calls_are_of_all_ranks_if_the_callers_are_not_known),
        cmocka_unit_test(calls_are_not_what_they_may_make),
        cmocka_unit_test(killed_ranks_are_where_they_were),
        cmocka_unit_test(threads_of_the_program_need_not_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
