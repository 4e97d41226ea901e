/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Truth program for the topology: every kind of point-to-point operation, on communicators whose
 * ranks are not those of the world. Each message is passed to sent(), which adds it to this
 * program's own matrix of world ranks. At the end rank 0 prints the matrix in the form of `pcollect
 * topology --format tsv`.
 *
 *     talk kinds            all kinds, any number of ranks from 2
 *     talk windows          one-sided operations, any number of ranks from 2
 *     talk ring|grid|star|noise N      N rounds of a known pattern
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BYTES 256
enum { MAX = 64 };

static int rank, size;
static long long matrix[2 * MAX * MAX]; /* messages, bytes */
static char out_buffer[BYTES], in_buffer[BYTES];

static void sent(int world_destination, int bytes)
{
    matrix[2 * (rank * MAX + world_destination)]++;
    matrix[2 * (rank * MAX + world_destination) + 1] += bytes;
}

static void print_matrix(void)
{
    static long long all[2 * MAX * MAX];
    PMPI_Reduce(matrix, all, 2 * MAX * MAX, MPI_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank)
        return;
    printf("source\tdestination\tmessages\tbytes\n");
    for (int a = 0; a < size; a++)
        for (int b = 0; b < size; b++)
            if (all[2 * (a * MAX + b)])
                printf("%d\t%d\t%lld\t%lld\n", a, b, all[2 * (a * MAX + b)],
                       all[2 * (a * MAX + b) + 1]);
}

/* A communicator in which world rank w is rank (size - 1 - w). */
static MPI_Comm turned;

static int turn(int world)
{
    return size - 1 - world;
}

static void blocking(MPI_Comm comm, int next, int last, int world_next)
{
    MPI_Status status;
    char *attached = malloc(4 * BYTES + 2 * MPI_BSEND_OVERHEAD);
    MPI_Buffer_attach(attached, 4 * BYTES + 2 * MPI_BSEND_OVERHEAD);
    MPI_Bsend(out_buffer, 11, MPI_CHAR, next, 1, comm);
    sent(world_next, 11);
    MPI_Recv(in_buffer, BYTES, MPI_CHAR, MPI_ANY_SOURCE, 1, comm, &status);
    if (status.MPI_SOURCE != last)
        MPI_Abort(MPI_COMM_WORLD, 3);
    MPI_Buffer_detach(&attached, &(int){0});
    free(attached);
    MPI_Sendrecv(out_buffer, 3, MPI_INT, next, 2, in_buffer, 9, MPI_INT, last, 2, comm,
                 MPI_STATUS_IGNORE);
    sent(world_next, 12);
    MPI_Sendrecv_replace(out_buffer, 5, MPI_CHAR, next, 3, MPI_ANY_SOURCE, MPI_ANY_TAG, comm,
                         MPI_STATUS_IGNORE);
    sent(world_next, 5);
    MPI_Send(out_buffer, 7, MPI_CHAR, MPI_PROC_NULL, 4, comm);
    MPI_Recv(in_buffer, 7, MPI_CHAR, MPI_PROC_NULL, 4, comm, MPI_STATUS_IGNORE);
}

static void nonblocking(MPI_Comm comm, int next, int last, int world_next)
{
    MPI_Request r[6];
    MPI_Irecv(in_buffer, 40, MPI_CHAR, last, 5, comm, &r[0]);
    MPI_Irecv(in_buffer + 40, 40, MPI_CHAR, MPI_ANY_SOURCE, 6, comm, &r[1]);
    MPI_Irecv(in_buffer + 80, 40, MPI_CHAR, MPI_PROC_NULL, 6, comm, &r[2]);
    MPI_Isend(out_buffer, 21, MPI_CHAR, next, 5, comm, &r[3]);
    sent(world_next, 21);
    MPI_Issend(out_buffer, 0, MPI_CHAR, next, 6, comm, &r[4]);
    sent(world_next, 0);
    MPI_Isend(out_buffer, 0, MPI_CHAR, MPI_PROC_NULL, 6, comm, &r[5]);
    MPI_Waitall(6, r, MPI_STATUSES_IGNORE);
}

static void persistent(MPI_Comm comm, int next, int last, int world_next)
{
    MPI_Request r[4];
    MPI_Send_init(out_buffer, 13, MPI_CHAR, next, 7, comm, &r[0]);
    MPI_Recv_init(in_buffer, 40, MPI_CHAR, last, 7, comm, &r[1]);
    MPI_Send_init(out_buffer, 0, MPI_CHAR, next, 8, comm, &r[2]);
    MPI_Recv_init(in_buffer, 40, MPI_CHAR, MPI_ANY_SOURCE, 8, comm, &r[3]);
    for (int i = 0; i < 3; i++) {
        MPI_Startall(4, r);
        MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
        sent(world_next, 13);
        sent(world_next, 0);
    }
    MPI_Start(&r[1]);
    MPI_Start(&r[0]);
    sent(world_next, 13);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 4; i++)
        MPI_Request_free(&r[i]);
}

static void probed(MPI_Comm comm, int next, int last, int world_next)
{
    MPI_Request r, q;
    MPI_Message m;
    MPI_Status status;
    int flag = 0;
    MPI_Isend(out_buffer, 30, MPI_CHAR, next, 9, comm, &r);
    sent(world_next, 30);
    MPI_Probe(MPI_ANY_SOURCE, 9, comm, &status);
    MPI_Mprobe(last, 9, comm, &m, MPI_STATUS_IGNORE);
    MPI_Mrecv(in_buffer, BYTES, MPI_CHAR, &m, MPI_STATUS_IGNORE);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Isend(out_buffer, 31, MPI_CHAR, next, 10, comm, &r);
    sent(world_next, 31);
    while (!flag)
        MPI_Improbe(MPI_ANY_SOURCE, 10, comm, &flag, &m, MPI_STATUS_IGNORE);
    MPI_Imrecv(in_buffer, BYTES, MPI_CHAR, &m, &q);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
}

/* Calls with a rank that does not exist: nothing is sent. */
static void failing(MPI_Comm comm)
{
    MPI_Request request;
    int n, n_done = 0;
    MPI_Comm_size(comm, &n);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    n_done += MPI_Send(out_buffer, 1, MPI_CHAR, n, 9, comm) == MPI_SUCCESS;
    n_done += MPI_Isend(out_buffer, 1, MPI_CHAR, n, 9, comm, &request) == MPI_SUCCESS;
    n_done += MPI_Irecv(in_buffer, 1, MPI_CHAR, n, 9, comm, &request) == MPI_SUCCESS;
    n_done += MPI_Sendrecv(out_buffer, 1, MPI_CHAR, n, 9, in_buffer, 1, MPI_CHAR, n, 9, comm,
                           MPI_STATUS_IGNORE) == MPI_SUCCESS;
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL);
    if (n_done)
        printf("%d calls should have failed\n", n_done);
}

static void all_kinds(MPI_Comm comm, int next, int last, int world_next)
{
    blocking(comm, next, last, world_next);
    nonblocking(comm, next, last, world_next);
    persistent(comm, next, last, world_next);
    probed(comm, next, last, world_next);
}

static void got(int world_source, int bytes)
{
    matrix[2 * (world_source * MAX + rank)]++;
    matrix[2 * (world_source * MAX + rank) + 1] += bytes;
}

/* One-sided operations. The communicator of the window is freed before the window is used. */
static void windows(int next, int last)
{
    static int memory[64], one = 1, compare;
    MPI_Request r;
    MPI_Comm turned_copy;
    MPI_Win w;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &turned_copy);
    MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, turned_copy, &w);
    MPI_Comm_free(&turned_copy);
    MPI_Win_fence(0, w);
    MPI_Put(out_buffer, 3, MPI_INT, turn(next), 0, 3, MPI_INT, w);
    sent(next, 12);
    MPI_Put(out_buffer, 3, MPI_INT, MPI_PROC_NULL, 0, 3, MPI_INT, w);
    MPI_Win_fence(0, w);
    MPI_Get(in_buffer, 5, MPI_INT, turn(last), 8, 5, MPI_INT, w);
    got(last, 20);
    MPI_Win_fence(0, w);
    MPI_Accumulate(out_buffer, 2, MPI_INT, turn(next), 16, 2, MPI_INT, MPI_SUM, w);
    sent(next, 8);
    MPI_Win_fence(0, w);
    MPI_Win_lock(MPI_LOCK_SHARED, turn(next), 0, w);
    MPI_Fetch_and_op(&one, in_buffer, MPI_INT, turn(next), 32, MPI_SUM, w);
    sent(next, 4);
    got(next, 4);
    MPI_Win_flush(turn(next), w);
    MPI_Compare_and_swap(&one, &compare, in_buffer, MPI_INT, turn(next), 33, w);
    sent(next, 4);
    got(next, 4);
    MPI_Win_flush(turn(next), w);
    MPI_Rput(out_buffer, 7, MPI_INT, turn(next), 40, 7, MPI_INT, w, &r);
    sent(next, 28);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Win_unlock(turn(next), w);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_free(&w);
}

/* Even and odd ranks: each sends to the rank with its own number in the other group. */
static void between_groups(void)
{
    MPI_Comm half, inter, merged;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 77, &inter);
    int other = rank ^ 1, peer = rank / 2;
    if (other < size) {
        MPI_Sendrecv(out_buffer, 17, MPI_CHAR, peer, 1, in_buffer, BYTES, MPI_CHAR, MPI_ANY_SOURCE,
                     1, inter, MPI_STATUS_IGNORE);
        sent(other, 17);
    }
    MPI_Intercomm_merge(inter, rank % 2, &merged);
    MPI_Comm_free(&merged);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}

/* A communicator is freed while a wildcard receive is pending, and its handle is used again. */
static void freed_while_pending(void)
{
    for (int i = 0; i < 3; i++) {
        MPI_Comm comm, again;
        MPI_Request r[2];
        MPI_Comm_split(MPI_COMM_WORLD, 0, i % 2 ? -rank : rank, &comm);
        int next = (rank + 1) % size;
        MPI_Irecv(in_buffer, BYTES, MPI_CHAR, MPI_ANY_SOURCE, 1, comm, &r[0]);
        MPI_Isend(out_buffer, 19, MPI_CHAR, i % 2 ? turn(next) : next, 1, comm, &r[1]);
        sent(next, 19);
        MPI_Comm_free(&comm);
        MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &again);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
        all_kinds(again, turn(next), turn((rank + size - 1) % size), next);
        MPI_Comm_free(&again);
    }
}

static void collectives(void)
{
    int value = 0, all[MAX];
    MPI_Bcast(&value, 1, MPI_INT, 0, turned); /* the root is world rank size - 1 */
    MPI_Gather(&value, 1, MPI_INT, all, 1, MPI_INT, 1, MPI_COMM_WORLD);
    MPI_Barrier(turned);
}

static void exchange(int peer, int n, int bytes)
{
    for (int i = 0; i < n && peer >= 0 && peer != rank; i++) {
        MPI_Sendrecv(out_buffer, bytes, MPI_CHAR, peer, 1, in_buffer, BYTES, MPI_CHAR, peer, 1,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        sent(peer, bytes);
    }
}

static void ring(int n)
{
    int next = (rank + 1) % size, last = (rank + size - 1) % size;
    for (int i = 0; i < n; i++) {
        MPI_Sendrecv(out_buffer, 100, MPI_CHAR, next, 1, in_buffer, BYTES, MPI_CHAR, last, 1,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        sent(next, 100);
    }
}

static void grid(int n)
{
    int dims[2] = {0, 0}, periods[2] = {0, 1}, low, high;
    MPI_Comm cart;
    MPI_Dims_create(size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &cart);
    for (int d = 0; d < 2; d++) {
        MPI_Cart_shift(cart, d, 1, &low, &high);
        for (int i = 0; i < n; i++) {
            MPI_Sendrecv(out_buffer, 100, MPI_CHAR, high, 1, in_buffer, BYTES, MPI_CHAR, low, 1,
                         cart, MPI_STATUS_IGNORE);
            if (high >= 0)
                sent(high, 100);
        }
    }
    MPI_Comm_free(&cart);
}

static void star(int n)
{
    for (int r = 1; r < size; r++) {
        if (rank == 0)
            exchange(r, n, 100);
        else if (rank == r)
            exchange(0, n, 100);
    }
}

static void noise(int n)
{
    ring(n);
    if (size % 2 == 0) /* one small message to the opposite rank */
        exchange((rank + size / 2) % size, 1, 9);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "kinds";
    int n = argc > 2 ? atoi(argv[2]) : 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size > MAX || size < 2)
        MPI_Abort(MPI_COMM_WORLD, 2);
    if (!strcmp(what, "ring"))
        ring(n);
    if (!strcmp(what, "grid"))
        grid(n);
    if (!strcmp(what, "star"))
        star(n);
    if (!strcmp(what, "noise"))
        noise(n);
    if (!strcmp(what, "windows"))
        windows((rank + 1) % size, (rank + size - 1) % size);
    if (!strcmp(what, "kinds")) {
        int next = (rank + 1) % size, last = (rank + size - 1) % size;
        MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &turned);
        all_kinds(MPI_COMM_WORLD, next, last, next);
        all_kinds(turned, turn(next), turn(last), next);
        between_groups();
        freed_while_pending();
        collectives();
        failing(MPI_COMM_WORLD);
        failing(MPI_COMM_SELF);
        failing(turned);
        MPI_Comm_free(&turned);
    }
    print_matrix();
    MPI_Finalize();
    return 0;
}
