/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The program's own use of signals, where it meets the sampler's. The handler stays installed: what
 * the program asks for on that signal is kept, told when it asks, and given what is not ours
 * (sampler_async.c). What waits for signals does not see the sampler's.
 *
 * A process that is not sampled passes here in one comparison.
 */
#include "libcollect/interpose/wait.h"
#include "libcollect/sampling/sampler.h"
#include "libcollect/state/next.h"

#include <errno.h>
#include <sys/signalfd.h>

/* Told once: what it leads to is that both go on. */
static void tell_conflict(int signal)
{
    static atomic_flag told = ATOMIC_FLAG_INIT;
    if (!atomic_flag_test_and_set(&told))
        pc_log("the program uses signal %d, by which its computation is sampled: it is given those "
               "that it was sent, sampling goes on",
               signal);
}

PC_EXPORT int sigaction(int signal, const struct sigaction *action, struct sigaction *old)
{
    if (PC_LIKELY(signal != pc_sampler_signal || !signal)) {
        __typeof__(&sigaction) next = PC_NEXT(sigaction);
        return next(signal, action, old);
    }
    const struct sigaction before = pc_sampler_program_action;
    if (action) {
        pc_sampler_program_action = *action;
        tell_conflict(signal);
    }
    if (old)
        *old = before;
    return 0;
}

PC_EXPORT __sighandler_t signal(int number, __sighandler_t handler)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART}, old;
    if (PC_LIKELY(number != pc_sampler_signal || !number)) {
        __typeof__(&signal) next = PC_NEXT(signal);
        return next(number, handler);
    }
    return sigaction(number, &action, &old) ? SIG_ERR : old.sa_handler;
}

/* The set without the sampler's signal, unless the program has a handler for it. */
static const sigset_t *without_ours(const sigset_t *set, sigset_t *copy)
{
    int ours = pc_sampler_signal;
    if (!ours || !set || sigismember(set, ours) != 1)
        return set;
    *copy = *set;
    sigdelset(copy, ours);
    return copy;
}

PC_EXPORT int sigwait(const sigset_t *set, int *signal)
{
    __typeof__(&sigwait) next = PC_NEXT(sigwait);
    sigset_t copy;
    return next(without_ours(set, &copy), signal);
}

PC_EXPORT int sigwaitinfo(const sigset_t *set, siginfo_t *info)
{
    __typeof__(&sigwaitinfo) next = PC_NEXT(sigwaitinfo);
    sigset_t copy;
    uint64_t held = pc_wait_hold();
    int result = next(without_ours(set, &copy), info);
    pc_wait_release(held);
    return result;
}

PC_EXPORT int sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *timeout)
{
    __typeof__(&sigtimedwait) next = PC_NEXT(sigtimedwait);
    sigset_t copy;
    uint64_t held = pc_wait_hold();
    int result = next(without_ours(set, &copy), info, timeout);
    pc_wait_release(held);
    return result;
}

PC_EXPORT int signalfd(int fd, const sigset_t *set, int flags)
{
    __typeof__(&signalfd) next = PC_NEXT(signalfd);
    sigset_t copy;
    return next(fd, without_ours(set, &copy), flags);
}
