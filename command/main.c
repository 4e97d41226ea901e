/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The main program of `pcollect`, which is one run in the sense of analysis/allocation.h.
 */
#include "analysis/allocation.h"
#include "command/command.h"
#include "command/launch/run.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

struct process {
    int argc;
    char **argv;
    int status;
};

static void work(void *process)
{
    struct process *p = process;
    p->status = pct_command_line(p->argc, p->argv);
}

/* Takes the numbers of standard streams that are closed, so that no file gets one of them, and with
 * it the messages. Reading and writing still fail, and a job finds these streams closed. */
static void hold_standard_streams(void)
{
    int fd;
    do
        fd = open("/", O_PATH | O_CLOEXEC);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0)
        close(fd);
}

/* Says that memory is short, and which limit this process has. */
static void say_no_memory(void)
{
    struct rlimit space, data;
    bool spaces = !getrlimit(RLIMIT_AS, &space) && space.rlim_cur != RLIM_INFINITY;
    bool datas = !getrlimit(RLIMIT_DATA, &data) && data.rlim_cur != RLIM_INFINITY;
    fprintf(stderr, "pcollect: not enough memory%s\n",
            spaces  ? "; raise its limit (ulimit -v)"
            : datas ? "; raise its limit (ulimit -d)"
                    : "");
}

int main(int argc, char **argv)
{
    hold_standard_streams();
    struct process p = {.argc = argc, .argv = argv};
    if (pct_memory_run(NULL, work, &p)) {
        say_no_memory();
        p.status = PCT_DATA;
    }
    /* A full disk at standard output is detected here. */
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "pcollect: standard output cannot be written: %s\n", strerror(errno));
        if (p.status == PCT_DONE)
            p.status = PCT_DATA;
    }
    /* A shell ends a script if what it waited for died of the interrupt. */
    if (pct_job_killed().signal == SIGINT && !fflush(NULL)) {
        signal(SIGINT, SIG_DFL);
        raise(SIGINT);
    }
    return p.status;
}
