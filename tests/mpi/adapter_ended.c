/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Operations with requests, all kinds and all ways to complete them: each ends once, between the
 * calls that started and completed it, and the shares of a completing call add up to its time. Run
 * with ADAPTER_WANTS=16. An operation that MPI completes when it is started may end at once.
 */
#include "tests/mpi/adapter_rules.h"

#include "include/pcollect/plugin.h"

static int next, last;
static double in[64], out[64];

static struct adapter_seen now(void)
{
    struct adapter_seen s;
    look(&s);
    return s;
}

static uint64_t all_of(const struct adapter_seen *s)
{
    uint64_t n = 0;
    for (int i = 0; i < 6; i++)
        n += s->ended[i];
    return n;
}

/* Since `before`: n operations have ended in total, and the given number of them in the given
 * way. */
#define EXPECT_ENDED(before, n, how, n_how)                                                        \
    do {                                                                                           \
        struct adapter_seen ended_ = now();                                                        \
        EXPECT(all_of(&ended_) - all_of(&(before)), n);                                            \
        EXPECT(ended_.ended[how] - (before).ended[how], n_how);                                    \
    } while (0)

static void pairs(int n, MPI_Request *r)
{
    for (int i = 0; i < n; i++) {
        MPI_Irecv(&in[i], 1, MPI_DOUBLE, last, i, MPI_COMM_WORLD, &r[2 * i]);
        MPI_Isend(&out[i], 1, MPI_DOUBLE, next, i, MPI_COMM_WORLD, &r[2 * i + 1]);
    }
}

static void from_place_to_place(void)
{
    MPI_Request r;
    struct adapter_seen before = now();
    MPI_Irecv(in, 3, MPI_DOUBLE, last, 0, MPI_COMM_WORLD, &r);
    uint64_t start = now().node;
    MPI_Send(out, 2, MPI_DOUBLE, next, 0, MPI_COMM_WORLD);
    EXPECT_ENDED(before, 0, PCOLLECT_ENDED_DONE, 0);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    EXPECT_ENDED(before, 1, PCOLLECT_ENDED_DONE, 1);
    struct adapter_seen after = now();
    EXPECT(after.ended_start, start);
    EXPECT(after.ended_end, after.node);
    EXPECT(after.ended_received, 16);
    EXPECT(after.wait_sum - before.wait_sum, after.call_ticks);
    MPI_Wait(&r, MPI_STATUS_IGNORE); /* null */
    EXPECT_ENDED(before, 1, PCOLLECT_ENDED_DONE, 1);
}

/* Requests that ended at once have no share of the completing call. */
static void shares(void)
{
    MPI_Request r[24];
    struct adapter_seen before = now();
    pairs(12, r);
    struct adapter_seen started = now();
    uint64_t at_once = started.ended[PCOLLECT_ENDED_AT_ONCE] - before.ended[PCOLLECT_ENDED_AT_ONCE];
    MPI_Waitall(24, r, MPI_STATUSES_IGNORE);
    EXPECT_ENDED(before, 24, PCOLLECT_ENDED_DONE, 24 - at_once);
    EXPECT(now().wait_sum - started.wait_sum, now().call_ticks);
}

static void all_forms(void)
{
    MPI_Request r[20];
    int flag, index, n, indices[20];
    struct adapter_seen before = now();
    pairs(10, r);
    for (flag = 0; !flag;)
        MPI_Testall(20, r, &flag, MPI_STATUSES_IGNORE);
    EXPECT_ENDED(before, 20, PCOLLECT_ENDED_FAILED, 0);
    before = now();
    pairs(10, r);
    for (int done = 0; done < 20; done++)
        MPI_Waitany(20, r, &index, MPI_STATUS_IGNORE);
    EXPECT_ENDED(before, 20, PCOLLECT_ENDED_FAILED, 0);
    before = now();
    pairs(10, r);
    for (int done = 0; done < 20; done += flag)
        MPI_Testany(20, r, &index, &flag, MPI_STATUS_IGNORE);
    EXPECT_ENDED(before, 20, PCOLLECT_ENDED_FAILED, 0);
    before = now();
    pairs(10, r);
    for (int done = 0; done < 20; done += n)
        MPI_Waitsome(20, r, &n, indices, MPI_STATUSES_IGNORE);
    EXPECT_ENDED(before, 20, PCOLLECT_ENDED_FAILED, 0);
    before = now();
    pairs(10, r);
    for (int done = 0; done < 20; done += n)
        MPI_Testsome(20, r, &n, indices, MPI_STATUSES_IGNORE);
    EXPECT_ENDED(before, 20, PCOLLECT_ENDED_FAILED, 0);
    before = now();
    pairs(1, r);
    for (flag = 0; !flag;)
        MPI_Request_get_status(r[0], &flag, MPI_STATUS_IGNORE);
    for (flag = 0; !flag;)
        MPI_Test(&r[1], &flag, MPI_STATUS_IGNORE);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    EXPECT_ENDED(before, 2, PCOLLECT_ENDED_FAILED, 0);
}

static int query(void *state, MPI_Status *status)
{
    (void)state;
    MPI_Status_set_elements(status, MPI_BYTE, 0);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = MPI_UNDEFINED;
    status->MPI_TAG = MPI_UNDEFINED;
    return MPI_SUCCESS;
}

static int free_nothing(void *state)
{
    (void)state;
    return MPI_SUCCESS;
}

static int cancel_nothing(void *state, int complete)
{
    (void)state;
    (void)complete;
    return MPI_SUCCESS;
}

static void all_kinds(void)
{
    MPI_Request r[5];
    MPI_Comm twin;
    MPI_Message message;
    int sum, one = 1;
    struct adapter_seen before = now();
    MPI_Ibarrier(MPI_COMM_WORLD, &r[0]);
    MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r[1]);
    MPI_Comm_idup(MPI_COMM_WORLD, &twin, &r[2]);
    MPI_Grequest_start(query, free_nothing, cancel_nothing, NULL, &r[3]);
    MPI_Grequest_complete(r[3]);
    MPI_Issend(out, 1, MPI_DOUBLE, next, 5, MPI_COMM_WORLD, &r[4]);
    MPI_Mprobe(last, 5, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
    EXPECT_ENDED(before, 4, PCOLLECT_ENDED_FAILED, 0);
    MPI_Imrecv(in, 1, MPI_DOUBLE, &message, &r[0]);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    MPI_Wait(&r[4], MPI_STATUS_IGNORE);
    EXPECT_ENDED(before, 6, PCOLLECT_ENDED_FAILED, 0);
    before = now();
    MPI_Irecv(in, 1, MPI_DOUBLE, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &r[0]);
    MPI_Isend(in, 1, MPI_DOUBLE, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &r[1]);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    EXPECT_ENDED(before, 2, PCOLLECT_ENDED_FAILED, 0);
    before = now();
    pairs(1, r); /* a communicator may go before what is under way on it */
    MPI_Irecv(in, 1, MPI_DOUBLE, last, 9, twin, &r[2]);
    MPI_Isend(out, 1, MPI_DOUBLE, next, 9, twin, &r[3]);
    MPI_Comm_free(&twin);
    MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
    EXPECT_ENDED(before, 4, PCOLLECT_ENDED_FAILED, 0);
}

static void persistent(void)
{
    MPI_Request r[2];
    MPI_Recv_init(in, 9, MPI_DOUBLE, last, 3, MPI_COMM_WORLD, &r[0]);
    MPI_Send_init(out, 4, MPI_DOUBLE, next, 3, MPI_COMM_WORLD, &r[1]);
    for (int i = 0; i < 3; i++) {
        struct adapter_seen before = now();
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE); /* inactive */
        EXPECT_ENDED(before, 0, PCOLLECT_ENDED_DONE, 0);
        MPI_Start(&r[0]);
        MPI_Start(&r[1]);
        uint64_t start = now().node;
        MPI_Wait(&r[0], MPI_STATUS_IGNORE);
        EXPECT(now().ended_received, 32);
        MPI_Wait(&r[1], MPI_STATUS_IGNORE);
        EXPECT_ENDED(before, 2, PCOLLECT_ENDED_DONE, 2);
        EXPECT(now().ended_start, start);
        EXPECT(now().ended_sent, 32);
    }
    struct adapter_seen before = now();
    MPI_Request_free(&r[0]);
    MPI_Request_free(&r[1]);
    EXPECT_ENDED(before, 0, PCOLLECT_ENDED_FREED, 0);
}

static void cancelled_and_freed(void)
{
    MPI_Request r;
    struct adapter_seen before = now();
    MPI_Irecv(in, 1, MPI_DOUBLE, last, 77, MPI_COMM_WORLD, &r);
    MPI_Cancel(&r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    EXPECT_ENDED(before, 1, PCOLLECT_ENDED_CANCELLED, 1);
    before = now();
    MPI_Irecv(in, 1, MPI_DOUBLE, last, 78, MPI_COMM_WORLD, &r);
    MPI_Request_free(&r);
    EXPECT_ENDED(before, 1, PCOLLECT_ENDED_FREED, 1);
    EXPECT(now().ended_end, now().node);
    MPI_Send(out, 1, MPI_DOUBLE, next, 78, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    EXPECT_ENDED(before, 1, PCOLLECT_ENDED_FREED, 1);
}

/* The program sees the error code that MPI returned. */
static void failed(void)
{
    MPI_Request r;
    struct adapter_seen before = now();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    EXPECT(MPI_Irecv(in, 1, MPI_DOUBLE, size + 5, 0, MPI_COMM_WORLD, &r) == MPI_SUCCESS, 0);
    EXPECT_ENDED(before, 0, PCOLLECT_ENDED_FAILED, 0);
    if (size > 1) { /* Open MPI tells nobody of what it cuts on the way to oneself */
        int class;
        MPI_Irecv(in, 1, MPI_DOUBLE, last, 4, MPI_COMM_WORLD, &r);
        MPI_Send(out, 5, MPI_DOUBLE, next, 4, MPI_COMM_WORLD);
        int rc = MPI_Wait(&r, MPI_STATUS_IGNORE);
        MPI_Error_class(rc, &class);
        EXPECT(class, MPI_ERR_TRUNCATE);
        EXPECT_ENDED(before, 1, PCOLLECT_ENDED_FAILED, 1);
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char **argv)
{
    MPI_Request never;
    find_host();
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    next = (rank + 1) % size;
    last = (rank + size - 1) % size;
    from_place_to_place();
    shares();
    all_forms();
    all_kinds();
    persistent();
    cancelled_and_freed();
    failed();
    struct adapter_seen before = now();
    MPI_Irecv(in, 1, MPI_DOUBLE, last, 99, MPI_COMM_WORLD, &never);
    uint64_t start = now().node;
    int bad = report("adapter_ended");
    failures = 0;
    MPI_Finalize();
    EXPECT_ENDED(before, 1, PCOLLECT_ENDED_NEVER, 1);
    EXPECT(now().ended_start, start);
    EXPECT(now().ended_end, 0);
    return bad || failures;
}
