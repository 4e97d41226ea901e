/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Collectives with one block of N, or of 1 + rank, elements for each rank: blocking, nonblocking,
 * persistent. Compiled twice.
 */
#include "tests/mpi/calls.h"

#include <string.h>

/* clang-format off: a call is one line of source */

enum { N = 3, MOST = 8 };

static int in[64], out[64];
static count_type same_counts[MOST], rising[MOST];
static disp_type displs[MOST];
static MPI_Datatype types[MOST];
static MPI_Info none;

/* Elements of all blocks of 1 + rank. */
static int sum_of(int n)
{
    return n * (n + 1) / 2;
}

static void prepare(void)
{
    for (int i = 0; i < MOST; i++) {
        same_counts[i] = N;
        rising[i] = 1 + i;
        displs[i] = 4 * i;
        types[i] = MPI_INT;
    }
    none = MPI_INFO_NULL;
}

#define IF_ROOT(bytes) (p->rank == 0 ? (bytes) : 0)
#define IF_LEAF(bytes) (p->rank != 0 ? (bytes) : 0)

/* name(args), Iargs, request and name_init(args, info, request) by one line each. */
#define B(name, small, sent, received, ...) X(name, sent, received, (__VA_ARGS__))
#define I(name, small, sent, received, ...)                                                        \
    X(I##small, sent, received, (__VA_ARGS__, &r)), MPI(Wait, 0, 0, (&r, MPI_STATUS_IGNORE))
/* MPICH 4.0's persistent scatter fails when it is started again on four ranks. */
#define P(name, small, sent, received, ...)                                                        \
    do {                                                                                           \
        X(name##_init, 0, 0, (__VA_ARGS__, none, &r));                                             \
        for (int i = 0; i < (strncmp(#name, "Scatter", 7) ? 2 : 1); i++) {                         \
            MPI(Start, sent, received, (&r));                                                      \
            MPI(Wait, 0, 0, (&r, MPI_STATUS_IGNORE));                                              \
        }                                                                                          \
        MPI(Request_free, 0, 0, (&r));                                                             \
    } while (0)

#define COLLECTIVES(function, C)                                                                   \
    TRUTH_FUNCTION static void function(const struct calls *p)                                     \
    {                                                                                              \
        MPI_Request r;                                                                             \
        int n = p->n, k = p->rank + 1, all = sum_of(p->n);                                         \
        (void)r;                                                                                   \
        ENTER;                                                                                     \
        C(Bcast, bcast, IF_ROOT(INTS(N)), IF_LEAF(INTS(N)), out, N, MPI_INT, 0, p->c);             \
        C(Reduce, reduce, INTS(N), IF_ROOT(INTS(N)), out, in, N, MPI_INT, MPI_SUM, 0, p->c);       \
        C(Allreduce, allreduce, INTS(N), INTS(N), out, in, N, MPI_INT, MPI_MAX, p->c);             \
        C(Allreduce, allreduce, INTS(N), INTS(N), MPI_IN_PLACE, in, N, MPI_INT, MPI_MAX, p->c);    \
        C(Scan, scan, INTS(N), INTS(N), out, in, N, MPI_INT, MPI_SUM, p->c);                       \
        C(Exscan, exscan, INTS(N), IF_LEAF(INTS(N)), out, in, N, MPI_INT, MPI_SUM, p->c);          \
        C(Gather, gather, INTS(N), IF_ROOT(INTS(N *n)), out, N, MPI_INT, in, N, MPI_INT, 0, p->c); \
        C(Gatherv, gatherv, INTS(k), IF_ROOT(INTS(all)), out, k, MPI_INT, in, rising, displs,      \
          MPI_INT, 0, p->c);                                                                       \
        C(Scatter, scatter, IF_ROOT(INTS(N *n)), INTS(N), out, N, MPI_INT, in, N, MPI_INT, 0,      \
          p->c);                                                                                   \
        C(Scatterv, scatterv, IF_ROOT(INTS(all)), INTS(k), out, rising, displs, MPI_INT, in, k,    \
          MPI_INT, 0, p->c);                                                                       \
        C(Allgather, allgather, INTS(N), INTS(N *n), out, N, MPI_INT, in, N, MPI_INT, p->c);       \
        C(Allgather, allgather, INTS(N), INTS(N *n), MPI_IN_PLACE, 0, MPI_INT, in, N, MPI_INT,     \
          p->c);                                                                                   \
        C(Allgatherv, allgatherv, INTS(k), INTS(all), out, k, MPI_INT, in, rising, displs,         \
          MPI_INT, p->c);                                                                          \
        C(Alltoall, alltoall, INTS(N *n), INTS(N *n), out, N, MPI_INT, in, N, MPI_INT, p->c);      \
        C(Alltoallv, alltoallv, INTS(N *n), INTS(N *n), out, same_counts, displs, MPI_INT, in,     \
          same_counts, displs, MPI_INT, p->c);                                                     \
        C(Alltoallw, alltoallw, INTS(N *n), INTS(N *n), out, same_counts, displs, types, in,       \
          same_counts, displs, types, p->c);                                                       \
        C(Reduce_scatter, reduce_scatter, INTS(all), INTS(k), out, in, rising, MPI_INT, MPI_SUM,   \
          p->c);                                                                                   \
        C(Reduce_scatter_block, reduce_scatter_block, INTS(N *n), INTS(N), out, in, N, MPI_INT,    \
          MPI_SUM, p->c);                                                                          \
        LEAVE;                                                                                     \
    }

COLLECTIVES(blocking, B)
COLLECTIVES(nonblocking, I)
#if CALLS_MPI_4
COLLECTIVES(persistent, P)
#endif

#ifndef CALLS_LARGE
TRUTH_FUNCTION static void barriers(const struct calls *p)
{
    MPI_Request r;
    ENTER;
    MPI(Barrier, 0, 0, (p->c));
    MPI(Ibarrier, 0, 0, (p->c, &r));
    MPI(Wait, 0, 0, (&r, MPI_STATUS_IGNORE));
#if CALLS_MPI_4
    MPI(Barrier_init, 0, 0, (p->c, none, &r));
    MPI(Start, 0, 0, (&r));
    MPI(Wait, 0, 0, (&r, MPI_STATUS_IGNORE));
    MPI(Request_free, 0, 0, (&r));
#endif
    LEAVE;
}
#endif

TRUTH_FUNCTION void CALLS(calls_collectives)(const struct calls *p)
{
    ENTER;
    prepare();
    X(Reduce_local, 0, 0, (out, in, N, MPI_INT, MPI_SUM));
    DO(blocking(p));
    DO(nonblocking(p));
#if CALLS_MPI_4
    DO(persistent(p));
#endif
#ifndef CALLS_LARGE
    DO(barriers(p));
#endif
    LEAVE;
}
