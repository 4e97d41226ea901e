/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Requests and communicators over MPI_Pcontrol(0): receives that complete, and handles that are
 * given out again, while collection is off; and receives over MPI_Pcontrol(2). Two ranks. Each
 * receive whose bytes are to be counted has 8 bytes, each other one 1,600. Rank 0 prints the bytes
 * of receives of all ranks that are counted, those of persistent sends, and the number of receives
 * whose bytes are not known. Then rank 0 sends 8 bytes to rank 1 over a communicator with the ranks
 * in reverse, made while collection was off, perhaps with the handle of another.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

enum { SHORT = 1, LONG = 200 };
static double in[LONG], out[LONG];
static int rank, n_counted, n_lost, n_started;

static MPI_Request receive(int n, int tag)
{
    MPI_Request request;
    MPI_Irecv(in, n, MPI_DOUBLE, rank, tag, MPI_COMM_WORLD, &request);
    return request;
}

static void complete(MPI_Request *request, int n, int tag)
{
    MPI_Send(out, n, MPI_DOUBLE, rank, tag, MPI_COMM_WORLD);
    MPI_Wait(request, MPI_STATUS_IGNORE);
}

static void counted(int tag)
{
    MPI_Request request = receive(SHORT, tag);
    complete(&request, SHORT, tag);
    n_counted++;
}

/* Operations that are under way when all is forgotten are forgotten, too. */
static void forgotten(void)
{
    MPI_Request request = receive(LONG, 13), again;
    MPI_Recv_init(in, SHORT, MPI_DOUBLE, rank, 14, MPI_COMM_WORLD, &again);
    MPI_Start(&again);
    MPI_Pcontrol(2);
    complete(&request, LONG, 13);
    complete(&again, SHORT, 14);
    MPI_Start(&again);
    complete(&again, SHORT, 14);
    n_counted++;
    MPI_Request_free(&again);
}

/* The first receive completes unseen; the second may have its handle, and nobody saw its start. */
static void given_again(void)
{
    MPI_Request first = receive(SHORT, 1), second;
    MPI_Pcontrol(0);
    complete(&first, SHORT, 1);
    second = receive(LONG, 2);
    MPI_Pcontrol(1);
    complete(&second, LONG, 2);
    n_lost++;
    counted(3);
}

/* A request of before may be that of the receive, or another with its handle. */
static void over_the_gap(void)
{
    MPI_Request request = receive(LONG, 4), all[6];
    MPI_Pcontrol(0);
    MPI_Pcontrol(1);
    complete(&request, LONG, 4);
    for (int i = 0; i < 6; i++)
        all[i] = receive(LONG, 5);
    MPI_Pcontrol(0);
    MPI_Pcontrol(1);
    for (int i = 0; i < 6; i++)
        MPI_Send(out, LONG, MPI_DOUBLE, rank, 5, MPI_COMM_WORLD);
    MPI_Waitall(6, all, MPI_STATUSES_IGNORE);
    n_lost += 7;
    counted(6);
}

/* A persistent receive counts again when it has been started again. */
static void persistent(void)
{
    MPI_Request request;
    MPI_Recv_init(in, LONG, MPI_DOUBLE, rank, 7, MPI_COMM_WORLD, &request);
    MPI_Start(&request);
    MPI_Pcontrol(0);
    complete(&request, LONG, 7);
    MPI_Start(&request);
    MPI_Pcontrol(1);
    complete(&request, LONG, 7);
    n_lost++;
    MPI_Start(&request);
    complete(&request, SHORT, 7);
    n_counted++;
    MPI_Request_free(&request);
}

/* Persistent operations made while collection is off count when they are started, and one that was
 * freed meanwhile does not count for another with its handle. A receive that is started again,
 * while its end was not seen, is lost. */
static void made_off(void)
{
    MPI_Request send, receive;
    MPI_Send_init(out, LONG, MPI_DOUBLE, rank, 10, MPI_COMM_WORLD, &send);
    MPI_Pcontrol(0);
    MPI_Request_free(&send);
    MPI_Recv_init(in, SHORT, MPI_DOUBLE, rank, 10, MPI_COMM_WORLD, &receive);
    MPI_Send_init(out, SHORT, MPI_DOUBLE, rank, 10, MPI_COMM_WORLD, &send);
    MPI_Pcontrol(1);
    MPI_Start(&receive);
    MPI_Start(&send);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
    n_counted++;
    n_started++;
    MPI_Start(&receive);
    MPI_Pcontrol(0);
    complete(&receive, SHORT, 10);
    MPI_Pcontrol(1);
    n_lost++;
    MPI_Start(&receive);
    complete(&receive, SHORT, 10);
    n_counted++;
    MPI_Request_free(&send);
    MPI_Request_free(&receive);
}

/* A request that is freed over the gap: when its operation ended is not known. */
static void freed(void)
{
    for (int off = 0; off < 2; off++) {
        MPI_Request request = receive(LONG, 11);
        MPI_Pcontrol(0);
        if (off)
            MPI_Request_free(&request);
        MPI_Pcontrol(1);
        if (!off)
            MPI_Request_free(&request);
        MPI_Send(out, LONG, MPI_DOUBLE, rank, 11, MPI_COMM_WORLD);
        n_lost++;
    }
}

/* The handle of a message that was received unseen may be given to another one. */
static void matched(void)
{
    MPI_Comm other;
    MPI_Message message;
    MPI_Request request;
    int me;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &other);
    MPI_Comm_rank(other, &me);
    for (int turn = 0; turn < 2; turn++) {
        MPI_Comm comm = turn ? MPI_COMM_WORLD : other;
        int to = turn ? rank : me;
        MPI_Isend(out, SHORT, MPI_DOUBLE, to, 12, comm, &request);
        MPI_Mprobe(to, 12, comm, &message, MPI_STATUS_IGNORE);
        MPI_Pcontrol(turn);
        MPI_Mrecv(in, SHORT, MPI_DOUBLE, &message, MPI_STATUS_IGNORE);
        MPI_Pcontrol(1);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Comm_free(&other);
}

static void *ask(void *arg)
{
    int provided;
    MPI_Query_thread(&provided);
    return arg;
}

/* The first call of a thread does not count while collection is off. */
static void thread_while_off(void)
{
    pthread_t thread;
    MPI_Pcontrol(0);
    if (pthread_create(&thread, NULL, ask, NULL) == 0)
        pthread_join(thread, NULL);
    MPI_Pcontrol(1);
}

/* MPI_Wait(NULL) is an error of the program, which it may handle. */
static void no_request(void)
{
    MPI_Request request = receive(SHORT, 8);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    if (MPI_Wait(NULL, MPI_STATUS_IGNORE) == MPI_SUCCESS)
        fprintf(stderr, "MPI_Wait(NULL) is no error\n");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    complete(&request, SHORT, 8);
    n_counted++;
}

static void reversed(void)
{
    MPI_Comm first, second;
    MPI_Comm_dup(MPI_COMM_WORLD, &first);
    MPI_Barrier(first);
    MPI_Pcontrol(0);
    MPI_Comm_free(&first);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &second);
    MPI_Comm_set_name(second, "reversed");
    MPI_Pcontrol(1);
    if (rank == 0)
        MPI_Send(out, SHORT, MPI_DOUBLE, 0, 8, second);
    else
        MPI_Recv(in, SHORT, MPI_DOUBLE, 1, 8, second, MPI_STATUS_IGNORE);
    MPI_Comm_free(&second);
}

int main(int argc, char **argv)
{
    int size;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &size);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    forgotten();
    given_again();
    over_the_gap();
    persistent();
    made_off();
    freed();
    matched();
    thread_while_off();
    no_request();
    reversed();
    MPI_Request last = receive(LONG, 9);
    MPI_Pcontrol(0);
    complete(&last, LONG, 9);
    n_lost++;
    if (rank == 0)
        printf("%d %d %d\n", size * n_counted * SHORT * 8, size * n_started * SHORT * 8,
               size * n_lost);
    return MPI_Finalize();
}
