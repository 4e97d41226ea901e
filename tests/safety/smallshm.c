/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A program that makes many contexts and then needs most of the space that /dev/shm had when it
 * started:
 *
 *     smallshm FILE [die|leave]
 *
 * Rank 0 makes FILE with 80 % of the space that was free, and touches it. It gets SIGBUS or an
 * error if somebody else has taken that space. With "die" the ranks kill themselves, with "leave"
 * they exit without MPI_Finalize. Ends with status 3 if the memory is refused.
 */
#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { DEPTH = 200, PATHS = 40 };

static int sink;

static void descend(int depth, int path)
{
    if (depth == 0 || depth % 50 == path % 50)
        MPI_Comm_rank(MPI_COMM_WORLD, &sink);
    if (depth == 0)
        return;
    if (path & 1 << depth % 6)
        descend(depth - 1, path);
    else
        descend(depth - 1, path);
    sink++;
}

static int take(const char *path, unsigned long bytes)
{
    int fd = open(path, O_CREAT | O_EXCL | O_RDWR, 0600);
    if (fd < 0 || ftruncate(fd, (off_t)bytes) || !bytes)
        return 3;
    char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    unlink(path);
    if (p == MAP_FAILED)
        return 3;
    memset(p, 1, bytes);
    munmap(p, bytes);
    close(fd);
    return 0;
}

int main(int argc, char **argv)
{
    struct statvfs fs;
    int rank, status = 0;
    unsigned long free_bytes =
        argc > 1 && !statvfs("/dev/shm", &fs) ? fs.f_bavail * fs.f_frsize : 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (!statvfs("/dev/shm", &fs) && fs.f_bavail * fs.f_frsize < free_bytes)
        free_bytes = fs.f_bavail * fs.f_frsize; /* MPI_Init has taken the difference */
    for (int path = 0; path < PATHS; path++)
        descend(DEPTH, path);
    MPI_Barrier(MPI_COMM_WORLD);
    if (argc > 2 && !strcmp(argv[2], "leave"))
        exit(0);
    if (argc > 2) {
        sleep(1); /* lets the other rank leave the barrier */
        kill(getpid(), SIGKILL);
    }
    if (rank == 0)
        status = take(argv[1], free_bytes / 5 * 4);
    MPI_Bcast(&status, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return status;
}
