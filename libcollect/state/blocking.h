/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The table of functions that end with EINTR after any handler, SA_RESTART or not (signal(7)), with
 * the way in which each is protected from the sampler's signal. The interposed functions are made
 * from it (wait.c, sockets.c); tests/sample/waits.test goes through it.
 */
#ifndef PC_BLOCKING_H
#define PC_BLOCKING_H

/* HELD(result, name, parameters, arguments): the signal is blocked around the call.
 * MASKED(name): the call is given a signal mask, which holds the signal too, or is made by the
 *     function that is: poll by ppoll. Written by hand.
 * QUICK(result, name, parameters, arguments): of semaphores; blocked if the semaphore has to be
 * waited for. RECEIVES, SENDS(result, name, parameters, arguments): the first argument is a
 * descriptor; blocked around the call if that is a socket with SO_RCVTIMEO or SO_SNDTIMEO.
 * OTHER(name): written by hand for another reason, stated there. */
#define PC_BLOCKING_OF_TIME(HELD, MASKED)                                                          \
    MASKED(poll)                                                                                   \
    MASKED(__poll_chk)                                                                             \
    MASKED(ppoll)                                                                                  \
    MASKED(__ppoll_chk)                                                                            \
    MASKED(select)                                                                                 \
    MASKED(pselect)                                                                                \
    MASKED(epoll_wait)                                                                             \
    MASKED(epoll_pwait)                                                                            \
    MASKED(epoll_pwait2)                                                                           \
    MASKED(pause)                                                                                  \
    MASKED(sigsuspend)                                                                             \
    HELD(int, nanosleep, (const struct timespec *time, struct timespec *rest), (time, rest))       \
    HELD(int, clock_nanosleep,                                                                     \
         (clockid_t clock, int flags, const struct timespec *time, struct timespec *rest),         \
         (clock, flags, time, rest))                                                               \
    HELD(int, usleep, (useconds_t us), (us))                                                       \
    HELD(unsigned, sleep, (unsigned seconds), (seconds))                                           \
    HELD(int, thrd_sleep, (const struct timespec *time, struct timespec *rest), (time, rest))      \
    HELD(int, semop, (int id, struct sembuf *ops, size_t n), (id, ops, n))                         \
    HELD(int, semtimedop, (int id, struct sembuf *ops, size_t n, const struct timespec *timeout),  \
         (id, ops, n, timeout))                                                                    \
    HELD(ssize_t, msgrcv, (int id, void *message, size_t n, long type, int flags),                 \
         (id, message, n, type, flags))                                                            \
    HELD(int, msgsnd, (int id, const void *message, size_t n, int flags), (id, message, n, flags)) \
    HELD(int, aio_suspend,                                                                         \
         (const struct aiocb *const list[], int n, const struct timespec *timeout),                \
         (list, n, timeout))

#define PC_BLOCKING_OF_SEMAPHORES(QUICK)                                                           \
    QUICK(int, sem_wait, (sem_t * sem), (sem))                                                     \
    QUICK(int, sem_timedwait, (sem_t *restrict sem, const struct timespec *restrict until),        \
          (sem, until))                                                                            \
    QUICK(int, sem_clockwait,                                                                      \
          (sem_t *restrict sem, clockid_t clock, const struct timespec *restrict until),           \
          (sem, clock, until))

#define PC_BLOCKING_OF_SOCKETS(RECEIVES, SENDS)                                                    \
    RECEIVES(ssize_t, read, (int fd, void *buffer, size_t n), (fd, buffer, n))                     \
    RECEIVES(ssize_t, __read_chk, (int fd, void *buffer, size_t n, size_t size),                   \
             (fd, buffer, n, size))                                                                \
    RECEIVES(ssize_t, readv, (int fd, const struct iovec *v, int n), (fd, v, n))                   \
    RECEIVES(ssize_t, recv, (int fd, void *buffer, size_t n, int flags), (fd, buffer, n, flags))   \
    RECEIVES(ssize_t, __recv_chk, (int fd, void *buffer, size_t n, size_t size, int flags),        \
             (fd, buffer, n, size, flags))                                                         \
    RECEIVES(ssize_t, recvfrom,                                                                    \
             (int fd, void *restrict buffer, size_t n, int flags, struct sockaddr *restrict from,  \
              socklen_t *restrict length),                                                         \
             (fd, buffer, n, flags, from, length))                                                 \
    RECEIVES(ssize_t, __recvfrom_chk,                                                              \
             (int fd, void *restrict buffer, size_t n, size_t size, int flags,                     \
              struct sockaddr *restrict from, socklen_t *restrict length),                         \
             (fd, buffer, n, size, flags, from, length))                                           \
    RECEIVES(ssize_t, recvmsg, (int fd, struct msghdr *message, int flags), (fd, message, flags))  \
    RECEIVES(int, accept, (int fd, struct sockaddr *restrict from, socklen_t *restrict length),    \
             (fd, from, length))                                                                   \
    RECEIVES(int, accept4,                                                                         \
             (int fd, struct sockaddr *restrict from, socklen_t *restrict length, int flags),      \
             (fd, from, length, flags))                                                            \
    SENDS(ssize_t, write, (int fd, const void *buffer, size_t n), (fd, buffer, n))                 \
    SENDS(ssize_t, writev, (int fd, const struct iovec *v, int n), (fd, v, n))                     \
    SENDS(ssize_t, send, (int fd, const void *buffer, size_t n, int flags),                        \
          (fd, buffer, n, flags))                                                                  \
    SENDS(ssize_t, sendto,                                                                         \
          (int fd, const void *buffer, size_t n, int flags, const struct sockaddr *to,             \
           socklen_t length),                                                                      \
          (fd, buffer, n, flags, to, length))                                                      \
    SENDS(ssize_t, sendmsg, (int fd, const struct msghdr *message, int flags),                     \
          (fd, message, flags))                                                                    \
    SENDS(int, sendmmsg, (int fd, struct mmsghdr *messages, unsigned n, int flags),                \
          (fd, messages, n, flags))                                                                \
    SENDS(int, connect, (int fd, const struct sockaddr *to, socklen_t length), (fd, to, length))

#define PC_BLOCKING_OF_OTHERS(OTHER)                                                               \
    OTHER(recvmmsg)                                                                                \
    OTHER(io_getevents)                                                                            \
    OTHER(sigwaitinfo)                                                                             \
    OTHER(sigtimedwait)

#endif
