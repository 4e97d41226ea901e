/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Calls MPI in a handler of SIGPROF, every so many microseconds of CPU time.
 */
#include <mpi.h>
#include <signal.h>
#include <stddef.h>
#include <sys/time.h>

int start(int us);
int stop(void);

static volatile int n_calls;

static void handle(int signal)
{
    int flag;
    (void)signal;
    MPI_Initialized(&flag);
    n_calls++;
}

int start(int us)
{
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART};
    struct itimerval timer = {{0, us}, {0, us}};
    handle(0); /* what the first call of all needs is no affair of a handler */
    sigaction(SIGPROF, &action, NULL);
    return setitimer(ITIMER_PROF, &timer, NULL);
}

int stop(void)
{
    struct itimerval none = {{0, 0}, {0, 0}};
    setitimer(ITIMER_PROF, &none, NULL);
    return n_calls;
}
