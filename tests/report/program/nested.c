/* SPDX-License-Identifier: BSD-3-Clause
 *
 * nested OUTER INNER: in each of 60 regions OUTER threads of OpenMP open a region each, of INNER
 * threads, which compute. The program prints how many threads were in these at once, at most. With
 * INNER of 2 or more the runtime ends the threads of an inner team with it, and makes others for
 * the next one.
 */
#include <mpi.h>
#include <omp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 60, MS = 8 };

static atomic_int active, most;

static double cpu_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static void work(void)
{
    int now = 1 + atomic_fetch_add(&active, 1), before = atomic_load(&most);
    while (now > before && !atomic_compare_exchange_weak(&most, &before, now))
        ;
    for (double end = cpu_ms() + MS; cpu_ms() < end;)
        ;
    atomic_fetch_sub(&active, 1);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int outer = atoi(argv[1]), inner = atoi(argv[2]);
    omp_set_max_active_levels(2);
    for (int k = 0; k < ROUNDS; k++) {
#pragma omp parallel num_threads(outer)
        {
#pragma omp parallel num_threads(inner)
            work();
        }
    }
    printf("at once: %d\n", atomic_load(&most));
    MPI_Finalize();
    return 0;
}
