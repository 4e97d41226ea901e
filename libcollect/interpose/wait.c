/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Calls that return EINTR after any handler, in spite of SA_RESTART. A thread that waits uses no
 * CPU time and is not interrupted, but an interrupt may be due in the microseconds in which it goes
 * to sleep. If the kernel ended the call for our signal alone, the call is made again for the time
 * that is left; the program sees EINTR exactly when one of its own signals ended it.
 *
 * Window: a signal of the program that arrives after the kernel has ended a call for ours and
 * before the call is made again is handled, and does not end the call.
 */
#define _GNU_SOURCE 1

#include "libcollect/interpose/wait.h"
#include "libcollect/state/next.h"

#include <poll.h>
#include <semaphore.h>
#include <sys/epoll.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <threads.h>
#include <unistd.h>

/* result = CALL, again while the sampler alone has ended it. */
#define GO_ON(result, call)                                                                        \
    do {                                                                                           \
        pc_wait_begin();                                                                           \
        (result) = (call);                                                                         \
    } while (pc_wait_again(result))

/* ---- Descriptors ----------------------------------------------------------------------------- */

struct milliseconds {
    int given;
    uint64_t until_ns; /* 0: as given */
};

static struct milliseconds set_milliseconds(int timeout)
{
    bool limited = timeout > 0 && pc_wait_sampler();
    return (struct milliseconds){timeout,
                                 limited ? pc_mono_ns() + (uint64_t)timeout * 1000000u : 0};
}

static int milliseconds_left(struct milliseconds *m)
{
    int given = m->given;
    uint64_t now = m->until_ns ? pc_mono_ns() : 0;
    /* The next one gets what is left then; never more than was given. */
    if (m->until_ns) {
        uint64_t ms = m->until_ns > now ? (m->until_ns - now + 999999) / 1000000 : 0;
        given = ms < (uint64_t)given ? (int)ms : given;
    }
    return given;
}

PC_EXPORT int poll(struct pollfd *fds, nfds_t n, int timeout)
{
    __typeof__(&poll) next = PC_NEXT(poll);
    struct milliseconds left = set_milliseconds(timeout);
    int result;
    GO_ON(result, next(fds, n, milliseconds_left(&left)));
    return result;
}

PC_EXPORT int ppoll(struct pollfd *fds, nfds_t n, const struct timespec *timeout,
                    const sigset_t *mask)
{
    __typeof__(&ppoll) next = PC_NEXT(ppoll);
    struct pc_wait_left left;
    int result;
    pc_wait_set(&left, timeout);
    GO_ON(result, next(fds, n, pc_wait_left(&left), mask));
    return result;
}

/* The kernel leaves the sets as they are when it ends the call, and writes what is left of the
 * time: made again it waits for that. */
PC_EXPORT int select(int n, fd_set *in, fd_set *out, fd_set *except, struct timeval *timeout)
{
    __typeof__(&select) next = PC_NEXT(select);
    int result;
    GO_ON(result, next(n, in, out, except, timeout));
    return result;
}

PC_EXPORT int pselect(int n, fd_set *in, fd_set *out, fd_set *except,
                      const struct timespec *timeout, const sigset_t *mask)
{
    __typeof__(&pselect) next = PC_NEXT(pselect);
    struct pc_wait_left left;
    int result;
    pc_wait_set(&left, timeout);
    GO_ON(result, next(n, in, out, except, pc_wait_left(&left), mask));
    return result;
}

PC_EXPORT int epoll_wait(int fd, struct epoll_event *events, int n, int timeout)
{
    __typeof__(&epoll_wait) next = PC_NEXT(epoll_wait);
    struct milliseconds left = set_milliseconds(timeout);
    int result;
    GO_ON(result, next(fd, events, n, milliseconds_left(&left)));
    return result;
}

PC_EXPORT int epoll_pwait(int fd, struct epoll_event *events, int n, int timeout,
                          const sigset_t *mask)
{
    __typeof__(&epoll_pwait) next = PC_NEXT(epoll_pwait);
    struct milliseconds left = set_milliseconds(timeout);
    int result;
    GO_ON(result, next(fd, events, n, milliseconds_left(&left), mask));
    return result;
}

typedef int epoll_pwait2_fn(int, struct epoll_event *, int, const struct timespec *,
                            const sigset_t *);
PC_EXPORT epoll_pwait2_fn epoll_pwait2;

/* glibc 2.35; without it the function fails as on an old kernel. */
int epoll_pwait2(int fd, struct epoll_event *events, int n, const struct timespec *timeout,
                 const sigset_t *mask)
{
    epoll_pwait2_fn *next = (epoll_pwait2_fn *)pc_next(PC_NEXT_epoll_pwait2);
    struct pc_wait_left left;
    int result;
    if (!next) {
        errno = ENOSYS;
        return -1;
    }
    pc_wait_set(&left, timeout);
    GO_ON(result, next(fd, events, n, pc_wait_left(&left), mask));
    return result;
}

/* ---- Sleep ----------------------------------------------------------------------------------- */

PC_EXPORT int nanosleep(const struct timespec *time, struct timespec *rest)
{
    __typeof__(&nanosleep) next = PC_NEXT(nanosleep);
    struct timespec left[2];
    const struct timespec *sleep_for = time;
    int result, k = 0;
    for (;;) {
        pc_wait_begin();
        result = next(sleep_for, &left[k]);
        if (!pc_wait_again(result))
            break;
        sleep_for = &left[k];
        k = !k;
    }
    if (result == -1 && errno == EINTR && rest)
        *rest = left[k];
    return result;
}

/* Returns what is wrong instead of setting errno. */
PC_EXPORT int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time,
                              struct timespec *rest)
{
    __typeof__(&clock_nanosleep) next = PC_NEXT(clock_nanosleep);
    struct timespec left[2];
    const struct timespec *sleep_for = time;
    struct pc_sampler *s = pc_wait_sampler();
    int result, k = 0;
    for (;;) {
        pc_wait_begin();
        result = next(clock, flags, sleep_for, &left[k]);
        if (result != EINTR || !s || !s->interrupted)
            break;
        if (!(flags & TIMER_ABSTIME)) {
            sleep_for = &left[k];
            k = !k;
        }
    }
    if (result == EINTR && rest && !(flags & TIMER_ABSTIME))
        *rest = left[k];
    return result;
}

PC_EXPORT int usleep(useconds_t us)
{
    __typeof__(&usleep) next = PC_NEXT(usleep);
    const struct timespec time = {us / 1000000, (long)(us % 1000000) * 1000};
    return pc_wait_sampler() ? nanosleep(&time, NULL) : next(us);
}

/* Of a sleep that was ended, libc answers the whole seconds that are left. */
PC_EXPORT unsigned sleep(unsigned seconds)
{
    __typeof__(&sleep) next = PC_NEXT(sleep);
    const struct timespec time = {(time_t)seconds, 0};
    struct timespec rest = {0, 0};
    int saved = errno;
    if (!pc_wait_sampler())
        return next(seconds);
    if (!nanosleep(&time, &rest)) {
        errno = saved;
        return 0;
    }
    return (unsigned)rest.tv_sec + (rest.tv_nsec >= 500000000);
}

/* C11: -1 stands for a signal. */
PC_EXPORT int thrd_sleep(const struct timespec *time, struct timespec *rest)
{
    __typeof__(&thrd_sleep) next = PC_NEXT(thrd_sleep);
    if (!pc_wait_sampler())
        return next(time, rest);
    int result = clock_nanosleep(CLOCK_REALTIME, 0, time, rest);
    return result == 0 ? 0 : result == EINTR ? -1 : -2;
}

/* ---- Signals --------------------------------------------------------------------------------- */

PC_EXPORT int pause(void)
{
    __typeof__(&pause) next = PC_NEXT(pause);
    int result;
    GO_ON(result, next());
    return result;
}

PC_EXPORT int sigsuspend(const sigset_t *mask)
{
    __typeof__(&sigsuspend) next = PC_NEXT(sigsuspend);
    int result;
    GO_ON(result, next(mask));
    return result;
}

/* ---- Semaphores, messages -------------------------------------------------------------------- */

PC_EXPORT int sem_wait(sem_t *sem)
{
    __typeof__(&sem_wait) next = PC_NEXT(sem_wait);
    int result;
    GO_ON(result, next(sem));
    return result;
}

PC_EXPORT int sem_timedwait(sem_t *restrict sem, const struct timespec *restrict until)
{
    __typeof__(&sem_timedwait) next = PC_NEXT(sem_timedwait);
    int result;
    GO_ON(result, next(sem, until));
    return result;
}

typedef int sem_clockwait_fn(sem_t *restrict, clockid_t, const struct timespec *restrict);
PC_EXPORT sem_clockwait_fn sem_clockwait;

int sem_clockwait(sem_t *restrict sem, clockid_t clock, const struct timespec *restrict until)
{
    sem_clockwait_fn *next = (sem_clockwait_fn *)pc_next(PC_NEXT_sem_clockwait);
    int result;
    if (!next) {
        errno = ENOSYS;
        return -1;
    }
    GO_ON(result, next(sem, clock, until));
    return result;
}

PC_EXPORT int semop(int id, struct sembuf *ops, size_t n)
{
    __typeof__(&semop) next = PC_NEXT(semop);
    int result;
    GO_ON(result, next(id, ops, n));
    return result;
}

PC_EXPORT int semtimedop(int id, struct sembuf *ops, size_t n, const struct timespec *timeout)
{
    __typeof__(&semtimedop) next = PC_NEXT(semtimedop);
    struct pc_wait_left left;
    int result;
    pc_wait_set(&left, timeout);
    GO_ON(result, next(id, ops, n, pc_wait_left(&left)));
    return result;
}

PC_EXPORT ssize_t msgrcv(int id, void *message, size_t n, long type, int flags)
{
    __typeof__(&msgrcv) next = PC_NEXT(msgrcv);
    ssize_t result;
    GO_ON(result, next(id, message, n, type, flags));
    return result;
}

PC_EXPORT int msgsnd(int id, const void *message, size_t n, int flags)
{
    __typeof__(&msgsnd) next = PC_NEXT(msgsnd);
    int result;
    GO_ON(result, next(id, message, n, flags));
    return result;
}
