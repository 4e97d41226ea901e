/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Decides where the library's descriptors go in a process that belongs to the program, and how many
 * there may be. The program expects the lowest free numbers, and all numbers below its soft limit,
 * to be its own.
 *
 * The limit is one of numbers, not of open descriptors. So a process with one thread raises it for
 * the moment in which a descriptor gets a number above the program's, which takes no number from
 * the program. With several threads, another thread could see the raised limit, or pass it to a
 * child. Then a few numbers from the upper half are taken, and none if the program uses half of its
 * numbers.
 */
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
    PROGRAMS = 256,     /* numbers below this are only for the program */
    MOST_ABOVE = 1024,  /* numbers above the limit */
    LARGE = 65536,      /* descriptors are not scarce, and the kernel's table would grow */
    LOWEST_HIGH = 4096, /* high enough */
    MOST_INSIDE = 16384
};

extern char __libc_single_threaded __attribute__((weak)); /* glibc 2.32, musl 1.2.2 */

static bool may_raise(const struct rlimit *limit)
{
    return &__libc_single_threaded && __libc_single_threaded && limit->rlim_cur < LARGE &&
           limit->rlim_max > limit->rlim_cur;
}

uint32_t pc_descriptors_most(unsigned part)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit))
        return 0;
    if (may_raise(&limit))
        return limit.rlim_max - limit.rlim_cur < MOST_ABOVE
                   ? (uint32_t)(limit.rlim_max - limit.rlim_cur)
                   : MOST_ABOVE;
    if (limit.rlim_cur <= PROGRAMS)
        return 0;
    uint64_t n = (limit.rlim_cur - PROGRAMS) / part;
    return n < MOST_INSIDE ? (uint32_t)n : MOST_INSIDE;
}

static int move_above(int fd, const struct rlimit *limit)
{
    struct rlimit raised = {limit->rlim_max, limit->rlim_max};
    if (!may_raise(limit) || setrlimit(RLIMIT_NOFILE, &raised))
        return -1;
    int high = fcntl(fd, F_DUPFD_CLOEXEC, (int)limit->rlim_cur);
    setrlimit(RLIMIT_NOFILE, limit);
    return high;
}

static int move_inside(int fd, const struct rlimit *limit)
{
    int from = limit->rlim_cur / 2 > LOWEST_HIGH ? LOWEST_HIGH : (int)(limit->rlim_cur / 2);
    if ((rlim_t)fd >= limit->rlim_cur / 2 && limit->rlim_cur < LARGE) {
        errno = EMFILE;
        return -1;
    }
    return fcntl(fd, F_DUPFD_CLOEXEC, from);
}

int pc_descriptor_away(int fd)
{
    struct rlimit limit;
    if (fd < 0 || getrlimit(RLIMIT_NOFILE, &limit))
        return fd;
    int high = move_above(fd, &limit);
    if (high < 0)
        high = move_inside(fd, &limit);
    int err = errno;
    pc_file_close(fd);
    errno = err;
    return high;
}
