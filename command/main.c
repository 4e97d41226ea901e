/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The main program of `pcollect`, which is one run in the sense of analysis/allocation.h. It runs
 * on a stack of its own where the limit of the stack is small.
 */
#include "analysis/allocation.h"
#include "command/command.h"
#include "command/launch/run.h"
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#ifdef HAVE_MAKECONTEXT
#include <ucontext.h>
#endif

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

static void run(struct process *p)
{
    if (pct_memory_run(NULL, work, p)) {
        say_no_memory();
        p->status = PCT_DATA;
    }
}

/* ---- Stack ----------------------------------------------------------------------------------- */

#ifdef HAVE_MAKECONTEXT
/* Bytes of a stack that is exchanged if it is smaller, and of the one that is used then. libdw
 * needs some 200 KiB at once to read lines (dwarf_getsrclines of elfutils 0.188). */
enum { LEAST_STACK = 1 << 20, USUAL_STACK = 8 << 20 };

static struct process *on_stack; /* makecontext passes no pointers */

static void run_on_stack(void)
{
    run(on_stack);
}

/* Leaves the limit as it is, which programs that are started inherit. False: the stack is large
 * enough, or there is no other one. */
static bool run_elsewhere(struct process *p)
{
    struct rlimit limit;
    ucontext_t here, there;
    if (getrlimit(RLIMIT_STACK, &limit) || limit.rlim_cur >= LEAST_STACK || getcontext(&there))
        return false;
    size_t guard = (size_t)sysconf(_SC_PAGESIZE);
    char *stack = mmap(NULL, USUAL_STACK, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (stack == MAP_FAILED)
        return false;
    mprotect(stack, guard, PROT_NONE);
    there.uc_stack.ss_sp = stack + guard;
    there.uc_stack.ss_size = USUAL_STACK - guard;
    there.uc_link = &here;
    on_stack = p;
    makecontext(&there, run_on_stack, 0);
    return !swapcontext(&here, &there);
}
#else
static bool run_elsewhere(struct process *p)
{
    (void)p;
    return false;
}
#endif

int main(int argc, char **argv)
{
    hold_standard_streams();
    struct process p = {.argc = argc, .argv = argv};
    if (!run_elsewhere(&p))
        run(&p);
    /* A full disk at standard output is detected here. */
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "pcollect: standard output cannot be written: %s\n", strerror(errno));
        if (p.status == PCT_DONE)
            p.status = PCT_DATA;
    }
    /* A shell ends a script if what it waited for died of the interrupt. */
    if (pct_job_ended().signal == SIGINT && !fflush(NULL)) {
        signal(SIGINT, SIG_DFL);
        raise(SIGINT);
    }
    return p.status;
}
