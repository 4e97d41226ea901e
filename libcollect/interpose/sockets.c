/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Calls that transfer data, made from the table in blocking.h. On a socket with SO_RCVTIMEO or
 * SO_SNDTIMEO they return EINTR after any handler. A program that never sets these options pays one
 * comparison. A program that does pays a getsockopt for each call, and two system calls more on
 * such a socket.
 *
 * Any handler cuts long transfers short: the call returns with the part that has been transferred.
 * Long transfers pay two system calls more, whatever the descriptor is: asking for its kind would
 * be a system call, too, and the kind may change at any time. Short ones pay a comparison.
 *
 * The library does not notice a timeout that another program has set on an inherited socket.
 */
#define _GNU_SOURCE 1

#include "libcollect/interpose/wait.h"
#include "libcollect/state/next.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/random.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

static _Atomic bool any_timed; /* the program has set a timeout for a socket */
static _Atomic bool any_least; /* the program has set SO_RCVLOWAT: reads wait for that many bytes */

void pc_wait_see_option(int level, int option)
{
    if (level == SOL_SOCKET && (option == SO_RCVTIMEO || option == SO_SNDTIMEO))
        atomic_store_explicit(&any_timed, true, memory_order_relaxed);
    if (level == SOL_SOCKET && option == SO_RCVLOWAT)
        atomic_store_explicit(&any_least, true, memory_order_relaxed);
}

PC_EXPORT int setsockopt(int fd, int level, int option, const void *value, socklen_t length)
{
    __typeof__(&setsockopt) next = PC_NEXT(setsockopt);
    pc_wait_see_option(level, option);
    return next(fd, level, option, value, length);
}

uint64_t pc_wait_hold_socket(int fd, int option)
{
    bool timed = atomic_load_explicit(&any_timed, memory_order_relaxed);
    bool least = atomic_load_explicit(&any_least, memory_order_relaxed);
    if (PC_LIKELY(!timed && !least) || !pc_wait_sampler())
        return 0;
    struct timeval timeout = {0, 0};
    int bytes = 0, saved = errno;
    socklen_t length = sizeof timeout, size = sizeof bytes;
    timed = timed && !getsockopt(fd, SOL_SOCKET, option, &timeout, &length) &&
            (timeout.tv_sec || timeout.tv_usec);
    least = least && option == SO_RCVTIMEO &&
            !getsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &bytes, &size) && bytes > 1;
    errno = saved;
    return timed || least ? pc_wait_hold() : 0;
}

PC_EXPORT __typeof__(ssize_t(int, void *, size_t, size_t)) __read_chk;
PC_EXPORT __typeof__(ssize_t(int, void *, size_t, size_t, int)) __recv_chk;
PC_EXPORT __typeof__(ssize_t(int, void *restrict, size_t, size_t, int, struct sockaddr *restrict,
                             socklen_t *restrict)) __recvfrom_chk;

#define MAKE(option, type, name, parameters, arguments, cut)                                       \
    PC_EXPORT type name parameters                                                                 \
    {                                                                                              \
        __typeof__(&name) next = PC_NEXT(name);                                                    \
        uint64_t held = 0;                                                                         \
        if (pc_wait_sampler())                                                                     \
            held = cut ? pc_wait_hold() : pc_wait_hold_socket(fd, option);                         \
        type result = next arguments;                                                              \
        pc_wait_release(held, (uintptr_t)next);                                                    \
        return result;                                                                             \
    }
#define MAKE_RECEIVES(...) MAKE(SO_RCVTIMEO, __VA_ARGS__)
#define MAKE_SENDS(...) MAKE(SO_SNDTIMEO, __VA_ARGS__)
PC_BLOCKING_OF_SOCKETS(MAKE_RECEIVES, MAKE_SENDS)

/* Returns only some of the messages if it is interrupted. It may have a time limit as argument,
 * too. */
PC_EXPORT int recvmmsg(int fd, struct mmsghdr *messages, unsigned n, int flags,
                       struct timespec *timeout)
{
    __typeof__(&recvmmsg) next = PC_NEXT(recvmmsg);
    uint64_t held =
        timeout || !(flags & MSG_DONTWAIT) ? pc_wait_hold() : pc_wait_hold_socket(fd, SO_RCVTIMEO);
    int result = next(fd, messages, n, flags, timeout);
    pc_wait_release(held, (uintptr_t)next);
    return result;
}

/* ---- Transfers on any descriptor ------------------------------------------------------------ */

/* glibc has it since 2.26. */
typedef ssize_t pwritev2_fn(int, const struct iovec *, int, off_t, int);
typedef ssize_t pwritev64v2_fn(int, const struct iovec *, int, off64_t, int);
PC_EXPORT pwritev2_fn pwritev2;
PC_EXPORT pwritev64v2_fn pwritev64v2;

#define MAKE_MOVES(type, name, parameters, arguments, cut)                                         \
    PC_EXPORT type name parameters                                                                 \
    {                                                                                              \
        __typeof__(&name) next = PC_NEXT(name);                                                    \
        if (PC_UNLIKELY(!next)) { /* libc is older */                                              \
            errno = ENOSYS;                                                                        \
            return -1;                                                                             \
        }                                                                                          \
        uint64_t held = pc_wait_sampler() && cut ? pc_wait_hold() : 0;                             \
        type result = next arguments;                                                              \
        pc_wait_release(held, (uintptr_t)next);                                                    \
        return result;                                                                             \
    }
PC_BLOCKING_OF_TRANSFERS(MAKE_MOVES)
