/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The open interrupt source of a thread: arming, disarming, and its clock. It calls no other file
 * of the sampler.
 *
 * Every function of this file may run in a signal handler.
 */
#include "libcollect/sampling/sampler.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

_Atomic int pc_sampler_signal;
struct pc_sampler *_Atomic pc_samplers;

/* Asks the kernel itself: a library may have put a function that takes a lock in the place of
 * clock_gettime, and this thread may hold the lock. A timespec of 32-bit systems has two layouts.
 */
uint64_t pc_sampler_cpu_ns(void)
{
    struct timespec ts = {0, 0};
    if (sizeof(long) < sizeof(uint64_t) || syscall(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &ts))
        return pc_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

bool pc_sampler_is_of_event(int fd, const siginfo_t *info)
{
    return info->si_code > 0 && info->si_code <= POLL_HUP && info->si_fd == fd;
}

static bool is_of(const struct pc_sampler *s, const siginfo_t *info)
{
    return info->si_code == SI_TIMER ? info->si_value.sival_ptr == s
                                     : pc_sampler_is_of_event(s->fd, info);
}

/* Our sources mark their signals; a signal of that number from any other sender is the program's. A
 * signal that was on its way when the thread left is still ours. */
bool pc_sampler_is_ours(const struct pc_sampler *s, const siginfo_t *info)
{
    if (s)
        return is_of(s, info);
    for (s = atomic_load(&pc_samplers); s && !is_of(s, info);)
        s = s->next;
    return s != NULL;
}

bool pc_sampler_is_event(int fd, uint64_t id)
{
    uint64_t now;
    int saved = errno;
    bool same = !syscall(SYS_ioctl, fd, PERF_EVENT_IOC_ID, &now) && now == id;
    errno = saved;
    return same;
}

/* Takes a pending interrupt. A signal of the program that was taken is sent to the process
 * again. */
bool pc_sampler_take_pending(const struct pc_sampler *s, int fd, int signal)
{
    const uint64_t set = 1ull << (signal - 1);
    const struct timespec now = {0, 0};
    int saved = errno;
    siginfo_t info;
    bool some = syscall(SYS_rt_sigtimedwait, &set, &info, &now, sizeof set) == signal;
    bool ours = some && (s ? is_of(s, &info) : pc_sampler_is_of_event(fd, &info));
    if (some && !ours) /* ours would have come first, like all signals to a thread */
        syscall(SYS_rt_sigqueueinfo, getpid(), signal, &info);
    errno = saved;
    return ours;
}

int pc_sampler_make_timer(struct pc_sampler *s, int signal)
{
    struct sigevent event;
    memset(&event, 0, sizeof event);
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = signal;
    event.sigev_value.sival_ptr = s;
    event._sigev_un._tid = s->tid;
    int timer;
    if (syscall(SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, &event, &timer))
        return -1;
    s->timer = timer;
    s->signal = signal;
    return 0;
}

static void set_timer(int timer, uint64_t ns)
{
    const long spec[4] = {0, 0, (long)(ns / 1000000000u), (long)(ns % 1000000000u)};
    syscall(SYS_timer_settime, timer, 0, spec, NULL);
}

/* Replaces the thread's timer by one that sends the signal. The timer is disarmed before: if it
 * expired while the other one is made, the handler would make one, too, which nobody would know. It
 * may have expired just before. */
static void follow_by_timer(struct pc_sampler *s, int signal)
{
    set_timer(s->timer, 0);
    int timer = s->timer;
    if (s->signal != signal && !pc_sampler_make_timer(s, signal))
        syscall(SYS_timer_delete, timer);
}

bool pc_sampler_follow_signal(struct pc_sampler *s)
{
    int signal = pc_sampler_signal, before = s->signal, saved = errno;
    bool lost = !pc_sampler_is_perf(s);
    if (PC_LIKELY(before == signal || !signal || s->source == PC_SOURCE_NONE))
        return false;
    if (lost)
        follow_by_timer(s, signal);
    else if (pc_sampler_is_event(s->fd, s->event_id) &&
             !syscall(SYS_fcntl, s->fd, F_SETSIG, signal))
        s->signal = signal;
    if (s->signal == signal)
        lost |= pc_sampler_take_pending(s, s->fd, before);
    errno = saved;
    return lost;
}

void pc_sampler_arm_for(struct pc_sampler *s, uint64_t ns)
{
    enum { LEAST_NS = 10000 }; /* shortest period of the kernel's task clock */
    if (!pc_sampler_signal)
        return;
    s->due_ns = s->source == PC_SOURCE_CLOCK && ns < LEAST_NS ? LEAST_NS : ns;
    s->armed_ns = pc_sampler_cpu_ns();
    if (pc_sampler_is_perf(s)) {
        uint64_t period = s->due_ns * s->pace >> 16;
        syscall(SYS_ioctl, s->fd, PERF_EVENT_IOC_PERIOD, &period);
        syscall(SYS_ioctl, s->fd, PERF_EVENT_IOC_REFRESH, 1);
        if (s->ring)
            s->value = (uint64_t)((volatile struct perf_event_mmap_page *)s->ring)->offset;
    } else if (s->source == PC_SOURCE_TIMER) {
        set_timer(s->timer, ns);
    }
}

void pc_sampler_disarm(struct pc_sampler *s)
{
    s->window.open = false;
    if (pc_sampler_is_perf(s) && pc_sampler_is_event(s->fd, s->event_id))
        syscall(SYS_ioctl, s->fd, PERF_EVENT_IOC_DISABLE, 0);
    else if (s->source == PC_SOURCE_TIMER)
        set_timer(s->timer, 0);
}
