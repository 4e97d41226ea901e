/* SPDX-License-Identifier: BSD-3-Clause
 *
 * An MPI program that changes its surroundings in the way that its first argument names, and calls
 * MPI_Barrier seven times in all. The second argument is the folder in which the profiler collects.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* Closes all descriptors of files in the folder, like a program that closes descriptors that it has
 * not opened. */
static void close_in(const char *folder)
{
    char name[64], path[4096];
    for (int fd = 3; fd < 4096; fd++) {
        snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
        ssize_t n = readlink(name, path, sizeof path - 1);
        if (n <= 0)
            continue;
        path[n] = '\0';
        if (!strncmp(path, folder, strlen(folder)))
            close(fd);
    }
}

/* Limits the address space of the process to more_bytes more than it uses now. */
static void limit_memory(size_t more_bytes)
{
    unsigned long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f || fscanf(f, "%lu", &pages) != 1)
        exit(9);
    fclose(f);
    rlim_t bytes = pages * (rlim_t)sysconf(_SC_PAGESIZE) + more_bytes;
    struct rlimit limit = {bytes, bytes};
    setrlimit(RLIMIT_AS, &limit);
}

/* Lets the process have no more data than it has now: no new mapping, and no larger heap. */
static int limit_data(void)
{
    struct rlimit limit;
    unsigned long kib = 0;
    char line[256];
    FILE *f = fopen("/proc/self/status", "r");
    while (f && !kib && fgets(line, sizeof line, f))
        sscanf(line, "VmData: %lu", &kib);
    if (f)
        fclose(f);
    limit.rlim_cur = limit.rlim_max = kib * (rlim_t)1024;
    return kib && setrlimit(RLIMIT_DATA, &limit) == 0;
}

/* Makes the change that `way` names; returns 0 if the system does not allow it. */
static int change(const char *way, const char *folder)
{
    struct rlimit limit = {4096, 4096};
    if (!strcmp(way, "close"))
        close_in(folder);
    if (!strcmp(way, "chdir"))
        return chdir("/") == 0;
    if (!strcmp(way, "memory"))
        limit_memory((size_t)48 << 20);
    if (!strcmp(way, "data"))
        return limit_data();
    if (!strcmp(way, "file-size"))
        return setrlimit(RLIMIT_FSIZE, &limit) == 0;
    if (!strcmp(way, "chroot"))
        return chroot(folder) == 0 && chdir("/") == 0;
    if (!strcmp(way, "setuid"))
        return setgid(65534) == 0 && setuid(65534) == 0;
    return 1;
}

int main(int argc, char **argv)
{
    int rank, x, sum;
    if (argc < 3)
        return 9;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 6; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    if (!change(argv[1], argv[2]))
        return 9;
    x = rank + 1;
    MPI_Allreduce(&x, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    if (rank == 0)
        printf("%d\n", sum);
    return 0;
}
