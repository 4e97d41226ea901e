/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Events of the kernel that send a signal to a thread when it has used so much CPU time. The
 * sampler has one for each thread (sampler.c), and one for each thread that it waits for
 * (early_threads.c).
 */
#include "libcollect/sampling/sampler.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The sampler uses at most 1 of 16 descriptors (base/descriptor.c); timers need none. */
enum { DESCRIPTORS_PART = 16 };

static _Atomic uint32_t n_descriptors;

static int open_event(const struct pc_sampler_event *e, bool with_kernel)
{
    struct perf_event_attr a;
    memset(&a, 0, sizeof a);
    a.size = sizeof a;
    bool cycles = e->source == PC_SOURCE_CYCLES;
    a.type = cycles ? PERF_TYPE_HARDWARE : PERF_TYPE_SOFTWARE;
    a.config = cycles ? PERF_COUNT_HW_CPU_CYCLES : PERF_COUNT_SW_TASK_CLOCK;
    a.sample_period = e->period;
    a.disabled = 1;
    a.wakeup_events = 1;
    a.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TIME | PERF_SAMPLE_READ;
    a.use_clockid = 1;
    a.clockid = CLOCK_MONOTONIC;
    a.exclude_kernel = !with_kernel;
    a.exclude_hv = 1;
    int fd = (int)syscall(SYS_perf_event_open, &a, e->tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd >= 0 || errno != EINVAL)
        return fd;
    a.sample_type = a.use_clockid = 0; /* Linux before 4.1: without records */
    a.clockid = 0;
    return (int)syscall(SYS_perf_event_open, &a, e->tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static bool send_to_thread(const struct pc_sampler_event *e)
{
    struct f_owner_ex owner = {F_OWNER_TID, e->tid};
    return !fcntl(e->fd, F_SETFL, O_ASYNC) && !fcntl(e->fd, F_SETSIG, e->signal) &&
           !fcntl(e->fd, F_SETOWN_EX, &owner);
}

bool pc_sampler_open_event(struct pc_sampler_event *e)
{
    errno = EMFILE;
    if (atomic_fetch_add(&n_descriptors, 1) < pc_descriptors_most(DESCRIPTORS_PART)) {
        int fd = e->with_kernel ? open_event(e, true) : -1;
        e->fd = pc_descriptor_away(fd < 0 ? open_event(e, false) : fd);
        if (e->fd >= 0 && send_to_thread(e) && !ioctl(e->fd, PERF_EVENT_IOC_ID, &e->id))
            return true;
        int failed = errno;
        if (e->fd >= 0)
            pc_file_close(e->fd);
        errno = failed;
    }
    atomic_fetch_sub(&n_descriptors, 1);
    return false;
}

void pc_sampler_close_event(int fd, uint64_t id)
{
    if (pc_sampler_is_event(fd, id))
        pc_file_close(fd);
    atomic_fetch_sub(&n_descriptors, 1);
}

void pc_sampler_silence_event(int fd, uint64_t id)
{
    if (!pc_sampler_is_event(fd, id))
        return;
    ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
    fcntl(fd, F_SETFL, 0); /* an overflow that is on its way sends no signal */
}
