/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Preloaded into `pcollect run`: a process that lowers its priority, as the writer of a checkpoint
 * does, adds its pid to the file PC_HELD.began and continues when the file PC_HELD is gone.
 */
#define _GNU_SOURCE 1
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

typedef int setpriority_fn(int which, unsigned who, int priority);

/* Declared here, because <sys/resource.h> of different C libraries declares it with different
 * types. */
int setpriority(int which, unsigned who, int priority);

int setpriority(int which, unsigned who, int priority)
{
    const char *held = getenv("PC_HELD");
    char name[4096];
    if (held) {
        snprintf(name, sizeof name, "%s.began", held);
        int fd = open(name, O_WRONLY | O_CREAT | O_APPEND, 0600);
        dprintf(fd, "%d\n", (int)getpid());
        close(fd);
        while (access(held, F_OK) == 0)
            nanosleep(&(struct timespec){0, 10000000}, NULL);
    }
    return ((setpriority_fn *)dlsym(RTLD_NEXT, "setpriority"))(which, who, priority);
}
