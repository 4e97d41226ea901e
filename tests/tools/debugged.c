/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Calls MPI in a few contexts, and counts the calls of each itself, once they have returned: for a
 * debugger, which compares these counts with those of the profile. With arguments READY and STOP,
 * rank 0 makes the file READY after all rounds and waits for STOP, and the other ranks wait for
 * rank 0 in MPI_Barrier.
 */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

enum { ROUNDS = 12 };

static volatile int n_early, n_first, n_second, n_barriers;

static void sum(int n)
{
    int all;
    MPI_Allreduce(&n, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static void early(int i)
{
    sum(i);
    n_early++;
}

static void late(int i)
{
    sum(i);
    n_first++;
    sum(-i);
    n_second++;
}

static void end_round(int i)
{
    (void)i;
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < ROUNDS; i++) {
        early(i);
        if (i % 3 == 0)
            late(i);
        MPI_Barrier(MPI_COMM_WORLD);
        n_barriers++;
        end_round(i);
    }
    if (argc == 3 && rank == 0) {
        FILE *ready = fopen(argv[1], "w");
        fclose(ready);
        while (access(argv[2], F_OK) != 0)
            usleep(50000);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
