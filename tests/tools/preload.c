/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Replaces libpcollect.so in the tests of `pcollect run`: each process into which it is loaded adds
 * one line, its name and its PCOLLECT_RUN, to the file PRELOAD_LOG.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

__attribute__((constructor)) static void tell(void)
{
    const char *path = getenv("PRELOAD_LOG"), *run = getenv("PCOLLECT_RUN");
    char line[200];
    int fd = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
    if (fd < 0)
        return;
    int n = snprintf(line, sizeof line, "%s %s\n", program_invocation_short_name, run ? run : "-");
    if (write(fd, line, (size_t)n) != n)
        abort();
    close(fd);
}
