/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Truth program `mix`: collectives. Bytes sent and received are those that the arguments of this
 * rank describe, whatever the algorithm does. A call in place counts as one that is not. Arguments
 * that MPI ignores on a rank are null.
 */
#include "tests/mpi/mix.h"

#include <stdlib.h>
#include <string.h>

#define N 32 /* at most this many ranks */

static int out[N * N], in[N * N];

/* Counts, offsets and types of the vector forms: rank i has i + 1 integers, with gaps between the
 * parts of the ranks. */
struct parts {
    int counts[N], offsets[N], byte_offsets[N];
    int same[N]; /* integers that this rank sends to each */
    MPI_Datatype types[N];
    int sum; /* of the counts */
};

static void make_parts(const struct place *p, struct parts *a)
{
    a->sum = 0;
    for (int i = 0; i < p->n; i++) {
        a->counts[i] = i + 1;
        a->same[i] = p->rank + 1;
        a->offsets[i] = i * N;
        a->byte_offsets[i] = 4 * i * N;
        a->types[i] = MPI_INT;
        a->sum += i + 1;
    }
}

TRUTH_FUNCTION static void rooted(const struct place *p, int root)
{
    MPI_Comm c = p->c;
    int me = p->rank == root, n = p->n;
    void *to = me ? in : NULL, *from = me ? out : NULL;
    ENTER;
    MPI(Bcast, me ? 12 : 0, me ? 0 : 12, (in, 3, MPI_INT, root, c));
    MPI(Reduce, 16, me ? 16 : 0, (out, to, 2, MPI_DOUBLE, MPI_SUM, root, c));
    MPI(Gather, 8, me ? 8 * n : 0, (out, 2, MPI_INT, to, 2, MPI_INT, root, c));
    MPI(Scatter, me ? 8 * n : 0, 8, (from, 2, MPI_INT, in, 2, MPI_INT, root, c));
    if (me) {
        MPI(Reduce, 4, 4, (MPI_IN_PLACE, in, 1, MPI_INT, MPI_MAX, root, c));
        MPI(Gather, 8, 8 * n, (MPI_IN_PLACE, 0, MPI_INT, in, 2, MPI_INT, root, c));
        MPI(Scatter, 8 * n, 8, (in, 2, MPI_INT, MPI_IN_PLACE, 0, MPI_INT, root, c));
    } else {
        MPI(Reduce, 4, 0, (out, NULL, 1, MPI_INT, MPI_MAX, root, c));
        MPI(Gather, 8, 0, (out, 2, MPI_INT, NULL, 0, MPI_INT, root, c));
        MPI(Scatter, 0, 8, (NULL, 0, MPI_INT, out, 2, MPI_INT, root, c));
    }
    LEAVE;
}

TRUTH_FUNCTION static void among_all(const struct place *p)
{
    MPI_Comm c = p->c;
    int n = p->n, counts[N];
    void *here = MPI_IN_PLACE;
    ENTER;
    for (int i = 0; i < n; i++)
        counts[i] = i;
    MPI(Barrier, 0, 0, (c));
    MPI(Allreduce, 12, 12, (out, in, 3, MPI_INT, MPI_SUM, c));
    MPI(Allreduce, 8, 8, (here, in, 1, MPI_DOUBLE, MPI_MIN, c));
    MPI(Allgather, 8, 8 * n, (out, 2, MPI_INT, in, 2, MPI_INT, c));
    MPI(Allgather, 8, 8 * n, (here, 0, MPI_INT, in, 2, MPI_INT, c));
    MPI(Alltoall, 4 * n, 4 * n, (out, 1, MPI_INT, in, 1, MPI_INT, c));
    MPI(Alltoall, 4 * n, 4 * n, (here, 0, MPI_INT, in, 1, MPI_INT, c));
    MPI(Scan, 4, 4, (out, in, 1, MPI_INT, MPI_SUM, c));
    MPI(Exscan, 4, p->rank ? 4 : 0, (out, in, 1, MPI_INT, MPI_SUM, c));
    MPI(Reduce_scatter_block, 8 * n, 8, (out, in, 2, MPI_INT, MPI_SUM, c));
    MPI(Reduce_scatter, 2 * n * (n - 1), 4 * p->rank, (out, in, counts, MPI_INT, MPI_SUM, c));
    MPI(Allreduce, 0, 0, (out, in, 0, MPI_INT, MPI_SUM, c));
    LEAVE;
}

void mix_collectives(const struct place *p)
{
    ENTER;
    memset(out, 0, sizeof out);
    DO(rooted(p, 0));
    DO(rooted(p, p->n - 1));
    DO(among_all(p));
    LEAVE;
}

TRUTH_FUNCTION static void vector_rooted(const struct place *p, int root)
{
    MPI_Comm c = p->c;
    struct parts a;
    int me = p->rank == root, n = p->rank + 1, *counts, *at;
    void *to = me ? in : NULL, *from = me ? out : NULL;
    ENTER;
    make_parts(p, &a);
    counts = me ? a.counts : NULL;
    at = me ? a.offsets : NULL;
    MPI(Gatherv, 4 * n, me ? 4 * a.sum : 0, (out, n, MPI_INT, to, counts, at, MPI_INT, root, c));
    MPI(Scatterv, me ? 4 * a.sum : 0, 4 * n, (from, counts, at, MPI_INT, in, n, MPI_INT, root, c));
    LEAVE;
}

TRUTH_FUNCTION static void vector_all(const struct place *p)
{
    MPI_Comm c = p->c;
    struct parts a;
    int n = p->rank + 1, s, *counts = a.counts, *at = a.offsets, *mine = a.same;
    void *here = MPI_IN_PLACE;
    ENTER;
    make_parts(p, &a);
    s = 4 * n * p->n;
    MPI(Allgatherv, 4 * n, 4 * a.sum, (out, n, MPI_INT, in, counts, at, MPI_INT, c));
    MPI(Allgatherv, 4 * n, 4 * a.sum, (here, 0, MPI_INT, in, counts, at, MPI_INT, c));
    MPI(Alltoallv, s, 4 * a.sum, (out, mine, at, MPI_INT, in, counts, at, MPI_INT, c));
    at = a.byte_offsets;
    MPI(Alltoallw, s, 4 * a.sum, (out, mine, at, a.types, in, counts, at, a.types, c));
    LEAVE;
}

void mix_collectives_vector(const struct place *p)
{
    ENTER;
    DO(vector_rooted(p, 0));
    DO(vector_rooted(p, p->n / 2));
    DO(vector_all(p));
    LEAVE;
}

TRUTH_FUNCTION static void posted(const struct place *p, int root, MPI_Request *r)
{
    MPI_Comm c = p->c;
    int me = p->rank == root, n = p->n;
    static int a[10][N * N];
    ENTER;
    MPI(Ibarrier, 0, 0, (c, r++));
    MPI(Ibcast, me ? 12 : 0, me ? 0 : 12, (a[0], 3, MPI_INT, root, c, r++));
    MPI(Ireduce, 16, me ? 16 : 0, (out, a[1], 2, MPI_DOUBLE, MPI_SUM, root, c, r++));
    MPI(Igather, 8, me ? 8 * n : 0, (out, 2, MPI_INT, a[2], 2, MPI_INT, root, c, r++));
    MPI(Iscatter, me ? 8 * n : 0, 8, (out, 2, MPI_INT, a[3], 2, MPI_INT, root, c, r++));
    MPI(Iallreduce, 12, 12, (out, a[4], 3, MPI_INT, MPI_SUM, c, r++));
    MPI(Iallgather, 8, 8 * n, (out, 2, MPI_INT, a[5], 2, MPI_INT, c, r++));
    MPI(Ialltoall, 4 * n, 4 * n, (out, 1, MPI_INT, a[6], 1, MPI_INT, c, r++));
    MPI(Iscan, 4, 4, (out, a[7], 1, MPI_INT, MPI_SUM, c, r++));
    MPI(Iexscan, 4, p->rank ? 4 : 0, (out, a[8], 1, MPI_INT, MPI_SUM, c, r++));
    MPI(Ireduce_scatter_block, 8 * n, 8, (out, a[9], 2, MPI_INT, MPI_SUM, c, r++));
    LEAVE;
}

TRUTH_FUNCTION static void posted_vector(const struct place *p, struct parts *a, MPI_Request *r)
{
    MPI_Comm c = p->c;
    static int b[5][N * N];
    int n = p->rank + 1, me = !p->rank, *q = a->counts, *at = a->offsets;
    int all = 4 * a->sum, root = me ? all : 0, s = 4 * n * p->n, *wat = a->byte_offsets;
    MPI_Datatype *t = a->types;
    ENTER;
    MPI(Igatherv, 4 * n, root, (out, n, MPI_INT, b[0], q, at, MPI_INT, 0, c, r++));
    MPI(Iscatterv, root, 4 * n, (out, q, at, MPI_INT, b[1], n, MPI_INT, 0, c, r++));
    MPI(Iallgatherv, 4 * n, all, (out, n, MPI_INT, b[2], q, at, MPI_INT, c, r++));
    MPI(Ialltoallv, s, all, (out, a->same, at, MPI_INT, b[3], q, at, MPI_INT, c, r++));
    MPI(Ialltoallw, s, all, (out, a->same, wat, t, b[4], q, wat, t, c, r++));
    MPI(Ireduce_scatter, all, 4 * n, (out, in, q, MPI_INT, MPI_SUM, c, r++));
    LEAVE;
}

void mix_collectives_nonblocking(const struct place *p)
{
    MPI_Request r[17];
    struct parts a;
    ENTER;
    make_parts(p, &a);
    DO(posted(p, 0, r));
    MPI(Waitall, 0, 0, (11, r, MPI_STATUSES_IGNORE));
    DO(posted(p, p->n - 1, r));
    DO(posted_vector(p, &a, r + 11));
    for (int i = 16; i >= 0; i--)
        MPI(Wait, 0, 0, (&r[i], MPI_STATUS_IGNORE));
    LEAVE;
}
