/* SPDX-License-Identifier: BSD-3-Clause
 *
 * For tests only, preloaded before tests/yield.c: an MPI that waits sleeps instead of polling,
 * longer and longer while no message arrives. Ranks that wait need no processor.
 */
#include <stdint.h>
#include <sys/prctl.h>
#include <time.h>

int sched_yield(void);

static __attribute__((constructor)) void wake_in_time(void)
{
    prctl(PR_SET_TIMERSLACK, 1000UL, 0UL, 0UL, 0UL);
}

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

int sched_yield(void)
{
    enum { SHORTEST_NS = 10000, LONGEST_NS = 500000, SAME_WAIT_NS = 20000 };
    static _Thread_local int64_t woke_ns, wait_ns;
    wait_ns = now_ns() - woke_ns > SAME_WAIT_NS ? SHORTEST_NS
              : wait_ns < LONGEST_NS            ? 2 * wait_ns
                                                : LONGEST_NS;
    nanosleep(&(struct timespec){0, wait_ns}, NULL);
    woke_ns = now_ns();
    return 0;
}
