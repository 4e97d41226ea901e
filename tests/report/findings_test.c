/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Findings of profiles made by hand with one planted fault each: names, ranks, sizes and the place
 * of the fault follow from a seed. The first finding names the fault's rule and function; the twin
 * without the fault has none; and for the twin on a machine whose processors are used by others the
 * finding says so, and none names the program as the cause.
 */
#include "made_run.h"

#include "analysis/findings/findings.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { N_SEEDS = 5 };

/* ---- Faults: each is planted, or its twin ---------------------------------------------------- */

static void imbalance(bool fault)
{
    m.compute_ms[m.late] *= fault ? draw(1.4, 2) : 1;
}

static void serial(bool fault)
{
    for (unsigned r = 0; r < m.n && fault; r++)
        m.compute_ms[r] = r == m.late ? 1000 : 50;
}

/* One rank reads, or all sleep; only with the first fault do the others wait. */
static void blocked(bool fault)
{
    m.blocked_ms[m.late] = fault ? draw(600, 900) : 2;
    m.compute_ms[m.late] += m.blocked_ms[m.late];
}

static void asleep(bool fault)
{
    for (unsigned r = 0; r < m.n && fault; r++)
        m.blocked_ms[r] = draw(190, 210);
}

/* Three threads per rank, of which one computes all the time, or all do. A sample is 1 ms. */
static void threads(bool fault)
{
    struct pc_profile_table *of, *t;
    add_thread_tables(&of, &t);
    unsigned longest = draw_int(0, 2);
    for (unsigned r = 0; r < m.n; r++)
        for (unsigned i = 0; i < 3; i++) {
            double less = fault && i != longest ? draw(0.3, 0.6) : draw(0.97, 1);
            double work_ms = m.compute_ms[r] * less;
            add_cells(t, (const uint64_t[]){r, i, i ? 7 : 6, 0, 0});
            add_cells(of, (const uint64_t[]){r, i, (uint64_t)ms, (uint64_t)(work_ms * ms),
                                             (uint64_t)(work_ms * 1e6)});
            if (!i)
                m.blocked_ms[r] = m.compute_ms[r] - work_ms;
        }
}

static void thread_waits(bool fault)
{
    add_thread_waits(fault ? draw(0.25, 0.95) : draw(0.05, 0.15), 0);
}

static void shared(bool fault)
{
    m.shares = fault;
    for (unsigned r = 0; r < m.n && fault; r++) {
        m.delayed_ms[r] = draw(100, 400);
        m.compute_ms[r] += m.delayed_ms[r];
    }
}

static void faults(bool fault)
{
    for (unsigned r = 0; r < m.n && fault; r++) {
        m.system_ms[r] = draw(200, 300);
        m.faults[r] = 500000;
    }
}

static void system_calls(bool fault)
{
    for (unsigned r = 0; r < m.n && fault; r++)
        m.system_ms[r] = draw(200, 300);
}

/* A ring whose ranks alternate between two nodes. */
static void placement(bool fault)
{
    static const char *const columns[] = {"source",         "destination",  "messages",
                                          "bytes",          "time",         "received",
                                          "received_bytes", "receive_time", NULL};
    static const uint16_t types[] = {PCOLLECT_COLUMN_RANK,   PCOLLECT_COLUMN_RANK,
                                     PCOLLECT_COLUMN_NUMBER, PCOLLECT_COLUMN_NUMBER,
                                     PCOLLECT_COLUMN_NUMBER, PCOLLECT_COLUMN_NUMBER,
                                     PCOLLECT_COLUMN_NUMBER, PCOLLECT_COLUMN_NUMBER};
    struct pc_profile_table *t = add_table("pairs", 2, columns, types);
    for (unsigned r = 0; r < m.n; r++) {
        bool second = fault ? r % 2 : r >= m.n / 2;
        m.sample.ranks[r].host = (char *)(second ? "node2" : "node1");
        add_cells(t, (const uint64_t[]){r, (r + 1) % m.n, 100, 100000, 1, 100, 100000, 1});
    }
    call_all("MPI_Sendrecv", PCOLLECT_CLASS_P2P, 100, 100000, fault ? 400 : 20);
}

static void unfinished(bool fault)
{
    static const char *const columns[] = {"start", "completion", "operations", "never", NULL};
    call_all("MPI_Irecv", PCOLLECT_CLASS_P2P, 50, 4096, 1);
    static const uint16_t types[] = {PCOLLECT_COLUMN_NODE, PCOLLECT_COLUMN_NODE,
                                     PCOLLECT_COLUMN_NUMBER, PCOLLECT_COLUMN_NUMBER};
    struct pc_profile_table *t = add_table("requests", 2, columns, types);
    add_cells(t, (const uint64_t[]){m.last_op, 0, 50, fault ? draw_int(1, 50) : 0});
}

static void hub(bool fault)
{
    double list[SAMPLE_RANKS];
    for (unsigned r = 0; r < m.n; r++) {
        list[r] = fault ? (r == m.late ? 700 : 400) : 20;
        m.compute_ms[r] = fault ? (r == m.late ? 300 : 600) : m.compute_ms[r];
    }
    call("MPI_Recv", PCOLLECT_CLASS_P2P, 100, 32000, list);
    if (fault)
        add_star(100);
}

static void chain(bool fault)
{
    double list[SAMPLE_RANKS];
    for (unsigned r = 0; r < m.n; r++)
        list[r] = fault ? 5 + r * draw(95, 105) : 10;
    add_line();
    call("MPI_Recv", PCOLLECT_CLASS_P2P, 40, 16000, list);
}

static void by_turns(bool fault)
{
    static const char *const ops[] = {"MPI_Recv", "MPI_Bcast", "MPI_Sendrecv"};
    unsigned op = draw_int(0, 2);
    call_all(ops[op], op == 1 ? PCOLLECT_CLASS_COLL : PCOLLECT_CLASS_P2P, 100, 8,
             fault ? draw(200, 600) : 10);
}

static void open_calls(bool fault)
{
    call_all("MPI_Recv", PCOLLECT_CLASS_P2P, 1, 0, 0.1);
    struct pc_profile_table *t = add_open_calls();
    for (unsigned r = 0; r < m.n; r++) {
        m.sample.ranks[r].incomplete = true;
        if (r != m.late)
            add_cells(t, (const uint64_t[]){r, 0, m.sample.p.n_nodes - 1,
                                            (uint64_t)((fault ? draw(1100, 1900) : 10) * ms)});
    }
}

static void small_messages(bool fault)
{
    call_all("MPI_Send", PCOLLECT_CLASS_P2P, fault ? draw_int(20000, 90000) : 50,
             fault ? draw_int(8, 200) : 100000, fault ? 200 : 20);
    call_all("MPI_Recv", PCOLLECT_CLASS_P2P, fault ? 20000 : 50, fault ? 8 : 100000,
             fault ? 300 : 20);
}

static void barrier(bool fault)
{
    call_all("MPI_Barrier", PCOLLECT_CLASS_COLL, fault ? draw_int(10, 5000) : 1, 0,
             fault ? draw(150, 600) : 0.1);
}

static void collectives(bool fault)
{
    call_all(draw_int(0, 1) ? "MPI_Bcast" : "MPI_Reduce", PCOLLECT_CLASS_COLL,
             fault ? draw_int(5000, 9000) : 20, 8, fault ? draw(200, 600) : 5);
}

static void rooted(bool fault)
{
    call_all(draw_int(0, 1) ? "MPI_Gather" : "MPI_Scatterv", PCOLLECT_CLASS_COLL, 40, 100000,
             fault ? draw(200, 600) : 5);
}

static void dense(bool fault)
{
    call_all("MPI_Alltoallv", PCOLLECT_CLASS_COLL, 100, fault ? 8.0 * m.n : 1e6, fault ? 300 : 20);
}

static void synchronous(bool fault)
{
    call_all(fault ? "MPI_Ssend" : "MPI_Send", PCOLLECT_CLASS_P2P, 100, 8000, fault ? 300 : 10);
}

static void polling(bool fault)
{
    call_all(fault ? "MPI_Test" : "MPI_Wait", PCOLLECT_CLASS_COMPLETION, fault ? 1e6 : 100, 0,
             fault ? draw(150, 400) : 5);
}

static void overlap(bool fault)
{
    call_all("MPI_Waitall", PCOLLECT_CLASS_COMPLETION, 100, 0, fault ? draw(150, 400) : 5);
}

static void communicators(bool fault)
{
    call_all(draw_int(0, 1) ? "MPI_Comm_dup" : "MPI_Comm_split", PCOLLECT_CLASS_COMM,
             fault ? draw_int(30, 500) : 1, 0, fault ? 100 : 1);
}

static void datatypes(bool fault)
{
    call_all("MPI_Type_commit", PCOLLECT_CLASS_TYPE, fault ? draw_int(2000, 50000) : 2, 0,
             fault ? 100 : 0.1);
}

static void small_io(bool fault)
{
    call_all("MPI_File_write_at", PCOLLECT_CLASS_IO, fault ? draw_int(1000, 50000) : 2,
             fault ? 64 : 1e7, fault ? 300 : 5);
}

static void window(bool fault)
{
    call_all("MPI_Win_fence", PCOLLECT_CLASS_RMA, fault ? draw_int(100, 5000) : 2, 0,
             fault ? 300 : 1);
}

/* Adds samples of an instruction in the function, or in another function or a library that it
 * calls, for that time. */
static uint32_t add_point(uint32_t module, uint64_t offset, double each_ms)
{
    uint32_t node = sample_point(&m.sample, m.caller, module, offset);
    for (unsigned r = 0; r < m.n; r++)
        sample_add_samples(&m.sample, (int32_t)r, (uint64_t)(each_ms * ms));
    return node;
}

static void add_libraries(void)
{
    m.sample.modules[1] = (struct pc_profile_module){.path = (char *)"/lib/libc.so", .identity = 2};
    m.sample.modules[2] = (struct pc_profile_module){
        .path = (char *)"libpmix.so", .identity = 3, .flags = PCOLLECT_MODULE_RUNTIME};
    m.sample.modules[3] = (struct pc_profile_module){.path = (char *)"[vdso]", .identity = 4};
    m.sample.p.n_modules = 4;
}

/* The function has them in the C library: windows of 10 us see 20 there, none or one elsewhere. */
static void sampled_faults(bool fault)
{
    struct pc_profile_table *t = add_readings_table();
    faults(fault);
    add_libraries();
    add_readings(t, add_point(1, COPYING, 390), 5, 400, fault ? 20 : 1);
    add_readings(t, add_point(0, ELSEWHERE, 600), 5, 400, draw_int(0, 1));
}

/* The function writes through the C library, which copies for longer, and a thread of the MPI
 * writes for longer, too. */
static void sampled_calls(bool fault)
{
    system_calls(fault);
    add_libraries();
    add_point(0, ELSEWHERE, 300);
    add_point(1, COPYING, 390);
    add_point(1, WRITING, 250);
    m.caller = sample_frame(&m.sample, 0, 2, WRITING);
    add_point(1, WRITING, 400);
}

/* The function misses in 3 to 8 of a thousand instructions, the rest of the program in 0.2. */
static void cache_misses(bool fault)
{
    struct pc_profile_table *t = add_readings_table();
    for (unsigned other = 0; other < 2; other++) {
        uint32_t node = other ? add_point(0, ELSEWHERE, 600) : add_point(0, IN_FUNCTION, 390);
        add_readings(t, node, 3, 400, fault && !other ? draw_int(30, 80) : 2);
        add_readings(t, node, 4, 400, 10000);
    }
}

enum { SHARED = 5 }; /* place of the shared processors in the list */

/* Ranks wait for processes that they spawned, or for each other. */
static void other_jobs(bool fault)
{
    static const char *const columns[] = {"rank", "number", "made_by", "domain", NULL};
    static const uint16_t types[] = {PCOLLECT_COLUMN_RANK, PCOLLECT_COLUMN_NUMBER,
                                     PCOLLECT_COLUMN_STRING, PCOLLECT_COLUMN_DOMAIN};
    if (fault)
        add_cells(add_table("jobs", 2, columns, types),
                  (const uint64_t[]){0, 1, add_string("MPI_Comm_spawn"), 1});
    call_all("MPI_Bcast", PCOLLECT_CLASS_COLL, 5, 8, draw(200, 300));
}

static const struct {
    const char *rule;
    void (*plant)(bool fault);
    bool no_function; /* the finding is about ranks or hosts */
    bool sampled;
} kinds[] = {
    {"imbalance", imbalance, false, false},
    {"serial", serial, false, false},
    {"blocked", blocked, true, false},
    {"blocked", asleep, true, false},
    {"threads", threads, true, false},
    {"shared-processors", shared, true, false},
    {"page-faults", faults, true, false},
    {"system-time", system_calls, true, false},
    {"page-faults", sampled_faults, false, true},
    {"system-time", sampled_calls, false, true},
    {"placement", placement, false, false},
    {"unfinished", unfinished, false, false},
    {"hub", hub, false, false},
    {"chain", chain, false, false},
    {"by-turns", by_turns, false, false},
    {"open-calls", open_calls, false, false},
    {"other-jobs", other_jobs, true, false},
    {"small-messages", small_messages, false, false},
    {"barrier", barrier, false, false},
    {"many-collectives", collectives, false, false},
    {"rooted", rooted, false, false},
    {"dense-collective", dense, false, false},
    {"synchronous-send", synchronous, false, false},
    {"polling", polling, false, false},
    {"overlap", overlap, false, false},
    {"communicators", communicators, false, false},
    {"datatypes", datatypes, false, false},
    {"small-io", small_io, false, false},
    {"window-synchronisation", window, false, false},
    {"cache-misses", cache_misses, false, true},
    {"thread-waits", thread_waits, true, false},
    {"recording", plant_recording, false, false},
};

/* ---- Runs ------------------------------------------------------------------------------------ */

static struct pct_data *make_run(unsigned seed, size_t kind, bool fault, bool load)
{
    begin_run(seed * 100 + (unsigned)kind, kinds[kind].sampled);
    kinds[kind].plant(fault);
    if (load)
        load_machine();
    return end_run();
}

/* The context and the rank of a finding are those of its sentence. */
static void check_evidence(const struct pct_tree *t, const struct pct_finding *f)
{
    char rank[32];
    uint32_t i = 0;
    snprintf(rank, sizeof rank, "ank %d", f->rank);
    while (i < t->n - 1 && t->nodes[i].context != f->context)
        i++;
    assert_non_null(strstr(f->text, f->context ? t->nodes[i].label : f->rank < 0 ? "" : rank));
    assert_true(!f->context || !strcmp(f->more, "--table contexts"));
}

static void first_finding_names_the_fault_and_its_function(void **state)
{
    (void)state;
    for (size_t k = 0; k < PC_ARRAY_LEN(kinds); k++) {
        for (unsigned seed = 1; seed <= N_SEEDS; seed++) {
            struct pct_data *d = make_run(seed, k, true, false);
            const struct pct_finding *first = d->findings->list;
            if (!d->findings->n || strcmp(first->rule, kinds[k].rule) != 0)
                fail_msg("%s, seed %u: %s", kinds[k].rule, seed,
                         d->findings->n ? first->text : "no finding");
            if (!kinds[k].no_function && !strstr(first->text, m.function))
                fail_msg("%s, seed %u: not in %s: %s", kinds[k].rule, seed, m.function,
                         first->text);
            check_evidence(pct_data_tree(d), first);
            pct_data_free(d);
        }
    }
}

/* Text of the first finding of a run of that kind, with and without samples; freed by the
 * caller. */
static char *first_text(const char *rule, bool sampled)
{
    size_t k = 0;
    while (strcmp(kinds[k].rule, rule) != 0 || kinds[k].sampled != sampled)
        k++;
    struct pct_data *d = make_run(1, k, true, false);
    assert_true(d->findings->n > 0);
    char *text = strdup(d->findings->list[0].text);
    pct_data_free(d);
    return text;
}

static void the_work_of_the_system_is_placed_or_it_is_said_how(void **state)
{
    (void)state;
    char want[128];
    char *calls = first_text("system-time", true);
    snprintf(want, sizeof want,
             "100 %% are in the system call write, called by %s (%s:", m.function, m.file);
    assert_non_null(strstr(calls, want));
    char *faults_at = first_text("page-faults", true);
    snprintf(want, sizeof want, " %% are in %s (%s) and the libraries that it calls.", m.function,
             m.file);
    assert_non_null(strstr(faults_at, want));
    char *unplaced = first_text("system-time", false),
         *uncounted = first_text("page-faults", false);
    assert_non_null(strstr(unplaced, "pcollect run --sample 200"));
    assert_non_null(strstr(uncounted, "--events perf::PAGE-FAULTS"));
    assert_non_null(strstr(uncounted, "There are 500,000 page faults per rank: at most 2"));
    begin_run(1, false);
    faults(true);
    m.faults[0] = 20000; /* 50 ms of its time in the kernel */
    assert_non_null(strstr(sentence("page-faults"), " % of the run if each takes 2.5 us or less."));
    free(calls);
    free(faults_at);
    free(unplaced);
    free(uncounted);
}

/* Instructions on edges between calls; half as many more inside of calls, which must have no
 * effect. */
static void add_instructions(double busiest, unsigned skipped)
{
    static const char *const edges[] = {"event",  "rank",  "thread", "from", "to",
                                        "inside", "count", "times",  NULL};
    static const char *const points[] = {"event", "rank", "thread", "read", "skipped", NULL};
    static const uint16_t types[] = {PCOLLECT_COLUMN_STRING, PCOLLECT_COLUMN_RANK,
                                     PCOLLECT_COLUMN_NUMBER, PCOLLECT_COLUMN_NODE,
                                     PCOLLECT_COLUMN_NODE,   PCOLLECT_COLUMN_NUMBER,
                                     PCOLLECT_COLUMN_NUMBER, PCOLLECT_COLUMN_NUMBER};
    static const uint16_t point_types[] = {PCOLLECT_COLUMN_STRING, PCOLLECT_COLUMN_RANK,
                                           PCOLLECT_COLUMN_NUMBER, PCOLLECT_COLUMN_NUMBER,
                                           PCOLLECT_COLUMN_NUMBER};
    struct pc_profile_table *e = add_table("edges", 6, edges, types);
    struct pc_profile_table *p = add_table("counters", 3, points, point_types);
    e->plugin = p->plugin = (char *)"counters";
    for (unsigned r = 0; r < m.n; r++) {
        uint64_t count = (uint64_t)(1e9 * (r == m.late ? busiest : 1));
        add_cells(e, (const uint64_t[]){4, r, 0, 0, 1, 0, count, 10});
        add_cells(e, (const uint64_t[]){4, r, 0, 0, 1, 1, 3000000000u - count, 10});
        add_cells(e, (const uint64_t[]){3, r, 0, 0, 1, 0, 5000, 10});
        add_cells(p, (const uint64_t[]){4, r, 0, 100, skipped});
    }
}

/* The busiest rank computes twice as long as the others, of which there are several. */
static void imbalance_says_why_if_instructions_were_counted(void **state)
{
    static const struct {
        double busiest; /* its instructions divided by those of another rank */
        unsigned skipped;
        const char *text;
    } cases[] = {{2, 0, "it has more work"},
                 {2, 100, "it has more work"},
                 {1, 0, "(+0 % instructions)"},
                 {0.9, 0, "but is slower:"},
                 {1, 100, NULL},
                 {1.2, 0, "a part of the reason"}, /* less than a third of it, but more work */
                 {1.5, 0, "a part of the reason"}};
    (void)state;
    for (unsigned k = 0; k < PC_ARRAY_LEN(cases); k++) {
        begin_run(1, false);
        for (unsigned r = 0; r < m.n; r++)
            m.compute_ms[r] = r == m.late ? 2000 : 1000;
        add_instructions(cases[k].busiest, cases[k].skipped);
        struct pct_data *d = end_run();
        assert_true(d->findings->n > 0);
        const char *text = d->findings->list[0].text;
        if (cases[k].text ? !strstr(text, cases[k].text) : strstr(text, "instructions") != NULL)
            fail_msg("case %u: %s", k, text);
        pct_data_free(d);
    }
}

/* The additional work of the busiest rank is in the kernel: page faults and system calls show its
 * cause. */
static void lead_in_the_kernel_without_cause_is_of_the_machine(void **state)
{
    static const struct {
        double system_ms, faults;
        unsigned at;
        unsigned nameless; /* 1: 9 samples of each rank, 2: a fifth of them before MPI_Init */
        bool sampled, machine;
    } cases[] = {
        {600, 2050, IN_FUNCTION, 0, true, true},   {600, 2500, IN_FUNCTION, 0, true, false},
        {300, 2050, IN_FUNCTION, 0, true, false},  {600, 2050, WRITING, 0, true, false},
        {600, 2050, IN_FUNCTION, 0, false, false}, {900, 1900, IN_FUNCTION, 0, true, true},
        {600, 2050, IN_FUNCTION, 1, true, false},  {600, 2050, IN_VDSO, 0, true, false},
        {600, 2050, IN_FUNCTION, 2, true, false}};
    (void)state;
    for (unsigned k = 0; k < PC_ARRAY_LEN(cases); k++) {
        begin_run(1, cases[k].sampled);
        add_libraries();
        uint32_t module = cases[k].at == WRITING ? 1 : cases[k].at == IN_VDSO ? 3 : 0;
        if (cases[k].sampled)
            sample_point(&m.sample, m.caller, module, cases[k].at);
        for (unsigned r = 0; r < m.n; r++) {
            m.compute_ms[r] = r == m.late ? 2000 : 1000;
            if (cases[k].sampled)
                sample_add_samples(&m.sample, (int32_t)r, (uint64_t)(m.compute_ms[r] * ms));
            if (cases[k].nameless == 1)
                m.sample.values[m.sample.p.n_data - 1][SAMPLE_CLOCK_FIELDS * r] = 9;
        }
        if (cases[k].sampled)
            add_samples_from_init(cases[k].nameless == 2 ? 0.8 : 0.99);
        m.system_ms[m.late] = cases[k].system_ms;
        m.faults[m.late] = cases[k].faults;
        struct pct_data *d = end_run();
        assert_true(d->findings->n > 0);
        const char *text = d->findings->list[0].text;
        if (strcmp(d->findings->list[0].rule, "imbalance") != 0 ||
            (strstr(text, "look at the machine") != NULL) != cases[k].machine ||
            !strstr(text, ", where it spends ") != (!cases[k].sampled || cases[k].nameless))
            fail_msg("case %u: %s", k, text);
        pct_data_free(d);
    }
}

static void twin_without_the_fault_has_no_finding(void **state)
{
    (void)state;
    for (size_t k = 0; k < PC_ARRAY_LEN(kinds); k++) {
        for (unsigned seed = 1; seed <= N_SEEDS; seed++) {
            struct pct_data *d = make_run(seed, k, false, false);
            if (d->findings->n)
                fail_msg("twin of %s, seed %u: %s", kinds[k].rule, seed, d->findings->list[0].text);
            pct_data_free(d);
        }
    }
}

static void what_the_machine_does_is_not_blamed_on_the_program(void **state)
{
    (void)state;
    for (size_t k = 0; k < PC_ARRAY_LEN(kinds); k++) {
        for (unsigned seed = 1; seed <= N_SEEDS; seed++) {
            struct pct_data *d = make_run(seed, k, false, true);
            if (d->findings->n != 1 || strcmp(d->findings->list[0].rule, "shared-processors") != 0)
                fail_msg("loaded twin of %s, seed %u: %s", kinds[k].rule, seed,
                         d->findings->n ? d->findings->list[d->findings->n - 1].text : "nothing");
            pct_data_free(d);
        }
    }
}

/* Calls are a finding if processors were free, and none otherwise. A killed run has no delays, but
 * samples. */
static void time_in_mpi_without_a_processor_is_not_blamed_on_the_program(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= N_SEEDS; seed++) {
        for (unsigned load = 0; load < 2; load++) {
            for (int killed = 0; killed < 2; killed++) {
                begin_run(seed, false);
                call_all("MPI_Waitall", PCOLLECT_CLASS_COMPLETION, 100, 0, 250);
                for (unsigned r = 0; r < m.n; r++)
                    m.delayed_ms[r] = load ? 240 : 0;
                m.killed = killed;
                struct pct_data *d = end_run();
                const struct pct_finding *first = d->findings->list;
                assert_int_equal(d->findings->n, !(load && killed));
                assert_string_equal(first ? first->rule : "",
                                    load ? killed ? "" : "shared-processors" : "overlap");
                assert_int_equal(first && strstr(first->text, "processor is not known."),
                                 killed && !load);
                pct_data_free(d);
            }
        }
    }
}

/* A fault may cost more than all delay, but only what is left without delay is certain: that orders
 * the findings, and the fault has both bounds. */
static void findings_are_in_the_order_of_what_is_certain(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= N_SEEDS; seed++) {
        begin_run(seed, false);
        call_all("MPI_Barrier", PCOLLECT_CLASS_COLL, 100, 0, 800);
        for (unsigned r = 0; r < m.n; r++)
            m.delayed_ms[r] = 600;
        struct pct_data *d = end_run();
        assert_int_equal(d->findings->n, 2);
        assert_string_equal(d->findings->list[0].rule, "shared-processors");
        assert_string_equal(d->findings->list[1].rule, "barrier");
        assert_non_null(strstr(d->findings->list[1].text, " % to 44 % of the run (a part is "));
        assert_true(fabs(d->findings->list[1].saves - 800 / 1800.0) < 0.02);
        pct_data_free(d);
    }
}

/* Ranks that have nothing to do lose nothing by it. */
static void delay_of_ranks_that_wait_is_no_loss(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= N_SEEDS; seed++) {
        begin_run(seed, false);
        serial(true);
        for (unsigned r = 0; r < m.n; r++)
            m.delayed_ms[r] = r == m.late ? 0 : 900;
        struct pct_data *d = end_run();
        assert_true(d->findings->n >= 1);
        assert_string_equal(d->findings->list[0].rule, "serial");
        for (size_t i = 1; i < d->findings->n; i++)
            assert_true(d->findings->list[i].saves < 0.06);
        pct_data_free(d);
    }
}

/* The late rank is paused, and the others wait for it: there is no finding. With pauses of equal
 * length the calls are a finding, marked as uncertain; without pauses it is certain. */
static void waiting_for_paused_ranks_is_not_blamed_on_the_program(void **state)
{
    enum { APART, EQUAL, NONE, N };
    (void)state;
    for (unsigned seed = 1; seed <= N_SEEDS; seed++) {
        for (unsigned how = 0; how < N; how++) {
            double list[SAMPLE_RANKS];
            begin_run(seed, false);
            for (unsigned r = 0; r < m.n; r++) {
                list[r] = how == APART && r == m.late ? 0.1 : 800;
                m.paused_ms[r] = how == NONE ? 0 : how == EQUAL || r == m.late ? 805 : 5;
            }
            call("MPI_Barrier", PCOLLECT_CLASS_COLL, 20, 0, list);
            struct pct_data *d = end_run();
            assert_int_equal(d->findings->n, how == APART ? 0 : 1);
            const char *text = how == APART ? "" : d->findings->list[0].text;
            assert_true(how == APART || !strcmp(d->findings->list[0].rule, "barrier"));
            assert_int_equal(strstr(text, "switched their collection off, at most 805.0 ms") !=
                                 NULL,
                             how == EQUAL);
            pct_data_free(d);
        }
    }
}

/* The late rank computes for as long as the others are paused: they did not wait for it. */
static void ranks_that_were_paused_did_not_wait_for_the_busiest(void **state)
{
    (void)state;
    for (unsigned paused = 0; paused < 2; paused++) {
        begin_run(1, false);
        for (unsigned r = 0; r < m.n; r++) {
            m.compute_ms[r] = r == m.late ? 2000 : 1000;
            m.paused_ms[r] = paused && r != m.late ? 1000 : 0;
        }
        call_all("MPI_Allreduce", PCOLLECT_CLASS_COLL, 40, 8, 2);
        struct pct_data *d = end_run();
        assert_int_equal(d->findings->n, paused ? 0 : 1);
        assert_true(paused || !strcmp(d->findings->list[0].rule, "imbalance"));
        pct_data_free(d);
    }
}

static void a_processor_that_is_shared_is_told_from_one_that_is_taken(void **state)
{
    (void)state;
    struct pct_data *d = make_run(1, SHARED, true, false);
    assert_non_null(strstr(d->findings->list[0].text, "ranks share 3 processors on node1"));
    pct_data_free(d);
    d = make_run(1, SHARED, false, true);
    assert_null(strstr(d->findings->list[0].text, "ranks share"));
    pct_data_free(d);
}

/* Ranks that make no such call are not counted. */
static void calls_are_counted_by_the_ranks_that_make_them(void **state)
{
    (void)state;
    for (unsigned some = 0; some < 2; some++) {
        double list[SAMPLE_RANKS];
        begin_run(1, false);
        for (unsigned r = 0; r < m.n; r++)
            list[r] = some && r ? -1 : 400;
        call("MPI_Send", PCOLLECT_CLASS_P2P, 80000, 8, list);
        struct pct_data *d = end_run();
        char wanted[96] = "sends 80,000 messages per rank of 8 bytes on average: ";
        if (some)
            snprintf(
                wanted, sizeof wanted,
                "sends 80,000 messages per rank (on 1 of %u ranks) of 8 bytes on average: ", m.n);
        const char *said = "";
        for (size_t i = 0; i < d->findings->n; i++)
            said = strcmp(d->findings->list[i].rule, "small-messages") ? said
                                                                       : d->findings->list[i].text;
        if (!strstr(said, wanted))
            fail_msg("wanted \"%s\", got \"%s\"", wanted, said);
        pct_data_free(d);
    }
}

/* ---- Bounds ---------------------------------------------------------------------------------- */

/* The greatest saving of a rule's findings; below 0: it has none. */
static double most_of(const struct pct_findings *f, const char *rule)
{
    double most = -1;
    for (size_t i = 0; i < f->n; i++)
        most = strcmp(f->list[i].rule, rule) ? most : fmax(most, f->list[i].saves);
    return most;
}

/* Findings without a value by rank, of a run with a low threshold for each rule. */
static void assert_bounded(const struct pct_data *d, double threshold, size_t *n_found)
{
    double thresholds[PCT_MAX_RULES];
    for (size_t i = 0; i < PCT_MAX_RULES; i++)
        thresholds[i] = threshold;
    struct pct_findings *most = pct_findings_look(d, thresholds, true);
    struct pct_findings *exact = pct_findings_look(d, thresholds, false);
    struct pct_findings *both = pct_findings_make(d, thresholds);
    for (size_t i = 0; i < exact->n; i++)
        if (exact->list[i].saves > most_of(most, exact->list[i].rule) * (1 + 1e-9))
            fail_msg("more than the most: %s", exact->list[i].text);
    assert_int_equal(both->n, exact->n);
    for (size_t i = 0; i < exact->n; i++)
        assert_string_equal(both->list[i].text, exact->list[i].text);
    *n_found += exact->n;
    pct_findings_free(most);
    pct_findings_free(exact);
    pct_findings_free(both);
}

static void no_value_can_find_more_than_statistics_allow(void **state)
{
    size_t n_found = 0;
    (void)state;
    for (size_t k = 0; k < PC_ARRAY_LEN(kinds); k++) {
        for (unsigned seed = 1; seed <= 4 * N_SEEDS; seed++) {
            struct pct_data *d = make_run(seed, k, seed % 2, seed % 4 > 1);
            assert_bounded(d, 0.05, &n_found);
            assert_bounded(d, 1e-4 * draw_int(1, 100), &n_found);
            pct_data_free(d);
        }
    }
    if (n_found < 300)
        fail_msg("%zu findings only", n_found);
}

static void every_rule_has_a_planted_fault(void **state)
{
    (void)state;
    size_t n = 0;
    for (const struct pct_rule *rule; (rule = pct_rule_at(n)); n++) {
        size_t k = 0;
        while (k < PC_ARRAY_LEN(kinds) && strcmp(kinds[k].rule, rule->name) != 0)
            k++;
        if (k == PC_ARRAY_LEN(kinds))
            fail_msg("no fault is planted for the rule %s", rule->name);
    }
    assert_true(n <= PCT_MAX_RULES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_work_of_the_system_is_placed_or_it_is_said_how),
        cmocka_unit_test(first_finding_names_the_fault_and_its_function),
        cmocka_unit_test(lead_in_the_kernel_without_cause_is_of_the_machine),
        cmocka_unit_test(twin_without_the_fault_has_no_finding),
        cmocka_unit_test(imbalance_says_why_if_instructions_were_counted),
        cmocka_unit_test(what_the_machine_does_is_not_blamed_on_the_program),
        cmocka_unit_test(time_in_mpi_without_a_processor_is_not_blamed_on_the_program),
        cmocka_unit_test(findings_are_in_the_order_of_what_is_certain),
        cmocka_unit_test(waiting_for_paused_ranks_is_not_blamed_on_the_program),
        cmocka_unit_test(ranks_that_were_paused_did_not_wait_for_the_busiest),
        cmocka_unit_test(delay_of_ranks_that_wait_is_no_loss),
        cmocka_unit_test(a_processor_that_is_shared_is_told_from_one_that_is_taken),
        cmocka_unit_test(calls_are_counted_by_the_ranks_that_make_them),
        cmocka_unit_test(no_value_can_find_more_than_statistics_allow),
        cmocka_unit_test(every_rule_has_a_planted_fault),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
