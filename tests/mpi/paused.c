/* SPDX-License-Identifier: BSD-3-Clause
 *
 * paused [stay]: switches collection off by MPI_Pcontrol, touches 4096 pages for the first time and
 * makes system calls for 0.5 s. With any argument it does not switch collection on again.
 *
 * paused apart MS: while collection is off, each rank sleeps MS ms longer than the rank before it.
 * Then all call two barriers. Each rank prints `paused RANK LEAST MOST`: the limits of the time for
 * which collection was off, in ns; and `region NAME MOST`: no more than that of a region around it,
 * without it, in ns: one of the thread that switches, and one of a thread that makes no call.
 */
#define _DEFAULT_SOURCE
#include "include/pcollect/pcollect.h"

#include <mpi.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { PAGES = 4096 };

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static pthread_barrier_t turn;

static void *stay_in_region(void *unused)
{
    pcollect_region_begin("other");
    pthread_barrier_wait(&turn);
    pthread_barrier_wait(&turn);
    pcollect_region_end("other");
    return unused;
}

static void meet(long each_ms)
{
    int rank;
    pthread_t thread;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    struct timespec pause = {rank * each_ms / 1000, rank * each_ms % 1000 * 1000000};
    pthread_barrier_init(&turn, NULL, 2);
    double start = now_s();
    pthread_create(&thread, NULL, stay_in_region, NULL);
    pthread_barrier_wait(&turn);
    pcollect_region_begin("own");
    double before = now_s();
    MPI_Pcontrol(0);
    double begin = now_s();
    nanosleep(&pause, NULL);
    double end = now_s();
    MPI_Pcontrol(1);
    double after = now_s();
    pcollect_region_end("own");
    pthread_barrier_wait(&turn);
    pthread_join(thread, NULL);
    double without = now_s() - start - (end - begin);
    printf("region own %.0f\nregion other %.0f\n", without * 1e9, without * 1e9);
    printf("paused %d %.0f %.0f\n", rank, (end - begin) * 1e9 - 1000,
           (after - before) * 1e9 + 1000);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    size_t size = (size_t)sysconf(_SC_PAGESIZE);
    MPI_Init(&argc, &argv);
    if (argc > 2) {
        meet(atol(argv[2]));
        MPI_Finalize();
        return 0;
    }
    MPI_Pcontrol(0);
    char *pages =
        mmap(NULL, PAGES * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
        MPI_Abort(MPI_COMM_WORLD, 1);
    madvise(pages, PAGES * size, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < PAGES; i++)
        pages[i * size] = 1;
    for (double end = now_s() + 0.5; now_s() < end;)
        getppid();
    if (argc < 2)
        MPI_Pcontrol(1);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
