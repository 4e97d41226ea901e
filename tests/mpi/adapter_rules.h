/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Macros of the programs that test the adapters: one line for each call, with the bytes that must
 * be booked for it, written by hand as a closed form.
 */
#ifndef PC_TEST_ADAPTER_RULES_H
#define PC_TEST_ADAPTER_RULES_H

#include "tests/mpi/adapter_host.h"

#include <mpi.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static adapter_host_look_fn *look __attribute__((unused));
static struct adapter_seen seen __attribute__((unused));
static int failures, checks __attribute__((unused));
static int rank __attribute__((unused)), size __attribute__((unused));

static inline void find_host(void)
{
    look = (adapter_host_look_fn *)dlsym(RTLD_DEFAULT, "adapter_host_look");
    if (!look) {
        fprintf(stderr, "the host of the adapters is not preloaded\n");
        exit(1);
    }
}

static inline void expect(const char *file, int line, const char *what, uint64_t got,
                          uint64_t wanted)
{
    checks++;
    if (got == wanted)
        return;
    failures++;
    fprintf(stderr, "%s:%d: rank %d of %d: %s: %llu, not %llu\n", file, line, rank, size, what,
            (unsigned long long)got, (unsigned long long)wanted);
}

#define EXPECT(what, wanted) expect(__FILE__, __LINE__, #what, (uint64_t)(what), (uint64_t)(wanted))

/* Makes the call MPI_<op> args and checks that it is counted once, with these bytes. */
#define CALL(function, args, sent_bytes, received_bytes)                                           \
    do {                                                                                           \
        look(&seen);                                                                               \
        uint64_t calls_before = seen.calls;                                                        \
        EXPECT(MPI_##function args, MPI_SUCCESS);                                                  \
        look(&seen);                                                                               \
        expect(__FILE__, __LINE__, "calls of " #function, seen.calls - calls_before, 1);           \
        expect(__FILE__, __LINE__, "name " #function, (uint64_t)strcmp(seen.op, "MPI_" #function), \
               0);                                                                                 \
        expect(__FILE__, __LINE__, "sent by " #function, seen.sent, (uint64_t)(sent_bytes));       \
        expect(__FILE__, __LINE__, "received by " #function, seen.received,                        \
               (uint64_t)(received_bytes));                                                        \
    } while (0)

/* A nonblocking call, completed at once: the bytes that it must book itself, and those on
 * completion. */
#define CALL_I(function, args, sent_bytes, received_bytes)                                         \
    do {                                                                                           \
        CALL(function, args, sent_bytes, received_bytes);                                          \
        MPI_Wait(&request, MPI_STATUS_IGNORE);                                                     \
    } while (0)

static inline int report(const char *name)
{
    int all = failures;
    PMPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        fprintf(stderr, "%s: %d checks on rank 0, %d failures in all\n", name, checks, all);
    return all != 0;
}

#endif
