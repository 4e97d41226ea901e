/* SPDX-License-Identifier: BSD-3-Clause
 *
 * paused STAY: a program whose work is left out by MPI_Pcontrol: it touches 4096 pages for the
 * first time and makes system calls for half a second. With STAY it never switches on again.
 */
#define _DEFAULT_SOURCE
#include <mpi.h>

#include <stdio.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { PAGES = 4096 };

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int main(int argc, char **argv)
{
    size_t size = (size_t)sysconf(_SC_PAGESIZE);
    MPI_Init(&argc, &argv);
    MPI_Pcontrol(0);
    char *pages =
        mmap(NULL, PAGES * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
        MPI_Abort(MPI_COMM_WORLD, 1);
    madvise(pages, PAGES * size, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < PAGES; i++)
        pages[i * size] = 1;
    for (double end = now_s() + 0.5; now_s() < end;)
        getppid();
    if (argc < 2)
        MPI_Pcontrol(1);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
