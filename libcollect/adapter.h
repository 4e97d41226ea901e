/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The interface between libpcollect.so and its adapters (one per MPI).
 *
 * An adapter is a shared object built against one MPI's mpi.h. It has no undefined MPI symbol, no
 * DT_NEEDED on an MPI and no thread-local data: it reaches the MPI by tables of addresses that
 * libpcollect.so fills, and the core by struct pc_core. The life of one call:
 *
 *     wrapper of MPI_Send:   struct pc_call call;
 *                            call.cfa, .fp, .ret: the frame of the caller;
 *                            if (!core->begin(&call, slot of MPI_Send, cfa, ret)) return real(...);
 *                            if (core->asks) {pc_call_clear(&call); members that plugins want;
 *                                             if (core->pre) {
 *                                                 core->pre(&call);
 *                                                 call.event.begin = pc_ticks();}}
 *                            rc = real(...);
 *                            call.event.end = pc_ticks(); call.event.result = rc;
 *                            call.event.bytes_sent = ...; core->end(&call);
 *
 * Quiet calls (enum pcollect_want) go through begin_quiet, asks_quiet and end_quiet in the same
 * way.
 */
#ifndef PC_ADAPTER_H
#define PC_ADAPTER_H

#include "base/base.h"
#include "include/pcollect/arena.h"
#include "include/pcollect/plugin.h"
#include "merge/transport.h"

#define PC_CORE_ABI 18u

struct pc_thread;

/* Numbers of the predefined communicators. */
enum { PC_CALL_WORLD = 1, PC_CALL_SELF = 2 };
/* Flags of struct pc_call.peers. PC_CALL_AS_WORLD: the call is on another communicator than
 * MPI_COMM_WORLD, which has the same ranks in the same order. PC_CALL_IN_PART: `node` is that of
 * the communicator below the context. */
enum { PC_CALL_PEERS = 1, PC_CALL_AS_WORLD = 2, PC_CALL_IN_PART = 4 };

/* One MPI call in progress; lives in the frame of the wrapper, where `pcollect where` finds it. */
struct pc_call {
    struct pc_thread *thread;
    union {
        struct {
            uint32_t epoch;
            uint32_t depth; /* calls around this one, which a user's callback has made */
        };
        uint64_t epoch_depth; /* both: read and written as one word, for store forwarding */
    };
    uintptr_t cfa; /* stack address of the caller at the call: the depth guard */
    uintptr_t fp;  /* address at which the caller's frame pointer was saved */
    uintptr_t ret;
    uint32_t slot;
    uint32_t comm; /* 28 bits, set if plugins ask; kept with its request */
    /* Members of the adapter, set if plugins ask. */
    int32_t dest, source; /* valid, like status, with PC_CALL_PEERS */
    const void *status;
    uintptr_t handle;
    uint32_t peers;    /* PC_CALL_... */
    pcollect_ref node; /* OP node */
    void *record;      /* record of all plugins */
    /* The requests that the program gave, in a call that waits for them. */
    const void *requests;
    int32_t n_requests;
    struct pcollect_event event;
};

/* Sets to "none" the members that an event has only if plugins ask for them. */
static inline void pc_event_clear(struct pcollect_event *event, struct pc_thread *thread,
                                  pcollect_ref node)
{
    event->domain = event->n_elements = event->request = event->object = 0;
    event->world_peer = event->world_source = event->world_root = PCOLLECT_RANK_NONE;
    event->type = event->operator_ = 0;
    event->node = node;
    event->thread = thread;
}

static inline void pc_call_clear(struct pc_call *call)
{
    call->comm = call->peers = 0;
    call->handle = 0;
    pc_event_clear(&call->event, call->thread, call->node);
}

/* A meeting of this job with another one, by a call that made an intercommunicator of n_local and
 * n_remote processes, at `port`. */
struct pc_meeting {
    int n_local, n_remote;
    const char *port; /* NULL: without one */
    uint64_t domain;  /* id of the intercommunicator; 0: not known */
};

/* A slot is an entry point: 2 * op for MPI_X, 2 * op + 1 for PMPI_X. The slots of Fortran names are
 * stubs only: their wrappers begin a call of MPI_X. */
#define PC_SLOT_OP(slot) ((uint16_t)((slot) >> 1))
#define PC_SLOT_IS_PMPI(slot) ((slot)&1)

/* Origin of an operation with a request. */
struct pc_origin {
    pcollect_ref node;
    uint32_t epoch : 4, comm : 28; /* copies of the call's members */
    struct pc_thread *thread;
};

/* Data that an adapter keeps about the start of an operation with a request. */
struct pc_start {
    struct pc_origin origin;
    uint64_t begin;     /* ticks */
    uint64_t mpi_ticks; /* core->mpi_ticks() at the start; with PCOLLECT_WANT_REQUEST */
    union {
        uint64_t bytes_sent;
        uint32_t type; /* of a receive that is not persistent: as in the event */
    };
    union {
        uint64_t bytes_received;
        /* The envelope of a message that is under way, as in the event: rank in the communicator,
         * or a negative value for any, and tag. */
        struct {
            int32_t peer, tag;
        };
    };
};

static inline struct pc_origin pc_origin_of(const struct pc_call *call)
{
    return (struct pc_origin){call->node, call->epoch & 15, call->comm & 0xfffffff, call->thread};
}

/* The core as adapters see it. */
struct pc_core {
    uint32_t abi;
    uint32_t size;
    /* Finds the thread and the context, decides whether the call counts. False: pass it on. Sets
     * all members of the event except end and result, which the wrapper sets (bytes: 0; peer, root,
     * tag: -1). */
    bool (*begin)(struct pc_call *call, unsigned slot, uintptr_t cfa, uintptr_t ret);
    /* Not 0: some plugin has a `pre` hook or wants members of the event that cost time, or ticks do
     * not come from the processor's counter. Then wrappers do this before the real call: they set
     * these members to none (pc_call_clear), set what is wanted, call `pre` if it is not NULL, and
     * take the time again. */
    uint32_t asks;
    uint64_t wants; /* enum pcollect_want of all plugins */
    /* When MPI_Pcontrol last switched collection off or let all be forgotten, and when it last let
     * all be forgotten; 0: never. */
    _Atomic uint64_t off_ticks, reset_ticks;
    void (*pre)(struct pc_call *call);
    void (*end)(struct pc_call *call);
    /* Begin, asks and end of quiet calls (enum pcollect_want). */
    bool (*begin_quiet)(struct pc_call *call, unsigned slot, uintptr_t cfa, uintptr_t ret);
    uint32_t asks_quiet;
    void (*end_quiet)(struct pc_call *call);
    /* Called for a call that begin has refused, and that makes, names or frees an object. True: it
     * would be measured if MPI_Pcontrol had not switched collection off. Then the wrapper does
     * what it does for a measured call, so that the object is known later, and calls unfollow
     * instead of end. The call is filled by stand_in. */
    bool (*follow)(struct pc_call *call);
    void (*unfollow)(struct pc_call *call);
    /* Fills a call that is not measured, of which only the slot is set: with the thread and the
     * time, and without a context. False: this thread takes no part. */
    bool (*stand_in)(struct pc_call *call);
    /* Books the call for that communicator, with PCOLLECT_WANT_DOMAIN. Called between begin and
     * end; the last call counts. */
    void (*domain)(struct pc_call *call, uint64_t domain);
    /* A communicator was made, named or freed by the call. */
    void (*tell_domain)(struct pc_call *call, const struct pcollect_domain *domain);
    /* The call has connected this job with another one. Called on one rank only. */
    void (*met_job)(struct pc_call *call, const struct pc_meeting *met);
    /* The call has started one of several messages, for which the event has no room. */
    void (*part)(struct pc_call *call, uint64_t domain, int32_t world_peer, uint64_t bytes_sent);
    /* A posted receive has completed in the thread of `by`. Of the start, origin and type are read.
     * If no plugin wants them, the domain is 0 and the source PCOLLECT_RANK_NONE. */
    void (*complete)(struct pc_call *by, const struct pc_start *start, uint64_t bytes,
                     uint64_t domain, int32_t world_source);
    /* With PCOLLECT_WANT_REQUEST: an operation has ended in the call `by` (NULL: by the end of the
     * run). Its bytes are start->bytes_sent and, by then, start->bytes_received. */
    void (*ended)(struct pc_call *by, const struct pc_start *start, enum pcollect_how how,
                  uint64_t wait);
    /* Time that a thread has spent in MPI, not counting the call in progress. */
    uint64_t (*mpi_ticks)(const struct pc_thread *thread);
    /* Counts something left out. */
    void (*lost)(enum pcollect_lost what, uint64_t n);
    /* Memory that is never freed, zero-filled, page-aligned, by mmap; NULL if there is none. */
    void *(*memory)(size_t bytes);
    /* Offset in a struct pc_thread of the 64 bytes that belong to the adapter (a cache of
     * pointers), zero at first. Valid for the thread of a call in progress. */
    size_t thread_slot;
    /* MPI_Pcontrol was called with that level. */
    void (*control)(int level);
    /* MPI_Init* is about to run / has returned in this process. `mpi` names library and version.
     * Only rank and n_ranks of the transport are read: nothing is sent. */
    void (*init_begin)(void);
    void (*init_end)(const struct pc_transport *transport, const char *mpi);
    /* MPI_Finalize has been called (before the real one). */
    void (*finalize_begin)(void);
    /* Notes that the process is alive, while it waits for other ranks in `merge`: the sampler has
     * ended by then. */
    void (*alive)(void);
    /* Called from the delete callback of the attribute on MPI_COMM_SELF: meets the other ranks and
     * merges. */
    void (*merge)(const struct pc_transport *transport);
    /* MPI_Finalize has returned, at that time (pc_ticks). */
    void (*finalize_end)(uint64_t ticks);
    uint32_t (*string)(const char *text);
};

/* Functions that libcollect/mpi gives an adapter when it opens it. Indexed by op. Missing functions
 * are NULL. */
struct pc_mpi_symbols {
    void *const *mpi;  /* next definition of MPI_X after us */
    void *const *pmpi; /* next definition of PMPI_X after us */
    /* Next definition of each Fortran name, in the order of slots; set before the first call of its
     * wrapper. */
    void *const *fortran;
    /* Address of a data object of the MPI library by name, or NULL. */
    void *(*data)(const char *name);
};

/* A communicator as `pcollect where` reads it from outside; there are none if no plugin wants
 * communicators. */
struct pc_seen_comm {
    uint64_t id;           /* pcollect_event.domain */
    uint32_t rank : 31;    /* rank of this process in it */
    uint32_t as_world : 1; /* it has the ranks of MPI_COMM_WORLD in the same order */
    int32_t size;          /* 0: no communicator, or an intercommunicator */
};

enum { PC_SEEN_COMMS = 4096 };

struct pc_seen_requests;

/* Exported by every adapter as `pc_adapter`. */
struct pc_adapter {
    uint32_t abi; /* PC_CORE_ABI */
    uint32_t size;
    const char *name; /* "Open MPI" */
    uint32_t n_ops;   /* number of ops that the adapter was built with: must equal the library's */
    /* Fills wrappers[slot] for every slot that is to be measured, and leaves the others NULL: they
     * get the real function. 0 on success. */
    int (*init)(const struct pc_core *core, const struct pc_mpi_symbols *symbols, void **wrappers);
    const struct pc_seen_comm *comms; /* PC_SEEN_COMMS */
    const struct pc_seen_requests *requests;
    int32_t proc_null; /* MPI_PROC_NULL */
};

#define PC_ADAPTER_SYMBOL "pc_adapter"

#endif
