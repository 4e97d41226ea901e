/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Communicator and peers of the call in progress (adapter_want.h). Peers are looked up after the
 * call, when wildcards are resolved and the handles are known to be valid.
 */
#include "libcollect/mpi/adapter_want.h"

#include "libcollect/mpi/adapter_domain.h"

/* ---- Matched messages ----------------------------------------------------------------------- */

enum { N_MATCHED = 1024, MATCH_WAYS = 8 };

/* Messages between MPI_Mprobe and MPI_Mrecv: the handle, above the number of the communicator. */
static _Atomic uint64_t matched[N_MATCHED];

/* The value of off_ticks (struct pc_core) when the table was used last. */
static _Atomic uint64_t matched_off;

static uint64_t message_key(MPI_Message message)
{
    return (uint64_t)(uintptr_t)message << 16;
}

static _Atomic uint64_t *matched_at(MPI_Message message, unsigned way)
{
    return &matched[(pc_hash_u64(message_key(message)) + way) % N_MATCHED];
}

/* Forgets the messages of before MPI_Pcontrol switched collection off or let all be forgotten: they
 * may have been received since, and their handles given to others. */
static void forget_unsure(void)
{
    uint64_t off = atomic_load_explicit(&pc_core->off_ticks, memory_order_relaxed);
    if (PC_LIKELY(atomic_load_explicit(&matched_off, memory_order_relaxed) == off))
        return;
    atomic_store_explicit(&matched_off, off, memory_order_relaxed);
    for (unsigned i = 0; i < N_MATCHED; i++)
        atomic_store_explicit(&matched[i], 0, memory_order_relaxed);
}

void pc_rule_matched(struct pc_call *call, const MPI_Message *message)
{
    if (!(pc_core->wants & PC_WANTS_COMM) || !call->comm)
        return;
    pc_comm_take_group(call->comm, (MPI_Comm)call->handle);
    forget_unsure();
    for (unsigned way = 0; way < MATCH_WAYS; way++) {
        uint64_t none = 0;
        if (atomic_compare_exchange_strong(matched_at(*message, way), &none,
                                           message_key(*message) | call->comm))
            return;
    }
}

static uint32_t take_matched(MPI_Message message)
{
    forget_unsure();
    for (unsigned way = 0; way < MATCH_WAYS; way++) {
        uint64_t word = atomic_load(matched_at(message, way));
        if (word && word >> 16 == message_key(message) >> 16 &&
            atomic_compare_exchange_strong(matched_at(message, way), &word, 0))
            return word & 0xffff;
    }
    return PC_COMM_NONE;
}

/* ---- Around calls --------------------------------------------------------------------------- */

void (*pc_end)(struct pc_call *call);
void (*pc_end_quiet)(struct pc_call *call);

void pc_want_known(struct pc_call *call, uint32_t number)
{
    pc_domain_set(call, pc_comm_at(number)->id);
}

static inline void set_peers(struct pc_call *call, int dest, int source, const MPI_Status *status)
{
    call->peers |= PC_CALL_PEERS;
    call->dest = dest;
    call->source = source;
    call->status = status == MPI_STATUS_IGNORE ? NULL : status;
}

void pc_want_nothing(struct pc_call *call)
{
    pc_call_clear(call);
}

static __attribute__((noinline)) void want_any_comm(struct pc_call *call, MPI_Comm comm)
{
    call->comm = pc_comm_find(comm);
    if (PC_UNLIKELY(!call->comm))
        return;
    if (call->comm != PC_COMM_WORLD && call->comm != PC_COMM_SELF &&
        atomic_load_explicit(&pc_comm_at(call->comm)->flags, memory_order_relaxed) &
            PC_COMM_AS_WORLD)
        call->peers |= PC_CALL_AS_WORLD;
    pc_want_known(call, call->comm);
}

/* Fast path: most calls are on predefined communicators. */
static inline void want_comm(struct pc_call *call, MPI_Comm comm, uint64_t wants)
{
    uint32_t number = comm == MPI_COMM_WORLD  ? PC_COMM_WORLD
                      : comm == MPI_COMM_SELF ? PC_COMM_SELF
                                              : PC_COMM_NONE;
    call->handle = (uintptr_t)comm;
    if (PC_UNLIKELY(!number || !pc_comm_has_started() || wants & PCOLLECT_WANT_DOMAIN)) {
        want_any_comm(call, comm);
        return;
    }
    call->comm = number;
    call->event.domain = pc_comm_predefined_id[number];
}

void pc_want(struct pc_call *call, MPI_Comm comm, int dest, int source, const MPI_Status *status)
{
    uint64_t wants = pc_core->wants;
    pc_call_clear(call);
    if (!(wants & PC_WANTS_COMM))
        return;
    set_peers(call, dest, source, status);
    want_comm(call, comm, wants);
}

void pc_want_comm(struct pc_call *call, MPI_Comm comm)
{
    uint64_t wants = pc_core->wants;
    pc_call_clear(call);
    if (wants & PC_WANTS_COMM)
        want_comm(call, comm, wants);
}

void pc_want_fortran(struct pc_call *call, const void *comm)
{
    pc_want_comm(call, pc_core->wants & PC_WANTS_COMM ? pc_comm_of_fortran(comm) : MPI_COMM_NULL);
}

void pc_want_number(struct pc_call *call, uint32_t number, int dest, int source)
{
    call->comm = number;
    set_peers(call, dest, source, NULL);
    if (number)
        pc_want_known(call, number);
}

void pc_want_message(struct pc_call *call, const MPI_Message *message, const MPI_Status *status)
{
    pc_call_clear(call);
    if (!(pc_core->wants & PC_WANTS_COMM) || !message)
        return;
    pc_want_number(call, take_matched(*message), MPI_PROC_NULL, MPI_ANY_SOURCE);
    set_peers(call, MPI_PROC_NULL, MPI_ANY_SOURCE, status);
}

/* Called after a success: the communicator is valid, unless the call has freed it. */
static void find_peers(struct pc_call *call)
{
    struct pcollect_event *e = &call->event;
    uint32_t flags = atomic_load_explicit(&pc_comm_at(call->comm)->flags, memory_order_relaxed);
    MPI_Comm comm =
        call->handle && !(flags & PC_COMM_FREED) ? (MPI_Comm)call->handle : MPI_COMM_NULL;
    const MPI_Status *status = call->peers & PC_CALL_PEERS ? call->status : NULL;
    int dest = call->peers & PC_CALL_PEERS ? call->dest : MPI_PROC_NULL;
    int source = call->peers & PC_CALL_PEERS ? call->source : MPI_PROC_NULL;
    if (dest >= 0)
        e->world_peer = pc_comm_world_rank(call->comm, comm, dest);
    if (source == MPI_ANY_SOURCE && status)
        source = status->MPI_SOURCE;
    if (source >= 0)
        e->world_source = pc_comm_world_rank(call->comm, comm, source);
    if (e->root >= 0)
        e->world_root = pc_comm_world_rank(call->comm, comm, e->root);
    else if (e->root == MPI_ROOT)
        e->world_root = pc_world_rank;
}

/* Enters a communicator that no measured call has made, at the first call on it that succeeds. */
static void learn_comm(struct pc_call *call)
{
    if (PC_LIKELY(call->comm || !call->handle))
        return;
    call->comm = pc_domain_know(call, (MPI_Comm)call->handle);
    if (call->comm)
        pc_want_known(call, call->comm);
}

void pc_want_posted_on(struct pc_call *call)
{
    MPI_Comm comm = (MPI_Comm)call->handle;
    learn_comm(call);
    if (call->comm)
        pc_comm_note_posted(call->comm);
    if (call->comm && call->handle && call->peers & PC_CALL_PEERS &&
        pc_core->wants & PCOLLECT_WANT_PEERS) {
        if (call->source == MPI_ANY_SOURCE)
            pc_comm_take_group(call->comm, comm);
        else
            pc_comm_world_rank(call->comm, comm, call->source >= 0 ? call->source : call->dest);
    }
    call->peers = 0;
}

static __attribute__((noinline)) void end_with_peers(struct pc_call *call)
{
    if (call->event.result == MPI_SUCCESS) {
        learn_comm(call);
        if (call->comm)
            find_peers(call);
    }
    pc_core->end(call);
}

/* Sets the peers in a communicator whose ranks are those of MPI_COMM_WORLD plus `shift`, without a
 * look-up. Calls with peers have no root. */
static inline void name_peers(struct pc_call *call, int32_t shift)
{
    const MPI_Status *status = call->status;
    int source = call->source;
    if (source == MPI_ANY_SOURCE && status)
        source = status->MPI_SOURCE;
    call->event.world_peer = call->dest >= 0 ? call->dest + shift : PCOLLECT_RANK_NONE;
    call->event.world_source = source >= 0 ? source + shift : PCOLLECT_RANK_NONE;
}

static inline bool has_ranks_of_world(uint32_t number)
{
    return atomic_load_explicit(&pc_comm_at(number)->flags, memory_order_relaxed) &
           PC_COMM_AS_WORLD;
}

/* A call without a root has root -1. */
static void end_wanted(struct pc_call *call)
{
    bool self = call->comm == PC_COMM_SELF;
    if (PC_UNLIKELY(!call->comm || call->event.root != -1)) {
        end_with_peers(call);
        return;
    }
    if (call->peers & PC_CALL_PEERS) {
        if (PC_UNLIKELY(call->event.result != MPI_SUCCESS ||
                        (!self && !has_ranks_of_world(call->comm)))) {
            end_with_peers(call);
            return;
        }
        name_peers(call, self ? pc_world_rank : 0);
    }
    pc_core->end(call);
}

/* Path for plugins that want no peers. */
static void end_on_comm(struct pc_call *call)
{
    if (call->event.result == MPI_SUCCESS)
        learn_comm(call);
    pc_core->end(call);
}

void pc_want_choose_end(void)
{
    pc_end = pc_core->end;
    if (pc_core->wants & PC_WANTS_COMM)
        pc_end = pc_core->wants & PCOLLECT_WANT_PEERS ? end_wanted : end_on_comm;
    pc_end_quiet = pc_core->asks_quiet ? pc_end : pc_core->end_quiet;
}
