/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Preloaded into a command, for tests: opening a file whose path contains PC_SLOW takes PC_SLOW_S
 * seconds. With PC_SLOW_PID, the first time that process gets SIGUSR1 before, and the file is
 * opened when it runs another program or none, at most a minute later.
 */
#define _GNU_SOURCE 1
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef int open_fn(const char *path, int flags, ...);

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
    if (pid)
        change_program(pid);
    while (nanosleep(&left, &left) && errno == EINTR)
        ;
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
