/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Cost of counting a stretch: count_cost WHO ROUNDS prints ns for a begin and an end around
 * nothing, by libpccount, by PAPI (-DPAPI), or by two bare system calls that switch one counter on
 * and off.
 */
#define _GNU_SOURCE 1

#include <linux/perf_event.h>
#include <pcollect/count.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#ifdef PAPI
#include <papi.h>
#endif

static long n_rounds;

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void say(double begin_ns)
{
    printf("%.1f\n", (now_ns() - begin_ns) / (double)n_rounds);
}

static void bare(void)
{
    struct perf_event_attr a = {.type = PERF_TYPE_SOFTWARE,
                                .size = sizeof a,
                                .config = PERF_COUNT_SW_PAGE_FAULTS,
                                .disabled = 1,
                                .exclude_kernel = 1};
    int fd = (int)syscall(SYS_perf_event_open, &a, 0, -1, -1, 0);
    if (fd < 0)
        exit(1);
    double begin = now_ns();
    for (long i = 0; i < n_rounds; i++) {
        ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
        ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
    }
    say(begin);
}

static void pcollect(int reads)
{
    struct pccount_values v;
    struct pccount *c = pccount_new("page-faults", NULL);
    if (!c || pccount_begin(c) || pccount_end(c))
        exit(1);
    double begin = now_ns();
    for (long i = 0; i < n_rounds; i++) {
        pccount_begin(c);
        pccount_end(c);
        if (reads)
            pccount_thread(c, &v);
    }
    say(begin);
}

static void papi(void)
{
#ifdef PAPI
    int set = PAPI_NULL;
    long long value;
    if (PAPI_library_init(PAPI_VER_CURRENT) != PAPI_VER_CURRENT || PAPI_create_eventset(&set) ||
        PAPI_add_named_event(set, "perf::PAGE-FAULTS"))
        exit(1);
    double begin = now_ns();
    for (long i = 0; i < n_rounds; i++) {
        PAPI_start(set);
        PAPI_stop(set, &value);
    }
    say(begin);
#else
    exit(1);
#endif
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    n_rounds = atol(argv[2]);
    if (!strcmp(argv[1], "bare"))
        bare();
    else if (!strcmp(argv[1], "pcollect") || !strcmp(argv[1], "and-read"))
        pcollect(*argv[1] == 'a');
    else
        papi();
    return 0;
}
