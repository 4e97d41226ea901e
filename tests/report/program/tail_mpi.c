/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Wrappers whose last action is an MPI call, and a tail call whose target is unknown.
 */
#include <mpi.h>

#define KEPT __attribute__((noinline))

KEPT static int spread(int *value)
{
    return MPI_Bcast(value, 1, MPI_INT, 0, MPI_COMM_WORLD);
}

KEPT static int count_and_spread(int *value)
{
    *value += 1;
    return spread(value);
}

KEPT static int by_pointer(int (*how)(int *), int *value)
{
    if (*value > 1000)
        return spread(value);
    return how(value);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int status = spread(&argc);
    status += count_and_spread(&argc);
    status += by_pointer(count_and_spread, &argc);
    MPI_Finalize();
    return status;
}
