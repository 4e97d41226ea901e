/* SPDX-License-Identifier: BSD-3-Clause
 *
 * An MPI program whose calls and bytes depend only on rank and size: a ring of messages and
 * reductions along two paths, a helper per rank. Prints one line on rank 0 and ends with the status
 * given as the first argument. With `limit` as the second argument files may have 4 KiB at most
 * from before MPI_Finalize.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static int rank, size;

static void pass_on(int words)
{
    int out[16] = {rank}, in[16];
    MPI_Request requests[2];
    MPI_Irecv(in, words, MPI_INT, (rank + size - 1) % size, 5, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, words, MPI_INT, (rank + 1) % size, 5, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static double add(double x)
{
    double sum;
    MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}

static double more(int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++) {
        pass_on(3);
        sum += add(rank);
    }
    return sum;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double sum = more(4);
    pass_on(16);
    if (rank % 2) /* a context that not all ranks have */
        MPI_Send(&sum, 1, MPI_DOUBLE, rank - 1, 6, MPI_COMM_WORLD);
    else if (rank + 1 < size)
        MPI_Recv(&sum, 1, MPI_DOUBLE, rank + 1, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    sum += add(1);
    if (rank == 0)
        printf("sum %g\n", sum);
    if (argc > 2 && strcmp(argv[2], "limit") == 0) {
        struct rlimit small = {4096, 4096};
        setrlimit(RLIMIT_FSIZE, &small);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return argc > 1 ? atoi(argv[1]) : 0;
}
