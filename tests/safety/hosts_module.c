/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The module that hosts.c opens: the ranks pass a number around a ring eleven times.
 */
#include <mpi.h>
#include <stdio.h>

int run(void);

int run(void)
{
    int rank, size, sum, x;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    x = rank;
    for (int i = 0; i < 11; i++)
        MPI_Sendrecv_replace(&x, 1, MPI_INT, (rank + 1) % size, 0, (rank + size - 1) % size, 0,
                             MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Allreduce(&x, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    if (rank == 0)
        printf("%d\n", sum);
    return 0;
}
