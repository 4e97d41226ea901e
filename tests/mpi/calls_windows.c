/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One-sided communication with the right neighbour, in all three ways to synchronise. Compiled
 * twice.
 */
#include "tests/mpi/calls.h"

#include <stdlib.h>

/* clang-format off: a call is one line of source */

enum { N = 4 };

static int memory[64], out[16], in[16];

TRUTH_FUNCTION static void fenced(const struct calls *p, MPI_Win w)
{
    int to = p->right;
    ENTER;
    MPI(Win_fence, 0, 0, (0, w));
    X(Put, INTS(N), 0, (out, N, MPI_INT, to, 0, N, MPI_INT, w));
    X(Put, 0, 0, (out, N, MPI_INT, MPI_PROC_NULL, 0, N, MPI_INT, w));
    MPI(Win_fence, 0, 0, (0, w));
    X(Get, 0, INTS(N), (in, N, MPI_INT, to, 0, N, MPI_INT, w));
    X(Get, 0, 0, (in, N, MPI_INT, MPI_PROC_NULL, 0, N, MPI_INT, w));
    MPI(Win_fence, 0, 0, (0, w));
    X(Accumulate, INTS(N), 0, (out, N, MPI_INT, to, 0, N, MPI_INT, MPI_SUM, w));
    X(Get_accumulate, INTS(N), INTS(N),
      (out, N, MPI_INT, in, N, MPI_INT, to, 0, N, MPI_INT, MPI_SUM, w));
    X(Get_accumulate, 0, INTS(N),
      (out, N, MPI_INT, in, N, MPI_INT, to, 0, N, MPI_INT, MPI_NO_OP, w));
    MPI(Win_fence, 0, 0, (0, w));
    LEAVE;
}

TRUTH_FUNCTION static void locked(const struct calls *p, MPI_Win w)
{
    MPI_Request r;
    int to = p->right;
    ENTER;
    MPI(Win_lock, 0, 0, (MPI_LOCK_SHARED, to, 0, w));
    MPI(Fetch_and_op, INTS(1), INTS(1), (out, in, MPI_INT, to, 0, MPI_SUM, w));
    MPI(Win_flush, 0, 0, (to, w));
    MPI(Fetch_and_op, 0, INTS(1), (out, in, MPI_INT, to, 0, MPI_NO_OP, w));
    MPI(Win_flush_local, 0, 0, (to, w));
    MPI(Compare_and_swap, INTS(1), INTS(1), (out, in, in + 1, MPI_INT, to, 0, w));
    MPI(Win_unlock, 0, 0, (to, w));
    MPI(Win_lock_all, 0, 0, (0, w));
    X(Rput, INTS(N), 0, (out, N, MPI_INT, to, 0, N, MPI_INT, w, &r));
    MPI(Wait, 0, 0, (&r, MPI_STATUS_IGNORE));
    X(Rget, 0, INTS(N), (in, N, MPI_INT, to, 0, N, MPI_INT, w, &r));
    MPI(Wait, 0, 0, (&r, MPI_STATUS_IGNORE));
    MPI(Win_flush_all, 0, 0, (w));
    X(Raccumulate, INTS(N), 0, (out, N, MPI_INT, to, 0, N, MPI_INT, MPI_SUM, w, &r));
    MPI(Wait, 0, 0, (&r, MPI_STATUS_IGNORE));
    X(Rget_accumulate, INTS(N), INTS(N),
      (out, N, MPI_INT, in, N, MPI_INT, to, 0, N, MPI_INT, MPI_SUM, w, &r));
    MPI(Wait, 0, 0, (&r, MPI_STATUS_IGNORE));
    MPI(Win_flush_local_all, 0, 0, (w));
    MPI(Win_sync, 0, 0, (w));
    MPI(Win_unlock_all, 0, 0, (w));
    LEAVE;
}

/* Everyone exposes its window to all and puts to its right neighbour. */
TRUTH_FUNCTION static void exposed(const struct calls *p, MPI_Win w, int by_test)
{
    MPI_Group g;
    int flag = 0;
    ENTER;
    MPI(Win_get_group, 0, 0, (w, &g));
    MPI(Win_post, 0, 0, (g, 0, w));
    MPI(Win_start, 0, 0, (g, 0, w));
    X(Put, INTS(N), 0, (out, N, MPI_INT, p->right, 0, N, MPI_INT, w));
    MPI(Win_complete, 0, 0, (w));
    while (by_test && !flag)
        MPI(Win_test, 0, 0, (w, &flag));
    if (!by_test)
        MPI(Win_wait, 0, 0, (w));
    MPI(Group_free, 0, 0, (&g));
    LEAVE;
}

TRUTH_FUNCTION static void made_elsewhere(const struct calls *p)
{
    MPI_Win w;
    void *base;
    MPI_Aint size;
    disp_type unit;
    MPI_Comm node;
    ENTER;
    X(Win_allocate, 0, 0, (sizeof memory, 1, MPI_INFO_NULL, p->c, &base, &w));
    MPI(Win_free, 0, 0, (&w));
    MPI(Comm_split_type, 0, 0, (p->c, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
    X(Win_allocate_shared, 0, 0, (sizeof memory, 1, MPI_INFO_NULL, node, &base, &w));
    X(Win_shared_query, 0, 0, (w, 0, &size, &unit, &base));
    MPI(Win_free, 0, 0, (&w));
    MPI(Comm_free, 0, 0, (&node));
    LEAVE;
}

#ifndef CALLS_LARGE
TRUTH_FUNCTION static void asked(const struct calls *p)
{
    MPI_Win w;
    MPI_Info info;
    char name[MPI_MAX_OBJECT_NAME];
    int n;
    ENTER;
    MPI(Win_create_dynamic, 0, 0, (MPI_INFO_NULL, p->c, &w));
    MPI(Win_attach, 0, 0, (w, memory, sizeof memory));
    MPI(Win_detach, 0, 0, (w, memory));
    MPI(Win_get_info, 0, 0, (w, &info));
    MPI(Win_set_info, 0, 0, (w, info));
    MPI(Info_free, 0, 0, (&info));
    MPI(Win_set_name, 0, 0, (w, "a window"));
    MPI(Win_get_name, 0, 0, (w, name, &n));
    MPI(Win_free, 0, 0, (&w));
    LEAVE;
}
#endif

TRUTH_FUNCTION void CALLS(calls_windows)(const struct calls *p)
{
    MPI_Win w;
    ENTER;
    X(Win_create, 0, 0, (memory, sizeof memory, sizeof(int), MPI_INFO_NULL, p->c, &w));
    DO(fenced(p, w));
    DO(locked(p, w));
    DO(exposed(p, w, 0));
    DO(exposed(p, w, 1));
    MPI(Win_free, 0, 0, (&w));
    DO(made_elsewhere(p));
#ifndef CALLS_LARGE
    DO(asked(p));
#endif
    LEAVE;
}
