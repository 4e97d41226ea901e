/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The module's job around the reduction, over a transport in memory. A rank that waits for ever
 * ends the test by the alarm.
 */
#include "merge/message.h"
#include "tests/merge/made_job.h"
#include "tests/merge/unpacked.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <unistd.h>

#include "tests/folder.h"

enum { HANG_S = 600 };

extern const struct pc_merge_module pc_merge_module;

static void run_job(struct net_rank *r, void *arg)
{
    struct job *j = arg;
    int me = r->transport.rank;
    j->merged[me].path[0] = '\0';
    if (j->absent[me])
        j->err[me] = pc_merge_absent(&r->transport, &j->error[me]);
    else
        j->err[me] = pc_merge_module.job(&j->arenas[me].arena, &r->transport, me ? NULL : j->out,
                                         &j->merged[me], &j->error[me]);
}

static void all_ranks_learn_where_the_profile_is(void **state)
{
    (void)state;
    static struct job j;
    char out[300];
    snprintf(out, sizeof out, "%s/x.pcol", folder);
    make_job(&j, &shapes[2], 5);
    j.out = out;
    struct net *net = net_new(j.n_ranks, true);
    net_run(net, run_job, &j);
    for (int rank = 0; rank < j.n_ranks; rank++) {
        assert_int_equal(j.err[rank], PC_OK);
        assert_string_equal(j.error[rank].text, "");
        assert_string_equal(j.merged[rank].path, out);
    }
    struct pc_profile *p, *whole = merge_in_order(&j);
    assert_int_equal(pc_pcol_read(out, &p, NULL), PC_OK);
    assert_same_bytes(p, whole);
    pc_profile_free(p);
    pc_profile_free(whole);
    net_free(net);
    free_job(&j);
    unlink(out);
}

static void a_failure_to_write_is_told_to_all_ranks(void **state)
{
    (void)state;
    static struct job j;
    char bad[300];
    snprintf(bad, sizeof bad, "%s/missing/x.pcol", folder);
    const char *const outs[] = {bad, NULL, ""};
    make_job(&j, &shapes[1], 3);
    for (unsigned i = 0; i < PC_ARRAY_LEN(outs); i++) {
        struct net *net = net_new(j.n_ranks, true);
        j.out = outs[i];
        net_run(net, run_job, &j);
        for (int rank = 0; rank < j.n_ranks; rank++) {
            assert_int_equal(j.err[rank], i ? PC_EARG : PC_ENOENT);
            assert_string_equal(j.error[rank].text, j.error[0].text);
            assert_non_null(strstr(j.error[0].text, i ? "no path" : bad));
        }
        net_free(net);
    }
    free_job(&j);
}

/* Messages are larger than a piece and senders wait: the rank without module must receive them
 * all. */
static void hold_up_nobody(const uint64_t *nodes)
{
    static const struct shape large = {"large",        900,  10,   1000000, false,
                                       UINT64_MAX - 1, true, true, 2};
    static struct job j;
    char out[300];
    uint8_t *bytes;
    size_t n;
    snprintf(out, sizeof out, "%s/x.pcol", folder);
    make_job(&j, &large, 6);
    struct pc_profile *p = profile_of_rank(&j, 1);
    assert_int_equal(pc_profile_encode(p, &bytes, &n), PC_OK);
    assert_true(n > PC_MESSAGE_PIECE_BYTES);
    free(bytes);
    pc_profile_free(p);
    j.out = out;
    j.nodes = nodes;
    for (unsigned set = 1; set < 1u << j.n_ranks; set += set < 8 ? 1 : 9) {
        struct net *net = net_of(&j, true);
        for (int rank = 0; rank < j.n_ranks; rank++)
            j.absent[rank] = set >> rank & 1;
        net_run(net, run_job, &j);
        for (int rank = 0; rank < j.n_ranks; rank++) {
            assert_int_not_equal(j.err[rank], PC_OK);
            assert_int_not_equal(j.error[rank].text[0], 0);
            assert_string_equal(j.error[rank].text, j.error[0].text);
        }
        assert_int_equal(net_left(net), 0);
        assert_int_not_equal(access(out, F_OK), 0);
        net_free(net);
    }
    free_job(&j);
}

static void ranks_without_the_module_hold_up_nobody(void **state)
{
    (void)state;
    hold_up_nobody(NULL);
    hold_up_nobody((uint64_t[]){1, 2, 3, 1, 2, 3});
}

static void a_failed_broadcast_is_an_error(void **state)
{
    (void)state;
    static struct job j;
    char out[300];
    snprintf(out, sizeof out, "%s/x.pcol", folder);
    make_job(&j, &shapes[0], 2);
    j.out = out;
    for (unsigned at = 1, n_calls = at; n_calls >= at; at++) {
        struct net *net = net_new(2, false);
        unlink(out); /* a second profile of this name would get another */
        net_rank(net, 1)->fail_at = at;
        net_run(net, run_job, &j);
        n_calls = net_rank(net, 1)->n_calls;
        assert_int_equal(j.err[1] != PC_OK, n_calls >= at);
        net_free(net);
    }
    free_job(&j);
    unlink(out);
}

static int begin(void **state)
{
    alarm(HANG_S);
    return folder_make(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_ranks_learn_where_the_profile_is),
        cmocka_unit_test(a_failure_to_write_is_told_to_all_ranks),
        cmocka_unit_test(ranks_without_the_module_hold_up_nobody),
        cmocka_unit_test(a_failed_broadcast_is_an_error),
    };
    return cmocka_run_group_tests(tests, begin, folder_remove);
}
