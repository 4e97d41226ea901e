/* SPDX-License-Identifier: BSD-3-Clause */
#include "watch/mpi_call.h"

#include "libcollect/adapter.h"
#include "libcollect/state/ops.h"

#include <string.h>

/* True for the call in progress. Remains of earlier calls on the stack have another return address
 * than the one stored by the call's own caller. */
static bool is_call(struct pct_caught *c, uint64_t at, const struct pc_call *call)
{
    uint64_t ret = call->ret;
    if (call->event.size != sizeof call->event || call->event.op != PC_SLOT_OP(call->slot) ||
        call->event.op_class >= PCOLLECT_N_CLASSES || call->cfa <= at ||
        call->cfa - c->sp > c->n_stack)
        return false;
#if defined(__x86_64__)
    if (!pct_caught_word(c, call->cfa - sizeof ret, &ret))
        return false;
#endif
    return ret == call->ret;
}

/* True if a plugin asked, so that more than the arguments was set. */
static bool is_asked(const struct pc_call *call)
{
    return call->event.thread == call->thread &&
           (call->event.node == call->node || call->peers & PC_CALL_IN_PART);
}

static enum pct_call_comm comm_of(const struct pc_call *call)
{
    if (!is_asked(call))
        return PCT_COMM_NONE;
    if (call->comm == PC_CALL_WORLD)
        return PCT_COMM_WORLD;
    if (call->comm == PC_CALL_SELF)
        return PCT_COMM_SELF;
    if (call->peers & PC_CALL_AS_WORLD)
        return PCT_COMM_AS_WORLD;
    return call->handle ? PCT_COMM_OTHER : PCT_COMM_NONE;
}

bool pct_mpi_adapter_read(int pid, uint64_t at, struct pc_adapter *out)
{
    return at && pct_caught_read(pid, at, out, sizeof *out) == sizeof *out &&
           out->abi == PC_CORE_ABI && out->size == sizeof *out;
}

/* A source as the program gave it: each MPI has its own numbers for any rank and none. */
static int source_of(const struct pct_caught *c, uint64_t adapter, int given)
{
    struct pc_adapter a;
    if (given >= 0)
        return given;
    bool null = pct_mpi_adapter_read(c->pid, adapter, &a) && given == a.proc_null;
    return null ? PCT_RANK_NULL : -1;
}

/* The peer; of a call that only receives it is a source. */
static int peer_of(const struct pct_caught *c, uint64_t adapter, const struct pc_call *call)
{
    uint32_t traits = pc_op_traits_of(pc_op_name(call->event.op));
    bool takes = traits & PCOLLECT_TRAIT_SOURCE && !(traits & PCOLLECT_TRAIT_DEST);
    return takes ? source_of(c, adapter, call->event.peer) : call->event.peer;
}

void pct_mpi_call_find(struct pct_caught *c, uint64_t adapter, struct pct_mpi_call *out)
{
    struct pc_call call;
    *out = (struct pct_mpi_call){.known = false};
    for (size_t i = 0; i + sizeof call <= c->n_stack; i += sizeof(uint64_t)) {
        uint32_t size;
        memcpy(&size, c->stack + i + offsetof(struct pc_call, event.size), sizeof size);
        if (size != sizeof call.event)
            continue;
        memcpy(&call, c->stack + i, sizeof call);
        if (!is_call(c, c->sp + i, &call))
            continue;
        bool exchanges = is_asked(&call) && call.peers & PC_CALL_PEERS;
        *out = (struct pct_mpi_call){.known = true,
                                     .op = pc_op_name(call.event.op),
                                     .begin = call.event.begin,
                                     .comm = comm_of(&call),
                                     .domain = is_asked(&call) ? call.event.domain : 0,
                                     .peer = peer_of(c, adapter, &call),
                                     .root = call.event.root,
                                     .tag = call.event.tag,
                                     .source = exchanges ? source_of(c, adapter, call.source) : -1,
                                     .at = c->sp + i,
                                     .requests = (uintptr_t)call.requests,
                                     .n_requests = call.n_requests};
    }
}
