/* SPDX-License-Identifier: BSD-3-Clause
 *
 * An MPI program that leaves in the way its argument says: finalize, exit, abort, or kill (the last
 * rank kills itself). Before that every rank has called MPI_Barrier seven times; launchers kill the
 * others as soon as one leaves, so each waits until all have begun the call after these.
 */
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
    if (strcmp(how, "exit") == 0)
        exit(3);
    if (strcmp(how, "abort") == 0 && rank == 0)
        MPI_Abort(MPI_COMM_WORLD, 4);
    if (strcmp(how, "kill") == 0 && rank == size - 1)
        kill(getpid(), SIGKILL);
    if (strcmp(how, "finalize") != 0)
        pause();
    MPI_Finalize();
    return 0;
}
