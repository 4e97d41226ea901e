/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Truth program `mix`: makes, uses and frees communicators, also self and intercommunicators.
 */
#include "tests/mpi/mix.h"

#include <stdlib.h>

static int out[64], in[64];

TRUTH_FUNCTION static void copies(const struct place *p)
{
    MPI_Comm dup, later, info;
    MPI_Request r;
    ENTER;
    MPI(Comm_dup, 0, 0, (p->c, &dup));
    MPI(Comm_dup_with_info, 0, 0, (p->c, MPI_INFO_NULL, &info));
    MPI(Comm_idup, 0, 0, (p->c, &later, &r));
    MPI(Wait, 0, 0, (&r, MPI_STATUS_IGNORE));
    MPI(Allreduce, 4, 4, (out, in, 1, MPI_INT, MPI_SUM, later));
    MPI(Comm_free, 0, 0, (&dup));
    MPI(Comm_free, 0, 0, (&info));
    MPI(Comm_disconnect, 0, 0, (&later));
    LEAVE;
}

TRUTH_FUNCTION static void split(const struct place *p)
{
    MPI_Comm half, node, none;
    int size, rank;
    ENTER;
    MPI(Comm_split, 0, 0, (p->c, p->rank % 2, -p->rank, &half));
    MPI(Comm_size, 0, 0, (half, &size));
    MPI(Comm_rank, 0, 0, (half, &rank));
    MPI(Allgather, 4, 4 * size, (out, 1, MPI_INT, in, 1, MPI_INT, half));
    MPI(Bcast, rank ? 0 : 8, rank ? 8 : 0, (in, 2, MPI_INT, 0, half));
    MPI(Sendrecv_replace, 4, 4, (in, 1, MPI_INT, rank, 1, rank, 1, half, MPI_STATUS_IGNORE));
    MPI(Comm_free, 0, 0, (&half));
    MPI(Comm_split, 0, 0, (p->c, p->rank ? MPI_UNDEFINED : 0, 0, &none));
    if (none != MPI_COMM_NULL)
        MPI(Comm_free, 0, 0, (&none));
    MPI(Comm_split_type, 0, 0, (p->c, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
    MPI(Barrier, 0, 0, (node));
    MPI(Comm_free, 0, 0, (&node));
    LEAVE;
}

TRUTH_FUNCTION static void groups(const struct place *p)
{
    MPI_Group all, low;
    MPI_Comm made;
    int range[1][3] = {{0, p->n / 2, 1}};
    ENTER;
    MPI(Comm_group, 0, 0, (p->c, &all));
    MPI(Group_range_incl, 0, 0, (all, 1, range, &low));
    MPI(Comm_create, 0, 0, (p->c, low, &made));
    if (made != MPI_COMM_NULL) {
        MPI(Barrier, 0, 0, (made));
        MPI(Comm_free, 0, 0, (&made));
    }
    if (p->rank <= p->n / 2) {
        MPI(Comm_create_group, 0, 0, (p->c, low, 5, &made));
        MPI(Comm_free, 0, 0, (&made));
    }
    MPI(Group_free, 0, 0, (&low));
    MPI(Group_free, 0, 0, (&all));
    LEAVE;
}

TRUTH_FUNCTION static void grids(const struct place *p)
{
    MPI_Comm ring, line, graph;
    MPI_Comm c = p->c;
    MPI_Info info = MPI_INFO_NULL;
    MPI_Status s;
    int dims[1] = {0}, round[1] = {1}, keep[1] = {1}, right, left, w[1] = {1};
    ENTER;
    MPI(Dims_create, 0, 0, (p->n, 1, dims));
    MPI(Cart_create, 0, 0, (c, 1, dims, round, 0, &ring));
    MPI(Cart_shift, 0, 0, (ring, 0, 1, &left, &right));
    MPI(Sendrecv, 8, 8, (out, 2, MPI_INT, right, 0, in, 2, MPI_INT, left, 0, ring, &s));
    MPI(Neighbor_allgather, 8, 16, (out, 2, MPI_INT, in, 2, MPI_INT, ring));
    MPI(Neighbor_alltoall, 16, 16, (out, 2, MPI_INT, in, 2, MPI_INT, ring));
    MPI(Cart_sub, 0, 0, (ring, keep, &line));
    MPI(Barrier, 0, 0, (line));
    MPI(Comm_free, 0, 0, (&line));
    MPI(Comm_free, 0, 0, (&ring));
    left = p->left;
    right = p->right;
    MPI(Dist_graph_create_adjacent, 0, 0, (c, 1, &left, w, 1, &right, w, info, 0, &graph));
    MPI(Comm_free, 0, 0, (&graph));
    LEAVE;
}

/* Calls on MPI_COMM_SELF and on MPI_COMM_WORLD. */
TRUTH_FUNCTION static void predefined(const struct place *p)
{
    MPI_Comm self = MPI_COMM_SELF;
    MPI_Request r;
    ENTER;
    MPI(Allreduce, 20, 20, (out, in, 5, MPI_INT, MPI_SUM, self));
    MPI(Irecv, 0, 12, (in, 5, MPI_INT, 0, 9, self, &r));
    MPI(Send, 12, 0, (out, 3, MPI_INT, 0, 9, self));
    MPI(Wait, 0, 0, (&r, MPI_STATUS_IGNORE));
    MPI(Bcast, p->rank ? 0 : 4, p->rank ? 4 : 0, (in, 1, MPI_INT, 0, MPI_COMM_WORLD));
    LEAVE;
}

void mix_communicators(const struct place *p)
{
    ENTER;
    DO(copies(p));
    DO(split(p));
    DO(groups(p));
    DO(grids(p));
    DO(predefined(p));
    LEAVE;
}

/* Collectives of an intercommunicator: a rank sends to, and receives from, the remote group alone.
 */
TRUTH_FUNCTION static void between(int low, int rank, int n_local, int n_remote, MPI_Comm inter)
{
    int both = n_local * n_remote, counts[64];
    int root = low ? (rank ? MPI_PROC_NULL : MPI_ROOT) : 0;
    int gives = root == MPI_ROOT, takes = !low, all = 4 * n_remote;
    ENTER;
    MPI(Bcast, gives ? 12 : 0, takes ? 12 : 0, (in, 3, MPI_INT, root, inter));
    MPI(Gather, takes ? 4 : 0, gives ? all : 0, (out, 1, MPI_INT, in, 1, MPI_INT, root, inter));
    MPI(Reduce, takes ? 4 : 0, gives ? 4 : 0, (out, in, 1, MPI_INT, MPI_SUM, root, inter));
    MPI(Allgather, 8, 2 * all, (out, 2, MPI_INT, in, 2, MPI_INT, inter));
    MPI(Alltoall, all, all, (out, 1, MPI_INT, in, 1, MPI_INT, inter));
    MPI(Allreduce, 4, 4, (out, in, 1, MPI_INT, MPI_SUM, inter));
    /* The groups may differ in size: each divides the same elements among its own ranks. */
    for (int i = 0; i < n_local; i++)
        counts[i] = n_remote;
    MPI(Reduce_scatter, 4 * both, all, (out, in, counts, MPI_INT, MPI_SUM, inter));
    MPI(Barrier, 0, 0, (inter));
    LEAVE;
}

void mix_intercommunicator(const struct place *p)
{
    MPI_Comm half, inter, whole;
    int low = p->rank < p->n / 2, rank, n_local, n_remote;
    ENTER;
    if (p->n > 1) {
        MPI(Comm_split, 0, 0, (p->c, low, p->rank, &half));
        MPI(Comm_rank, 0, 0, (half, &rank));
        MPI(Comm_size, 0, 0, (half, &n_local));
        MPI(Intercomm_create, 0, 0, (half, 0, p->c, low ? p->n / 2 : 0, 3, &inter));
        MPI(Comm_remote_size, 0, 0, (inter, &n_remote));
        DO(between(low, rank, n_local, n_remote, inter));
        MPI(Intercomm_merge, 0, 0, (inter, low, &whole));
        MPI(Barrier, 0, 0, (whole));
        MPI(Comm_free, 0, 0, (&whole));
        MPI(Comm_free, 0, 0, (&inter));
        MPI(Comm_free, 0, 0, (&half));
    }
    LEAVE;
}
