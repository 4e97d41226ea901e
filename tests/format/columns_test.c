/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Values and rows that are read on request are those of the whole file, for any requests in any
 * order; and no file makes the reader crash or return something else.
 */
#include "tests/format/mend.h"
#include "tests/format/random_profile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <unistd.h>

#include "tests/folder.h"

static struct pc_profile *read_well(const char *path, bool columns)
{
    struct pc_profile *p;
    struct pc_error e;
    if (columns ? pc_pcol_read_columns(path, &p, &e) : pc_pcol_read(path, &p, &e))
        fail_msg("%s", e.text);
    assert_string_equal(e.text, "");
    return p;
}

/* Values of many ranks: several runs of records, and records of few and of many ranks in one. */
static struct pc_profile *large_profile(const struct shape *s, int n_ranks)
{
    struct pc_profile_sum sum = {{NULL}};
    struct pc_profile *p;
    for (int rank = 0; rank < n_ranks; rank++)
        assert_int_equal(
            pc_profile_sum_add(&sum, random_profile(s, 5, rank, (unsigned)n_ranks), NULL), PC_OK);
    assert_int_equal(pc_profile_sum_finish(&sum, &p, NULL), PC_OK);
    return p;
}

static void assert_same_values(const struct pc_profile *p, const struct pc_profile *q, uint32_t i,
                               uint32_t k)
{
    const struct pc_profile_data *d = &p->data[i];
    struct pc_by_rank by = pc_data_by_rank(q, &q->data[i], k);
    assert_int_equal(by.n, d->ranks ? d->n_ranks : 0);
    for (uint32_t r = 0; r < by.n; r++) {
        assert_int_equal(by.ranks[r], d->ranks[r]);
        assert_int_equal(pc_by_rank_value(&by, r), pc_data_value(p, d, r, k));
    }
}

static void assert_all_values(const struct pc_profile *p, const struct pc_profile *q)
{
    struct rng r = {3};
    for (uint32_t k = 0; k < p->n_fields; k++) /* field by field, then at random */
        for (uint32_t i = 0; i < p->n_data; i++)
            assert_same_values(p, q, i, k);
    for (unsigned n = 0; n < 500 && p->n_data; n++)
        assert_same_values(p, q, (uint32_t)rng_below(&r, p->n_data),
                           (uint32_t)rng_below(&r, p->n_fields));
    assert_null(pc_profile_unread(q));
}

/* Writes a job's profile without late parts to a file of that name, and the file's path to `path`.
 */
static struct late_job write_late_job(const struct shape *shape, const char *name, char *path)
{
    struct late_job j = make_late_job(shape, 3, 2);
    path_in(path, name);
    assert_int_equal(pc_pcol_write(j.main, path, PC_PCOL_LATE_SLOTS, NULL), PC_OK);
    return j;
}

static void values_on_demand_are_those_of_the_whole_file(void **state)
{
    (void)state;
    unsigned n_on_demand = 0;
    for (unsigned s = 0; s < n_shapes; s++) {
        char path[PATH_BYTES];
        struct late_job j = write_late_job(&shapes[s], "columns.pcol", path);
        for (int late = 0; late < 2; late++) { /* without and with slots */
            struct pc_profile *p = read_well(path, false), *q = read_well(path, true);
            assert_int_equal(pc_profile_check(q, NULL), PC_OK);
            assert_true(late || q->statistics_only);
            n_on_demand += q->columns != NULL;
            assert_all_values(p, q);
            pc_profile_free(p);
            pc_profile_free(q);
            assert_int_equal(pc_pcol_write_late(path, j.late[1], true, NULL), PC_OK);
        }
        unlink(path);
        free_late_job(&j);
    }
    assert_true(n_on_demand >= n_shapes);
}

/* Late calls in a context whose values are in the file need all of them: this gives no message to
 * the user. */
static void a_context_before_and_after_the_merge_is_no_fault(void **state)
{
    (void)state;
    char path[PATH_BYTES];
    unsigned n;
    struct fact *facts = random_facts(&shapes[1], 5, 0, &n);
    struct pc_profile *once = profile_of(&shapes[1], facts, n < 8 ? n : 8, 0, 1), *p;
    struct pc_error e;
    assert_true(once->n_data > 0 && once->data[0].kept);
    assert_int_equal(pc_pcol_write(once, path_in(path, "twice.pcol"), PC_PCOL_LATE_SLOTS, NULL),
                     PC_OK);
    assert_int_equal(pc_pcol_write_late(path, once, true, NULL), PC_OK);
    pc_profile_free(read_well(path, true));
    assert_int_equal(pc_pcol_read_statistics(path, &p, &e), PC_OK);
    assert_string_equal(e.text, "");
    assert_true(pc_data_stat(p, &p->data[0], 0).sum ==
                2 * pc_data_stat(once, &once->data[0], 0).sum);
    pc_profile_free(p);
    pc_profile_free(once);
    free(facts);
    unlink(path);
}

static void many_runs_of_records_read_back(void **state)
{
    (void)state;
    char path[PATH_BYTES];
    struct shape s = shapes[7];
    s.per_rank = 0;
    struct pc_profile *p = large_profile(&s, 300);
    size_t n_rows = 0;
    for (uint32_t i = 0; i < p->n_data; i++)
        n_rows += p->data[i].n_ranks;
    assert_true(n_rows > 3000); /* a run has 1024 */
    path_in(path, "runs.pcol");
    assert_int_equal(pc_pcol_write(p, path, 0, NULL), PC_OK);
    struct pc_profile *whole = read_well(path, false), *q = read_well(path, true);
    assert_same_bytes(p, whole);
    assert_all_values(p, q);
    pc_profile_free(whole);
    pc_profile_free(q);
    pc_profile_free(p);
    unlink(path);
}

/* The bytes of a file, which is then removed; freed by the caller. */
static char *take_file(const char *path, size_t *n_out)
{
    FILE *in = fopen(path, "rb");
    assert_non_null(in);
    assert_int_equal(fseek(in, 0, SEEK_END), 0);
    *n_out = (size_t)ftell(in);
    char *bytes = malloc(*n_out + 1);
    rewind(in);
    assert_int_equal(fread(bytes, 1, *n_out, in), *n_out);
    fclose(in);
    unlink(path);
    return bytes;
}

static void assert_written_alike(const struct pc_profile *p, const struct pc_profile *q)
{
    char path[2][PATH_BYTES], *bytes[2];
    size_t n[2];
    path_in(path[0], "p.pcol");
    path_in(path[1], "q.pcol");
    assert_int_equal(pc_pcol_write(p, path[0], 0, NULL), PC_OK);
    assert_int_equal(pc_pcol_write(q, path[1], 0, NULL), PC_OK);
    for (int k = 0; k < 2; k++)
        bytes[k] = take_file(path[k], &n[k]);
    assert_int_equal(n[0], n[1]);
    assert_memory_equal(bytes[0], bytes[1], n[0]);
    free(bytes[0]);
    free(bytes[1]);
}

/* The profile of no rank of the job of p with one string. */
static struct pc_profile only_string(const struct pc_profile *p)
{
    static char *string = (char *)"added";
    static struct pc_profile_node root = {.parent = PC_NO_INDEX,
                                          .kind = PCOLLECT_NODE_ROOT,
                                          .module = PC_NO_INDEX,
                                          .op = PC_NO_INDEX,
                                          .data = PC_NO_INDEX};
    return (struct pc_profile){.exe = p->exe,
                               .mpi = p->mpi,
                               .job = p->job,
                               .job_key = p->job_key,
                               .world_size = p->world_size,
                               .n_nodes = 1,
                               .nodes = &root,
                               .n_strings = 1,
                               .strings = &string};
}

static struct pc_profile *add_string(const struct pc_profile *p)
{
    const struct pc_profile more = only_string(p);
    struct pc_profile *out;
    assert_int_equal(pc_profile_merge(p, &more, &out, NULL), PC_OK);
    return out;
}

/* Written again, and with a string added, the file is the same as if all had been in memory. */
static void values_pass_from_file_to_file(void **state)
{
    (void)state;
    unsigned n_in_file = 0;
    for (unsigned s = 0; s < n_shapes; s++) {
        char path[PATH_BYTES];
        struct late_job j = write_late_job(&shapes[s], "passed.pcol", path);
        for (int late = 0; late < 2; late++) {
            struct pc_profile *p = read_well(path, false), *q;
            assert_int_equal(pc_pcol_read_histograms(path, &q, NULL), PC_OK);
            n_in_file += q->columns != NULL;
            assert_written_alike(p, q);
            struct pc_profile *more = add_string(p), *more_of_q = add_string(q);
            pc_profile_free(q); /* the sum reads on */
            assert_written_alike(more, more_of_q);
            pc_profile_free(p);
            pc_profile_free(more);
            pc_profile_free(more_of_q);
            assert_int_equal(pc_pcol_write_late(path, j.late[1], true, NULL), PC_OK);
        }
        unlink(path);
        free_late_job(&j);
    }
    assert_true(n_in_file >= n_shapes);
}

/* So it is if contexts and records were left in the file, also where late parts add some: to any
 * record if none keeps values, but none if rows refer to contexts. What has contexts is not added
 * then. */
static void contexts_pass_from_file_to_file(void **state)
{
    (void)state;
    enum { VALUES, DROPPED, DROPPED_WITH_ROWS, N_KINDS };
    unsigned n_left[2] = {0, 0}, n_values = 0;
    for (unsigned s = 0; s < N_KINDS * n_shapes; s++) {
        char path[PATH_BYTES];
        struct shape shape = shapes[s / N_KINDS];
        shape.tables |= s % N_KINDS == DROPPED_WITH_ROWS;
        struct late_job j = make_late_job(&shape, 3, s % N_KINDS == VALUES ? 2 : 10);
        for (uint32_t i = 0; s % N_KINDS != VALUES && i < j.main->n_data; i++)
            pc_profile_data_drop(&j.main->data[i]);
        for (uint32_t t = 0; t < j.late[1]->n_tables; t++)
            j.late[1]->tables[t].n_rows = 0;
        path_in(path, "around.pcol");
        assert_int_equal(pc_pcol_write(j.main, path, PC_PCOL_LATE_SLOTS, NULL), PC_OK);
        for (int late = 0; late < 2; late++) {
            struct pc_profile *p = read_well(path, false), *q;
            assert_int_equal(pc_pcol_read_around(path, &q, NULL), PC_OK);
            assert_written_alike(p, q);
            n_left[late] += q->later_contexts && q->n_nodes == 1;
            n_values += q->later_contexts && q->n_data;
            const struct pc_profile more = only_string(p);
            assert_true(!q->later_contexts || !j.main->n_modules ||
                        pc_profile_overlay(&q, j.main, NULL) == PC_EARG);
            assert_int_equal(pc_profile_overlay(&p, &more, NULL), PC_OK);
            assert_int_equal(pc_profile_overlay(&q, &more, NULL), PC_OK);
            assert_written_alike(p, q);
            pc_profile_free(p);
            pc_profile_free(q);
            assert_int_equal(pc_pcol_write_late(path, j.late[1], true, NULL), PC_OK);
        }
        unlink(path);
        free_late_job(&j);
    }
    assert_true(n_left[0] == N_KINDS * n_shapes && n_values > 4);
    assert_in_range(n_left[1], n_shapes - 2, 2 * n_shapes);
}

/* Values in a file are not added to those of other ranks: this is an error. If no context has both,
 * the sum is the same as in memory. */
static void values_in_a_file_are_not_added_to(void **state)
{
    (void)state;
    unsigned n_refused = 0;
    for (unsigned seed = 0; seed < 20; seed++) {
        const struct shape *s = &shapes[seed % 2]; /* few contexts, of which some are the same */
        char path[PATH_BYTES];
        struct pc_profile *a = random_profile(s, seed, 0, 2), *b = random_profile(s, seed, 1, 2);
        struct pc_profile *in_file, *sum, *want;
        struct pc_error e;
        path_in(path, "added.pcol");
        assert_int_equal(pc_pcol_write(a, path, 0, NULL), PC_OK);
        assert_int_equal(pc_pcol_read_histograms(path, &in_file, NULL), PC_OK);
        assert_int_equal(pc_profile_merge(a, b, &want, NULL), PC_OK);
        if (pc_profile_merge(in_file, b, &sum, &e)) {
            assert_string_equal(e.text, "the values by rank were not read");
            n_refused++;
        } else {
            assert_written_alike(want, sum);
            pc_profile_free(sum);
        }
        pc_profile_free(in_file);
        pc_profile_free(want);
        pc_profile_free(a);
        pc_profile_free(b);
        unlink(path);
    }
    assert_true(n_refused > 0 && n_refused < 20);
}

static bool ask_for_all(const struct pc_profile *p)
{
    for (uint32_t i = 0; i < p->n_data; i++)
        for (uint32_t k = 0; k < p->n_fields; k++) {
            struct pc_by_rank by = pc_data_by_rank(p, &p->data[i], k);
            if (p->data[i].kept && !by.n)
                return false;
            assert_true(!by.n || by.n == p->data[i].n_ranks);
        }
    return true;
}

static void assert_same_rows(const struct pc_profile_table *a, const struct pc_profile_table *b)
{
    assert_int_equal(a->n_rows, b->n_rows);
    assert_memory_equal(a->cells, b->cells, (size_t)a->n_rows * a->n_columns * sizeof *a->cells);
}

/* Rows become cells when their table is asked for, and not before. */
static void rows_on_demand_are_those_of_the_whole_file(void **state)
{
    (void)state;
    unsigned n_rows = 0;
    for (unsigned s = 0; s < n_shapes; s++) {
        char path[PATH_BYTES];
        struct pc_profile *written = large_profile(&shapes[s], 3), *q[2];
        path_in(path, "rows.pcol");
        assert_int_equal(pc_pcol_write(written, path, 0, NULL), PC_OK);
        struct pc_profile *p = read_well(path, false);
        q[0] = read_well(path, true);
        assert_int_equal(pc_pcol_read_statistics(path, &q[1], NULL), PC_OK);
        for (uint32_t i = 0; i < p->n_tables * 2; i++) {
            const struct pc_profile *of = q[i % 2];
            const struct pc_profile_table *t = &of->tables[i / 2], *all = &p->tables[i / 2];
            assert_true(all->cells && !t->cells);
            assert_int_equal(pc_profile_rows(of, all->name), all->n_rows);
            assert_null(t->cells);
            assert_ptr_equal(pc_profile_table(of, all->name), t);
            assert_same_rows(all, t);
            n_rows += t->n_rows;
        }
        assert_int_equal(pc_profile_check(q[0], NULL), PC_OK);
        assert_null(pc_profile_unread(q[0]));
        assert_null(pc_profile_unread(q[1]));
        pc_profile_free(q[0]);
        pc_profile_free(q[1]);
        pc_profile_free(p);
        pc_profile_free(written);
        unlink(path);
    }
    assert_true(n_rows > 100);
}

/* Late parts make cells of no other rows than those that they add to. */
static void rows_stay_on_demand_beside_late_parts(void **state)
{
    (void)state;
    unsigned n_left = 0, n_rows = 0;
    for (unsigned s = 0; s < n_shapes; s++) {
        char path[PATH_BYTES];
        struct late_job j = write_late_job(&shapes[s], "late.pcol", path);
        for (int rows = 0; rows < 2; rows++) { /* without and with rows in the late part */
            struct pc_profile late = *j.late[1];
            late.n_tables = rows ? late.n_tables : 0;
            late.n_strings = rows ? late.n_strings : 0;
            assert_int_equal(pc_pcol_write_late(path, &late, true, NULL), PC_OK);
            struct pc_profile *p = read_well(path, false), *q = read_well(path, true);
            assert_int_equal(p->n_tables, q->n_tables);
            for (uint32_t i = 0; i < p->n_tables; i++) {
                n_left += !q->tables[i].cells;
                assert_same_rows(&p->tables[i], pc_profile_table(q, p->tables[i].name));
                n_rows += p->tables[i].n_rows;
            }
            assert_null(pc_profile_unread(q));
            pc_profile_free(p);
            pc_profile_free(q);
        }
        unlink(path);
        free_late_job(&j);
    }
    assert_true(n_left && n_rows > 100);
}

static bool refers_to_contexts(const struct pc_profile_table *t)
{
    bool refers = false;
    for (uint32_t i = 0; i < t->n_columns; i++)
        refers |= t->columns[i].type == PCOLLECT_COLUMN_NODE;
    return refers;
}

/* Without contexts, ranks and tables are the same, with and without what ranks did late. */
static void ranks_alone_are_those_of_the_whole_file(void **state)
{
    (void)state;
    unsigned n_left_out = 0, n_rows = 0;
    for (unsigned s = 0; s < n_shapes; s++) {
        char path[PATH_BYTES];
        struct late_job j = write_late_job(&shapes[s], "ranks.pcol", path);
        for (int late = 0; late < 2; late++) {
            struct pc_profile *p = read_well(path, false), *q;
            struct pc_buffer a = {0}, b = {0};
            struct pc_error e;
            assert_int_equal(pc_pcol_read_ranks(path, &q, &e), PC_OK);
            assert_string_equal(e.text, "");
            assert_true(late || (q->n_nodes == 1 && !q->n_data));
            pc_part_encode(p, PC_PART_RANKS, &a);
            pc_part_encode(q, PC_PART_RANKS, &b);
            assert_int_equal(a.n, b.n);
            assert_memory_equal(a.data, b.data, a.n);
            for (uint32_t i = 0; i < p->n_tables; i++) {
                const struct pc_profile_table *t = pc_profile_table(q, p->tables[i].name);
                assert_true(refers_to_contexts(&p->tables[i]) == !t);
                n_left_out += !t;
                n_rows += t ? t->n_rows : 0;
                if (t)
                    assert_same_rows(&p->tables[i], t);
            }
            assert_null(pc_profile_unread(q));
            free(a.data);
            free(b.data);
            pc_profile_free(p);
            pc_profile_free(q);
            assert_int_equal(pc_pcol_write_late(path, j.late[1], true, NULL), PC_OK);
        }
        unlink(path);
        free_late_job(&j);
    }
    assert_true(n_left_out && n_rows > 100);
}

/* Rows that a right checksum covers, and that are impossible, are none. */
static void wrong_rows_are_found_when_they_are_asked_for(void **state)
{
    (void)state;
    char path[PATH_BYTES];
    struct pc_error e;
    struct pc_profile *p = large_profile(&shapes[7], 3), *q;
    struct pc_profile_table *t = &p->tables[0];
    assert_true(t->n_rows > 1);
    memcpy(t->cells, t->cells + t->n_columns, t->n_columns * sizeof *t->cells);
    path_in(path, "rows.pcol");
    assert_int_equal(pc_pcol_write(p, path, 0, NULL), PC_OK);
    assert_int_equal(pc_pcol_read(path, &q, &e), PC_EFORMAT);
    q = read_well(path, true);
    assert_int_equal(pc_profile_table(q, p->tables[1].name)->n_rows, p->tables[1].n_rows);
    assert_null(pc_profile_unread(q));
    assert_int_equal(pc_profile_table(q, t->name)->n_rows, 0);
    assert_non_null(strstr(pc_profile_unread(q), "is not in order (row 1)"));
    pc_profile_free(q);
    q = read_well(path, true);
    assert_int_equal(pc_profile_check_values(q, &e), PC_EFORMAT);
    assert_non_null(strstr(e.text, "is not in order (row 1)"));
    pc_profile_free(q);
    pc_profile_free(p);
    unlink(path);
}

/* Damage that checksums show is refused, as if the whole file were read. */
static void damage_is_found_before_a_value_is_asked_for(void **state)
{
    (void)state;
    char path[PATH_BYTES];
    size_t n;
    struct late_job j = make_late_job(&shapes[7], 2, 2);
    path_in(path, "damaged.pcol");
    assert_int_equal(pc_pcol_write(j.main, path, 0, NULL), PC_OK);
    uint8_t *data = slurp(path, &n);
    for (size_t at = 0; at < n; at += 3) {
        struct pc_profile *p = NULL, *q = NULL;
        struct pc_error e, f;
        data[at] ^= 0x55;
        spit(path, data, n - (at % 2 ? 0 : at % 100));
        assert_int_equal(pc_pcol_read(path, &p, &e), pc_pcol_read_columns(path, &q, &f));
        assert_string_equal(e.text, f.text);
        assert_true(!p && !q && *e.text);
        data[at] ^= 0x55;
    }
    free(data);
    unlink(path);
    free_late_job(&j);
}

/* With valid checksums, damage gives an error when the values are requested, or other values. */
static void wrong_columns_never_crash(void **state)
{
    (void)state;
    char path[PATH_BYTES];
    size_t n;
    struct late_job j = make_late_job(&shapes[7], 3, 2);
    path_in(path, "wrong.pcol");
    assert_int_equal(pc_pcol_write(j.main, path, 0, NULL), PC_OK);
    uint8_t *data = slurp(path, &n);
    uint64_t at = 64; /* of the last section, which has the columns */
    while (at + 32 + pc_load_le(data + at + 8, 8) < n)
        at += 32 + pc_load_le(data + at + 8, 8);
    assert_int_equal(pc_load_le(data + at, 4), PC_PCOL_TYPE_COLUMNS);
    unsigned n_refused = 0, n_unread = 0;
    uint8_t *copy = malloc(n);
    for (unsigned i = 0; i < 2000; i++) {
        struct rng r = {i};
        struct pc_profile *q = NULL;
        struct pc_error e = {""};
        memcpy(copy, data, n);
        uint64_t first = at + 32, bytes = i % 2 ? n - first : 40;
        for (uint64_t k = 1 + rng_below(&r, 2); k; k--)
            copy[first + rng_below(&r, bytes)] = (uint8_t)rng_next(&r);
        mend_checksums(copy, n);
        spit(path, copy, n);
        int err = pc_pcol_read_columns(path, &q, &e);
        assert_true((err != 0) == (q == NULL) && (!err || *e.text));
        n_refused += err != 0;
        if (!err && !ask_for_all(q)) {
            assert_non_null(pc_profile_unread(q));
            n_unread++;
        }
        pc_profile_free(q);
    }
    assert_true(n_refused > 100 && n_unread > 100);
    free(copy);
    free(data);
    unlink(path);
    free_late_job(&j);
}

static void a_file_that_becomes_shorter_is_said(void **state)
{
    (void)state;
    char path[PATH_BYTES];
    struct late_job j = make_late_job(&shapes[7], 3, 2);
    path_in(path, "shorter.pcol");
    assert_int_equal(pc_pcol_write(j.main, path, 0, NULL), PC_OK);
    struct pc_profile *q = read_well(path, true);
    assert_int_equal(truncate(path, 100), 0);
    assert_false(ask_for_all(q));
    assert_string_equal(pc_profile_unread(q), "cannot be read: it has become shorter");
    assert_int_equal(pc_profile_check_values(q, NULL), PC_EFORMAT);
    pc_profile_free(q);
    unlink(path);
    free_late_job(&j);
}

static void what_cannot_be_read_is_not_written(void **state)
{
    (void)state;
    char path[PATH_BYTES], other[PATH_BYTES];
    struct late_job j = make_late_job(&shapes[7], 3, 2);
    struct pc_profile *q;
    struct pc_error e;
    path_in(path, "shorter.pcol");
    path_in(other, "other.pcol");
    for (int around = 0; around < 2; around++) {
        assert_int_equal(pc_pcol_write(j.main, path, 0, NULL), PC_OK);
        assert_int_equal(around ? pc_pcol_read_around(path, &q, NULL)
                                : pc_pcol_read_histograms(path, &q, NULL),
                         PC_OK);
        assert_int_equal(truncate(path, 100), 0);
        assert_int_equal(pc_pcol_write(q, other, 0, &e), PC_EFORMAT);
        assert_non_null(strstr(e.text, "not written; the file that it is made of: "));
        assert_non_null(strstr(e.text, around ? "context" : "cannot be read"));
        assert_int_equal(access(other, F_OK), -1);
        pc_profile_free(q);
        unlink(path);
    }
    free_late_job(&j);
}

/* Right checksums and lengths, but the statistics of other values. */
static void values_are_held_against_their_statistics(void **state)
{
    (void)state;
    char path[PATH_BYTES];
    struct pc_error e;
    struct pc_profile *p = large_profile(&shapes[7], 40);
    uint32_t i = p->n_data / 2;
    path_in(path, "statistics.pcol");
    while (!p->data[i].ranks || p->data[i].stats[0].n < 2)
        i++;
    for (int wrong = 0; wrong < 2; wrong++) {
        p->data[i].stats[0].sum_squares += (unsigned)wrong;
        assert_int_equal(pc_pcol_write(p, path, 0, NULL), PC_OK);
        struct pc_profile *q = read_well(path, true);
        assert_int_equal(pc_profile_check_values(q, &e), wrong ? PC_EFORMAT : PC_OK);
        if (wrong)
            assert_non_null(strstr(e.text, "a record with wrong statistics"));
        pc_profile_free(q);
    }
    pc_profile_free(p);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_on_demand_are_those_of_the_whole_file),
        cmocka_unit_test(a_context_before_and_after_the_merge_is_no_fault),
        cmocka_unit_test(many_runs_of_records_read_back),
        cmocka_unit_test(values_pass_from_file_to_file),
        cmocka_unit_test(contexts_pass_from_file_to_file),
        cmocka_unit_test(values_in_a_file_are_not_added_to),
        cmocka_unit_test(rows_on_demand_are_those_of_the_whole_file),
        cmocka_unit_test(rows_stay_on_demand_beside_late_parts),
        cmocka_unit_test(ranks_alone_are_those_of_the_whole_file),
        cmocka_unit_test(wrong_rows_are_found_when_they_are_asked_for),
        cmocka_unit_test(damage_is_found_before_a_value_is_asked_for),
        cmocka_unit_test(wrong_columns_never_crash),
        cmocka_unit_test(a_file_that_becomes_shorter_is_said),
        cmocka_unit_test(what_cannot_be_read_is_not_written),
        cmocka_unit_test(values_are_held_against_their_statistics),
    };
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
