/* SPDX-License-Identifier: BSD-3-Clause
 *
 * See state_tool.h. Calls MPI in the default environment.
 */
#include "tests/safety/state_tool.h"

#include <mpi.h>
#include <stdio.h>

__thread struct state state_to_tool, state_to_program;
__thread int state_kind;
_Atomic long state_seen, state_wrong_before;
_Atomic int state_fake;

static void print(const char *name, const struct state *s)
{
    fprintf(stderr, "%s: errno %d, rounding %x, flags %x, traps %x, mxcsr %x, blocked %lx\n", name,
            s->error, (unsigned)s->rounding, (unsigned)s->flags, (unsigned)s->traps, s->mxcsr,
            (unsigned long)s->blocked);
}

static void before(const char *name)
{
    if (!state_to_tool.error)
        return; /* of stacks.c */
    struct state s = state_now();
    state_reset();
    state_seen++;
    if (memcmp(&s, &state_to_tool, sizeof s) && state_wrong_before++ < 10) {
        print(name, &s);
        print("wanted", &state_to_tool);
    }
}

static void after(void)
{
    if (!state_to_tool.error)
        return;
    state_to_program = state_set(!state_kind, 7000 + state_kind);
}

#define TOOL(name, parameters, arguments)                                                          \
    int MPI_##name parameters                                                                      \
    {                                                                                              \
        if (state_fake)                                                                            \
            return MPI_SUCCESS;                                                                    \
        before("MPI_" #name);                                                                      \
        int rc = PMPI_##name arguments;                                                            \
        after();                                                                                   \
        return rc;                                                                                 \
    }

TOOL(Initialized, (int *flag), (flag))
TOOL(Finalized, (int *flag), (flag))
TOOL(Init_thread, (int *argc, char ***argv, int required, int *provided),
     (argc, argv, required, provided))
TOOL(Finalize, (void), ())
TOOL(Comm_rank, (MPI_Comm comm, int *rank), (comm, rank))
TOOL(Comm_size, (MPI_Comm comm, int *size), (comm, size))
TOOL(Comm_dup, (MPI_Comm comm, MPI_Comm *new), (comm, new))
TOOL(Comm_free, (MPI_Comm * comm), (comm))
TOOL(Barrier, (MPI_Comm comm), (comm))
TOOL(Bcast, (void *data, int n, MPI_Datatype type, int root, MPI_Comm comm),
     (data, n, type, root, comm))
TOOL(Allreduce, (const void *from, void *to, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
     (from, to, n, type, op, comm))
TOOL(Send, (const void *data, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm),
     (data, n, type, to, tag, comm))
TOOL(Recv,
     (void *data, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status *status),
     (data, n, type, from, tag, comm, status))
TOOL(Isend,
     (const void *data, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm,
      MPI_Request *request),
     (data, n, type, to, tag, comm, request))
TOOL(Irecv,
     (void *data, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request *request),
     (data, n, type, from, tag, comm, request))
TOOL(Wait, (MPI_Request * request, MPI_Status *status), (request, status))
TOOL(Waitall, (int n, MPI_Request *requests, MPI_Status *statuses), (n, requests, statuses))
TOOL(Test, (MPI_Request * request, int *flag, MPI_Status *status), (request, flag, status))
TOOL(Iprobe, (int from, int tag, MPI_Comm comm, int *flag, MPI_Status *status),
     (from, tag, comm, flag, status))
TOOL(Get_count, (const MPI_Status *status, MPI_Datatype type, int *n), (status, type, n))
TOOL(Type_contiguous, (int n, MPI_Datatype old, MPI_Datatype *new), (n, old, new))
TOOL(Type_commit, (MPI_Datatype * type), (type))
TOOL(Type_free, (MPI_Datatype * type), (type))
