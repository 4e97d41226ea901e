/* SPDX-License-Identifier: BSD-3-Clause
 *
 * More pending requests than have records of their own, then requests that one thread makes and
 * another completes. Prints "MESSAGES BYTES": the messages that the rank sent to itself and
 * received.
 */
#include <mpi.h>

#include <pthread.h>
#include <stdio.h>

enum { N = 3000, N_TAGS = 100, LAST_TAG = N_TAGS + 1 };

static MPI_Request requests[N];
static MPI_Status statuses[N];
static int in[N][2], out[N];

static void make(int source, MPI_Comm comm, int tags)
{
    for (int i = 0; i < N; i++)
        MPI_Irecv(in[i], 2, MPI_INT, source, tags == 1 ? LAST_TAG : i % tags, comm, &requests[i]);
}

static void send(int i, MPI_Comm comm, int tags)
{
    MPI_Send(&out[i], 1, MPI_INT, 0, tags == 1 ? LAST_TAG : i % tags, comm);
}

/* Completes the requests of the other thread, and makes requests that the other completes. */
static void *exchange(void *none)
{
    (void)none;
    for (int i = 0; i < N; i++)
        send(i, MPI_COMM_WORLD, N_TAGS);
    for (int i = 0; i < N; i++)
        MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    make(0, MPI_COMM_SELF, 1);
    return NULL;
}

static void alone(int backwards)
{
    make(0, MPI_COMM_WORLD, N_TAGS);
    for (int i = 0; i < N; i++)
        send(i, MPI_COMM_WORLD, N_TAGS);
    if (!backwards)
        MPI_Waitall(N, requests, statuses);
    for (int i = 0; backwards && i < N; i++)
        MPI_Wait(&requests[N - 1 - i], MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    int granted;
    pthread_t thread;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &granted);
    if (granted != MPI_THREAD_MULTIPLE)
        return 1;
    alone(0);
    alone(1);
    make(MPI_ANY_SOURCE, MPI_COMM_WORLD, N_TAGS);
    pthread_create(&thread, NULL, exchange, NULL);
    pthread_join(thread, NULL);
    for (int i = 0; i < N; i++) {
        int done = 0;
        send(i, MPI_COMM_SELF, 1);
        while (!done)
            MPI_Test(&requests[i], &done, &statuses[i]);
    }
    printf("%d %zu\n", 4 * N, 4 * N * sizeof out[0]);
    MPI_Finalize();
    return 0;
}
