/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Values by rank that ranks write themselves, in shares: the file has the same profile as one whose
 * values have all gone through rank 0. What is missing or damaged is left out and said, and nothing
 * else changes.
 */
#include "format/value_shares.h"
#include "merge/merge.h"
#include "tests/format/mend.h"
#include "tests/format/random_profile.h"
#include "tests/merge/net.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/folder.h"

#define MOST_RANKS 16

/* A job, with the result of each rank. */
struct job {
    const struct shape *shape;
    int n_ranks;
    const uint64_t *nodes; /* of ranks; NULL: the tree is by rank */
    struct late_job whole; /* the sum of all ranks, in the order of ranks, and late parts */
    struct pc_reduced reduced[MOST_RANKS];
    int err[MOST_RANKS];
    struct pc_error error[MOST_RANKS];
};

static uint64_t available = UINT64_MAX;

uint64_t __wrap_pc_memory_available(void);
uint64_t __wrap_pc_memory_available(void)
{
    return available;
}

static void reduce(struct net_rank *r, void *arg)
{
    struct job *j = arg;
    int me = r->transport.rank;
    unsigned n;
    struct fact *facts = random_facts(j->shape, 21, me, &n);
    struct pc_profile *mine =
        profile_of(j->shape, facts, n > 2 ? n - 2 : 0, me, (unsigned)j->n_ranks);
    j->err[me] = pc_merge_reduce(&r->transport, mine, &j->reduced[me], &j->error[me]);
    free(facts);
}

static void free_result(struct job *j)
{
    for (int i = 0; i < j->n_ranks; i++) {
        free(j->reduced[i].share);
        pc_profile_free(j->reduced[i].sum);
    }
}

static int run_with(struct job *j, uint64_t bytes)
{
    struct net *net = net_new(j->n_ranks, true);
    if (j->nodes)
        net_place(net, j->nodes);
    available = bytes;
    net_run(net, reduce, j);
    assert_int_equal(net_left(net), 0);
    net_free(net);
    return j->err[0];
}

/* Merges a job of which rank 0 has room for so many bytes of values. */
static void make_job(struct job *j, const struct shape *shape, int n_ranks, uint64_t room)
{
    uint64_t enough = UINT64_C(1) << 40, too_little = 0;
    memset(j, 0, sizeof *j);
    j->shape = shape;
    j->n_ranks = n_ranks;
    j->whole = make_late_job(shape, n_ranks, 2);
    while (enough - too_little > 1) {
        uint64_t middle = too_little + (enough - too_little) / 2;
        if (run_with(j, middle))
            too_little = middle;
        else
            enough = middle;
        free_result(j);
    }
    if (run_with(j, enough + 2 * room))
        fail_msg("%s", j->error[0].text);
}

static void free_job(struct job *j)
{
    free_result(j);
    free_late_job(&j->whole);
}

static unsigned n_shares(const struct job *j)
{
    unsigned n = 0;
    for (int i = 0; i < j->n_ranks; i++)
        n += j->reduced[i].share != NULL;
    return n;
}

static struct pc_share_target target_of(const struct job *j, const char *path, int rank)
{
    return (struct pc_share_target){.path = path,
                                    .job_key = j->whole.main->job_key,
                                    .world_size = (uint32_t)j->n_ranks,
                                    .first_rank = rank,
                                    .last_rank = j->reduced[rank].last_rank};
}

static int write_share(const struct job *j, const char *path, int rank, struct pc_error *e)
{
    const struct pc_share_target to = target_of(j, path, rank);
    return pc_pcol_write_share(&to, j->reduced[rank].share, j->reduced[rank].share_bytes, e);
}

/* Writes the file without that share, -1: with all. */
static void write_file(const struct job *j, const char *path, int without)
{
    struct pc_error e = {""};
    if (pc_pcol_write(j->reduced[0].sum, path, PC_PCOL_LATE_SLOTS, &e))
        fail_msg("%s", e.text);
    for (int rank = j->n_ranks; rank-- > 0;)
        if (rank != without && j->reduced[rank].share && write_share(j, path, rank, &e))
            fail_msg("%s", e.text);
}

static void assert_on_demand(const char *path, const struct pc_profile *whole)
{
    struct pc_profile *p;
    struct pc_error e = {""};
    assert_int_equal(pc_pcol_read_columns(path, &p, &e), PC_OK);
    assert_string_equal(e.text, "");
    if (pc_profile_check_values(p, &e))
        fail_msg("%s", e.text);
    for (uint32_t k = whole->n_fields; k-- > 0;)
        for (uint32_t i = 0; i < whole->n_data; i++) {
            const struct pc_profile_data *d = &whole->data[i];
            struct pc_by_rank by = pc_data_by_rank(p, &p->data[i], k);
            assert_int_equal(by.n, d->ranks ? d->n_ranks : 0);
            for (uint32_t r = 0; r < by.n; r++) {
                assert_int_equal(by.ranks[r], d->ranks[r]);
                assert_int_equal(pc_by_rank_value(&by, r), pc_data_value(whole, d, r, k));
            }
        }
    assert_null(pc_profile_unread(p));
    pc_profile_free(p);
}

/* As `pcollect embed` does: the values pass to another file, which has columns. */
static void assert_passed_on(const char *path, const struct pc_profile *whole)
{
    char other[PATH_BYTES];
    struct pc_profile *p, *q;
    struct pc_error e = {""};
    assert_int_equal(pc_pcol_read_histograms(path, &p, &e), PC_OK);
    if (pc_pcol_write(p, path_in(other, "other.pcol"), 0, &e))
        fail_msg("%s", e.text);
    q = must_read(other);
    assert_same_bytes(q, whole);
    pc_profile_free(p);
    pc_profile_free(q);
    unlink(other);
}

static const uint64_t rooms[] = {1, 2000, 20000};

static void values_in_shares_are_those_that_go_through_rank_0(void **state)
{
    (void)state;
    static const int sizes[] = {2, 3, 5, 8, 16};
    unsigned n_jobs[MOST_RANKS + 1] = {0};
    for (unsigned i = 0; i < PC_ARRAY_LEN(sizes); i++)
        for (unsigned s = 0; s < n_shapes; s++) {
            static struct job j;
            char path[PATH_BYTES];
            make_job(&j, &shapes[s], sizes[i], rooms[(s + i) % PC_ARRAY_LEN(rooms)]);
            write_file(&j, path_in(path, "shares.pcol"), -1);
            struct pc_profile *p = must_read(path);
            assert_same_bytes(p, j.whole.main);
            assert_on_demand(path, p);
            assert_passed_on(path, p);
            n_jobs[n_shares(&j)]++;
            pc_profile_free(p);
            unlink(path);
            free_job(&j);
        }
    for (unsigned n = 0; n <= 16; n = n ? 2 * n : 2) /* with none, and with 2, 4, 8 and 16 */
        assert_true(n_jobs[n] > 0);
}

/* A share is of ranks with consecutive numbers. */
static void a_tree_by_node_makes_no_shares(void **state)
{
    (void)state;
    static const uint64_t by_turns[] = {1, 2, 1, 2, 1, 2, 1, 2};
    static struct job j;
    make_job(&j, &shapes[2], PC_ARRAY_LEN(by_turns), 2000);
    assert_true(n_shares(&j) > 1);
    free_result(&j);
    j.nodes = by_turns;
    assert_int_equal(run_with(&j, available), PC_OK);
    assert_int_equal(n_shares(&j), 0);
    assert_int_equal(j.reduced[0].sum->n_ranks, j.n_ranks);
    free_job(&j);
}

/* Late parts are added to values in shares as to those in columns. */
static void late_parts_are_laid_over_shares(void **state)
{
    (void)state;
    for (unsigned s = 0; s < n_shapes; s++) {
        static struct job j;
        char path[PATH_BYTES];
        struct pc_profile *p;
        make_job(&j, &shapes[s], 4, 1);
        write_file(&j, path_in(path, "late.pcol"), -1);
        for (int rank = 0; rank < 4; rank++)
            assert_int_equal(pc_pcol_write_late(path, j.whole.late[rank], true, NULL), PC_OK);
        p = must_read(path);
        if (shapes[s].per_rank == 0)
            assert_same_bytes(p, j.whole.whole);
        assert_on_demand(path, p);
        pc_profile_free(p);
        assert_int_equal(pc_pcol_read_statistics(path, &p, NULL), PC_OK);
        pc_profile_free(p);
        unlink(path);
        free_job(&j);
    }
}

/* Reads a file of which a share is missing. Returns the number of records whose values it has. */
static uint32_t count_kept(const struct job *j, const char *path, int first, int last)
{
    struct pc_profile *p;
    struct pc_error e = {""};
    uint32_t n = 0;
    char says[100];
    snprintf(says, sizeof says, "first: ranks %d to %d)", first, last);
    assert_int_equal(pc_pcol_read(path, &p, &e), PC_OK);
    if (!strstr(e.text, "1 of ") || !strstr(e.text, says))
        fail_msg("\"%s\" does not say \"%s\"", e.text, says);
    for (uint32_t i = 0; i < p->n_data; i++) {
        const struct pc_profile_data *d = &p->data[i], *e_d = &j->whole.main->data[i];
        bool missing = false;
        for (uint32_t r = 0; r < e_d->n_ranks; r++)
            missing |= e_d->ranks[r] >= first && e_d->ranks[r] <= last;
        assert_int_equal(d->kept, missing ? PC_KEPT_NONE : PC_KEPT_EXACT);
        for (uint32_t k = d->first_field; k < p->n_fields; k++) {
            struct pc_stat got = pc_data_stat(p, d, k),
                           wanted = pc_data_stat(j->whole.main, e_d, k);
            assert_memory_equal(&got, &wanted, sizeof got);
        }
        n += !missing;
    }
    pc_profile_free(p);
    return n;
}

static const struct shape scattered = {"scattered", 40, 3, 40, true, 1000000, true, true, 0};

static void a_share_that_is_missing_or_damaged_is_left_out_and_said(void **state)
{
    (void)state;
    static struct job j;
    char path[PATH_BYTES];
    make_job(&j, &scattered, 7, 2000);
    assert_int_equal(n_shares(&j), 4);
    for (int rank = 0; rank < 7; rank += 2) {
        int last = rank < 6 ? rank + 1 : 6;
        write_file(&j, path_in(path, "missing.pcol"), rank);
        uint32_t n = count_kept(&j, path, rank, last);
        assert_in_range(n, 1, j.whole.main->n_data - 1);
        assert_int_equal(write_share(&j, path, rank, NULL), PC_OK);
        struct pc_profile *p = must_read(path);
        assert_same_bytes(p, j.whole.main);
        pc_profile_free(p);
        for (unsigned i = 0; i < 20; i++) { /* as if its writer had died */
            struct pc_reduced *r = &j.reduced[rank];
            uint8_t *byte = &r->share[i * (r->share_bytes - 1) / 19];
            *byte ^= 1;
            assert_int_equal(write_share(&j, path, rank, NULL), PC_OK);
            *byte ^= 1;
            assert_int_equal(count_kept(&j, path, rank, last), n);
        }
        unlink(path);
    }
    free_job(&j);
}

/* A file that was cut off, and a directory with wrong bytes. */
static void damage_is_found_and_never_crashes(void **state)
{
    (void)state;
    static struct job j;
    char path[PATH_BYTES];
    struct pc_profile *p;
    struct pc_error e;
    struct stat st;
    size_t n;
    make_job(&j, &scattered, 4, 2000);
    write_file(&j, path_in(path, "damage.pcol"), -1);
    uint8_t *bytes = slurp(path, &n);
    uint64_t at = pc_load_le(bytes + 52, 8);
    for (unsigned i = 0; i < 100; i++) { /* from the header of the section to its first share */
        uint8_t *byte = &bytes[at - PC_PCOL_SECTION_BYTES + i];
        *byte ^= 1;
        spit(path, bytes, n);
        *byte ^= 1;
        int err = pc_pcol_read(path, &p, &e);
        assert_true(err ? *e.text : true);
        if (!err)
            pc_profile_free(p);
    }
    spit(path, bytes, n);
    assert_int_equal(stat(path, &st), 0);
    for (uint64_t cut = n - 1; cut > at + 100; cut -= (n - at) / 20) {
        assert_int_equal(truncate(path, (off_t)cut), 0);
        assert_int_equal(pc_pcol_read(path, &p, &e), PC_OK);
        assert_non_null(strstr(e.text, " damaged or w"));
        assert_non_null(strstr(e.text, " not written (first: ranks "));
        pc_profile_free(p);
    }
    free(bytes);
    unlink(path);
    free_job(&j);
}

static void expect_refusal(const struct pc_share_target *to, const struct job *j, const char *says)
{
    struct pc_error e = {""};
    assert_true(pc_pcol_write_share(to, j->reduced[2].share, j->reduced[2].share_bytes, &e) !=
                PC_OK);
    if (!strstr(e.text, says) || !strstr(e.text, "the values of ranks 2 to 3 cannot be added"))
        fail_msg("\"%s\" does not say \"%s\"", e.text, says);
}

static void a_share_is_written_into_the_right_file_only(void **state)
{
    (void)state;
    static struct job j;
    char path[PATH_BYTES];
    struct rlimit old, small = {4096, RLIM_INFINITY};
    size_t n, n_after;
    make_job(&j, &scattered, 4, 2000);
    assert_int_equal(n_shares(&j), 2);
    const struct pc_share_target right = target_of(&j, path_in(path, "right.pcol"), 2);
    struct pc_share_target to = right;
    expect_refusal(&to, &j, "No such file or directory");
    write_file(&j, path, -1);
    uint8_t *before = slurp(path, &n);
    to.job_key++;
    expect_refusal(&to, &j, "it is the profile of another job by now");
    to = right;
    j.reduced[2].share_bytes--;
    expect_refusal(&to, &j, "it has no place for them");
    j.reduced[2].share_bytes++;
    getrlimit(RLIMIT_FSIZE, &old);
    small.rlim_max = old.rlim_max;
    setrlimit(RLIMIT_FSIZE, &small);
    expect_refusal(&to, &j, "the file size limit is 4096 bytes");
    setrlimit(RLIMIT_FSIZE, &old);
    uint8_t *after = slurp(path, &n_after);
    assert_int_equal(n_after, n);
    assert_memory_equal(after, before, n);
    assert_int_equal(pc_pcol_write(j.whole.main, path, 0, NULL), PC_OK);
    expect_refusal(&to, &j, "it has no place for values by rank");
    free(before);
    free(after);
    unlink(path);
    free_job(&j);
}

/* No rank waits for one that fails, and there is no profile or a whole one. */
static void every_failing_transfer_is_an_error_on_rank_0(void **state)
{
    (void)state;
    static struct job j;
    char path[PATH_BYTES];
    unsigned n_errors = 0;
    make_job(&j, &scattered, 7, 2000);
    free_result(&j);
    for (int rank = 0; rank < 7; rank++) {
        bool failed = true;
        for (unsigned at = 1; failed; at++) {
            struct net *net = net_new(7, false);
            net_rank(net, rank)->fail_at = at;
            net_run(net, reduce, &j);
            failed = net_rank(net, rank)->n_calls >= at;
            assert_int_equal(j.err[0] != PC_OK, j.reduced[0].sum == NULL);
            n_errors += j.err[0] != PC_OK;
            if (!j.err[0]) {
                write_file(&j, path_in(path, "failing.pcol"), -1);
                struct pc_profile *p = must_read(path);
                assert_same_bytes(p, j.whole.main);
                pc_profile_free(p);
                unlink(path);
            }
            free_result(&j);
            net_free(net);
        }
    }
    assert_true(n_errors > 50);
    free_late_job(&j.whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_in_shares_are_those_that_go_through_rank_0),
        cmocka_unit_test(a_tree_by_node_makes_no_shares),
        cmocka_unit_test(late_parts_are_laid_over_shares),
        cmocka_unit_test(a_share_that_is_missing_or_damaged_is_left_out_and_said),
        cmocka_unit_test(damage_is_found_and_never_crashes),
        cmocka_unit_test(a_share_is_written_into_the_right_file_only),
        cmocka_unit_test(every_failing_transfer_is_an_error_on_rank_0),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
