/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Calls by communicator: a plugin can ask for a record for each pair of context and communicator;
 * such a call adds to that record instead of the context's. This file also passes on to the plugins
 * what adapters report of communicators and of messages that were started together.
 *
 * Called by adapters, between begin and end of a call. On the measured path: a known pair of
 * context and communicator is found in a small table of the thread.
 */
#include "libcollect/call/call.h"
#include "libcollect/state/state.h"

#include <errno.h>
#include <string.h>

static struct pc_domain_slot make_part(struct pc_thread *t, pcollect_ref op, uint64_t domain)
{
    int saved = errno;
    bool collapsed = false;
    pcollect_ref node = pc_tree_domain(t->tree, op, domain, pc_process.record_bytes, &collapsed);
    struct pc_domain_slot slot = {.op = op, .node = node, .domain = domain};
    if (node)
        slot.record = pc_arena_at(&pc_process.arena, pc_tree_node(t->tree, node)->record);
    slot.collapsed = collapsed;
    slot.is_whole = node && !collapsed;
    errno = saved;
    return slot;
}

/* Communicator ids are hashes, so their low bits are good enough; references are multiplied, and
 * the high bits of the product are used. */
static inline struct pc_domain_slot *slot_for(struct pc_thread *t, pcollect_ref op, uint64_t domain)
{
    return &t->domains[((op * 0x9e3779b1u >> 24) ^ (uint32_t)domain) % PC_DOMAIN_SLOTS];
}

static inline void take_part(struct pc_call *call, const struct pc_domain_slot *slot)
{
    call->peers |= PC_CALL_IN_PART;
    call->node = slot->node;
    call->record = call->thread->active[call->depth].record = slot->record;
}

static __attribute__((noinline)) void find_part(struct pc_call *call, uint64_t domain)
{
    struct pc_thread *t = call->thread;
    struct pc_domain_slot *slot = slot_for(t, call->node, domain);
    t->busy = 1;
    barrier();
    if (slot->op != call->node || slot->domain != domain)
        *slot = make_part(t, call->node, domain);
    if (slot->collapsed)
        pc_lost(PCOLLECT_LOST_COLLAPSED, 1);
    if (slot->record)
        take_part(call, slot);
    barrier();
    t->busy = 0;
}

void pc_call_domain(struct pc_call *call, uint64_t domain)
{
    struct pc_thread *t = call->thread;
    if (PC_UNLIKELY(call->epoch != t->stage))
        return;
    const struct pc_domain_slot *slot = slot_for(t, call->node, domain);
    if (PC_LIKELY(slot->op == call->node && slot->domain == domain && slot->is_whole))
        take_part(call, slot);
    else
        find_part(call, domain);
}

void pc_call_tell_domain(struct pc_call *call, const struct pcollect_domain *domain)
{
    struct pc_thread *t = call->thread;
    struct pcollect_domain d = *domain;
    d.node = call->event.node;
    d.thread = t;
    t->busy = 1;
    barrier();
    for (uint32_t i = 0; i < pc_process.n_plugins; i++) {
        const struct pc_loaded_plugin *p = &pc_process.plugins[i];
        if (p->comm->domain)
            p->comm->domain(p->state, &d);
    }
    barrier();
    t->busy = 0;
}

void pc_call_part(struct pc_call *call, uint64_t domain, int32_t world_peer, uint64_t bytes_sent)
{
    struct pc_thread *t = call->thread;
    struct pcollect_event event = call->event;
    event.domain = domain;
    event.world_peer = world_peer;
    event.bytes_sent = bytes_sent;
    event.bytes_received = 0;
    t->busy = 1;
    barrier();
    for (uint32_t i = 0; i < pc_process.n_plugins; i++) {
        const struct pc_loaded_plugin *p = &pc_process.plugins[i];
        if (p->comm->part)
            p->comm->part(p->state, &event, (char *)call->record + p->record_offset);
    }
    barrier();
    t->busy = 0;
}
