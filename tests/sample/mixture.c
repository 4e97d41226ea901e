/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A mixture of three functions that measures its own CPU times. Stays in a function have random
 * lengths; one function is below many frames. Times are those of the thread's CPU clock minus the
 * cost of interrupts that the profiler reports. Prints the CPU time of each function in s, summed
 * over ranks.
 *
 * Arguments: seed of the lengths, CPU time of each rank in ms, kind of mixture:
 *   fast    stays much shorter than the time between two interrupts
 *   slow    stays of many interrupts
 *   beat    equal stays, with a period near that of the interrupts
 *
 * With -DRANKS it is an MPI program.
 */
#ifdef RANKS
#include <mpi.h>
#endif
#include "pcollect/pcollect.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { N_KINDS = 3 };

int often(uint64_t us);
int seldom(uint64_t us);
int leaf(uint64_t us);
int below(int depth, uint64_t us);
void rest(uint64_t us);

static volatile double sink;
static uint64_t seed;

static uint64_t draw(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

/* CPU time of the thread without that of the profiler. */
static uint64_t own_ns(void)
{
    struct timespec ts;
    uint64_t cost = pcollect_overhead_ns();
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec - cost;
}

/* Computes for about `us` microseconds, without a call. */
#define BURN(us)                                                                                   \
    do {                                                                                           \
        double x = sink;                                                                           \
        for (uint64_t n = (us)*250; n; n--)                                                        \
            x = x * 0.999 + 1.0;                                                                   \
        sink = x;                                                                                  \
    } while (0)

__attribute__((noinline)) int often(uint64_t us)
{
    BURN(us);
    return 1;
}

__attribute__((noinline)) int seldom(uint64_t us)
{
    BURN(us);
    return 2;
}

__attribute__((noinline)) int leaf(uint64_t us)
{
    BURN(us);
    return 3;
}

__attribute__((noinline)) void rest(uint64_t us)
{
    BURN(us);
}

__attribute__((noinline)) int below(int depth, uint64_t us)
{
    int result = depth ? below(depth - 1, us) : leaf(us);
    __asm__ volatile("" : "+r"(result)); /* no tail call, no loop */
    return result + 1;
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Measured time of a stay of length 0. It is not 0, because a system call reads the clock. */
static uint64_t measure_empty(void)
{
    enum { N = 101 };
    uint64_t ns[N];
    for (int i = 0; i < N; i++) {
        ns[i] = own_ns();
        ns[i] = own_ns() - ns[i];
    }
    qsort(ns, N, sizeof ns[0], compare);
    return ns[N / 2];
}

/* Mean lengths of a stay in us. */
static const struct mixture {
    const char *name;
    uint64_t us[N_KINDS];
    int drawn;
} mixtures[] = {
    {"fast", {120, 20, 60}, 1}, {"slow", {9000, 3000, 6000}, 1}, {"beat", {350, 50, 300}, 0}};

static void stay(int kind, uint64_t us)
{
    if (kind == 0)
        often(us);
    else if (kind == 1)
        seldom(us);
    else
        below(20 + (int)(draw() % 20), us);
}

static void compute(const struct mixture *m, uint64_t end_ns, uint64_t *own)
{
    uint64_t empty = measure_empty();
    for (uint64_t i = 0, all = 0; all < end_ns; i++) {
        int kind = (int)((m->drawn ? draw() : i) % N_KINDS);
        uint64_t us = m->drawn ? 1 + draw() % (2 * m->us[kind]) : m->us[kind];
        uint64_t begin = own_ns();
        stay(kind, us);
        uint64_t passed = own_ns() - begin;
        own[kind] += passed > empty ? passed - empty : 0;
        all += passed;
    }
}

int main(int argc, char **argv)
{
    uint64_t own[N_KINDS] = {0, 0, 0}, ms = argc > 2 ? strtoull(argv[2], NULL, 10) : 300;
    const struct mixture *m = mixtures;
    int rank = 0;
    for (size_t i = 0; i < sizeof mixtures / sizeof mixtures[0]; i++)
        if (argc > 3 && !strcmp(argv[3], mixtures[i].name))
            m = &mixtures[i];
#ifdef RANKS
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#endif
    seed = (argc > 1 ? strtoull(argv[1], NULL, 10) : 1) * 0x9e3779b97f4a7c15u + (uint64_t)rank + 1;
    for (int i = 0; i < 10; i++)
        draw();
    /* Time before the first interrupt and after the last one has no samples. */
    rest(20000 + draw() % 5000);
    compute(m, ms * 1000000u, own);
    rest(20000 + draw() % 5000);
#ifdef RANKS
    uint64_t sum[N_KINDS];
    MPI_Reduce(own, sum, N_KINDS, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    memcpy(own, sum, sizeof own);
#endif
    if (rank == 0)
        printf("often %.9f\nseldom %.9f\nleaf %.9f\n", (double)own[0] * 1e-9, (double)own[1] * 1e-9,
               (double)own[2] * 1e-9);
#ifdef RANKS
    MPI_Finalize();
#endif
    return 0;
}
