/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Threads of every kind that call MPI, in an MPI program on two ranks. The second argument of a way
 * is the number of threads or rounds.
 *
 *   all N         8 threads of each rank send to partners on the other rank, N times
 *   many N        N threads are made and ended one after the other, 8 at a time
 *   alive N       N threads are there at once, and each calls three times; four times over
 *   before        a thread that was made before MPI_Init calls MPI after it
 *   init-thread   MPI_Init and MPI_Finalize run in a thread that is not main
 *   detached      detached threads live on at exit
 *   regions       threads begin and end regions all the time, also during MPI_Finalize; one has
 *                 been in the region `held` for 0.2 s then
 *
 * Prints how many calls of MPI_Comm_rank were made on both ranks together, and for `many` and
 * `alive` whether the process grew.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "include/pcollect/pcollect.h"

#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { N_AT_ONCE = 8 };

static int rank, rounds;
static atomic_long n_calls;
static atomic_int n_ready;

static void call(void)
{
    int r;
    MPI_Comm_rank(MPI_COMM_WORLD, &r);
    n_calls++;
}

static void *exchange(void *number)
{
    int tag = (int)(size_t)number, x = 0;
    char name[16];
    snprintf(name, sizeof name, "worker-%d", tag);
    pthread_setname_np(pthread_self(), name);
    for (int i = 0; i < rounds; i++) {
        MPI_Sendrecv(&i, 1, MPI_INT, 1 - rank, tag, &x, 1, MPI_INT, 1 - rank, tag, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        if (x != i)
            exit(8);
        call();
    }
    return NULL;
}

static void *call_once(void *unused)
{
    call();
    return unused;
}

static void run_all(void *(*run)(void *))
{
    pthread_t threads[N_AT_ONCE];
    for (size_t i = 0; i < N_AT_ONCE; i++)
        if (pthread_create(&threads[i], NULL, run, (void *)i))
            exit(9);
    for (size_t i = 0; i < N_AT_ONCE; i++)
        pthread_join(threads[i], NULL);
}

/* Pages of the process. Those of the arena's file are shared memory and belong to it. */
struct pages {
    long all, resident;
};

static struct pages count_pages(void)
{
    struct pages n = {0, 0};
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f || fscanf(f, "%ld %ld", &n.all, &n.resident) != 2)
        exit(9);
    fclose(f);
    return n;
}

static void make_many(void)
{
    for (int i = 0; i < 200 / N_AT_ONCE; i++)
        run_all(call_once);
    long first = count_pages().resident;
    for (int i = 0; i < (rounds - 200) / N_AT_ONCE; i++)
        run_all(call_once);
    long more = count_pages().resident - first;
    if (more > 256)
        printf("rank %d grew by %ld pages\n", rank, more);
}

static void *call_and_meet(void *barrier)
{
    for (int i = 0; i < 3; i++)
        call();
    pthread_barrier_wait(barrier);
    return NULL;
}

static void make_alive(void)
{
    pthread_barrier_t barrier;
    pthread_t *threads = calloc((size_t)rounds, sizeof *threads);
    pthread_barrier_init(&barrier, NULL, (unsigned)rounds);
    for (int i = 0; i < rounds; i++)
        if (!threads || pthread_create(&threads[i], NULL, call_and_meet, &barrier))
            exit(9);
    for (int i = 0; i < rounds; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&barrier);
    free(threads);
}

static void make_alive_again(void)
{
    make_alive();
    make_alive();
    long first = count_pages().all;
    make_alive();
    make_alive();
    long more = count_pages().all - first;
    if (more > 1024)
        printf("rank %d grew by %ld pages\n", rank, more);
}

static void *wait_and_call(void *unused)
{
    while (!n_ready)
        usleep(1000);
    call();
    return unused;
}

static void *call_and_stay(void *unused)
{
    call();
    n_ready++;
    for (;;)
        pause();
    return unused;
}

static void start(void)
{
    int provided;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    n_calls++;
    if (provided != MPI_THREAD_MULTIPLE)
        exit(7);
}

static void end(void)
{
    long mine = n_calls, all;
    MPI_Reduce(&mine, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    if (rank == 0)
        printf("%ld\n", all);
}

static void *whole(void *unused)
{
    start();
    for (int i = 0; i < 10; i++)
        call();
    end();
    return unused;
}

static void make_detached(void)
{
    pthread_attr_t attr;
    pthread_t thread;
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    for (int i = 0; i < 4; i++)
        if (pthread_create(&thread, &attr, call_and_stay, NULL))
            exit(9);
    while (n_ready < 4)
        usleep(1000);
}

static void *hold_region(void *unused)
{
    pcollect_region_begin("held");
    n_ready++;
    for (;;)
        pause();
    return unused;
}

/* Most of the time it is where the outermost region ends, and with it those inside. */
static void *mark_regions(void *unused)
{
    for (;;) {
        pcollect_region_begin("outermost");
        for (int i = 0; i < 40; i++)
            pcollect_region_begin("inner");
        pcollect_region_end("outermost");
    }
    return unused;
}

static void make_regions(void)
{
    pthread_t thread;
    for (int i = 0; i <= N_AT_ONCE; i++)
        if (pthread_create(&thread, NULL, i ? mark_regions : hold_region, NULL))
            exit(9);
    while (!n_ready)
        usleep(1000);
    usleep(200000);
}

int main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "all";
    pthread_t thread;
    rounds = argc > 2 ? atoi(argv[2]) : 100;
    if (!strcmp(way, "init-thread")) {
        pthread_create(&thread, NULL, whole, NULL);
        pthread_join(thread, NULL);
        return 0;
    }
    if (!strcmp(way, "before"))
        pthread_create(&thread, NULL, wait_and_call, NULL);
    start();
    if (!strcmp(way, "all"))
        run_all(exchange);
    if (!strcmp(way, "many"))
        make_many();
    if (!strcmp(way, "alive"))
        make_alive_again();
    if (!strcmp(way, "before")) {
        n_ready = 1;
        pthread_join(thread, NULL);
    }
    if (!strcmp(way, "detached"))
        make_detached();
    if (!strcmp(way, "regions"))
        make_regions();
    end();
    fflush(stdout);
    return 0;
}
