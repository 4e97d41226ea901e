/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Operations that start in one place and complete in another, for the table `requests`. Prints on
 * rank 0 what all ranks did: operations, bytes sent, bytes received, operations never completed.
 */
#include <mpi.h>

#include <stdio.h>

int main(int argc, char **argv)
{
    static double in[16], out[16];
    int rank, size;
    MPI_Request r[2], persistent, never;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 10; i++) {
        MPI_Irecv(in, 8, MPI_DOUBLE, (rank + size - 1) % size, 0, MPI_COMM_WORLD, &r[0]);
        MPI_Isend(out, 8, MPI_DOUBLE, (rank + 1) % size, 0, MPI_COMM_WORLD, &r[1]);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    }
    MPI_Recv_init(in, 16, MPI_DOUBLE, (rank + size - 1) % size, 1, MPI_COMM_WORLD, &persistent);
    for (int i = 0; i < 5; i++) {
        MPI_Start(&persistent);
        MPI_Send(out, 4, MPI_DOUBLE, (rank + 1) % size, 1, MPI_COMM_WORLD);
        MPI_Wait(&persistent, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&persistent);
    MPI_Irecv(in, 1, MPI_DOUBLE, rank, 99, MPI_COMM_WORLD, &never);
    if (rank == 0)
        printf("%d %d %d %d\n", 26 * size, 640 * size, (640 + 160) * size, size);
    return MPI_Finalize();
}
