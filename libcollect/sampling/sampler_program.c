/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The handlers that are installed: the sampler's, and those that take the place of the program's
 * meanwhile.
 *
 * If the sampler blocked all signals, the kernel would give one that is sent to the process
 * meanwhile to another thread. If it blocked none, the program's handlers would run in the middle
 * of it, on its stack, and could leave it by a jump. So in a process that is sampled one of two
 * functions of ours (`stand_ins`) stands for each handler of the program, and their signals are not
 * blocked: the kernel gives them to the thread that it would have chosen. In a thread that is not
 * in the sampler's handler the stand-in jumps to the program's. Otherwise it sends the same signal
 * to its thread, blocked until the end of the sampler's handler, when the kernel delivers it.
 *
 * Invariants:
 *  1. A thread is in the sampler's handler, from the kernel's entry to sigreturn, if and only if it
 *     blocks the two signals that glibc has for itself (MARK): nothing else blocks these and leaves
 *     the program's unblocked. The context of the interrupted code tells it; no flag is needed that
 *     would be set an instruction late.
 *  2. A signal is in `deferred` only while a stand-in is installed for it; all others, and handlers
 *     that the program installs by the bare system call, are blocked as before. handlers[] has the
 *     handler of each signal in it, never SIG_DFL, SIG_IGN or a stand-in.
 *  3. The kernel has the flags and the mask that the program asked for, and SA_SIGINFO. Which of
 *     the two stand-ins it has tells whether the program asked for SA_SIGINFO, too.
 *
 * Not deferred are handlers that are asked for once, and those of signals that instructions raise.
 * Nothing is while one runs on the alternate stack: beside its frame and the sampler's there may be
 * no room for another one, and the kernel would begin at the top of that stack once more, where the
 * sampler's frame may be.
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
static _Atomic uint64_t on_stack; /* signals of which the handlers run on the alternate stack */
static _Atomic uint32_t taken;    /* by the sampler, 1 << signal */
static _Atomic int owner;         /* the process; a child by vfork is another one on this memory */

/* ---- In handlers ----------------------------------------------------------------------------- */

/* False: the queue of signals is full. */
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

/* A jump where it can be: the program's handler has the stack as the kernel made it. */
static inline __attribute__((always_inline)) void stand_in(int signal, siginfo_t *info,
                                                           void *context)
{
    uint64_t mask;
    memcpy(&mask, &((ucontext_t *)context)->uc_sigmask, sizeof mask);
    if (PC_UNLIKELY((mask & mark) == mark) && defer(signal, info, context))
        return;
    atomic_load_explicit(&handlers[signal], memory_order_relaxed)(signal, info, context);
}

static void stand_in_plain(int signal, siginfo_t *info, void *context)
{
    stand_in(signal, info, context);
}

/* Not the same code as the other one's, which would be folded into one. */
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

/* Finds the signals that are not blocked while the sampler's handler runs, beside the synchronous.
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

/* On the alternate stack, unless signals are open: the kernel puts a frame on it for each that
 * comes meanwhile, and the program, whose handlers run on the interrupted stack, may have made it
 * for one. What is open may change in another thread. */
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

/* Handlers of what instructions raise end, or leave at once, as those of UCX and of overflows. */
static bool is_on_stack(int signal, const struct sigaction *action)
{
    return is_handler(action) && action->sa_flags & SA_ONSTACK && !(BIT(signal) & synchronous);
}

static bool is_deferrable(int signal, const struct sigaction *action)
{
    return is_handler(action) && !(action->sa_flags & (int)(SA_ONSTACK | SA_RESETHAND)) &&
           !(BIT(signal) & synchronous);
}

bool pc_sampler_is_child(void)
{
    return owner && getpid() != owner;
}

bool pc_sampler_stands_in(void)
{
    return owner;
}

/* Gives the action that the program knows of; `handler`: its own, behind the stand-in. */
static void show(struct sigaction *action, action_fn *handler)
{
    if (!is_stand_in(action))
        return;
    if (action->sa_sigaction == stand_in_plain)
        action->sa_flags &= ~SA_SIGINFO;
    action->sa_sigaction = handler;
}

static int defer_action(int signal, const struct sigaction *action, struct sigaction *old)
{
    struct sigaction ours = *action;
    action_fn *before = atomic_exchange(&handlers[signal], action->sa_sigaction);
    ours.sa_sigaction = action->sa_flags & SA_SIGINFO ? stand_in_info : stand_in_plain;
    ours.sa_flags |= SA_SIGINFO;
    int result = PC_NEXT(sigaction)(signal, &ours, old);
    if (result) {
        atomic_store(&handlers[signal], before);
        return result;
    }
    /* A handler that came in between may have asked for another. */
    atomic_store(&handlers[signal], action->sa_sigaction);
    set(&deferred, signal, true);
    set(&on_stack, signal, false);
    if (old)
        show(old, before);
    return 0;
}

int pc_sampler_set_action(int signal, const struct sigaction *action, struct sigaction *old)
{
    __typeof__(&sigaction) next = PC_NEXT(sigaction);
    if (PC_LIKELY(!owner) || signal < 1 || signal > N_SIGNALS)
        return next(signal, action, old);
    bool ours = getpid() == owner;
    if (ours && action && pc_sampler_signal && is_deferrable(signal, action) &&
        !is_stand_in(action))
        return defer_action(signal, action, old);
    action_fn *before = atomic_load(&handlers[signal]);
    if (ours && action && !is_stand_in(action)) {
        set(&on_stack, signal, is_on_stack(signal, action));
        set(&deferred, signal, false);
    }
    int result = next(signal, action, old);
    if (!result && old)
        show(old, before);
    return result;
}

/* ---- Begin and end --------------------------------------------------------------------------- */

/* Handlers that are there. */
void pc_sampler_defer_all(void)
{
    owner = getpid();
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
    if (signal < 1 || signal > N_SIGNALS || !(deferred & BIT(signal)) || getpid() != owner)
        return;
    set(&deferred, signal, false);
    if (PC_NEXT(sigaction)(signal, NULL, &now) || !is_stand_in(&now))
        return;
    show(&now, atomic_load(&handlers[signal]));
    PC_NEXT(sigaction)(signal, &now, NULL);
}

/* To ignore a signal is to drop what is pending of it, in all threads: so does the default. */
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
