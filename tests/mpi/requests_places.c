/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Operations that start in one place and complete in another, for the table `requests`. Rank 0
 * prints the sums over all ranks: operations, bytes sent, bytes received, operations never
 * completed.
 */
#include <mpi.h>

#include <stdio.h>

/* Operations of all ranks, and bytes sent and received; all 0 before MPI 4. */
struct sum {
    int operations, sent, received;
};

#if MPI_VERSION >= 4
enum { PARTS = 2, PART = 3, ROUNDS = 4 };

/* Persistent collectives and partitioned messages: an operation at each start. */
static struct sum started_again(int rank, int size)
{
    static double parts_in[PARTS * PART], parts_out[PARTS * PART], in[2], out[2];
    MPI_Request coll[2], part[2];
    MPI_Allreduce_init(out, in, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &coll[0]);
    MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &coll[1]);
    MPI_Psend_init(parts_out, PARTS, PART, MPI_DOUBLE, (rank + 1) % size, 5, MPI_COMM_WORLD,
                   MPI_INFO_NULL, &part[0]);
    MPI_Precv_init(parts_in, PARTS, PART, MPI_DOUBLE, (rank + size - 1) % size, 5, MPI_COMM_WORLD,
                   MPI_INFO_NULL, &part[1]);
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Start(&coll[0]);
        MPI_Wait(&coll[0], MPI_STATUS_IGNORE);
        MPI_Start(&coll[1]);
        MPI_Wait(&coll[1], MPI_STATUS_IGNORE);
        MPI_Startall(2, part);
        MPI_Pready_range(0, PARTS - 1, part[0]);
        MPI_Waitall(2, part, MPI_STATUSES_IGNORE);
    }
    for (int i = 0; i < 2; i++) {
        MPI_Request_free(&coll[i]);
        MPI_Request_free(&part[i]);
    }
    int bytes = ROUNDS * (16 + PARTS * PART * 8) * size;
    return (struct sum){4 * ROUNDS * size, bytes, bytes};
}
#else
static struct sum started_again(int rank, int size)
{
    (void)rank, (void)size;
    return (struct sum){0, 0, 0};
}
#endif

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
    struct sum again = started_again(rank, size);
    MPI_Irecv(in, 1, MPI_DOUBLE, rank, 99, MPI_COMM_WORLD, &never);
    if (rank == 0)
        printf("%d %d %d %d\n", 26 * size + again.operations, 640 * size + again.sent,
               (640 + 160) * size + again.received, size);
    return MPI_Finalize();
}
