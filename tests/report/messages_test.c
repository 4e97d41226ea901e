/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Findings about messages, in runs made by hand: which calls are counted as messages, which ranks
 * are said to be a hub or to wait in a chain, what needs no barrier, and how findings write names
 * of functions.
 */
#include "made_run.h"

#include "analysis/compare/compared_run_private.h"
#include "analysis/compare/join.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Share of the run of all messages, as the rule says it; below 0: no sentence. */
static double small_percent(void)
{
    const char *text = sentence("small-messages"), *percent = strstr(text, "receives, ");
    return percent ? strtod(percent + strlen("receives, "), NULL) : -1;
}

/* Messages of 8 bytes beside others in the same function take 200 ms and 800 ms of 2 s. The time of
 * a wait belongs to the small messages only if there are no others. */
static void large_messages_are_not_small_ones(void **state)
{
    static const struct {
        const char *beside;
        uint16_t op_class;
        double bytes;
        bool small[2]; /* what is beside counts, alone and with a large message */
    } cases[] = {
        {"MPI_Recv", PCOLLECT_CLASS_P2P, 8, {true, true}},
        {"MPI_Recv", PCOLLECT_CLASS_P2P, 1 << 20, {false, false}},
        {"MPI_Wait", PCOLLECT_CLASS_COMPLETION, 0, {true, false}},
        {"MPI_Probe", PCOLLECT_CLASS_COMPLETION, 0, {true, false}},
    };
    (void)state;
    for (size_t k = 0; k < PC_ARRAY_LEN(cases); k++)
        for (unsigned large = 0; large < 2; large++) {
            begin_run(3, false);
            m.sample.ranks[0].host = (char *)"node0"; /* 0.2 ms may be a slow network */
            call_all("MPI_Send", PCOLLECT_CLASS_P2P, 5000, 8, 200);
            call_all(cases[k].beside, cases[k].op_class, 5000, cases[k].bytes, 800);
            if (large)
                call_all("MPI_Irecv", PCOLLECT_CLASS_P2P, 10, 1 << 20, 0.1);
            double found = small_percent();
            if (fabs(found - (cases[k].small[large] ? 50 : 10)) > 2)
                fail_msg("case %zu, %u: %.0f", k, large, found);
        }
}

/* The time of small messages may be in the call that completes them. */
static void the_call_with_most_of_the_time_is_named(void **state)
{
    (void)state;
    for (unsigned waits = 0; waits < 2; waits++) {
        begin_run(3, false);
        m.sample.ranks[0].host = (char *)"node0"; /* 0.2 ms may be a slow network */
        call_all("MPI_Isend", PCOLLECT_CLASS_P2P, 5000, 8, waits ? 200 : 800);
        call_all("MPI_Wait", PCOLLECT_CLASS_COMPLETION, 5000, 0, waits ? 800 : 200);
        const char *text = sentence("small-messages");
        if (!*text || (strstr(text, ". Most of it is in MPI_Wait in ") != NULL) != waits)
            fail_msg("%u: %s", waits, text);
    }
}

/* Starts of persistent operations are messages only if none of these is collective. */
static void persistent_collectives_are_no_messages(void **state)
{
    static const struct {
        const char *made;
        uint16_t op_class;
        bool messages;
    } cases[] = {
        {"MPI_Send_init", PCOLLECT_CLASS_P2P, true},
        {"MPI_Allreduce_init", PCOLLECT_CLASS_COLL, false},
        {"MPI_Bcast_init_c", PCOLLECT_CLASS_COLL, false},
    };
    static const char *const starts[] = {"MPI_Start", "MPI_Startall"};
    (void)state;
    for (size_t k = 0; k < PC_ARRAY_LEN(cases); k++)
        for (size_t i = 0; i < PC_ARRAY_LEN(starts); i++) {
            begin_run(3, false);
            m.sample.ranks[0].host = (char *)"node0"; /* 0.2 ms may be a slow network */
            call_all(cases[k].made, cases[k].op_class, 1, 8, 0.1);
            call_all(starts[i], PCOLLECT_CLASS_P2P, 5000, 8, 200);
            call_all("MPI_Wait", PCOLLECT_CLASS_COMPLETION, 5000, 0, 800);
            double found = small_percent();
            if (cases[k].messages ? fabs(found - 50) > 2 : found >= 0)
                fail_msg("%s, %s: %.0f", cases[k].made, starts[i], found);
        }
}

/* Adds calls of the function that calls `caller`. */
static void call_outside(const char *name, uint16_t op_class, double calls)
{
    uint32_t inner = m.caller;
    m.caller = m.sample.nodes[inner].parent;
    call_all(name, op_class, calls, 8, 0.1);
    m.caller = inner;
}

/* A wait in a function that starts something else may be for that. */
static void waits_for_others_are_not_for_messages(void **state)
{
    static const struct {
        const char *name;
        uint16_t op_class;
        bool is_other;
    } beside[] = {
        {"MPI_Bcast", PCOLLECT_CLASS_COLL, false},
        {"MPI_Put", PCOLLECT_CLASS_RMA, false},
        {"MPI_Iprobe", PCOLLECT_CLASS_COMPLETION, false},
        {"MPI_File_write_at", PCOLLECT_CLASS_IO, false},
        {"MPI_Iallreduce", PCOLLECT_CLASS_COLL, true},
        {"MPI_Ibarrier", PCOLLECT_CLASS_COLL, true},
        {"MPI_Comm_idup", PCOLLECT_CLASS_COMM, true},
        {"MPI_File_iwrite_at", PCOLLECT_CLASS_IO, true},
        {"MPI_Rget", PCOLLECT_CLASS_RMA, true},
        {"MPI_Grequest_start", PCOLLECT_CLASS_COMPLETION, true},
    };
    (void)state;
    for (size_t k = 0; k < PC_ARRAY_LEN(beside); k++) {
        begin_run(3, false);
        m.sample.ranks[0].host = (char *)"node0";
        call_all(beside[k].name, beside[k].op_class, 10, 8, 0.1);
        call_all("MPI_Isend", PCOLLECT_CLASS_P2P, 5000, 8, 200);
        call_all("MPI_Wait", PCOLLECT_CLASS_COMPLETION, 5000, 0, 800);
        double found = small_percent();
        if (fabs(found - (beside[k].is_other ? 10 : 50)) > 2)
            fail_msg("%s: %.0f", beside[k].name, found);
    }
}

/* The wait grows from rank to rank, and messages and others are started there, or elsewhere. */
static void only_waits_for_messages_are_a_chain(void **state)
{
    enum { NOWHERE, HERE, OUTSIDE };
    static const struct {
        unsigned messages, others;
        const char *wait;
        bool is_chain;
    } cases[] = {
        {HERE, NOWHERE, "MPI_Wait", true},  {OUTSIDE, NOWHERE, "MPI_Wait", true},
        {HERE, OUTSIDE, "MPI_Wait", true},  {HERE, HERE, "MPI_Wait", false},
        {OUTSIDE, HERE, "MPI_Wait", false}, {OUTSIDE, OUTSIDE, "MPI_Wait", false},
        {NOWHERE, HERE, "MPI_Wait", false}, {NOWHERE, OUTSIDE, "MPI_Wait", false},
        {NOWHERE, HERE, "MPI_Probe", true},
    };
    (void)state;
    for (size_t k = 0; k < PC_ARRAY_LEN(cases); k++) {
        double list[SAMPLE_RANKS];
        begin_run(3, false);
        add_line();
        for (unsigned r = 0; r < m.n; r++)
            list[r] = 100.0 * r + 1;
        if (cases[k].messages == HERE)
            call_all("MPI_Irecv", PCOLLECT_CLASS_P2P, 40, 8, 0.1);
        if (cases[k].messages == OUTSIDE)
            call_outside("MPI_Irecv", PCOLLECT_CLASS_P2P, 40);
        if (cases[k].others == HERE)
            call_all("MPI_File_iwrite_at", PCOLLECT_CLASS_IO, 40, 8, 0.1);
        if (cases[k].others == OUTSIDE)
            call_outside("MPI_File_iwrite_at", PCOLLECT_CLASS_IO, 40);
        call(cases[k].wait, PCOLLECT_CLASS_COMPLETION, 40, 0, list);
        const char *text = sentence("chain");
        if ((*text != 0) != cases[k].is_chain)
            fail_msg("case %zu: %s", k, text);
    }
}

/* The late rank sends to all others, which wait for 400 ms of 1.4 s for a message, or for a
 * collective operation. Starts of persistent collective operations are no messages of a hub. */
static void only_messages_make_a_hub(void **state)
{
    static const struct {
        const char *starts, *made;
        bool is_hub;
    } cases[] = {{"MPI_Irecv", "MPI_Recv_init", true},
                 {"MPI_Iallreduce", "MPI_Recv_init", false},
                 {"MPI_Start", "MPI_Recv_init", true},
                 {"MPI_Start", "MPI_Bcast_init", false}};
    (void)state;
    for (size_t k = 0; k < PC_ARRAY_LEN(cases); k++) {
        double list[SAMPLE_RANKS];
        begin_run(3, false);
        add_star(100);
        for (unsigned r = 0; r < m.n; r++)
            list[r] = r == m.late ? 1 : -1;
        call("MPI_Send", PCOLLECT_CLASS_P2P, 100.0 * m.n, 8, list);
        bool is_collective = strstr(cases[k].made, "Bcast") != NULL;
        call_all(cases[k].made, is_collective ? PCOLLECT_CLASS_COLL : PCOLLECT_CLASS_P2P, 1, 8, 1);
        call_all(cases[k].starts, k == 1 ? PCOLLECT_CLASS_COLL : PCOLLECT_CLASS_P2P, 100, 8, 1);
        call_all("MPI_Wait", PCOLLECT_CLASS_COMPLETION, 100, 0, 400);
        const char *text = sentence("hub");
        if ((*text != 0) != cases[k].is_hub)
            fail_msg("case %zu: %s", k, text);
    }
}

/* The first rank waits longest, or the last. */
static void the_wait_in_a_chain_grows_or_falls(void **state)
{
    (void)state;
    for (unsigned falls = 0; falls < 2; falls++) {
        double list[SAMPLE_RANKS];
        begin_run(3, false);
        add_line();
        for (unsigned r = 0; r < m.n; r++)
            list[r] = 100.0 * (falls ? m.n - 1 - r : r) + 1;
        call("MPI_Recv", PCOLLECT_CLASS_P2P, 40, 16000, list);
        const char *text = sentence("chain");
        if (!strstr(text, falls ? ") falls from rank to rank, " : ") grows from rank to rank, "))
            fail_msg("%u: %s", falls, text);
    }
}

/* Rank 0 exchanges messages with one of 3 others, with 2, with all, or only with itself; or two
 * exchange most, and one more has a part in few. */
static void a_hub_has_nearly_all_messages_and_several_partners(void **state)
{
    static const struct {
        uint64_t of_0[4], of_2_and_3; /* from rank 0 to each, and between ranks 2 and 3 */
        const char *says;
    } cases[] = {{{0, 1000, 0, 0}, 0, ""},
                 {{0, 1000, 10, 0}, 0, ""},
                 {{0, 1000, 0, 0}, 10, ""},
                 {{1000, 0, 0, 0}, 10, ""},
                 {{1000, 10, 10, 10}, 0, ""},
                 {{0, 300, 300, 300}, 200, ""},
                 {{0, 500, 500, 0},
                  0,
                  "Rank 0 takes part in almost every message: 2 of the other "
                  "3 ranks spend "},
                 {{0, 300, 300, 300},
                  50,
                  "Rank 0 takes part in almost every message: the other 3 "
                  "ranks spend "}};
    (void)state;
    for (size_t k = 0; k < PC_ARRAY_LEN(cases); k++) {
        begin_run(3, false);
        assert_int_equal(m.n, 4);
        struct pc_profile_table *t = add_pairs();
        for (unsigned r = 0; r < m.n; r++)
            add_pair(t, 0, r, cases[k].of_0[r]);
        add_pair(t, 2, 3, cases[k].of_2_and_3);
        call_all("MPI_Sendrecv", PCOLLECT_CLASS_P2P, 1000, 1000, 1000);
        const char *text = sentence("hub");
        if (strncmp(text, cases[k].says, strlen(cases[k].says)) != 0 || !*text != !*cases[k].says)
            fail_msg("case %zu: %s", k, text);
    }
}

/* The time of a call grows from rank to rank: each sends to the next one, or every other one does;
 * a call of the last rank has as many bytes as that of the first, or four times as many. */
static void ranks_in_a_chain_send_equal_messages_to_the_next(void **state)
{
    (void)state;
    for (unsigned linked = 0; linked < 2; linked++)
        for (unsigned alike = 0; alike < 2; alike++) {
            double list[SAMPLE_RANKS];
            begin_run(3, false);
            struct pc_profile_table *t = add_pairs();
            for (unsigned r = 0; r < m.n; r++)
                list[r] = 100.0 * r + 1;
            for (unsigned r = 0; r + 1 < m.n; r++)
                add_pair(t, r, r + 1, linked || r % 2 == 0 ? 40 : 0);
            call("MPI_Recv", PCOLLECT_CLASS_P2P, 40, 16000, list);
            struct pc_profile_data *d = &m.sample.data[m.sample.p.n_data - 1];
            for (uint32_t i = 0; !alike && i < d->n_ranks; i++)
                d->values[i * m.sample.p.n_fields + RECEIVED] = (uint64_t)40 * 32000 * (1 + i);
            const char *text = sentence("chain");
            if ((*text != 0) != (linked && alike))
                fail_msg("%u, %u: %s", linked, alike, text);
        }
}

/* The time that a comparison takes off calls, because ranks wait there for another one. */
static double blamed_ns(const struct pc_profile *p)
{
    struct pct_run run = {0};
    struct pct_join *j = NULL;
    struct pc_error error = {""};
    double ns = 0;
    pct_run_adopt(&run, "run", p, pct_symbols_new(p));
    assert_int_equal(pct_join_new(&run, 1, PCT_JOIN_OWN_BLAMED, &j, &error), PC_OK);
    for (uint32_t i = 0; i < j->n; i++)
        ns += pct_join_cost(j, i, 0)->waits_ns;
    pct_join_free(j);
    pct_run_close(&run);
    return ns;
}

/* The late rank computes for 2 s, the others for 1 s, and exchange messages for as long: with it,
 * with others that do, among themselves, or each with itself. */
static void ranks_wait_for_one_with_which_messages_link_them(void **state)
{
    enum { WITH_IT, WITH_OTHERS, APART, ALONE, FAR, N };
    static const char *const names[] = {"MPI_Sendrecv", "MPI_Wait", "MPI_Allreduce"};
    static const uint16_t classes[] = {PCOLLECT_CLASS_P2P, PCOLLECT_CLASS_COMPLETION,
                                       PCOLLECT_CLASS_COLL};
    (void)state;
    for (unsigned kind = 0; kind < N; kind++)
        for (size_t k = 0; k < PC_ARRAY_LEN(names); k++) {
            double list[SAMPLE_RANKS], waiting_ns = 0;
            begin_run(3, false);
            m.late = 0;
            for (unsigned r = 0; r < m.n; r++) {
                m.compute_ms[r] = r == m.late ? 2000 : 1000;
                list[r] = r == m.late ? 0 : 1000;
            }
            struct pc_profile_table *t = add_pairs();
            for (unsigned r = 0; r < m.n; r++)
                if (kind == WITH_IT ? r != m.late : kind == ALONE || kind == FAR)
                    add_pair(t, kind == WITH_IT ? m.late : r, r, 50);
                else if (r + 1 < m.n && (kind == WITH_OTHERS || r != m.late))
                    add_pair(t, r, r + 1, 50);
            if (kind == FAR) { /* not all pairs are known */
                static const char *const columns[] = {"distance", "messages", NULL};
                static const uint16_t types[] = {PCOLLECT_COLUMN_NUMBER, PCOLLECT_COLUMN_NUMBER};
                add_cells(add_table("pairs_by_distance", 1, columns, types),
                          (const uint64_t[]){1, 50});
            }
            call(names[k], classes[k], 50, 1000, list);
            struct pct_data *d = end_run();
            struct pct_wait_times wait = pct_data_wait_times(d);
            for (unsigned r = 0; r < m.n; r++)
                waiting_ns += wait.rank_ns[r];
            bool waits = classes[k] == PCOLLECT_CLASS_COLL || (kind != APART && kind != ALONE);
            bool said = d->findings->n && !strcmp(d->findings->list[0].rule, "imbalance");
            double taken_ns = blamed_ns(d->profile);
            if (said != waits || (waiting_ns > 100 * ms) != waits || (taken_ns > 100 * ms) != waits)
                fail_msg("%u, %s: %.0f ms, %.0f ms, %s", kind, names[k], waiting_ns / ms,
                         taken_ns / ms, d->findings->n ? d->findings->list[0].text : "");
            pct_data_free(d);
        }
}

/* Rank 0 computes for 2 s and rank 1, with which it exchanges messages, for 1.8 s; all others do
 * for 1 s, and exchange messages among themselves for 1 s. */
static void ranks_wait_for_the_lead_over_their_group(void **state)
{
    double list[SAMPLE_RANKS] = {0, 1000};
    (void)state;
    begin_run(3, false);
    struct pc_profile_table *t = add_pairs();
    m.compute_ms[0] = 2000;
    m.compute_ms[1] = 1800;
    add_pair(t, 0, 1, 50);
    for (unsigned r = 2; r < m.n; r++) {
        m.compute_ms[r] = list[r] = 1000;
        if (r + 1 < m.n)
            add_pair(t, r, r + 1, 50);
    }
    call("MPI_Sendrecv", PCOLLECT_CLASS_P2P, 50, 1000, list);
    struct pct_data *d = end_run();
    struct pct_wait_times wait = pct_data_wait_times(d);
    assert_true(fabs(wait.rank_ns[1] - 200 * ms) < 1);
    double taken_ns = blamed_ns(d->profile);
    if (fabs(taken_ns - 200 * ms) > 2 * ms)
        fail_msg("%.3f ms", taken_ns / ms);
    pct_data_free(d);
}

/* The time of rank r in one receive grows with r: because its call takes longer, or because it
 * makes more calls. */
static void more_calls_are_no_chain(void **state)
{
    (void)state;
    for (unsigned more = 0; more < 2; more++) {
        double list[SAMPLE_RANKS];
        begin_run(3, false);
        add_line();
        for (unsigned r = 0; r < m.n; r++)
            list[r] = more && !r ? -1.0 : 100.0 * r + 1;
        call("MPI_Recv", PCOLLECT_CLASS_P2P, 40, 16000, list);
        struct pc_profile_data *d = &m.sample.data[m.sample.p.n_data - 1];
        for (uint32_t i = 0; more && i < d->n_ranks; i++)
            for (unsigned field = RECEIVED; field <= COUNT; field++)
                d->values[i * m.sample.p.n_fields + field] =
                    40 * (uint64_t)d->ranks[i] * (field == COUNT ? 1 : 16000);
        const char *text = sentence("chain");
        if ((*text == 0) != more)
            fail_msg("%u: %s", more, text);
    }
}

/* Ranks exchange messages with the next one of their node, or of the other: only then is another
 * placement better, whatever it must save. */
static void a_placement_is_better_only_if_messages_cross_nodes(void **state)
{
    static const char *const columns[] = {"source", "destination", "messages", "bytes", NULL};
    static const uint16_t types[] = {PCOLLECT_COLUMN_RANK, PCOLLECT_COLUMN_RANK,
                                     PCOLLECT_COLUMN_NUMBER, PCOLLECT_COLUMN_NUMBER};
    static const double all[PCT_MAX_RULES];
    (void)state;
    for (unsigned cross = 0; cross < 2; cross++) {
        begin_run(3, false);
        struct pc_profile_table *t = add_table("pairs", 2, columns, types);
        for (unsigned r = 0; r < m.n; r++) {
            m.sample.ranks[r].host = (char *)((cross ? r % 2 : r >= m.n / 2) ? "node2" : "node1");
            if (r % 2 == 0)
                add_cells(t, (const uint64_t[]){r, r + 1, 100, 100000});
        }
        call_all("MPI_Sendrecv", PCOLLECT_CLASS_P2P, 100, 1000, 50);
        struct pct_data *d = end_run();
        struct pct_findings *found = pct_findings_make(d, all);
        const char *text = "";
        for (size_t i = 0; i < found->n; i++)
            text = strcmp(found->list[i].rule, "placement") ? text : found->list[i].text;
        if (!strstr(text, cross ? "100.0 % of the bytes in messages cross nodes" : "") ||
            !cross != !*text)
            fail_msg("%u: %s", cross, text);
        pct_findings_free(found);
        pct_data_free(d);
    }
}

/* Messages need no barrier; transfers of windows may, which nothing else orders. */
static void a_barrier_may_order_accesses_to_a_window(void **state)
{
    (void)state;
    for (unsigned windows = 0; windows < 2; windows++) {
        begin_run(3, false);
        call_all("MPI_Barrier", PCOLLECT_CLASS_COLL, 300, 0, 400);
        if (windows)
            call_all("MPI_Put", PCOLLECT_CLASS_RMA, 300, 8, 1);
        else
            call_all("MPI_Sendrecv", PCOLLECT_CLASS_P2P, 300, 8, 1);
        const char *text = sentence("barrier");
        if (!strstr(text,
                    windows ? "around them; accesses to a window may need it." : "around them."))
            fail_msg("%u: %s", windows, text);
    }
}

/* 3,000 exchanges of one byte with one of 4 ranks: one finding, and less than a byte for each. */
static void one_finding_tells_of_a_sparse_exchange(void **state)
{
    (void)state;
    for (unsigned long_delay = 0; long_delay < 2; long_delay++) {
        begin_run(3, false);
        assert_int_equal(m.n, 4);
        call_all("MPI_Alltoallv", PCOLLECT_CLASS_COLL, 3000, 1, 900);
        for (unsigned r = 0; r < m.n && long_delay; r++)
            m.delayed_ms[r] = 900;
        struct pct_data *d = end_run();
        size_t n = 0;
        for (size_t i = 0; i < d->findings->n; i++) {
            const char *text = d->findings->list[i].text;
            if (!strstr(text, "MPI_Alltoallv"))
                continue;
            n++;
            if (!strstr(text, " exchanges less than 1 byte with each rank on average, ") ||
                !strstr(text, long_delay ? "at most " : " % of the run. "))
                fail_msg("%s", text);
        }
        assert_int_equal(n, 1);
        pct_data_free(d);
    }
}

static void functions_in_findings_are_shortened(void **state)
{
    struct pct_buf b = {0};
    (void)state;
    pct_finding_put_function(&b, "std::pair<double, int> grid::exchange<double>(Field const&, int)",
                             "/src/grid.cc", 7);
    assert_string_equal(b.data, "grid::exchange<>() (grid.cc:7)");
    pct_buf_free(&b);
}

/* Calls whose cost is uncertain, because all ranks waited for a processor for long. */
static struct pct_data *make_uncertain(void)
{
    begin_run(1, false);
    call_all("MPI_Allreduce", PCOLLECT_CLASS_COLL, 4000, 8, 150);
    call_all("MPI_Comm_dup", PCOLLECT_CLASS_COMM, 400, 0, 300);
    for (unsigned r = 0; r < m.n; r++)
        m.delayed_ms[r] = 900;
    return end_run();
}

static void uncertain_findings_are_in_the_order_of_their_bounds(void **state)
{
    (void)state;
    struct pct_data *d = make_uncertain();
    const struct pct_findings *f = d->findings;
    assert_int_equal(f->n, 3);
    assert_string_equal(f->list[0].rule, "shared-processors");
    assert_string_equal(f->list[1].rule, "communicators");
    assert_string_equal(f->list[2].rule, "many-collectives");
    assert_true(f->list[1].saves <= 0 && f->list[1].most > f->list[2].most);
    pct_data_free(d);
}

/* Rules with any threshold have the sentences that they have with their own, or none. */
static void a_threshold_shows_and_hides_without_other_words(void **state)
{
    static const double thresholds[] = {0, 0.01, 0.15, 0.25};
    (void)state;
    struct pct_data *d = make_uncertain();
    for (size_t k = 0; k < PC_ARRAY_LEN(thresholds); k++) {
        double list[PCT_MAX_RULES];
        for (size_t i = 0; i < PCT_MAX_RULES; i++)
            list[i] = thresholds[k];
        struct pct_findings *f = pct_findings_make(d, list);
        size_t n = 0;
        for (size_t i = 0; i < f->n; i++) {
            for (size_t l = 1; l < d->findings->n; l++) {
                const struct pct_finding *same = &d->findings->list[l];
                if (strcmp(f->list[i].rule, same->rule) != 0)
                    continue;
                assert_string_equal(f->list[i].text, same->text);
                assert_true(f->list[i].saves <= 0);
                n++;
            }
        }
        assert_int_equal(n, k < 2 ? 2 : k == 2 ? 1 : 0);
        pct_findings_free(f);
    }
    pct_data_free(d);
}

static void waits_for_a_rank_that_is_delayed_are_told_without_its_delay(void **state)
{
    (void)state;
    for (unsigned delayed = 0; delayed < 2; delayed++) {
        begin_run(1, false);
        for (unsigned r = 0; r < m.n; r++)
            m.compute_ms[r] = r == m.late ? 2000 : 1000;
        m.compute_ms[m.late] += delayed ? 500 : 0;
        m.delayed_ms[m.late] = delayed ? 500 : 0;
        call_all("MPI_Allreduce", PCOLLECT_CLASS_COLL, 40, 8, 2);
        char wanted[96];
        snprintf(wanted, sizeof wanted,
                 "%% of the time of all ranks even if rank %u had a processor", m.late);
        const char *text = sentence("imbalance");
        if (!*text || (strstr(text, wanted) != NULL) != delayed)
            fail_msg("%u: %s", delayed, text);
    }
}

static void views_that_are_set_for_each_piece_are_found(void **state)
{
    (void)state;
    for (unsigned often = 0; often < 2; often++) {
        begin_run(1, false);
        call_all("MPI_File_set_view", PCOLLECT_CLASS_IO, often ? 20000 : 20, 0, 400);
        const char *text = sentence("small-io");
        if ((strstr(text, " is called 20,000 times per rank: 28 % of the run. ") != NULL) != often)
            fail_msg("%u: %s", often, text);
    }
}

/* Pieces moved in the function that sets the views are one finding with these. */
static void views_are_told_with_the_pieces_of_their_function(void **state)
{
    (void)state;
    for (unsigned here = 0; here < 2; here++) {
        begin_run(1, false);
        call_all("MPI_File_set_view", PCOLLECT_CLASS_IO, 300, 0, 200);
        if (!here)
            m.caller = sample_frame(&m.sample, 0, 0, 0x1000);
        call_all("MPI_File_write_all", PCOLLECT_CLASS_IO, 300, 64, 300);
        struct pct_data *d = end_run();
        size_t n = 0, together = 0;
        for (size_t i = 0; i < d->findings->n; i++) {
            bool is_file = !strcmp(d->findings->list[i].rule, "small-io");
            n += is_file;
            together += is_file && strstr(d->findings->list[i].text,
                                          "for 64 bytes on average, with MPI_File_set_view in the "
                                          "same function: ") != NULL;
        }
        assert_int_equal(n, 2 - here);
        assert_int_equal(together, here);
        pct_data_free(d);
    }
}

/* 200 calls are not many, by any of these rules. */
static void many_calls_have_one_bound(void **state)
{
    static const struct {
        const char *rule, *name;
        uint16_t op_class;
    } cases[] = {{"many-collectives", "MPI_Iallreduce", PCOLLECT_CLASS_COLL},
                 {"datatypes", "MPI_Type_commit", PCOLLECT_CLASS_TYPE},
                 {"small-io", "MPI_File_write_at", PCOLLECT_CLASS_IO},
                 {"small-io", "MPI_File_set_view", PCOLLECT_CLASS_IO},
                 {"small-messages", "MPI_Isend", PCOLLECT_CLASS_P2P}};
    (void)state;
    for (size_t k = 0; k < PC_ARRAY_LEN(cases); k++)
        for (unsigned more = 0; more < 2; more++) {
            begin_run(1, false);
            call_all(cases[k].name, cases[k].op_class, 200 + more, 8, 300);
            const char *text = sentence(cases[k].rule);
            if ((*text != 0) != more)
                fail_msg("%s, %u calls: %s", cases[k].name, 200 + more, text);
        }
}

static void a_rank_that_polls_may_wait_meanwhile(void **state)
{
    static const struct {
        const char *name;
        double calls;
        bool polls;
    } cases[] = {{"MPI_Win_sync", 20000, true},
                 {"MPI_Iprobe", 20000, true},
                 {"MPI_Iprobe", 20, false},
                 {"MPI_Win_flush", 20000, false}};
    (void)state;
    for (size_t k = 0; k < PC_ARRAY_LEN(cases); k++) {
        double list[SAMPLE_RANKS];
        char wanted[128];
        begin_run(1, false);
        for (unsigned r = 0; r < m.n; r++) {
            m.compute_ms[r] = r == m.late ? 2000 : 1000;
            list[r] = r == m.late ? 5 : -1;
        }
        m.blocked_ms[m.late] = 1500;
        call(cases[k].name, PCOLLECT_CLASS_RMA, cases[k].calls, 0, list);
        snprintf(wanted, sizeof wanted, " Rank %u calls %s in %s (", m.late, cases[k].name,
                 m.function);
        const char *text = sentence("blocked"), *said = strstr(text, wanted);
        bool polls =
            said && strstr(said, ") 20,000 times or more: what it does between these calls may ");
        if (!*text || polls != cases[k].polls)
            fail_msg("%s: %s", cases[k].name, text);
    }
}

/* A frame of the function; line 0: the line is not known. */
static uint32_t add_function(uint32_t above, unsigned which, const char *name, uint32_t line)
{
    m.frames[which] = (struct pct_frame){name, "poll.c", line, false, false, NULL, 0};
    return sample_frame(&m.sample, above, 0, 0x1000 * (which + 1));
}

static void add_samples(uint32_t above, uint32_t module, uint64_t offset, double each_ms)
{
    sample_point(&m.sample, above, module, offset);
    for (unsigned r = 0; r < m.n; r++)
        sample_add_samples(&m.sample, (int32_t)r, (uint64_t)(each_ms * ms));
}

/* Tests and probes take 3 % of the run each, less than is worth a sentence: they are put together
 * where they are one loop, with 100 ms of its own code and 50 ms in a binding. */
static void tests_of_one_loop_are_one_finding(void **state)
{
    enum { MAIN, POLL, TEST, PROBE };
    static const struct {
        unsigned above, test, probe; /* the functions that call and make tests, and probes */
        uint32_t line;
        double calls;
        const char *says;
    } cases[] = {
        {POLL, TEST, PROBE, 9, 1e6,
         ", with other tests in poll and the code of these functions: 20 "},
        {POLL, TEST, PROBE, 0, 2e4, " (all calls from poll), with other tests there: 6 "},
        {MAIN, TEST, PROBE, 9, 1e6,
         ") is called 1,000,000 times per rank, with the code of this function: 8 "},
        {POLL, POLL, POLL, 9, 1e6,
         ", with other tests in the same function and the code of these functions: 20 "},
        {POLL, POLL, PROBE, 9, 1e6,
         ", with other tests in the same function and the code of these functions: 20 "},
    };
    (void)state;
    for (size_t k = 0; k < PC_ARRAY_LEN(cases); k++) {
        begin_run(5, true);
        uint32_t at[4] = {add_function(0, MAIN, "main", cases[k].line)};
        at[POLL] = add_function(at[MAIN], POLL, "poll", cases[k].line);
        at[TEST] = add_function(at[cases[k].above], TEST, "test", cases[k].line);
        at[PROBE] = add_function(at[cases[k].above], PROBE, "probe", cases[k].line);
        m.sample.modules[m.sample.p.n_modules++] = (struct pc_profile_module){
            .path = (char *)"/lib/libmpi.so", .identity = 2, .flags = PCOLLECT_MODULE_MPI};
        m.caller = at[cases[k].test];
        add_samples(at[POLL], 0, 0x1000 * (POLL + 1) - 1, 100);
        add_samples(m.caller, 1, COPYING, 50);
        add_samples(at[MAIN], 0, ELSEWHERE, 500);
        call_all("MPI_Test", PCOLLECT_CLASS_COMPLETION, cases[k].calls, 0, 35);
        m.caller = at[cases[k].probe];
        call_all("MPI_Iprobe", PCOLLECT_CLASS_COMPLETION, cases[k].calls, 0, 30);
        const char *text = sentence("polling");
        if (!strstr(text, cases[k].says))
            fail_msg("case %zu: %s", k, text);
    }
}

/* Datatypes are made and committed in every step; 1,000 or 999 of them per rank are not freed.
 * Communicators that a rank may not have got are no reason to free some. */
static void what_is_made_and_not_freed_is_told_if_it_is_certain(void **state)
{
    static const struct {
        unsigned freed;
        const char *maker;
        bool paused, said;
    } cases[] = {{2000, "MPI_Type_vector", false, true},
                 {2001, "MPI_Type_vector", false, false},
                 {2000, "MPI_Type_vector", true, false},
                 {2000, "MPI_Type_get_contents", false, false}};
    (void)state;
    for (size_t i = 0; i < PC_ARRAY_LEN(cases); i++) {
        begin_run(3, false);
        call_all(cases[i].maker, PCOLLECT_CLASS_TYPE, 3000, 0, 20);
        call_all("MPI_Type_commit", PCOLLECT_CLASS_TYPE, 3000, 0, 200);
        call_all("MPI_Type_free", PCOLLECT_CLASS_TYPE, cases[i].freed, 0, 20);
        call_all("MPI_Comm_split", PCOLLECT_CLASS_COMM, 3000, 0, 200);
        m.paused_ms[1] = cases[i].paused ? 1 : 0;
        add_resources();
        struct pct_data *d = end_run();
        struct pct_buf text = {0};
        for (size_t k = 0; k < d->findings->n; k++)
            pct_buf_format(&text, "%s\n", d->findings->list[k].text);
        if (!strstr(text.data,
                    "Make datatypes once and keep them. On average, a rank calls functions that "
                    "make datatypes at least 1,000 times more than MPI_Type_free: free what it no "
                    "longer needs.\n") != !cases[i].said ||
            !strstr(text.data, "Make communicators once and keep them.\n"))
            fail_msg("%zu: %s", i, text.data);
        pct_buf_free(&text);
        pct_data_free(d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(views_that_are_set_for_each_piece_are_found),
        cmocka_unit_test(views_are_told_with_the_pieces_of_their_function),
        cmocka_unit_test(many_calls_have_one_bound),
        cmocka_unit_test(a_rank_that_polls_may_wait_meanwhile),
        cmocka_unit_test(tests_of_one_loop_are_one_finding),
        cmocka_unit_test(waits_for_a_rank_that_is_delayed_are_told_without_its_delay),
        cmocka_unit_test(a_threshold_shows_and_hides_without_other_words),
        cmocka_unit_test(uncertain_findings_are_in_the_order_of_their_bounds),
        cmocka_unit_test(functions_in_findings_are_shortened),
        cmocka_unit_test(one_finding_tells_of_a_sparse_exchange),
        cmocka_unit_test(large_messages_are_not_small_ones),
        cmocka_unit_test(the_call_with_most_of_the_time_is_named),
        cmocka_unit_test(persistent_collectives_are_no_messages),
        cmocka_unit_test(waits_for_others_are_not_for_messages),
        cmocka_unit_test(only_waits_for_messages_are_a_chain),
        cmocka_unit_test(only_messages_make_a_hub),
        cmocka_unit_test(the_wait_in_a_chain_grows_or_falls),
        cmocka_unit_test(a_hub_has_nearly_all_messages_and_several_partners),
        cmocka_unit_test(ranks_in_a_chain_send_equal_messages_to_the_next),
        cmocka_unit_test(ranks_wait_for_one_with_which_messages_link_them),
        cmocka_unit_test(ranks_wait_for_the_lead_over_their_group),
        cmocka_unit_test(more_calls_are_no_chain),
        cmocka_unit_test(a_barrier_may_order_accesses_to_a_window),
        cmocka_unit_test(what_is_made_and_not_freed_is_told_if_it_is_certain),
        cmocka_unit_test(a_placement_is_better_only_if_messages_cross_nodes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
