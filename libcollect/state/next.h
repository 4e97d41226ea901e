/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The functions of libc that the library interposes because of the sampler, or to note the end of
 * the process, and their next definitions. Each behaves as in libc: in a thread that is not sampled
 * it is a jump to libc's function.
 *
 * The next definitions are found by the constructor, since many of these functions may be called in
 * signal handlers, where dlsym may not. A function that is called before that, or that libc lacks,
 * is looked up at its first call.
 */
#ifndef PC_NEXT_H
#define PC_NEXT_H

#include "base/base.h"
#include "libcollect/state/blocking.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>

/* Lists each function of which the next definition is called, as X(name) or ROW(result, name,
 * ...). */
#define PC_INTERPOSED(X, ROW)                                                                      \
    X(pthread_create)                                                                              \
    X(thrd_create)                                                                                 \
    X(execve)                                                                                      \
    X(execv)                                                                                       \
    X(execvp)                                                                                      \
    X(execvpe)                                                                                     \
    X(fexecve)                                                                                     \
    X(execveat)                                                                                    \
    X(sigaction)                                                                                   \
    X(signal)                                                                                      \
    X(__sysv_signal)                                                                               \
    X(sigset)                                                                                      \
    X(sigignore)                                                                                   \
    X(siginterrupt)                                                                                \
    X(sighold)                                                                                     \
    X(sigblock)                                                                                    \
    X(sigsetmask)                                                                                  \
    X(sigprocmask)                                                                                 \
    X(pthread_sigmask)                                                                             \
    X(prctl)                                                                                       \
    X(syscall)                                                                                     \
    X(sigpending)                                                                                  \
    X(signalfd)                                                                                    \
    X(setsockopt)                                                                                  \
    X(sem_trywait)                                                                                 \
    X(pthread_testcancel)                                                                          \
    X(exit)                                                                                        \
    X(quick_exit)                                                                                  \
    X(_exit)                                                                                       \
    X(_Exit)                                                                                       \
    X(abort)                                                                                       \
    X(__assert_fail)                                                                               \
    PC_BLOCKING_OF_TIME(ROW, X)                                                                    \
    PC_BLOCKING_OF_SEMAPHORES(ROW)                                                                 \
    PC_BLOCKING_OF_SOCKETS(ROW, ROW)                                                               \
    PC_BLOCKING_OF_TRANSFERS(ROW)                                                                  \
    PC_BLOCKING_OF_OTHERS(X)

#define PC_INTERPOSED_ID(name) PC_NEXT_##name,
#define PC_INTERPOSED_ROW_ID(type, name, ...) PC_NEXT_##name,
enum pc_interposed { PC_INTERPOSED(PC_INTERPOSED_ID, PC_INTERPOSED_ROW_ID) PC_N_INTERPOSED };

/* The next definition after libpcollect.so, or NULL. Keeps errno. MT-safe; AS-safe once found. */
void *pc_next(enum pc_interposed which);

/* Finds all of them; for the constructor. */
void pc_next_find_all(void);

/* The next definition with the type of the declaration. */
#define PC_NEXT(name) ((__typeof__(&name))pc_next(PC_NEXT_##name))

/* Makes a system call for the library itself, from a function that the program has called. The
 * sampler takes an interrupt in it for the library's own, not for the program's. Returns and fails
 * like syscall. AS-safe, MT-safe. */
long pc_own_syscall(long number, long a, long b, long c, long d, long e);

/* True if the kernel can read the 8 bytes of a set of signals at this address, for which it makes
 * the stack grow. It reads them before it looks at `how`, which is invalid here: the answer is
 * EFAULT or EINVAL, and nothing changes. pc_walk_can_read asks the same, but it has no answer on
 * processors that the walker does not know. Keeps errno. AS-safe, MT-safe. */
static inline bool pc_own_can_read(uintptr_t at)
{
    int saved = errno;
    bool readable = pc_own_syscall(SYS_rt_sigprocmask, -1, (long)at, 0, sizeof(uint64_t), 0) < 0 &&
                    errno == EINVAL;
    errno = saved;
    return readable;
}

#endif
