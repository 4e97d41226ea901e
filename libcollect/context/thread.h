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

/* Called before any of the others, in the constructor, and again when the collection starts. */
int pc_threads_start(void);
/* The part must stay valid. Init-only: before the first thread enters. */
void pc_threads_take_part(const struct pc_thread_part *part);
/* The calling thread begins, in `function` (NULL: it began before that was seen); `helper`: the MPI
 * library made it for itself. From here on it may be registered in a handler that has interrupted
 * anything of the program, malloc too. Calls malloc itself. */
void pc_thread_begin(bool helper, void *function);
/* True if pc_thread_begin was called, and the thread's own stack has room for a registration below
 * this address. Keeps errno. AS-safe. */
bool pc_thread_has_room(uintptr_t sp);
/* The bounds of the calling thread's own stack; 0, 0: they are not known. AS-safe. */
struct pc_stack pc_thread_stack(void);
/* Called when the collection starts: notes the times that the main thread has had, which are not
 * booked. */
void pc_threads_note_first(void);
/* Called at the end of MPI_Init, with the threads that the process had when it began: notes their
 * times, which are not booked if they register later. */
void pc_threads_note_early(const int32_t *tids, uint32_t n);
/* Registers the calling thread. Its state, made or adopted; NULL: it is not measured. */
struct pc_thread *pc_thread_enter(void);
/* True if it was tried for the calling thread, and there was no room. AS-safe. */
bool pc_thread_is_refused(void);
/* The calling thread's state, for callers outside of hooks; NULL: the thread is in a hook or has no
 * state, or nothing is collected (yet: plugins start before). */
struct pc_thread *pc_thread_current(void);
/* Brings stage and generation up to date; false: the process no longer collects. */
bool pc_thread_refresh(struct pc_thread *t);

#endif
