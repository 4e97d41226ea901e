/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The tool of times.h. The program is linked with it before its MPI.
 */
#include "tests/sample/times.h"

struct times times_inner;

int MPI_Init(int *argc, char ***argv)
{
    return TIMED(&times_inner, TIMES_INIT, PMPI_Init(argc, argv));
}

int MPI_Comm_rank(MPI_Comm comm, int *rank)
{
    return TIMED(&times_inner, TIMES_RANK, PMPI_Comm_rank(comm, rank));
}

int MPI_Send(const void *buf, int n, MPI_Datatype type, int dest, int tag, MPI_Comm comm)
{
    return TIMED(&times_inner, TIMES_SEND, PMPI_Send(buf, n, type, dest, tag, comm));
}

int MPI_Recv(void *buf, int n, MPI_Datatype type, int source, int tag, MPI_Comm comm,
             MPI_Status *status)
{
    return TIMED(&times_inner, TIMES_RECV, PMPI_Recv(buf, n, type, source, tag, comm, status));
}

int MPI_Irecv(void *buf, int n, MPI_Datatype type, int source, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    return TIMED(&times_inner, TIMES_IRECV, PMPI_Irecv(buf, n, type, source, tag, comm, request));
}

int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    return TIMED(&times_inner, TIMES_WAIT, PMPI_Wait(request, status));
}

int MPI_Allreduce(const void *from, void *to, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    return TIMED(&times_inner, TIMES_ALLREDUCE, PMPI_Allreduce(from, to, n, type, op, comm));
}

int MPI_Barrier(MPI_Comm comm)
{
    return TIMED(&times_inner, TIMES_BARRIER, PMPI_Barrier(comm));
}

int MPI_Finalize(void)
{
    return TIMED(&times_inner, TIMES_FINALIZE, PMPI_Finalize());
}
