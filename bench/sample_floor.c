/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The minimum cost of an interrupt on this machine: a perf_event on the task clock, armed for one
 * interrupt at a time, with a handler that only arms it again, and a thread that does nothing but
 * read its CPU clock. Prints the median of the gaps that the interrupts cause, in ns of CPU time,
 * and the part of the system calls that arm. bench/sample.sh prints ratios to it.
 */
#define _GNU_SOURCE 1
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { N = 20000 };

static volatile uint32_t n_interrupts;
static uint64_t arming_ns;
static int fd;

static uint64_t cpu_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static void arm(void)
{
    uint64_t period = 100000, begin = cpu_ns();
    ioctl(fd, PERF_EVENT_IOC_PERIOD, &period);
    ioctl(fd, PERF_EVENT_IOC_REFRESH, 1);
    arming_ns += cpu_ns() - begin;
}

static void handle(int signal)
{
    (void)signal;
    n_interrupts++;
    arm();
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static int open_event(void)
{
    struct perf_event_attr a;
    memset(&a, 0, sizeof a);
    a.size = sizeof a;
    a.type = PERF_TYPE_SOFTWARE;
    a.config = PERF_COUNT_SW_TASK_CLOCK;
    a.sample_period = 100000;
    a.disabled = 1;
    a.wakeup_events = 1;
    return (int)syscall(SYS_perf_event_open, &a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

int main(void)
{
    static uint64_t gaps[N];
    struct f_owner_ex owner = {F_OWNER_TID, (int)syscall(SYS_gettid)};
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handle;
    action.sa_flags = SA_RESTART;
    sigaction(SIGRTMAX - 3, &action, NULL);
    fd = open_event();
    if (fd < 0 || fcntl(fd, F_SETFL, O_ASYNC) || fcntl(fd, F_SETSIG, SIGRTMAX - 3) ||
        fcntl(fd, F_SETOWN_EX, &owner)) {
        puts("0 0");
        return 0;
    }
    arm();
    uint64_t last = cpu_ns(), now = last;
    for (uint32_t i = 0, seen = n_interrupts; i < N; seen = n_interrupts) {
        last = now;
        now = cpu_ns();
        if (n_interrupts == seen)
            continue;
        now = cpu_ns(); /* the one before may have been read in the interrupted system call */
        gaps[i++] = now - last;
    }
    qsort(gaps, N, sizeof gaps[0], compare);
    printf("%llu %llu\n", (unsigned long long)gaps[N / 2], (unsigned long long)(arming_ns / N));
    return 0;
}
