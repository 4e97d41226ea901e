/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Interrupts the sampler's handler by a signal of the program behind its first instruction, its
 * second one, and so on to its last, in steps of a tracer.
 *
 *     stepped STRIDE PROGRAM [ARGUMENT...]
 *
 * runs the program, which is sampled, and traces its main thread. Whenever the sampler's signal is
 * delivered, so many instructions more than the last time are done one by one; then SIGALRM is
 * sent, to this thread: to the kernel one that is stopped by a tracer is none that could be chosen.
 * That it would be is told by its mask, which does not have SIGALRM. The first and last EDGE
 * instructions are done one more each time, those in between STRIDE more. As soon as the handler's
 * last instruction has been interrupted SIGTERM is sent. Prints how many places were interrupted,
 * and ends with the program's status.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { EDGE = 100, MOST = 100000, SAMPLER_SIGNAL = SIGURG };

static pid_t child;

static void end_with(int status)
{
    if (WIFSIGNALED(status))
        printf("ended by signal %d\n", WTERMSIG(status));
    exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

static int await(void)
{
    int status;
    while (waitpid(child, &status, __WALL) != child)
        if (errno != EINTR)
            exit(3);
    if (!WIFSTOPPED(status))
        end_with(status);
    return WSTOPSIG(status);
}

/* The two signals that glibc has for itself are blocked, and the program's are not. */
static bool is_in_handler(void)
{
    uint64_t mask;
    if (ptrace(PTRACE_GETSIGMASK, child, sizeof mask, &mask))
        exit(3);
    return mask >> 31 & 1 && !(mask >> (SIGALRM - 1) & 1);
}

/* Delivers the signal and does the first n instructions of its handler, or as many as it has, which
 * is the result. *next: another interrupt came at once when it was over. */
static long step(int signal, long n, int *next)
{
    for (long i = 0; i <= n; i++) {
        ptrace(PTRACE_SINGLESTEP, child, NULL, (void *)(intptr_t)(i ? 0 : signal));
        int stopped = await();
        if (stopped == SAMPLER_SIGNAL) {
            *next = stopped;
            return i - 1;
        }
        if (stopped != SIGTRAP) {
            printf("signal %d after %ld instructions\n", stopped, i);
            exit(1);
        }
        if ((i == n || n == MOST) && !is_in_handler())
            return i;
    }
    return n;
}

/* The next signal that is to be delivered. */
static int run_to_signal(int signal)
{
    ptrace(PTRACE_CONT, child, NULL, (void *)(intptr_t)signal);
    return await();
}

int main(int argc, char **argv)
{
    long stride = argc > 2 ? atol(argv[1]) : 0, at = 0, n = 0, length;
    if (stride < 1)
        return 2;
    child = fork();
    if (!child) {
        ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        execvp(argv[2], argv + 2);
        _exit(127);
    }
    await(); /* at its exec */
    int signal = 0;
    bool warm = false;
    for (length = 0;;) {
        signal = run_to_signal(signal);
        if (signal == SIGTRAP) /* it has become another program */
            signal = 0;
        if (signal == SIGUSR1) { /* the program is ready */
            warm = true;
            continue;
        }
        if (signal != SAMPLER_SIGNAL || !warm)
            continue;
        int next = 0;
        if (!length) {
            length = step(signal, MOST, &next);
        } else if (step(signal, at, &next) == at && !next && is_in_handler()) {
            syscall(SYS_tgkill, child, child, SIGALRM);
            n++;
            at += at < EDGE || at > length - EDGE ? 1 : stride;
        } else { /* it was shorter */
            kill(child, SIGTERM);
            printf("interrupted in %ld places of %ld\n", n, at);
            fflush(stdout);
            warm = false;
        }
        signal = next;
    }
}
