/* SPDX-License-Identifier: BSD-3-Clause
 *
 * An MPI program that ends in the way its argument names: finalize, exit (a child by vfork calls
 * _exit before), _exit, assert (one of the last rank fails), abort (MPI_Abort), or kill (the last
 * rank kills itself). Before that every rank has called MPI_Barrier seven times, and then
 * MPI_Allreduce: launchers kill all ranks as soon as one ends.
 */
#include <assert.h>
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "finalize";
    int rank, size, begun = 1, all;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 7; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    MPI_Allreduce(&begun, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (strcmp(how, "exit") == 0 && vfork() == 0)
        _exit(9);
    if (strcmp(how, "exit") == 0)
        exit(3);
    if (strcmp(how, "_exit") == 0)
        _exit(5);
    assert(strcmp(how, "assert") != 0 || rank < size - 1);
    if (strcmp(how, "abort") == 0 && rank == 0)
        MPI_Abort(MPI_COMM_WORLD, 4);
    if (strcmp(how, "kill") == 0 && rank == size - 1)
        kill(getpid(), SIGKILL);
    if (strcmp(how, "finalize") != 0)
        pause();
    MPI_Finalize();
    return 0;
}
