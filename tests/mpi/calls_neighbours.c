/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Collectives among neighbours: on a ring of a Cartesian grid (two neighbours) and on one without
 * wrap-around (none at the ends). Compiled twice.
 */
#include "tests/mpi/calls.h"

/* clang-format off: a call is one line of source */

enum { N = 2 };

static int in[64], out[64];
static count_type counts[] = {N, N};
static disp_type displs[] = {0, 8};
static MPI_Aint places[] = {0, 32};
static MPI_Datatype types[2];

#define SENT_TO(k) ((k) > 0 ? INTS(N) : 0)

/* k neighbours that are there. */
TRUTH_FUNCTION static void blocking(MPI_Comm c, int k)
{
    ENTER;
    X(Neighbor_allgather, SENT_TO(k), INTS(N * k), (out, N, MPI_INT, in, N, MPI_INT, c));
    X(Neighbor_allgatherv, SENT_TO(k), INTS(N * k),
      (out, N, MPI_INT, in, counts, displs, MPI_INT, c));
    X(Neighbor_alltoall, INTS(N * k), INTS(N * k), (out, N, MPI_INT, in, N, MPI_INT, c));
    X(Neighbor_alltoallv, INTS(N * k), INTS(N * k),
      (out, counts, displs, MPI_INT, in, counts, displs, MPI_INT, c));
    X(Neighbor_alltoallw, INTS(N * k), INTS(N * k),
      (out, counts, places, types, in, counts, places, types, c));
    LEAVE;
}

TRUTH_FUNCTION static void nonblocking(MPI_Comm c, int k)
{
    MPI_Request r[5];
    int more[4][64];
    ENTER;
    X(Ineighbor_allgather, SENT_TO(k), INTS(N * k), (out, N, MPI_INT, in, N, MPI_INT, c, &r[0]));
    X(Ineighbor_allgatherv, SENT_TO(k), INTS(N * k),
      (out, N, MPI_INT, more[0], counts, displs, MPI_INT, c, &r[1]));
    X(Ineighbor_alltoall, INTS(N * k), INTS(N * k),
      (out, N, MPI_INT, more[1], N, MPI_INT, c, &r[2]));
    X(Ineighbor_alltoallv, INTS(N * k), INTS(N * k),
      (out, counts, displs, MPI_INT, more[2], counts, displs, MPI_INT, c, &r[3]));
    X(Ineighbor_alltoallw, INTS(N * k), INTS(N * k),
      (out, counts, places, types, more[3], counts, places, types, c, &r[4]));
    MPI(Waitall, 0, 0, (5, r, MPI_STATUSES_IGNORE));
    LEAVE;
}

#if CALLS_MPI_4
TRUTH_FUNCTION static void start(MPI_Request *r, uint64_t sent, uint64_t received)
{
    ENTER;
    MPI(Start, sent, received, (r));
    MPI(Wait, 0, 0, (r, MPI_STATUS_IGNORE));
    MPI(Start, sent, received, (r));
    MPI(Wait, 0, 0, (r, MPI_STATUS_IGNORE));
    MPI(Request_free, 0, 0, (r));
    LEAVE;
}

TRUTH_FUNCTION static void persistent(MPI_Comm c, int k)
{
    MPI_Request r;
    MPI_Info none = MPI_INFO_NULL;
    ENTER;
    X(Neighbor_allgather_init, 0, 0, (out, N, MPI_INT, in, N, MPI_INT, c, none, &r));
    DO(start(&r, SENT_TO(k), INTS(N * k)));
    X(Neighbor_allgatherv_init, 0, 0, (out, N, MPI_INT, in, counts, displs, MPI_INT, c, none, &r));
    DO(start(&r, SENT_TO(k), INTS(N * k)));
    X(Neighbor_alltoall_init, 0, 0, (out, N, MPI_INT, in, N, MPI_INT, c, none, &r));
    DO(start(&r, INTS(N * k), INTS(N * k)));
    X(Neighbor_alltoallv_init, 0, 0,
      (out, counts, displs, MPI_INT, in, counts, displs, MPI_INT, c, none, &r));
    DO(start(&r, INTS(N * k), INTS(N * k)));
    X(Neighbor_alltoallw_init, 0, 0,
      (out, counts, places, types, in, counts, places, types, c, none, &r));
    DO(start(&r, INTS(N * k), INTS(N * k)));
    LEAVE;
}
#endif

TRUTH_FUNCTION static void on_grid(const struct calls *p, int periodic)
{
    MPI_Comm grid;
    int k = periodic ? 2 : (p->rank > 0) + (p->rank < p->n - 1);
    ENTER;
    MPI(Cart_create, 0, 0, (p->c, 1, &p->n, &periodic, 0, &grid));
    DO(blocking(grid, k));
    DO(nonblocking(grid, k));
#if CALLS_MPI_4
    DO(persistent(grid, k));
#endif
    MPI(Comm_free, 0, 0, (&grid));
    LEAVE;
}

TRUTH_FUNCTION void CALLS(calls_neighbours)(const struct calls *p)
{
    ENTER;
    types[0] = types[1] = MPI_INT;
    DO(on_grid(p, 1));
    DO(on_grid(p, 0));
    LEAVE;
}
