/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Frees communicators: two that the library does not know, one of them by MPI_Comm_disconnect; one
 * that was made while collection was off; a predefined one, which fails; and TIMES in each of two
 * threads, which get the same handles in turn where the MPI uses handles again. Prints "made N",
 * with the communicators that the library has seen being made.
 *
 *     freed TIMES
 */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int times;

static void free_unknown(void)
{
    MPI_Comm first, second;
    PMPI_Comm_dup(MPI_COMM_SELF, &first);
    PMPI_Comm_dup(MPI_COMM_SELF, &second);
    MPI_Comm_free(&first);
    MPI_Comm_disconnect(&second);
}

static void free_made_while_off(void)
{
    MPI_Comm comm;
    MPI_Pcontrol(0);
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Pcontrol(1);
    MPI_Comm_free(&comm);
}

static void free_predefined(void)
{
    MPI_Comm self = MPI_COMM_SELF;
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (MPI_Comm_free(&self) == MPI_SUCCESS) {
        puts("MPI_COMM_SELF was freed");
        exit(1);
    }
    MPI_Barrier(MPI_COMM_SELF);
}

static void *make_and_free(void *from)
{
    for (int i = 0; i < times; i++) {
        MPI_Comm comm;
        MPI_Comm_dup(*(MPI_Comm *)from, &comm);
        MPI_Barrier(comm);
        MPI_Comm_free(&comm);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    enum { THREADS = 2 };
    int provided;
    pthread_t threads[THREADS];
    MPI_Comm from[THREADS];
    times = argc > 1 ? atoi(argv[1]) : 1000;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    free_unknown();
    free_made_while_off();
    free_predefined();
    if (provided < MPI_THREAD_MULTIPLE)
        times = 0;
    for (int i = 0; i < THREADS; i++)
        MPI_Comm_dup(MPI_COMM_SELF, &from[i]);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, make_and_free, &from[i]);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++)
        MPI_Comm_free(&from[i]);
    printf("made %d\n", 1 + THREADS * (times + 1));
    MPI_Finalize();
    return 0;
}
