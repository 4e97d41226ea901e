/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A program whose page faults are known: a given number before each barrier, another before each
 * reduction, and no others between them. Arguments: rounds, pages before a barrier, pages before a
 * reduction, short calls after all (default: 10, 20, 7, 0).
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static size_t page;

/* Touches fresh pages, each of which faults once; the memory was taken before. */
static __attribute__((noinline)) char *touch(char *at, long n)
{
    for (long i = 0; i < n; i++, at += page)
        *(volatile char *)at = 1;
    return at;
}

static __attribute__((noinline)) char *before_barrier(char *at, long n)
{
    at = touch(at, n);
    MPI_Barrier(MPI_COMM_WORLD);
    return at;
}

static __attribute__((noinline)) char *before_reduction(char *at, long n)
{
    int one = 1, sum;
    at = touch(at, n);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return at;
}

int main(int argc, char **argv)
{
    long rounds = argc > 1 ? atol(argv[1]) : 10;
    long barrier = argc > 2 ? atol(argv[2]) : 20, reduction = argc > 3 ? atol(argv[3]) : 7;
    long calls = argc > 4 ? atol(argv[4]) : 0;
    int rank;
    page = (size_t)sysconf(_SC_PAGESIZE);
    size_t bytes = (size_t)(rounds * (barrier + reduction) + 1) * page;
    MPI_Init(&argc, &argv);
    char *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED || madvise(at, bytes, MADV_NOHUGEPAGE))
        return 1;
    for (long i = 0; i < rounds; i++) {
        at = before_barrier(at, barrier);
        at = before_reduction(at, reduction);
    }
    for (long i = 0; i < calls; i++)
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Finalize();
    printf("%ld %ld\n", rounds * barrier, rounds * reduction);
    return 0;
}
