/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Preloaded into a command, for tests: opening a file whose path contains PC_SLOW takes PC_SLOW_S
 * seconds. With PC_SLOW_PID, the first time that process gets SIGUSR1 before, and the file is
 * opened when it runs another program or none, at most a minute later. With PC_SLOW_ENABLE, this is
 * so when the next event is enabled after the file was opened.
 */
#define _GNU_SOURCE 1
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

typedef int open_fn(const char *path, int flags, ...);
typedef int ioctl_fn(int fd, unsigned long request, ...);

static bool changes; /* the process, when an event is enabled */

static void change_program(const char *pid)
{
    static int changed;
    char link[64], before[4096], now[4096];
    snprintf(link, sizeof link, "/proc/%s/exe", pid);
    ssize_t n = readlink(link, before, sizeof before);
    if (n <= 0 || changed++ || kill(atoi(pid), SIGUSR1))
        return;
    for (int i = 0;
         i < 60000 && readlink(link, now, sizeof now) == n && !memcmp(before, now, (size_t)n); i++)
        usleep(1000);
}

static void wait_for(const char *path)
{
    const char *slow = getenv("PC_SLOW"), *seconds = getenv("PC_SLOW_S");
    const char *pid = getenv("PC_SLOW_PID");
    struct timespec left = {seconds ? atoi(seconds) : 0, 0};
    if (!slow || !strstr(path, slow))
        return;
    if (pid && getenv("PC_SLOW_ENABLE"))
        changes = true;
    else if (pid)
        change_program(pid);
    while (nanosleep(&left, &left) && errno == EINTR)
        ;
}

/* As pcollect opens most files. */
long call(long number, long a, long b, long c, long d, long e, long f) __asm__("syscall");
long call(long number, long a, long b, long c, long d, long e, long f)
{
    if (number == SYS_openat)
        wait_for((const char *)b);
    return ((long (*)(long, ...))dlsym(RTLD_NEXT, "syscall"))(number, a, b, c, d, e, f);
}

int open(const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    int mode = va_arg(args, int);
    va_end(args);
    wait_for(path);
    return ((open_fn *)dlsym(RTLD_NEXT, "open"))(path, flags, mode);
}

int open64(const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    int mode = va_arg(args, int);
    va_end(args);
    wait_for(path);
    return ((open_fn *)dlsym(RTLD_NEXT, "open64"))(path, flags, mode);
}

int ioctl(int fd, unsigned long request, ...)
{
    va_list args;
    va_start(args, request);
    void *argument = va_arg(args, void *);
    va_end(args);
    if (changes && request == PERF_EVENT_IOC_ENABLE)
        change_program(getenv("PC_SLOW_PID"));
    return ((ioctl_fn *)dlsym(RTLD_NEXT, "ioctl"))(fd, request, argument);
}
