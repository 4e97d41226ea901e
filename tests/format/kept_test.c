/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A kept file is read, an older one refused; and statistics without the values by rank.
 */
#include "tests/format/random_profile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <unistd.h>

#include "tests/folder.h"

static void assert_same_stat(const struct pc_stat *a, const struct pc_stat *b)
{
    assert_true(a->n == b->n && a->sum == b->sum && a->sum_squares == b->sum_squares);
    assert_true(a->min == b->min && a->max == b->max);
    assert_true(a->min_rank == b->min_rank && a->max_rank == b->max_rank);
}

/* A profile that is read without the values by rank is the same except for these. */
static void statistics_alone_are_those_of_the_whole_file(void **state)
{
    (void)state;
    unsigned n_lone = 0;
    for (unsigned s = 0; s < n_shapes; s++) {
        char path[PATH_BYTES];
        struct late_job j = make_late_job(&shapes[s], 3, 2);
        path_in(path, "statistics.pcol");
        assert_int_equal(pc_pcol_write(j.main, path, PC_PCOL_LATE_SLOTS, NULL), PC_OK);
        for (int late = 0; late < 2; late++) { /* without and with slots */
            struct pc_profile *p = must_read(path), *q = NULL;
            struct pc_error e;
            if (pc_pcol_read_statistics(path, &q, &e) || *e.text)
                fail_msg("%s", e.text);
            assert_int_equal(pc_profile_check(q, &e), PC_OK);
            assert_int_equal(q->n_nodes, p->n_nodes);
            assert_int_equal(q->n_data, p->n_data);
            for (uint32_t i = 0; i < p->n_data; i++) {
                const struct pc_profile_data *a = &p->data[i], *b = &q->data[i];
                assert_true(late || !q->statistics_only || !b->ranks);
                assert_true(a->n_ranks == b->n_ranks && a->kept == b->kept);
                assert_true(b->form == PC_FORM_STATS || b->form == PC_FORM_PACKED);
                n_lone += b->form == PC_FORM_PACKED;
                for (uint32_t k = 0; k < p->n_fields - a->first_field; k++) {
                    struct pc_stat of_a = pc_data_stat(p, a, a->first_field + k);
                    struct pc_stat of_b = pc_data_stat(q, b, b->first_field + k);
                    assert_same_stat(&of_a, &of_b);
                    if (a->bins[k] && !q->no_bins)
                        assert_memory_equal(a->bins[k], pc_data_bins(q, b, b->first_field + k),
                                            TEST_BINS * sizeof **a->bins);
                }
            }
            assert_true(late || (q->statistics_only && q->no_bins));
            assert_true(!q->no_bins || pc_pcol_write(q, path, 0, NULL) == PC_EARG);
            pc_profile_free(p);
            pc_profile_free(q);
            assert_int_equal(pc_pcol_write_late(path, j.late[1], true, NULL), PC_OK);
        }
        unlink(path);
        free_late_job(&j);
    }
    assert_true(n_lone);
}

/* Damage in values is not found if they are not read; other damage is found as usual. */
static void statistics_of_a_damaged_file_never_crash(void **state)
{
    (void)state;
    char path[PATH_BYTES];
    size_t n;
    struct late_job j = make_late_job(&shapes[7], 2, 2);
    path_in(path, "damaged.pcol");
    assert_int_equal(pc_pcol_write(j.main, path, PC_PCOL_LATE_SLOTS, NULL), PC_OK);
    uint8_t *data = slurp(path, &n);
    unsigned n_refused = 0, n_read = 0;
    for (size_t at = 0; at < n; at += 5) {
        struct pc_profile *q = NULL;
        struct pc_error e = {""};
        data[at] ^= 0x55;
        spit(path, data, n - (at % 3 ? 0 : at % 100));
        int err = pc_pcol_read_statistics(path, &q, &e);
        assert_true((err != 0) == (q == NULL) && (!err || *e.text));
        n_refused += err != 0;
        n_read += err == 0;
        pc_profile_free(q);
        data[at] ^= 0x55;
    }
    assert_true(n_refused > 100 && n_read > 10);
    free(data);
    unlink(path);
    free_late_job(&j);
}

static void path_of_kept(char path[PATH_BYTES], const char *name)
{
    const char *src = getenv("PC_SRC") ? getenv("PC_SRC") : ".";
    snprintf(path, PATH_BYTES, "%s/tests/format/%s", src, name);
}

/* A kept file, which contains a late job. PC_UPDATE_GOLDEN makes it anew. */
static void a_kept_file_reads(void **state)
{
    (void)state;
    char path[PATH_BYTES];
    struct late_job j = make_late_job(&shapes[7], 3, 2);
    path_of_kept(path, "golden-1.2.pcol");
    if (getenv("PC_UPDATE_GOLDEN")) {
        assert_int_equal(pc_pcol_write(j.main, path, PC_PCOL_LATE_SLOTS, NULL), PC_OK);
        assert_int_equal(pc_pcol_write_late(path, j.late[2], true, NULL), PC_OK);
    }
    struct pc_profile *q = must_read(path), *expected;
    expected = overlaid(j.main, j.late[2]);
    assert_same_bytes(q, expected);
    pc_profile_free(expected);
    pc_profile_free(q);
    free_late_job(&j);
}

/* No release has written it. */
static void a_file_of_an_older_version_is_refused(void **state)
{
    (void)state;
    char path[PATH_BYTES];
    struct pc_profile *p = NULL;
    struct pc_error e = {""};
    path_of_kept(path, "older-1.0.pcol");
    assert_int_equal(pc_pcol_read(path, &p, &e), PC_EFORMAT);
    assert_null(p);
    assert_non_null(strstr(e.text, "section 'meta' at byte 64 is of version 1, which no release"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(statistics_alone_are_those_of_the_whole_file),
        cmocka_unit_test(statistics_of_a_damaged_file_never_crash),
        cmocka_unit_test(a_kept_file_reads),
        cmocka_unit_test(a_file_of_an_older_version_is_refused),
    };
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
