/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Another profiler: wraps MPI_Send and MPI_Init, and makes its own calls by PMPI.
 */
#include <mpi.h>

int tool_sends;

int MPI_Init(int *argc, char ***argv)
{
    int rc = PMPI_Init(argc, argv), rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Barrier(MPI_COMM_WORLD);
    return rc;
}

int MPI_Send(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm)
{
    int rank;
    tool_sends++;
    PMPI_Comm_rank(comm, &rank);
    return PMPI_Send(buf, count, type, dest, tag, comm);
}
