/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Communicators by handle: the id by which all ranks know one (doc/internals/domains.md), and the
 * world ranks of its members (doc/internals/topology.md).
 *
 * There is one entry for each handle value ever seen. When a communicator is freed its entry is
 * marked; when the handle is given out again the entry is made anew. But MPICH gives a handle out
 * again while receives on the old communicator are pending: if some were posted, the entry is put
 * aside for them, and the handle gets another entry. N_ASIDE later ones on it is used again.
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

/* Wishes of plugins, one of which is needed for any of this to run. */
#define PC_WANTS_COMM (PCOLLECT_WANT_DOMAIN | PCOLLECT_WANT_COMM | PCOLLECT_WANT_PEERS)

/* Numbers of entries. */
enum { PC_COMM_NONE = 0, PC_COMM_WORLD = PC_CALL_WORLD, PC_COMM_SELF = PC_CALL_SELF };

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
    uint32_t depth;          /* how many were made one of another until it was */
    _Atomic uint64_t group;  /* the one in which peers are; 0: not taken yet */
    _Atomic(struct pc_rank_map *) map;
};

/* Enters world and self, after MPI_Init, where communicators are wanted. False: no room. */
bool pc_comm_start(void);
/* Before the real MPI_Finalize: a program that uses sessions too may still call MPI after it, and
 * MPI_COMM_WORLD, to whose ranks others are translated, is gone then. */
void pc_comm_stop(void);

/* State that each call looks at: whether that was done, and the entries in chunks that never move.
 */
enum { PC_COMM_CHUNK = 64 };
extern PC_HIDDEN _Atomic bool pc_comm_started;
extern PC_HIDDEN _Atomic(struct pc_comm *) pc_comm_chunks[];

/* By number; set before that. */
extern PC_HIDDEN uint64_t pc_comm_predefined_id[PC_COMM_SELF + 1];

static inline bool pc_comm_has_started(void)
{
    return atomic_load_explicit(&pc_comm_started, memory_order_acquire);
}

/* Not for PC_COMM_NONE. */
static inline struct pc_comm *pc_comm_at(uint32_t number)
{
    struct pc_comm *chunk =
        atomic_load_explicit(&pc_comm_chunks[number / PC_COMM_CHUNK], memory_order_acquire);
    return chunk + number % PC_COMM_CHUNK;
}

/* The entry of a communicator, PC_COMM_NONE if it is not known. Asks nothing of the MPI. */
uint32_t pc_comm_find_other(MPI_Comm comm); /* than the two predefined ones */
static inline uint32_t pc_comm_find(MPI_Comm comm)
{
    if (PC_LIKELY(comm == MPI_COMM_WORLD))
        return pc_comm_has_started() ? PC_COMM_WORLD : PC_COMM_NONE;
    if (comm == MPI_COMM_SELF)
        return pc_comm_has_started() ? PC_COMM_SELF : PC_COMM_NONE;
    return pc_comm_find_other(comm);
}

/* Enters a communicator that was just made. PC_COMM_NONE: no room. */
uint32_t pc_comm_enter(MPI_Comm comm, uint64_t id, uint32_t flags);

/* Makes sure that world ranks can be asked for after the communicator is freed. It is valid now. */
void pc_comm_take_group(uint32_t number, MPI_Comm comm);

static inline bool pc_comm_is_predefined(uint32_t number)
{
    return number - 1 < PC_COMM_SELF;
}

/* World rank of a member of one of the two predefined communicators, or PCOLLECT_RANK_NONE. */
static inline int32_t pc_comm_predefined_rank(uint32_t number, int rank)
{
    int32_t first = number == PC_COMM_SELF ? pc_world_rank : 0;
    return rank >= 0 ? first + rank : PCOLLECT_RANK_NONE;
}

/* World rank of a member (of the remote group, in an intercommunicator), or PCOLLECT_RANK_NONE or
 * _OUTSIDE. `comm` is given if it is valid now, else MPI_COMM_NULL. */
int32_t pc_comm_world_rank_other(uint32_t number, MPI_Comm comm, int rank);
static inline int32_t pc_comm_world_rank(uint32_t number, MPI_Comm comm, int rank)
{
    return pc_comm_is_predefined(number) ? pc_comm_predefined_rank(number, rank)
                                         : pc_comm_world_rank_other(number, comm, rank);
}

/* True for an intercommunicator; the communicator is valid. */
bool pc_comm_is_inter(MPI_Comm comm);

/* Hash of the world ranks of a group, in their order. */
uint64_t pc_comm_hash_group(MPI_Group group);

/* Hash of the members of a communicator that is valid: of an intercommunicator equal on both sides.
 */
uint64_t pc_comm_hash_members(MPI_Comm comm);

/* World rank of a member of a group, or PCOLLECT_RANK_OUTSIDE. */
int32_t pc_comm_group_rank(MPI_Group group, int rank);

/* By number, the first of them. */
extern PC_HIDDEN struct pc_seen_comm pc_comm_seen[PC_SEEN_COMMS];

/* Shows it to readers from outside, with the rank of this process in it. */
void pc_comm_show(uint32_t number, int rank, int size);

/* The communicator has been freed. */
void pc_comm_drop(uint32_t number);

/* Ids: of a communicator that no call made; of one derived from an id and another number. Never 0.
 */
uint64_t pc_comm_id_of(const char *what);
uint64_t pc_comm_mix(uint64_t id, uint64_t more);

/* Requests posted on the communicator may outlive it. A locked instruction once, not for each. */
static inline void pc_comm_note_posted(uint32_t number)
{
    _Atomic uint32_t *flags = &pc_comm_at(number)->flags;
    if (PC_UNLIKELY(!(atomic_load_explicit(flags, memory_order_relaxed) & PC_COMM_POSTED)))
        atomic_fetch_or(flags, PC_COMM_POSTED);
}

static inline bool pc_comm_is_wanted(void)
{
    return PC_UNLIKELY(pc_core->wants & PC_WANTS_COMM);
}

#endif
