/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Preloaded into a command, for tests: opening a file whose path contains PC_SLOW takes PC_SLOW_S
 * seconds.
 */
#define _GNU_SOURCE 1
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef int open_fn(const char *path, int flags, ...);

static void wait_for(const char *path)
{
    const char *slow = getenv("PC_SLOW"), *seconds = getenv("PC_SLOW_S");
    struct timespec left = {seconds ? atoi(seconds) : 0, 0};
    if (!slow || !strstr(path, slow))
        return;
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
