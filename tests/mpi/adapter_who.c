/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Who is counted. Sends five messages by MPI_Send and three by PMPI_Send, and says what it is told
 * by the host and by the tool (adapter_tool.c), which is preloaded before or behind the host:
 *     calls of MPI_Send that were counted, calls that the tool saw, arguments of MPI_Pcontrol that
 *     the tool got
 */
#include "tests/mpi/adapter_rules.h"

#include <pthread.h>

#define N_THREADS 8
static pthread_barrier_t start;

/* The first MPI call of the process, by all threads at once. */
static void *ask(void *arg)
{
    int flag = 1;
    pthread_barrier_wait(&start);
    MPI_Initialized(&flag);
    return flag ? arg : NULL;
}

static void race(void)
{
    pthread_t threads[N_THREADS];
    void *wrong;
    pthread_barrier_init(&start, NULL, N_THREADS);
    for (int i = 0; i < N_THREADS; i++)
        pthread_create(&threads[i], NULL, ask, &start);
    for (int i = 0; i < N_THREADS; i++) {
        pthread_join(threads[i], &wrong);
        failures += wrong != NULL;
    }
}

int main(int argc, char **argv)
{
    int x = 0, seven = 7;
    race();
    MPI_Init(&argc, &argv);
    MPI_Pcontrol(1, "solve", &seven, 2.5, -3L);
    for (int i = 0; i < 8; i++) {
        MPI_Request request;
        PMPI_Irecv(&x, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &request);
        if (i < 5)
            MPI_Send(&i, 1, MPI_INT, 0, 0, MPI_COMM_SELF);
        else
            PMPI_Send(&i, 1, MPI_INT, 0, 0, MPI_COMM_SELF);
        PMPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    adapter_host_count_fn *count =
        (adapter_host_count_fn *)dlsym(RTLD_DEFAULT, "adapter_host_count");
    int *n_tool = (int *)dlsym(RTLD_DEFAULT, "tool_sends");
    int *n_arguments = (int *)dlsym(RTLD_DEFAULT, "tool_arguments");
    printf("counted %d tool %d arguments %d init %d initialized %d\n",
           count ? (int)count("MPI_Send") : -1, n_tool ? *n_tool : -1,
           n_arguments ? *n_arguments : -1, count ? (int)count("MPI_Init") : -1,
           count ? (int)count("MPI_Initialized") : -1);
    MPI_Finalize();
    return failures;
}
