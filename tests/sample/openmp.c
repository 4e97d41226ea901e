/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A parallel region of two threads (with -DTEAM= of OMP_NUM_THREADS threads) that compute. `enter`
 * enters the region, and the OpenMP runtime calls its body in each thread. Without MPI there is
 * another region, whose tasks run at its end. With MPI (-DWITH_MPI)
 * each thread also calls MPI. Argument: milliseconds of CPU time of each thread. With -DDEPTH=N
 * each of the first 2^N milliseconds has a context of its own, and nothing else is done.
 */
#ifdef WITH_MPI
#include <mpi.h>
#endif
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#ifndef TEAM
#define TEAM num_threads(2)
#endif

void enter(int ms);
void body(int ms);
void loop(int n);
void job(int ms);
void tasks(int ms);

static volatile double sink;

static uint64_t cpu_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static inline void compute(int ms)
{
    for (uint64_t end = cpu_ns() + (uint64_t)ms * 1000000u; cpu_ns() < end;) {
        double x = 1;
        for (int i = 0; i < 20000; i++)
            x = x * 0.999 + 1.0;
        sink = x;
    }
}

__attribute__((noinline)) void job(int ms)
{
    compute(ms);
    __asm__ volatile("");
}

__attribute__((noinline)) void body(int ms)
{
    compute(ms);
#ifdef WITH_MPI
    int flag;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
#endif
    __asm__ volatile("");
}

__attribute__((noinline)) void enter(int ms)
{
#pragma omp parallel TEAM
    {
        body(ms);
        __asm__ volatile("");
    }
    __asm__ volatile("");
}

/* The main thread runs none of its tasks: the other one does, when it has left the region's
 * function. */
__attribute__((noinline)) void tasks(int ms)
{
    int done = 0;
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() == 0) {
        for (int i = 0; i < 4; i++) {
#pragma omp task shared(done)
            {
                job(ms / 4);
#pragma omp atomic
                done++;
            }
        }
        for (int n = 0; n < 4;) {
#pragma omp atomic read
            n = done;
        }
    }
    __asm__ volatile("");
}

/* Uses every kind of schedule, each of which has its own entry of the runtime. Each iteration is
 * done once. */
__attribute__((noinline)) void loop(int n)
{
    int sum = 0, sections = 0;
#pragma omp parallel for schedule(dynamic, 3) num_threads(2) reduction(+ : sum)
    for (int i = 0; i < n; i++)
        sum += 1;
#pragma omp parallel for schedule(guided) num_threads(2) reduction(+ : sum)
    for (int i = 0; i < n; i++)
        sum += 1;
#pragma omp parallel for schedule(runtime) num_threads(2) reduction(+ : sum)
    for (int i = 0; i < n; i++)
        sum += 1;
#pragma omp parallel for num_threads(2) reduction(task, + : sum)
    for (int i = 0; i < n; i++)
        sum += 1;
#pragma omp parallel sections num_threads(2) reduction(+ : sections)
    {
#pragma omp section
        sections += 1;
#pragma omp section
        sections += 1;
    }
    printf("%d %d\n", sum, sections);
}

#ifdef DEPTH
void one(int depth, unsigned path);
void two(int depth, unsigned path);

/* The calls to the region are a path through a binary tree. */
static void go_on(int depth, unsigned path)
{
    if (!depth)
        enter(1);
    else if (path & 1)
        one(depth - 1, path >> 1);
    else
        two(depth - 1, path >> 1);
    __asm__ volatile("");
}

__attribute__((noinline)) void one(int depth, unsigned path)
{
    go_on(depth, path);
}

__attribute__((noinline)) void two(int depth, unsigned path)
{
    go_on(depth, path);
    __asm__ volatile("" ::: "memory");
}
#endif

int main(int argc, char **argv)
{
#ifdef DEPTH
    int n = argc > 1 ? atoi(argv[1]) : 0;
    for (int i = 0; i < n; i++)
        go_on(DEPTH, (unsigned)i);
    return 0;
#endif
    int ms = argc > 1 ? atoi(argv[1]) : 100;
#ifdef WITH_MPI
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
#endif
    for (int i = 0; i < 4; i++)
        enter(ms / 4);
    loop(100);
#ifndef WITH_MPI
    tasks(ms);
#endif
#ifdef WITH_MPI
    MPI_Finalize();
#endif
    return 0;
}
