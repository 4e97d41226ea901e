/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Threads that print what they did: "rank name calls ns" for each, where ns is the CPU time of the
 * thread after MPI_Init, without time for which MPI_Pcontrol switches collection off. Worker k
 * computes for k * 50 ms of CPU time; worker 2 calls MPI.
 *
 *     workers ended      four workers that end before MPI_Finalize
 *     workers early      they are made before MPI_Init, and compute for 20 ms before it
 *     workers started    MPI_Initialized comes before all that, and a thread that ends before it
 *     workers alive      they run when MPI_Finalize is called
 *     workers paused     each also computes for 60 ms with collection off, when all have computed
 *     workers again      MPI_Pcontrol(2) after 60 ms of computing in main
 *     workers twice      worker 2 alone: it calls MPI again in the destructor of a key
 *     workers killed     each rank kills itself while its workers run
 *     workers elsewhere  one worker, which alone calls MPI; main computes for 200 ms after MPI_Init
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
static bool early; /* the workers are made before MPI_Init */
static int rank, first = 1, last = N_WORKERS;
static pthread_key_t again;
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

/* The library has let the thread go by then: the destructor of its own, older key came first. */
static void call_again(void *calls)
{
    int flag;
    MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    tell("worker-2", (int)(intptr_t)calls + 1, cpu_ns());
}

static void *work(void *number)
{
    int k = (int)(intptr_t)number, calls = k == 2 ? CALLS * (rank + 1) : 0, flag;
    char name[16];
    uint64_t left_out = 0;
    if (early) {
        compute_until(EARLY_NS);
        pthread_barrier_wait(&begun);
    }
    snprintf(name, sizeof name, "worker-%d", k);
    pthread_setname_np(pthread_self(), name);
    pthread_barrier_wait(&begun); /* a worker that ended earlier would give its record to another */
    if (early)
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
    if (!strcmp(how, "twice")) {
        pthread_setspecific(again, (void *)(intptr_t)calls);
        return NULL;
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
    for (intptr_t k = first; k <= last; k++)
        pthread_create(&threads[k - first], NULL, work, (void *)k);
}

static void *call_mpi(void *unused)
{
    int provided, rc;
    pthread_setname_np(pthread_self(), "worker-1");
    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
    uint64_t from = cpu_ns();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    pthread_barrier_wait(&begun);
    pthread_barrier_wait(&meet);
    MPI_Barrier(MPI_COMM_WORLD);
    tell("worker-1", 3, cpu_ns() - from);
    rc = MPI_Finalize();
    return rc ? &begun : unused;
}

static int compute_beside(void)
{
    pthread_t thread;
    void *failed;
    pthread_barrier_init(&begun, NULL, 2);
    pthread_barrier_init(&meet, NULL, 2);
    pthread_create(&thread, NULL, call_mpi, NULL);
    pthread_barrier_wait(&begun);
    uint64_t from = cpu_ns();
    compute_until(from + N_WORKERS * PIECE_NS);
    tell("main", 0, cpu_ns() - from);
    pthread_barrier_wait(&meet);
    pthread_join(thread, &failed);
    return failed != NULL;
}

static void *compute_early(void *unused)
{
    compute_until(EARLY_NS);
    return unused;
}

/* The next thread adopts what is kept of the one that ends here. */
static void start_collecting(void)
{
    int flag;
    pthread_t thread;
    MPI_Initialized(&flag);
    pthread_create(&thread, NULL, compute_early, NULL);
    pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
    int provided;
    pthread_t threads[N_WORKERS];
    how = argc > 1 ? argv[1] : "";
    if (!strcmp(how, "elsewhere"))
        return compute_beside();
    early = !strcmp(how, "early") || !strcmp(how, "started");
    if (!strcmp(how, "twice"))
        first = last = 2;
    pthread_key_create(&again, call_again);
    pthread_barrier_init(&begun, NULL, (unsigned)(last - first + 1) + early);
    if (!strcmp(how, "started"))
        start_collecting();
    if (early) {
        make_workers(threads);
        pthread_barrier_wait(&begun);
    }
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
    bool ends = strcmp(how, "alive") && strcmp(how, "killed");
    if (!ends || !strcmp(how, "paused"))
        pthread_barrier_wait(&meet);
    for (int k = first; ends && k <= last; k++)
        pthread_join(threads[k - first], NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    int calls = 3 + !strcmp(how, "started") - !strcmp(how, "again"); /* that clears MPI_Init */
    tell("main", calls, cpu_ns() - from);
    if (!strcmp(how, "killed")) {
        MPI_Barrier(MPI_COMM_WORLD);
        raise(SIGKILL);
    }
    int rc = MPI_Finalize();
    for (int k = 0; k < N_WORKERS; k++)
        sem_post(&stop);
    return rc;
}
