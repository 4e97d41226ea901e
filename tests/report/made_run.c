/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A run made by hand: see made_run.h.
 */
#include "made_run.h"
#include "analysis/findings/findings.h"
#include "analysis/symbols/symbols_private.h"
#include "tests/seed.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct made m;

double draw(double low, double high)
{
    m.random = m.random * 6364136223846793005u + 1442695040888963407u;
    return low + (high - low) * (double)(m.random >> 11) / 9007199254740992.0;
}

unsigned draw_int(unsigned low, unsigned high)
{
    return low + (unsigned)draw(0, high - low + 0.999);
}

/* main > ... > the function with the fault. */
void begin_run(unsigned seed, bool sampled)
{
    static const char *const words[] = {"advance", "relax",   "gather_forces", "sweep",
                                        "march",   "collide", "stream",        "assemble"};
    static const char *const texts[] = {
        "0-15", "0,2-3",   "PAPI_L3_TCM", "PAPI_TOT_INS", "perf::PAGE-FAULTS",
        "main", "runtime", "program",     "MPI library"};
    memset(&m, 0, sizeof m);
    m.random = test_seed(seed * 7919u + 17);
    m.n = 2 * draw_int(2, 7);
    m.late = draw_int(0, m.n - 1);
    snprintf(m.function, sizeof m.function, "%s_%u", words[draw_int(0, 7)], draw_int(0, 99));
    snprintf(m.file, sizeof m.file, "%s.c", words[draw_int(0, 7)]);
    sample_begin(&m.sample);
    if (sampled)
        sample_clock(&m.sample);
    m.sample.p.exe = (char *)"/bin/program";
    m.sample.p.strings = m.strings;
    for (size_t i = 0; i < PC_ARRAY_LEN(texts); i++)
        add_string(texts[i]);
    m.sample.modules[0] = (struct pc_profile_module){
        .path = (char *)"/bin/program", .identity = 1, .flags = PCOLLECT_MODULE_EXE};
    m.sample.p.n_modules = 1;
    m.sample.p.n_ranks = m.sample.p.world_size = m.n;
    unsigned depth = draw_int(1, MAX_DEPTH);
    for (unsigned i = 0; i <= depth; i++) {
        m.frames[i] = (struct pct_frame){
            i == depth ? m.function : i ? "step" : "main", m.file, 10 + i, false, false, NULL, 0};
        m.caller = sample_frame(&m.sample, m.caller, 0, 0x1000 * (i + 1));
    }
    for (unsigned r = 0; r < m.n; r++) {
        m.compute_ms[r] = draw(990, 1010);
        m.system_ms[r] = 3;
        m.faults[r] = 2000;
        m.delayed_ms[r] = draw(0, 1);
        m.sample.ranks[r] = (struct pc_profile_rank){
            .rank = (int32_t)r, .host = (char *)"node1", .closed = 1, .before_init_ns = 20000000};
    }
}

void begin_ranks(unsigned n)
{
    begin_run(3, false);
    for (unsigned r = m.n; r < n; r++) {
        m.sample.ranks[r] = m.sample.ranks[0];
        m.sample.ranks[r].rank = (int32_t)r;
    }
    m.n = m.sample.p.n_ranks = m.sample.p.world_size = n;
}

void call(const char *name, uint16_t op_class, double calls, double bytes, const double *ms_of)
{
    uint32_t op = m.sample.p.n_ops++;
    m.sample.ops[op] = (struct pc_profile_op){(char *)name, op_class};
    m.last_op = sample_op(&m.sample, m.caller, op);
    double sum_ms = 0;
    for (unsigned r = 0; r < m.n; r++)
        sum_ms += fmax(0, ms_of[r]);
    if (op_class == PCOLLECT_CLASS_COLL)
        add_collective(name, strstr(name, "Gather") || strstr(name, "Scatter") ? (int)m.late : -1,
                       1, sum_ms * ms);
    bool is_broadcast = strstr(name, "cast") != NULL;
    for (unsigned r = 0; r < m.n; r++) {
        if (ms_of[r] < 0)
            continue;
        bool only_sends = is_broadcast && r == m.late, only_receives = is_broadcast && !only_sends;
        sample_add(&m.sample,
                   &(struct sample_calls){.rank = (int32_t)r,
                                          .count = (uint64_t)calls,
                                          .time = (uint64_t)(ms_of[r] * ms),
                                          .min = 1,
                                          .max = (uint64_t)(ms_of[r] * ms),
                                          .sent = only_receives ? 0 : (uint64_t)(calls * bytes),
                                          .received = only_sends ? 0 : (uint64_t)(calls * bytes)});
        m.mpi_ms[r] += ms_of[r];
    }
}

void call_all(const char *name, uint16_t op_class, double calls, double bytes, double each)
{
    double list[SAMPLE_RANKS];
    for (unsigned r = 0; r < m.n; r++)
        list[r] = each * draw(0.98, 1.02);
    call(name, op_class, calls, bytes, list);
}

/* Adds a reduction in which all wait for the rank that computes longest, or is paused. */
void wait_for_all(void)
{
    double list[SAMPLE_RANKS], longest = 0;
    for (unsigned r = 0; r < m.n; r++)
        longest = fmax(longest, m.compute_ms[r] + m.mpi_ms[r] + m.paused_ms[r]);
    for (unsigned r = 0; r < m.n; r++)
        list[r] = longest - m.compute_ms[r] - m.mpi_ms[r] - m.paused_ms[r] + 2;
    call("MPI_Allreduce", PCOLLECT_CLASS_COLL, 40, 8, list);
}

/* ---- Tables ---------------------------------------------------------------------------------- */

struct pc_profile_table *add_table(const char *name, uint32_t n_keys, const char *const *columns,
                                   const uint16_t *types)
{
    uint32_t k = m.sample.p.n_tables++;
    struct pc_profile_table *t = &m.tables[k];
    *t = (struct pc_profile_table){.name = (char *)name,
                                   .plugin = (char *)"",
                                   .n_keys = n_keys,
                                   .columns = m.columns[k],
                                   .cells = m.cells[k]};
    for (; columns[t->n_columns]; t->n_columns++)
        m.columns[k][t->n_columns] = (struct pc_profile_column){
            .name = (char *)columns[t->n_columns],
            .type = types[t->n_columns],
            .combine = t->n_columns < n_keys ? 0 : PCOLLECT_MAX,
            .unit = t->n_columns < n_keys ? PCOLLECT_UNIT_COUNT : PCOLLECT_UNIT_NS};
    m.sample.p.tables = m.tables;
    return t;
}

struct pc_profile_table *add_open_calls(void)
{
    static const char *const columns[] = {"rank", "thread", "call", "time", NULL};
    static const uint16_t types[] = {PCOLLECT_COLUMN_RANK, PCOLLECT_COLUMN_NUMBER,
                                     PCOLLECT_COLUMN_NODE, PCOLLECT_COLUMN_NUMBER};
    return add_table("open_calls", 2, columns, types);
}

void add_cells(struct pc_profile_table *t, const uint64_t *cells)
{
    memcpy(t->cells + (size_t)t->n_rows++ * t->n_columns, cells, t->n_columns * sizeof *cells);
}

uint64_t add_string(const char *text)
{
    uint32_t i = 0;
    while (i < m.sample.p.n_strings && strcmp(m.strings[i], text) != 0)
        i++;
    m.strings[i] = (char *)text;
    m.sample.p.n_strings += i == m.sample.p.n_strings;
    return 1 + i;
}

void add_collective(const char *name, int64_t root, uint64_t domain, double ns)
{
    static const char *const columns[] = {"operation", "root", "domain", "calls", "time", NULL};
    static const uint16_t types[] = {PCOLLECT_COLUMN_STRING, PCOLLECT_COLUMN_RANK,
                                     PCOLLECT_COLUMN_DOMAIN, PCOLLECT_COLUMN_NUMBER,
                                     PCOLLECT_COLUMN_NUMBER};
    if (!m.collectives)
        m.collectives = add_table("collectives", 3, columns, types);
    add_cells(m.collectives,
              (const uint64_t[]){add_string(name), (uint64_t)root, domain, 1, (uint64_t)ns});
}

struct pc_profile_table *add_pairs(void)
{
    static const char *const columns[] = {"source", "destination", "messages", "received", NULL};
    static const uint16_t types[] = {PCOLLECT_COLUMN_RANK, PCOLLECT_COLUMN_RANK,
                                     PCOLLECT_COLUMN_NUMBER, PCOLLECT_COLUMN_NUMBER};
    return add_table("pairs", 2, columns, types);
}

void add_pair(struct pc_profile_table *t, unsigned source, unsigned destination, uint64_t messages)
{
    if (messages)
        add_cells(t, (const uint64_t[]){source, destination, messages, messages});
}

void add_star(uint64_t messages)
{
    struct pc_profile_table *t = add_pairs();
    for (unsigned r = 0; r < m.n; r++)
        add_pair(t, m.late, r, r == m.late ? 0 : messages);
}

void add_line(void)
{
    struct pc_profile_table *t = add_pairs();
    for (unsigned r = 0; r + 1 < m.n; r++)
        add_pair(t, r, r + 1, 40);
}

void add_thread_tables(struct pc_profile_table **sampling, struct pc_profile_table **records)
{
    static const char *const columns[] = {"rank", "thread", "kind", "in_runtime", "delayed", NULL};
    static const char *const samples[] = {"rank",         "thread",          "period",
                                          "compute_time", "compute_squares", NULL};
    static const uint16_t types[] = {PCOLLECT_COLUMN_RANK, PCOLLECT_COLUMN_NUMBER,
                                     PCOLLECT_COLUMN_STRING, PCOLLECT_COLUMN_NUMBER,
                                     PCOLLECT_COLUMN_NUMBER};
    static const uint16_t sample_types[] = {PCOLLECT_COLUMN_RANK, PCOLLECT_COLUMN_NUMBER,
                                            PCOLLECT_COLUMN_NUMBER, PCOLLECT_COLUMN_NUMBER,
                                            PCOLLECT_COLUMN_NUMBER};
    *sampling = add_table("sampling", 2, samples, sample_types);
    *records = add_table("thread_records", 2, columns, types);
}

void add_samples_from_init(double part)
{
    static const char *const columns[] = {"rank", "compute_time", NULL};
    static const uint16_t types[] = {PCOLLECT_COLUMN_RANK, PCOLLECT_COLUMN_NUMBER};
    struct pc_profile_table *t = add_table("sampling", 1, columns, types);
    for (unsigned r = 0; r < m.n; r++)
        add_cells(t, (const uint64_t[]){r, (uint64_t)(m.compute_ms[r] * part * ms)});
}

void add_thread_waits(double waits, double delayed_ms)
{
    struct pc_profile_table *of, *t;
    add_thread_tables(&of, &t);
    for (unsigned r = 0; r < m.n; r++)
        for (unsigned i = 0; i < 3; i++) {
            double ran_ms = m.compute_ms[r] * draw(0.97, 1);
            add_cells(t, (const uint64_t[]){r, i, i ? 7 : 6, (uint64_t)(ran_ms * waits * ms),
                                            i ? (uint64_t)(delayed_ms * ms) : 0});
            add_cells(of, (const uint64_t[]){r, i, (uint64_t)ms, (uint64_t)(ran_ms * ms),
                                             (uint64_t)(ran_ms * 1e6)});
        }
}

void plant_recording(bool fault)
{
    static const char *const columns[] = {"rank", "period",   "compute_time",
                                          "seen", "own_time", NULL};
    static const uint16_t types[] = {PCOLLECT_COLUMN_RANK, PCOLLECT_COLUMN_NUMBER,
                                     PCOLLECT_COLUMN_NUMBER, PCOLLECT_COLUMN_NUMBER,
                                     PCOLLECT_COLUMN_NUMBER};
    struct pc_profile_table *t = add_table("sampling", 1, columns, types);
    double library = fault ? 300 * ms : 5 * ms;
    call_all("MPI_Test", PCOLLECT_CLASS_COMPLETION, 1e6, 0, 10);
    for (uint64_t r = 0; r < m.n; r++)
        add_cells(t, (const uint64_t[]){r, (uint64_t)(10 * ms),
                                        (uint64_t)(m.compute_ms[r] * ms - library),
                                        (uint64_t)(m.compute_ms[r] * ms), (uint64_t)library});
}

void add_readings(struct pc_profile_table *t, uint32_t node, uint64_t event, uint64_t n, uint64_t x)
{
    const uint64_t ns = 10000;
    add_cells(t, (const uint64_t[]){node, event, n, n, n * x, n * ns, n * x * x, 0, n * ns * ns, 0,
                                    n * x * ns, 0});
}

struct pc_profile_table *add_readings_table(void)
{
    static const char *const columns[] = {"context",
                                          "event",
                                          "readings",
                                          "seen",
                                          "count",
                                          "time",
                                          "count_squared_low",
                                          "count_squared_high",
                                          "time_squared_low",
                                          "time_squared_high",
                                          "product_low",
                                          "product_high",
                                          NULL};
    uint16_t types[12] = {PCOLLECT_COLUMN_NODE, PCOLLECT_COLUMN_STRING};
    for (size_t k = 2; k < PC_ARRAY_LEN(types); k++)
        types[k] = PCOLLECT_COLUMN_NUMBER;
    struct pc_profile_table *t = add_table("readings", 2, columns, types);
    t->plugin = (char *)"counters";
    return t;
}

void add_resources(void)
{
    static const char *const columns[] = {"rank",    "system", "minor_faults", "major_faults",
                                          "delayed", "bound",  "blocked",      "paused",
                                          "user",    "on_cpu", "memory",       NULL};
    static const uint16_t types[] = {
        PCOLLECT_COLUMN_RANK,   PCOLLECT_COLUMN_NUMBER, PCOLLECT_COLUMN_NUMBER,
        PCOLLECT_COLUMN_NUMBER, PCOLLECT_COLUMN_NUMBER, PCOLLECT_COLUMN_STRING,
        PCOLLECT_COLUMN_NUMBER, PCOLLECT_COLUMN_NUMBER, PCOLLECT_COLUMN_NUMBER,
        PCOLLECT_COLUMN_NUMBER, PCOLLECT_COLUMN_NUMBER};
    struct pc_profile_table *t = add_table("resources", 1, columns, types);
    for (unsigned r = 0; r < m.n; r++)
        add_cells(
            t, (const uint64_t[]){r, (uint64_t)(m.system_ms[r] * ms), (uint64_t)m.faults[r], 0,
                                  (uint64_t)(m.delayed_ms[r] * ms),
                                  m.bound[r] ? add_string(m.bound[r])
                                  : m.shares ? 2
                                             : 1,
                                  (uint64_t)(m.blocked_ms[r] * ms), (uint64_t)(m.paused_ms[r] * ms),
                                  (uint64_t)(m.user_ms[r] * ms),
                                  (uint64_t)((m.user_ms[r] + m.system_ms[r] - m.others_ms[r]) * ms),
                                  (uint64_t)(m.memory_pages * 4096)});
}

/* Adds what the samples of a killed run tell. */
static void add_sampling(void)
{
    static const char *const columns[] = {
        "rank",        "compute_time", "compute_squares", "mpi_time",
        "mpi_squares", "booked",       "period",          NULL};
    static const uint16_t types[] = {PCOLLECT_COLUMN_RANK,   PCOLLECT_COLUMN_NUMBER,
                                     PCOLLECT_COLUMN_NUMBER, PCOLLECT_COLUMN_NUMBER,
                                     PCOLLECT_COLUMN_NUMBER, PCOLLECT_COLUMN_NUMBER,
                                     PCOLLECT_COLUMN_NUMBER};
    struct pc_profile_table *t = add_table("sampling", 1, columns, types);
    for (unsigned r = 0; r < m.n; r++) {
        m.sample.ranks[r].incomplete = 1;
        add_cells(t, (const uint64_t[]){r, (uint64_t)((m.compute_ms[r] - m.blocked_ms[r]) * ms), 1,
                                        (uint64_t)((m.mpi_ms[r] - m.delayed_ms[r]) * ms), 1, 100,
                                        (uint64_t)(10 * ms)});
    }
}

void load_machine(void)
{
    for (unsigned r = 0; r < m.n; r++) {
        m.delayed_ms[r] = draw(100, 900);
        m.compute_ms[r] += m.delayed_ms[r];
    }
}

struct pct_data *end_run(void)
{
    static const struct pct_tree_options options = {0};
    wait_for_all();
    if (m.killed)
        add_sampling();
    else
        add_resources();
    for (unsigned r = 0; r < m.n; r++) {
        m.sample.ranks[r].mpi_ns = (uint64_t)(m.mpi_ms[r] * ms);
        m.sample.ranks[r].inside_ns = (uint64_t)((m.mpi_ms[r] + m.compute_ms[r]) * ms);
    }
    sample_end(&m.sample);
    struct pct_symbols *symbols = pct_symbols_new(&m.sample.p);
    for (unsigned i = 0; i <= MAX_DEPTH; i++)
        pct_symbols_teach(symbols, m.frame_modules[i], 0x1000 * (i + 1),
                          (struct pct_place){&m.frames[i], 1});
    m.sampled_at[0] = m.sampled_at[1] =
        (struct pct_frame){m.function, m.file, 30, false, false, NULL, 0};
    m.sampled_at[1].function = "update_all";
    pct_symbols_teach(symbols, 0, IN_FUNCTION + 1, (struct pct_place){&m.sampled_at[0], 1});
    pct_symbols_teach(symbols, 0, ELSEWHERE + 1, (struct pct_place){&m.sampled_at[1], 1});
    m.library[0] =
        (struct pct_frame){"__memcpy_avx_unaligned", "memmove.S", 100, false, false, NULL, 0};
    m.library[1] = (struct pct_frame){"__GI___libc_write", "write.c", 26, false, false, NULL, 0};
    m.library[2] = (struct pct_frame){"__brk", "brk.c", 37, false, false, NULL, 0};
    m.library[3] =
        (struct pct_frame){"__vdso_clock_gettime", "vclock.c", 12, false, false, NULL, 0};
    m.library[4] = (struct pct_frame){"rename", "rename.c", 28, false, false, NULL, 0};
    if (m.sample.p.n_modules > 1) {
        pct_symbols_teach(symbols, 1, COPYING + 1, (struct pct_place){&m.library[0], 1});
        pct_symbols_teach(symbols, 1, WRITING + 1, (struct pct_place){&m.library[1], 1});
        pct_symbols_teach(symbols, 1, SHRINKING + 1, (struct pct_place){&m.library[2], 1});
        pct_symbols_teach(symbols, 1, READING_CLOCK + 1, (struct pct_place){&m.library[3], 1});
        pct_symbols_teach(symbols, 1, RENAMING + 1, (struct pct_place){&m.library[4], 1});
    }
    struct pct_data *d = pct_data_new("made", &m.sample.p, symbols, &options);
    d->findings = pct_findings_make(d, NULL);
    return d;
}

const char *sentence(const char *rule)
{
    static char text[1024];
    struct pct_data *d = end_run();
    text[0] = '\0';
    for (size_t i = 0; i < d->findings->n; i++)
        if (!strcmp(d->findings->list[i].rule, rule))
            snprintf(text, sizeof text, "%s", d->findings->list[i].text);
    pct_data_free(d);
    return text;
}

static int compare_bins(const void *a, const void *b)
{
    enum { KEYS = 3 };
    const uint64_t *x = a, *y = b;
    for (unsigned k = 0; k < KEYS; k++)
        if (x[k] != y[k])
            return x[k] < y[k] ? -1 : 1;
    return 0;
}

void add_course(void)
{
    enum { WIDTH = 1 << 24, CHANGE = 5 * WIDTH + WIDTH / 4, END = 16 * WIDTH };
    static const char *const columns[] = {
        "rank",           "start",    "width",    "calls",    "samples", "bytes_sent",
        "bytes_received", "mpi_time", "cpu_time", "computed", NULL};
    static const uint16_t types[] = {PCOLLECT_COLUMN_RANK,   PCOLLECT_COLUMN_NUMBER,
                                     PCOLLECT_COLUMN_NUMBER, PCOLLECT_COLUMN_NUMBER,
                                     PCOLLECT_COLUMN_NUMBER, PCOLLECT_COLUMN_NUMBER,
                                     PCOLLECT_COLUMN_NUMBER, PCOLLECT_COLUMN_NUMBER,
                                     PCOLLECT_COLUMN_NUMBER, PCOLLECT_COLUMN_NUMBER};
    struct pc_profile_table *t = add_table("series", 3, columns, types);
    for (unsigned k = 3; k < 7; k++)
        t->columns[k].unit = PCOLLECT_UNIT_COUNT;
    for (uint64_t r = 0; r < 2; r++)
        for (uint64_t at = 0; at < END;) {
            uint64_t width = at < CHANGE ? WIDTH : 2 * WIDTH, begin = at / width * width;
            uint64_t end = at < CHANGE && begin + width > CHANGE ? CHANGE : begin + width;
            add_cells(t,
                      (const uint64_t[]){r, 64 * WIDTH + begin, width, 3, 0, 8, 8, end - at, 0, 0});
            at = end;
        }
    qsort(t->cells, t->n_rows, t->n_columns * sizeof *t->cells, compare_bins);
}

static int compare_tables(const void *a, const void *b)
{
    return strcmp(((const struct pc_profile_table *)a)->name,
                  ((const struct pc_profile_table *)b)->name);
}

/* Sorts tables and strings, as a file needs them. */
static void sort_tables(void)
{
    char *before[MAX_STRINGS];
    memcpy(before, m.strings, sizeof before);
    qsort(m.tables, m.sample.p.n_tables, sizeof *m.tables, compare_tables);
    qsort(m.strings, m.sample.p.n_strings, sizeof *m.strings, pc_by_text);
    for (uint32_t i = 0; i < m.sample.p.n_tables; i++) {
        struct pc_profile_table *t = &m.tables[i];
        for (uint32_t k = 0; k < t->n_rows * t->n_columns; k++)
            if (t->columns[k % t->n_columns].type == PCOLLECT_COLUMN_STRING && t->cells[k])
                t->cells[k] = add_string(before[t->cells[k] - 1]);
    }
}

int write_run(const char *path)
{
    struct pc_error error = {""};
    sort_tables();
    int err = pc_pcol_write(&m.sample.p, path, 0, &error);
    if (err)
        fprintf(stderr, "%s\n", error.text);
    return err ? 1 : 0;
}
