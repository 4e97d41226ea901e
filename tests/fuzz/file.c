/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Inputs as files for readers that take a path. Used by the targets.
 */
#include "tests/fuzz/fuzz.h"

#include <sys/mman.h>
#include <unistd.h>

const char *fuzz_file(const void *data, size_t n, int *fd_out)
{
    static char path[64];
    int fd = memfd_create("input", MFD_CLOEXEC);
    FUZZ_REQUIRE(fd >= 0 && write(fd, data, n) == (ssize_t)n, "no file in memory");
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    *fd_out = fd;
    return path;
}

void fuzz_file_close(int fd)
{
    close(fd);
}
