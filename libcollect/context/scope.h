/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Scopes: phases (MPI_Pcontrol) and regions (pcollect.h), the outermost parts of contexts.
 *
 * A scope of a thread is a node of its tree, PHASE or REGION, and the roots of the path cache for
 * calls made in it. Scope 0 is the root of the tree. One scope is current: its node is t->scope,
 * under which contexts are booked, and its roots are those of t->paths. Changing the scope swaps
 * both and nothing else: a call costs the same in any scope, and in a program without scopes.
 *
 * The phase is the process's: other threads follow at their next call. Regions are the thread's: a
 * stack, below the phase. Measurement can be off (MPI_Pcontrol 0): calls are passed on then.
 *
 * Other threads learn of a change because the load map's generation, which every call compares, is
 * raised; `bumps` counts the rises for this reason alone, after which no path has to be forgotten.
 */
#ifndef PC_SCOPE_H
#define PC_SCOPE_H

#include "libcollect/state/state.h"

static inline bool pc_scope_is_off(void)
{
    return atomic_load_explicit(&pc_control.off, memory_order_relaxed) != 0;
}

/* A new thread's state; once each. */
void pc_scope_made(struct pc_thread *t);
/* All that were made, by next_made. MT-safe. */
struct pc_thread *pc_scope_newest_thread(void);

/* The thread has another tree, or is another thread: no region is open, the scope is the root. */
void pc_scope_start(struct pc_thread *t);

/* The thread ends: regions still open are counted. */
void pc_scope_leave(struct pc_thread *t);

/* Brings phase and resets of the thread up to date. */
void pc_scope_refresh(struct pc_thread *t);

/* The context, of another thread's tree, below which the calling thread works; 0: none. Its regions
 * become the outermost part of the thread's contexts, then come the regions that the thread begins,
 * then its frames. Nothing happens while regions of the thread are open. */
void pc_scope_lend(struct pc_thread *t, pcollect_ref context);

/* Begins a region of that name; ends the innermost of that name (NULL: the innermost). The thread
 * is busy. */
void pc_scope_begin(struct pc_thread *t, const char *name);
void pc_scope_end(struct pc_thread *t, const char *name);

/* Books the time of open phases and regions up to now, at most ten times a second, so that little
 * of it is missing where the thread does not come to their end. AS-safe: the thread is busy. */
void pc_scope_book(struct pc_thread *t, uint64_t now);

/* MPI_Pcontrol: 0 off, 1 on, 2 forget what was collected, more: that phase; 1 while on: no phase.
 */
void pc_scope_control(int level);

/* Before the merge: what other threads have not done yet. */
void pc_scope_settle(void);

#endif
