/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pcollect doctor: the clock, timers and counters of this machine, tried by opening them.
 */
#include "command/doctor/doctor.h"
#include "counting/counting.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* The first line of a file, or "unknown". Allocated. */
static char *first_line(const char *path)
{
    char line[128] = "";
    FILE *f = fopen(path, "re");
    if (!f || !fgets(line, sizeof line, f))
        snprintf(line, sizeof line, "unknown");
    if (f)
        fclose(f);
    line[strcspn(line, "\n")] = '\0';
    return pct_text("%s", line);
}

static void check_clock(struct pct_examined *d)
{
    char *source = first_line("/sys/devices/system/clocksource/clocksource0/current_clocksource");
    pc_clock_init();
    if (pc_clock_is_counter)
        pct_doctor_add(d, PCT_GOOD, "clock",
                       pct_text("the processor's counter is invariant; the kernel uses %s", source),
                       NULL, NULL);
    else
        pct_doctor_add(
            d, PCT_LESS, "clock",
            pct_text("the processor has no invariant counter; the kernel uses %s", source),
            "each call of MPI takes some 50 ns longer, more if the kernel's clock is not tsc",
            NULL);
    pct_free(source);
}

static void check_timers(struct pct_examined *d)
{
    timer_t timer;
    struct timespec step = {0, 0};
    struct sigevent event = {.sigev_notify = SIGEV_NONE};
    clock_getres(CLOCK_MONOTONIC, &step);
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0) {
        pct_doctor_add(d, PCT_LESS, "timers", pct_text("none can be created: %s", strerror(errno)),
                       "computation is sampled by perf events, or not at all", NULL);
        return;
    }
    timer_delete(timer);
    if (step.tv_sec || step.tv_nsec > 1000)
        pct_doctor_add(
            d, PCT_LESS, "timers",
            pct_text("their resolution is %ld us", step.tv_sec * 1000000 + step.tv_nsec / 1000),
            "computation can be sampled no faster than that", NULL);
    else
        pct_doctor_add(d, PCT_GOOD, "timers", pct_text("their resolution is %ld ns", step.tv_nsec),
                       NULL, NULL);
}

/* ---- Perf events ---------------------------------------------------------------------------- */

static int open_event(uint32_t type, uint64_t config, int group)
{
    struct perf_event_attr a = {.size = sizeof a,
                                .type = type,
                                .config = config,
                                .disabled = group < 0,
                                .exclude_kernel = 1,
                                .exclude_hv = 1};
    return (int)syscall(SYS_perf_event_open, &a, 0, -1, group, PERF_FLAG_FD_CLOEXEC);
}

static char *describe_refusal(int reason, const struct pc_counting_paranoid *now)
{
    if (reason == ENOSYS)
        return pct_text("the kernel has no perf_event_open, or a container forbids it");
    if (reason == EACCES || reason == EPERM)
        return pct_text("%s: perf_event_paranoid %s%s", strerror(reason), now->text,
                        now->known && now->level < 3 ? ", so a container's filter forbids it" : "");
    if (reason == ENOENT || reason == EOPNOTSUPP)
        return pct_text("the machine has none, or its hypervisor hides them");
    return pct_text("%s", strerror(reason));
}

/* Cure of a refusal to open an event; NULL: not known. */
static const char *cure_refusal(int reason, const struct pc_counting_paranoid *now)
{
    if (reason == ENOENT || reason == EOPNOTSUPP)
        return "a machine that is not virtual, or a hypervisor that shows its counters";
    if (reason != ENOSYS && reason != EACCES && reason != EPERM)
        return NULL;
    return reason != ENOSYS && now->level > 2 ? "sysctl kernel.perf_event_paranoid=2"
                                              : "a container that allows perf_event_open";
}

static void check_software(struct pct_examined *d, const struct pc_counting_paranoid *now)
{
    int fd = open_event(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, -1);
    if (fd < 0) {
        int reason = errno;
        char *why = describe_refusal(reason, now);
        pct_doctor_add(
            d, PCT_LESS, "perf events", pct_text("none can be opened: %s", why),
            "computation is sampled by timers; page faults and migrations are not counted",
            cure_refusal(reason, now));
        pct_free(why);
        return;
    }
    close(fd);
    pct_doctor_add(d, PCT_GOOD, "perf events",
                   pct_text("software events open; perf_event_paranoid %s", now->text), NULL, NULL);
}

/* Number of such events that count at the same time, in one group. */
static int count_together(int *reason)
{
    static const uint64_t events[] = {
        PERF_COUNT_HW_CPU_CYCLES,    PERF_COUNT_HW_INSTRUCTIONS,
        PERF_COUNT_HW_CACHE_MISSES,  PERF_COUNT_HW_CACHE_REFERENCES,
        PERF_COUNT_HW_BRANCH_MISSES, PERF_COUNT_HW_BRANCH_INSTRUCTIONS,
        PERF_COUNT_HW_BUS_CYCLES,    PERF_COUNT_HW_REF_CPU_CYCLES};
    int fds[PC_ARRAY_LEN(events)], n = 0;
    *reason = 0;
    for (size_t i = 0; i < PC_ARRAY_LEN(events); i++) {
        int fd = open_event(PERF_TYPE_HARDWARE, events[i], n ? fds[0] : -1);
        if (fd >= 0)
            fds[n++] = fd;
        else if (!n && !*reason)
            *reason = errno;
    }
    for (int i = n; i-- > 0;)
        close(fds[i]);
    return n;
}

static void check_hardware(struct pct_examined *d, const struct pc_counting_paranoid *now)
{
    int reason, n = count_together(&reason);
    if (n) {
        pct_doctor_add(d, PCT_GOOD, "counters",
                       pct_text("%d common events of the processor can be counted together", n),
                       NULL, NULL);
        return;
    }
    char *why = describe_refusal(reason, now);
    pct_doctor_add(d, PCT_LESS, "counters",
                   pct_text("no event of the processor can be opened: %s", why),
                   "cycles, instructions and cache misses are not counted; computation is sampled "
                   "by time",
                   cure_refusal(reason, now));
    pct_free(why);
}

void pct_doctor_machine(struct pct_examined *d)
{
    struct pc_counting_paranoid now = pc_counting_paranoid();
    check_clock(d);
    check_timers(d);
    check_software(d, &now);
    check_hardware(d, &now);
}
