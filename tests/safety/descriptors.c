/* SPDX-License-Identifier: BSD-3-Clause
 *
 * An MPI program that uses all descriptors it may have, while THREADS threads work. It prints the
 * numbers that it gets, and how many there are below the limit; then it continues.
 *
 *     descriptors THREADS
 */
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

enum { MOST = 8192, MOST_THREADS = 64 };

static pthread_barrier_t begun, over;

static void *work(void *unused)
{
    pthread_barrier_wait(&begun);
    pthread_barrier_wait(&over);
    return unused;
}

static int count_descriptors(int *fds)
{
    int n = 0;
    while (n < MOST && (fds[n] = open("/dev/null", O_RDONLY)) >= 0)
        n++;
    if (errno != EMFILE)
        perror("open");
    for (int i = n; i-- > 0;)
        close(fds[i]);
    return n;
}

int main(int argc, char **argv)
{
    static int fds[MOST + 1];
    pthread_t threads[MOST_THREADS];
    struct rlimit limit;
    int rank, n_threads = argc > 1 ? atoi(argv[1]) : 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    pthread_barrier_init(&begun, NULL, (unsigned)n_threads + 1);
    pthread_barrier_init(&over, NULL, (unsigned)n_threads + 1);
    for (int i = 0; i < n_threads; i++)
        if (pthread_create(&threads[i], NULL, work, NULL))
            return 3;
    pthread_barrier_wait(&begun);
    int n = count_descriptors(fds);
    getrlimit(RLIMIT_NOFILE, &limit);
    pthread_barrier_wait(&over);
    for (int i = 0; i < n_threads; i++)
        pthread_join(threads[i], NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        printf("limits %lu %lu\ndescriptors %d\nnumbers", (unsigned long)limit.rlim_cur,
               (unsigned long)limit.rlim_max, n);
        for (int i = 0; i < n; i++)
            if (!i || fds[i] != fds[i - 1] + 1)
                printf(" %d", fds[i]); /* the first of those in a row */
        printf("\n");
    }
    MPI_Finalize();
    return 0;
}
