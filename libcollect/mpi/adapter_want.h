/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Communicator and peers of a call, for plugins that want them: arguments are noted before the call
 * and resolved after it. Called by the wrappers that generate.awk makes, and by the files of
 * requests and objects.
 *
 * Nothing is done if no plugin wants communicators or peers. All functions are MT-safe, without
 * locks; none communicates.
 */
#ifndef PC_ADAPTER_WANT_H
#define PC_ADAPTER_WANT_H

#include "libcollect/mpi/adapter_comm.h"

/* Functions that prepare what plugins want to know of a call. If plugins ask, one of them is called
 * before each call. */

/* A call on no communicator. */
void pc_want_nothing(struct pc_call *call);
/* A call with a communicator, ranks in it (or MPI_PROC_NULL), and the status that resolves a
 * wildcard (or NULL). */
void pc_want(struct pc_call *call, MPI_Comm comm, int dest, int source, const MPI_Status *status);
/* A call without peers. */
void pc_want_comm(struct pc_call *call, MPI_Comm comm);
/* A call on a Fortran communicator. */
void pc_want_fortran(struct pc_call *call, const void *comm);
/* A call that receives a message that was matched before. */
void pc_want_message(struct pc_call *call, const MPI_Message *message, const MPI_Status *status);

/* A call on a communicator with this number. Comes after pc_want_nothing. */
void pc_want_number(struct pc_call *call, uint32_t number, int dest, int source);
/* A call on a known communicator. Called between begin and end. */
void pc_want_known(struct pc_call *call, uint32_t number);

/* Ends a call: pc_core->end, or a function that finds communicator and peers first. */
extern void (*pc_end)(struct pc_call *call);
/* Ends a quiet call: pc_core->end_quiet, or a function that finds the communicator first. */
extern void (*pc_end_quiet)(struct pc_call *call);
void pc_want_choose_end(void);

/* MPI_Mprobe, MPI_Improbe: a message of this communicator was matched. */
void pc_rule_matched(struct pc_call *call, const MPI_Message *message);
static inline void pc_rule_matched_if(struct pc_call *call, const int *flag,
                                      const MPI_Message *message)
{
    if (*flag)
        pc_rule_matched(call, message);
}

/* The call has posted a receive, or made a persistent operation: nothing has been sent or received,
 * but world ranks may be needed later. Sets call->comm. Called before the request is remembered. */
void pc_want_posted_on(struct pc_call *call);
static inline void pc_want_posted(struct pc_call *call)
{
    if (PC_LIKELY(pc_comm_is_predefined(call->comm)))
        call->peers = 0; /* ranks of a predefined one can be looked up later */
    else
        pc_want_posted_on(call);
}

#endif
