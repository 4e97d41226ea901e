/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the system says of a process, in small files of /proc. No malloc: it is also asked while a
 * process starts.
 */
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

size_t pc_read_small(const char *path, char *out, size_t n)
{
    int keep = errno;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? -1 : read(fd, out, n - 1);
    if (fd >= 0)
        close(fd);
    errno = keep;
    out[got > 0 ? got : 0] = '\0';
    return got > 0 ? (size_t)got : 0;
}

bool pc_process_look(int pid, struct pc_process_facts *out)
{
    char path[64], text[1024];
    pc_format(path, sizeof path, "/proc/%d/stat", pid);
    if (!pc_read_small(path, text, sizeof text))
        return false;
    const char *at = strrchr(text, ')'); /* the name may hold anything */
    if (!at || at[1] != ' ' || !at[2])
        return false;
    struct pc_process_facts facts = {
        .pid = pid, .parent = (int)strtol(at + 3, NULL, 10), .state = at[2]};
    for (int field = 2; at && field < 22; field++)
        at = strchr(at + 1, ' ');
    if (!at)
        return false;
    facts.start = strtoull(at, NULL, 10);
    *out = facts;
    return true;
}
