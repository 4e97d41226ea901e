/* SPDX-License-Identifier: BSD-3-Clause
 *
 * An MPI program of which one rank or all end early. Its argument is one of:
 *     first   all kill themselves before their first call of MPI
 *     init    the last rank kills itself while the others are in MPI_Init; all compute before that
 *     asked   as init, and all have called MPI_Initialized before
 *     fork    all call MPI_Initialized and fork; the children are the ranks
 *     die     all kill themselves after a barrier
 *     setuid  all become the user nobody after MPI_Init
 *     orphan  each rank writes pid.RANK, waits until its parent has ended, and calls MPI_Init; rank
 *             0 calls MPI_Initialized before the wait, the others after it
 *     none    no rank ends early
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int number_of(const char *openmpi, const char *mpich)
{
    const char *text = getenv(openmpi);
    text = text ? text : getenv(mpich);
    return text ? atoi(text) : 0;
}

static void work(double seconds)
{
    clock_t end = clock() + (clock_t)(seconds * CLOCKS_PER_SEC);
    while (clock() < end)
        ;
}

static void say(const char *what, int rank)
{
    char name[40], text[40];
    snprintf(text, sizeof text, "%s.%d.tmp", what, rank);
    snprintf(name, sizeof name, "%s.%d", what, rank);
    FILE *f = fopen(text, "w");
    if (!f || fprintf(f, "%d\n", (int)getpid()) < 0 || fclose(f) || rename(text, name))
        exit(3);
}

static void become_orphan(int rank)
{
    int is_initialized;
    pid_t parent = getppid();
    if (rank == 0)
        MPI_Initialized(&is_initialized);
    say("pid", rank);
    for (int i = 0; i < 6000 && getppid() == parent; i++)
        usleep(10000);
    if (rank)
        MPI_Initialized(&is_initialized);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "none";
    int rank = number_of("OMPI_COMM_WORLD_RANK", "PMI_RANK"), is_initialized;
    int size = number_of("OMPI_COMM_WORLD_SIZE", "PMI_SIZE");
    if (strcmp(how, "first") == 0)
        kill(getpid(), SIGKILL);
    if (strcmp(how, "orphan") == 0)
        become_orphan(rank);
    if (strcmp(how, "asked") == 0)
        MPI_Initialized(&is_initialized);
    if (strcmp(how, "fork") == 0) {
        MPI_Initialized(&is_initialized);
        pid_t child = fork();
        if (child)
            return waitpid(child, &is_initialized, 0) != child || is_initialized;
    }
    if (strcmp(how, "init") == 0 || strcmp(how, "asked") == 0) {
        work(0.1);
        if (rank == size - 1) {
            sleep(1);
            kill(getpid(), SIGKILL);
        }
    }
    MPI_Init(&argc, &argv);
    if (strcmp(how, "setuid") == 0 && setuid(65534))
        return 1;
    MPI_Barrier(MPI_COMM_WORLD);
    if (strcmp(how, "die") == 0)
        kill(getpid(), SIGKILL);
    MPI_Finalize();
    return 0;
}
