/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Requests: the bytes of a nonblocking or persistent receive are those that arrived, booked on the
 * call that posted or started it, for every way to complete it; nothing is booked twice or lost.
 */
#include "tests/mpi/adapter_rules.h"

#include <pthread.h>

#define MANY 5000

static int next, last;
static double in[MANY], out[MANY];
static MPI_Request requests[MANY];
static MPI_Status statuses[MANY];
static int indices[MANY];

static struct adapter_seen now(void)
{
    struct adapter_seen s;
    look(&s);
    return s;
}

/* Posts n receives of room for 4 ints, tags from 0, message i of i % 5 ints sent to the neighbour;
 * returns the number of the first call. */
static uint64_t exchange(int n, uint64_t *bytes_out)
{
    uint64_t first = 0;
    *bytes_out = 0;
    for (int i = 0; i < n; i++) {
        MPI_Irecv(&in[i % 512], 4, MPI_INT, last, i, MPI_COMM_WORLD, &requests[i]);
        first = i == 0 ? now().node : first;
    }
    for (int i = 0; i < n; i++) {
        MPI_Request send;
        MPI_Isend(out, i % 5, MPI_INT, next, i, MPI_COMM_WORLD, &send);
        MPI_Wait(&send, MPI_STATUS_IGNORE);
        *bytes_out += 4 * (uint64_t)(i % 5);
    }
    return first;
}

/* Expected values of the completions between two checks. */
static void expect_completed(struct adapter_seen before, uint64_t n, uint64_t bytes)
{
    struct adapter_seen after = now();
    EXPECT(after.completions - before.completions, n);
    EXPECT(after.all_received - before.all_received, bytes);
    EXPECT(after.lost_receives, before.lost_receives);
}

static void one_by_one(void)
{
    uint64_t bytes;
    MPI_Status status;
    int flag = 0, n;
    uint64_t first = exchange(3, &bytes);
    for (int i = 2; i >= 0; i--) {
        struct adapter_seen before = now();
        if (i == 2) {
            MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
        } else if (i == 1) {
            while (!flag)
                MPI_Test(&requests[i], &flag, &status);
            MPI_Get_count(&status, MPI_INT, &n);
            EXPECT(n, 1);
        } else {
            MPI_Waitall(1, &requests[i], MPI_STATUSES_IGNORE);
        }
        EXPECT(requests[i] == MPI_REQUEST_NULL, 1);
        expect_completed(before, 1, 4 * (uint64_t)i);
        EXPECT(now().completed_node, first + (uint64_t)i);
    }
    struct adapter_seen before = now();
    MPI_Wait(&requests[0], &status); /* null by now */
    expect_completed(before, 0, 0);
}

static void many(void)
{
    uint64_t bytes;
    int n_done, flag, done = 0, index;
    struct adapter_seen before = now();
    exchange(MANY, &bytes);
    MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE);
    expect_completed(before, MANY, bytes);

    before = now();
    exchange(MANY, &bytes);
    MPI_Waitall(MANY, requests, statuses);
    expect_completed(before, MANY, bytes);
    for (int i = 0, n; i < MANY; i++) {
        MPI_Get_count(&statuses[i], MPI_INT, &n);
        EXPECT(n, i % 5);
        EXPECT(statuses[i].MPI_TAG, i);
    }

    before = now();
    exchange(200, &bytes);
    for (flag = 0; !flag;)
        MPI_Testall(200, requests, &flag, MPI_STATUSES_IGNORE);
    expect_completed(before, 200, bytes);

    before = now();
    exchange(200, &bytes);
    for (done = 0; done < 200; done += n_done)
        MPI_Waitsome(200, requests, &n_done, indices, MPI_STATUSES_IGNORE);
    expect_completed(before, 200, bytes);

    before = now();
    exchange(200, &bytes);
    for (done = 0; done < 200; done += n_done)
        MPI_Testsome(200, requests, &n_done, indices, statuses);
    expect_completed(before, 200, bytes);

    before = now();
    exchange(50, &bytes);
    for (done = 0; done < 50; done++)
        MPI_Waitany(50, requests, &index, MPI_STATUS_IGNORE);
    MPI_Waitany(50, requests, &index, MPI_STATUS_IGNORE);
    EXPECT(index == MPI_UNDEFINED, 1);
    expect_completed(before, 50, bytes);

    before = now();
    exchange(50, &bytes);
    for (done = 0; done < 50; done += flag)
        MPI_Testany(50, requests, &index, &flag, MPI_STATUS_IGNORE);
    expect_completed(before, 50, bytes);
}

static void persistent(void)
{
    MPI_Request r[3];
    int flag;
    MPI_Recv_init(in, 10, MPI_INT, last, 1, MPI_COMM_WORLD, &r[0]);
    MPI_Send_init(out, 3, MPI_INT, next, 1, MPI_COMM_WORLD, &r[1]);
    MPI_Send_init(out, 3, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &r[2]);
    EXPECT(now().sent, 0);
    for (int i = 0; i < 3; i++) {
        struct adapter_seen before = now();
        CALL(Start, (&r[0]), 0, 0);
        uint64_t start = now().node;
        CALL(Startall, (2, &r[1]), 12, 0);
        MPI_Waitall(3, r, MPI_STATUSES_IGNORE);
        expect_completed(before, 1, 12);
        EXPECT(now().completed_node, start);
        before = now();
        MPI_Waitall(3, r, MPI_STATUSES_IGNORE); /* inactive */
        MPI_Test(&r[0], &flag, MPI_STATUS_IGNORE);
        expect_completed(before, 0, 0);
    }
    struct adapter_seen before = now();
    for (int i = 0; i < 3; i++)
        MPI_Request_free(&r[i]);
    expect_completed(before, 0, 0);
}

static void cancelled_and_freed(void)
{
    MPI_Request r, s;
    MPI_Status status;
    int flag;
    struct adapter_seen before = now();
    MPI_Irecv(in, 10, MPI_INT, last, 77, MPI_COMM_WORLD, &r);
    MPI_Cancel(&r);
    MPI_Wait(&r, &status);
    MPI_Test_cancelled(&status, &flag);
    EXPECT(flag, 1);
    expect_completed(before, 1, 0);

    before = now();
    MPI_Irecv(in, 10, MPI_INT, MPI_PROC_NULL, 77, MPI_COMM_WORLD, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    expect_completed(before, 0, 0);

    /* Tested as complete, then waited for. */
    MPI_Irecv(in, 10, MPI_INT, last, 78, MPI_COMM_WORLD, &r);
    MPI_Isend(out, 4, MPI_INT, next, 78, MPI_COMM_WORLD, &s);
    for (flag = 0; !flag;)
        MPI_Request_get_status(r, &flag, MPI_STATUS_IGNORE);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Wait(&s, MPI_STATUS_IGNORE);
    expect_completed(before, 1, 16);

    before = now();
    MPI_Irecv(in, 10, MPI_INT, last, 79, MPI_COMM_WORLD, &r);
    MPI_Request_free(&r);
    EXPECT(now().lost_receives - before.lost_receives, 1);
    MPI_Send(out, 4, MPI_INT, next, 79, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    EXPECT(now().completions - before.completions, 0);
}

static void matched(void)
{
    MPI_Request r, s;
    MPI_Message message;
    MPI_Isend(out, 6, MPI_INT, next, 80, MPI_COMM_WORLD, &s);
    MPI_Mprobe(last, 80, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    struct adapter_seen before = now();
    MPI_Imrecv(in, 10, MPI_INT, &message, &r);
    uint64_t node = now().node;
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Wait(&s, MPI_STATUS_IGNORE);
    expect_completed(before, 1, 24);
    EXPECT(now().completed_node, node);
}

/* A truncated receive: the program sees the same error as without the library, and nothing is
 * booked for it. */
static void truncated(void)
{
    MPI_Comm loose;
    MPI_Request r[2];
    MPI_Comm_dup(MPI_COMM_WORLD, &loose);
    MPI_Comm_set_errhandler(loose, MPI_ERRORS_RETURN);
    /* MPICH asks the handler of this one in Waitall, from 4.2 on that of the other. */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    struct adapter_seen before = now();
    MPI_Irecv(in, 1, MPI_INT, last, 1, loose, &r[0]);
    MPI_Irecv(in, 9, MPI_INT, last, 2, loose, &r[1]);
    MPI_Send(out, 5, MPI_INT, next, 2, loose);
    MPI_Send(out, 5, MPI_INT, next, 1, loose);
    int rc = MPI_Waitall(2, r, MPI_STATUSES_IGNORE), class;
    MPI_Error_class(rc, &class);
    if (size > 1) /* Open MPI tells nobody of what it cuts on the way to oneself */
        EXPECT(class == MPI_ERR_IN_STATUS || class == MPI_ERR_TRUNCATE, 1);
    for (int i = 0; i < 2; i++)
        if (r[i] != MPI_REQUEST_NULL)
            MPI_Wait(&r[i], MPI_STATUS_IGNORE);
    EXPECT(now().completions - before.completions, 2);
    EXPECT(now().lost_receives, before.lost_receives);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_free(&loose);
}

/* Calls without a place for the index fail as they do without the library, and complete nothing. */
static void without_index(void)
{
    MPI_Request r;
    int flag, class;
    MPI_Irecv(in, 1, MPI_INT, last, 81, MPI_COMM_WORLD, &r);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN); /* as MPI 4 asks */
    struct adapter_seen before = now();
    MPI_Error_class(MPI_Waitany(1, &r, NULL, MPI_STATUS_IGNORE), &class);
    EXPECT(class, MPI_ERR_ARG);
    MPI_Error_class(MPI_Testany(1, &r, NULL, &flag, MPI_STATUS_IGNORE), &class);
    EXPECT(class, MPI_ERR_ARG);
    expect_completed(before, 0, 0);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    MPI_Cancel(&r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
}

/* ---- Threads: each posts, another completes ------------------------------------------------- */

#define ROUNDS 300
#define BATCH 16

static MPI_Request shared[2][BATCH];
static pthread_barrier_t turn;
static uint64_t thread_nodes[2][BATCH];
static MPI_Comm thread_comm[2];

static void *exchange_turns(void *arg)
{
    int me = arg != NULL;
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Request sends[BATCH];
        for (int i = 0; i < BATCH; i++) {
            MPI_Irecv(&in[me * 64 + i], 4, MPI_INT, last, i, thread_comm[me], &shared[me][i]);
            thread_nodes[me][i] = now().node;
        }
        for (int i = 0; i < BATCH; i++)
            MPI_Isend(out, i % 4, MPI_INT, next, i, thread_comm[me], &sends[i]);
        pthread_barrier_wait(&turn);
        for (int i = 0; i < BATCH; i++) { /* those of the other thread */
            MPI_Wait(&shared[!me][i], MPI_STATUS_IGNORE);
            EXPECT(now().completed_node, thread_nodes[!me][i]);
            EXPECT(now().completed_bytes, 4 * (i % 4));
        }
        MPI_Waitall(BATCH, sends, MPI_STATUSES_IGNORE);
        pthread_barrier_wait(&turn);
    }
    return NULL;
}

static void across_threads(void)
{
    pthread_t other;
    struct adapter_seen before = now();
    MPI_Comm_dup(MPI_COMM_WORLD, &thread_comm[0]);
    MPI_Comm_dup(MPI_COMM_WORLD, &thread_comm[1]);
    pthread_barrier_init(&turn, NULL, 2);
    pthread_create(&other, NULL, exchange_turns, &turn);
    exchange_turns(NULL);
    pthread_join(other, NULL);
    expect_completed(before, 2 * ROUNDS * BATCH, (uint64_t)2 * ROUNDS * BATCH * 6);
    one_by_one(); /* with two tables */
    many();
    persistent();
    MPI_Comm_free(&thread_comm[0]);
    MPI_Comm_free(&thread_comm[1]);
}

int main(int argc, char **argv)
{
#if defined OPEN_MPI
    /* Open MPI's Waitall sometimes hangs after an error, with or without a profiler (4.1.4). */
    const int most = 1;
#else
    const int most = 2;
#endif
    int provided;
    find_host();
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    next = (rank + 1) % size;
    last = (rank + size - 1) % size;
    one_by_one();
    many();
    persistent();
    cancelled_and_freed();
    matched();
    without_index();
    if (size <= most)
        truncated();
    if (provided == MPI_THREAD_MULTIPLE)
        across_threads();
    int failed = report("adapter_pending");
    MPI_Finalize();
    return failed;
}
