/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Calls that wait, made with the sampler's signal blocked (blocking.h has the table). Those that
 * take a signal mask are given one that holds the signal: the kernel changes masks and waits in one
 * step, and gives the program's own handlers the mask that the program had.
 *
 * `held` of the sampler says that the thread waits so. A handler of the program that interrupts the
 * call runs with the signal unblocked (sampler_program.c), so it may leave by longjmp, fork or
 * exec.
 *
 * A known hole: handlers that have no stand-in there (SA_ONSTACK, SA_RESETHAND) run with the signal
 * blocked. If one leaves by longjmp, the signal stays blocked, unless the jump restores the mask;
 * `held` remembers this, and the next protected call unblocks the signal.
 */
#define _GNU_SOURCE 1

#include "libcollect/interpose/wait.h"
#include "libcollect/state/next.h"

#include <aio.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/syscall.h>
#include <threads.h>
#include <unistd.h>

enum { PAGE = 4096 }; /* bytes, the smallest page size of Linux */

/* Changes the thread's mask. The kernel's sets have 64 signals. Bypasses the interposed function,
 * which would come here again. */
static void change_mask(int how, uint64_t set, uint64_t *before)
{
    int saved = errno;
    pc_own_syscall(SYS_rt_sigprocmask, how, (long)&set, (long)before, sizeof set, 0);
    errno = saved;
}

bool pc_wait_can_read(const void *at, size_t bytes)
{
    const struct pc_thread *t = pc_self;
    uintptr_t begin = (uintptr_t)at, end = begin + bytes,
              sp = (uintptr_t)__builtin_frame_address(0);
    if (!at || end < begin)
        return false;
    if (t && sp >= t->stack.lo && begin >= sp && end <= t->stack.hi)
        return true;
    bool readable = true;
    for (uintptr_t p = begin & ~(uintptr_t)(PAGE - 1); readable && p < end; p += PAGE)
        readable = pc_own_can_read(p);
    return readable;
}

/* The calling thread's sampler, about to wait. Looks now and then if it still has its event. */
static struct pc_sampler *take_sampler(void)
{
    enum { LOOK_NS = 500000000 };
    struct pc_sampler *s = pc_wait_sampler();
    uint64_t scale = pc_process.host.ns_per_tick_q32;
    if (s && !pc_self->busy && pc_clock_to_ns(pc_ticks() - s->looked_ticks, scale) > LOOK_NS)
        pc_sampler_look(s);
    return s && s->source != PC_SOURCE_NONE ? s : NULL;
}

uint64_t pc_wait_hold(void)
{
    struct pc_sampler *s = take_sampler();
    uint64_t before = 0;
    if (PC_LIKELY(!s))
        return 0;
    const uint64_t ours = 1ull << (s->signal - 1);
    change_mask(SIG_BLOCK, ours, &before);
    if (before & ours && !s->held)
        return 0;
    s->held = true;
    return ours;
}

void pc_wait_release(uint64_t held, uintptr_t function)
{
    struct pc_sampler *s = held ? pc_wait_sampler() : NULL;
    if (PC_LIKELY(!held))
        return;
    if (s)
        s->waited_in = function;
    change_mask(SIG_UNBLOCK, held, NULL);
    if (s) {
        s->waited_in = 0;
        s->held = false; /* last: a handler that comes before it has nothing to unblock */
    }
}

/* The mask to wait with: the given one, else the thread's, with the signal added. */
static const sigset_t *begin_masked(const sigset_t *given, sigset_t *copy)
{
    struct pc_sampler *s = take_sampler();
    if (PC_LIKELY(!s))
        return given;
    sigemptyset(copy);
    if (given && !pc_wait_can_read(given, sizeof(uint64_t)))
        return given;
    if (given) {
        memcpy(copy, given, sizeof(uint64_t)); /* as much as the kernel reads */
    } else {
        uint64_t now = 0;
        change_mask(SIG_BLOCK, 0, &now);
        memcpy(copy, &now, sizeof now);
    }
    if (sigismember(copy, s->signal) == 1) /* the program blocks it itself */
        return given;
    sigaddset(copy, s->signal);
    s->held = true;
    return copy;
}

static void end_masked(const sigset_t *mask, const sigset_t *copy)
{
    struct pc_sampler *s = mask == copy ? pc_wait_sampler() : NULL;
    if (s)
        s->held = false;
}

/* ---- Masked ---------------------------------------------------------------------------------- */

PC_EXPORT int ppoll(struct pollfd *fds, nfds_t n, const struct timespec *timeout,
                    const sigset_t *mask)
{
    __typeof__(&ppoll) next = PC_NEXT(ppoll);
    sigset_t copy;
    mask = begin_masked(mask, &copy);
    int result = next(fds, n, timeout, mask);
    end_masked(mask, &copy);
    return result;
}

PC_EXPORT int poll(struct pollfd *fds, nfds_t n, int timeout)
{
    const struct timespec time = {timeout / 1000, (long)(timeout % 1000) * 1000000};
    if (PC_LIKELY(!pc_wait_sampler()))
        return PC_NEXT(poll)(fds, n, timeout);
    return ppoll(fds, n, timeout < 0 ? NULL : &time, NULL);
}

/* The forms that programs compiled with _FORTIFY_SOURCE call, with the size of the array. If the
 * array is too short, libc ends the program. */
typedef int poll_chk_fn(struct pollfd *, nfds_t, int, size_t);
typedef int ppoll_chk_fn(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *,
                         size_t);
PC_EXPORT poll_chk_fn __poll_chk;
PC_EXPORT ppoll_chk_fn __ppoll_chk;

int __poll_chk(struct pollfd *fds, nfds_t n, int timeout, size_t size)
{
    if (!pc_wait_sampler() || size / sizeof *fds < n)
        return PC_NEXT(__poll_chk)(fds, n, timeout, size);
    return poll(fds, n, timeout);
}

int __ppoll_chk(struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask,
                size_t size)
{
    if (!pc_wait_sampler() || size / sizeof *fds < n)
        return PC_NEXT(__ppoll_chk)(fds, n, timeout, mask, size);
    return ppoll(fds, n, timeout, mask);
}

PC_EXPORT int pselect(int n, fd_set *in, fd_set *out, fd_set *except,
                      const struct timespec *timeout, const sigset_t *mask)
{
    __typeof__(&pselect) next = PC_NEXT(pselect);
    sigset_t copy;
    mask = begin_masked(mask, &copy);
    int result = next(n, in, out, except, timeout, mask);
    end_masked(mask, &copy);
    return result;
}

/* Makes a time limit of select one of pselect, as libc does: a negative part makes it invalid, and
 * a sum that is too large is cut. */
static struct timespec limit_of(const struct timeval *given)
{
    enum { US = 1000000 };
    struct timespec limit = {0, given->tv_usec % US * 1000};
    if (given->tv_sec < 0 || given->tv_usec < 0)
        return (struct timespec){-1, 0};
    if (__builtin_add_overflow(given->tv_sec, given->tv_usec / US, &limit.tv_sec))
        return (struct timespec){given->tv_sec, 999999999};
    return limit;
}

/* Writes the time that is left, as select does on Linux and libc's pselect does not. */
PC_EXPORT int select(int n, fd_set *in, fd_set *out, fd_set *except, struct timeval *timeout)
{
    if (PC_LIKELY(!pc_wait_sampler()))
        return PC_NEXT(select)(n, in, out, except, timeout);
    if (!timeout)
        return pselect(n, in, out, except, NULL, NULL);
    const struct timespec time = limit_of(timeout);
    uint64_t begin = pc_mono_ns();
    int result = pselect(n, in, out, except, &time, NULL);
    uint64_t passed = pc_mono_ns() - begin;
    if (result < 0 && errno == EINVAL)
        return result;
    const struct timespec rest = pc_wait_rest(time, passed);
    *timeout = (struct timeval){rest.tv_sec, rest.tv_nsec / 1000};
    return result;
}

PC_EXPORT int epoll_pwait(int fd, struct epoll_event *events, int n, int timeout,
                          const sigset_t *mask)
{
    __typeof__(&epoll_pwait) next = PC_NEXT(epoll_pwait);
    sigset_t copy;
    mask = begin_masked(mask, &copy);
    int result = next(fd, events, n, timeout, mask);
    end_masked(mask, &copy);
    return result;
}

/* With a time limit of 0 the kernel does not look for signals. */
PC_EXPORT int epoll_wait(int fd, struct epoll_event *events, int n, int timeout)
{
    if (PC_LIKELY(!timeout || !pc_wait_sampler()))
        return PC_NEXT(epoll_wait)(fd, events, n, timeout);
    return epoll_pwait(fd, events, n, timeout, NULL);
}

typedef int epoll_pwait2_fn(int, struct epoll_event *, int, const struct timespec *,
                            const sigset_t *);
PC_EXPORT epoll_pwait2_fn epoll_pwait2;

/* glibc has it since 2.35; before that the function fails as on an old kernel. */
int epoll_pwait2(int fd, struct epoll_event *events, int n, const struct timespec *timeout,
                 const sigset_t *mask)
{
    epoll_pwait2_fn *next = PC_NEXT(epoll_pwait2);
    sigset_t copy;
    if (!next) {
        errno = ENOSYS;
        return -1;
    }
    mask = begin_masked(mask, &copy);
    int result = next(fd, events, n, timeout, mask);
    end_masked(mask, &copy);
    return result;
}

PC_EXPORT int sigsuspend(const sigset_t *mask)
{
    __typeof__(&sigsuspend) next = PC_NEXT(sigsuspend);
    sigset_t copy;
    mask = begin_masked(mask, &copy);
    int result = next(mask);
    end_masked(mask, &copy);
    return result;
}

PC_EXPORT int pause(void)
{
    sigset_t copy;
    const sigset_t *mask = begin_masked(NULL, &copy);
    if (PC_LIKELY(!mask))
        return PC_NEXT(pause)();
    int result = PC_NEXT(sigsuspend)(mask);
    end_masked(mask, &copy);
    return result;
}

/* ---- Held ------------------------------------------------------------------------------------ */

#define MADE_BY_HAND(name)
#define MAKE_HELD(type, name, parameters, arguments)                                               \
    PC_EXPORT type name parameters                                                                 \
    {                                                                                              \
        __typeof__(&name) next = PC_NEXT(name);                                                    \
        uint64_t held = pc_wait_hold();                                                            \
        type result = next arguments;                                                              \
        pc_wait_release(held, (uintptr_t)next);                                                    \
        return result;                                                                             \
    }
PC_BLOCKING_OF_TIME(MAKE_HELD, MADE_BY_HAND)

/* glibc has it since 2.30. */
typedef int sem_clockwait_fn(sem_t *restrict, clockid_t, const struct timespec *restrict);
PC_EXPORT sem_clockwait_fn sem_clockwait;

/* Takes the semaphore if it is free, without a system call. Keeps errno. */
static bool take_free(sem_t *sem)
{
    int saved = errno;
    if (PC_NEXT(pthread_testcancel))
        PC_NEXT(pthread_testcancel)();
    bool taken = !PC_NEXT(sem_trywait)(sem);
    errno = saved;
    return taken;
}

#define MAKE_QUICK(type, name, parameters, arguments)                                              \
    PC_EXPORT type name parameters                                                                 \
    {                                                                                              \
        __typeof__(&name) next = PC_NEXT(name);                                                    \
        if (!next) {                                                                               \
            errno = ENOSYS;                                                                        \
            return -1;                                                                             \
        }                                                                                          \
        if (pc_wait_sampler() && take_free(sem))                                                   \
            return 0;                                                                              \
        uint64_t held = pc_wait_hold();                                                            \
        type result = next arguments;                                                              \
        pc_wait_release(held, (uintptr_t)next);                                                    \
        return result;                                                                             \
    }
PC_BLOCKING_OF_SEMAPHORES(MAKE_QUICK)

/* Function of libaio, which returns the error instead of setting errno. */
struct io_event;
typedef int io_getevents_fn(void *, long, long, struct io_event *, struct timespec *);
PC_EXPORT io_getevents_fn io_getevents;

int io_getevents(void *context, long least, long n, struct io_event *events,
                 struct timespec *timeout)
{
    io_getevents_fn *next = PC_NEXT(io_getevents);
    if (!next)
        return -ENOSYS;
    uint64_t held = pc_wait_hold();
    int result = next(context, least, n, events, timeout);
    pc_wait_release(held, (uintptr_t)next);
    return result;
}
