/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Names of datatypes and reduction operators for plugins that want them (PCOLLECT_WANT_TYPES).
 *
 * Names of predefined objects, which live as long as the MPI, are remembered by handle. Everything
 * else is asked each time: its handle may be freed and given out again by calls that pass no stub.
 * Called by the wrappers after a successful call, before a request takes its bytes.
 */
#ifndef PC_ADAPTER_NAMES_H
#define PC_ADAPTER_NAMES_H

#include "libcollect/mpi/adapter_private.h"

#define PC_NO_OPERATOR ((MPI_Op)0)
#define PC_COUNT_BY_BYTES ((MPI_Count)-1) /* an array of counts: the elements are the bytes' */

static inline bool pc_types_are_wanted(void)
{
    return PC_UNLIKELY(pc_core->wants & PCOLLECT_WANT_TYPES);
}

/* The event of a call with one datatype, whose arguments are significant. */
void pc_note_type(struct pc_call *call, MPI_Datatype type, MPI_Count count, MPI_Op op);

/* The event where only a call that moved bytes has a significant datatype (other ranks than the
 * root of an intercommunicator). */
void pc_note_moved(struct pc_call *call, MPI_Datatype type, MPI_Count count, MPI_Op op);

/* The event of a call with two datatypes: that of what is sent, else that of what is received. */
void pc_note_types(struct pc_call *call, const void *sendbuf, MPI_Datatype sendtype,
                   MPI_Count sendcount, MPI_Datatype recvtype, MPI_Count recvcount, MPI_Op op);

#endif
