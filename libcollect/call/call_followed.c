/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Calls that are not measured, but make, name or free an object that measured calls use: a
 * communicator, a persistent request, a file, a window. While MPI_Pcontrol has switched collection
 * off they are followed: the adapter notes the object, and nothing is booked.
 */
#include "libcollect/call/call.h"
#include "libcollect/context/scope.h"
#include "libcollect/context/thread.h"
#include "libcollect/state/ops.h"

#include <errno.h>

/* Has no context: its stage is none, so that nothing is booked for its communicator. */
static void fill(struct pc_thread *t, struct pc_call *call)
{
    uint16_t op = PC_SLOT_OP(call->slot);
    uint64_t now = pc_ticks();
    call->thread = t;
    call->epoch_depth = PC_PAIR(PC_STAGE_OFF, 0);
    call->node = 0;
    call->record = NULL;
    call->event = (struct pcollect_event){.size = sizeof call->event,
                                          .op = op,
                                          .op_class = pc_op_class(op),
                                          .begin = now,
                                          .end = now,
                                          .peer = -1,
                                          .root = -1,
                                          .tag = -1};
    pc_call_clear(call);
}

bool pc_call_stand_in(struct pc_call *call)
{
    int saved = errno;
    struct pc_thread *t = pc_thread_current();
    if (t)
        fill(t, call);
    errno = saved;
    return t != NULL;
}

/* True for a call of the program, not of a tool or the MPI. The thread is busy meanwhile. */
static bool is_counted(struct pc_thread *t, const struct pc_call *call)
{
    int saved = errno;
    t->busy = 1;
    barrier();
    const struct pc_path_root *root = pc_paths_root(&t->paths, call->slot, call->ret);
    bool counted = root && root->head.size;
    barrier();
    t->busy = 0;
    errno = saved;
    return counted;
}

/* A call inside a followed one, which lies deeper in the stack, is not followed: it is the MPI's.
 * One that was left by a jump lies no higher than the next call, which takes its place. */
bool pc_call_follow(struct pc_call *call)
{
    struct pc_thread *t = pc_self;
    bool is_off = pc_scope_is_off() && t && t->stage == PC_STAGE_MAIN &&
                  atomic_load_explicit(&pc_live->stage, memory_order_relaxed) == PC_STAGE_MAIN;
    if (!is_off || atomic_load_explicit(&t->use, memory_order_relaxed) || t->followed > call->cfa ||
        !is_counted(t, call))
        return false;
    fill(t, call);
    t->followed = call->cfa;
    return true;
}

void pc_call_unfollow(struct pc_call *call)
{
    call->thread->followed = 0;
}
