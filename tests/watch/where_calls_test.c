/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The text of calls that have not ended: which functions receive from their partner, and which send
 * to it.
 */
#include "command/where_calls.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void partners_are_sources_or_destinations(void **state)
{
    static const struct {
        const char *op;
        int source;
        const char *wanted;
    } cases[] = {
        {"MPI_Send_c", -1, "MPI_Send_c to rank 1, tag 7 "},
        {"MPI_Bsend_init", -1, "MPI_Bsend_init to rank 1, tag 7 "},
        {"MPI_Recv", -1, "MPI_Recv from rank 1, tag 7 "},
        {"MPI_Irecv", -1, "MPI_Irecv from rank 1, tag 7 "},
        {"MPI_Precv_init", -1, "MPI_Precv_init from rank 1, tag 7 "},
        {"MPI_Improbe", -1, "MPI_Improbe from rank 1, tag 7 "},
        {"MPI_Sendrecv", 2, "MPI_Sendrecv to rank 1 and from rank 2, tag 7 "},
        {"MPI_Isendrecv_c", 2, "MPI_Isendrecv_c to rank 1 and from rank 2, tag 7 "},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pct_mpi_call call = {.known = true,
                                    .comm = PCT_COMM_WORLD,
                                    .peer = 1,
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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(partners_are_sources_or_destinations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
