/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Interrupts the sampler's handler by a signal of the program after its first instruction, after
 * its second, and so on to its last, by the single steps of a tracer.
 *
 *     stepped STRIDE PROGRAM [ARGUMENT...]
 *
 * runs the program, which is sampled, and traces its main thread. Each time the sampler's signal is
 * delivered, the tracer steps more instructions of the handler than the last time: one more within
 * the first and the last EDGE instructions, STRIDE more in between. Then it sends SIGALRM to this
 * thread, because the kernel chooses no thread that a tracer has stopped. The signal mask, which
 * does not have SIGALRM, shows that the kernel would choose it. When the last instruction of the
 * handler has been interrupted, SIGTERM is sent. A handler that ends before its place is stepped
 * again, because one may be short: another interrupt came meanwhile. Prints the number of places
 * that were interrupted, and ends with the program's status.
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

enum { EDGE = 100, MOST = 100000, RETRIES = 10, SAMPLER_SIGNAL = SIGURG };

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

/* True in the sampler's handler: a signal that glibc keeps for itself is blocked, and the program's
 * SIGALRM is not. */
static bool is_in_handler(void)
{
    uint64_t mask;
    if (ptrace(PTRACE_GETSIGMASK, child, sizeof mask, &mask))
        exit(3);
    return mask >> 31 & 1 && !(mask >> (SIGALRM - 1) & 1);
}

/* Delivers the signal and steps the first n instructions of its handler, or all if it has fewer.
 * Returns their number. *next is set if another interrupt came as soon as the handler had ended. */
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

/* Continues the program with this signal. Returns the next signal to be delivered. */
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
    await(); /* stops at its exec */
    int signal = 0;
    bool warm = false;
    int n_shorter = 0;
    for (length = 0;;) {
        signal = run_to_signal(signal);
        if (signal == SIGTRAP) /* the program called exec */
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
            n_shorter = 0;
            at += at < EDGE || at > length - EDGE ? 1 : stride;
        } else if (++n_shorter > RETRIES) {
            kill(child, SIGTERM);
            printf("interrupted in %ld places of %ld\n", n, at);
            fflush(stdout);
            warm = false;
        }
        signal = next;
    }
}
