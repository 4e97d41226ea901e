/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Names of datatypes and reduction operators for plugins that want them (PCOLLECT_WANT_TYPES).
 *
 * Names of predefined objects, which live as long as the MPI, are remembered by handle. Other names
 * are queried each time: such a handle may be freed and reused by calls that go through no stub.
 * Called by the wrappers after a successful call, before the rule of its request takes the bytes
 * out of the event.
 */
#ifndef PC_ADAPTER_NAMES_H
#define PC_ADAPTER_NAMES_H

#include "libcollect/mpi/adapter_private.h"

#include <stdatomic.h>

/* The first names of a kind that the program gives: of files, communicators, datatypes. A program
 * that makes up a name in every step would fill the arena with them, so later ones are not kept. */
enum { PC_MOST_NAMES = 1024 };

struct pc_name_set {
    _Atomic uint64_t hashes[2 * PC_MOST_NAMES]; /* 0: free */
    _Atomic uint32_t n;
};

/* True for names that are in the set, or have room there and are entered. */
bool pc_name_is_kept(struct pc_name_set *set, const char *name);

#define PC_NO_OPERATOR ((MPI_Op)0)
#define PC_COUNT_BY_BYTES ((MPI_Count)-1) /* arrays of counts: elements by bytes */

static inline bool pc_types_are_wanted(void)
{
    return PC_UNLIKELY(pc_core->wants & PCOLLECT_WANT_TYPES);
}

/* Sets type and elements of a call with one datatype, whose arguments are significant. */
void pc_note_type(struct pc_call *call, MPI_Datatype type, MPI_Count count, MPI_Op op);

/* Sets them only if the call moved bytes: otherwise its datatype is not significant (ranks other
 * than the root of an intercommunicator). */
void pc_note_moved(struct pc_call *call, MPI_Datatype type, MPI_Count count, MPI_Op op);

/* Sets them for a call with two datatypes: the send type if it is significant, else the receive
 * type. */
void pc_note_types(struct pc_call *call, const void *sendbuf, MPI_Datatype sendtype,
                   MPI_Count sendcount, MPI_Datatype recvtype, MPI_Count recvcount, MPI_Op op);

#endif
