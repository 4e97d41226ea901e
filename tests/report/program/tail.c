/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Calls that the compiler turns into tail calls: a chain with one possible path, one possible path
 * of several, one through an inlined function, and two paths. With SURE only those that gdb
 * resolves.
 */
#include <mpi.h>

#define KEPT __attribute__((noinline))

int last(int n);
int one_way(int n);
int one_of_two(int n);
int through_inlined(int n);
int two_ways(int n);
extern int sink;
int sink;

KEPT static int leaf(int n)
{
    MPI_Barrier(MPI_COMM_WORLD);
    sink += n; /* the call above stays a call */
    return sink;
}

KEPT int last(int n)
{
    return leaf(n + 1);
}

KEPT static int middle(int n)
{
    return last(n * 2);
}

KEPT int one_way(int n)
{
    return middle(n + 3);
}

/* Leads to leaf by one of its two tail calls. */
KEPT static int aside(int n)
{
    sink ^= n;
    return sink;
}

KEPT int one_of_two(int n)
{
    if (sink > 1000000)
        return aside(n);
    return middle(n + 4);
}

static inline __attribute__((always_inline)) int inlined(int n)
{
    return last(n - 7);
}

KEPT int through_inlined(int n)
{
    return inlined(n * 3);
}

/* Leads to leaf by both tail calls. */
KEPT int two_ways(int n)
{
    if (n & 1)
        return last(n + 5);
    return middle(n - 5);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    sink += one_way(argc);
    sink += one_of_two(argc);
#ifndef SURE
    sink += through_inlined(argc);
    sink += two_ways(argc);
#endif
    sink += leaf(argc);
    MPI_Finalize();
    return 0;
}
