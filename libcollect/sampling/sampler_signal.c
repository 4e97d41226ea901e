/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The number of the sampler's signal: it is chosen at the start, and given up when the program uses
 * it. Called by the sampler and by the interposed functions of libc (interpose/signal.c).
 *
 * The two candidates are ignored by default, so that a late signal does not end the process; they
 * are not queued, so that a full signal queue does no harm; and debuggers pass them on without
 * stopping.
 *
 * A number that was left keeps the sampler's handler, since an interrupt may still be on its way:
 * threads follow at their next interrupt. The action that the program asks for on it is kept here
 * and carried out by that handler (sampler_async.c). No number is taken twice.
 *
 * AS-safe, except the start: programs call sigaction and sigprocmask in handlers.
 */
#include "libcollect/sampling/sampler.h"

#include "libcollect/state/next.h"

#include <errno.h>

static const int candidates[] = {SIGURG, SIGWINCH};

static atomic_flag leaving = ATOMIC_FLAG_INIT;

bool pc_sampler_is_named(const sigset_t *set, int signal)
{
    bool all = true;
    for (size_t i = 0; i < PC_ARRAY_LEN(candidates); i++)
        all &= sigismember(set, candidates[i]) == 1;
    return !all && sigismember(set, signal) == 1;
}

/* Takes the first number that the program does not use, and installs the handler; 0: none. A number
 * that the calling thread blocks is used by the program, unless the thread blocks all. */
static int take(void)
{
    sigset_t blocked;
    if (PC_NEXT(pthread_sigmask)(SIG_BLOCK, NULL, &blocked))
        return 0;
    for (size_t i = 0; i < PC_ARRAY_LEN(candidates); i++) {
        int signal = candidates[i];
        struct sigaction now;
        if (pc_sampler_has(signal) || pc_sampler_is_named(&blocked, signal) ||
            PC_NEXT(sigaction)(signal, NULL, &now) || now.sa_handler != SIG_DFL)
            continue;
        pc_sampler_program_action[signal] = now;
        if (!pc_sampler_install(signal))
            return signal;
    }
    return 0;
}

bool pc_sampler_choose_signal(void)
{
    pc_sampler_signal = take();
    if (pc_sampler_signal)
        pc_sampler_defer_all();
    return pc_sampler_signal;
}

bool pc_sampler_leave_signal(void)
{
    struct pc_sampler *s = pc_self ? pc_self->sampler : NULL;
    int saved = errno, signal;
    if (atomic_flag_test_and_set(&leaving))
        return true;
    signal = take();
    if (signal)
        pc_sampler_signal = signal;
    if (signal && s && pc_sampler_follow_signal(s))
        pc_sampler_arm(s);
    atomic_flag_clear(&leaving);
    errno = saved;
    return signal;
}

int pc_sampler_ask(int signal, const struct sigaction *action)
{
    pc_sampler_program_action[signal] = *action;
    return pc_sampler_install_all();
}
