/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The state of each thread: made at its first call, or adopted from a thread that has ended.
 */
#ifndef PC_THREAD_H
#define PC_THREAD_H

#include "libcollect/state/state.h"

/* Actions of a part of the library when a thread enters and leaves it. Members may be NULL. */
struct pc_thread_part {
    /* The thread has its state and its tree; `function`: in which it starts, or NULL. */
    void (*enter)(struct pc_thread *t, void *function);
    /* The thread ends. Parts leave in reverse order. */
    void (*leave)(struct pc_thread *t);
};

enum { PC_MAX_THREAD_PARTS = 16 };

int pc_threads_start(void);
/* The part must stay valid. Init-only: before the first thread enters. */
void pc_threads_take_part(const struct pc_thread_part *part);
/* The calling thread's state, made or adopted; NULL: it is not measured. */
struct pc_thread *pc_thread_enter(void);
/* Finds out where the calling thread's stack is, if that is not known. Calls malloc. */
void pc_thread_find_stack(void);
/* Enters a thread that begins in `function`; `helper`: the MPI library made the thread for
 * itself. */
struct pc_thread *pc_thread_enter_as(bool helper, void *function);
/* The calling thread's state, for callers outside of hooks; NULL: the thread is in a hook or has no
 * state, or nothing is collected (yet: plugins start before). */
struct pc_thread *pc_thread_current(void);
/* Brings stage and generation up to date; false: the process no longer collects. */
bool pc_thread_refresh(struct pc_thread *t);

#endif
