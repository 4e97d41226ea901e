/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Truth program that calls every function of the table that can be called on one to four ranks
 * (calls.tbl): its main function, its random choices, its counts in closed form, and the functions
 * that rows use before and after their call. Objects that exist during the whole run are in
 * calls_objects.c.
 *
 * Another TRUTH_SEED gives other counts, datatypes, roots and tags.
 */
#include "tests/mpi/calls.h"

#include <stdio.h>
#include <stdlib.h>

struct calls my;
static unsigned seed;

/* ---- Random choices ------------------------------------------------------------------------- */

void choose(const char *name, int numeric)
{
    MPI_Datatype types[] = {MPI_INT, MPI_DOUBLE, MPI_SHORT, MPI_CHAR, my.vector, my.gap};
    unsigned h = 2166136261u ^ seed ^ (unsigned)my.is_chain << 16;
    for (; *name; name++)
        h = (h ^ (unsigned char)*name) * 16777619u;
    h ^= h >> 15;
    my.base = 1 + (int)(h % 6);
    my.root = (int)(h / 6 % (unsigned)my.n);
    my.tag = (int)(h / 24 % 500);
    my.type = types[h / 12000 % (numeric ? 3 : 6)];
    my.size = size_of(my.type);
    my.near = h >> 30 == 0 ? my.ring : h >> 30 == 1 ? my.dist : my.chain;
}

MPI_Aint size_of(MPI_Datatype type)
{
    if (type == my.vector)
        return 3 * 2 * 4;
    if (type == my.gap)
        return 4 + 2;
    if (type == MPI_CHAR)
        return 1;
    if (type == MPI_SHORT)
        return 2;
    return type == MPI_INT ? 4 : 8;
}

/* ---- Counts --------------------------------------------------------------------------------- */

int n_of(int rank)
{
    return my.base + (rank < 0 ? 0 : rank % 3);
}

int n_of_all(void)
{
    return my.n * my.base + (my.n == 1 ? 0 : my.n == 2 ? 1 : 3);
}

int n_between(int source, int other)
{
    return my.base + (2 * source + other) % 3;
}

int n_row(int source)
{
    int sum = 0;
    for (int i = 0; i < my.n; i++)
        sum += n_between(source, i);
    return sum;
}

int n_column(int other)
{
    int sum = 0;
    for (int i = 0; i < my.n; i++)
        sum += n_between(i, other);
    return sum;
}

/* One on the distributed graph, two on the periodic grid, at most two on the chain. */
int neighbours_in(void)
{
    if (my.near == my.dist)
        return 1;
    return my.near == my.ring ? 2 : (my.rank > 0) + (my.rank < my.n - 1);
}

int neighbours_out(void)
{
    return neighbours_in();
}

/* ---- The account ---------------------------------------------------------------------------- */

void on(MPI_Comm comm)
{
    truth_on(comm == my.c             ? "calls"
             : comm == my.ring        ? "ring"
             : comm == my.chain       ? "chain"
             : comm == my.graph       ? "graph"
             : comm == my.dist        ? "dist"
             : comm == MPI_COMM_WORLD ? "MPI_COMM_WORLD"
             : comm == MPI_COMM_SELF  ? "MPI_COMM_SELF"
                                      : "");
}

MPI_Comm comm_of(MPI_Win win)
{
    return win == my.shared ? my.node : my.c;
}

static int world(int rank)
{
    return my.n - 1 - rank;
}

void went(int one_sided, int rank, MPI_Aint bytes)
{
    if (rank == MPI_PROC_NULL)
        return;
    truth_pair(one_sided ? "rma" : "p2p", world(my.rank), world(rank), 1, (uint64_t)bytes);
    if (one_sided)
        truth_pair_received("rma", world(my.rank), world(rank), 1, (uint64_t)bytes);
}

void came(int one_sided, int rank, MPI_Aint bytes)
{
    if (rank == MPI_PROC_NULL)
        return;
    truth_pair_received(one_sided ? "rma" : "p2p", world(rank), world(my.rank), 1, (uint64_t)bytes);
    if (one_sided)
        truth_pair("rma", world(rank), world(my.rank), 1, (uint64_t)bytes);
}

void check(int rc, const char *name)
{
    if (rc == MPI_SUCCESS)
        return;
    fprintf(stderr, "calls: rank %d: %s returns %d\n", my.rank, name, rc);
    exit(1);
}

/* ---- Before and after ----------------------------------------------------------------------- */

TRUTH_FUNCTION void expect(void)
{
    MPI_Aint bytes = moved(n_of(my.left), my.type, my.left);
    ENTER;
    came(0, my.left, bytes);
    ON(my.c, Irecv, 0, bytes, (my.in, 16, my.type, my.left, my.tag, my.c, &my.r[2]));
    LEAVE;
}

TRUTH_FUNCTION void offer(void)
{
    int n = n_of(my.rank);
    MPI_Aint bytes = moved(n, my.type, my.right);
    ENTER;
    went(0, my.right, bytes);
    ON(my.c, Isend, bytes, 0, (my.out, n, my.type, my.right, my.tag, my.c, &my.r[2]));
    LEAVE;
}

TRUTH_FUNCTION void settle(void)
{
    ENTER;
    X(Wait, &my.r[2], MPI_STATUS_IGNORE);
    LEAVE;
}

TRUTH_FUNCTION void together(void)
{
    ENTER;
    C(Barrier, my.c);
    LEAVE;
}

TRUTH_FUNCTION void match(MPI_Message *message)
{
    ENTER;
    C(Mprobe, my.left, my.tag, my.c, message, MPI_STATUS_IGNORE);
    LEAVE;
}

TRUTH_FUNCTION void take(void)
{
    MPI_Aint bytes = moved(n_of(my.left), my.type, my.left);
    ENTER;
    came(0, my.left, bytes);
    ON(my.c, Recv, 0, bytes, (my.in, 16, my.type, my.left, my.tag, my.c, MPI_STATUS_IGNORE));
    DO(settle());
    LEAVE;
}

TRUTH_FUNCTION void take_matched(MPI_Message *message)
{
    MPI_Aint bytes = moved(n_of(my.left), my.type, my.left);
    ENTER;
    came(0, my.left, bytes);
    ON(my.c, Mrecv, 0, bytes, (my.in, 16, my.type, message, MPI_STATUS_IGNORE));
    DO(settle());
    LEAVE;
}

TRUTH_FUNCTION void attach(void)
{
    ENTER;
    X(Buffer_attach, my.attached, sizeof my.attached);
    LEAVE;
}

TRUTH_FUNCTION void detach(void)
{
    int size;
    ENTER;
    X(Buffer_detach, &my.scratch, &size);
    LEAVE;
}

TRUTH_FUNCTION void exchange(MPI_Request *receive, MPI_Request *send)
{
    ENTER;
    DO(expect());
    *receive = my.r[2];
    DO(offer());
    *send = my.r[2];
    LEAVE;
}

TRUTH_FUNCTION void reduce_by(MPI_Op op)
{
    int one = 1, sum = 0;
    ENTER;
    ON(my.c, Allreduce, 4, 4, (&one, &sum, 1, MPI_INT, op, my.c));
    check(sum == my.n ? MPI_SUCCESS : MPI_ERR_OP, "the sum of MPI_Allreduce");
    LEAVE;
}

#if CALLS_MPI_4
TRUTH_FUNCTION void make_parts(void)
{
    ENTER;
    C(Psend_init, my.out, 4, my.base, my.type, my.next, my.tag, my.c, MPI_INFO_NULL, &my.r[0]);
    C(Precv_init, my.in, 4, my.base, my.type, my.last, my.tag, my.c, MPI_INFO_NULL, &my.r[1]);
    LEAVE;
}

TRUTH_FUNCTION void start_parts(void)
{
    MPI_Aint sent = moved(4 * my.base, my.type, my.next);
    MPI_Aint received = moved(4 * my.base, my.type, my.last);
    ENTER;
    went(0, my.next, sent);
    ON(my.c, Start, sent, 0, (&my.r[0]));
    came(0, my.last, received);
    ON(my.c, Start, 0, received, (&my.r[1]));
    LEAVE;
}

TRUTH_FUNCTION void ready(int first, int last)
{
    ENTER;
    X(Pready_range, first, last, my.r[0]);
    LEAVE;
}

TRUTH_FUNCTION void end_parts(void)
{
    ENTER;
    X(Waitall, 2, my.r, MPI_STATUSES_IGNORE);
    X(Request_free, &my.r[0]);
    X(Request_free, &my.r[1]);
    LEAVE;
}
#endif

/* ---- Callbacks ------------------------------------------------------------------------------ */

void ignore_comm(MPI_Comm *c, int *code, ...)
{
    (void)c, (void)code;
}

void ignore_file(MPI_File *f, int *code, ...)
{
    (void)f, (void)code;
}

void ignore_window(MPI_Win *w, int *code, ...)
{
    (void)w, (void)code;
}

void add_ints(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *n; i++)
        ((int *)inout)[i] += ((int *)in)[i];
}

int fill_status(void *state, MPI_Status *s)
{
    (void)state;
    PMPI_Status_set_elements(s, MPI_INT, 0);
    PMPI_Status_set_cancelled(s, 0);
    s->MPI_SOURCE = s->MPI_TAG = MPI_UNDEFINED;
    return MPI_SUCCESS;
}

int free_nothing(void *state)
{
    (void)state;
    return MPI_SUCCESS;
}

int cancel_nothing(void *state, int done)
{
    (void)state, (void)done;
    return MPI_SUCCESS;
}

#if CALLS_MPI_4
void ignore_session(MPI_Session *s, int *code, ...)
{
    (void)s, (void)code;
}

void add_many(void *in, void *inout, MPI_Count *n, MPI_Datatype *type)
{
    (void)type;
    for (MPI_Count i = 0; i < *n; i++)
        ((int *)inout)[i] += ((int *)in)[i];
}
#endif

/* ---- The program ---------------------------------------------------------------------------- */

int main(int argc, char **argv)
{
    int provided;
    ENTER;
    X(Init_thread, &argc, &argv, MPI_THREAD_SINGLE, &provided);
    X(T_init_thread, MPI_THREAD_SINGLE, &provided);
    ON(MPI_COMM_WORLD, Comm_size, 0, 0, (MPI_COMM_WORLD, &my.n));
    ON(MPI_COMM_WORLD, Comm_rank, 0, 0, (MPI_COMM_WORLD, &my.rank));
    truth_rank(my.rank);
    seed = getenv("TRUTH_SEED") ? (unsigned)atoi(getenv("TRUTH_SEED")) : 1;
    my.rank = my.n - 1 - my.rank;
    DO(calls_make_objects());
    DO(calls_find_tools());
    my.next = my.right = (my.rank + 1) % my.n;
    my.last = my.left = (my.rank + my.n - 1) % my.n;
    DO(calls_of_table());
    my.is_chain = 1;
    if (my.rank == my.n - 1)
        my.right = MPI_PROC_NULL;
    if (my.rank == 0)
        my.left = MPI_PROC_NULL;
    DO(calls_of_table());
    DO(calls_free_tools());
    DO(calls_free_objects());
    X(T_finalize);
    X(Finalize);
    LEAVE;
    return 0;
}
