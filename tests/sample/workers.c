/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Threads that print what they did: "rank name calls ns" for each, where ns is the CPU time of the
 * thread after MPI_Init, without time for which MPI_Pcontrol switches collection off. Worker k
 * computes for k * 50 ms of CPU time; worker 2 calls MPI.
 *
 *     workers ended      four workers that end before MPI_Finalize
 *     workers early      they are made before MPI_Init, and compute for 20 ms before it
 *     workers alive      they run when MPI_Finalize is called
 *     workers paused     each also computes for 60 ms with collection off, when all have computed
 *     workers again      MPI_Pcontrol(2) after 60 ms of computing in main
 *     workers killed     each rank kills itself while its workers run
 */
#define _GNU_SOURCE
#include <mpi.h>

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum {
    N_WORKERS = 4,
    CALLS = 500,
    PIECE_NS = 50000000,
    LEFT_OUT_NS = 60000000,
    EARLY_NS = 20000000
};

static const char *how;
static int rank;
static pthread_barrier_t begun, meet;
static sem_t stop;
static atomic_int next_to_pause;

static uint64_t cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

__attribute__((noinline)) static void compute_until(uint64_t ns)
{
    static volatile double sink;
    while (cpu_ns() < ns)
        for (int i = 0; i < 1000; i++)
            sink += i;
}

/* Computes with collection off. One worker at a time does so, because MPI_Pcontrol is for the whole
 * process. */
static void compute_unseen(int number)
{
    while (atomic_load(&next_to_pause) != number)
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    MPI_Pcontrol(0);
    compute_until(cpu_ns() + LEFT_OUT_NS);
    MPI_Pcontrol(1);
    atomic_fetch_add(&next_to_pause, 1);
}

static void tell(const char *name, int calls, uint64_t ns)
{
    char line[100];
    int n =
        snprintf(line, sizeof line, "%d %s %d %llu\n", rank, name, calls, (unsigned long long)ns);
    fwrite(line, 1, (size_t)n, stdout);
    fflush(stdout);
}

static void *work(void *number)
{
    int k = (int)(intptr_t)number, calls = k == 2 ? CALLS * (rank + 1) : 0, flag;
    char name[16];
    uint64_t left_out = 0;
    if (!strcmp(how, "early"))
        compute_until(EARLY_NS);
    snprintf(name, sizeof name, "worker-%d", k);
    pthread_setname_np(pthread_self(), name);
    pthread_barrier_wait(&begun); /* a worker that ended earlier would give its record to another */
    if (!strcmp(how, "early"))
        left_out = cpu_ns();
    compute_until(left_out + (uint64_t)k * PIECE_NS);
    for (int i = 0; i < calls; i++)
        MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    if (!strcmp(how, "paused")) {
        pthread_barrier_wait(&meet);
        uint64_t from = cpu_ns();
        compute_unseen(k);
        left_out = cpu_ns() - from;
        calls++; /* MPI_Pcontrol(0) */
    }
    tell(name, calls, cpu_ns() - left_out);
    if (strcmp(how, "alive") && strcmp(how, "killed"))
        return NULL;
    pthread_barrier_wait(&meet);
    while (sem_wait(&stop))
        ;
    return NULL;
}

static void make_workers(pthread_t *threads)
{
    for (intptr_t k = 0; k < N_WORKERS; k++)
        pthread_create(&threads[k], NULL, work, (void *)(k + 1));
}

int main(int argc, char **argv)
{
    int provided;
    pthread_t threads[N_WORKERS];
    how = argc > 1 ? argv[1] : "";
    bool early = !strcmp(how, "early");
    pthread_barrier_init(&begun, NULL, N_WORKERS + early);
    if (early)
        make_workers(threads);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (!strcmp(how, "again")) {
        compute_until(cpu_ns() + LEFT_OUT_NS);
        MPI_Pcontrol(2);
    }
    uint64_t from = cpu_ns();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    pthread_barrier_init(&meet, NULL, N_WORKERS + 1);
    sem_init(&stop, 0, 0);
    atomic_store(&next_to_pause, 1);
    if (early)
        pthread_barrier_wait(&begun);
    else
        make_workers(threads);
    if (strcmp(how, "ended") && strcmp(how, "early") && strcmp(how, "again"))
        pthread_barrier_wait(&meet);
    if (strcmp(how, "alive") && strcmp(how, "killed"))
        for (int k = 0; k < N_WORKERS; k++)
            pthread_join(threads[k], NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    tell("main", strcmp(how, "again") ? 3 : 2, cpu_ns() - from); /* "again" clears MPI_Init */
    if (!strcmp(how, "killed")) {
        MPI_Barrier(MPI_COMM_WORLD);
        raise(SIGKILL);
    }
    int rc = MPI_Finalize();
    for (int k = 0; k < N_WORKERS; k++)
        sem_post(&stop);
    return rc;
}
