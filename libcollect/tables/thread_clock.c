/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The CPU time of any thread of the process.
 */
#include "libcollect/state/state.h"
#include "libcollect/tables/process_tables.h"

#include <time.h>

/* The number of the clock is the kernel's (linux/posix-timers.h): the complement of the thread's
 * id, 4 for one thread, 2 for what the scheduler counts. A seccomp filter may end the process for
 * reading such a clock.
 */
uint64_t pc_thread_cpu_ns(int32_t tid)
{
    struct timespec t;
    clockid_t clock = (clockid_t)((~(unsigned)tid << 3) | 4 | 2);
    if (pc_control.filtered || clock_gettime(clock, &t))
        return 0;
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}
