/* SPDX-License-Identifier: BSD-3-Clause
 *
 * An MPI program of which the last rank that the launcher started, or each, ends early:
 *     first   all kill themselves before their first call of MPI
 *     init    the last kills itself, while the others are in MPI_Init; each works a while before
 *     asked   the same, and each has called MPI_Initialized before
 *     die     each kills itself after a barrier
 *     setuid  becomes the user nobody after MPI_Init
 *     none    no rank does
 */
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
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

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "none";
    int rank = number_of("OMPI_COMM_WORLD_RANK", "PMI_RANK"), is_initialized;
    int size = number_of("OMPI_COMM_WORLD_SIZE", "PMI_SIZE");
    if (strcmp(how, "first") == 0)
        kill(getpid(), SIGKILL);
    if (strcmp(how, "asked") == 0)
        MPI_Initialized(&is_initialized);
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
