/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The table of functions that any signal handler interrupts, with or without SA_RESTART: they
 * return EINTR (signal(7)), or less than was asked for if a part has been transferred. Each row
 * says how the function is protected from the sampler's signal. The interposed functions are made
 * from the table (wait.c, sockets.c); tests/sample/waits.test and transfers.c go through it.
 * bare_calls.c handles the same system calls made by number.
 */
#ifndef PC_BLOCKING_H
#define PC_BLOCKING_H

/* Bytes up to which a pipe transfers all or nothing (PIPE_BUF). Above it, writes to pipes and calls
 * on sockets may transfer a part. */
#define PC_UNCUT_BYTES 4096
/* Bytes above which a read is held: devices such as /dev/zero and /dev/urandom are cut at 4,096
 * bytes, pipes and sockets never. Buffers for pipes and sockets are usually no larger than this. */
#define PC_LONG_READ_BYTES 65536

/* HELD(result, name, parameters, arguments): the signal is blocked around the call.
 *
 * MASKED(name): the call takes a signal mask, to which the signal is added, or is made by a
 * function that takes one: poll by ppoll. Written by hand.
 *
 * QUICK(result, name, parameters, arguments): a call on a semaphore; the signal is blocked if the
 * call has to wait.
 *
 * RECEIVES, SENDS(result, name, parameters, arguments, cut): the first argument is a descriptor;
 * the signal is blocked around the call if that is a socket with SO_RCVTIMEO or SO_SNDTIMEO, or if
 * `cut` says that a part may be transferred.
 *
 * MOVES(result, name, parameters, arguments, cut): as RECEIVES, for calls that are not for sockets
 * alone.
 *
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
    MASKED(sigpause)                                                                               \
    MASKED(__sigpause)                                                                             \
    MASKED(__xpg_sigpause)                                                                         \
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
    RECEIVES(ssize_t, read, (int fd, void *buffer, size_t n), (fd, buffer, n),                     \
             n > PC_LONG_READ_BYTES)                                                               \
    RECEIVES(ssize_t, __read_chk, (int fd, void *buffer, size_t n, size_t size),                   \
             (fd, buffer, n, size), n > PC_LONG_READ_BYTES)                                        \
    RECEIVES(ssize_t, readv, (int fd, const struct iovec *v, int n), (fd, v, n),                   \
             pc_vector_bytes(v, n) > PC_LONG_READ_BYTES)                                           \
    RECEIVES(ssize_t, recv, (int fd, void *buffer, size_t n, int flags), (fd, buffer, n, flags),   \
             pc_waits_for_all(flags))                                                              \
    RECEIVES(ssize_t, __recv_chk, (int fd, void *buffer, size_t n, size_t size, int flags),        \
             (fd, buffer, n, size, flags), pc_waits_for_all(flags))                                \
    RECEIVES(ssize_t, recvfrom,                                                                    \
             (int fd, void *restrict buffer, size_t n, int flags, struct sockaddr *restrict from,  \
              socklen_t *restrict length),                                                         \
             (fd, buffer, n, flags, from, length), pc_waits_for_all(flags))                        \
    RECEIVES(ssize_t, __recvfrom_chk,                                                              \
             (int fd, void *restrict buffer, size_t n, size_t size, int flags,                     \
              struct sockaddr *restrict from, socklen_t *restrict length),                         \
             (fd, buffer, n, size, flags, from, length), pc_waits_for_all(flags))                  \
    RECEIVES(ssize_t, recvmsg, (int fd, struct msghdr *message, int flags), (fd, message, flags),  \
             pc_waits_for_all(flags))                                                              \
    RECEIVES(int, accept, (int fd, struct sockaddr *restrict from, socklen_t *restrict length),    \
             (fd, from, length), false)                                                            \
    RECEIVES(int, accept4,                                                                         \
             (int fd, struct sockaddr *restrict from, socklen_t *restrict length, int flags),      \
             (fd, from, length, flags), false)                                                     \
    SENDS(ssize_t, write, (int fd, const void *buffer, size_t n), (fd, buffer, n),                 \
          n > PC_UNCUT_BYTES)                                                                      \
    SENDS(ssize_t, writev, (int fd, const struct iovec *v, int n), (fd, v, n),                     \
          pc_vector_bytes(v, n) > PC_UNCUT_BYTES)                                                  \
    SENDS(ssize_t, send, (int fd, const void *buffer, size_t n, int flags),                        \
          (fd, buffer, n, flags), pc_is_cut(n, flags))                                             \
    SENDS(ssize_t, sendto,                                                                         \
          (int fd, const void *buffer, size_t n, int flags, const struct sockaddr *to,             \
           socklen_t length),                                                                      \
          (fd, buffer, n, flags, to, length), pc_is_cut(n, flags))                                 \
    SENDS(ssize_t, sendmsg, (int fd, const struct msghdr *message, int flags),                     \
          (fd, message, flags), pc_is_cut(pc_message_bytes(message), flags))                       \
    SENDS(int, sendmmsg, (int fd, struct mmsghdr *messages, unsigned n, int flags),                \
          (fd, messages, n, flags), !(flags & MSG_DONTWAIT))                                       \
    SENDS(int, connect, (int fd, const struct sockaddr *to, socklen_t length), (fd, to, length),   \
          false)

/* splice and its kin look for signals before each buffer, fallocate of tmpfs before each page until
 * Linux 5.15. tee and vmsplice move what they can at once. Those that end in 64 are what programs
 * with 64 bits for offsets call. */
#define PC_BLOCKING_OF_TRANSFERS(MOVES)                                                            \
    MOVES(ssize_t, splice,                                                                         \
          (int in, off64_t *in_at, int out, off64_t *out_at, size_t n, unsigned flags),            \
          (in, in_at, out, out_at, n, flags), true)                                                \
    MOVES(ssize_t, sendfile, (int out, int in, off_t *at, size_t n), (out, in, at, n), true)       \
    MOVES(ssize_t, sendfile64, (int out, int in, off64_t *at, size_t n), (out, in, at, n), true)   \
    MOVES(ssize_t, copy_file_range,                                                                \
          (int in, off64_t *in_at, int out, off64_t *out_at, size_t n, unsigned flags),            \
          (in, in_at, out, out_at, n, flags), true)                                                \
    MOVES(int, fallocate, (int fd, int mode, off_t at, off_t n), (fd, mode, at, n), true)          \
    MOVES(int, fallocate64, (int fd, int mode, off64_t at, off64_t n), (fd, mode, at, n), true)    \
    MOVES(int, posix_fallocate, (int fd, off_t at, off_t n), (fd, at, n), true)                    \
    MOVES(int, posix_fallocate64, (int fd, off64_t at, off64_t n), (fd, at, n), true)              \
    MOVES(ssize_t, getrandom, (void *buffer, size_t n, unsigned flags), (buffer, n, flags),        \
          n > 256)                                                                                 \
    MOVES(ssize_t, pwritev2, (int fd, const struct iovec *v, int n, off_t at, int flags),          \
          (fd, v, n, at, flags), pc_vector_bytes(v, n) > PC_UNCUT_BYTES)                           \
    MOVES(ssize_t, pwritev64v2, (int fd, const struct iovec *v, int n, off64_t at, int flags),     \
          (fd, v, n, at, flags), pc_vector_bytes(v, n) > PC_UNCUT_BYTES)

#define PC_BLOCKING_OF_OTHERS(OTHER)                                                               \
    OTHER(recvmmsg)                                                                                \
    OTHER(io_getevents)                                                                            \
    OTHER(sigwaitinfo)                                                                             \
    OTHER(sigtimedwait)

#endif
