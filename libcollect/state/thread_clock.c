/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The times of any thread of the process, as the kernel counts them.
 */
#include "libcollect/state/state.h"

#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* The number of the clock is the kernel's (linux/posix-timers.h): the complement of the thread's
 * id, 4 for one thread, 2 for what the scheduler counts. That of the id 0 is the caller's clock. A
 * seccomp filter may end the process for reading such a clock. The kernel itself is asked, as
 * pc_sampler_cpu_ns does, whose times are compared with these: a library may show other times
 * (libfaketime). A timespec of 32-bit systems has two layouts. */
uint64_t pc_thread_cpu_ns(int32_t tid)
{
    struct timespec t;
    clockid_t clock = (clockid_t)((~(unsigned)tid << 3) | 4 | 2);
    if (tid <= 0 || pc_control.filtered)
        return 0;
    if (sizeof(long) < sizeof(uint64_t) ? clock_gettime(clock, &t)
                                        : syscall(SYS_clock_gettime, clock, &t))
        return 0;
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* The second number of schedstat: seen in Linux 4.19 to 6.18. */
uint64_t pc_thread_delayed_ns(int32_t tid)
{
    char path[64], text[96];
    uint64_t ns = 0;
    pc_format(path, sizeof path, "/proc/self/task/%d/schedstat", tid);
    if (!pc_read_small(path, text, sizeof text))
        return 0;
    const char *at = text + strspn(text, "0123456789");
    for (at += *at == ' '; *at >= '0' && *at <= '9'; at++)
        ns = ns * 10 + (uint64_t)(*at - '0');
    return ns;
}
