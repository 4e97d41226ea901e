/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Calls that any handler interrupts, in spite of SA_RESTART: they return EINTR (signal(7),
 * "Interruption of system calls and library functions by signal handlers"), or transfer only a
 * part. A thread that is sampled makes them with the sampler's signal blocked. So only a signal of
 * the program interrupts such a call, and an interrupt of the sampler that was due meanwhile comes
 * after the call.
 *
 * blocking.h is the table of these functions.
 */
#ifndef PC_WAIT_H
#define PC_WAIT_H

#include "libcollect/sampling/early_threads.h"
#include "libcollect/sampling/sampler.h"
#include "libcollect/state/blocking.h"

#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>

/* The calling thread's sampler; NULL: it is not sampled. AS-safe, MT-safe. */
static inline struct pc_sampler *pc_wait_sampler(void)
{
    if (PC_UNLIKELY(!pc_self && pc_early_any))
        pc_early_wait();
    struct pc_thread *t = pc_self;
    struct pc_sampler *s = t ? t->sampler : NULL;
    return s && s->source != PC_SOURCE_NONE && pc_sampler_signal ? s : NULL;
}

/* Blocks the sampler's signal for the calling thread. Returns a value for pc_wait_release; 0: the
 * thread is not sampled, or the program has blocked the signal itself. Keeps errno. AS-safe,
 * MT-safe. */
uint64_t pc_wait_hold(void);
/* Unblocks it. `function`: address of the one that was called meanwhile; the sample of an interrupt
 * that comes now is taken there. */
void pc_wait_release(uint64_t held, uintptr_t function);

/* Does the same as pc_wait_hold, but only if the descriptor is a socket that has the time limit
 * `option` (SO_RCVTIMEO, SO_SNDTIMEO), or, with SO_RCVTIMEO, of which reads wait for several bytes
 * (SO_RCVLOWAT). */
uint64_t pc_wait_hold_socket(int fd, int option);
/* Notes what limits a socket has after the program has set this option of it. Keeps errno. AS-safe,
 * MT-safe. */
void pc_wait_see_option(int fd, int level, int option);

/* Returns the rest of a time limit; 0 if it is over. AS-safe, MT-safe. */
static inline struct timespec pc_wait_rest(struct timespec limit, uint64_t passed_ns)
{
    limit.tv_sec -= (time_t)(passed_ns / 1000000000u);
    limit.tv_nsec -= (long)(passed_ns % 1000000000u);
    if (limit.tv_nsec < 0) {
        limit.tv_nsec += 1000000000;
        limit.tv_sec--;
    }
    return limit.tv_sec < 0 ? (struct timespec){0, 0} : limit;
}

/* True if memory that the program passes to the kernel can be read: for other memory the kernel
 * returns EFAULT, but this library would crash. Costs a system call for each page that is not on
 * the thread's stack. Keeps errno. AS-safe, MT-safe. */
bool pc_wait_can_read(const void *at, size_t bytes);

/* ---- Calls that may be cut (blocking.h) ------------------------------------------------------ */

/* Sum of the lengths; 0 if the kernel will refuse the vector. */
static inline size_t pc_vector_bytes(const struct iovec *v, size_t n)
{
    size_t bytes = 0;
    if (n > 1024 || !pc_wait_can_read(v, n * sizeof *v)) /* UIO_MAXIOV */
        return 0;
    for (size_t i = 0; i < n; i++)
        bytes += v[i].iov_len;
    return bytes;
}

static inline size_t pc_message_bytes(const struct msghdr *message)
{
    return pc_wait_can_read(message, sizeof *message)
               ? pc_vector_bytes(message->msg_iov, message->msg_iovlen)
               : 0;
}

static inline bool pc_is_cut(size_t n, int flags)
{
    return n > PC_UNCUT_BYTES && !(flags & MSG_DONTWAIT);
}

static inline bool pc_waits_for_all(int flags)
{
    return flags & MSG_WAITALL;
}

#endif
