/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Calls of MPI between states that the profiler must not touch (state_tool.h): the first calls of
 * the process, calls in a thread, and calls after MPI_Finalize.
 */
#include "tests/safety/state_tool.h"

#include <mpi.h>
#include <stdio.h>

static _Atomic long n_calls, wrong_after;

static void begin(int kind)
{
    state_kind = kind;
    state_to_tool = state_set(kind, 8000 + kind);
    errno = 8000 + kind;
}

static void end(const char *name)
{
    struct state s = state_now(), wanted = state_to_program;
    state_reset();
    n_calls++;
    if (memcmp(&s, &wanted, sizeof s) && wrong_after++ < 10)
        fprintf(stderr,
                "after %s: errno %d (%d), rounding %x (%x), flags %x (%x), traps %x (%x), "
                "mxcsr %x (%x), blocked %lx (%lx)\n",
                name, s.error, wanted.error, (unsigned)s.rounding, (unsigned)wanted.rounding,
                (unsigned)s.flags, (unsigned)wanted.flags, (unsigned)s.traps,
                (unsigned)wanted.traps, s.mxcsr, wanted.mxcsr, (unsigned long)s.blocked,
                (unsigned long)wanted.blocked);
}

#define CALL(kind, name, arguments)                                                                \
    do {                                                                                           \
        begin(kind);                                                                               \
        MPI_##name arguments;                                                                      \
        end("MPI_" #name);                                                                         \
    } while (0)

static void point_to_point(int kind, MPI_Comm comm)
{
    MPI_Request requests[2];
    MPI_Status status, statuses[2];
    int rank, flag, n, x[2], y[2] = {0, 0};
    MPI_Datatype pair;
    CALL(kind, Comm_rank, (comm, &rank));
    CALL(kind, Type_contiguous, (2, MPI_INT, &pair));
    CALL(kind, Type_commit, (&pair));
    CALL(kind, Iprobe, (rank, 0, comm, &flag, &status));
    CALL(kind, Irecv, (x, 1, pair, rank, 1, comm, &requests[0]));
    CALL(kind, Test, (&requests[0], &flag, &status));
    CALL(kind, Isend, (y, 1, pair, rank, 1, comm, &requests[1]));
    CALL(kind, Waitall, (2, requests, statuses));
    CALL(kind, Get_count, (&statuses[0], pair, &n));
    CALL(kind, Isend, (y, 2, MPI_INT, rank, 2, comm, &requests[0]));
    CALL(kind, Recv, (x, 2, MPI_INT, rank, 2, comm, MPI_STATUS_IGNORE));
    CALL(kind, Wait, (&requests[0], MPI_STATUS_IGNORE));
    CALL(kind, Send, (x, 2, MPI_INT, MPI_PROC_NULL, 2, comm));
    CALL(kind, Type_free, (&pair));
}

static void collective(int kind, MPI_Comm comm)
{
    MPI_Comm copy;
    int x = 1, sum, size;
    CALL(kind, Comm_dup, (comm, &copy));
    CALL(kind, Comm_size, (copy, &size));
    CALL(kind, Bcast, (&x, 1, MPI_INT, 0, copy));
    CALL(kind, Allreduce, (&x, &sum, 1, MPI_INT, MPI_SUM, copy));
    CALL(kind, Barrier, (copy));
    CALL(kind, Comm_free, (&copy));
}

static void *work(void *comm)
{
    int rank;
    /* Rounds enough for the comparisons of cached with walked contexts. */
    for (int i = 0; i < 100; i++) {
        point_to_point(i % 2, *(MPI_Comm *)comm);
        collective(i % 2, *(MPI_Comm *)comm);
    }
    for (int i = 0; i < 4000; i++)
        CALL(i % 2, Comm_rank, (*(MPI_Comm *)comm, &rank));
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    int provided, flag, rank, kind = argc > 1 && argv[1][0] == '1';
    MPI_Comm world = MPI_COMM_WORLD, self = MPI_COMM_SELF;
    CALL(kind, Initialized, (&flag));
    CALL(kind, Init_thread, (&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
    CALL(kind, Comm_rank, (world, &rank));
    work(&world);
    for (int i = 0; i < 2; i++) { /* the second takes over what the first left */
        pthread_create(&thread, NULL, work, &self);
        pthread_join(thread, NULL);
    }
    CALL(kind, Finalize, ());
    CALL(kind, Finalized, (&flag));
    if (rank == 0)
        printf("%ld calls, %ld seen by the tool, %ld states wrong before, %ld after\n", n_calls,
               state_seen, state_wrong_before, wrong_after);
    return 0;
}
