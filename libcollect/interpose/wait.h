/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Calls that return EINTR after any handler, in spite of SA_RESTART: signal(7), "Interruption of
 * system calls and library functions by signal handlers". A thread that is sampled makes them with
 * the sampler's signal blocked. So only a signal of the program ends such a call, and an interrupt
 * that was due meanwhile comes after the call.
 *
 * blocking.h is the table of these functions.
 */
#ifndef PC_WAIT_H
#define PC_WAIT_H

#include "libcollect/sampling/sampler.h"

/* The calling thread's sampler; NULL: it is not sampled. AS-safe, MT-safe. */
static inline struct pc_sampler *pc_wait_sampler(void)
{
    struct pc_thread *t = pc_self;
    struct pc_sampler *s = t ? t->sampler : NULL;
    return s && s->source != PC_SOURCE_NONE && pc_sampler_signal ? s : NULL;
}

/* Blocks the sampler's signal for the calling thread. 0: it is not sampled, or the program has
 * blocked the signal itself; else what is to be given to pc_wait_release. Keeps errno. AS-safe,
 * MT-safe. */
uint64_t pc_wait_hold(void);
void pc_wait_release(uint64_t held);

#endif
