/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Tables whose rows are read on demand, of many rows, of which a reader has a window in memory, and
 * of few: in the order of rows, of columns, and in none; with damage; and texts that are longer
 * than a window. The whole file as pc_pcol_read gives it is what they are compared with.
 */
#include "format/build.h"
#include "tests/format/random_profile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/folder.h"
#include "tests/seed.h"

enum { SOURCE, DESTINATION, KIND, BYTES, TIME, N_COLUMNS, N_KEYS = BYTES };

static struct pc_profile_column columns[N_COLUMNS] = {
    [SOURCE] = {(char *)"source", PCOLLECT_COLUMN_RANK, 0, PCOLLECT_UNIT_COUNT},
    [DESTINATION] = {(char *)"destination", PCOLLECT_COLUMN_RANK, 0, PCOLLECT_UNIT_COUNT},
    [KIND] = {(char *)"kind", PCOLLECT_COLUMN_STRING, 0, PCOLLECT_UNIT_COUNT},
    [BYTES] = {(char *)"bytes", PCOLLECT_COLUMN_NUMBER, PCOLLECT_SUM, PCOLLECT_UNIT_BYTES},
    [TIME] = {(char *)"time", PCOLLECT_COLUMN_NUMBER, PCOLLECT_SUM, PCOLLECT_UNIT_NS},
};

/* Rows are in memory, or read in pieces; the last have times in steps. */
static const uint32_t sizes[] = {0, 1, 1000, 40000, PC_TABLE_EXACT_ROWS + 1000};

/* A profile with one table, and strings as its cells need them. */
static struct pc_profile *make_pairs(uint32_t n_rows, struct pc_profile_table *t)
{
    static char *strings[] = {(char *)"collective", (char *)"p2p"};
    struct pc_profile *p = random_profile(&shapes[1], 1, 0, 4);
    struct rng r = {test_seed(11)};
    *t = (struct pc_profile_table){.name = (char *)"pairs",
                                   .plugin = (char *)"test",
                                   .n_keys = N_KEYS,
                                   .n_columns = N_COLUMNS,
                                   .columns = columns,
                                   .n_rows = n_rows};
    t->cells = pc_pool_array(p->memory, n_rows, N_COLUMNS * sizeof *t->cells);
    assert_non_null(t->cells);
    for (uint32_t i = 0; i < n_rows; i++) {
        uint64_t *row = t->cells + (size_t)i * N_COLUMNS;
        row[SOURCE] = i / 50;
        row[DESTINATION] = i / 2 % 25;
        row[KIND] = 1 + i % 2;
        row[BYTES] = rng_next(&r) >> rng_below(&r, 64);
        row[TIME] = rng_next(&r) >> rng_below(&r, 64);
    }
    p->tables = t;
    p->n_tables = 1;
    p->strings = strings;
    p->n_strings = 2;
    return p;
}

static struct pc_profile *read_on_demand(const char *path)
{
    struct pc_profile *p;
    struct pc_error e;
    assert_int_equal(pc_pcol_read_columns(path, &p, &e), PC_OK);
    assert_string_equal(e.text, "");
    return p;
}

static void assert_cell(const struct pc_profile_table *is, const struct pc_profile_table *was,
                        uint32_t row, uint32_t column)
{
    if (pc_table_cell(is, row, column) != pc_table_cell(was, row, column))
        fail_msg("row %u: %s is %lu, was %lu", row, columns[column].name,
                 (unsigned long)pc_table_cell(is, row, column),
                 (unsigned long)pc_table_cell(was, row, column));
}

/* Row by row, then column by column: no cells are made for it. */
static void assert_in_order(const struct pc_profile *q, const struct pc_profile_table *was)
{
    const struct pc_profile_table *is = pc_profile_table_in_order(q, "pairs");
    assert_int_equal(is->n_rows, was->n_rows);
    for (uint32_t i = 0; i < was->n_rows; i++)
        for (uint32_t k = 0; k < N_COLUMNS; k++)
            assert_cell(is, was, i, k);
    for (uint32_t k = 0; k < N_COLUMNS; k++)
        for (uint32_t i = 0; i < was->n_rows; i++)
            assert_cell(is, was, i, k);
    assert_null(is->cells);
}

/* In any order, to which the reader answers with cells. */
static void assert_in_no_order(const struct pc_profile *q, const struct pc_profile_table *was)
{
    struct rng r = {test_seed(12)};
    const struct pc_profile_table *is = pc_profile_table_in_order(q, "pairs");
    for (unsigned i = 0; i < 10000 && was->n_rows; i++)
        assert_cell(is, was, rng_below(&r, was->n_rows), rng_below(&r, N_COLUMNS));
    assert_true((is->cells != NULL) == (was->n_rows > 1));
}

static void cells_are_the_same_in_every_order(void **state)
{
    (void)state;
    for (size_t i = 0; i < PC_ARRAY_LEN(sizes); i++) {
        char path[PATH_BYTES];
        struct pc_profile_table t;
        struct pc_profile *p = make_pairs(sizes[i], &t);
        assert_int_equal(pc_pcol_write(p, path_in(path, "pairs.pcol"), 0, NULL), PC_OK);
        struct pc_profile *whole = must_read(path), *q = read_on_demand(path);
        unlink(path);
        const struct pc_profile_table *was = &whole->tables[0];
        assert_int_equal(was->n_rows, sizes[i]);
        assert_int_equal(pc_profile_check_values(q, NULL), PC_OK);
        assert_in_order(q, was);
        assert_in_no_order(q, was);
        assert_ptr_equal(pc_profile_table(q, "pairs"), &q->tables[0]);
        for (uint32_t row = sizes[i]; row-- > 0;)
            assert_cell(&q->tables[0], was, row, BYTES);
        assert_null(pc_profile_unread(q));
        pc_profile_free(q);
        pc_profile_free(whole);
        pc_profile_free(p);
    }
}

/* A reference that leads nowhere: cells are 0 from there on, and whoever asks is told. */
static void damage_ends_the_cells(void **state)
{
    (void)state;
    for (size_t i = 2; i < PC_ARRAY_LEN(sizes); i++) {
        char path[PATH_BYTES];
        struct pc_error e;
        struct pc_profile_table t;
        struct pc_profile *p = make_pairs(sizes[i], &t), *q;
        uint32_t bad = sizes[i] - 100;
        t.cells[(size_t)bad * N_COLUMNS + KIND] = 3;
        assert_int_equal(pc_pcol_write(p, path_in(path, "pairs.pcol"), 0, NULL), PC_OK);
        assert_int_equal(pc_pcol_read(path, &q, &e), PC_EFORMAT);
        q = read_on_demand(path);
        const struct pc_profile_table *is = pc_profile_table_in_order(q, "pairs");
        for (uint32_t row = 0; row < sizes[i]; row++)
            assert_int_equal(pc_table_cell(is, row, KIND), row < bad ? 1 + row % 2 : 0);
        assert_non_null(strstr(pc_profile_unread(q), "table 'pairs': a wrong reference"));
        pc_profile_free(q);
        q = read_on_demand(path);
        assert_int_equal(pc_profile_check_values(q, &e), PC_EFORMAT);
        assert_non_null(strstr(e.text, "a wrong reference"));
        pc_profile_free(q);
        q = read_on_demand(path);
        assert_int_equal(pc_profile_table(q, "pairs")->n_rows, 0);
        assert_non_null(pc_profile_unread(q));
        pc_profile_free(q);
        pc_profile_free(p);
        unlink(path);
    }
}

/* A profile without ranks that brings a string, and nothing else. */
static struct pc_profile brings(char **string, const struct pc_profile *to)
{
    static struct pc_profile_node root[] = {{.parent = PC_NO_INDEX,
                                             .kind = PCOLLECT_NODE_ROOT,
                                             .module = PC_NO_INDEX,
                                             .op = PC_NO_INDEX,
                                             .data = PC_NO_INDEX}};
    return (struct pc_profile){.exe = to->exe,
                               .mpi = to->mpi,
                               .job = to->job,
                               .job_key = to->job_key,
                               .world_size = to->world_size,
                               .n_nodes = 1,
                               .nodes = root,
                               .n_strings = 1,
                               .strings = string};
}

/* Strings get other numbers twice, while no cell is in memory; then the file is written. */
static void rows_pass_with_other_numbers(void **state)
{
    (void)state;
    for (size_t i = 0; i < PC_ARRAY_LEN(sizes); i++) {
        char path[PATH_BYTES], *first[] = {(char *)"among"}, *second[] = {(char *)"node"};
        struct pc_profile_table t;
        struct pc_profile *p = make_pairs(sizes[i], &t), *q;
        assert_int_equal(pc_pcol_write(p, path_in(path, "pairs.pcol"), 0, NULL), PC_OK);
        struct pc_profile *whole = must_read(path);
        assert_int_equal(pc_pcol_read_histograms(path, &q, NULL), PC_OK);
        for (unsigned k = 0; k < 2; k++) {
            struct pc_profile more = brings(k ? second : first, q);
            assert_int_equal(pc_profile_overlay(&q, &more, NULL), PC_OK);
            assert_int_equal(pc_profile_overlay(&whole, &more, NULL), PC_OK);
        }
        assert_in_order(q, &whole->tables[0]);
        assert_string_equal(
            pc_profile_string(q, sizes[i] ? pc_table_cell(&q->tables[0], 0, KIND) : 2),
            "collective");
        path_in(path, "other.pcol");
        assert_int_equal(pc_pcol_write(q, path, 0, NULL), PC_OK);
        assert_null(q->tables[0].cells);
        struct pc_profile *again = must_read(path);
        assert_same_bytes(again, whole);
        pc_profile_free(again);
        pc_profile_free(whole);
        pc_profile_free(q);
        pc_profile_free(p);
        unlink(path);
    }
}

/* A limit that leaves the file one descriptor, and none for the rows of its tables. */
static void too_few_descriptors_are_not_called_memory(void **state)
{
    (void)state;
    char path[PATH_BYTES];
    struct pc_error e;
    struct pc_profile_table t;
    struct rlimit before, few;
    struct pc_profile *p = make_pairs(40000, &t), *q;
    assert_int_equal(pc_pcol_write(p, path_in(path, "pairs.pcol"), 0, NULL), PC_OK);
    int next = dup(0);
    assert_true(next >= 0);
    close(next);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    few = before;
    few.rlim_cur = (rlim_t)next + 1;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    int err = pc_pcol_read_columns(path, &q, &e);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_int_equal(err, PC_EIO);
    assert_non_null(strstr(e.text, "Too many open files (ulimit -n)"));
    pc_profile_free(p);
    unlink(path);
}

/* Rows out of order are not written. */
static void wrong_rows_are_not_passed_on(void **state)
{
    (void)state;
    char path[PATH_BYTES];
    struct pc_error e;
    struct pc_profile_table t;
    struct pc_profile *p = make_pairs(40000, &t), *q;
    memcpy(t.cells + (size_t)39000 * N_COLUMNS, t.cells, N_COLUMNS * sizeof *t.cells);
    assert_int_equal(pc_pcol_write(p, path_in(path, "pairs.pcol"), 0, NULL), PC_OK);
    assert_int_equal(pc_pcol_read_histograms(path, &q, &e), PC_OK);
    assert_int_equal(pc_pcol_write(q, path, 0, &e), PC_EFORMAT);
    assert_non_null(strstr(e.text, "table 'pairs' is not in order (row 39000)"));
    pc_profile_free(q);
    pc_profile_free(p);
    unlink(path);
}

static void a_file_that_becomes_shorter_has_no_cells(void **state)
{
    (void)state;
    char path[PATH_BYTES];
    struct pc_profile_table t;
    struct pc_profile *p = make_pairs(PC_TABLE_EXACT_ROWS, &t);
    assert_int_equal(pc_pcol_write(p, path_in(path, "pairs.pcol"), 0, NULL), PC_OK);
    struct pc_profile *q = read_on_demand(path);
    assert_int_equal(truncate(path, 5000), 0);
    assert_int_equal(pc_profile_table(q, "pairs")->n_rows, 0);
    assert_non_null(strstr(pc_profile_unread(q), "table 'pairs'"));
    pc_profile_free(q);
    pc_profile_free(p);
    unlink(path);
}

static void a_text_may_be_longer_than_a_window(void **state)
{
    (void)state;
    enum { LONG = 100000 };
    char path[PATH_BYTES];
    struct pc_profile_table t;
    struct pc_profile *p = make_pairs(10, &t);
    struct rng r = {test_seed(13)};
    char *text = pc_pool_array(p->memory, LONG + 1, 1);
    text[0] = 'z';
    for (unsigned i = 1; i < LONG; i++)
        text[i] = (char)(1 + rng_below(&r, 255));
    p->strings = (char *[]){p->strings[0], p->strings[1], text};
    p->n_strings = 3;
    assert_int_equal(pc_pcol_write(p, path_in(path, "long.pcol"), 0, NULL), PC_OK);
    struct pc_profile *q = must_read(path);
    assert_string_equal(q->strings[2], text);
    assert_same_bytes(q, p);
    pc_profile_free(q);
    pc_profile_free(p);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_are_the_same_in_every_order),
        cmocka_unit_test(damage_ends_the_cells),
        cmocka_unit_test(rows_pass_with_other_numbers),
        cmocka_unit_test(wrong_rows_are_not_passed_on),
        cmocka_unit_test(too_few_descriptors_are_not_called_memory),
        cmocka_unit_test(a_file_that_becomes_shorter_has_no_cells),
        cmocka_unit_test(a_text_may_be_longer_than_a_window),
    };
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
