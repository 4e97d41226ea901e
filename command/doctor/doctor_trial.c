/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Helpers of all checks of pcollect doctor: adds a finding, and runs a trial in a child, which may
 * crash.
 */
#include "command/doctor/doctor.h"

#include "analysis/buffer.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

void pct_doctor_add(struct pct_examined *d, enum pct_health health, const char *about, char *found,
                    const char *cost, const char *cure)
{
    d->findings = pct_grow(d->findings, d->n, &d->room, sizeof *d->findings);
    d->findings[d->n++] = (struct pct_finding){health, about, found, cost, cure};
}

/* ---- A child -------------------------------------------------------------------------------- */

static char *read_all(int fd)
{
    enum { ROOM = 1 << 16 };
    char *text = pct_alloc(ROOM, 1);
    pct_read_answer(fd, text, ROOM);
    return text;
}

char *pct_doctor_apart(void (*fn)(int fd, const void *arg), const void *arg)
{
    int ends[2], status = -1;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return NULL;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        int null = open("/dev/null", O_RDWR);
        dup2(null, STDIN_FILENO);
        dup2(null, STDOUT_FILENO);
        dup2(null, STDERR_FILENO);
        fn(ends[1], arg);
        _exit(0);
    }
    close(ends[1]);
    char *text = child > 0 ? read_all(ends[0]) : NULL;
    close(ends[0]);
    if (child > 0) {
        kill(child, SIGKILL); /* ends a hanging child */
        while (waitpid(child, &status, 0) < 0 && errno == EINTR)
            ;
    }
    if (status != 0 && text && !*text) {
        pct_free(text);
        return NULL;
    }
    return text;
}
