/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Bursts of messages with pauses between them, for the series. Rank 0 prints the sums over all
 * ranks: calls, bytes sent and received from MPI_Init to MPI_Finalize, both included.
 */
#include <mpi.h>

#include <stdio.h>
#include <time.h>

enum { BURSTS = 4, MESSAGES = 300, BYTES = 100 };

int main(int argc, char **argv)
{
    static char in[BYTES], out[BYTES];
    int rank, size, calls = 3;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int burst = 0; burst < BURSTS; burst++) {
        struct timespec silence = {0, 200000000};
        nanosleep(&silence, NULL);
        for (int i = 0; i < MESSAGES; i++) {
            MPI_Request request;
            MPI_Irecv(in, BYTES, MPI_BYTE, (rank + size - 1) % size, 0, MPI_COMM_WORLD, &request);
            MPI_Send(out, BYTES, MPI_BYTE, (rank + 1) % size, 0, MPI_COMM_WORLD);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            calls += 3;
        }
    }
    if (rank == 0)
        printf("%d %d %d\n", calls * size, BURSTS * MESSAGES * BYTES * size,
               BURSTS * MESSAGES * BYTES * size);
    return MPI_Finalize();
}
