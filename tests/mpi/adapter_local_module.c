/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The module of adapter_local.c: linked with MPI.
 */
#include "tests/mpi/adapter_rules.h"

int run(int argc, char **argv);

int run(int argc, char **argv)
{
    int x = 1, y[64];
    find_host();
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CALL(Allgather, (&x, 1, MPI_INT, y, 1, MPI_INT, MPI_COMM_WORLD), 4, 4 * size);
    int failed = report("adapter_local");
    MPI_Finalize();
    look(&seen);
    return failed || seen.merges != 1;
}
