/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Functions that begin with a guard, which gcc -O2 splits: the guard is inlined, the rest is
 * called. One is called by main, one calls itself, one ends with a call of MPI.
 */
#include <mpi.h>

static int a[64], b[64];

static void reduce(int n)
{
    for (int i = 0; i < n; i++)
        MPI_Allreduce(a, b, 8, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static void work(int n)
{
    if (n <= 0)
        return;
    reduce(n);
    MPI_Barrier(MPI_COMM_WORLD);
    reduce(n);
    for (int i = 0; i < n; i++)
        MPI_Bcast(a, 16, MPI_INT, 0, MPI_COMM_WORLD);
    for (int i = 0; i < n; i++)
        MPI_Bcast(b, 16, MPI_INT, 0, MPI_COMM_WORLD);
}

void again(int n);
void again(int n)
{
    if (n <= 0)
        return;
    for (int i = 0; i < n; i++)
        MPI_Allreduce(a, b, 16, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    again(n - 2);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < n; i++)
        MPI_Bcast(a, 16, MPI_INT, 0, MPI_COMM_WORLD);
    again(n - 1);
    MPI_Barrier(MPI_COMM_WORLD);
    a[1]++; /* the call above stays a call */
}

void last(int n);
void last(int n)
{
    if (n <= 0)
        return;
    for (int i = 0; i < n; i++)
        MPI_Allreduce(a, b, 32, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < n; i++)
        MPI_Bcast(a, 32, MPI_INT, 0, MPI_COMM_WORLD);
    a[2]++;
    for (int i = 0; i < n; i++)
        MPI_Allreduce(a, b, 33, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Bcast(b, 32, MPI_INT, 0, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    work(argc);
    MPI_Barrier(MPI_COMM_WORLD);
    work(argc - 1);
    work(argc + 1);
    again(argc + 1);
    last(argc);
    a[3]++;
    last(argc + 1);
    MPI_Finalize();
    return 0;
}
