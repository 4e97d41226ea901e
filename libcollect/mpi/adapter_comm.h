/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Communicators by handle: the id by which all ranks know one (doc/internals/domains.md), and the
 * world ranks of its members (doc/internals/topology.md).
 *
 * There is one entry for each handle value ever seen. When a communicator is freed its entry is
 * marked; when the handle is given out again the entry is made anew. But MPICH gives a handle out
 * again while receives on the old communicator are pending: where some were posted the entry is put
 * aside for them, and the handle gets another. N_ASIDE later ones on it is used again.
 *
 * World ranks are asked for one at a time, when first needed, and kept in a map that grows with the
 * members asked for. The questions go to the group of the communicator, which is taken while a call
 * on the communicator has just succeeded: a handle that may not be valid is never given to the MPI.
 *
 * Nothing here is used while no plugin wants communicators or peers (pc_core->wants). All functions
 * are MT-safe, without locks; none communicates.
 */
#ifndef PC_ADAPTER_COMM_H
#define PC_ADAPTER_COMM_H

#include "libcollect/mpi/adapter_private.h"

#include <stdatomic.h>

/* What a plugin must want for any of this to run. */
#define PC_WANTS_COMM (PCOLLECT_WANT_DOMAIN | PCOLLECT_WANT_COMM | PCOLLECT_WANT_PEERS)

/* Numbers of entries. */
enum { PC_COMM_NONE = 0, PC_COMM_WORLD = 1, PC_COMM_SELF = 2 };

enum {
    PC_COMM_IS_INTER = 1,
    PC_COMM_AS_WORLD = 2, /* same members in the same order as MPI_COMM_WORLD */
    PC_COMM_FREED = 4,
    PC_COMM_POSTED =
        8 /* receives were posted, or persistent operations made: they may outlive it */
};

struct pc_rank_map;

struct pc_comm {
    uint64_t key;          /* the handle */
    uint64_t id;           /* never 0 */
    _Atomic uint64_t made; /* ticks */
    _Atomic uint32_t flags;
    _Atomic uint32_t n_made; /* communicators made from it by all its members */
    _Atomic uint64_t group;  /* the one in which peers are; 0: not taken yet */
    _Atomic(struct pc_rank_map *) map;
};

/* After MPI_Init: world and self. `call` may be NULL. */
void pc_comm_start(struct pc_call *call);

/* The entry of a communicator, PC_COMM_NONE if it is not known. Asks nothing of the MPI. */
uint32_t pc_comm_find(MPI_Comm comm);

/* The same for a communicator that is known to be valid: an unknown one is entered. */
uint32_t pc_comm_know(struct pc_call *call, MPI_Comm comm);

struct pc_comm *pc_comm_at(uint32_t number); /* not for PC_COMM_NONE */

/* Enters a communicator that was just made. PC_COMM_NONE: no room. */
uint32_t pc_comm_enter(MPI_Comm comm, uint64_t id, uint32_t flags);

/* Something made over a communicator, which is valid now, may outlive it: world ranks can be asked
 * for as long as there is room. Returns its number. */
uint32_t pc_comm_keep(struct pc_call *call, MPI_Comm comm);

/* Makes sure that world ranks can be asked for after the communicator is freed. It is valid now. */
void pc_comm_take_group(uint32_t number, MPI_Comm comm);

/* World rank of a member (of the remote group, in an intercommunicator), or PCOLLECT_RANK_NONE or
 * _OUTSIDE. `comm` is given if it is valid now, else MPI_COMM_NULL. */
int32_t pc_comm_world_rank(uint32_t number, MPI_Comm comm, int rank);

/* Whether an intercommunicator; the communicator is valid. */
bool pc_comm_is_inter(MPI_Comm comm);

/* Hash of the world ranks of a group, in their order. */
uint64_t pc_comm_hash_group(MPI_Group group);

/* The same of a communicator that is valid: of an intercommunicator equal on both sides. */
uint64_t pc_comm_hash_members(MPI_Comm comm);

/* World rank of a member of a group, or PCOLLECT_RANK_OUTSIDE. */
int32_t pc_comm_group_rank(MPI_Group group, int rank);

/* The communicator has been freed. */
void pc_comm_drop(uint32_t number);

/* ---- Around calls (made by generate.awk) ---------------------------------------------------- */

/* Before the call, where plugins ask: communicator, ranks in it (or MPI_PROC_NULL) and the status
 * from which a wildcard is learnt (or NULL). */
void pc_want(struct pc_call *call, MPI_Comm comm, int dest, int source, const MPI_Status *status);
/* The same of a call without peers. */
void pc_want_comm(struct pc_call *call, MPI_Comm comm);
/* The same of a communicator of Fortran. */
void pc_want_fortran(struct pc_call *call, const void *comm);
/* The same by number. */
void pc_want_number(struct pc_call *call, uint32_t number, int dest, int source);
void pc_want_message(struct pc_call *call, const MPI_Message *message, const MPI_Status *status);

/* The call is on that communicator, which is known. Between prepare and end. */
void pc_comm_set(struct pc_call *call, uint32_t number);

/* pc_core->end, or what comes before it where peers are wanted. */
extern void (*pc_end)(struct pc_call *call);
void pc_comm_choose_end(void);

/* MPI_Mprobe, MPI_Improbe: a message of this communicator was matched. */
void pc_rule_matched(struct pc_call *call, const MPI_Message *message);
static inline void pc_rule_matched_if(struct pc_call *call, const int *flag,
                                      const MPI_Message *message)
{
    if (*flag)
        pc_rule_matched(call, message);
}

/* The call has posted a receive, or made a persistent operation: nothing has been sent or received,
 * but world ranks may be asked for later. Sets call->comm; before the request is remembered. */
void pc_comm_posted(struct pc_call *call);

static inline bool pc_comm_is_wanted(void)
{
    return PC_UNLIKELY(pc_core->wants & PC_WANTS_COMM);
}

#endif
