/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Copies a context of another tree (of another thread, or from before the merge) into the tree of
 * the calling thread. Needed for operations that end in another thread than the one that started
 * them, for calls during which the merge runs, and for threads that work for others. Called by the
 * thread that owns the tree, with `busy` set.
 */
#include "libcollect/context/copied_context.h"
#include "libcollect/state/state.h"

#include <errno.h>

static bool is_scope(const struct pcollect_node *n)
{
    return n->kind == PCOLLECT_NODE_ROOT || n->kind == PCOLLECT_NODE_PHASE ||
           n->kind == PCOLLECT_NODE_REGION;
}

pcollect_ref pc_twin_context(struct pc_thread *t, pcollect_ref theirs, pcollect_ref scope)
{
    const struct pcollect_node *n = pc_arena_at(&pc_process.arena, theirs);
    if (scope && is_scope(n))
        return scope;
    if (n->kind == PCOLLECT_NODE_ROOT)
        return t->record->root;
    pcollect_ref parent = pc_twin_context(t, n->parent, scope);
    if (!parent)
        return 0;
    bool collapsed = false;
    switch (n->kind) {
    case PCOLLECT_NODE_FRAME:
        return pc_tree_frame(t->tree, parent, n->module, n->offset);
    case PCOLLECT_NODE_CUT:
        return pc_tree_cut(t->tree, parent);
    case PCOLLECT_NODE_PHASE:
    case PCOLLECT_NODE_REGION:
        return pc_tree_part(t->tree, parent, n->kind, n->offset);
    case PCOLLECT_NODE_DOMAIN:
        return pc_tree_domain(t->tree, parent, n->offset, pc_process.record_bytes, &collapsed);
    default:
        return pc_tree_op(t->tree, parent, n->op, n->record ? pc_process.record_bytes : 0,
                          &collapsed);
    }
}

void *pc_twin_record(struct pc_thread *t, pcollect_ref theirs)
{
    struct pc_twin *twin = &t->twins[pc_hash_u64(theirs) % PC_TWINS];
    if (twin->theirs == theirs && twin->stage == t->stage)
        return twin->record;
    int saved = errno;
    pcollect_ref mine = pc_twin_context(t, theirs, 0);
    errno = saved;
    if (!mine)
        return NULL;
    const struct pcollect_node *n = pc_arena_at(&pc_process.arena, mine);
    *twin = (struct pc_twin){theirs, t->stage, pc_arena_at(&pc_process.arena, n->record)};
    return twin->record;
}
