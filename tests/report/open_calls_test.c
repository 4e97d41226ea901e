/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Calls that had not ended when a run was killed: they are time in MPI, in the tree, in tables and
 * in the head.
 */
#include "sample.h"

#include "view/report_print.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t ms = 1000000;

static struct sample sample;

static uint64_t first_value(const struct pct_data *d, const char *table, const char *column)
{
    const struct pct_column *c = pct_column_find(pct_table_find(table), column);
    struct pct_value v = pct_table_value(c, d, 0);
    return (uint64_t)v.number + (uint64_t)v.integer;
}

static void print_whole(FILE *out, const struct pct_data *d)
{
    static const struct pct_options options = {.metric = PCT_TIME, .width = 200};
    pct_print_text(out, d, &options);
}

static void print_time(FILE *out, const struct pct_data *d)
{
    static const struct pct_options options = {.metric = PCT_TIME, .width = 200};
    pct_print_tree(out, d, &options, PCT_TIME);
}

static void print_callers(FILE *out, const struct pct_data *d)
{
    static const struct pct_options options = {.metric = PCT_TIME, .width = 200, .bottom_up = true};
    pct_print_tree(out, d, &options, PCT_TIME);
}

static struct pct_data *open_sample(void)
{
    static const struct pct_tree_options options;
    return pct_data_new("open", &sample.p, pct_symbols_new(&sample.p), &options);
}

/* The head says what the time in MPI is without a function of start or end that had not ended. */
static void assert_open_end_is_apart(const struct pct_data *d)
{
    char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);
    static const struct pct_options options = {.metric = PCT_TIME, .width = 200};
    pct_print_head(out, d, &options);
    fclose(out);
    if (!strstr(text, "without MPI_Init and MPI_Finalize 0.0 %, 0 ns"))
        fail_msg("%s", text);
    if (!strstr(text, "at the end   rank 0 in MPI_Finalize in app+0x20 for 800.0 ms"))
        fail_msg("%s", text);
    free(text);
}

/* A rank of which two calls of 100 ms have ended; two that had not ended have the rest of 1 s in
 * MPI: an MPI_Barrier, and another one from where none has ended. */
static struct pct_data *make_run(uint64_t known_ms)
{
    static struct pc_profile_column columns[] = {{(char *)"rank", PCOLLECT_COLUMN_RANK, 0, 0},
                                                 {(char *)"thread", PCOLLECT_COLUMN_NUMBER, 0, 0},
                                                 {(char *)"call", PCOLLECT_COLUMN_NODE, 0, 0},
                                                 {(char *)"time", PCOLLECT_COLUMN_NUMBER, 0, 0}};
    static uint64_t cells[8];
    static struct pc_profile_table table = {.name = (char *)"open_calls",
                                            .plugin = (char *)"",
                                            .n_keys = 2,
                                            .n_columns = 4,
                                            .columns = columns,
                                            .cells = cells};
    sample_begin(&sample);
    sample_clock(&sample);
    sample.ranks[0] = (struct pc_profile_rank){.rank = 0, .host = (char *)"n", .n_threads = 1};
    sample.modules[0] = (struct pc_profile_module){.path = (char *)"/nowhere/app", .identity = 1};
    sample.ops[0] = (struct pc_profile_op){.name = (char *)"MPI_Barrier"};
    sample.ops[1] = (struct pc_profile_op){.name = (char *)"MPI_Init"};
    sample.p.n_ranks = sample.p.world_size = sample.p.n_modules = 1;
    sample.p.n_ops = 2;
    sample.ranks[0].incomplete = true;
    sample.ranks[0].mpi_ns = sample.ranks[0].inside_ns = 1000 * ms;
    sample.ranks[0].mpi_calls = 3;
    sample_op(&sample, sample_frame(&sample, 0, 0, 0x10), 1);
    sample_add(&sample, &(struct sample_calls){0, 1, 100 * ms, 100 * ms, 100 * ms, 0, 0});
    sample_add_samples(&sample, 0, 5 * ms);
    uint32_t barrier = sample_op(&sample, sample_frame(&sample, 0, 0, 0x20), 0);
    sample_add(&sample, &(struct sample_calls){0, 1, 100 * ms, 100 * ms, 100 * ms, 0, 0});
    uint32_t other = known_ms < 800 ? sample_op(&sample, sample_frame(&sample, 0, 0, 0x30), 0) : 0;
    if (other) {
        sample.nodes[other].data = PC_NO_INDEX;
        sample.p.n_data--;
    }
    sample_end(&sample);
    memcpy(cells, (uint64_t[]){0, 0, barrier, known_ms * ms, 0, 1, other, (800 - known_ms) * ms},
           sizeof cells);
    table.n_rows = other ? 2 : 1;
    sample.p.tables = &table;
    sample.p.n_tables = 1;
    return open_sample();
}

struct expected {
    void (*print)(FILE *out, const struct pct_data *d);
    const char *says;
};

static void expect(const struct pct_data *d, const struct expected *texts, size_t n_texts)
{
    for (size_t i = 0; i < n_texts; i++) {
        char *text = NULL;
        size_t n = 0;
        FILE *out = open_memstream(&text, &n);
        texts[i].print(out, d);
        fclose(out);
        if (!strstr(text, texts[i].says))
            fail_msg("%s is not in %s", texts[i].says, text);
        free(text);
    }
}

static void open_calls_are_time_in_mpi(void **state)
{
    static const struct expected texts[] = {
        {print_whole, "   90.0 %           900.0 ms  MPI_Barrier"},
        {print_whole, "   10.0 %           100.0 ms  MPI_Init"},
        {print_whole, "\n  with 800.0 ms (80.0 %) of calls that had not ended: --table open_"},
        {print_whole, "\n  without 800.0 ms (80.0 %) of calls that had not ended: --table "},
        {print_time, "\n  with 800.0 ms (80.0 %) of calls that had not ended: --table open_"},
        {print_time, "   90.0 %  900.0 ms"},
        {print_callers, " MPI_Barrier: 1 call, 1 not ended, mean 100.0 ms\n"},
        {print_time, "MPI_Barrier: 1 call, 1 not ended, mean 100.0 ms\n"},
    };
    static const struct {
        const char *table, *column;
        uint64_t percent; /* thousandths, in the first row */
    } shares[] = {{"primitives", "mpi_exclusive_percent", 10000},
                  {"call_sites", "mpi_exclusive_percent", 10000},
                  {"contexts", "mpi_exclusive_percent", 10000},
                  {"lines", "mpi_inclusive_percent", 20000}}; /* one, as no line is known */
    (void)state;
    struct pct_data *d = make_run(800);
    for (size_t i = 0; i < PC_ARRAY_LEN(shares); i++)
        assert_int_equal(first_value(d, shares[i].table, shares[i].column), shares[i].percent);
    expect(d, texts, PC_ARRAY_LEN(texts));
    pct_data_free(d);
    sample.ops[0].name = (char *)"MPI_Finalize";
    d = open_sample();
    assert_open_end_is_apart(d);
    pct_data_free(d);
}

/* The list of calls has rows for calls that have ended, and says what it has of the others. */
static void a_place_where_no_call_has_ended_is_in_the_tree(void **state)
{
    static const struct expected texts[] = {
        {print_whole, "   70.0 %           700.0 ms  MPI_Barrier in "},
        {print_whole, "\n  with 600.0 ms (60.0 %) of calls that had not ended: --table open_"},
        {print_time, "\n  with 800.0 ms (80.0 %) of calls that had not ended: --table open_"},
        {print_time, "MPI_Barrier: 0 calls, 1 not ended\n"},
    };
    (void)state;
    struct pct_data *d = make_run(600);
    expect(d, texts, PC_ARRAY_LEN(texts));
    pct_data_free(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(open_calls_are_time_in_mpi),
        cmocka_unit_test(a_place_where_no_call_has_ended_is_in_the_tree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
