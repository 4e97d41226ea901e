/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Byte rules of the collectives (adapter_bytes.h). Queries are local; those of MPI_COMM_WORLD and
 * MPI_COMM_SELF are answered from memory. Called by the wrappers after a successful call.
 */
#include "libcollect/mpi/adapter_bytes.h"

/* ---- Communicators -------------------------------------------------------------------------- */

static bool is_inter(MPI_Comm comm)
{
    int flag = 0;
    if (comm == MPI_COMM_WORLD || comm == MPI_COMM_SELF)
        return false;
    return PC_REAL(Comm_test_inter)(comm, &flag) == MPI_SUCCESS && flag;
}

static int rank_in(MPI_Comm comm)
{
    int rank = -1;
    if (comm == MPI_COMM_WORLD)
        return pc_world_rank;
    PC_REAL(Comm_rank)(comm, &rank);
    return rank;
}

static int size_of(MPI_Comm comm)
{
    int size = 0;
    if (comm == MPI_COMM_WORLD)
        return pc_world_size;
    PC_REAL(Comm_size)(comm, &size);
    return size;
}

/* Number of blocks of a collective: the ranks of the group that the data goes to or comes from. */
static int peers_in(MPI_Comm comm)
{
    int size = 0;
    if (!is_inter(comm))
        return size_of(comm);
    PC_REAL(Comm_remote_size)(comm, &size);
    return size;
}

enum role {
    ROLE_LEAF,
    ROLE_ROOT,        /* root among the others: has both ends */
    ROLE_REMOTE_ROOT, /* MPI_ROOT of an intercommunicator: has one end only */
    ROLE_NONE
};

static enum role role_in(int root, MPI_Comm comm)
{
    if (root == MPI_ROOT)
        return ROLE_REMOTE_ROOT;
    if (root == MPI_PROC_NULL)
        return ROLE_NONE;
    return rank_in(comm) == root && !is_inter(comm) ? ROLE_ROOT : ROLE_LEAF;
}

/* ---- Sums ----------------------------------------------------------------------------------- */

static uint64_t sum_counts(struct pc_counts counts, int n)
{
    uint64_t sum = 0;
    for (int i = 0; i < n; i++) {
        MPI_Count count = pc_count_at(counts, i);
        sum += count > 0 ? (uint64_t)count : 0;
    }
    return sum;
}

static uint64_t sum_bytes(struct pc_counts counts, int n, MPI_Datatype type)
{
    uint64_t sum = sum_counts(counts, n);
    return sum ? sum * pc_type_bytes(type) : 0;
}

/* ---- One root ------------------------------------------------------------------------------- */

void pc_rule_bcast(struct pc_call *call, MPI_Count count, MPI_Datatype type, int root,
                   MPI_Comm comm)
{
    enum role role = role_in(root, comm);
    if (role == ROLE_ROOT || role == ROLE_REMOTE_ROOT)
        call->event.bytes_sent = pc_block_bytes(count, type);
    else if (role == ROLE_LEAF)
        call->event.bytes_received = pc_block_bytes(count, type);
}

void pc_rule_reduce(struct pc_call *call, MPI_Count count, MPI_Datatype type, int root,
                    MPI_Comm comm)
{
    enum role role = role_in(root, comm);
    if (role == ROLE_ROOT || role == ROLE_LEAF)
        call->event.bytes_sent = pc_block_bytes(count, type);
    if (role == ROLE_ROOT || role == ROLE_REMOTE_ROOT)
        call->event.bytes_received = pc_block_bytes(count, type);
}

void pc_rule_gather(struct pc_call *call, const void *sendbuf, MPI_Count sendcount,
                    MPI_Datatype sendtype, MPI_Count recvcount, MPI_Datatype recvtype, int root,
                    MPI_Comm comm)
{
    enum role role = role_in(root, comm);
    if (role == ROLE_ROOT || role == ROLE_REMOTE_ROOT)
        call->event.bytes_received = (uint64_t)peers_in(comm) * pc_block_bytes(recvcount, recvtype);
    if (role == ROLE_ROOT && sendbuf == MPI_IN_PLACE)
        call->event.bytes_sent = pc_block_bytes(recvcount, recvtype);
    else if (role == ROLE_ROOT || role == ROLE_LEAF)
        call->event.bytes_sent = pc_block_bytes(sendcount, sendtype);
}

void pc_rule_gatherv(struct pc_call *call, const void *sendbuf, MPI_Count sendcount,
                     MPI_Datatype sendtype, struct pc_counts recvcounts, MPI_Datatype recvtype,
                     int root, MPI_Comm comm)
{
    enum role role = role_in(root, comm);
    if (role == ROLE_ROOT || role == ROLE_REMOTE_ROOT)
        call->event.bytes_received = sum_bytes(recvcounts, peers_in(comm), recvtype);
    if (role == ROLE_ROOT && sendbuf == MPI_IN_PLACE)
        call->event.bytes_sent = pc_block_bytes(pc_count_at(recvcounts, root), recvtype);
    else if (role == ROLE_ROOT || role == ROLE_LEAF)
        call->event.bytes_sent = pc_block_bytes(sendcount, sendtype);
}

void pc_rule_scatter(struct pc_call *call, MPI_Count sendcount, MPI_Datatype sendtype,
                     const void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root,
                     MPI_Comm comm)
{
    enum role role = role_in(root, comm);
    if (role == ROLE_ROOT || role == ROLE_REMOTE_ROOT)
        call->event.bytes_sent = (uint64_t)peers_in(comm) * pc_block_bytes(sendcount, sendtype);
    if (role == ROLE_ROOT && recvbuf == MPI_IN_PLACE)
        call->event.bytes_received = pc_block_bytes(sendcount, sendtype);
    else if (role == ROLE_ROOT || role == ROLE_LEAF)
        call->event.bytes_received = pc_block_bytes(recvcount, recvtype);
}

void pc_rule_scatterv(struct pc_call *call, struct pc_counts sendcounts, MPI_Datatype sendtype,
                      const void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root,
                      MPI_Comm comm)
{
    enum role role = role_in(root, comm);
    if (role == ROLE_ROOT || role == ROLE_REMOTE_ROOT)
        call->event.bytes_sent = sum_bytes(sendcounts, peers_in(comm), sendtype);
    if (role == ROLE_ROOT && recvbuf == MPI_IN_PLACE)
        call->event.bytes_received = pc_block_bytes(pc_count_at(sendcounts, root), sendtype);
    else if (role == ROLE_ROOT || role == ROLE_LEAF)
        call->event.bytes_received = pc_block_bytes(recvcount, recvtype);
}

/* ---- All to all ----------------------------------------------------------------------------- */

void pc_rule_exscan(struct pc_call *call, MPI_Count count, MPI_Datatype type, MPI_Comm comm)
{
    call->event.bytes_sent = pc_block_bytes(count, type);
    call->event.bytes_received = rank_in(comm) == 0 ? 0 : call->event.bytes_sent;
}

void pc_rule_allgather(struct pc_call *call, const void *sendbuf, MPI_Count sendcount,
                       MPI_Datatype sendtype, MPI_Count recvcount, MPI_Datatype recvtype,
                       MPI_Comm comm)
{
    uint64_t block = pc_block_bytes(recvcount, recvtype);
    call->event.bytes_received = (uint64_t)peers_in(comm) * block;
    call->event.bytes_sent = sendbuf == MPI_IN_PLACE ? block : pc_block_bytes(sendcount, sendtype);
}

void pc_rule_allgatherv(struct pc_call *call, const void *sendbuf, MPI_Count sendcount,
                        MPI_Datatype sendtype, struct pc_counts recvcounts, MPI_Datatype recvtype,
                        MPI_Comm comm)
{
    call->event.bytes_received = sum_bytes(recvcounts, peers_in(comm), recvtype);
    call->event.bytes_sent = sendbuf == MPI_IN_PLACE
                                 ? pc_block_bytes(pc_count_at(recvcounts, rank_in(comm)), recvtype)
                                 : pc_block_bytes(sendcount, sendtype);
}

void pc_rule_alltoall(struct pc_call *call, const void *sendbuf, MPI_Count sendcount,
                      MPI_Datatype sendtype, MPI_Count recvcount, MPI_Datatype recvtype,
                      MPI_Comm comm)
{
    uint64_t n = (uint64_t)peers_in(comm);
    call->event.bytes_received = n * pc_block_bytes(recvcount, recvtype);
    call->event.bytes_sent = sendbuf == MPI_IN_PLACE ? call->event.bytes_received
                                                     : n * pc_block_bytes(sendcount, sendtype);
}

void pc_rule_alltoallv(struct pc_call *call, const void *sendbuf, struct pc_counts sendcounts,
                       MPI_Datatype sendtype, struct pc_counts recvcounts, MPI_Datatype recvtype,
                       MPI_Comm comm)
{
    int n = peers_in(comm);
    call->event.bytes_received = sum_bytes(recvcounts, n, recvtype);
    call->event.bytes_sent =
        sendbuf == MPI_IN_PLACE ? call->event.bytes_received : sum_bytes(sendcounts, n, sendtype);
}

static uint64_t sum_typed(struct pc_counts counts, const MPI_Datatype *types, int n)
{
    uint64_t sum = 0;
    for (int i = 0; i < n; i++)
        sum += pc_block_bytes(pc_count_at(counts, i), types[i]);
    return sum;
}

void pc_rule_alltoallw(struct pc_call *call, const void *sendbuf, struct pc_counts sendcounts,
                       const MPI_Datatype *sendtypes, struct pc_counts recvcounts,
                       const MPI_Datatype *recvtypes, MPI_Comm comm)
{
    int n = peers_in(comm);
    call->event.bytes_received = sum_typed(recvcounts, recvtypes, n);
    call->event.bytes_sent =
        sendbuf == MPI_IN_PLACE ? call->event.bytes_received : sum_typed(sendcounts, sendtypes, n);
}

/* The counts are those of the local group, also in intercommunicators. */
void pc_rule_reduce_scatter(struct pc_call *call, struct pc_counts recvcounts, MPI_Datatype type,
                            MPI_Comm comm)
{
    call->event.bytes_sent = sum_bytes(recvcounts, size_of(comm), type);
    call->event.bytes_received = pc_block_bytes(pc_count_at(recvcounts, rank_in(comm)), type);
}

void pc_rule_reduce_scatter_block(struct pc_call *call, MPI_Count recvcount, MPI_Datatype type,
                                  MPI_Comm comm)
{
    call->event.bytes_received = pc_block_bytes(recvcount, type);
    call->event.bytes_sent = (uint64_t)size_of(comm) * call->event.bytes_received;
}

/* ---- Neighbours ----------------------------------------------------------------------------- */

#define MAX_DIMS 32

/* Neighbours in the order of their blocks. A neighbour whose bit is set is MPI_PROC_NULL. */
struct neighbours {
    int n_in, n_out;
    uint64_t null_mask; /* the same for sources and destinations */
};

/* On a Cartesian grid there are two neighbours for each dimension: the one with the lower
 * coordinate first. */
static void find_grid(struct neighbours *n, MPI_Comm comm)
{
    int dims[MAX_DIMS], periods[MAX_DIMS], coords[MAX_DIMS], n_dims = 0;
    if (PC_REAL(Cartdim_get)(comm, &n_dims) != MPI_SUCCESS || n_dims > MAX_DIMS || n_dims < 0 ||
        PC_REAL(Cart_get)(comm, MAX_DIMS, dims, periods, coords) != MPI_SUCCESS)
        return;
    n->n_in = n->n_out = 2 * n_dims;
    for (int d = 0; d < n_dims; d++) {
        if (!periods[d] && coords[d] == 0)
            n->null_mask |= UINT64_C(1) << 2 * d;
        if (!periods[d] && coords[d] == dims[d] - 1)
            n->null_mask |= UINT64_C(2) << 2 * d;
    }
}

static struct neighbours find_neighbours(MPI_Comm comm)
{
    struct neighbours n = {0, 0, 0};
    int kind = MPI_UNDEFINED, rank = rank_in(comm), weighted;
    PC_REAL(Topo_test)(comm, &kind);
    if (kind == MPI_CART) {
        find_grid(&n, comm);
    } else if (kind == MPI_GRAPH) {
        PC_REAL(Graph_neighbors_count)(comm, rank, &n.n_in);
        n.n_out = n.n_in;
    } else if (kind == MPI_DIST_GRAPH) {
        PC_REAL(Dist_graph_neighbors_count)(comm, &n.n_in, &n.n_out, &weighted);
    }
    return n;
}

static bool is_null(const struct neighbours *n, int i)
{
    return i < 64 && n->null_mask >> i & 1;
}

static uint64_t count_real(const struct neighbours *n, int n_all)
{
    uint64_t real = 0;
    for (int i = 0; i < n_all; i++)
        real += !is_null(n, i);
    return real;
}

static uint64_t sum_neighbours(const struct neighbours *n, int n_all, struct pc_counts counts,
                               MPI_Datatype type)
{
    uint64_t sum = 0;
    for (int i = 0; i < n_all; i++)
        if (!is_null(n, i))
            sum += pc_block_bytes(pc_count_at(counts, i), type);
    return sum;
}

static uint64_t sum_neighbours_typed(const struct neighbours *n, int n_all, struct pc_counts counts,
                                     const MPI_Datatype *types)
{
    uint64_t sum = 0;
    for (int i = 0; i < n_all; i++)
        if (!is_null(n, i))
            sum += pc_block_bytes(pc_count_at(counts, i), types[i]);
    return sum;
}

void pc_rule_neighbor_allgather(struct pc_call *call, MPI_Count sendcount, MPI_Datatype sendtype,
                                MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
    struct neighbours n = find_neighbours(comm);
    if (count_real(&n, n.n_out))
        call->event.bytes_sent = pc_block_bytes(sendcount, sendtype);
    call->event.bytes_received = count_real(&n, n.n_in) * pc_block_bytes(recvcount, recvtype);
}

void pc_rule_neighbor_allgatherv(struct pc_call *call, MPI_Count sendcount, MPI_Datatype sendtype,
                                 struct pc_counts recvcounts, MPI_Datatype recvtype, MPI_Comm comm)
{
    struct neighbours n = find_neighbours(comm);
    if (count_real(&n, n.n_out))
        call->event.bytes_sent = pc_block_bytes(sendcount, sendtype);
    call->event.bytes_received = sum_neighbours(&n, n.n_in, recvcounts, recvtype);
}

void pc_rule_neighbor_alltoall(struct pc_call *call, MPI_Count sendcount, MPI_Datatype sendtype,
                               MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
    struct neighbours n = find_neighbours(comm);
    call->event.bytes_sent = count_real(&n, n.n_out) * pc_block_bytes(sendcount, sendtype);
    call->event.bytes_received = count_real(&n, n.n_in) * pc_block_bytes(recvcount, recvtype);
}

void pc_rule_neighbor_alltoallv(struct pc_call *call, struct pc_counts sendcounts,
                                MPI_Datatype sendtype, struct pc_counts recvcounts,
                                MPI_Datatype recvtype, MPI_Comm comm)
{
    struct neighbours n = find_neighbours(comm);
    call->event.bytes_sent = sum_neighbours(&n, n.n_out, sendcounts, sendtype);
    call->event.bytes_received = sum_neighbours(&n, n.n_in, recvcounts, recvtype);
}

void pc_rule_neighbor_alltoallw(struct pc_call *call, struct pc_counts sendcounts,
                                const MPI_Datatype *sendtypes, struct pc_counts recvcounts,
                                const MPI_Datatype *recvtypes, MPI_Comm comm)
{
    struct neighbours n = find_neighbours(comm);
    call->event.bytes_sent = sum_neighbours_typed(&n, n.n_out, sendcounts, sendtypes);
    call->event.bytes_received = sum_neighbours_typed(&n, n.n_in, recvcounts, recvtypes);
}
