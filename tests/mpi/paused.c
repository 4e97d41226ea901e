/* SPDX-License-Identifier: BSD-3-Clause
 *
 * paused [stay]: switches collection off by MPI_Pcontrol, touches 4096 pages for the first time and
 * makes system calls for 0.5 s. With any argument it does not switch collection on again.
 *
 * paused apart MS: while collection is off, each rank sleeps MS ms longer than the rank before it.
 * Then all call two barriers. Each rank prints `paused RANK LEAST MOST`: the limits of the time for
 * which collection was off, in ns; and `region NAME MOST`: no more than that of a region around it,
 * without it, in ns: one of the thread that switches, and one of a thread that makes no call.
 *
 * paused team N: N times, four threads at once switch collection off, and on again after 1 ms.
 * Prints `paused RANK LEAST MOST`.
 *
 * paused phases MS: four threads at once begin phase 3, and after MS ms one that is not the main
 * thread begins phase 4, which goes on for MS ms to the end. Prints `phase PHASE LEAST MOST`.
 */
#define _DEFAULT_SOURCE
#include "include/pcollect/pcollect.h"

#include <mpi.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

enum { TEAM = 4 };

static long n_pauses;
static double least_s, most_s;

static void *switch_together(void *first)
{
    const struct timespec pause = {0, 1000000};
    for (long i = 0; i < n_pauses; i++) {
        double before = now_s();
        pthread_barrier_wait(&turn);
        MPI_Pcontrol(0);
        pthread_barrier_wait(&turn);
        double begin = now_s();
        nanosleep(&pause, NULL);
        double end = now_s();
        pthread_barrier_wait(&turn);
        MPI_Pcontrol(1);
        pthread_barrier_wait(&turn);
        if (first) {
            least_s += end - begin;
            most_s += now_s() - before;
        }
    }
    return NULL;
}

static void pause_team(void)
{
    int rank;
    pthread_t threads[TEAM];
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    pthread_barrier_init(&turn, NULL, TEAM);
    for (int i = 1; i < TEAM; i++)
        pthread_create(&threads[i], NULL, switch_together, NULL);
    switch_together(&turn);
    for (int i = 1; i < TEAM; i++)
        pthread_join(threads[i], NULL);
    printf("paused %d %.0f %.0f\n", rank, least_s * 1e9, most_s * 1e9);
}

static void *begin_together(void *last)
{
    pthread_barrier_wait(&turn);
    MPI_Pcontrol(3);
    pthread_barrier_wait(&turn);
    pthread_barrier_wait(&turn);
    if (last)
        MPI_Pcontrol(4);
    pthread_barrier_wait(&turn);
    return NULL;
}

/* MPI_Finalize ends phase 4: how long it is at most is not known here. */
static void phases(long ms)
{
    const struct timespec pause = {ms / 1000, ms % 1000 * 1000000};
    double at[5];
    pthread_t threads[TEAM];
    pthread_barrier_init(&turn, NULL, TEAM + 1);
    for (int i = 0; i < TEAM; i++)
        pthread_create(&threads[i], NULL, begin_together, i ? NULL : &turn);
    at[0] = now_s();
    pthread_barrier_wait(&turn);
    pthread_barrier_wait(&turn);
    at[1] = now_s();
    nanosleep(&pause, NULL);
    at[2] = now_s();
    pthread_barrier_wait(&turn);
    pthread_barrier_wait(&turn);
    at[3] = now_s();
    for (int i = 0; i < TEAM; i++)
        pthread_join(threads[i], NULL);
    nanosleep(&pause, NULL);
    at[4] = now_s();
    printf("phase 3 %.0f %.0f\n", (at[2] - at[1]) * 1e9, (at[3] - at[0]) * 1e9);
    printf("phase 4 %.0f\n", (at[4] - at[3]) * 1e9);
}

int main(int argc, char **argv)
{
    int granted;
    size_t size = (size_t)sysconf(_SC_PAGESIZE);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &granted);
    if (argc > 2) {
        n_pauses = atol(argv[2]);
        if (!strcmp(argv[1], "team"))
            pause_team();
        else if (!strcmp(argv[1], "phases"))
            phases(n_pauses);
        else
            meet(n_pauses);
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
