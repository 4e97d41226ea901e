/* SPDX-License-Identifier: BSD-3-Clause
 *
 * `start_mpi [CONTEXTS]`: times for the start and the end of a rank that calls MPI from as many
 * contexts. Each rank prints microseconds: CPU time of the process when main begins (loading and
 * linking), wall time of MPI_Init, of MPI_Finalize, and of an MPI_Allreduce of BYTES for each
 * context, which is more than a rank sends in the merge.
 */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { BYTES = 80 };

static double us(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

/* Calls MPI once from each of up to 2^depth contexts. */
static __attribute__((noinline)) void call_from_contexts(int depth, long *left)
{
    int rank;
    if (!depth && *left > 0) {
        (*left)--;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    }
    if (!depth || *left <= 0)
        return;
    call_from_contexts(depth - 1, left);
    __asm__ volatile("" : : : "memory"); /* two calls, neither of them the last */
    call_from_contexts(depth - 1, left);
    __asm__ volatile("" : : : "memory");
}

static double reduce(long bytes)
{
    char *of_rank = calloc(2, (size_t)bytes + 1);
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = us(CLOCK_MONOTONIC);
    MPI_Allreduce(of_rank, of_rank + bytes, (int)bytes, MPI_BYTE, MPI_BOR, MPI_COMM_WORLD);
    double took = us(CLOCK_MONOTONIC) - begin;
    free(of_rank);
    return took;
}

int main(int argc, char **argv)
{
    double loaded = us(CLOCK_PROCESS_CPUTIME_ID), begin = us(CLOCK_MONOTONIC);
    MPI_Init(&argc, &argv);
    double started = us(CLOCK_MONOTONIC) - begin;
    long contexts = argc > 1 ? atol(argv[1]) : 0, left = contexts;
    int depth = 0;
    while (1L << depth < contexts)
        depth++;
    call_from_contexts(depth, &left);
    double reduced = reduce(BYTES * contexts);
    MPI_Barrier(MPI_COMM_WORLD);
    begin = us(CLOCK_MONOTONIC);
    MPI_Finalize();
    printf("%.1f %.1f %.1f %.1f\n", loaded, started, us(CLOCK_MONOTONIC) - begin, reduced);
    return 0;
}
