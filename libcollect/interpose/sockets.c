/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Calls on sockets: with SO_RCVTIMEO or SO_SNDTIMEO set they return EINTR after any handler. Made
 * from the table in blocking.h. A program that never sets these options pays one comparison. A
 * program that does pays a getsockopt for each call, and two system calls more on such a socket.
 *
 * Inherited sockets, on which another program has set the option, are not known.
 */
#define _GNU_SOURCE 1

#include "libcollect/interpose/wait.h"
#include "libcollect/state/next.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

static _Atomic bool any_timed; /* the program has set a timeout for a socket */

PC_EXPORT int setsockopt(int fd, int level, int option, const void *value, socklen_t length)
{
    __typeof__(&setsockopt) next = PC_NEXT(setsockopt);
    if (level == SOL_SOCKET && (option == SO_RCVTIMEO || option == SO_SNDTIMEO))
        atomic_store_explicit(&any_timed, true, memory_order_relaxed);
    return next(fd, level, option, value, length);
}

/* As pc_wait_hold, if the socket has a timeout. */
static uint64_t hold_socket(int fd, int option)
{
    if (PC_LIKELY(!atomic_load_explicit(&any_timed, memory_order_relaxed)) || !pc_wait_sampler())
        return 0;
    struct timeval timeout = {0, 0};
    socklen_t length = sizeof timeout;
    int saved = errno;
    bool timed = !getsockopt(fd, SOL_SOCKET, option, &timeout, &length) &&
                 (timeout.tv_sec || timeout.tv_usec);
    errno = saved;
    return timed ? pc_wait_hold() : 0;
}

PC_EXPORT __typeof__(ssize_t(int, void *, size_t, size_t)) __read_chk;
PC_EXPORT __typeof__(ssize_t(int, void *, size_t, size_t, int)) __recv_chk;
PC_EXPORT __typeof__(ssize_t(int, void *restrict, size_t, size_t, int, struct sockaddr *restrict,
                             socklen_t *restrict)) __recvfrom_chk;

#define MAKE(option, type, name, parameters, arguments)                                            \
    PC_EXPORT type name parameters                                                                 \
    {                                                                                              \
        __typeof__(&name) next = PC_NEXT(name);                                                    \
        uint64_t held = hold_socket(fd, option);                                                   \
        type result = next arguments;                                                              \
        pc_wait_release(held);                                                                     \
        return result;                                                                             \
    }
#define MAKE_RECEIVES(...) MAKE(SO_RCVTIMEO, __VA_ARGS__)
#define MAKE_SENDS(...) MAKE(SO_SNDTIMEO, __VA_ARGS__)
PC_BLOCKING_OF_SOCKETS(MAKE_RECEIVES, MAKE_SENDS)

/* The time limit may be an argument, too. */
PC_EXPORT int recvmmsg(int fd, struct mmsghdr *messages, unsigned n, int flags,
                       struct timespec *timeout)
{
    __typeof__(&recvmmsg) next = PC_NEXT(recvmmsg);
    uint64_t held = timeout ? pc_wait_hold() : hold_socket(fd, SO_RCVTIMEO);
    int result = next(fd, messages, n, flags, timeout);
    pc_wait_release(held);
    return result;
}
