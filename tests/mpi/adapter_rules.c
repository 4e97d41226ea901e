/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Every byte rule compared with its closed form, on any number of ranks: the whole world, a part of
 * it, an intercommunicator, a grid, a graph; in place, of no length, of MPI_PROC_NULL, of derived
 * types.
 */
#include "tests/mpi/adapter_rules.h"

#define N 64
static double a[4096], b[4096];
static int counts[N], counts2[N], displs[N], bytes_displs[N];
static MPI_Datatype types[N], pair; /* pair: 2 doubles with a hole */

/* counts[i] = i + 1, counts2[i] = n - i; their sums are n(n+1)/2. */
static void fill(int n)
{
    for (int i = 0, d = 0; i < n; i++) {
        counts[i] = i + 1;
        counts2[i] = n - i;
        displs[i] = d;
        bytes_displs[i] = 8 * d;
        d += n;
        types[i] = MPI_DOUBLE;
    }
}

static void point_to_point(void)
{
    int next = (rank + 1) % size, last = (rank + size - 1) % size;
    MPI_Request request;
    MPI_Status status;
    MPI_Message message;
    int flag, n;
    static char buffer[100000];
    MPI_Buffer_attach(buffer, sizeof buffer);
    CALL(Isend, (a, 3, MPI_DOUBLE, next, 7, MPI_COMM_WORLD, &request), 24, 0);
    CALL(Recv, (b, 10, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
         0, 24);
    EXPECT(seen.peer, last);
    EXPECT(seen.tag, 7);
    MPI_Wait(&request, MPI_STATUS_IGNORE); /* to itself it may end with the receive only */
    CALL_I(Ibsend, (a, 3, pair, next, 7, MPI_COMM_WORLD, &request), 48, 0);
    CALL(Recv, (b, 10, pair, last, 7, MPI_COMM_WORLD, &status), 0, 48);
    MPI_Get_elements(&status, MPI_BYTE, &n);
    CALL(Bsend, (a, 5, MPI_INT, next, 8, MPI_COMM_WORLD), 20, 0);
    EXPECT(seen.peer, next);
    CALL(Mprobe, (last, 8, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE), 0, 0);
    CALL(Mrecv, (b, 100, MPI_INT, &message, MPI_STATUS_IGNORE), 0, 20);
    CALL(Sendrecv,
         (a, 1, MPI_FLOAT_INT, next, 1, b, 9, MPI_FLOAT_INT, last, 1, MPI_COMM_WORLD, &status), 8,
         8);
    CALL(Sendrecv_replace, (a, 6, MPI_CHAR, next, 1, last, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE), 6,
         6);
    CALL(Send, (a, 100, MPI_DOUBLE, MPI_PROC_NULL, 1, MPI_COMM_WORLD), 0, 0);
    CALL(Ssend, (a, 100, MPI_DOUBLE, MPI_PROC_NULL, 1, MPI_COMM_WORLD), 0, 0);
    CALL(Rsend, (a, 100, MPI_DOUBLE, MPI_PROC_NULL, 1, MPI_COMM_WORLD), 0, 0);
    CALL(Recv, (b, 10, MPI_DOUBLE, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &status), 0, 0);
    CALL(Sendrecv,
         (a, 2, MPI_INT, MPI_PROC_NULL, 1, b, 9, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD,
          MPI_STATUS_IGNORE),
         0, 0);
    EXPECT(seen.peer, MPI_PROC_NULL);
    MPI_Isend(a, 1, MPI_INT, next, 2, MPI_COMM_WORLD, &request);
    CALL(Sendrecv,
         (a, 2, MPI_INT, MPI_PROC_NULL, 1, b, 9, MPI_INT, last, 2, MPI_COMM_WORLD,
          MPI_STATUS_IGNORE),
         0, 4);
    EXPECT(seen.peer, MPI_PROC_NULL);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CALL_I(Issend, (a, 3, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &request), 0, 0);
    CALL_I(Irsend, (a, 3, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &request), 0, 0);
    CALL(Iprobe, (MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE), 0, 0);
    CALL(Isend, (a, 0, MPI_INT, next, 1, MPI_COMM_WORLD, &request), 0, 0);
    CALL(Probe, (last, 1, MPI_COMM_WORLD, &status), 0, 0);
    CALL(Recv, (b, 10, MPI_INT, last, 1, MPI_COMM_WORLD, &status), 0, 0);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Buffer_detach(&request, &n);
}

/* One of an intracommunicator with p ranks, of which this is me; world and parts alike. */
static void rooted(MPI_Comm comm, int p, int me)
{
    int root = p - 1, sum = p * (p + 1) / 2;
    MPI_Request request;
    fill(p);
    CALL(Barrier, (comm), 0, 0);
    CALL(Bcast, (a, 5, pair, root, comm), me == root ? 80 : 0, me == root ? 0 : 80);
    EXPECT(seen.root, root);
    CALL(Bcast, (a, 0, MPI_INT, root, comm), 0, 0);
    CALL(Reduce, (a, b, 5, MPI_INT, MPI_SUM, root, comm), 20, me == root ? 20 : 0);
    CALL(Reduce, (me == root ? MPI_IN_PLACE : (void *)a, b, 5, MPI_INT, MPI_SUM, root, comm), 20,
         me == root ? 20 : 0);
    CALL(Gather, (a, 3, MPI_INT, b, 3, MPI_INT, root, comm), 12, me == root ? 12 * p : 0);
    CALL(Gather, (me == root ? MPI_IN_PLACE : (void *)a, 3, MPI_INT, b, 3, MPI_INT, root, comm), 12,
         me == root ? 12 * p : 0);
    CALL(Gatherv, (a, me + 1, MPI_INT, b, counts, displs, MPI_INT, root, comm), 4 * (me + 1),
         me == root ? 4 * sum : 0);
    CALL(Gatherv,
         (me == root ? MPI_IN_PLACE : (void *)a, me + 1, MPI_INT, b, counts, displs, MPI_INT, root,
          comm),
         4 * (me + 1), me == root ? 4 * sum : 0);
    CALL(Scatter, (a, 3, MPI_INT, b, 3, MPI_INT, root, comm), me == root ? 12 * p : 0, 12);
    CALL(Scatter, (a, 3, MPI_INT, me == root ? MPI_IN_PLACE : (void *)b, 3, MPI_INT, root, comm),
         me == root ? 12 * p : 0, 12);
    CALL(Scatterv, (a, counts, displs, MPI_INT, b, me + 1, MPI_INT, root, comm),
         me == root ? 4 * sum : 0, 4 * (me + 1));
    CALL(Scatterv,
         (a, counts, displs, MPI_INT, me == root ? MPI_IN_PLACE : (void *)b, me + 1, MPI_INT, root,
          comm),
         me == root ? 4 * sum : 0, 4 * (me + 1));
    CALL_I(Ibarrier, (comm, &request), 0, 0);
    CALL_I(Ibcast, (a, 5, pair, root, comm, &request), me == root ? 80 : 0, me == root ? 0 : 80);
    CALL_I(Ireduce, (a, b, 5, MPI_INT, MPI_SUM, root, comm, &request), 20, me == root ? 20 : 0);
    CALL_I(Igather, (a, 3, MPI_INT, b, 3, MPI_INT, root, comm, &request), 12,
           me == root ? 12 * p : 0);
    CALL_I(Igatherv, (a, me + 1, MPI_INT, b, counts, displs, MPI_INT, root, comm, &request),
           4 * (me + 1), me == root ? 4 * sum : 0);
    CALL_I(Iscatter, (a, 3, MPI_INT, b, 3, MPI_INT, root, comm, &request), me == root ? 12 * p : 0,
           12);
    CALL_I(Iscatterv, (a, counts, displs, MPI_INT, b, me + 1, MPI_INT, root, comm, &request),
           me == root ? 4 * sum : 0, 4 * (me + 1));
}

static void all_to_all(MPI_Comm comm, int p, int me)
{
    int sum = p * (p + 1) / 2;
    fill(p);
    CALL(Allreduce, (a, b, 5, MPI_DOUBLE, MPI_SUM, comm), 40, 40);
    CALL(Allreduce, (MPI_IN_PLACE, b, 5, MPI_DOUBLE, MPI_SUM, comm), 40, 40);
    CALL(Scan, (a, b, 5, MPI_DOUBLE, MPI_SUM, comm), 40, 40);
    CALL(Exscan, (a, b, 5, MPI_DOUBLE, MPI_SUM, comm), 40, me ? 40 : 0);
    CALL(Allgather, (a, 3, MPI_INT, b, 3, MPI_INT, comm), 12, 12 * p);
    CALL(Allgather, (MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, b, 3, MPI_INT, comm), 12, 12 * p);
    CALL(Allgatherv, (a, me + 1, MPI_INT, b, counts, displs, MPI_INT, comm), 4 * (me + 1), 4 * sum);
    CALL(Allgatherv, (MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, b, counts, displs, MPI_INT, comm),
         4 * (me + 1), 4 * sum);
    CALL(Alltoall, (a, 2, MPI_DOUBLE, b, 2, MPI_DOUBLE, comm), 16 * p, 16 * p);
    CALL(Alltoall, (MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, b, 2, MPI_DOUBLE, comm), 16 * p, 16 * p);
    for (int i = 0; i < p; i++) /* what i sends to me and I to i: me + 1, i + 1 */
        counts2[i] = me + 1;
    CALL(Alltoallv, (a, counts, displs, MPI_DOUBLE, b, counts2, displs, MPI_DOUBLE, comm), 8 * sum,
         8 * p * (me + 1));
    CALL(Alltoallw, (a, counts, bytes_displs, types, b, counts2, bytes_displs, types, comm),
         8 * sum, 8 * p * (me + 1));
    CALL(Reduce_scatter, (a, b, counts, MPI_INT, MPI_SUM, comm), 4 * sum, 4 * (me + 1));
    CALL(Reduce_scatter_block, (a, b, 3, MPI_INT, MPI_SUM, comm), 12 * p, 12);
}

static void nonblocking_all_to_all(MPI_Comm comm, int p, int me)
{
    int sum = p * (p + 1) / 2;
    MPI_Request request;
    fill(p);
    for (int i = 0; i < p; i++)
        counts2[i] = me + 1;
    CALL_I(Iallreduce, (a, b, 5, MPI_DOUBLE, MPI_SUM, comm, &request), 40, 40);
    CALL_I(Iscan, (a, b, 5, MPI_DOUBLE, MPI_SUM, comm, &request), 40, 40);
    CALL_I(Iexscan, (a, b, 5, MPI_DOUBLE, MPI_SUM, comm, &request), 40, me ? 40 : 0);
    CALL_I(Iallgather, (a, 3, MPI_INT, b, 3, MPI_INT, comm, &request), 12, 12 * p);
    CALL_I(Iallgatherv, (a, me + 1, MPI_INT, b, counts, displs, MPI_INT, comm, &request),
           4 * (me + 1), 4 * sum);
    CALL_I(Ialltoall, (a, 2, MPI_DOUBLE, b, 2, MPI_DOUBLE, comm, &request), 16 * p, 16 * p);
    CALL_I(Ialltoallv,
           (a, counts, displs, MPI_DOUBLE, b, counts2, displs, MPI_DOUBLE, comm, &request), 8 * sum,
           8 * p * (me + 1));
    CALL_I(Ialltoallw,
           (a, counts, bytes_displs, types, b, counts2, bytes_displs, types, comm, &request),
           8 * sum, 8 * p * (me + 1));
    CALL_I(Ireduce_scatter, (a, b, counts, MPI_INT, MPI_SUM, comm, &request), 4 * sum,
           4 * (me + 1));
    CALL_I(Ireduce_scatter_block, (a, b, 3, MPI_INT, MPI_SUM, comm, &request), 12 * p, 12);
}

/* Two groups, rank 0 alone and the others: sizes differ. */
static void between_groups(void)
{
    MPI_Comm half, inter;
    int me, mine, theirs, low = rank == 0, root;
    MPI_Comm_split(MPI_COMM_WORLD, low, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, low ? 1 : 0, 5, &inter);
    MPI_Comm_rank(half, &me);
    MPI_Comm_size(half, &mine);
    theirs = size - mine;
    root = low ? MPI_ROOT : 0;
    CALL(Bcast, (a, 5, MPI_INT, root, inter), low ? 20 : 0, low ? 0 : 20);
    CALL(Gather, (a, 3, MPI_INT, b, 3, MPI_INT, root, inter), low ? 0 : 12, low ? 12 * theirs : 0);
    CALL(Scatter, (a, 3, MPI_INT, b, 3, MPI_INT, root, inter), low ? 12 * theirs : 0, low ? 0 : 12);
    CALL(Reduce, (a, b, 5, MPI_INT, MPI_SUM, root, inter), low ? 0 : 20, low ? 20 : 0);
    root = low ? 0 : (me == 0 ? MPI_ROOT : MPI_PROC_NULL);
    CALL(Bcast, (a, 5, MPI_INT, root, inter), !low && me == 0 ? 20 : 0, low ? 20 : 0);
    CALL(Reduce, (a, b, 5, MPI_INT, MPI_SUM, root, inter), low ? 20 : 0, !low && me == 0 ? 20 : 0);
    CALL(Allgather, (a, 3, MPI_INT, b, 3, MPI_INT, inter), 12, 12 * theirs);
    CALL(Alltoall, (a, 3, MPI_INT, b, 3, MPI_INT, inter), 12 * theirs, 12 * theirs);
    CALL(Allreduce, (a, b, 5, MPI_INT, MPI_SUM, inter), 20, 20);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}

static void neighbours_of(MPI_Comm comm, int n_in, int n_out)
{
    MPI_Request request;
    MPI_Aint far[N];
    for (int i = 0; i < N; i++) {
        counts[i] = 3;
        displs[i] = 4 * i;
        far[i] = 32 * i;
        types[i] = MPI_DOUBLE;
    }
    int in = 24 * n_in, out = 24 * n_out, one = n_out ? 24 : 0;
    CALL(Neighbor_allgather, (a, 3, MPI_DOUBLE, b, 3, MPI_DOUBLE, comm), one, in);
    CALL(Neighbor_allgatherv, (a, 3, MPI_DOUBLE, b, counts, displs, MPI_DOUBLE, comm), one, in);
    CALL(Neighbor_alltoall, (a, 3, MPI_DOUBLE, b, 3, MPI_DOUBLE, comm), out, in);
    CALL(Neighbor_alltoallv, (a, counts, displs, MPI_DOUBLE, b, counts, displs, MPI_DOUBLE, comm),
         out, in);
    CALL(Neighbor_alltoallw, (a, counts, far, types, b, counts, far, types, comm), out, in);
    CALL_I(Ineighbor_allgather, (a, 3, MPI_DOUBLE, b, 3, MPI_DOUBLE, comm, &request), one, in);
    CALL_I(Ineighbor_allgatherv, (a, 3, MPI_DOUBLE, b, counts, displs, MPI_DOUBLE, comm, &request),
           one, in);
    CALL_I(Ineighbor_alltoall, (a, 3, MPI_DOUBLE, b, 3, MPI_DOUBLE, comm, &request), out, in);
    CALL_I(Ineighbor_alltoallv,
           (a, counts, displs, MPI_DOUBLE, b, counts, displs, MPI_DOUBLE, comm, &request), out, in);
    CALL_I(Ineighbor_alltoallw, (a, counts, far, types, b, counts, far, types, comm, &request), out,
           in);
}

static void neighbours(void)
{
    MPI_Comm line, ring, star;
    int dims[1] = {size}, open[1] = {0}, closed[1] = {1};
    MPI_Cart_create(MPI_COMM_WORLD, 1, dims, open, 0, &line);
    neighbours_of(line, (rank > 0) + (rank < size - 1), (rank > 0) + (rank < size - 1));
    MPI_Cart_create(MPI_COMM_WORLD, 1, dims, closed, 0, &ring);
    neighbours_of(ring, 2, 2);
    /* All other ranks send to rank 0, which sends to none. */
    int zero = 0, all[N], n_in = rank == 0 ? size - 1 : 0, n_out = rank == 0 ? 0 : 1;
    for (int i = 0; i < N; i++)
        all[i] = i + 1;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, n_in, all, all, n_out, &zero, all, MPI_INFO_NULL,
                                   0, &star);
    neighbours_of(star, n_in, n_out);
    MPI_Comm_free(&line);
    MPI_Comm_free(&ring);
    MPI_Comm_free(&star);
}

/* A failed call is booked with its result and no bytes, and has no other effect. */
static void errors(void)
{
    MPI_Comm loose;
    MPI_Comm_dup(MPI_COMM_WORLD, &loose);
    MPI_Comm_set_errhandler(loose, MPI_ERRORS_RETURN);
    EXPECT(MPI_Send(a, 1, MPI_DATATYPE_NULL, 0, 1, loose) != MPI_SUCCESS, 1);
    look(&seen);
    EXPECT(seen.sent, 0);
    EXPECT(seen.result != MPI_SUCCESS, 1);
    EXPECT(MPI_Send(a, 1, MPI_INT, size + 5, 1, loose) != MPI_SUCCESS, 1);
    MPI_Comm_free(&loose);
}

/* A call that gets no handle to free fails as it does without the library: each MPI checks one of
 * the two. */
static void no_handles(void)
{
    int class;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN); /* as MPI 4 asks */
#if defined OPEN_MPI
    int rc = MPI_File_close(NULL);
    look(&seen);
    MPI_Error_class(rc, &class);
    EXPECT(class, MPI_ERR_FILE);
#else
    int rc = MPI_Win_free(NULL);
    look(&seen);
    MPI_Error_class(rc, &class);
    EXPECT(class, MPI_ERR_ARG);
#endif
    EXPECT(seen.result, rc);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char **argv)
{
    MPI_Comm part;
    int me, p;
    find_host();
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    look(&seen);
    EXPECT(seen.init_begins, 1);
    EXPECT(seen.init_ends, 1);
    MPI_Type_vector(2, 1, 2, MPI_DOUBLE, &pair);
    MPI_Type_commit(&pair);
    point_to_point();
    rooted(MPI_COMM_WORLD, size, rank);
    all_to_all(MPI_COMM_WORLD, size, rank);
    nonblocking_all_to_all(MPI_COMM_WORLD, size, rank);
    rooted(MPI_COMM_SELF, 1, 0);
    MPI_Comm_split(MPI_COMM_WORLD, rank > 0, -rank, &part);
    MPI_Comm_rank(part, &me);
    MPI_Comm_size(part, &p);
    rooted(part, p, me);
    all_to_all(part, p, me);
    nonblocking_all_to_all(part, p, me);
    MPI_Comm_free(&part);
    if (size > 1)
        between_groups();
    neighbours();
    errors();
    no_handles();
    MPI_Type_free(&pair);
    int failed = report("adapter_rules");
    MPI_Finalize();
    look(&seen);
    if (seen.merges != 1 || seen.finalize_begins != 1 || seen.finalize_ends != 1) {
        fprintf(stderr, "merges %u, finalize %u to %u\n", seen.merges, seen.finalize_begins,
                seen.finalize_ends);
        failed = 1;
    }
    return failed;
}
