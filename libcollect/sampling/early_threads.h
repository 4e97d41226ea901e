/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Threads that the program made before its first MPI call, and that are sampled from the end of
 * MPI_Init on. Such a thread has no state, and another thread cannot make it. So MPI_Init opens an
 * event for each that interrupts the thread once it has computed for a millisecond; the thread
 * registers itself in the handler, or before that at its first MPI call, wait or exec.
 *
 * Rules:
 *  1. The event counts the thread's time outside of the kernel. So the interrupt ends no system
 *     call with EINTR.
 *  2. A thread is registered in the handler only if pc_thread_begin has prepared it, and not while
 *     it is in code of this library. Otherwise it is interrupted again a millisecond later, some
 *     hundred times.
 *  3. Who clears `open` closes the event. It may be closed, and its number used again, while an
 *     interrupt is on its way.
 */
#ifndef PC_EARLY_THREADS_H
#define PC_EARLY_THREADS_H

#include "libcollect/state/state.h"

/* True while a thread may be waiting for its registration. */
extern _Atomic bool pc_early_any;

/* Called at the end of MPI_Init, with the threads that the process had when it began. */
void pc_early_watch(const int32_t *tids, uint32_t n_tids);
/* Serves an interrupt by the event with this number: registers the calling thread, if it can be now
 * (`sp` and `in_own` tell where it was interrupted). False: there was no such event. May run in the
 * sampler's handler. Changes errno. */
bool pc_early_meet(int fd, uintptr_t sp, bool in_own);
/* Registers the calling thread, which is about to wait or to replace the process, if it has an
 * event; takes a pending interrupt by that. Keeps errno. */
void pc_early_wait(void);
/* Called before the merge, and when sampling ends: closes all events. When it returns no thread is
 * registered any more, and none is interrupted. AS-safe. */
void pc_early_end(void);
/* Called in a forked child: closes what the parent had open. */
void pc_early_forget(void);

#endif
