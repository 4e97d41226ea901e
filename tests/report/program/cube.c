/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Calls with known numbers by function, communicator, phase, region and rank.
 */
#include "include/pcollect/pcollect.h"

#include <mpi.h>

static int rank, size;

__attribute__((noinline)) static void reduce(MPI_Comm comm, int n)
{
    for (int i = 0; i < n; i++) {
        int mine = i, all = 0;
        MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, comm);
    }
    __asm__ volatile("");
}

/* Sends to the next rank; rank 0 sends twice. */
__attribute__((noinline)) static void pass_on(MPI_Comm comm, int bytes)
{
    static char out[4096], in[4096];
    int times = rank == 0 ? 2 : 1, from = (rank + size - 1) % size;
    MPI_Request request[2];
    int expected = from == 0 ? 2 : 1;
    for (int i = 0; i < expected; i++)
        MPI_Irecv(in + 2048 * i, bytes, MPI_CHAR, from, 7, comm, &request[i]);
    for (int i = 0; i < times; i++)
        MPI_Send(out, bytes, MPI_CHAR, (rank + 1) % size, 7, comm);
    MPI_Waitall(expected, request, MPI_STATUSES_IGNORE);
    __asm__ volatile("");
}

int main(int argc, char **argv)
{
    MPI_Comm other;
    volatile double x = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    MPI_Comm_set_name(other, "other");
    for (long i = 0; i < 60000000; i++)
        x = x * 1.0000001;
    reduce(MPI_COMM_WORLD, 10);
    pcollect_region_begin("outer");
    reduce(other, 20);
    pcollect_region_begin("inner");
    pass_on(other, 16);
    pass_on(MPI_COMM_WORLD, 1000);
    pcollect_region_end("inner");
    reduce(other, 3);
    pcollect_region_end("outer");
    MPI_Pcontrol(4);
    MPI_Pcontrol(3);
    reduce(other, 5);
    MPI_Comm_free(&other);
    MPI_Finalize();
    return x < 0;
}
