/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A mixture of computation that measures its own CPU times: many short pieces of each kind of work
 * alternate, timed by the thread's CPU clock. Prints the CPU time of each kind, summed over ranks.
 *
 * Arguments: milliseconds of work of each rank.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int shallow(int ms, int part);
int deep(int depth, int ms);
int leaf(int ms);

static volatile double sink;

static uint64_t cpu_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* A few microseconds of arithmetic, without a system call. */
#define BURN()                                                                                     \
    do {                                                                                           \
        double x = sink;                                                                           \
        for (int burnt = 0; burnt < 3000; burnt++)                                                 \
            x = x * 0.999 + 1.0;                                                                   \
        sink = x;                                                                                  \
    } while (0)

__attribute__((noinline)) int leaf(int us)
{
    for (int i = 0; i < us; i++)
        BURN();
    return us;
}

__attribute__((noinline)) int shallow(int us, int part)
{
    for (int i = 0; i < us; i++)
        BURN();
    return part + us;
}

__attribute__((noinline)) int deep(int depth, int us)
{
    int result = depth ? deep(depth - 1, us) : leaf(us);
    __asm__ volatile("" : "+r"(result)); /* no tail call, no loop */
    return result + 1;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int ms = argc > 1 ? atoi(argv[1]) : 1000, rank;
    uint64_t own[2] = {0, 0}, sum[2], end = (uint64_t)ms * 1000000u;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int k = 0; own[0] + own[1] < end; k++) {
        uint64_t t0 = cpu_ns();
        shallow(20 + k % 7, rank);
        uint64_t t1 = cpu_ns();
        deep(30 + k % 5, 40 + rank * 20);
        uint64_t t2 = cpu_ns();
        own[0] += t1 - t0;
        own[1] += t2 - t1;
    }
    MPI_Reduce(own, sum, 2, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("shallow %.6f\nleaf %.6f\n", (double)sum[0] * 1e-9, (double)sum[1] * 1e-9);
    MPI_Finalize();
    return 0;
}
