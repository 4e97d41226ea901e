/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Two ranks that compute for unequal times and so wait for each other, in calls that the program
 * times itself. After MPI_Finalize each rank prints a line for each function and one for the time
 * between the calls: name, rank, lower and upper limit in s.
 */
#include "tests/sample/times.h"

#include <stdio.h>
#include <stdlib.h>

static const char *const names[TIMES_N] = {"MPI_Init",      "MPI_Comm_rank", "MPI_Send",
                                           "MPI_Recv",      "MPI_Irecv",     "MPI_Wait",
                                           "MPI_Allreduce", "MPI_Barrier",   "MPI_Finalize"};

static struct times outer;
static volatile double sink;

static void compute(int n)
{
    for (int i = 0; i < n * 1000; i++)
        sink = sink * 0.999 + 1.0;
}

/* Makes the two ranks late in turn: the late one computes longer. */
static void be_late(int rank, int round)
{
    if (rank == round % 2)
        compute(300 + round % 3 * 100);
    else
        compute(20);
}

static void exchange(int rank, int round)
{
    int other = 1 - rank, out = round, in;
    MPI_Request request;
    be_late(rank, round);
    if (rank)
        TIMED(&outer, TIMES_SEND, MPI_Send(&out, 1, MPI_INT, other, 1, MPI_COMM_WORLD));
    else
        TIMED(&outer, TIMES_RECV,
              MPI_Recv(&in, 1, MPI_INT, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    TIMED(&outer, TIMES_IRECV, MPI_Irecv(&in, 1, MPI_INT, other, 2, MPI_COMM_WORLD, &request));
    be_late(rank, round + 1);
    TIMED(&outer, TIMES_SEND, MPI_Send(&out, 1, MPI_INT, other, 2, MPI_COMM_WORLD));
    TIMED(&outer, TIMES_WAIT, MPI_Wait(&request, MPI_STATUS_IGNORE));
    be_late(rank, round);
    TIMED(&outer, TIMES_ALLREDUCE, MPI_Allreduce(&out, &in, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    be_late(rank, round + 1);
    TIMED(&outer, TIMES_BARRIER, MPI_Barrier(MPI_COMM_WORLD));
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 50, rank;
    TIMED(&outer, TIMES_INIT, MPI_Init(&argc, &argv));
    TIMED(&outer, TIMES_RANK, MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    for (int i = 0; i < rounds; i++)
        exchange(rank, i);
    TIMED(&outer, TIMES_FINALIZE, MPI_Finalize());
    for (int k = TIMES_RANK; k < TIMES_FINALIZE; k++)
        printf("%s %d %.9f %.9f\n", names[k], rank, (double)times_inner.ns[k] * 1e-9,
               (double)outer.ns[k] * 1e-9);
    printf("between %d %.9f %.9f\n", rank, (double)outer.between * 1e-9,
           (double)times_inner.between * 1e-9);
    return 0;
}
