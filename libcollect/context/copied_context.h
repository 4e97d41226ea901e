/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A context of another tree (of another thread, or of before the merge) in the tree of the calling
 * thread.
 */
#ifndef PC_COPIED_CONTEXT_H
#define PC_COPIED_CONTEXT_H

#include "libcollect/state/state.h"

/* The context, root to leaf, in this thread's tree, found or made; 0: no room. `scope`: a root,
 * phase or region of that tree that takes the place of the context's own; 0: these are copied, too.
 */
pcollect_ref pc_twin_context(struct pc_thread *t, pcollect_ref theirs, pcollect_ref scope);
/* The record that stands for it in this thread's current tree; NULL: no room. */
void *pc_twin_record(struct pc_thread *t, pcollect_ref theirs);

#endif
