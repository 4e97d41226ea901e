/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Byte rules: compute the bytes that a call sends and receives, from its arguments.
 *
 * bytes_sent is the size that this rank's significant send arguments describe, bytes_received that
 * of its receive arguments. Each call counts once, whatever the algorithm does. MPI_IN_PLACE counts
 * as if the data had been in the send buffer; MPI_PROC_NULL counts nothing. For point-to-point
 * receives it is the size that arrived, by status. The rules run after the real call has succeeded:
 * then the handles are valid, and a query on them cannot raise an error.
 *
 * Every rule takes the call and the arguments that its row in functions.tbl names.
 */
#ifndef PC_ADAPTER_BYTES_H
#define PC_ADAPTER_BYTES_H

#include "libcollect/mpi/adapter_private.h"

/* An array of counts: int in X, MPI_Count in X_c. One of the two pointers is NULL. */
struct pc_counts {
    const int *narrow;
    const MPI_Count *wide;
};

static inline struct pc_counts pc_counts_int(const int *counts)
{
    return (struct pc_counts){counts, NULL};
}

static inline struct pc_counts pc_counts_wide(const MPI_Count *counts)
{
    return (struct pc_counts){NULL, counts};
}

static inline MPI_Count pc_count_at(struct pc_counts counts, int i)
{
    return counts.narrow ? counts.narrow[i] : counts.wide[i];
}

static inline uint64_t pc_block_bytes(MPI_Count count, MPI_Datatype type)
{
    return count > 0 ? (uint64_t)count * pc_type_bytes(type) : 0;
}

/* A message to `dest`. */
static inline void pc_rule_sent(struct pc_call *call, MPI_Count count, MPI_Datatype type, int dest)
{
    if (dest != MPI_PROC_NULL)
        call->event.bytes_sent = pc_block_bytes(count, type);
}

/* The receiving half of MPI_Isendrecv: the size that its arguments describe, because the status
 * that MPICH 4.0 finally gives is not that of the message. */
static inline void pc_rule_expected(struct pc_call *call, MPI_Count count, MPI_Datatype type,
                                    int source)
{
    if (source != MPI_PROC_NULL)
        call->event.bytes_received = pc_block_bytes(count, type);
}

/* Bytes of each start of a partitioned send, over all partitions. */
static inline void pc_rule_sent_parts(struct pc_call *call, int partitions, MPI_Count count,
                                      MPI_Datatype type, int dest)
{
    pc_rule_sent(call, partitions > 0 ? partitions * count : 0, type, dest);
}

/* Books a message that arrived at a call that sends, too: peer and tag are those of the send. */
static inline void pc_rule_answered(struct pc_call *call, const MPI_Status *status)
{
    call->event.bytes_received = pc_status_bytes(status);
}

/* Books a message that arrived, and replaces wildcards by what they matched. */
static inline void pc_rule_received(struct pc_call *call, const MPI_Status *status)
{
    pc_rule_answered(call, status);
    if (call->event.peer < 0)
        call->event.peer = status->MPI_SOURCE;
    if (call->event.tag < 0)
        call->event.tag = status->MPI_TAG;
}

/* Bytes that a blocking read of a file got. Only the count of its status is set: no source, no tag,
 * and in MPICH no cancelled flag. */
static inline void pc_rule_read(struct pc_call *call, const MPI_Status *status)
{
    call->event.bytes_received = pc_status_count(status);
}

/* Bytes that a write to a file has to write. */
static inline void pc_rule_written(struct pc_call *call, MPI_Count count, MPI_Datatype type)
{
    call->event.bytes_sent = pc_block_bytes(count, type);
}

/* Bytes requested from a window, counted when they are requested. */
static inline void pc_rule_got(struct pc_call *call, MPI_Count count, MPI_Datatype type, int target)
{
    if (target != MPI_PROC_NULL)
        call->event.bytes_received = pc_block_bytes(count, type);
}

/* Bytes sent to a window to be combined with its contents; none with MPI_NO_OP. */
static inline void pc_rule_combined(struct pc_call *call, MPI_Count count, MPI_Datatype type,
                                    MPI_Op op, int target)
{
    if (op != MPI_NO_OP)
        pc_rule_sent(call, count, type, target);
}

/* Also for scans: `count` elements each way. */
static inline void pc_rule_allreduce(struct pc_call *call, MPI_Count count, MPI_Datatype type)
{
    call->event.bytes_sent = call->event.bytes_received = pc_block_bytes(count, type);
}

void pc_rule_bcast(struct pc_call *call, MPI_Count count, MPI_Datatype type, int root,
                   MPI_Comm comm);
void pc_rule_reduce(struct pc_call *call, MPI_Count count, MPI_Datatype type, int root,
                    MPI_Comm comm);
/* Rank 0 receives nothing: its receive buffer is not significant. */
void pc_rule_exscan(struct pc_call *call, MPI_Count count, MPI_Datatype type, MPI_Comm comm);
void pc_rule_gather(struct pc_call *call, const void *sendbuf, MPI_Count sendcount,
                    MPI_Datatype sendtype, MPI_Count recvcount, MPI_Datatype recvtype, int root,
                    MPI_Comm comm);
void pc_rule_gatherv(struct pc_call *call, const void *sendbuf, MPI_Count sendcount,
                     MPI_Datatype sendtype, struct pc_counts recvcounts, MPI_Datatype recvtype,
                     int root, MPI_Comm comm);
void pc_rule_scatter(struct pc_call *call, MPI_Count sendcount, MPI_Datatype sendtype,
                     const void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root,
                     MPI_Comm comm);
void pc_rule_scatterv(struct pc_call *call, struct pc_counts sendcounts, MPI_Datatype sendtype,
                      const void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root,
                      MPI_Comm comm);
void pc_rule_allgather(struct pc_call *call, const void *sendbuf, MPI_Count sendcount,
                       MPI_Datatype sendtype, MPI_Count recvcount, MPI_Datatype recvtype,
                       MPI_Comm comm);
void pc_rule_allgatherv(struct pc_call *call, const void *sendbuf, MPI_Count sendcount,
                        MPI_Datatype sendtype, struct pc_counts recvcounts, MPI_Datatype recvtype,
                        MPI_Comm comm);
void pc_rule_alltoall(struct pc_call *call, const void *sendbuf, MPI_Count sendcount,
                      MPI_Datatype sendtype, MPI_Count recvcount, MPI_Datatype recvtype,
                      MPI_Comm comm);
void pc_rule_alltoallv(struct pc_call *call, const void *sendbuf, struct pc_counts sendcounts,
                       MPI_Datatype sendtype, struct pc_counts recvcounts, MPI_Datatype recvtype,
                       MPI_Comm comm);
void pc_rule_alltoallw(struct pc_call *call, const void *sendbuf, struct pc_counts sendcounts,
                       const MPI_Datatype *sendtypes, struct pc_counts recvcounts,
                       const MPI_Datatype *recvtypes, MPI_Comm comm);
void pc_rule_reduce_scatter(struct pc_call *call, struct pc_counts recvcounts, MPI_Datatype type,
                            MPI_Comm comm);
void pc_rule_reduce_scatter_block(struct pc_call *call, MPI_Count recvcount, MPI_Datatype type,
                                  MPI_Comm comm);
/* Neighbours that are MPI_PROC_NULL (outside of a Cartesian grid) count nothing. */
void pc_rule_neighbor_allgather(struct pc_call *call, MPI_Count sendcount, MPI_Datatype sendtype,
                                MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm);
void pc_rule_neighbor_allgatherv(struct pc_call *call, MPI_Count sendcount, MPI_Datatype sendtype,
                                 struct pc_counts recvcounts, MPI_Datatype recvtype, MPI_Comm comm);
void pc_rule_neighbor_alltoall(struct pc_call *call, MPI_Count sendcount, MPI_Datatype sendtype,
                               MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm);
void pc_rule_neighbor_alltoallv(struct pc_call *call, struct pc_counts sendcounts,
                                MPI_Datatype sendtype, struct pc_counts recvcounts,
                                MPI_Datatype recvtype, MPI_Comm comm);
void pc_rule_neighbor_alltoallw(struct pc_call *call, struct pc_counts sendcounts,
                                const MPI_Datatype *sendtypes, struct pc_counts recvcounts,
                                const MPI_Datatype *recvtypes, MPI_Comm comm);

#endif
