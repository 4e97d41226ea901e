/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Imitates, when preloaded, a machine whose counters others use, too. They have the counters half
 * of the time: those of each group that is not pinned, and with TAKE_PINNED in the environment
 * those of each. It shows in the time for which a group was counted.
 */
#define _GNU_SOURCE 1

#include <dlfcn.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Layout of a group as a thread reads its own; nothing else is read in pieces of this size. */
struct reading {
    uint64_t n, enabled_ns, running_ns;
    uint64_t value[16];
};

enum { MOST = 1024 };
static uint64_t pinned[MOST]; /* ids; a pinned group beyond the last is taken for another */
static int n_pinned;

static long next(long number, long a, long b, long c, long d, long e, long f)
{
    static long (*found)(long number, ...);
    if (!found)
        found = (__typeof__(found))dlsym(RTLD_NEXT, "syscall");
    return found(number, a, b, c, d, e, f);
}

static void note_pinned(int fd)
{
    int i = __atomic_fetch_add(&n_pinned, 1, __ATOMIC_RELAXED);
    if (i < MOST)
        next(SYS_ioctl, fd, PERF_EVENT_IOC_ID, (long)&pinned[i], 0, 0, 0);
}

static bool is_counter(int fd)
{
    uint64_t id;
    return !next(SYS_ioctl, fd, PERF_EVENT_IOC_ID, (long)&id, 0, 0, 0);
}

static bool is_pinned(int fd)
{
    uint64_t id = 0;
    if (next(SYS_ioctl, fd, PERF_EVENT_IOC_ID, (long)&id, 0, 0, 0))
        return false;
    for (int i = 0; i < MOST && i < __atomic_load_n(&n_pinned, __ATOMIC_RELAXED); i++)
        if (pinned[i] == id)
            return true;
    return false;
}

long syscall(long number, ...)
{
    long a[6];
    va_list list;
    va_start(list, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(list, long);
    va_end(list);
    long result = next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    if (number == SYS_perf_event_open && result >= 0 && ((struct perf_event_attr *)a[0])->pinned)
        note_pinned((int)result);
    if (number == SYS_read && a[2] == (long)sizeof(struct reading) && result > 0 &&
        (getenv("TAKE_PINNED") || !is_pinned((int)a[0])))
        ((struct reading *)a[1])->running_ns /= 2;
    if (number == SYS_read && result == 3 * (long)sizeof(uint64_t) && is_counter((int)a[0]))
        ((uint64_t *)a[1])[2] /= 2; /* a counter of another thread */
    return result;
}
