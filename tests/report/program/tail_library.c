/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Tail calls into libraries, which know the function that is called by another name: that of a
 * library of this file (with LIBRARY), and one of libc, which takes most of 0.7 s of CPU time.
 */
#define _GNU_SOURCE 1

#include <mpi.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define KEPT __attribute__((noinline))

int work(int n);

#ifdef LIBRARY
int inner_work(int n);
int work(int n) __attribute__((alias("inner_work")));

int inner_work(int n)
{
    MPI_Barrier(MPI_COMM_WORLD);
    return n + 1; /* the call above stays a call */
}
#else
static char block[1 << 20];

KEPT static int step(int n)
{
    return work(n + 1);
}

KEPT static ssize_t put_block(int fd)
{
    return pwrite(fd, block, sizeof block, 0);
}

int main(int argc, char **argv)
{
    FILE *file = tmpfile();
    MPI_Init(&argc, &argv);
    if (!file || step(argc) != argc + 2)
        return 2;
    while (clock() < 7 * (CLOCKS_PER_SEC / 10))
        if (put_block(fileno(file)) < 0)
            return 2;
    MPI_Finalize();
    return 0;
}
#endif
