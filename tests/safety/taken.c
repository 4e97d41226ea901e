/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A program that replaces every descriptor that is not MPI's by a file of its own, also those of
 * events and memory files of a profiler. It prints how many of these numbers still have its file
 * when its threads have ended, and after MPI_Finalize. With the argument `error` it has a file with
 * data, error.RANK, in the place of standard error, and allows nobody to use what it makes then.
 */
#define _GNU_SOURCE
#include <mpi.h>

#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 4, MOST = 4096, LAST = 65536 };

static int taken[MOST], n_taken;
static struct stat mine;

static void *compute(void *unused)
{
    static volatile double sink;
    int flag;
    for (int i = 0; i < 20000000; i++)
        sink = sink + i;
    MPI_Iprobe(MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    return unused;
}

static bool is_observer(int fd)
{
    char path[64], target[300];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(path, target, sizeof target - 1);
    if (n < 0)
        return false;
    target[n] = '\0';
    return strstr(target, "perf_event") || strstr(target, "pcollect");
}

static void take_all(int file)
{
    for (int fd = 3; fd < LAST && n_taken < MOST; fd++)
        if (fd != file && is_observer(fd) && dup2(file, fd) == fd)
            taken[n_taken++] = fd;
}

static void take_error(int rank)
{
    char name[32];
    snprintf(name, sizeof name, "error.%d", rank);
    close(STDERR_FILENO);
    if (open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600) == STDERR_FILENO)
        fputs("data\n", stderr);
    umask(0777);
}

static int count_lost(void)
{
    struct stat st;
    int n = 0;
    for (int i = 0; i < n_taken; i++)
        n += fstat(taken[i], &st) || st.st_ino != mine.st_ino || st.st_dev != mine.st_dev;
    return n;
}

int main(int argc, char **argv)
{
    int provided, rank, file = -1;
    pthread_t threads[THREADS];
    char name[] = "taken.XXXXXX";
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int turn = 0; turn < 2; turn++) {
        for (int i = 0; i < THREADS; i++)
            pthread_create(&threads[i], NULL, compute, NULL);
        nanosleep(&(struct timespec){0, 20000000}, NULL);
        if (!turn) {
            file = mkstemp(name);
            unlink(name);
            fstat(file, &mine);
            take_all(file);
        }
        for (int i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
    }
    int before = count_lost();
    if (argc > 1 && !strcmp(argv[1], "error"))
        take_error(rank);
    MPI_Finalize();
    printf("rank %d: lost %d and %d\n", rank, before, count_lost());
    if (argc > 1)
        printf("rank %d: took %d\n", rank, n_taken);
    return 0;
}
