/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Handles conflicts between the program's use of signals and the sampler's. If the program handles,
 * explicitly blocks or waits for the sampler's signal, it gets that signal: the sampler takes
 * another one (sampler_signal.c), or ends. Calls that wait for all signals, or ask which are
 * pending, do not see the sampler's signals, and get the program's own of that number.
 *
 * The program's handlers are delayed while the sampler's runs (sampler_program.c).
 *
 * A process that is not sampled pays one or two comparisons here.
 */
#include "libcollect/interpose/wait.h"
#include "libcollect/sampling/sampler.h"
#include "libcollect/state/next.h"

#include <errno.h>
#include <string.h>
#include <sys/signalfd.h>

/* Own declarations: libc's header marks these functions as obsolete. */
typedef __sighandler_t sigset_fn(int, __sighandler_t);
typedef int sigignore_fn(int);
typedef int siginterrupt_fn(int, int);
typedef int sigpause_fn(int, int);
typedef int sigmask_fn(int);

/* why: what the program does. */
static void end_sampling(const char *why)
{
    if (pc_sampler_stop(PCOLLECT_NOTE_NO_SIGNAL))
        pc_core_complain("the program %s by which its computation is sampled: sampling has ended",
                         why);
}

static void step_back(void)
{
    if (!pc_sampler_leave_signal())
        end_sampling("uses SIGURG and SIGWINCH,");
}

/* ---- Handlers -------------------------------------------------------------------------------- */

/* Sets a handler in a child by vfork, which has handlers of its own but runs on the memory of its
 * parent. */
static int act_in_child(int signal, const struct sigaction *action, struct sigaction *old)
{
    int result = PC_NEXT(sigaction)(signal, action, old);
    if (!result && old && old->sa_sigaction == pc_sampler_handle)
        *old = pc_sampler_program_action[signal];
    return result;
}

PC_EXPORT int sigaction(int signal, const struct sigaction *action, struct sigaction *old)
{
    if (PC_LIKELY(!pc_sampler_has(signal)))
        return pc_sampler_set_action(signal, action, old);
    if (pc_process_is_child())
        return act_in_child(signal, action, old);
    if (action && signal == pc_sampler_signal && action->sa_handler != SIG_DFL &&
        action->sa_handler != SIG_IGN) {
        step_back();
        if (!pc_sampler_has(signal))
            return pc_sampler_set_action(signal, action, old);
    }
    const struct sigaction before = pc_sampler_program_action[signal];
    if (action && pc_sampler_ask(signal, action))
        return -1;
    if (old)
        *old = before;
    return 0;
}

/* `masked`: the signal itself is in the mask too, as in libc. */
static __sighandler_t handle_with(int number, __sighandler_t handler, int flags, bool masked)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags}, old;
    sigemptyset(&action.sa_mask);
    if (handler == SIG_ERR || (masked && sigaddset(&action.sa_mask, number))) {
        errno = EINVAL;
        return SIG_ERR;
    }
    return sigaction(number, &action, &old) ? SIG_ERR : old.sa_handler;
}

static _Atomic uint64_t interrupting; /* signals of siginterrupt, for signal() */

/* Does what libc's siginterrupt does, with the action that the program has asked for: libc would
 * take SA_RESTART from the sampler's handler, and calls of the program would end with EINTR. */
static int interrupt_by(int number, int interrupt)
{
    struct sigaction action;
    if (sigaction(number, NULL, &action))
        return -1;
    if (interrupt)
        action.sa_flags &= ~SA_RESTART;
    else
        action.sa_flags |= SA_RESTART;
    return sigaction(number, &action, NULL);
}

PC_EXPORT int siginterrupt(int number, int interrupt)
{
    siginterrupt_fn *next = (siginterrupt_fn *)pc_next(PC_NEXT_siginterrupt);
    int result = PC_UNLIKELY(pc_sampler_has(number)) ? interrupt_by(number, interrupt)
                                                     : next(number, interrupt);
    if (result)
        return result;
    if (interrupt)
        atomic_fetch_or(&interrupting, 1ull << (number - 1));
    else
        atomic_fetch_and(&interrupting, ~(1ull << (number - 1)));
    return 0;
}

PC_EXPORT __sighandler_t signal(int number, __sighandler_t handler)
{
    if (PC_LIKELY(!pc_sampler_stands_in()) || number < 1 || number > 64) {
        __typeof__(&signal) next = PC_NEXT(signal);
        return next(number, handler);
    }
    return handle_with(number, handler, interrupting >> (number - 1) & 1 ? 0 : SA_RESTART, true);
}

/* The name of `signal` in programs that were compiled for ISO C alone. */
PC_EXPORT __sighandler_t __sysv_signal(int number, __sighandler_t handler);

__sighandler_t __sysv_signal(int number, __sighandler_t handler)
{
    if (PC_LIKELY(!pc_sampler_stands_in())) {
        __typeof__(&__sysv_signal) next = PC_NEXT(__sysv_signal);
        return next(number, handler);
    }
    return handle_with(number, handler, (int)(SA_RESETHAND | SA_NODEFER), false);
}

/* Other names of these functions in glibc. */
PC_EXPORT sigset_fn bsd_signal;
PC_EXPORT int __sigaction(int signal, const struct sigaction *action, struct sigaction *old);

__sighandler_t bsd_signal(int number, __sighandler_t handler)
{
    return signal(number, handler);
}

PC_EXPORT __sighandler_t ssignal(int number, __sighandler_t handler)
{
    return signal(number, handler);
}

PC_EXPORT __sighandler_t sysv_signal(int number, __sighandler_t handler)
{
    return __sysv_signal(number, handler);
}

int __sigaction(int signal, const struct sigaction *action, struct sigaction *old)
{
    return sigaction(signal, action, old);
}

/* Handles System V functions on a signal of ours: they are not imitated, sampling ends. */
static void leave_to(int number)
{
    if (PC_UNLIKELY(pc_sampler_has(number)))
        end_sampling("gives to sigset or sigignore a signal");
    pc_sampler_undefer(number);
}

PC_EXPORT __sighandler_t sigset(int number, __sighandler_t handler)
{
    sigset_fn *next = (sigset_fn *)pc_next(PC_NEXT_sigset);
    leave_to(number);
    return next(number, handler);
}

PC_EXPORT int sigignore(int number)
{
    sigignore_fn *next = (sigignore_fn *)pc_next(PC_NEXT_sigignore);
    leave_to(number);
    return next(number);
}

/* ---- Masks ----------------------------------------------------------------------------------- */

/* Prepares for the program to block or wait for a set: a pending signal of ours would take the
 * place of the program's own of that number. If a pending one has been taken, the next interrupt is
 * armed. */
static void look_at(const sigset_t *set)
{
    int ours = pc_sampler_signal;
    if (PC_LIKELY(!ours || !pc_wait_can_read(set, sizeof(uint64_t))))
        return;
    struct pc_sampler *s = pc_wait_sampler();
    bool named = pc_sampler_is_named(set, ours);
    if (PC_LIKELY(!named && (!s || s->signal == ours)) || pc_process_is_child())
        return;
    if (named)
        step_back();
    if (s && pc_sampler_follow_signal(s))
        pc_sampler_arm(s);
}

PC_EXPORT int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
    __typeof__(&pthread_sigmask) next = PC_NEXT(pthread_sigmask);
    if (how != SIG_UNBLOCK)
        look_at(set);
    return next(how, set, old);
}

PC_EXPORT int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
    __typeof__(&sigprocmask) next = PC_NEXT(sigprocmask);
    if (how != SIG_UNBLOCK)
        look_at(set);
    return next(how, set, old);
}

/* Functions of System V and BSD that block signals: a number, or a mask of the first 32. */
PC_EXPORT int sighold(int number)
{
    sigmask_fn *next = (sigmask_fn *)pc_next(PC_NEXT_sighold);
    sigset_t set;
    sigemptyset(&set);
    if (!sigaddset(&set, number))
        look_at(&set);
    return next(number);
}

static void look_at_first(int mask)
{
    const uint64_t first = (uint32_t)mask;
    sigset_t set;
    sigemptyset(&set);
    memcpy(&set, &first, sizeof first);
    look_at(&set);
}

PC_EXPORT sigmask_fn sigblock, sigsetmask;

int sigblock(int mask)
{
    sigmask_fn *next = (sigmask_fn *)pc_next(PC_NEXT_sigblock);
    look_at_first(mask);
    return next(mask);
}

int sigsetmask(int mask)
{
    sigmask_fn *next = (sigmask_fn *)pc_next(PC_NEXT_sigsetmask);
    look_at_first(mask);
    return next(mask);
}

PC_EXPORT int sigpending(sigset_t *set)
{
    __typeof__(&sigpending) next = PC_NEXT(sigpending);
    struct pc_sampler *s = pc_wait_sampler();
    int result = next(set);
    if (PC_LIKELY(!s) || result || sigismember(set, s->signal) != 1 ||
        !pc_sampler_take_pending(s, s->fd, s->signal))
        return result;
    pc_sampler_arm(s);
    return next(set);
}

/* ---- Waiting --------------------------------------------------------------------------------- */

/* Waits again if it has taken an interrupt of ours, and arms the next one. */
PC_EXPORT int sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *timeout)
{
    __typeof__(&sigtimedwait) next = PC_NEXT(sigtimedwait);
    look_at(set);
    struct pc_sampler *s = pc_wait_sampler();
    if (PC_LIKELY(!s))
        return next(set, info, timeout);
    siginfo_t got;
    uint64_t begin_ns = pc_mono_ns(), held = pc_wait_hold();
    int result = next(set, &got, timeout);
    while (result == s->signal && pc_sampler_is_ours(s, &got)) {
        struct timespec rest = {0, 0};
        if (timeout)
            rest = pc_wait_rest(*timeout, pc_mono_ns() - begin_ns);
        pc_sampler_arm(s);
        result = next(set, &got, timeout ? &rest : NULL);
    }
    pc_wait_release(held, (uintptr_t)next);
    if (result > 0 && info)
        *info = got;
    return result;
}

PC_EXPORT int sigwaitinfo(const sigset_t *set, siginfo_t *info)
{
    return sigtimedwait(set, info, NULL);
}

/* Returns the error instead of setting errno; no handler ends the call. */
PC_EXPORT int sigwait(const sigset_t *set, int *signal)
{
    int saved = errno, result;
    do
        result = sigtimedwait(set, NULL, NULL);
    while (result < 0 && errno == EINTR);
    if (result > 0)
        *signal = result;
    result = result > 0 ? 0 : errno;
    errno = saved;
    return result;
}

/* Suspends with a mask of the first 32 signals, or with the thread's less one signal. */
PC_EXPORT sigpause_fn __sigpause;

int __sigpause(int mask_or_number, int is_number)
{
    sigset_t set;
    const uint64_t first = (uint32_t)mask_or_number;
    if (PC_LIKELY(!pc_wait_sampler()))
        return ((sigpause_fn *)pc_next(PC_NEXT___sigpause))(mask_or_number, is_number);
    sigemptyset(&set);
    if (!is_number)
        memcpy(&set, &first, sizeof first);
    else if (PC_NEXT(pthread_sigmask)(SIG_BLOCK, NULL, &set) || sigdelset(&set, mask_or_number))
        return -1;
    return sigsuspend(&set);
}

/* The functions that the headers call sigpause: BSD's, with a mask, and X/Open's. The header gives
 * the name of the first to the second. */
PC_EXPORT int pc_sigpause_bsd(int mask) __asm__("sigpause");
PC_EXPORT int __xpg_sigpause(int number);

int pc_sigpause_bsd(int mask)
{
    return __sigpause(mask, 0);
}

int __xpg_sigpause(int number)
{
    return __sigpause(number, 1);
}

/* Signals read from the descriptor do not show whether they are the sampler's. Without the number
 * of ours in the set, the program would not get its own. */
PC_EXPORT int signalfd(int fd, const sigset_t *set, int flags)
{
    __typeof__(&signalfd) next = PC_NEXT(signalfd);
    look_at(set);
    int ours = pc_sampler_signal;
    if (PC_UNLIKELY(ours && pc_wait_can_read(set, sizeof(uint64_t)) && sigismember(set, ours) == 1))
        end_sampling("reads from a descriptor (signalfd) the signals");
    return next(fd, set, flags);
}
