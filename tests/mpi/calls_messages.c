/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Messages around a ring: blocking, nonblocking, persistent, matched, partitioned. Compiled twice.
 */
#include "tests/mpi/calls.h"

#include <stdlib.h>

/* clang-format off: a call is one line of source */

enum { TAG = 3, N = 5 };

static int in[16], out[16];

TRUTH_FUNCTION static void blocking(const struct calls *p)
{
    MPI_Request r;
    ENTER;
    X(Irecv, 0, INTS(N), (in, N, MPI_INT, p->left, TAG, p->c, &r));
    X(Send, INTS(N), 0, (out, N, MPI_INT, p->right, TAG, p->c));
    MPI(Wait, 0, 0, (&r, MPI_STATUS_IGNORE));
    X(Irecv, 0, INTS(N), (in, N, MPI_INT, p->left, TAG, p->c, &r));
    X(Ssend, INTS(N), 0, (out, N, MPI_INT, p->right, TAG, p->c));
    MPI(Wait, 0, 0, (&r, MPI_STATUS_IGNORE));
    X(Irecv, 0, INTS(N), (in, N, MPI_INT, p->left, TAG, p->c, &r));
    MPI(Barrier, 0, 0, (p->c));
    X(Rsend, INTS(N), 0, (out, N, MPI_INT, p->right, TAG, p->c));
    MPI(Wait, 0, 0, (&r, MPI_STATUS_IGNORE));
    X(Sendrecv, INTS(N), INTS(N),
      (out, N, MPI_INT, p->right, TAG, in, N, MPI_INT, p->left, TAG, p->c, MPI_STATUS_IGNORE));
    X(Sendrecv_replace, INTS(N), INTS(N),
      (out, N, MPI_INT, p->right, TAG, p->left, TAG, p->c, MPI_STATUS_IGNORE));
    X(Send, 0, 0, (out, N, MPI_INT, MPI_PROC_NULL, TAG, p->c));
    X(Recv, 0, 0, (in, N, MPI_INT, MPI_PROC_NULL, TAG, p->c, MPI_STATUS_IGNORE));
    LEAVE;
}

/* Sends that return before they are received, and what goes through the attached buffer. */
TRUTH_FUNCTION static void buffered(const struct calls *p)
{
    MPI_Request r;
    count_type size = 4096 + MPI_BSEND_OVERHEAD;
    void *buffer = malloc((size_t)size), *detached;
    ENTER;
    X(Buffer_attach, 0, 0, (buffer, size));
    X(Bsend, INTS(N), 0, (out, N, MPI_INT, p->right, TAG, p->c));
    X(Recv, 0, INTS(N), (in, 16, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, p->c, MPI_STATUS_IGNORE));
    X(Ibsend, INTS(2), 0, (out, 2, MPI_INT, p->right, TAG, p->c, &r));
    MPI(Wait, 0, 0, (&r, MPI_STATUS_IGNORE));
    X(Recv, 0, INTS(2), (in, 16, MPI_INT, p->left, TAG, p->c, MPI_STATUS_IGNORE));
    X(Bsend_init, 0, 0, (out, 3, MPI_INT, p->right, TAG, p->c, &r));
    MPI(Start, INTS(3), 0, (&r));
    MPI(Wait, 0, 0, (&r, MPI_STATUS_IGNORE));
    MPI(Request_free, 0, 0, (&r));
    X(Recv, 0, INTS(3), (in, 16, MPI_INT, p->left, TAG, p->c, MPI_STATUS_IGNORE));
    X(Buffer_detach, 0, 0, (&detached, &size));
    LEAVE;
    free(buffer);
}

TRUTH_FUNCTION static void nonblocking(const struct calls *p)
{
    MPI_Request r[3];
    ENTER;
    X(Irecv, 0, INTS(N), (in, N, MPI_INT, p->left, TAG, p->c, &r[0]));
    X(Isend, INTS(N), 0, (out, N, MPI_INT, p->right, TAG, p->c, &r[1]));
    MPI(Waitall, 0, 0, (2, r, MPI_STATUSES_IGNORE));
    X(Irecv, 0, INTS(N), (in, N, MPI_INT, p->left, TAG, p->c, &r[0]));
    X(Issend, INTS(N), 0, (out, N, MPI_INT, p->right, TAG, p->c, &r[1]));
    MPI(Waitall, 0, 0, (2, r, MPI_STATUSES_IGNORE));
    X(Irecv, 0, INTS(N), (in, N, MPI_INT, p->left, TAG, p->c, &r[0]));
    MPI(Barrier, 0, 0, (p->c));
    X(Irsend, INTS(N), 0, (out, N, MPI_INT, p->right, TAG, p->c, &r[1]));
    MPI(Waitall, 0, 0, (2, r, MPI_STATUSES_IGNORE));
    X(Irecv, 0, 0, (in, N, MPI_INT, MPI_PROC_NULL, TAG, p->c, &r[0]));
    MPI(Wait, 0, 0, (&r[0], MPI_STATUS_IGNORE));
    LEAVE;
}

TRUTH_FUNCTION static void matched(const struct calls *p)
{
    MPI_Request r[2];
    MPI_Message m;
    MPI_Status s;
    count_type n;
    ENTER;
    X(Isend, INTS(N), 0, (out, N, MPI_INT, p->right, TAG, p->c, &r[0]));
    MPI(Mprobe, 0, 0, (p->left, TAG, p->c, &m, &s));
    X(Get_count, 0, 0, (&s, MPI_INT, &n));
    X(Get_elements, 0, 0, (&s, MPI_INT, &n));
    X(Mrecv, 0, INTS(N), (in, (int)n, MPI_INT, &m, MPI_STATUS_IGNORE));
    MPI(Wait, 0, 0, (&r[0], MPI_STATUS_IGNORE));
    X(Isend, INTS(N), 0, (out, N, MPI_INT, p->right, TAG, p->c, &r[0]));
    MPI(Mprobe, 0, 0, (p->left, TAG, p->c, &m, &s));
    X(Imrecv, 0, INTS(N), (in, N, MPI_INT, &m, &r[1]));
    MPI(Waitall, 0, 0, (2, r, MPI_STATUSES_IGNORE));
    LEAVE;
}

TRUTH_FUNCTION static void persistent(const struct calls *p)
{
    MPI_Request r[2];
    ENTER;
    X(Recv_init, 0, 0, (in, N, MPI_INT, p->left, TAG, p->c, &r[0]));
    X(Send_init, 0, 0, (out, N, MPI_INT, p->right, TAG, p->c, &r[1]));
    for (int i = 0; i < 2; i++) {
        MPI(Startall, INTS(N), INTS(N), (2, r));
        MPI(Waitall, 0, 0, (2, r, MPI_STATUSES_IGNORE));
    }
    MPI(Request_free, 0, 0, (&r[1]));
    X(Ssend_init, 0, 0, (out, N, MPI_INT, p->right, TAG, p->c, &r[1]));
    MPI(Startall, INTS(N), INTS(N), (2, r));
    MPI(Waitall, 0, 0, (2, r, MPI_STATUSES_IGNORE));
    MPI(Request_free, 0, 0, (&r[1]));
    X(Rsend_init, 0, 0, (out, N, MPI_INT, p->right, TAG, p->c, &r[1]));
    MPI(Start, 0, INTS(N), (&r[0]));
    MPI(Barrier, 0, 0, (p->c));
    MPI(Start, INTS(N), 0, (&r[1]));
    MPI(Waitall, 0, 0, (2, r, MPI_STATUSES_IGNORE));
    MPI(Request_free, 0, 0, (&r[0]));
    MPI(Request_free, 0, 0, (&r[1]));
    LEAVE;
}

#if CALLS_MPI_4
TRUTH_FUNCTION static void both_ways(const struct calls *p)
{
    MPI_Request r;
    ENTER;
    X(Isendrecv, INTS(N), INTS(N),
      (out, N, MPI_INT, p->right, TAG, in, N, MPI_INT, p->left, TAG, p->c, &r));
    MPI(Wait, 0, 0, (&r, MPI_STATUS_IGNORE));
    X(Isendrecv_replace, INTS(N), INTS(N),
      (out, N, MPI_INT, p->right, TAG, p->left, TAG, p->c, &r));
    MPI(Wait, 0, 0, (&r, MPI_STATUS_IGNORE));
    LEAVE;
}

#ifndef CALLS_LARGE
/* Four partitions of two elements. */
TRUTH_FUNCTION static void partitioned(const struct calls *p)
{
    MPI_Request r[2];
    int two[] = {1, 2}, flag = 0;
    ENTER;
    MPI(Psend_init, 0, 0, (out, 4, 2, MPI_INT, p->right, TAG, p->c, MPI_INFO_NULL, &r[0]));
    MPI(Precv_init, 0, 0, (in, 4, 2, MPI_INT, p->left, TAG, p->c, MPI_INFO_NULL, &r[1]));
    for (int i = 0; i < 2; i++) {
        MPI(Start, INTS(8), 0, (&r[0]));
        MPI(Start, 0, INTS(8), (&r[1]));
        MPI(Pready, 0, 0, (0, r[0]));
        MPI(Pready_list, 0, 0, (2, two, r[0]));
        MPI(Pready_range, 0, 0, (3, 3, r[0]));
        while (!flag)
            MPI(Parrived, 0, 0, (r[1], 3, &flag));
        MPI(Waitall, 0, 0, (2, r, MPI_STATUSES_IGNORE));
    }
    MPI(Request_free, 0, 0, (&r[0]));
    MPI(Request_free, 0, 0, (&r[1]));
    LEAVE;
}
#endif
#endif

TRUTH_FUNCTION void CALLS(calls_messages)(const struct calls *p)
{
    ENTER;
    DO(blocking(p));
    DO(buffered(p));
    DO(nonblocking(p));
    DO(matched(p));
    DO(persistent(p));
#if CALLS_MPI_4
    DO(both_ways(p));
#ifndef CALLS_LARGE
    DO(partitioned(p));
#endif
#endif
    LEAVE;
}
