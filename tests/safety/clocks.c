/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Preloaded library that makes clocks jump by hours, forwards and backwards, at every reading: the
 * wall clock; with CLOCKS=all the monotonic clock, too.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *t)
{
    static int n_calls;
    const char *which = getenv("CLOCKS");
    int rc = (int)syscall(SYS_clock_gettime, clock, t);
    int jumps = clock == CLOCK_REALTIME ||
                (clock == CLOCK_MONOTONIC && which != NULL && strcmp(which, "all") == 0);
    if (rc == 0 && jumps)
        t->tv_sec += (__atomic_add_fetch(&n_calls, 1, __ATOMIC_RELAXED) % 5 - 2) * 3600;
    return rc;
}
