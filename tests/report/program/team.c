/* SPDX-License-Identifier: BSD-3-Clause
 *
 * team KIND RANK: threads of each rank compute in rounds and wait for each other, one of them on
 * RANK (-1: on none) five times as long. KIND: pthread, openmp (also where main does the longest
 * part: openmp-main), early (as pthread, but made before MPI_Init, and main only waits), deaf (as
 * early, with all signals blocked), or idle: main alone computes beside two threads that only
 * sleep.
 */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 20, MS = 5, THREADS = 2 };

static pthread_barrier_t barrier;
static int slow; /* this rank has a slow thread */
static volatile int over;

static double cpu_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static void compute(int is_slow)
{
    double end = cpu_ms() + (is_slow ? 5 : 1) * MS;
    while (cpu_ms() < end)
        ;
}

static void *work(void *number)
{
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < ROUNDS; i++) {
        compute(slow && number);
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

static void *idle(void *unused)
{
    while (!over)
        usleep(5000);
    return unused;
}

static pthread_t threads[THREADS];

static void make_threads(void *(*function)(void *))
{
    pthread_barrier_init(&barrier, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, function, i ? &slow : NULL);
    if (function == work) /* they have begun */
        pthread_barrier_wait(&barrier);
}

static void run_threads(void *(*function)(void *))
{
    for (int i = 0; i < ROUNDS; i++) {
        if (function == work)
            pthread_barrier_wait(&barrier);
        else
            compute(slow);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    over = 1;
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

static void run_openmp(int slowest)
{
    for (int i = 0; i < ROUNDS; i++) {
#pragma omp parallel for num_threads(3) schedule(static, 1)
        for (int k = 0; k < 3; k++)
            compute(slow && k == slowest);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    int level, rank, deaf = !strcmp(argv[1], "deaf"), early = deaf || !strcmp(argv[1], "early");
    sigset_t all, none;
    sigfillset(&all);
    if (deaf)
        pthread_sigmask(SIG_BLOCK, &all, &none);
    if (early)
        make_threads(work);
    if (deaf)
        pthread_sigmask(SIG_SETMASK, &none, NULL);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    slow = atoi(argv[2]) == rank;
    void *(*function)(void *) = strcmp(argv[1], "idle") ? work : idle;
    if (!strncmp(argv[1], "openmp", 6)) {
        run_openmp(strcmp(argv[1], "openmp-main") ? 1 : 0);
    } else {
        if (!early)
            make_threads(function);
        run_threads(function);
    }
    MPI_Finalize();
    return 0;
}
