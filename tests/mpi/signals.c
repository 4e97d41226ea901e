/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Signals of a timer interrupt a program at any instruction, in the profiler too, in any thread.
 * Their handler calls MPI_Initialized. Prints the number of calls of MPI_Initialized and
 * MPI_Iprobe.
 */
#include <mpi.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>

#define N_SIGNALS 150

static atomic_long n_initialized, n_iprobe;

static void on_alarm(int number)
{
    int flag;
    (void)number;
    MPI_Initialized(&flag);
    n_initialized++;
}

__attribute__((noinline)) static void probe(void)
{
    int flag;
    for (int i = 0; i < 3; i++)
        MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
    n_iprobe += 3;
}

/* A frame whose size is known at run time only. */
__attribute__((noinline)) static void varying(int n)
{
    char array[n % 2000 + 1];
    __asm__ volatile("" : : "r"(array) : "memory");
    probe();
    __asm__ volatile("" : : "r"(array) : "memory");
}

int main(int argc, char **argv)
{
    struct sigaction action;
    struct itimerval timer = {{0, 200}, {0, 200}};
    MPI_Init(&argc, &argv);
    memset(&action, 0, sizeof action);
    action.sa_handler = on_alarm;
    action.sa_flags = SA_RESTART;
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &timer, NULL);
    for (int i = 0; i < 50000 || n_initialized < N_SIGNALS; i++)
        varying(7 * i);
    memset(&timer, 0, sizeof timer);
    setitimer(ITIMER_REAL, &timer, NULL);
    MPI_Finalize();
    printf("%ld %ld\n", atomic_load(&n_initialized), atomic_load(&n_iprobe));
    return 0;
}
