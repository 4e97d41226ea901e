/* SPDX-License-Identifier: BSD-3-Clause
 *
 * waiting team MS:    the main thread computes that long while the other thread of its OpenMP team,
 *                     which has had work before, waits for it; prints the CPU time of the other
 *                     thread meanwhile, in ms
 * waiting first MS:   the other thread of the team computes that long in the program's only region,
 *                     at whose end the main thread waits; prints the CPU time of the main thread
 * waiting library MS: one thread computes that long in runtime_work(), of a library
 * With -DRANK between MPI_Init and MPI_Finalize.
 */
#ifdef RANK
#include <mpi.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int runtime_work(double ms);

static double now_ms(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static volatile double sink;

static void compute(double ms)
{
    double end = now_ms(CLOCK_THREAD_CPUTIME_ID) + ms;
    while (now_ms(CLOCK_THREAD_CPUTIME_ID) < end)
        for (int i = 0; i < 10000; i++)
            sink += i;
}

static void team(double ms)
{
#pragma omp parallel num_threads(2)
    compute(1);
    double own = now_ms(CLOCK_THREAD_CPUTIME_ID), all = now_ms(CLOCK_PROCESS_CPUTIME_ID);
    compute(ms);
    own = now_ms(CLOCK_THREAD_CPUTIME_ID) - own;
    printf("%.3f\n", now_ms(CLOCK_PROCESS_CPUTIME_ID) - all - own);
}

static void first(double ms)
{
    double own = now_ms(CLOCK_THREAD_CPUTIME_ID), to_do[2] = {0, ms};
#pragma omp parallel for num_threads(2) schedule(static, 1)
    for (int i = 0; i < 2; i++)
        compute(to_do[i]);
    printf("%.3f\n", now_ms(CLOCK_THREAD_CPUTIME_ID) - own);
}

int main(int argc, char **argv)
{
#ifdef RANK
    MPI_Init(&argc, &argv);
#endif
    double ms = argc > 2 ? atof(argv[2]) : 0;
    if (argc > 1 && !strcmp(argv[1], "team"))
        team(ms);
    else if (argc > 1 && !strcmp(argv[1], "first"))
        first(ms);
    else
        runtime_work(ms);
#ifdef RANK
    MPI_Finalize();
#endif
    return 0;
}
