/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Makes 100,000 calls of MPI in known contexts in main, and as many in a thread. Prints the
 * allocations and locks during these calls. Two calls of access() mark the loop in a trace of
 * system calls.
 */
#include "tests/safety/quiet.h"

#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

enum { ROUNDS = 20000, WARM = 3000 };

static __attribute__((noinline)) void call(int rounds)
{
    int rank, flag, x = 0, sum;
    for (int i = 0; i < rounds; i++) {
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        MPI_Send(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
        MPI_Allreduce(&x, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

static void *measure(void *name)
{
    unsigned long allocations = 0, locks = 0;
    /* One call site for both passes, so that its context is known in the second one. */
    for (int warm = 1; warm >= 0; warm--) {
        allocations = n_allocations;
        locks = n_locks;
        if (!warm)
            access("/loop-begins", F_OK);
        call(warm ? WARM : ROUNDS);
        if (!warm)
            access("/loop-ends", F_OK);
        allocations = n_allocations - allocations;
        locks = n_locks - locks;
    }
    printf("%s: %lu allocations, %lu locks\n", (char *)name, allocations, locks);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    int provided;
    char in_main[] = "main", in_thread[] = "thread";
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    quiet_fake = 1;
    measure(in_main);
    pthread_create(&thread, NULL, measure, in_thread);
    pthread_join(thread, NULL);
    quiet_fake = 0;
    MPI_Finalize();
    return 0;
}
