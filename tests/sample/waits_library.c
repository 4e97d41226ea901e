/* SPDX-License-Identifier: BSD-3-Clause
 *
 * io_getevents as in libaio, for waits.c: it returns the error and leaves errno unchanged.
 */
#define _GNU_SOURCE 1

#include <errno.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int io_getevents(void *context, long least, long n, void *events, struct timespec *timeout);

int io_getevents(void *context, long least, long n, void *events, struct timespec *timeout)
{
    int saved = errno;
    long result = syscall(SYS_io_getevents, context, least, n, events, timeout);
    if (result < 0) {
        result = -errno;
        errno = saved;
    }
    return (int)result;
}
