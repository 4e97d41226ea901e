/* SPDX-License-Identifier: BSD-3-Clause
 *
 * System calls that any handler ends with EINTR, SA_RESTART or not, go on if it was ours:
 *
 *     do {
 *         pc_wait_begin();
 *         result = next(...);
 *     } while (pc_wait_again(result));
 *
 * All are AS-safe and MT-safe.
 */
#ifndef PC_WAIT_H
#define PC_WAIT_H

#include "libcollect/sampling/sampler.h"

#include <errno.h>

static inline struct pc_sampler *pc_wait_sampler(void)
{
    struct pc_thread *t = pc_self;
    return t ? t->sampler : NULL;
}

static inline void pc_wait_begin(void)
{
    struct pc_sampler *s = pc_wait_sampler();
    if (PC_UNLIKELY(s != NULL))
        s->interrupted = 0;
}

/* Whether the call failed with EINTR because of the sampler alone. */
static inline bool pc_wait_again(long result)
{
    if (PC_LIKELY(result != -1) || errno != EINTR)
        return false;
    struct pc_sampler *s = pc_wait_sampler();
    return s && s->interrupted;
}

/* A relative timeout, given anew for what is left of it. */
struct pc_wait_left {
    const struct timespec *given; /* NULL: for ever */
    uint64_t until_ns;
    struct timespec left;
    bool begun;
};

static inline void pc_wait_set(struct pc_wait_left *w, const struct timespec *timeout)
{
    w->given = timeout;
    w->begun = false;
    if (timeout && pc_wait_sampler() && timeout->tv_sec >= 0 && timeout->tv_sec < 1 << 30)
        w->until_ns =
            pc_mono_ns() + (uint64_t)timeout->tv_sec * 1000000000u + (uint64_t)timeout->tv_nsec;
    else
        w->given = timeout, w->until_ns = 0;
}

/* What is to be passed on: the first time what was given. */
static inline const struct timespec *pc_wait_left(struct pc_wait_left *w)
{
    if (!w->begun || !w->until_ns) {
        w->begun = true;
        return w->given;
    }
    uint64_t now = pc_mono_ns(), ns = w->until_ns > now ? w->until_ns - now : 0;
    w->left = (struct timespec){(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
    return &w->left;
}

#endif
