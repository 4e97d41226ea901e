/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The state of a thread that a library must not touch: errno, signal mask, floating-point
 * environment. kept_state.c sets a state before each call of MPI. state_tool.c, which is called
 * between the profiler and MPI, must find that state, and sets another one, which kept_state.c must
 * find after the call. So changes by MPI itself do not matter.
 */
#ifndef TESTS_SAFETY_STATE_TOOL_H
#define TESTS_SAFETY_STATE_TOOL_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include <errno.h>
#include <fenv.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#ifdef __SSE__
#include <xmmintrin.h>
#endif

struct state {
    int error, rounding, flags, traps;
    uint32_t mxcsr;
    uint64_t blocked; /* signals 1 to 64, by bits */
};

/* Reads errno first, because other reads could change it. */
static inline struct state state_now(void)
{
    struct state s;
    memset(&s, 0, sizeof s);
    s.error = errno;
    s.rounding = fegetround();
    s.flags = fetestexcept(FE_ALL_EXCEPT);
    s.traps = fegetexcept();
#ifdef __SSE__
    s.mxcsr = _mm_getcsr();
#endif
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    for (int i = 1; i <= 64; i++)
        s.blocked |= sigismember(&mask, i) == 1 ? (uint64_t)1 << (i - 1) : 0;
    return s;
}

/* kind 0: exceptions are raised and do not trap; 1: none is raised and all trap, so that any
 * inexact operation of a library ends the program. Returns the state that is set. */
static inline struct state state_set(int kind, int error)
{
    sigset_t mask;
    sigemptyset(&mask);
    sigaddset(&mask, kind ? SIGUSR1 : SIGUSR2);
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    fesetenv(FE_DFL_ENV);
    fesetround(kind ? FE_DOWNWARD : FE_UPWARD);
    if (kind) {
        feenableexcept(FE_ALL_EXCEPT);
    } else {
        feraiseexcept(FE_DIVBYZERO);
    }
#ifdef __SSE__
    if (kind)
        _mm_setcsr(_mm_getcsr() | 0x8040); /* flush to zero, denormals are zero */
#endif
    errno = error;
    struct state s = state_now();
    errno = error;
    return s;
}

static inline void state_reset(void)
{
    sigset_t mask;
    sigemptyset(&mask);
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    fesetenv(FE_DFL_ENV);
}

/* States of the thread that the tool should find, and that the program should find. */
extern __thread struct state state_to_tool, state_to_program;
/* Kind of state that the program sets; the tool sets the other kind. */
extern __thread int state_kind;
/* Number of calls that the tool saw, and of those that came with a wrong state. */
extern _Atomic long state_seen, state_wrong_before;
/* While this is set, calls of MPI do nothing. */
extern _Atomic int state_fake;

#endif
