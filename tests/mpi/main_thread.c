/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Threads that call MPI at the same time. Each rank prints "RANK MAIN ALL", the ns that its
 * clock saw in sends and receives: of the main thread, and of all threads. LONG_MS is
 * the time for which others wait in a receive while the main thread does something else.
 *
 *     main_thread receiver   the main thread sleeps while another waits for messages
 *     main_thread all        the main thread and two others wait for messages
 *     main_thread worker     another thread calls MPI_Init and all others; the main thread none
 *     main_thread killed     as receiver, and each rank kills itself after a barrier
 */
#include <mpi.h>

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { N_MESSAGES = 4, LONG_MS = 150, FIRST_TAG = 10 };

static int rank, size;
static uint64_t total_ns; /* of the ended threads */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static uint64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void rest(void)
{
    nanosleep(&(struct timespec){0, LONG_MS * 1000000}, NULL);
}

static uint64_t send_to_next(int tag)
{
    uint64_t begin = now();
    MPI_Send(&rank, 1, MPI_INT, (rank + 1) % size, tag, MPI_COMM_WORLD);
    return now() - begin;
}

static uint64_t receive(int tag)
{
    int from;
    uint64_t begin = now();
    MPI_Recv(&from, 1, MPI_INT, (rank + size - 1) % size, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return now() - begin;
}

static void *receive_all(void *tag)
{
    uint64_t ns = 0;
    for (int i = 0; i < N_MESSAGES; i++)
        ns += receive((int)(intptr_t)tag);
    pthread_mutex_lock(&lock);
    total_ns += ns;
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void send_all(uint64_t *ns, int n_tags)
{
    for (int i = 0; i < N_MESSAGES; i++) {
        rest();
        for (int k = 0; k < n_tags; k++)
            *ns += send_to_next(FIRST_TAG + k);
    }
}

static void begin_mpi(int *argc, char ***argv)
{
    int granted;
    MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &granted);
    if (granted != MPI_THREAD_MULTIPLE)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
}

static void tell(uint64_t main_ns)
{
    printf("%d %llu %llu\n", rank, (unsigned long long)main_ns,
           (unsigned long long)(main_ns + total_ns));
    fflush(stdout);
}

static uint64_t receiver(void)
{
    pthread_t thread;
    uint64_t ns = 0;
    pthread_create(&thread, NULL, receive_all, (void *)(intptr_t)FIRST_TAG);
    send_all(&ns, 1);
    pthread_join(thread, NULL);
    return ns;
}

/* Each thread receives what a sender of its own sends; the main thread's sender is the third. */
static void *send_for_main(void *ns)
{
    send_all(ns, 3);
    return NULL;
}

static uint64_t all(void)
{
    pthread_t threads[3];
    uint64_t ns = 0, sent_ns = 0;
    for (int k = 1; k < 3; k++)
        pthread_create(&threads[k], NULL, receive_all, (void *)(intptr_t)(FIRST_TAG + k));
    pthread_create(&threads[0], NULL, send_for_main, &sent_ns);
    for (int i = 0; i < N_MESSAGES; i++)
        ns += receive(FIRST_TAG);
    for (int k = 0; k < 3; k++)
        pthread_join(threads[k], NULL);
    total_ns += sent_ns;
    return ns;
}

static void *worker(void *none)
{
    uint64_t ns = 0;
    begin_mpi(NULL, NULL);
    for (int i = 0; i < N_MESSAGES; i++) {
        rest();
        ns += send_to_next(FIRST_TAG) + receive(FIRST_TAG);
    }
    tell(ns);
    MPI_Finalize();
    return none;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "receiver";
    if (!strcmp(how, "worker")) {
        pthread_t thread;
        pthread_create(&thread, NULL, worker, NULL);
        pthread_join(thread, NULL);
        return 0;
    }
    begin_mpi(&argc, &argv);
    tell(strcmp(how, "all") ? receiver() : all());
    if (!strcmp(how, "killed")) {
        MPI_Barrier(MPI_COMM_WORLD);
        kill(getpid(), SIGKILL);
    }
    MPI_Finalize();
    return 0;
}
