/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What all checks of pcollect doctor need: to note a finding, and to try something in a child that
 * may die of it.
 */
#include "tools/doctor.h"

#include "report/text.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

void pct_doctor_add(struct pct_patient *d, enum pct_health health, const char *about, char *found,
                    const char *cost, const char *cure)
{
    struct pct_finding *more = realloc(d->findings, (d->n + 1) * sizeof *more);
    if (more == NULL) {
        pct_say(d->self, "no memory");
        exit(PCT_DATA);
    }
    d->findings = more;
    more[d->n++] = (struct pct_finding){health, about, found, cost, cure};
}

/* ---- A child -------------------------------------------------------------------------------- */

/* Reads to the end, or for 20 s. */
static char *read_all(int fd)
{
    size_t n = 0, room = 1 << 16;
    char *text = pct_alloc(room, 1);
    uint64_t end = pc_mono_ns() + UINT64_C(20000000000);
    while (n + 1 < room) {
        uint64_t now = pc_mono_ns();
        struct pollfd p = {.fd = fd, .events = POLLIN};
        if (now >= end || poll(&p, 1, (int)((end - now) / 1000000) + 1) == 0)
            break;
        ssize_t got = read(fd, text + n, room - 1 - n);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        n += (size_t)got;
    }
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
        kill(child, SIGKILL); /* it has ended, or hangs */
        while (waitpid(child, &status, 0) < 0 && errno == EINTR)
            ;
    }
    if (status != 0 && text && !*text) {
        free(text);
        return NULL;
    }
    return text;
}
