/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Messages and reductions of known sizes, datatypes and operators on two ranks (volume.test).
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static void add(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *n; i++)
        ((int *)inout)[i] += ((int *)in)[i];
}

/* Frees and makes datatypes of different kinds, which likely get one handle. The profile must not
 * show the name or size of the earlier type. */
static void remade(const int *data, int peer)
{
    for (int i = 0; i < 6; i++) {
        MPI_Datatype t;
        if (i & 1)
            MPI_Type_contiguous(3, MPI_INT, &t);
        else
            MPI_Type_vector(2, 1, 2, MPI_DOUBLE, &t);
        MPI_Type_commit(&t);
        if (i >= 4)
            MPI_Type_set_name(t, i & 1 ? "three" : "two");
        MPI_Send(data, 1, t, peer, 0, MPI_COMM_WORLD);
        MPI_Type_free(&t);
    }
}

/* Sends datatypes that Open MPI names if the program does not. */
static void unnamed(const double *data, int peer)
{
    MPI_Datatype t[4];
    MPI_Type_dup(MPI_DOUBLE, &t[0]);
    MPI_Type_create_resized(MPI_DOUBLE, 0, 16, &t[1]);
    MPI_Type_create_f90_real(15, 307, &t[2]);
    MPI_Type_create_f90_integer(9, &t[3]);
    for (int i = 0; i < 4; i++) {
        if (i < 2)
            MPI_Type_commit(&t[i]);
        MPI_Send(data, 1, t[i], peer, 0, MPI_COMM_WORLD);
        if (i < 2)
            MPI_Type_free(&t[i]);
    }
}

/* Posts receives of two datatypes in one place before either completes, and a persistent one. */
static void posted(int peer)
{
    static float in[3][4], out[4];
    MPI_Request r[3];
    for (int i = 0; i < 2; i++)
        MPI_Irecv(in[i], 4, i ? MPI_FLOAT : MPI_CHAR, peer, i, MPI_COMM_WORLD, &r[i]);
    MPI_Recv_init(in[2], 4, MPI_FLOAT, peer, 2, MPI_COMM_WORLD, &r[2]);
    MPI_Start(&r[2]);
    for (int i = 0; i < 3; i++)
        MPI_Send(out, i ? 3 : 2, i ? MPI_FLOAT : MPI_CHAR, peer, i, MPI_COMM_WORLD);
    MPI_Waitall(3, r, MPI_STATUSES_IGNORE);
    MPI_Request_free(&r[2]);
}

/* Moves nothing to or from MPI_PROC_NULL, and gets with two datatypes. */
static void one_sided(int *data, int rank)
{
    long one = 1, before;
    double *memory;
    MPI_Win win;
    MPI_Datatype column;
    MPI_Type_vector(6, 1, 2, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
    MPI_Win_allocate(12 * sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory,
                     &win);
    MPI_Win_fence(0, win);
    if (rank == 0)
        MPI_Get(data, 6, MPI_DOUBLE, 1, 0, 1, column, win);
    MPI_Put(data, 6, MPI_DOUBLE, MPI_PROC_NULL, 0, 1, column, win);
    MPI_Fetch_and_op(&one, &before, MPI_LONG, MPI_PROC_NULL, 0, MPI_PROD, win);
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
    MPI_Type_free(&column);
}

#if MPI_VERSION >= 4
/* Prints that the MPI has partitioned messages. */
static void partitioned(double *data, int rank)
{
    MPI_Request r;
    if (rank == 0)
        MPI_Psend_init(data, 2, 2, MPI_DOUBLE, 1, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
    else
        MPI_Precv_init(data, 2, 2, MPI_DOUBLE, 0, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
    MPI_Request_free(&r);
    if (rank == 0)
        printf("partitioned\n");
}
#endif

int main(int argc, char **argv)
{
    int rank, n, *data = calloc(1 << 16, sizeof *data), *more = calloc(1 << 16, sizeof *more);
    int counts[2] = {1, 2}, places[2] = {0, 4};
    double d[4] = {0}, e[4];
    struct {
        double value;
        int place;
    } pair = {1, 2}, found;
    MPI_Op op;
    MPI_Request r;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    int peer = 1 - rank;
    MPI_Irecv(more, 1 << 16, MPI_INT, peer, 0, MPI_COMM_WORLD, &r);
    MPI_Send(data, 1 << 15, MPI_INT, peer, 0, MPI_COMM_WORLD);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Sendrecv(data, 3, MPI_CHAR, peer, 1, more, 100, MPI_BYTE, peer, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Send(data, 5, MPI_SHORT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
    MPI_Recv(more, 5, MPI_SHORT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv_replace(data, 3, MPI_INT, rank ? MPI_PROC_NULL : 1, 2, rank ? 0 : MPI_PROC_NULL, 2,
                         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv_replace(data, 3, MPI_SHORT, MPI_PROC_NULL, 2, MPI_PROC_NULL, 2, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
    posted(peer);
    one_sided(data, rank);
    if (rank == 0) {
        remade(data, 1);
        unnamed(d, 1);
    } else
        for (int i = 0; i < 10; i++)
            MPI_Recv(more, 100, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Allreduce(d, e, 4, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, e, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Reduce(&pair, &found, 1, MPI_DOUBLE_INT, MPI_MINLOC, 0, MPI_COMM_WORLD);
    MPI_Op_create(add, 1, &op);
    MPI_Iallreduce(data, more, 7, MPI_INT, op, MPI_COMM_WORLD, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Op_free(&op);
    MPI_Reduce_scatter(data, more, counts, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, more, counts, places, MPI_INT,
                   MPI_COMM_WORLD);
    MPI_Scatter(data, 2, MPI_INT, more, 8, MPI_BYTE, 0, MPI_COMM_WORLD);
#if MPI_VERSION >= 4
    partitioned(d, rank);
#endif
    MPI_Finalize();
    free(data);
    free(more);
    return 0;
}
