/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The tables `estimates` and `ratios` of a profile made by hand: windows at two instructions of a
 * function are one context, whose value and error follow by arithmetic; one context has too few
 * windows, and most windows of another one ended elsewhere. A damaged table has no rows, and
 * nothing crashes. `counters_test -w FILE` writes the profile, for the test of pages.
 */
#include "sample.h"

#include "analysis/counters/estimates.h"
#include "analysis/symbols/symbols_private.h"
#include "view/report_print.h"
#include "view/stat_print.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    MOST_ROWS = 16,
    N_CELLS = 14,
    COUNTERS = 4,
    FIELDS = SAMPLE_FIELDS + SAMPLE_CLOCK_FIELDS + COUNTERS
};
enum { MISSES = 1, CYCLES, INSTRUCTIONS, FAULTS };
enum { MAIN = 0x1000, SOLVE = 0x2000, BRIEF = 0x3000, LEFT = 0x4000 };

enum { WINDOW_NS = 100000 };
static const double common = (double)PCT_LENGTH_NS / WINDOW_NS;
static const uint64_t ms = 1000000;

static struct made {
    struct sample sample;
    struct pc_profile_field fields[FIELDS];
    struct pc_stat stats[SAMPLE_NODES][FIELDS - SAMPLE_FIELDS];
    struct pc_profile_table table;
    uint64_t cells[MOST_ROWS * N_CELLS];
} m;

static struct pc_profile_column columns[N_CELLS] = {
    {(char *)"context", PCOLLECT_COLUMN_NODE, 0, PCOLLECT_UNIT_COUNT},
    {(char *)"event", PCOLLECT_COLUMN_STRING, 0, PCOLLECT_UNIT_COUNT},
    {(char *)"readings", PCOLLECT_COLUMN_NUMBER, PCOLLECT_SUM, PCOLLECT_UNIT_COUNT},
    {(char *)"seen", PCOLLECT_COLUMN_NUMBER, PCOLLECT_SUM, PCOLLECT_UNIT_COUNT},
    {(char *)"count", PCOLLECT_COLUMN_NUMBER, PCOLLECT_SUM, PCOLLECT_UNIT_COUNT},
    {(char *)"time", PCOLLECT_COLUMN_NUMBER, PCOLLECT_SUM, PCOLLECT_UNIT_NS},
    {(char *)"count_squared_low", PCOLLECT_COLUMN_NUMBER, PCOLLECT_SUM, PCOLLECT_UNIT_COUNT},
    {(char *)"count_squared_high", PCOLLECT_COLUMN_NUMBER, PCOLLECT_SUM, PCOLLECT_UNIT_COUNT},
    {(char *)"time_squared_low", PCOLLECT_COLUMN_NUMBER, PCOLLECT_SUM, PCOLLECT_UNIT_COUNT},
    {(char *)"time_squared_high", PCOLLECT_COLUMN_NUMBER, PCOLLECT_SUM, PCOLLECT_UNIT_COUNT},
    {(char *)"product_low", PCOLLECT_COLUMN_NUMBER, PCOLLECT_SUM, PCOLLECT_UNIT_COUNT},
    {(char *)"product_high", PCOLLECT_COLUMN_NUMBER, PCOLLECT_SUM, PCOLLECT_UNIT_COUNT},
    {(char *)"window", PCOLLECT_COLUMN_NUMBER, PCOLLECT_SUM, PCOLLECT_UNIT_NS},
    {(char *)"weight", PCOLLECT_COLUMN_NUMBER, PCOLLECT_SUM, PCOLLECT_UNIT_COUNT},
};

static char *strings[] = {(char *)"PAPI_L3_TCM", (char *)"PAPI_TOT_CYC", (char *)"PAPI_TOT_INS",
                          (char *)"perf::PAGE-FAULTS"};

/* ---- Making ---------------------------------------------------------------------------------- */

static uint32_t add_point(uint32_t parent, uint64_t offset, uint64_t samples, uint64_t begun,
                          uint64_t stayed)
{
    uint32_t node = sample_point(&m.sample, parent, 0, offset);
    uint32_t data = m.sample.nodes[node].data;
    const uint64_t values[] = {samples, samples * ms, begun, begun, stayed, 0};
    struct pc_profile_data *d = &m.sample.data[data];
    for (unsigned k = 0; k < PC_ARRAY_LEN(values); k++)
        m.stats[data][k] = (struct pc_stat){.n = 1,
                                            .sum = values[k],
                                            .sum_squares = (pc_u128)values[k] * values[k],
                                            .min = values[k],
                                            .max = values[k]};
    d->stats = m.stats[data];
    d->n_ranks = 1;
    d->ranks = NULL;
    d->values = NULL;
    return node;
}

/* n windows with so many events in each. The squares are split as a sum over threads may be. */
static void add_windows(uint32_t node, uint64_t event, uint64_t n, uint64_t in_window, uint64_t ns)
{
    const uint64_t xx = n * in_window * in_window, tt = n * ns * ns, xt = n * in_window * ns;
    const uint64_t row[N_CELLS] = {
        node, event, n, in_window ? n : 0, n * in_window, n * ns, xx, 0, tt, 0, xt, 0, ns, n};
    memcpy(m.cells + (size_t)m.table.n_rows++ * N_CELLS, row, sizeof row);
}

/* n windows of 100 us with x events in each us. */
static void add_readings(uint32_t node, uint64_t event, uint64_t n, uint64_t x)
{
    add_windows(node, event, n, x * WINDOW_NS / 1000, WINDOW_NS);
}

/* 400 samples of 1 ms: 150 in solve, at two instructions, 10 in brief, 40 in left, 200 in main. */
static void make(void)
{
    memset(&m, 0, sizeof m);
    struct sample *s = &m.sample;
    sample_begin(s);
    sample_clock(s);
    memcpy(m.fields, s->fields, sizeof s->fields);
    static char *const counters[COUNTERS] = {(char *)"begun", (char *)"begun_long",
                                             (char *)"stayed", (char *)"stayed_long"};
    for (unsigned k = 0; k < COUNTERS; k++) {
        m.fields[FIELDS - COUNTERS + k] = s->fields[SAMPLES];
        m.fields[FIELDS - COUNTERS + k].plugin = (char *)"counters";
        m.fields[FIELDS - COUNTERS + k].name = counters[k];
    }
    s->p.fields = m.fields;
    s->p.n_fields = FIELDS;
    s->modules[0] = (struct pc_profile_module){
        .path = (char *)"/bin/program", .identity = 1, .flags = PCOLLECT_MODULE_EXE};
    s->ranks[0] = (struct pc_profile_rank){.host = (char *)"node17", .n_threads = 1};
    s->p.n_modules = s->p.n_ranks = s->p.world_size = 1;
    s->p.strings = strings;
    s->p.n_strings = PC_ARRAY_LEN(strings);
    s->p.tables = &m.table;
    s->p.n_tables = 1;
    m.table = (struct pc_profile_table){.name = (char *)"readings",
                                        .plugin = (char *)"counters",
                                        .n_keys = 2,
                                        .n_columns = N_CELLS,
                                        .columns = columns,
                                        .cells = m.cells};
    uint32_t in_main = sample_frame(s, 0, 0, MAIN);
    add_point(in_main, MAIN + 0x80, 200, 0, 0);
    uint32_t first = add_point(in_main, SOLVE, 100, 120, 80);
    uint32_t second = add_point(in_main, SOLVE + 8, 50, 60, 40);
    uint32_t brief = add_point(in_main, BRIEF, 10, 10, 10);
    uint32_t left = add_point(in_main, LEFT, 40, 100, 49);
    add_readings(first, CYCLES, 30, 10);
    add_readings(first, INSTRUCTIONS, 50, 4);
    add_readings(second, CYCLES, 20, 10);
    add_readings(second, INSTRUCTIONS, 50, 8);
    add_readings(second, FAULTS, 40, 1);
    add_readings(brief, INSTRUCTIONS, 10, 5);
    add_readings(left, INSTRUCTIONS, 49, 2);
}

static struct pct_data *open_made(void)
{
    static const struct pct_frame in_main = {"main", "/src/p.c", 9, false, false},
                                  in_solve = {"solve", "/src/p.c", 20, false},
                                  in_brief = {"brief", "/src/p.c", 30, false},
                                  in_left = {"left", "/src/p.c", 40, false};
    static const struct pct_tree_options options;
    struct pct_symbols *symbols = pct_symbols_new(&m.sample.p);
    pct_symbols_teach(symbols, 0, MAIN, (struct pct_place){&in_main, 1});
    /* An instruction is looked up as if the return address were the next byte. */
    pct_symbols_teach(symbols, 0, MAIN + 0x81, (struct pct_place){&in_main, 1});
    pct_symbols_teach(symbols, 0, SOLVE + 1, (struct pct_place){&in_solve, 1});
    pct_symbols_teach(symbols, 0, SOLVE + 9, (struct pct_place){&in_solve, 1});
    pct_symbols_teach(symbols, 0, BRIEF + 1, (struct pct_place){&in_brief, 1});
    pct_symbols_teach(symbols, 0, LEFT + 1, (struct pct_place){&in_left, 1});
    return pct_data_new("made", &m.sample.p, symbols, &options);
}

/* The table as the command prints it, in tsv or as text; the caller frees it. */
static char *print(const struct pct_data *d, const char *table, enum pct_format format)
{
    char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);
    const struct pct_options o = {.format = format, .table_name = table};
    assert_non_null(out);
    pct_print_table(out, d, pct_table_find(table), &o);
    fclose(out);
    return text;
}

static void expect(const char *text, const char *wanted)
{
    if (!strstr(text, wanted))
        print_message("# wanted: %s\n# in:\n%s\n", wanted, text);
    assert_non_null(strstr(text, wanted));
}

static const struct pct_estimate_row *find(const struct pct_data *d, uint32_t event,
                                           const char *function)
{
    for (size_t i = 0; i < pct_data_estimates(d)->n; i++) {
        const struct pct_estimate_row *r = &pct_data_estimates(d)->rows[i];
        const char *label = pct_data_functions(d)->nodes[r->context].label;
        if (r->event == event && !strncmp(label, function, strlen(function)))
            return r;
    }
    return NULL;
}

static void near(double got, double wanted)
{
    if (!(fabs(got - wanted) <= 1e-9 * fabs(wanted)))
        print_message("# %.15g, wanted %.15g\n", got, wanted);
    assert_true(fabs(got - wanted) <= 1e-9 * fabs(wanted));
}

/* ---- Tests ----------------------------------------------------------------------------------- */

static void the_profile_is_valid(void **state)
{
    (void)state;
    struct pc_error error = {""};
    make();
    int err = pc_profile_check(&m.sample.p, &error);
    if (err)
        print_message("# %s\n", error.text);
    assert_int_equal(err, 0);
}

/* 100 windows of solve: 600 instructions in 100 us, each window 200 off the mean; 150 ms of CPU
 * time, of which 10 ms were seen, with the variance of 150 of 400 samples. */
static void test_estimates(void **state)
{
    (void)state;
    make();
    struct pct_data *d = open_made();
    assert_int_equal(pct_data_estimates(d)->n, 5);
    const struct pct_estimate_row *r = find(d, INSTRUCTIONS, "solve");
    double rate = 0.006, time = 150e6, seen = 10e6 / time;
    double var_rate = (1 - seen) * 100 / 99.0 * (100 * 40000) / 1e14 + pow(rate * common, 2);
    double var_time = 150 * (1 - 150 / 400.0) * 1e12;
    assert_non_null(r);
    assert_int_equal(r->e.trust, PCT_TRUST_FULL);
    assert_int_equal(r->e.n, 100);
    near(r->e.value, rate * time);
    near(r->e.error, (1.96 + 2.4 / 99) * sqrt(time * time * var_rate + rate * rate * var_time));
    /* One context of two instructions. */
    r = find(d, CYCLES, "solve");
    assert_non_null(r);
    assert_int_equal(r->e.n, 50);
    near(r->e.value, 0.01 * time);
    near(r->e.error, (1.96 + 2.4 / 49) * 0.01 * sqrt(var_time + pow(time * common, 2)));
    near(r->share, 1);
    r = find(d, INSTRUCTIONS, "brief");
    assert_non_null(r);
    assert_int_equal(r->e.trust, PCT_TRUST_FEW);
    near(r->e.value, 0.005 * 10e6);
    near(r->share, 50000 / (900000.0 + 50000 + 80000));
    r = find(d, INSTRUCTIONS, "left");
    assert_non_null(r);
    assert_int_equal(r->e.trust, PCT_TRUST_MIXED);
    near(r->e.value, 0.002 * 40e6);
    assert_null(find(d, INSTRUCTIONS, "main"));
    assert_null(find(d, CYCLES, "brief"));
    pct_data_free(d);
}

/* Windows of two lengths: if most of the long ones stayed in the context, only their additional
 * events count. */
static void test_difference_of_lengths(void **state)
{
    (void)state;
    for (int stayed = 0; stayed < 2; stayed++) {
        make();
        uint32_t solve = (uint32_t)m.cells[0];
        add_windows(solve, FAULTS, 60, 500, 4 * WINDOW_NS);
        if (stayed)
            for (unsigned data = 0; data < m.sample.p.n_data; data++)
                m.stats[data][FIELDS - SAMPLE_FIELDS - 1].sum = 100;
        struct pct_data *d = open_made();
        const struct pct_estimate_row *r = find(d, FAULTS, "solve");
        assert_non_null(r);
        assert_int_equal(r->e.n, stayed ? 100 : 40);
        assert_int_equal(r->e.trust, PCT_TRUST_FULL);
        near(r->e.value, (stayed ? 400.0 / (3 * WINDOW_NS) : 100.0 / WINDOW_NS) * 150e6);
        assert_true(stayed ? r->e.common == 0 : r->e.common == common);
        pct_data_free(d);
    }
}

/* Older profiles have neither lengths nor weights. */
static void test_older_table(void **state)
{
    (void)state;
    make();
    char *names[2] = {columns[N_CELLS - 2].name, columns[N_CELLS - 1].name};
    columns[N_CELLS - 2].name = (char *)"something";
    columns[N_CELLS - 1].name = (char *)"else";
    struct pct_data *d = open_made();
    const struct pct_estimate_row *r = find(d, INSTRUCTIONS, "solve");
    assert_non_null(r);
    near(r->e.value, 0.006 * 150e6);
    near(r->e.common, common);
    pct_data_free(d);
    columns[N_CELLS - 2].name = names[0];
    columns[N_CELLS - 1].name = names[1];
}

static void test_ratios(void **state)
{
    (void)state;
    make();
    struct pct_data *d = open_made();
    assert_int_equal(pct_data_estimates(d)->n_ratios, 3);
    const struct pct_ratio_row *r = &pct_data_estimates(d)->ratios[0];
    double part = 100 / 99.0 * (1 - 10e6 / 150e6) * 100 * 40000 / 1e14;
    assert_string_equal(r->kind->name, "ipc");
    near(r->e.value, 0.6);
    near(r->e.error, (1.96 + 2.4 / 49) * sqrt(part) / 0.01);
    assert_int_equal(r->e.n, 50);
    assert_string_equal(pct_data_estimates(d)->ratios[1].kind->name, "frequency");
    near(pct_data_estimates(d)->ratios[1].e.value, 0.01);
    r = &pct_data_estimates(d)->ratios[2];
    assert_string_equal(r->kind->name, "page_faults");
    near(r->e.value, 1000);
    assert_int_equal(r->part, FAULTS);
    assert_int_equal(r->whole, 0);
    pct_data_free(d);
}

/* The name without modifiers, and the modes in which events are counted (user, kernel). */
static void test_names_with_modifiers(void **state)
{
    static const struct {
        const char *event;
        size_t length;
        unsigned sides;
    } cases[] = {
        {"PAPI_TOT_INS", 12, 3},
        {"PAPI_TOT_INS:u", 12, 1},
        {"PAPI_TOT_INS:u=1", 12, 1},
        {"PAPI_TOT_INS:u=0", 12, 2},
        {"PAPI_TOT_INS:U:K", 12, 3},
        {"PAPI_TOT_INS:k=0:mg=1", 12, 1},
        {"perf::CYCLES", 12, 3},
        {"perf::CYCLES:k", 12, 2},
        {"perf::CYCLES:precise=2", 12, 3},
        {"cycles:uk", 6, 3},
        {"cycles:ku", 6, 3},
        {"arm_ac57::L1D:READ:u", 18, 1},
        {"perf::u", 7, 3},
        {"r08", 3, 3},
        {":u", 2, 3},
        {"", 0, 3},
    };
    (void)state;
    for (size_t i = 0; i < PC_ARRAY_LEN(cases); i++) {
        unsigned sides;
        assert_int_equal(pct_event_base(cases[i].event, &sides), cases[i].length);
        assert_int_equal(sides, cases[i].sides);
    }
}

/* So are those of pcollect stat: 3 instructions per cycle only if both are of the same sides, and
 * GHz only of cycles of both sides, as the clock is. */
static void test_ratios_of_counted_sides(void **state)
{
    static const struct {
        const char *cycles, *instructions;
        bool user_only; /* of the instructions: the kernel's may not be counted */
        const char *ghz, *ipc;
    } cases[] = {
        {"cycles", "instructions", false, "1 GHz", "3 per cycle"},
        {"cycles:u", "instructions:u", false, NULL, "3 per cycle"},
        {"cycles:u", "instructions", true, NULL, "3 per cycle"},
        {"cycles:u", "instructions", false, NULL, NULL},
        {"cycles:u", "instructions:k", false, NULL, NULL},
        {"cycles:uk", "perf::INSTRUCTIONS", false, "1 GHz", "3 per cycle"},
        {"cycles", "instructions:u", false, "1 GHz", NULL},
    };
    (void)state;
    for (size_t i = 0; i < PC_ARRAY_LEN(cases); i++) {
        const struct pct_stat_event events[] = {{.name = cases[i].cycles, .first = cases[i].cycles},
                                                {.name = cases[i].instructions,
                                                 .first = cases[i].instructions,
                                                 .user_only = cases[i].user_only}};
        const struct pct_stat_figure figures[] = {{.known = true, .value = 1e9, .share = 1},
                                                  {.known = true, .value = 3e9, .share = 1}};
        struct pct_stat s = {.events = events, .n = PC_ARRAY_LEN(events)};
        const struct pct_stat_block b = {
            .figures = figures, .elapsed_s = 1, .clock = {.known = true, .value = 1e9}};
        char *text = NULL;
        size_t n = 0;
        FILE *out = open_memstream(&text, &n);
        assert_non_null(out);
        pct_stat_put(out, &s, PCT_STAT_TEXT, &b);
        fclose(out);
        assert_int_equal(strstr(text, "GHz") != NULL, cases[i].ghz != NULL);
        assert_int_equal(strstr(text, "per cycle") != NULL, cases[i].ipc != NULL);
        assert_true(!cases[i].ghz || strstr(text, cases[i].ghz));
        assert_true(!cases[i].ipc || strstr(text, cases[i].ipc));
        free(text);
    }
}

/* Ratios are of events of the same sides. */
static void test_ratios_of_modified_events(void **state)
{
    (void)state;
    char *plain[2] = {strings[CYCLES - 1], strings[INSTRUCTIONS - 1]};
    strings[CYCLES - 1] = (char *)"perf::CYCLES:u";
    strings[INSTRUCTIONS - 1] = (char *)"PAPI_TOT_INS:u=1";
    make();
    struct pct_data *d = open_made();
    assert_int_equal(pct_data_estimates(d)->n_ratios, 3);
    assert_string_equal(pct_data_estimates(d)->ratios[0].kind->name, "ipc");
    near(pct_data_estimates(d)->ratios[0].e.value, 0.6);
    pct_data_free(d);
    strings[INSTRUCTIONS - 1] = (char *)"PAPI_TOT_INS:k";
    make();
    d = open_made();
    assert_int_equal(pct_data_estimates(d)->n_ratios, 2);
    assert_string_equal(pct_data_estimates(d)->ratios[0].kind->name, "frequency");
    pct_data_free(d);
    strings[CYCLES - 1] = plain[0];
    strings[INSTRUCTIONS - 1] = plain[1];
}

/* 25 misses in 1,000 ns are 25 x 64 bytes there: 1.6 GB/s. */
static void test_bandwidth(void **state)
{
    (void)state;
    make();
    m.table.n_rows = 0;
    add_readings((uint32_t)m.cells[0], MISSES, 40, 20);
    add_readings((uint32_t)m.cells[0], MISSES, 40, 30);
    struct pct_data *d = open_made();
    assert_int_equal(pct_data_estimates(d)->n_ratios, 1);
    const struct pct_ratio_row *r = &pct_data_estimates(d)->ratios[0];
    assert_string_equal(r->kind->name, "memory_bandwidth");
    assert_string_equal(r->kind->unit, "GB/s");
    near(r->e.value, 1.6);
    double part = (1 - 8e6 / 150e6) * 80 / 79.0 * 80 * 500 * 500 / 64e12;
    near(r->e.error, 64 * (1.96 + 2.4 / 79) * sqrt(part + pow(0.025 * common, 2)));
    pct_data_free(d);
}

static void test_what_is_printed(void **state)
{
    (void)state;
    make();
    struct pct_data *d = open_made();
    char *text = print(d, "estimates", PCT_FORMAT_TSV);
    expect(text, "event\testimate\terror\tmark\treadings\tseen\tread_s\tcpu_exclusive_s\tpercent\t"
                 "function\tpath\tcontext\n");
    expect(text, "PAPI_TOT_INS\t900000\t");
    expect(text, "PAPI_TOT_INS\t50000\t\tfew\t10\t10\t0.001000000\t0.010000000\t4.854\tbrief@p.c\t"
                 "main@p.c > brief@p.c\t");
    expect(text, "PAPI_TOT_INS\t80000\t\tmixed\t49\t");
    free(text);
    text = print(d, "estimates", PCT_FORMAT_TEXT);
    expect(text, "900 k +- 130 k  ");
    expect(text, " 80 k mixed  ");
    expect(text, "           few  ");
    free(text);
    text = print(d, "ratios", PCT_FORMAT_TEXT);
    expect(text, " 0.60 +- 0.04  ");
    /* Only the length of the windows is uncertain. */
    expect(text, " 0.01000 +- 0.00016  ");
    expect(text, " 1000 +- 16  ");
    free(text);
    pct_data_free(d);
}

/* Squares above 2^64, as sums of columns have them. */
static void test_great_numbers(void **state)
{
    (void)state;
    make();
    uint64_t *cells = m.cells + N_CELLS;
    m.table.cells = cells;
    const pc_u128 x = 300000000000, xx = x * x;
    cells[4] = 50 * (uint64_t)x;
    cells[6] = 50 * (uint32_t)xx;
    cells[7] = 50 * (uint64_t)(xx >> 32);
    cells[10] = (uint32_t)(50 * x * WINDOW_NS);
    cells[11] = (uint64_t)(50 * x * WINDOW_NS >> 32);
    m.table.n_rows = 1;
    struct pct_data *d = open_made();
    assert_int_equal(pct_data_estimates(d)->n, 1);
    /* All windows have the mean: only the time is uncertain. */
    double var_time = 150 * (1 - 150 / 400.0) * 1e12;
    const struct pct_estimate *e = &pct_data_estimates(d)->rows[0].e;
    near(e->value, 3e6 * 150e6);
    near(e->error, (1.96 + 2.4 / 49) * 3e6 * sqrt(var_time + pow(150e6 * common, 2)));
    char *text = print(d, "estimates", PCT_FORMAT_TEXT);
    expect(text, "450 T +- 59 T  ");
    free(text);
    pct_data_free(d);
}

static void test_damage(void **state)
{
    (void)state;
    static char other[] = "other";
    make();
    m.table.plugin = other;
    struct pct_data *d = open_made();
    assert_int_equal(pct_data_estimates(d)->n + pct_data_estimates(d)->n_ratios, 0);
    pct_data_free(d);
    make();
    columns[3].type = PCOLLECT_COLUMN_RANK;
    d = open_made();
    assert_int_equal(pct_data_estimates(d)->n, 0);
    columns[3].type = PCOLLECT_COLUMN_NUMBER;
    pct_data_free(d);
    make();
    for (size_t i = 0; i < m.table.n_rows; i++)
        for (size_t k = 2; k < N_CELLS; k++)
            m.cells[i * N_CELLS + k] = UINT64_MAX - i * k;
    d = open_made();
    for (int format = PCT_FORMAT_TEXT; format <= PCT_FORMAT_MD; format++) {
        if (format == PCT_FORMAT_JSON)
            continue;
        free(print(d, "estimates", (enum pct_format)format));
        free(print(d, "ratios", (enum pct_format)format));
    }
    for (size_t i = 0; i < pct_data_estimates(d)->n; i++)
        assert_true(isfinite(pct_data_estimates(d)->rows[i].e.value) &&
                    isfinite(pct_data_estimates(d)->rows[i].e.error));
    pct_data_free(d);
}

/* Without an estimate whose error is known, the report says so in place of the table. */
static void test_few_readings(void **state)
{
    static const char few[] =
        "\nEvents by context\n"
        "  too few readings to tell an error: --table estimates shows all estimates,\n"
        "  --table counters the totals by rank\n";
    const struct pct_options o = {.width = 80};
    (void)state;
    for (unsigned enough = 0; enough < 2; enough++) {
        char *text = NULL;
        size_t n = 0;
        make();
        if (!enough) {
            m.table.n_rows = 0;
            add_readings((uint32_t)m.cells[0], INSTRUCTIONS, 1, 4);
        }
        struct pct_data *d = open_made();
        FILE *out = open_memstream(&text, &n);
        assert_non_null(out);
        pct_print_estimates(out, d, &o);
        fclose(out);
        if (enough)
            assert_null(strstr(text, "too few"));
        else
            assert_string_equal(text, few);
        free(text);
        pct_data_free(d);
    }
}

static int write_made(const char *path)
{
    struct pc_error error = {""};
    make();
    int err = pc_pcol_write(&m.sample.p, path, 0, &error);
    if (err)
        fprintf(stderr, "counters_test: %s\n", error.text);
    return err ? 1 : 0;
}

int main(int argc, char **argv)
{
    if (argc == 3 && !strcmp(argv[1], "-w"))
        return write_made(argv[2]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_profile_is_valid),
        cmocka_unit_test(test_difference_of_lengths),
        cmocka_unit_test(test_older_table),
        cmocka_unit_test(test_estimates),
        cmocka_unit_test(test_ratios),
        cmocka_unit_test(test_bandwidth),
        cmocka_unit_test(test_names_with_modifiers),
        cmocka_unit_test(test_ratios_of_modified_events),
        cmocka_unit_test(test_ratios_of_counted_sides),
        cmocka_unit_test(test_what_is_printed),
        cmocka_unit_test(test_great_numbers),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_few_readings),
    };
    return cmocka_run_group_tests_name("tables of counters", tests, NULL, NULL);
}
