/* SPDX-License-Identifier: BSD-3-Clause
 *
 * kills FOLDER ROUNDS: each rank makes ROUNDS collective calls and keeps the number of those that
 * have returned in FOLDER/count.RANK, which outlives a kill. FOLDER/pid.RANK exists when the first
 * call has been made, FOLDER/end.RANK when the last has returned. With 0 ROUNDS the calls end when
 * FOLDER/stop exists. A rank calls MPI_Finalized each 10 ms while FOLDER/stay.RANK exists, at least
 * once if it did. It ends by _exit if FOLDER/leave exists.
 */
#include <mpi.h>

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static int open_file(const char *folder, const char *name, int rank)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.%d", folder, name, rank);
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (fd < 0) {
        perror(path);
        exit(1);
    }
    return fd;
}

/* Writes the pid into a file that a reader finds complete or not at all. */
static void tell_pid(const char *folder, int rank)
{
    char from[4096], to[4096];
    int fd = open_file(folder, "new", rank);
    dprintf(fd, "%d\n", (int)getpid());
    close(fd);
    snprintf(from, sizeof from, "%s/new.%d", folder, rank);
    snprintf(to, sizeof to, "%s/pid.%d", folder, rank);
    rename(from, to);
}

static bool is_there(const char *folder, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return access(path, F_OK) == 0;
}

static void stay(const char *folder, int rank, volatile uint64_t *count)
{
    const struct timespec nap = {0, 10000000};
    char name[32];
    int is_finalized;
    snprintf(name, sizeof name, "stay.%d", rank);
    while (is_there(folder, name)) {
        nanosleep(&nap, NULL);
        MPI_Finalized(&is_finalized);
        ++*count;
    }
}

int main(int argc, char **argv)
{
    int rank, last = 0, rounds = argc == 3 ? atoi(argv[2]) : 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int fd = open_file(argv[1], "count", rank);
    if (ftruncate(fd, sizeof(uint64_t)))
        return 1;
    volatile uint64_t *count = mmap(NULL, sizeof *count, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    for (int i = 0; !last; i++) {
        struct timespec nap = {0, 1000000};
        int mine = rounds ? i + 1 >= rounds : rank == 0 && is_there(argv[1], "stop");
        MPI_Allreduce(&mine, &last, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        *count = (uint64_t)i + 1;
        if (i == 0)
            tell_pid(argv[1], rank);
        nanosleep(&nap, NULL);
    }
    close(open_file(argv[1], "end", rank));
    MPI_Finalize();
    stay(argv[1], rank, count);
    if (is_there(argv[1], "leave"))
        _exit(0);
    return 0;
}
