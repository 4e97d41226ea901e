/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The text of calls that have not ended: which functions receive from their partner, and which send
 * to it.
 */
#include "command/where_calls.h"
#include "libcollect/adapter.h"
#include "libcollect/state/ops.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void partners_are_sources_or_destinations(void **state)
{
    static const struct {
        const char *op;
        int peer, source;
        const char *wanted;
    } cases[] = {
        {"MPI_Send_c", 1, -1, "MPI_Send_c to rank 1, tag 7 "},
        {"MPI_Bsend_init", 1, -1, "MPI_Bsend_init to rank 1, tag 7 "},
        {"MPI_Recv", 1, -1, "MPI_Recv from rank 1, tag 7 "},
        {"MPI_Irecv", 1, -1, "MPI_Irecv from rank 1, tag 7 "},
        {"MPI_Precv_init", 1, -1, "MPI_Precv_init from rank 1, tag 7 "},
        {"MPI_Improbe", 1, -1, "MPI_Improbe from rank 1, tag 7 "},
        {"MPI_Probe", -1, -1, "MPI_Probe from any rank, tag 7 "},
        {"MPI_Probe", PCT_RANK_NULL, -1, "MPI_Probe from MPI_PROC_NULL, tag 7 "},
        {"MPI_Sendrecv", 1, 2, "MPI_Sendrecv to rank 1 and from rank 2, tag 7 "},
        {"MPI_Isendrecv_c", 1, 2, "MPI_Isendrecv_c to rank 1 and from rank 2, tag 7 "},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pct_mpi_call call = {.known = true,
                                    .comm = PCT_COMM_WORLD,
                                    .peer = cases[i].peer,
                                    .source = cases[i].source,
                                    .tag = 7,
                                    .root = -1};
        struct pct_waiting rank = {.rank = 0, .op = cases[i].op, .call = &call, .ns = 5000000000};
        int number;
        struct pct_where_calls calls = {.ranks = &rank, .n = 1, .numbers = &number};
        char *text = NULL;
        size_t n = 0;
        FILE *out = open_memstream(&text, &n);
        pct_where_calls_print(out, &calls, 200);
        fclose(out);
        if (!strstr(text, cases[i].wanted))
            fail_msg("%s: %s", cases[i].op, text);
        free(text);
    }
}

/* A call in the memory of this process, as the wrapper leaves it. */
static int peer_found(const char *op, int given)
{
    static const struct pc_adapter adapter = {
        .abi = PC_CORE_ABI, .size = sizeof adapter, .proc_null = -7};
    static struct {
        struct pc_call call;
        uint64_t ret, above;
    } stack;
    struct pct_mpi_call found;
    struct pct_caught c = {.pid = getpid(),
                           .sp = (uintptr_t)&stack,
                           .stack = (uint8_t *)&stack,
                           .n_stack = sizeof stack};
    uint16_t number = (uint16_t)(pc_op_find(op) - pc_op_rows);
    stack.ret = 4711;
    stack.call = (struct pc_call){
        .cfa = (uintptr_t)&stack.above,
        .ret = 4711,
        .slot = 2u * number,
        .event = {.size = sizeof stack.call.event, .op = number, .peer = given, .tag = 7}};
    pct_mpi_call_find(&c, (uintptr_t)&adapter, &found);
    assert_true(found.known);
    return found.peer;
}

static void the_source_of_a_receive_may_be_nobody(void **state)
{
    uint64_t word = 1, copy = 0;
    (void)state;
    if (pct_caught_read(getpid(), (uintptr_t)&word, &copy, sizeof copy) != sizeof copy)
        skip(); /* emulated processes cannot be read by others */
    assert_int_equal(peer_found("MPI_Recv", 3), 3);
    assert_int_equal(peer_found("MPI_Recv", -7), PCT_RANK_NULL);
    assert_int_equal(peer_found("MPI_Probe", -7), PCT_RANK_NULL);
    assert_int_equal(peer_found("MPI_Recv", -2), -1);
    assert_int_equal(peer_found("MPI_Send", 3), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(partners_are_sources_or_destinations),
        cmocka_unit_test(the_source_of_a_receive_may_be_nobody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
