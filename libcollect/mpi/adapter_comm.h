/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Communicators by handle: the id by which all ranks know one (doc/internals/domains.md), and the
 * world ranks of its members (doc/internals/topology.md).
 *
 * There is one entry for each handle value ever seen. When a communicator is freed its entry is
 * marked; when the handle is reused the entry is filled anew. But MPICH reuses a handle while
 * receives on the old communicator are pending: if some were posted, the entry is put aside for
 * them, and the handle gets another entry. After N_ASIDE further ones it is used again.
 *
 * World ranks are looked up one at a time, when first needed, and kept in a map that grows with the
 * members looked up. The look-up uses the group of the communicator, which is taken just after a
 * call on the communicator has succeeded: a handle that may be invalid is never passed to the MPI.
 *
 * Nothing here is used while no plugin wants communicators or peers (pc_core->wants). All functions
 * are MT-safe, without locks; none communicates.
 */
#ifndef PC_ADAPTER_COMM_H
#define PC_ADAPTER_COMM_H

#include "libcollect/mpi/adapter_private.h"

#include <stdatomic.h>

/* Wants of plugins: this file is used only if a plugin has one of them. */
#define PC_WANTS_COMM (PCOLLECT_WANT_DOMAIN | PCOLLECT_WANT_COMM | PCOLLECT_WANT_PEERS)

/* Numbers of entries. */
enum { PC_COMM_NONE = 0, PC_COMM_WORLD = PC_CALL_WORLD, PC_COMM_SELF = PC_CALL_SELF };

enum {
    PC_COMM_IS_INTER = 1,
    PC_COMM_AS_WORLD = 2, /* it has the members of MPI_COMM_WORLD in the same order */
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
    uint32_t depth;          /* length of the chain of parents from which it was made */
    _Atomic uint64_t group;  /* the group that peers belong to; 0: not taken yet */
    _Atomic(struct pc_rank_map *) map;
};

/* Enters world and self, after MPI_Init, if communicators are wanted. False: no room. */
bool pc_comm_start(void);
/* Called before the real MPI_Finalize: a program that also uses sessions may still call MPI after
 * it, but then MPI_COMM_WORLD, whose ranks others are translated to, is gone. */
void pc_comm_stop(void);

/* State that each call reads: a flag that pc_comm_start has run, and the entries in chunks that
 * never move.
 */
enum { PC_COMM_CHUNK = 64 };
extern PC_HIDDEN _Atomic bool pc_comm_started;
extern PC_HIDDEN _Atomic(struct pc_comm *) pc_comm_chunks[];

/* Ids by number; set before pc_comm_start. */
extern PC_HIDDEN uint64_t pc_comm_predefined_id[PC_COMM_SELF + 1];

static inline bool pc_comm_has_started(void)
{
    return atomic_load_explicit(&pc_comm_started, memory_order_acquire);
}

/* Entry by number, which must not be PC_COMM_NONE. */
static inline struct pc_comm *pc_comm_at(uint32_t number)
{
    struct pc_comm *chunk =
        atomic_load_explicit(&pc_comm_chunks[number / PC_COMM_CHUNK], memory_order_acquire);
    return chunk + number % PC_COMM_CHUNK;
}

/* The entry of a communicator, PC_COMM_NONE if it is not known. Makes no MPI call. */
uint32_t pc_comm_find_other(MPI_Comm comm); /* not for world and self */
static inline uint32_t pc_comm_find(MPI_Comm comm)
{
    if (PC_LIKELY(comm == MPI_COMM_WORLD))
        return pc_comm_has_started() ? PC_COMM_WORLD : PC_COMM_NONE;
    if (comm == MPI_COMM_SELF)
        return pc_comm_has_started() ? PC_COMM_SELF : PC_COMM_NONE;
    return pc_comm_find_other(comm);
}

/* True if there is no room for another handle value. */
bool pc_comm_are_full(void);

/* Enters a communicator that was just made. PC_COMM_NONE: no room. */
uint32_t pc_comm_enter(MPI_Comm comm, uint64_t id, uint32_t flags);

/* Makes sure that world ranks can be asked for after the communicator is freed. The communicator is
 * valid now. */
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

/* Hash of the members of a valid communicator; for an intercommunicator equal on both sides. */
uint64_t pc_comm_hash_members(MPI_Comm comm);

/* World rank of a member of a group, or PCOLLECT_RANK_OUTSIDE. */
int32_t pc_comm_group_rank(MPI_Group group, int rank);

/* The first communicators, by number. */
extern PC_HIDDEN struct pc_seen_comm pc_comm_seen[PC_SEEN_COMMS];

/* Makes the communicator visible to readers from outside, with the rank of this process in it. */
void pc_comm_show(uint32_t number, int rank, int size);

/* Forgets a communicator that is about to be freed, and knows it again if that failed. */
void pc_comm_drop(uint32_t number);
void pc_comm_restore(uint32_t number);

/* Hides a communicator from readers from outside, unless its entry has been used again. */
void pc_comm_hide(uint32_t number);

/* Notes that requests posted on the communicator may outlive it. Executes the locked instruction
 * once, not for each request. */
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
