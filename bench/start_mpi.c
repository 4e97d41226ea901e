/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Times for the start and the end of a rank. Each rank prints microseconds: CPU time of the process
 * when main begins (loading and linking), wall time of MPI_Init, wall time of MPI_Finalize.
 */
#include <mpi.h>

#include <stdio.h>
#include <time.h>

static double us(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

int main(int argc, char **argv)
{
    double loaded = us(CLOCK_PROCESS_CPUTIME_ID), begin = us(CLOCK_MONOTONIC);
    MPI_Init(&argc, &argv);
    double started = us(CLOCK_MONOTONIC) - begin;
    MPI_Barrier(MPI_COMM_WORLD);
    begin = us(CLOCK_MONOTONIC);
    MPI_Finalize();
    printf("%.1f %.1f %.1f\n", loaded, started, us(CLOCK_MONOTONIC) - begin);
    return 0;
}
