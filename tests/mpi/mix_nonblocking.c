/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Truth program `mix`: nonblocking and persistent point-to-point calls, completed in every way,
 * with statuses and without. The bytes of a receive belong to the call that posted it.
 */
#include "tests/mpi/mix.h"

#include <stdlib.h>

#define N 64
#define N_REQUESTS 6

static int out[4 * N], in[N_REQUESTS][N];

/* Posts three receives from the left and three sends to the right. Message i has (i + rank of its
 * sender) integers. */
TRUTH_FUNCTION static void post(const struct place *p, int tag, MPI_Request *r)
{
    MPI_Comm c = p->c;
    int right = p->right, left = p->left;
    ENTER;
    for (int i = 0; i < 3; i++) {
        int n = i + p->rank, m = i + p->left;
        MPI(Irecv, 0, 4 * m, (in[i], N, MPI_INT, left, tag + i, c, &r[i]));
        MPI(Isend, 4 * n, 0, (out, n, MPI_INT, right, tag + i, c, &r[3 + i]));
    }
    LEAVE;
}

TRUTH_FUNCTION static void wait_each(const struct place *p)
{
    MPI_Request r[N_REQUESTS];
    MPI_Status s;
    ENTER;
    DO(post(p, 10, r));
    for (int i = N_REQUESTS - 1; i >= 0; i--)
        MPI(Wait, 0, 0, (&r[i], i % 2 ? &s : MPI_STATUS_IGNORE));
    LEAVE;
}

TRUTH_FUNCTION static void wait_all(const struct place *p)
{
    MPI_Request r[N_REQUESTS + 2] = {MPI_REQUEST_NULL};
    MPI_Status s[N_REQUESTS + 2];
    ENTER;
    DO(post(p, 20, r + 1));
    r[N_REQUESTS + 1] = MPI_REQUEST_NULL;
    MPI(Waitall, 0, 0, (N_REQUESTS + 2, r, s));
    DO(post(p, 20, r));
    MPI(Waitall, 0, 0, (N_REQUESTS, r, MPI_STATUSES_IGNORE));
    MPI(Waitall, 0, 0, (N_REQUESTS, r, MPI_STATUSES_IGNORE));
    MPI(Waitall, 0, 0, (0, NULL, MPI_STATUSES_IGNORE));
    LEAVE;
}

TRUTH_FUNCTION static void wait_any(const struct place *p)
{
    MPI_Request r[N_REQUESTS];
    MPI_Status s;
    int which;
    ENTER;
    DO(post(p, 30, r));
    for (int i = 0; i < N_REQUESTS; i++)
        MPI(Waitany, 0, 0, (N_REQUESTS, r, &which, i % 2 ? &s : MPI_STATUS_IGNORE));
    MPI(Waitany, 0, 0, (N_REQUESTS, r, &which, &s));
    REQUIRE(which == MPI_UNDEFINED);
    LEAVE;
}

TRUTH_FUNCTION static void wait_some(const struct place *p)
{
    MPI_Request r[N_REQUESTS];
    MPI_Status s[N_REQUESTS];
    int n, which[N_REQUESTS], done;
    ENTER;
    DO(post(p, 40, r));
    for (done = 0; done < N_REQUESTS; done += n)
        MPI(Waitsome, 0, 0, (N_REQUESTS, r, &n, which, s));
    DO(post(p, 40, r));
    for (done = 0; done < N_REQUESTS; done += n)
        MPI(Waitsome, 0, 0, (N_REQUESTS, r, &n, which, MPI_STATUSES_IGNORE));
    MPI(Waitsome, 0, 0, (N_REQUESTS, r, &n, which, MPI_STATUSES_IGNORE));
    REQUIRE(n == MPI_UNDEFINED);
    LEAVE;
}

/* A cancelled receive receives nothing. Bytes of a receive whose request is freed cannot be known,
 * so requests of sends alone are freed here. */
TRUTH_FUNCTION static void given_up(const struct place *p)
{
    MPI_Comm c = p->c;
    MPI_Request r;
    MPI_Status s;
    int cancelled;
    ENTER;
    MPI(Irecv, 0, 0, (in[0], N, MPI_INT, p->left, 77, c, &r));
    MPI(Cancel, 0, 0, (&r));
    MPI(Wait, 0, 0, (&r, &s));
    MPI(Test_cancelled, 0, 0, (&s, &cancelled));
    REQUIRE(cancelled);
    MPI(Irecv, 0, 0, (in[0], N, MPI_INT, p->left, 77, c, &r));
    MPI(Cancel, 0, 0, (&r));
    MPI(Wait, 0, 0, (&r, MPI_STATUS_IGNORE));
    MPI(Isend, 8, 0, (out, 2, MPI_INT, p->right, 78, c, &r));
    MPI(Request_free, 0, 0, (&r));
    MPI(Recv, 0, 8, (in[0], N, MPI_INT, p->left, 78, c, &s));
    LEAVE;
}

TRUTH_FUNCTION static void modes(const struct place *p)
{
    MPI_Comm c = p->c;
    MPI_Request r[5];
    char room[256 + MPI_BSEND_OVERHEAD], *old;
    int size, right = p->right, left = p->left;
    ENTER;
    MPI(Buffer_attach, 0, 0, (room, sizeof room));
    MPI(Irecv, 0, 16, (in[0], 4, MPI_INT, left, 51, c, &r[0]));
    MPI(Irecv, 0, 24, (in[1], 3, MPI_DOUBLE, left, 52, c, &r[1]));
    MPI(Barrier, 0, 0, (c));
    MPI(Irsend, 16, 0, (out, 4, MPI_INT, right, 51, c, &r[2]));
    MPI(Issend, 24, 0, (out, 3, MPI_DOUBLE, right, 52, c, &r[3]));
    MPI(Waitall, 0, 0, (4, r, MPI_STATUSES_IGNORE));
    MPI(Ibsend, 12, 0, (out, 3, MPI_INT, right, 53, c, &r[0]));
    MPI(Irecv, 0, 12, (in[0], N, MPI_INT, MPI_ANY_SOURCE, 53, c, &r[1]));
    MPI(Isend, 0, 0, (out, 9, MPI_INT, MPI_PROC_NULL, 54, c, &r[2]));
    MPI(Irecv, 0, 0, (in[2], 9, MPI_INT, MPI_PROC_NULL, 54, c, &r[3]));
    MPI(Waitall, 0, 0, (4, r, MPI_STATUSES_IGNORE));
    MPI(Buffer_detach, 0, 0, (&old, &size));
    LEAVE;
}

void mix_nonblocking(const struct place *p)
{
    ENTER;
    DO(wait_each(p));
    DO(wait_all(p));
    DO(wait_any(p));
    DO(wait_some(p));
    DO(given_up(p));
    DO(modes(p));
    LEAVE;
}

/* ---- Completion by Test*, called until the requests are complete ----------------------------- */

TRUTH_FUNCTION static void test_each(const struct place *p)
{
    MPI_Request r[N_REQUESTS];
    MPI_Status s;
    ENTER;
    DO(post(p, 60, r));
    for (int i = 0; i < N_REQUESTS; i++)
        for (int flag = 0; !flag;)
            MPI(Test, 0, 0, (&r[i], &flag, i % 2 ? &s : MPI_STATUS_IGNORE));
    LEAVE;
}

TRUTH_FUNCTION static void test_all(const struct place *p)
{
    MPI_Request r[N_REQUESTS];
    MPI_Status s[N_REQUESTS];
    ENTER;
    DO(post(p, 70, r));
    for (int flag = 0; !flag;)
        MPI(Testall, 0, 0, (N_REQUESTS, r, &flag, MPI_STATUSES_IGNORE));
    DO(post(p, 70, r));
    for (int flag = 0; !flag;)
        MPI(Testall, 0, 0, (N_REQUESTS, r, &flag, s));
    LEAVE;
}

TRUTH_FUNCTION static void test_any(const struct place *p)
{
    MPI_Request r[N_REQUESTS];
    MPI_Status s;
    int which, flag;
    ENTER;
    DO(post(p, 80, r));
    for (int done = 0; done < N_REQUESTS; done += flag)
        MPI(Testany, 0, 0, (N_REQUESTS, r, &which, &flag, done % 2 ? &s : MPI_STATUS_IGNORE));
    MPI(Testany, 0, 0, (N_REQUESTS, r, &which, &flag, MPI_STATUS_IGNORE));
    REQUIRE(flag && which == MPI_UNDEFINED);
    LEAVE;
}

TRUTH_FUNCTION static void test_some(const struct place *p)
{
    MPI_Request r[N_REQUESTS];
    MPI_Status s[N_REQUESTS];
    int n, which[N_REQUESTS], done;
    ENTER;
    DO(post(p, 90, r));
    for (done = 0; done < N_REQUESTS; done += n)
        MPI(Testsome, 0, 0, (N_REQUESTS, r, &n, which, MPI_STATUSES_IGNORE));
    DO(post(p, 90, r));
    for (done = 0; done < N_REQUESTS; done += n)
        MPI(Testsome, 0, 0, (N_REQUESTS, r, &n, which, s));
    LEAVE;
}

/* MPI_Request_get_status does not complete a request: its bytes are booked once. */
TRUTH_FUNCTION static void looked_at(const struct place *p)
{
    MPI_Request r[N_REQUESTS];
    MPI_Status s;
    ENTER;
    DO(post(p, 100, r));
    for (int flag = 0; !flag;)
        MPI(Request_get_status, 0, 0, (r[0], &flag, MPI_STATUS_IGNORE));
    for (int flag = 0; !flag;)
        MPI(Request_get_status, 0, 0, (r[1], &flag, &s));
    MPI(Waitall, 0, 0, (N_REQUESTS, r, MPI_STATUSES_IGNORE));
    LEAVE;
}

void mix_tests(const struct place *p)
{
    ENTER;
    DO(test_each(p));
    DO(test_all(p));
    DO(test_any(p));
    DO(test_some(p));
    DO(looked_at(p));
    LEAVE;
}

/* ---- Persistent requests: the bytes belong to the call that starts them ---------------------- */

TRUTH_FUNCTION static void make(const struct place *p, MPI_Request *r)
{
    MPI_Comm c = p->c;
    int right = p->right, left = p->left;
    ENTER;
    MPI(Recv_init, 0, 0, (in[0], N, MPI_INT, left, 111, c, &r[0]));
    MPI(Recv_init, 0, 0, (in[1], N, MPI_INT, left, 112, c, &r[1]));
    MPI(Recv_init, 0, 0, (in[2], N, MPI_INT, MPI_PROC_NULL, 113, c, &r[2]));
    MPI(Send_init, 0, 0, (out, 3 + p->rank, MPI_INT, right, 111, c, &r[3]));
    MPI(Ssend_init, 0, 0, (out, 5, MPI_DOUBLE, right, 112, c, &r[4]));
    MPI(Send_init, 0, 0, (out, 5, MPI_DOUBLE, MPI_PROC_NULL, 113, c, &r[5]));
    LEAVE;
}

void mix_persistent(const struct place *p)
{
    MPI_Request r[N_REQUESTS];
    int n = 4 * (3 + p->rank), m = 4 * (3 + p->left);
    ENTER;
    DO(make(p, r));
    for (int i = 0; i < 4; i++) {
        MPI(Startall, n + 40, m + 40, (N_REQUESTS, r));
        MPI(Waitall, 0, 0, (N_REQUESTS, r, MPI_STATUSES_IGNORE));
    }
    MPI(Start, 0, m, (&r[0]));
    MPI(Start, n, 0, (&r[3]));
    MPI(Wait, 0, 0, (&r[0], MPI_STATUS_IGNORE));
    MPI(Wait, 0, 0, (&r[3], MPI_STATUS_IGNORE));
    MPI(Wait, 0, 0, (&r[3], MPI_STATUS_IGNORE));
    MPI(Start, 0, 40, (&r[1]));
    MPI(Start, 40, 0, (&r[4]));
    for (int flag = 0; !flag;)
        MPI(Test, 0, 0, (&r[1], &flag, MPI_STATUS_IGNORE));
    MPI(Wait, 0, 0, (&r[4], MPI_STATUS_IGNORE));
    for (int i = 0; i < N_REQUESTS; i++)
        MPI(Request_free, 0, 0, (&r[i]));
    LEAVE;
}
