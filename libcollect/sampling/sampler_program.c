/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Installs handlers: the sampler's, and the stand-ins that replace the program's while sampling is
 * on.
 *
 * If the sampler's handler blocked all signals, the kernel would deliver a signal for the process
 * to another thread. If it blocked none, the program's handlers would run in the middle of it, on
 * its stack, and could leave it by longjmp. So in a process that is sampled, one of two functions
 * of this library (`stand_ins`) is installed for each handler of the program, and their signals are
 * not blocked: the kernel delivers them to the thread that it would have chosen anyway. If the
 * thread is not in the sampler's handler, the stand-in jumps to the program's handler; if the
 * thread waits with the sampler's signal blocked, it unblocks that first. Otherwise it sends the
 * same signal to its own thread and blocks it until the end of the sampler's handler, when the
 * kernel delivers it.
 *
 * Invariants:
 *  1. A thread is in the sampler's handler, from the kernel's entry to sigreturn, if and only if it
 *     blocks the two signals that glibc has for itself (MARK): nothing else blocks these and leaves
 *     the program's unblocked. The context of the interrupted code shows this; a flag would be set
 *     an instruction too late.
 *  2. A signal is in `deferred` only while a stand-in is installed for it; all others, and handlers
 *     that the program installs by the bare system call, are blocked as before. handlers[] has the
 *     handler of each signal in it, never SIG_DFL, SIG_IGN or a stand-in.
 *  3. The kernel has the flags and the mask that the program asked for, and SA_SIGINFO. Which of
 *     the two stand-ins it has tells whether the program asked for SA_SIGINFO, too.
 *
 * Handlers with SA_RESETHAND and those of signals that instructions raise are not deferred. No
 * handler is deferred while one runs on the alternate stack: that stack may have no room for
 * another frame beside its own and the sampler's, and the kernel would start again at the top of
 * that stack, where the sampler's frame may be.
 *
 * AS-safe, MT-safe: programs call sigaction in handlers.
 */
#include "libcollect/sampling/sampler.h"
#include "libcollect/state/next.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

enum { N_SIGNALS = 64 };
#define BIT(signal) (1ull << ((signal)-1))
static const uint64_t mark = BIT(32) | BIT(33); /* SIGCANCEL, SIGSETXID */
static const uint64_t synchronous =
    BIT(SIGSEGV) | BIT(SIGBUS) | BIT(SIGILL) | BIT(SIGFPE) | BIT(SIGTRAP) | BIT(SIGSYS);

typedef void action_fn(int, siginfo_t *, void *);

static _Atomic(action_fn *) handlers[N_SIGNALS + 1];
static _Atomic uint64_t deferred;
static _Atomic uint64_t on_stack; /* signals whose handlers run on the alternate stack */
static _Atomic uint32_t taken;    /* signals of the sampler, 1 << signal */
static _Atomic bool stands_in;    /* stand-ins may be installed */

/* ---- In handlers ----------------------------------------------------------------------------- */

/* Sends the signal again for later. False: the queue of signals is full. */
static __attribute__((noinline)) bool defer(int signal, siginfo_t *info, ucontext_t *context)
{
    const uint64_t one = BIT(signal);
    uint64_t mask;
    int saved = errno;
    syscall(SYS_rt_sigprocmask, SIG_BLOCK, &one, NULL, sizeof one);
    bool sent = !syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), signal, info);
    if (sent) {
        memcpy(&mask, &context->uc_sigmask, sizeof mask);
        mask |= one;
        memcpy(&context->uc_sigmask, &mask, sizeof mask);
    }
    errno = saved;
    return sent;
}

/* Calls a handler of the program that interrupts a wait with our signal blocked
 * (interpose/wait.c). The handler, its children and what it executes have the mask that the program
 * asked for; the kernel blocks our signal again when the handler returns. An interrupt that comes
 * when the signal is unblocked is shown in the handler. */
static __attribute__((noinline)) void call_unheld(int signal, siginfo_t *info, void *context,
                                                  struct pc_sampler *s)
{
    action_fn *handler = atomic_load_explicit(&handlers[signal], memory_order_relaxed);
    const uint64_t ours = BIT(s->signal);
    struct sigaction now;
    uint64_t asked = 0;
    int saved = errno;
    if (!PC_NEXT(sigaction)(signal, NULL, &now))
        memcpy(&asked, &now.sa_mask, sizeof asked);
    s->held = false;
    s->waited_in = (uintptr_t)handler;
    if (!(asked & ours))
        syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &ours, NULL, sizeof ours);
    s->waited_in = 0;
    errno = saved;
    handler(signal, info, context);
    s->held = true;
}

/* Calls the program's handler, by a tail call if possible: then it has the stack as the kernel made
 * it. */
static inline __attribute__((always_inline)) void stand_in(int signal, siginfo_t *info,
                                                           void *context)
{
    uint64_t mask;
    memcpy(&mask, &((ucontext_t *)context)->uc_sigmask, sizeof mask);
    if (PC_UNLIKELY((mask & mark) == mark) && defer(signal, info, context))
        return;
    struct pc_sampler *s = pc_self ? pc_self->sampler : NULL;
    if (PC_UNLIKELY(s && s->held)) {
        call_unheld(signal, info, context, s);
        return;
    }
    atomic_load_explicit(&handlers[signal], memory_order_relaxed)(signal, info, context);
}

static void stand_in_plain(int signal, siginfo_t *info, void *context)
{
    stand_in(signal, info, context);
}

/* Differs from the other stand-in, so that the linker does not fold the two into one. */
static void stand_in_info(int signal, siginfo_t *info, void *context)
{
    __asm__ volatile("");
    stand_in(signal, info, context);
}

/* ---- The sampler's handler ------------------------------------------------------------------- */

bool pc_sampler_has(int signal)
{
    return signal > 0 && signal < PC_SAMPLER_N_SIGNALS && taken >> signal & 1;
}

static bool is_handler(const struct sigaction *action)
{
    return action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN;
}

/* Finds the signals that are not blocked while the sampler's handler runs, besides the synchronous
 * ones.
 */
static uint64_t find_open(void)
{
    bool any = on_stack;
    for (int ours = 1; ours < PC_SAMPLER_N_SIGNALS; ours++) {
        const struct sigaction *asked = &pc_sampler_program_action[ours];
        any |= pc_sampler_has(ours) && is_handler(asked) && asked->sa_flags & SA_ONSTACK;
    }
    return any ? 0 : deferred;
}

/* Installs the handler on the alternate stack, unless signals are left unblocked: for each of those
 * that comes meanwhile the kernel puts a frame there, and the program, whose handlers run on the
 * interrupted stack, may have made it large enough for one frame only. Another thread may change
 * the set of unblocked signals. */
int pc_sampler_install(int signal)
{
    const struct sigaction *asked = &pc_sampler_program_action[signal];
    struct sigaction action = {.sa_sigaction = pc_sampler_handle};
    uint64_t now;
    int result;
    do {
        now = find_open();
        const uint64_t blocked = ~(now | synchronous);
        action.sa_flags = is_handler(asked) ? asked->sa_flags & (int)(SA_RESTART | SA_ONSTACK)
                                            : SA_RESTART | (now ? 0 : SA_ONSTACK);
        action.sa_flags |= SA_SIGINFO;
        memcpy(&action.sa_mask, &blocked, sizeof blocked); /* sigaddset refuses two of them */
        result = PC_NEXT(sigaction)(signal, &action, NULL);
    } while (!result && now != find_open());
    if (!result)
        taken |= 1u << signal;
    return result;
}

int pc_sampler_install_all(void)
{
    int result = 0;
    for (int ours = 1; ours < PC_SAMPLER_N_SIGNALS; ours++)
        if (pc_sampler_has(ours))
            result |= pc_sampler_install(ours);
    return result;
}

static void set(_Atomic uint64_t *signals, int signal, bool yes)
{
    uint64_t one = BIT(signal);
    uint64_t before = yes ? atomic_fetch_or(signals, one) : atomic_fetch_and(signals, ~one);
    if (!(before & one) == yes)
        pc_sampler_install_all();
}

/* ---- What is installed for the program ------------------------------------------------------- */

static bool is_stand_in(const struct sigaction *action)
{
    return action->sa_sigaction == stand_in_plain || action->sa_sigaction == stand_in_info;
}

/* True if the handler runs on the alternate stack. Handlers of signals that instructions raise do
 * not count: they end the process or return at once, like those of UCX and those for stack
 * overflows. */
static bool is_on_stack(int signal, const struct sigaction *action)
{
    return is_handler(action) && action->sa_flags & SA_ONSTACK && !(BIT(signal) & synchronous);
}

static bool is_deferrable(int signal, const struct sigaction *action)
{
    return is_handler(action) && !(action->sa_flags & (int)(SA_ONSTACK | SA_RESETHAND)) &&
           !(BIT(signal) & synchronous);
}

bool pc_sampler_stands_in(void)
{
    return stands_in;
}

/* Replaces the stand-in by the program's own handler in an action that is shown to the program. */
static void show(struct sigaction *action, action_fn *handler)
{
    if (!is_stand_in(action))
        return;
    if (action->sa_sigaction == stand_in_plain)
        action->sa_flags &= ~SA_SIGINFO;
    action->sa_sigaction = handler;
}

/* The program may pass one struct as both. */
static int defer_action(int signal, const struct sigaction *action, struct sigaction *old)
{
    struct sigaction ours = *action;
    action_fn *asked = action->sa_sigaction;
    action_fn *before = atomic_exchange(&handlers[signal], asked);
    ours.sa_sigaction = action->sa_flags & SA_SIGINFO ? stand_in_info : stand_in_plain;
    ours.sa_flags |= SA_SIGINFO;
    int result = PC_NEXT(sigaction)(signal, &ours, old);
    if (result) {
        atomic_store(&handlers[signal], before);
        return result;
    }
    /* A signal handler that ran in between may have installed another one. */
    atomic_store(&handlers[signal], asked);
    set(&deferred, signal, true);
    set(&on_stack, signal, false);
    if (old)
        show(old, before);
    return 0;
}

int pc_sampler_set_action(int signal, const struct sigaction *action, struct sigaction *old)
{
    __typeof__(&sigaction) next = PC_NEXT(sigaction);
    if (PC_LIKELY(!stands_in) || signal < 1 || signal > N_SIGNALS)
        return next(signal, action, old);
    /* Once sampling has ended, the process is not asked for: a filter may refuse getpid. */
    bool ours = taken && action && !is_stand_in(action) && !pc_process_is_child();
    if (ours && pc_sampler_signal && is_deferrable(signal, action))
        return defer_action(signal, action, old);
    action_fn *before = atomic_load(&handlers[signal]);
    if (ours) {
        set(&on_stack, signal, is_on_stack(signal, action));
        set(&deferred, signal, false);
    }
    int result = next(signal, action, old);
    if (!result && old)
        show(old, before);
    return result;
}

/* ---- Begin and end --------------------------------------------------------------------------- */

/* Replaces the handlers that are installed already. */
void pc_sampler_defer_all(void)
{
    stands_in = true;
    for (int signal = 1; signal <= N_SIGNALS; signal++) {
        struct sigaction now, before;
        if (pc_sampler_has(signal) || PC_NEXT(sigaction)(signal, NULL, &now) || is_stand_in(&now))
            continue;
        set(&on_stack, signal, is_on_stack(signal, &now));
        if (!is_deferrable(signal, &now) || defer_action(signal, &now, &before))
            continue;
        if (before.sa_sigaction != now.sa_sigaction) /* another thread has changed it meanwhile */
            pc_sampler_set_action(signal, &before, NULL);
    }
}

void pc_sampler_undefer(int signal)
{
    struct sigaction now;
    if (signal < 1 || signal > N_SIGNALS || !(deferred & BIT(signal)) || pc_process_is_child())
        return;
    set(&deferred, signal, false);
    if (PC_NEXT(sigaction)(signal, NULL, &now) || !is_stand_in(&now))
        return;
    show(&now, atomic_load(&handlers[signal]));
    PC_NEXT(sigaction)(signal, &now, NULL);
}

/* Ignoring a signal drops pending ones in all threads; so does the default action of these. */
void pc_sampler_give_back(void)
{
    static const struct sigaction ignored = {.sa_handler = SIG_DFL};
    for (int signal = 1; signal < PC_SAMPLER_N_SIGNALS; signal++) {
        if (!pc_sampler_has(signal))
            continue;
        PC_NEXT(sigaction)(signal, &ignored, NULL);
        PC_NEXT(sigaction)(signal, &pc_sampler_program_action[signal], NULL);
    }
    taken = 0;
    for (int signal = 1; signal <= N_SIGNALS; signal++)
        pc_sampler_undefer(signal);
}
