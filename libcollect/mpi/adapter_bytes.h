/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Byte rules: what a call sends and receives, from its arguments.
 *
 * bytes_sent is what this rank's significant send arguments describe, bytes_received what its
 * receive arguments describe, once per call, whatever the algorithm does. MPI_IN_PLACE counts as if
 * the data had been in the send buffer; MPI_PROC_NULL counts nothing. For point-to-point receives
 * it is what arrived, by status. The rules run after the real call has succeeded: the handles are
 * known to be valid then, and a query on them cannot raise an error.
 *
 * Every rule takes the call and the arguments that its row in functions.tbl names.
 */
#ifndef PC_ADAPTER_BYTES_H
#define PC_ADAPTER_BYTES_H

#include "libcollect/mpi/adapter_private.h"

static inline uint64_t pc_block_bytes(int count, MPI_Datatype type)
{
    return count > 0 ? (uint64_t)count * pc_type_bytes(type) : 0;
}

/* A message to `dest`. */
static inline void pc_rule_sent(struct pc_call *call, int count, MPI_Datatype type, int dest)
{
    if (dest != MPI_PROC_NULL)
        call->event.bytes_sent = pc_block_bytes(count, type);
}

/* A message that arrived. Wildcards become what they matched. */
static inline void pc_rule_received(struct pc_call *call, const MPI_Status *status)
{
    call->event.bytes_received = pc_status_bytes(status);
    if (call->event.peer < 0)
        call->event.peer = status->MPI_SOURCE;
    if (call->event.tag < 0)
        call->event.tag = status->MPI_TAG;
}

/* Also scans: count elements each way. */
static inline void pc_rule_allreduce(struct pc_call *call, int count, MPI_Datatype type)
{
    call->event.bytes_sent = call->event.bytes_received = pc_block_bytes(count, type);
}

void pc_rule_bcast(struct pc_call *call, int count, MPI_Datatype type, int root, MPI_Comm comm);
void pc_rule_reduce(struct pc_call *call, int count, MPI_Datatype type, int root, MPI_Comm comm);
/* Rank 0 receives nothing: its receive buffer is not significant. */
void pc_rule_exscan(struct pc_call *call, int count, MPI_Datatype type, MPI_Comm comm);
void pc_rule_gather(struct pc_call *call, const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                    int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm);
void pc_rule_gatherv(struct pc_call *call, const void *sendbuf, int sendcount,
                     MPI_Datatype sendtype, const int *recvcounts, MPI_Datatype recvtype, int root,
                     MPI_Comm comm);
void pc_rule_scatter(struct pc_call *call, int sendcount, MPI_Datatype sendtype,
                     const void *recvbuf, int recvcount, MPI_Datatype recvtype, int root,
                     MPI_Comm comm);
void pc_rule_scatterv(struct pc_call *call, const int *sendcounts, MPI_Datatype sendtype,
                      const void *recvbuf, int recvcount, MPI_Datatype recvtype, int root,
                      MPI_Comm comm);
void pc_rule_allgather(struct pc_call *call, const void *sendbuf, int sendcount,
                       MPI_Datatype sendtype, int recvcount, MPI_Datatype recvtype, MPI_Comm comm);
void pc_rule_allgatherv(struct pc_call *call, const void *sendbuf, int sendcount,
                        MPI_Datatype sendtype, const int *recvcounts, MPI_Datatype recvtype,
                        MPI_Comm comm);
void pc_rule_alltoall(struct pc_call *call, const void *sendbuf, int sendcount,
                      MPI_Datatype sendtype, int recvcount, MPI_Datatype recvtype, MPI_Comm comm);
void pc_rule_alltoallv(struct pc_call *call, const void *sendbuf, const int *sendcounts,
                       MPI_Datatype sendtype, const int *recvcounts, MPI_Datatype recvtype,
                       MPI_Comm comm);
void pc_rule_alltoallw(struct pc_call *call, const void *sendbuf, const int *sendcounts,
                       const MPI_Datatype *sendtypes, const int *recvcounts,
                       const MPI_Datatype *recvtypes, MPI_Comm comm);
void pc_rule_reduce_scatter(struct pc_call *call, const int *recvcounts, MPI_Datatype type,
                            MPI_Comm comm);
void pc_rule_reduce_scatter_block(struct pc_call *call, int recvcount, MPI_Datatype type,
                                  MPI_Comm comm);
/* Neighbours that are MPI_PROC_NULL (outside of a Cartesian grid) count nothing. */
void pc_rule_neighbor_allgather(struct pc_call *call, int sendcount, MPI_Datatype sendtype,
                                int recvcount, MPI_Datatype recvtype, MPI_Comm comm);
void pc_rule_neighbor_allgatherv(struct pc_call *call, int sendcount, MPI_Datatype sendtype,
                                 const int *recvcounts, MPI_Datatype recvtype, MPI_Comm comm);
void pc_rule_neighbor_alltoall(struct pc_call *call, int sendcount, MPI_Datatype sendtype,
                               int recvcount, MPI_Datatype recvtype, MPI_Comm comm);
void pc_rule_neighbor_alltoallv(struct pc_call *call, const int *sendcounts, MPI_Datatype sendtype,
                                const int *recvcounts, MPI_Datatype recvtype, MPI_Comm comm);
void pc_rule_neighbor_alltoallw(struct pc_call *call, const int *sendcounts,
                                const MPI_Datatype *sendtypes, const int *recvcounts,
                                const MPI_Datatype *recvtypes, MPI_Comm comm);

#endif
