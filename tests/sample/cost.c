/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The same work with and without the profiler, timed by the thread's CPU clock. Prints the CPU time
 * of the work in s, and the cost of the profiler in that time by pcollect_overhead_ns, in s.
 *
 *     cost N ROUNDS CONTEXTS    computes N times, ROUNDS rounds each time, in CONTEXTS contexts
 *                               that take turns; 0: in a new context each time, up to 2^20
 *                               contexts; with -DCALLS each time also makes an MPI call
 *     cost N threads            makes N threads of a few ms, one after the other
 */
#ifdef CALLS
#include <mpi.h>
#endif
#include "pcollect/pcollect.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int below(int depth, uint64_t rounds);
int either(int depth, uint64_t rounds);
void work(uint64_t n, uint64_t rounds, uint64_t contexts);

static volatile double sink;

static uint64_t cpu_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static void burn(uint64_t rounds)
{
    double x = sink;
    for (; rounds; rounds--)
        x = x * 0.999 + 1.0;
    sink = x;
}

static void at_the_bottom(uint64_t rounds)
{
#ifdef CALLS
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#endif
    burn(rounds);
}

/* Choice between two functions at each of 20 frames, one bit each: 2^20 contexts. */
static uint64_t way;

__attribute__((noinline)) int either(int depth, uint64_t rounds)
{
    int result = below(depth - 1, rounds);
    __asm__ volatile("" : "+r"(result)); /* no tail call, no loop */
    return result + 2;
}

__attribute__((noinline)) int below(int depth, uint64_t rounds)
{
    int result = 0;
    if (!depth)
        at_the_bottom(rounds);
    else if (way >> depth & 1)
        result = either(depth, rounds);
    else
        result = below(depth - 1, rounds);
    __asm__ volatile("" : "+r"(result));
    return result + 1;
}

static void *compute(void *rounds)
{
    burn(*(uint64_t *)rounds);
    return NULL;
}

static void make_threads(uint64_t n)
{
    uint64_t rounds = 1000000; /* some 4 ms */
    for (pthread_t thread; n; n--)
        if (!pthread_create(&thread, NULL, compute, &rounds))
            pthread_join(thread, NULL);
}

__attribute__((noinline)) void work(uint64_t n, uint64_t rounds, uint64_t contexts)
{
    for (uint64_t i = 0; i < n; i++) {
        way = (contexts ? i % contexts : i) * 2654435761u >> 7;
        below(20, rounds);
    }
}

int main(int argc, char **argv)
{
    uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000;
    uint64_t rounds = argc > 2 ? strtoull(argv[2], NULL, 10) : 2000;
    uint64_t contexts = argc > 3 ? strtoull(argv[3], NULL, 10) : 0;
#ifdef CALLS
    MPI_Init(&argc, &argv);
#endif
    uint64_t cost = pcollect_overhead_ns(), begin = cpu_ns();
    if (argc > 2 && !strcmp(argv[2], "threads"))
        make_threads(n);
    else
        work(n, rounds, contexts);
    uint64_t end = cpu_ns();
    cost = pcollect_overhead_ns() - cost;
    printf("%.6f %.6f\n", (double)(end - begin) * 1e-9, (double)cost * 1e-9);
#ifdef CALLS
    MPI_Finalize();
#endif
    return 0;
}
