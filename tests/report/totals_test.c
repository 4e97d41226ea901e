/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Totals, the tree with names, and the tables, on profiles whose figures are known.
 */
#include "sample.h"

#include "analysis/tree/label.h"
#include "analysis/tree/samples.h"
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

static struct pct_data *open_solver(const struct pct_tree_options *options)
{
    sample_solver(&sample);
    struct pct_symbols *symbols = pct_symbols_new(&sample.p);
    sample_teach_solver(symbols);
    return pct_data_new("solver", &sample.p, symbols, options);
}

/* Profiles of some ranks of a job; records of some of these, and of a missing one. */
static void values_find_the_places_of_their_ranks(void **state)
{
    (void)state;
    for (unsigned here = 0; here < 1u << 12; here += 7) {
        struct pc_profile_rank ranks[12] = {0};
        struct pc_profile_node node = {.data = 0};
        int32_t listed[12];
        uint64_t numbers[12], values[12] = {0}, sum = 0;
        bool present[12] = {false};
        uint32_t n = 0, m = 0, first = 0, end = 0;
        for (int32_t r = 0; r < 12; r++)
            if (here >> r & 1)
                ranks[n++].rank = r * r;
        for (int32_t r = 0; r < 12; r += 1 + here % 3) {
            numbers[m] = 100 + (uint64_t)r;
            listed[m++] = r * r;
            sum += here >> r & 1 ? 100 + (uint64_t)r : 0;
        }
        struct pc_stat stat = {0};
        struct pc_profile_data data = {
            .n_ranks = m, .kept = true, .stats = &stat, .ranks = listed, .values = numbers};
        struct pc_profile p = {.n_ranks = n,
                               .ranks = ranks,
                               .n_nodes = 1,
                               .nodes = &node,
                               .n_data = 1,
                               .data = &data,
                               .n_fields = 1};
        struct pct_range told = pct_totals_add_field(&p, 0, 0, values, present);
        for (uint32_t i = 0; i < n; i++) {
            uint64_t value = values[i];
            assert_true(present[i] == (value != 0));
            assert_true(!value || (value - 100) * (value - 100) == (uint64_t)ranks[i].rank);
            first = value && !end ? i : first;
            end = value ? i + 1 : end;
            sum -= value;
        }
        assert_true(sum == 0 && told.first == first && told.end == end);
    }
}

/* The last row is of a damaged table: its lower 32 bits are those of rank 0. */
static void rows_find_the_places_of_their_ranks(void **state)
{
    enum { ROWS = 9 };
    uint64_t cells[ROWS] = {0, 1, 1, 4, 6, 9, 9, 16, 1ull << 32};
    const struct pc_profile_table t = {.n_rows = ROWS, .n_columns = 1, .cells = cells};
    (void)state;
    for (unsigned here = 0; here < 1u << 5; here++) {
        struct pc_profile_rank ranks[5] = {0};
        struct pc_profile p = {.ranks = ranks};
        uint32_t at = 0;
        for (int32_t r = 0; r < 5; r++)
            if (here >> r & 1)
                ranks[p.n_ranks++].rank = r * r;
        for (uint32_t row = 0; row < ROWS; row++) {
            uint32_t k = 0;
            while (k < p.n_ranks && (uint64_t)ranks[k].rank != cells[row])
                k++;
            assert_int_equal(pct_totals_rank_of_row(&p, &t, row, &at), k < p.n_ranks);
            assert_true(k == p.n_ranks || at == k);
        }
    }
}

static void the_samples_are_valid_profiles(void **state)
{
    (void)state;
    struct pc_error error = {""};
    sample_solver(&sample);
    assert_int_equal(pc_profile_check(&sample.p, &error), 0);
    sample_hostile(&sample);
    assert_int_equal(pc_profile_check(&sample.p, &error), 0);
}

/* Allreduce 60 ms x (1 + 2 + 3 + 4), of which the callback's sends are 1 ms x 10. */
static void nested_time_is_counted_once(void **state)
{
    (void)state;
    sample_solver(&sample);
    struct pct_totals *m = pct_totals_new(&sample.p);
    const struct pct_op *reduce = &m->ops[0], *send = &m->ops[2];
    pc_u128 exclusive = 0, ranks = 0, calls = 0;
    assert_true(reduce->calls.sum[PCT_TIME] == 600 * ms);
    assert_true(reduce->calls.sum[PCT_EXCLUSIVE] == 590 * ms);
    assert_true(reduce->calls.sum[PCT_CALLS] == 4000);
    assert_true(send->calls.sum[PCT_CALLS] == 43);
    assert_true(send->calls.sum[PCT_SENT] == 160 + 16 + 1024);
    for (size_t i = 0; i < 4; i++) {
        calls += m->ops[i].calls.sum[PCT_CALLS];
        exclusive += m->ops[i].calls.sum[PCT_EXCLUSIVE];
        ranks += sample.ranks[i].mpi_ns;
    }
    assert_true(exclusive == m->context_mpi_ns);
    assert_true(ranks == m->context_mpi_ns);
    assert_true(m->calls_inside == 40);
    assert_true(calls == m->all.mpi_calls + m->calls_inside);
    pct_totals_free(m);
}

/* Without calls inside of calls no time and no outer call is kept for each node. */
static void calls_alone_take_no_memory(void **state)
{
    (void)state;
    sample_begin(&sample);
    sample.ops[0].name = (char *)"MPI_X";
    sample.p.n_ops = 1;
    uint32_t op = sample_op(&sample, 0, 0);
    sample_add(&sample, &(struct sample_calls){0, 1, 5, 5, 5, 0, 0});
    sample_end(&sample);
    struct pct_totals *m = pct_totals_new(&sample.p);
    assert_null(m->exclusive_ns);
    assert_null(m->outer);
    assert_true(pct_totals_exclusive(m, op) == 5);
    assert_true(pct_totals_exclusive(m, 0) == 0);
    assert_int_equal(pct_totals_outer(m, op), PC_NO_INDEX);
    assert_true(m->context_mpi_ns == 5);
    pct_totals_free(m);
}

static void spreads_name_their_ranks(void **state)
{
    (void)state;
    sample_solver(&sample);
    struct pct_totals *m = pct_totals_new(&sample.p);
    const struct pct_spread reduce = pct_totals_op_time(m, 0), *share = &m->all.share;
    assert_int_equal(reduce.n, 4);
    assert_true(reduce.min == 60 * ms && reduce.min_rank == 0);
    assert_true(reduce.max == 240 * ms && reduce.max_rank == 3);
    assert_int_equal(share->max_rank, 3);
    assert_int_equal(share->max, 39216); /* 400 of 1020 ms */
    /* Rank 0: 1000 - 100 - 2 ms outside MPI; the mean of 898, 797, 696 and 600 less 4.3 us. */
    assert_true(m->all.compute.max == 898 * ms && m->all.compute.max_rank == 0);
    assert_true(m->all.compute_ns == (898 + 797 + 696 + 600) * ms - 4300);
    assert_int_equal(m->all.n_incomplete, 1);
    assert_int_equal(m->all.lost_ranks[PCOLLECT_LOST_CUT], 1);
    pct_totals_free(m);
}

/* Shares that differ by less than what is printed. */
static void shares_are_compared_before_they_are_rounded(void **state)
{
    static const uint64_t mpi[] = {500000, 500001, 499999, 500000}; /* us of a second */
    (void)state;
    sample_begin(&sample);
    sample.p.n_ranks = PC_ARRAY_LEN(mpi);
    for (int32_t r = 0; r < (int32_t)PC_ARRAY_LEN(mpi); r++)
        sample.ranks[r] =
            (struct pc_profile_rank){.rank = r, .inside_ns = 1000000000, .mpi_ns = 1000 * mpi[r]};
    sample_end(&sample);
    struct pct_totals *m = pct_totals_new(&sample.p);
    const struct pct_spread *share = &m->all.share;
    assert_int_equal(share->n, PC_ARRAY_LEN(mpi));
    assert_int_equal(share->min, share->max);
    assert_int_equal(share->min_rank, 2);
    assert_int_equal(share->max_rank, 1);
    pct_totals_free(m);
    sample.ranks[0].inside_ns = sample.ranks[0].mpi_ns = 0; /* that is a share of 0 */
    m = pct_totals_new(&sample.p);
    share = &m->all.share;
    assert_int_equal(share->min, 0);
    assert_int_equal(share->min_rank, 0);
    assert_int_equal(share->max_rank, 1);
    pct_totals_free(m);
}

/* Each rank has another thread that is in MPI all the time: that is more than the wall time, but
 * the rest is never below 0. */
static void times_never_go_below_zero(void **state)
{
    (void)state;
    struct pc_profile_rank r = {.inside_ns = 10, .mpi_ns = 25, .merge_ns = 1};
    assert_int_equal(pct_totals_compute_ns(&r), 0);
    sample_begin(&sample);
    sample.p.n_ranks = 1;
    sample.ops[0].name = (char *)"MPI_X";
    sample.p.n_ops = 1;
    uint32_t outer = sample_op(&sample, 0, 0);
    sample_add(&sample, &(struct sample_calls){0, 1, 5, 5, 5, 0, 0});
    sample_op(&sample, outer, 0);
    sample_add(&sample, &(struct sample_calls){0, 1, 9, 9, 9, 0, 0});
    sample_end(&sample);
    struct pct_totals *m = pct_totals_new(&sample.p);
    assert_true(pct_totals_exclusive(m, outer) == 0);
    pct_totals_free(m);
}

static const char *text_of(const struct pct_data *d, const char *table, const char *column,
                           size_t row)
{
    return pct_table_value(pct_column_find(pct_table_find(table), column), d, row).text;
}

static const char *path_of(const struct pct_data *d, const char *primitive, size_t n)
{
    const struct pct_table *t = pct_table_find("contexts");
    for (size_t i = 0; i < pct_data_contexts(d)->n; i++) {
        struct pct_value v = pct_table_value(pct_column_find(t, "primitive"), d, i);
        if (!strcmp(v.text, primitive) && !n--)
            return text_of(d, "contexts", "path", i);
    }
    return NULL;
}

/* All labels of three levels; some are prefixes of others. */
static void paths_compare_as_their_texts_do(void **state)
{
    static const char *const labels[] = {"a",       "ab",       "a ", "a  b", "a!",
                                         "a \\> b", "\xc3\xbc", "0",  "a"};
    enum { N = PC_ARRAY_LEN(labels), ALL = 1 + N + N * N };
    struct pct_node nodes[ALL] = {{.parent = PC_NO_INDEX, .label = ""}};
    const struct pct_tree t = {.nodes = nodes, .n = ALL};
    (void)state;
    for (uint32_t i = 1; i < ALL; i++)
        nodes[i] = (struct pct_node){.parent = (i - 1) / N, .label = labels[(i - 1) % N]};
    for (uint32_t a = 0; a < ALL; a++)
        for (uint32_t b = 0; b < ALL; b++) {
            struct pct_buf x = {0}, y = {0};
            pct_tree_path_to(&t, a, &x);
            pct_tree_path_to(&t, b, &y);
            int wanted = strcmp(x.data, y.data), got = pct_tree_compare_paths(&t, a, b);
            assert_int_equal((got > 0) - (got < 0), (wanted > 0) - (wanted < 0));
            pct_buf_free(&x);
            pct_buf_free(&y);
        }
}

static void paths_show_inlined_and_nested_calls(void **state)
{
    (void)state;
    struct pct_tree_options options = {0};
    struct pct_data *d = open_solver(&options);
    assert_string_equal(path_of(d, "MPI_Waitall", 0),
                        "main@solver.c:210 > solve@solver.c:131 > exchange@solver.c:77 > "
                        "field::wait@field.h:12");
    assert_string_equal(path_of(d, "MPI_Send", 0),
                        "main@solver.c:210 > solve@solver.c:120 > dot@solver.c:44 > MPI_Allreduce "
                        "> sum<double>(double*, int)@solver.c:31");
    assert_string_equal(path_of(d, "MPI_Send", 1), "libplug.so+0x77");
    assert_string_equal(path_of(d, "MPI_Send", 2), "(cut)");
    pct_data_free(d);

    options.full_paths = true;
    d = open_solver(&options);
    assert_string_equal(path_of(d, "MPI_Init", 0), "main@/src/solver/solver.c:200");
    assert_string_equal(path_of(d, "MPI_Send", 1), "/opt/lib/libplug.so+0x77");
    pct_data_free(d);
}

static pc_u128 sum_column(const struct pct_data *d, const char *table, const char *column)
{
    const struct pct_table *t = pct_table_find(table);
    pc_u128 sum = 0;
    for (size_t i = 0; i < t->count(d); i++)
        sum += pct_table_value(pct_column_find(t, column), d, i).number;
    return sum;
}

/* For each depth contexts are merged and nothing is lost. */
static void totals_agree_between_tables_at_every_depth(void **state)
{
    (void)state;
    static const char *const columns[] = {"calls", "time_s", "bytes_sent", "bytes_received",
                                          "mpi_exclusive_s"};
    for (uint32_t depth = 0; depth < 7; depth++) {
        struct pct_tree_options options = {.depth = depth};
        struct pct_data *d = open_solver(&options);
        for (size_t k = 0; k < PC_ARRAY_LEN(columns); k++)
            assert_true(sum_column(d, "contexts", columns[k]) ==
                        sum_column(d, "primitives", columns[k]));
        pct_tree_sort(pct_data_tree(d), PCT_OF_METRIC, PCT_TIME);
        assert_true(pct_tree_below(pct_data_tree(d), 0).sum[PCT_TIME] ==
                    sum_column(d, "ranks", "mpi_s"));
        assert_true(sum_column(d, "contexts", "mpi_exclusive_s") ==
                    sum_column(d, "ranks", "mpi_s"));
        uint32_t *depths = pct_tree_depths(pct_data_tree(d));
        for (uint32_t i = 0; i < pct_data_tree(d)->n; i++) {
            assert_int_equal(depths[i], pct_tree_depth(pct_data_tree(d), i));
            assert_true(!depth || depths[i] <= depth);
        }
        pct_free(depths);
        pct_data_free(d);
    }
}

/* Sums what each node of a tree has itself, and compares. */
static void assert_sums(const struct pct_tree *t)
{
    for (uint32_t i = 0; i < t->n; i++) {
        struct pct_below seen = pct_tree_below(t, i), sum = {.sum = {0}};
        for (uint32_t k = i; k != PC_NO_INDEX; k = pct_tree_after(t, i, k, true)) {
            struct pct_own own = pct_tree_own(t, k);
            struct pct_below one = {.total = own.self, .computed = own.computed};
            memcpy(one.sum, own.calls.sum, sizeof one.sum);
            pct_below_add(&sum, &one);
        }
        sum.sum[PCT_TIME] = 0;
        for (uint32_t k = i; k != PC_NO_INDEX;) {
            bool nested = t->nodes[k].kind == PCOLLECT_NODE_OP && !t->callers;
            sum.sum[PCT_TIME] += pct_tree_own(t, k).calls.sum[PCT_TIME];
            k = pct_tree_after(t, i, k, !nested);
        }
        for (size_t k = 0; k < PCT_N_METRICS; k++)
            assert_true(seen.sum[k] == sum.sum[k]);
        assert_true(seen.total.ns == sum.total.ns && seen.total.samples == sum.total.samples);
        assert_true(seen.computed.ns == sum.computed.ns);
    }
}

static void figures_of_a_node_are_those_of_all_below_it(void **state)
{
    (void)state;
    for (unsigned callers = 0; callers < 2; callers++)
        for (unsigned grain = PCT_GRAIN_LINE; grain <= PCT_GRAIN_FUNCTION; grain++) {
            struct pct_tree_options options = {.grain = grain, .callers = callers};
            struct pct_data *d = open_solver(&options);
            if (!callers || grain != PCT_GRAIN_CALL)
                assert_sums(pct_data_lines(d));
            pct_data_free(d);
        }
}

static void addresses_that_read_the_same_are_one_context(void **state)
{
    (void)state;
    struct pct_tree_options options = {0};
    sample_hostile(&sample);
    struct pct_symbols *symbols = pct_symbols_new(&sample.p);
    sample_teach_hostile(symbols);
    struct pct_data *d = pct_data_new("hostile", &sample.p, symbols, &options);
    assert_int_equal(pct_data_contexts(d)->n, 1);
    assert_true(sum_column(d, "contexts", "calls") == 2);
    assert_true(sum_column(d, "contexts", "bytes_received") == 14);
    assert_int_equal(pct_data_context_spread(d, 0).max, 30);

    /* The path splits into the right number of frames, whatever characters the names contain. */
    size_t n = 1, wanted = 1;
    for (const char *s = text_of(d, "contexts", "path", 0); (s = strstr(s, " > ")); s += 3)
        n++;
    while (sample_hostile_names[wanted - 1])
        wanted++;
    assert_int_equal(n, wanted);
    pct_data_free(d);
}

static void rows_are_sorted_and_filtered(void **state)
{
    (void)state;
    static const struct {
        const char *table, *sort;
        unsigned percent; /* thousandths */
        size_t order[4], n;
    } cases[] = {
        {"primitives", NULL, 0, {0, 3, 1, 2}, 4},
        {"primitives", "calls", 0, {0, 3, 2, 1}, 4},
        {"primitives", "-calls", 0, {1, 2, 3, 0}, 4},
        {"primitives", "primitive", 0, {0, 1, 2, 3}, 4},
        {"primitives", "-primitive", 0, {3, 2, 1, 0}, 4},
        {"primitives", NULL, 5000, {0, 3, 1}, 3},
        {"primitives", NULL, 100000, {0}, 0},
        {"ranks", NULL, 50000, {0, 1, 2, 3}, 4},
        {"ranks", "mpi_s", 0, {3, 2, 1, 0}, 4},
        {"ranks", "rank", 0, {0, 1, 2, 3}, 4},
        {"ranks", "-rank", 0, {3, 2, 1, 0}, 4},
        {"ranks", "after_s", 0, {0, 1, 2, 3}, 4},
        {"ranks", "-after_s", 0, {0, 1, 2, 3}, 4},
    };
    struct pct_tree_options options = {0};
    struct pct_data *d = open_solver(&options);
    for (size_t i = 0; i < PC_ARRAY_LEN(cases); i++) {
        struct pct_choice choice = {.sort = cases[i].sort, .min_percent = cases[i].percent};
        struct pct_rows rows = pct_table_rows(pct_table_find(cases[i].table), d, &choice);
        assert_int_equal(rows.n, cases[i].n);
        for (size_t k = 0; k < rows.n; k++)
            assert_int_equal(rows.index[k], cases[i].order[k]);
        pct_rows_free(&rows);
    }
    pct_data_free(d);
}

/* Promises that other programs rely on. */
static void the_first_columns_are_the_promised_ones(void **state)
{
    (void)state;
    static const struct {
        const char *table, *columns;
    } promised[] = {
        {"primitives", "primitive calls time_s mpi_exclusive_s mpi_exclusive_percent "},
        {"ranks", "rank host pid wall_s mpi_s "},
        {"contexts", "path primitive calls time_s mpi_exclusive_s mpi_exclusive_percent "},
    };
    for (size_t i = 0; i < PC_ARRAY_LEN(promised); i++) {
        const struct pct_table *t = pct_table_find(promised[i].table);
        struct pct_buf b = {0};
        for (size_t k = 0; k < t->n_columns; k++)
            pct_buf_format(&b, "%s ", t->columns[k].name);
        assert_int_equal(strncmp(b.data, promised[i].columns, strlen(promised[i].columns)), 0);
        pct_buf_free(&b);
    }
}

static void every_column_is_documented_and_unique(void **state)
{
    (void)state;
    for (size_t i = 0; i < pct_n_tables; i++) {
        const struct pct_table *t = pct_tables[i];
        assert_true(*t->doc != 0);
        assert_true(!t->sort || pct_column_find(t, t->sort));
        assert_true(!t->percent || pct_column_find(t, t->percent)->type == PCT_PERCENT);
        for (size_t k = 0; k < t->n_columns; k++) {
            assert_ptr_equal(pct_column_find(t, t->columns[k].name), &t->columns[k]);
            assert_true(*t->columns[k].doc && *t->columns[k].head);
            bool seconds = strlen(t->columns[k].name) > 2 &&
                           !strcmp(t->columns[k].name + strlen(t->columns[k].name) - 2, "_s");
            assert_int_equal(seconds, t->columns[k].type == PCT_NS);
        }
    }
}

/* A chain much deeper than any stack could follow by recursion. */
static void deep_trees_are_no_danger(void **state)
{
    (void)state;
    enum { DEPTH = 300000 };
    struct pc_profile p;
    struct pct_tree_options options = {.depth = 0};
    sample_begin(&sample);
    p = sample.p;
    struct pc_profile_op op = {(char *)"MPI_X", 0};
    p.ops = &op;
    p.n_ops = 1;
    p.n_nodes = DEPTH + 2;
    p.nodes = calloc(p.n_nodes, sizeof *p.nodes);
    assert_non_null(p.nodes);
    for (uint32_t i = 0; i < p.n_nodes; i++)
        p.nodes[i] = (struct pc_profile_node){.parent = i ? i - 1 : PC_NO_INDEX,
                                              .kind = PCOLLECT_NODE_FRAME,
                                              .module = PC_NO_INDEX,
                                              .op = PC_NO_INDEX,
                                              .data = PC_NO_INDEX,
                                              .offset = i};
    p.nodes[0].kind = PCOLLECT_NODE_ROOT;
    p.nodes[DEPTH + 1].kind = PCOLLECT_NODE_OP;
    p.nodes[DEPTH + 1].op = 0;
    struct pct_data *d = pct_data_new("deep", &p, pct_symbols_new(&p), &options);
    assert_int_equal(pct_data_contexts(d)->n, 1);
    FILE *out = fopen("/dev/null", "w");
    struct pct_options all = {.width = 80, .metric = PCT_TIME};
    pct_print_text(out, d, &all);
    fclose(out);
    pct_data_free(d);
    free(p.nodes);
}

static const char *next_word(const void *arg, size_t i)
{
    return ((const char *const *)arg)[i];
}

static void the_nearest_word_is_found(void **state)
{
    (void)state;
    static const char *const words[] = {"primitives", "ranks", "contexts", "text", NULL};
    static const struct {
        const char *typed, *nearest;
    } cases[] = {{"rank", "ranks"}, {"primitive", "primitives"}, {"prim", "primitives"},
                 {"txet", "text"},  {"contetxs", "contexts"},    {"zzzzzz", NULL},
                 {"", NULL}};
    for (size_t i = 0; i < PC_ARRAY_LEN(cases); i++) {
        const char *nearest = pct_nearest(cases[i].typed, next_word, words);
        if (cases[i].nearest)
            assert_string_equal(nearest, cases[i].nearest);
        else
            assert_null(nearest);
    }
}

static uint64_t value_of(const struct pct_data *d, const struct pct_table *t, const char *column,
                         size_t row)
{
    struct pct_value v = pct_table_value(pct_column_find(t, column), d, row);
    return (uint64_t)v.number + (uint64_t)v.integer;
}

/* The table has one row with that cpu_exclusive_s, on `ranks` ranks from least to most. */
static void assert_spread(const struct pct_data *d, const char *table, uint64_t self_ns,
                          const struct pct_spread *s)
{
    const struct pct_table *t = pct_table_find(table);
    size_t n = 0;
    for (size_t i = 0; i < t->count(d); i++) {
        if (value_of(d, t, "cpu_exclusive_s", i) != self_ns)
            continue;
        n++;
        assert_int_equal(value_of(d, t, "ranks", i), s->n);
        assert_int_equal(value_of(d, t, "rank_min_s", i), s->min);
        assert_int_equal(value_of(d, t, "min_rank", i), s->min_rank);
        assert_int_equal(value_of(d, t, "rank_max_s", i), s->max);
        assert_int_equal(value_of(d, t, "max_rank", i), s->max_rank);
    }
    assert_int_equal(n, 1);
}

static void assert_called(const struct pct_data *d, const char *path, uint64_t ns)
{
    const struct pct_table *t = pct_table_find("sample_callers");
    size_t n = 0;
    for (size_t i = 0; i < t->count(d); i++)
        if (!strcmp(pct_table_value(pct_column_find(t, "path"), d, i).text, path)) {
            assert_int_equal(value_of(d, t, "cpu_s", i), ns);
            n++;
        }
    assert_int_equal(n, 1);
}

/* Address 0x30 computes below 0x10 on ranks 0 and 2, below 0x20 on ranks 1 and 2. */
static void samples_are_told_by_rank_and_by_caller(void **state)
{
    (void)state;
    static const struct pct_tree_options options;
    sample_begin(&sample);
    sample_clock(&sample);
    for (int32_t i = 0; i < 3; i++)
        sample.ranks[i] = (struct pc_profile_rank){.rank = i, .host = (char *)"n", .n_threads = 1};
    sample.modules[0] = (struct pc_profile_module){.path = (char *)"/nowhere/app", .identity = 1};
    sample.p.n_ranks = sample.p.world_size = 3;
    sample.p.n_modules = 1;
    uint32_t outer = sample_frame(&sample, 0, 0, 0x10);
    sample_point(&sample, outer, 0, 0x30);
    sample_add_samples(&sample, 0, 40 * ms);
    sample_add_samples(&sample, 2, 100 * ms);
    outer = sample_frame(&sample, 0, 0, 0x20);
    sample_point(&sample, outer, 0, 0x30);
    sample_add_samples(&sample, 1, 70 * ms);
    sample_add_samples(&sample, 2, 5 * ms);
    sample_point(&sample, outer, 0, 0x40);
    sample_add_samples(&sample, 1, 11 * ms);
    sample_end(&sample);
    struct pct_data *d = pct_data_new("spread", &sample.p, pct_symbols_new(&sample.p), &options);
    assert_spread(d, "functions", 215 * ms, &(struct pct_spread){3, 40 * ms, 105 * ms, 0, 2});
    assert_spread(d, "functions", 11 * ms, &(struct pct_spread){1, 11 * ms, 11 * ms, 1, 1});
    assert_spread(d, "computation", 140 * ms, &(struct pct_spread){2, 40 * ms, 100 * ms, 0, 2});
    assert_spread(d, "computation", 75 * ms, &(struct pct_spread){2, 5 * ms, 70 * ms, 2, 1});
    assert_called(d, "app+0x30", 215 * ms);
    assert_called(d, "app+0x30 > app+0x10", 140 * ms);
    assert_called(d, "app+0x30 > app+0x20", 75 * ms);
    assert_called(d, "app+0x40", 11 * ms);
    assert_called(d, "app+0x40 > app+0x20", 11 * ms);
    assert_int_equal(pct_table_find("sample_callers")->count(d), 5);
    uint64_t values[3] = {0};
    bool present[3] = {false};
    const struct pct_tree *t = pct_data_functions(d);
    assert_sums(t);
    assert_sums(pct_data_sample_callers(d)->tree);
    for (uint32_t i = 0; i < t->n; i++)
        if (pct_tree_below(t, i).total.ns == 86 * ms)
            pct_tree_sampled_ranks(t, i, PCT_SAMPLED_TOTAL, values, present);
    assert_true(values[0] == 0 && values[1] == 81 * ms && values[2] == 5 * ms);
    assert_true(!present[0] && present[1] && present[2]);
    pct_data_free(d);
}

/* The id depends only on the printed path without its lines. */
static void the_id_of_a_context_follows_from_its_path(void **state)
{
    (void)state;
    static const struct pct_tree_options options;
    struct pct_data *d = open_solver(&options);
    size_t n = pct_table_find("contexts")->count(d);
    assert_true(n > 3);
    for (size_t i = 0; i < n; i++) {
        uint64_t id = 0;
        char path[1000], *rest = path;
        snprintf(path, sizeof path, "%s", text_of(d, "contexts", "path", i));
        for (char *label; *path && rest; rest = label) {
            label = strstr(rest, " > ");
            if (label)
                *label = 0, label += 3;
            char *line = strrchr(rest, ':');
            if (line)
                *line = 0;
            id = pct_label_context(id, rest);
        }
        char wanted[17];
        snprintf(wanted, sizeof wanted, "%016llx",
                 (unsigned long long)pct_label_context(id, text_of(d, "contexts", "primitive", i)));
        assert_string_equal(text_of(d, "contexts", "context", i), wanted);
    }
    pct_data_free(d);
}

/* A profile of one rank, one module and MPI_Barrier, without contexts yet. */
static void begin_one_rank(void)
{
    sample_begin(&sample);
    sample_clock(&sample);
    sample.ranks[0] = (struct pc_profile_rank){.rank = 0, .host = (char *)"n", .n_threads = 1};
    sample.modules[0] = (struct pc_profile_module){.path = (char *)"/nowhere/app", .identity = 1};
    sample.ops[0] = (struct pc_profile_op){.name = (char *)"MPI_Barrier"};
    sample.p.n_ranks = sample.p.world_size = sample.p.n_modules = sample.p.n_ops = 1;
}

/* Code that computes is in the function that calls: the ids of the two tables meet at the MPI
 * function. */
static void calls_and_samples_of_one_path_have_one_id(void **state)
{
    (void)state;
    static const struct pct_tree_options options;
    begin_one_rank();
    uint32_t outer = sample_frame(&sample, 0, 0, 0x10);
    sample_point(&sample, outer, 0, 0x30);
    sample_add_samples(&sample, 0, 40 * ms);
    sample_op(&sample, outer, 0);
    sample_add_samples(&sample, 0, 5 * ms);
    sample_end(&sample);
    struct pct_data *d = pct_data_new("id", &sample.p, pct_symbols_new(&sample.p), &options);
    size_t n = pct_table_find("computation")->count(d), n_equal = 0;
    assert_int_equal(pct_table_find("contexts")->count(d), 1);
    for (size_t i = 0; i < n; i++) {
        bool same =
            !strcmp(text_of(d, "computation", "context", i), text_of(d, "contexts", "context", 0));
        assert_int_equal(same, !strncmp(text_of(d, "computation", "function", i), "MPI_", 4));
        n_equal += same;
    }
    assert_int_equal(n_equal, 1);
    pct_data_free(d);
}

/* Two calls of 429 ns together below 0x10; 0x20 computes only. */
static void the_tree_shows_what_has_a_figure_and_means_as_tables_do(void **state)
{
    (void)state;
    static const struct pct_options options = {.metric = PCT_TIME, .has_min_percent = true};
    begin_one_rank();
    sample_op(&sample, sample_frame(&sample, 0, 0, 0x10), 0);
    sample_add(&sample, &(struct sample_calls){0, 2, 429, 200, 229, 0, 0});
    sample_point(&sample, sample_frame(&sample, 0, 0, 0x20), 0, 0x30);
    sample_add_samples(&sample, 0, ms);
    sample_end(&sample);
    struct pct_data *d = pct_data_new("tree", &sample.p, pct_symbols_new(&sample.p), &options.tree);
    assert_int_equal(value_of(d, pct_table_find("contexts"), "mean_s", 0), 215);
    char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);
    pct_print_tree(out, d, &options, PCT_TIME);
    fclose(out);
    assert_non_null(strstr(text, "mean 215 ns"));
    assert_non_null(strstr(text, "+0x10"));
    assert_non_null(strstr(text, "+0x20"));
    assert_non_null(strstr(text, "  1 sample stands for 1.000 ms of CPU time\n"));
    free(text);

    /* Figures of calls leave out contexts that only compute. */
    static const struct pct_options calls = {.metric = PCT_CALLS};
    out = open_memstream(&text, &n);
    pct_print_tree(out, d, &calls, PCT_CALLS);
    fclose(out);
    assert_non_null(strstr(text, "+0x10"));
    assert_null(strstr(text, "+0x20"));
    free(text);
    pct_data_free(d);
}

/* Times of ranks that begin MPI, that do not, and that were looked at from outside. */
static void a_rank_that_does_not_begin_MPI_has_all_its_time(void **state)
{
    static const struct {
        struct pc_profile_rank rank;
        uint64_t run_ns, compute_ns;
    } rows[] = {
        {{.before_init_ns = 900, .inside_ns = 100, .mpi_ns = 30, .merge_ns = 20}, 80, 50},
        {{.before_init_ns = 900, .mpi_ns = 30, .merge_ns = 20}, 900, 870},
        {{.before_init_ns = 900, .notes = PCOLLECT_NOTE_OUTSIDE}, 0, 0},
        {{.inside_ns = 10, .mpi_ns = 30, .merge_ns = 20}, 0, 0},
    };
    (void)state;
    for (size_t i = 0; i < PC_ARRAY_LEN(rows); i++) {
        assert_int_equal(pct_totals_run_ns(&rows[i].rank), rows[i].run_ns);
        assert_int_equal(pct_totals_compute_ns(&rows[i].rank), rows[i].compute_ns);
    }
}

/* One program has all ranks. Of two, of which one has no context, it is not known which ranks ran
 * them. */
static void figures_of_programs_are_those_of_known_ranks(void **state)
{
    static const struct pct_tree_options options;
    const struct pct_table *t = pct_table_find("programs");
    (void)state;
    for (unsigned several = 0; several < 2; several++) {
        sample_solver(&sample);
        sample.modules[1].flags |= several ? PCOLLECT_MODULE_EXE : 0;
        struct pct_data *d =
            pct_data_new("solver", &sample.p, pct_symbols_new(&sample.p), &options);
        assert_int_equal(t->count(d), several + 1);
        for (size_t i = 0; i < t->n_columns; i++)
            for (size_t row = 0; row <= several; row++)
                assert_int_equal(pct_table_value(&t->columns[i], d, row).none, several && i);
        if (!several)
            assert_string_equal(pct_table_value(pct_column_find(t, "ranks"), d, 0).text, "0-3");
        pct_data_free(d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rank_that_does_not_begin_MPI_has_all_its_time),
        cmocka_unit_test(figures_of_programs_are_those_of_known_ranks),
        cmocka_unit_test(the_samples_are_valid_profiles),
        cmocka_unit_test(values_find_the_places_of_their_ranks),
        cmocka_unit_test(rows_find_the_places_of_their_ranks),
        cmocka_unit_test(nested_time_is_counted_once),
        cmocka_unit_test(calls_alone_take_no_memory),
        cmocka_unit_test(spreads_name_their_ranks),
        cmocka_unit_test(shares_are_compared_before_they_are_rounded),
        cmocka_unit_test(times_never_go_below_zero),
        cmocka_unit_test(paths_compare_as_their_texts_do),
        cmocka_unit_test(paths_show_inlined_and_nested_calls),
        cmocka_unit_test(totals_agree_between_tables_at_every_depth),
        cmocka_unit_test(figures_of_a_node_are_those_of_all_below_it),
        cmocka_unit_test(addresses_that_read_the_same_are_one_context),
        cmocka_unit_test(rows_are_sorted_and_filtered),
        cmocka_unit_test(the_first_columns_are_the_promised_ones),
        cmocka_unit_test(every_column_is_documented_and_unique),
        cmocka_unit_test(deep_trees_are_no_danger),
        cmocka_unit_test(the_nearest_word_is_found),
        cmocka_unit_test(samples_are_told_by_rank_and_by_caller),
        cmocka_unit_test(the_id_of_a_context_follows_from_its_path),
        cmocka_unit_test(calls_and_samples_of_one_path_have_one_id),
        cmocka_unit_test(the_tree_shows_what_has_a_figure_and_means_as_tables_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
