/* SPDX-License-Identifier: BSD-3-Clause
 *
 * While the main thread is in the MPI_Wait that has completed a receive, a second thread makes its
 * first requests, until it is given the same handle (requests_tool.c calls it at that time). With
 * an argument N: N receives are pending, and the last one is waited for; with another one by
 * MPI_Waitall, beside null requests. Prints "MESSAGES BYTES": the messages that the rank sent to
 * itself and received.
 */
#include <mpi.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 10000, TRIES = 64, BYTES_FIRST = 5, BYTES_SECOND = 3 };

extern void (*before_return)(void);

static MPI_Request first[MOST], waited, second[TRIES];
static MPI_Status statuses[MOST];
static char in[MOST + TRIES][8], out[8];
static int n_second;

static void *make_requests(void *none)
{
    do
        MPI_Irecv(in[MOST + n_second], 8, MPI_CHAR, 0, 2, MPI_COMM_WORLD, &second[n_second]);
    while (second[n_second++] != waited && n_second < TRIES);
    return none;
}

static void run_second(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, make_requests, NULL);
    pthread_join(thread, NULL);
}

static void *wait_for_second(void *none)
{
    for (int i = 0; i < n_second; i++)
        MPI_Wait(&second[i], MPI_STATUS_IGNORE);
    return none;
}

int main(int argc, char **argv)
{
    int granted, n = argc > 1 ? atoi(argv[1]) : 1;
    pthread_t thread;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &granted);
    if (granted != MPI_THREAD_MULTIPLE || n > MOST)
        return 1;
    for (int i = 0; i < n; i++)
        MPI_Irecv(in[i], 8, MPI_CHAR, 0, 1, MPI_COMM_WORLD, &first[i]);
    for (int i = 0; i < n; i++)
        MPI_Send(out, BYTES_FIRST, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
    before_return = run_second;
    waited = first[n - 1];
    MPI_Request with_null[] = {MPI_REQUEST_NULL, waited, MPI_REQUEST_NULL};
    if (argc > 2)
        MPI_Waitall(3, with_null, statuses);
    else
        MPI_Wait(&with_null[1], MPI_STATUS_IGNORE);
    if (second[n_second - 1] != waited)
        fprintf(stderr, "the handle was not given again\n");
    for (int i = 0; i < n_second; i++)
        MPI_Send(out, BYTES_SECOND, MPI_CHAR, 0, 2, MPI_COMM_WORLD);
    pthread_create(&thread, NULL, wait_for_second, NULL);
    pthread_join(thread, NULL);
    MPI_Waitall(n - 1, first, statuses);
    printf("%d %d\n", n + n_second, n * BYTES_FIRST + n_second * BYTES_SECOND);
    MPI_Finalize();
    return 0;
}
