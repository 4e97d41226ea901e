/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A thread's source of interrupts, once it is open: arming and disarming, and the clock by which
 * that is done. It calls nothing of the rest of the sampler.
 *
 * Every function of this file may run in a signal handler.
 */
#include "libcollect/sampling/sampler.h"

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int pc_sampler_signal;

uint64_t pc_sampler_cpu_ns(void)
{
    return pc_clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static void set_timer(int timer, uint64_t ns)
{
    const long spec[4] = {0, 0, (long)(ns / 1000000000u), (long)(ns % 1000000000u)};
    syscall(SYS_timer_settime, timer, 0, spec, NULL);
}

void pc_sampler_arm_for(struct pc_sampler *s, uint64_t ns)
{
    enum { LEAST_NS = 10000 }; /* of the kernel's task clock */
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
    if (pc_sampler_is_perf(s))
        syscall(SYS_ioctl, s->fd, PERF_EVENT_IOC_DISABLE, 0);
    else if (s->source == PC_SOURCE_TIMER)
        set_timer(s->timer, 0);
}
