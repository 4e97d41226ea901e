/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Calls that transfer data, made from the table in blocking.h. On a socket with SO_RCVTIMEO,
 * SO_SNDTIMEO or SO_RCVLOWAT they return EINTR after any handler. While no socket has such a limit
 * they pay one comparison. While one has, each call pays one getsockopt, or two if it reads from a
 * socket, and two system calls more on a socket with a limit. A limit of 0 is none.
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
#include "libcollect/state/state.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/random.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

#ifndef SO_COOKIE
#define SO_COOKIE 57 /* Linux 4.12 */
#endif

enum { N_LIMITED = 16 };

/* Sockets that the program has given a limit, by their cookies, which no other socket ever gets. 0:
 * a free place. A socket that is closed with its limit stays: it may have another descriptor. */
static _Atomic uint64_t limited[N_LIMITED];

/* Number of these sockets, and of those that found no place, which are never taken off. Calls read
 * it relaxed: a thread that waits on a socket has it, with its limit, from the program. */
static _Atomic unsigned n_limited;

/* The place that holds this value; NULL: none. */
static _Atomic uint64_t *place_of(uint64_t cookie)
{
    for (int i = 0; i < N_LIMITED; i++)
        if (limited[i] == cookie)
            return &limited[i];
    return NULL;
}

/* Reads an option of the socket. */
static bool ask(int fd, int option, void *value, socklen_t bytes)
{
    return !pc_own_syscall(SYS_getsockopt, fd, SOL_SOCKET, option, (long)value, (long)&bytes);
}

static bool has_time_limit(int fd, int option)
{
    struct timeval timeout = {0, 0};
    return ask(fd, option, &timeout, sizeof timeout) && (timeout.tv_sec || timeout.tv_usec);
}

/* True if reads wait for more than one byte. */
static bool has_least(int fd)
{
    int bytes = 0;
    return ask(fd, SO_RCVLOWAT, &bytes, sizeof bytes) && bytes > 1;
}

/* True for a socket whose limits have gone to those that it has accepted. */
static bool is_listening(int fd)
{
    int listens = 0;
    return ask(fd, SO_ACCEPTCONN, &listens, sizeof listens) && listens;
}

/* Lists the socket if it has a limit, and takes it off if it has none any more. Asks nothing where
 * a filter of system calls may refuse it: such a process is not sampled. */
static void note_limits(int fd)
{
    uint64_t cookie = 0, none = 0;
    if (pc_control.filtered || pc_control.left || pc_process_is_child())
        return;
    bool has = has_time_limit(fd, SO_RCVTIMEO) || has_time_limit(fd, SO_SNDTIMEO) || has_least(fd);
    if (!has && !n_limited)
        return;
    ask(fd, SO_COOKIE, &cookie, sizeof cookie);
    _Atomic uint64_t *place = cookie ? place_of(cookie) : NULL;
    if (has && !place) {
        n_limited++;
        if (cookie && (place = place_of(0)))
            atomic_compare_exchange_strong(place, &none, cookie);
    } else if (!has && place && !is_listening(fd)) {
        if (atomic_compare_exchange_strong(place, &cookie, 0))
            n_limited--;
    }
}

void pc_wait_see_option(int fd, int level, int option)
{
    int saved = errno;
    if (level == SOL_SOCKET &&
        (option == SO_RCVTIMEO || option == SO_SNDTIMEO || option == SO_RCVLOWAT))
        note_limits(fd);
    errno = saved;
}

PC_EXPORT int setsockopt(int fd, int level, int option, const void *value, socklen_t length)
{
    __typeof__(&setsockopt) next = PC_NEXT(setsockopt);
    int result = next(fd, level, option, value, length);
    pc_wait_see_option(fd, level, option);
    return result;
}

uint64_t pc_wait_hold_socket(int fd, int option)
{
    if (PC_LIKELY(!atomic_load_explicit(&n_limited, memory_order_relaxed)) || !pc_wait_sampler())
        return 0;
    int saved = errno;
    errno = 0;
    bool limits =
        has_time_limit(fd, option) || (option == SO_RCVTIMEO && errno != ENOTSOCK && has_least(fd));
    errno = saved;
    return limits ? pc_wait_hold() : 0;
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
