/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Counts calls of communicating functions by their PMPI_ names. It is preloaded behind
 * libpcollect.so, whose own calls of MPI use these names. Prints "wire A B" for the process: A
 * calls between MPI_Init and MPI_Finalize, B in all. The program must not use these names itself.
 * Prints "asked C": C queries of communicators that MPI_Comm_idup had not finished.
 */
#define _GNU_SOURCE
#include <mpi.h>

#include <dlfcn.h>
#include <stdio.h>

static int n_all, n_before, n_asked;
static MPI_Comm unfinished; /* valid if is_unfinished */
static int is_unfinished;

static void *next_of(const char *name)
{
    n_all++;
    return dlsym(RTLD_NEXT, name);
}

#define COUNTED(name, parameters, arguments)                                                       \
    int PMPI_##name parameters                                                                     \
    {                                                                                              \
        int(*real) parameters = next_of("PMPI_" #name);                                            \
        return real arguments;                                                                     \
    }

#define OUT_PARAMETERS (const void *a, int b, MPI_Datatype c, int d, int e, MPI_Comm f)

COUNTED(Send, OUT_PARAMETERS, (a, b, c, d, e, f))
COUNTED(Ssend, OUT_PARAMETERS, (a, b, c, d, e, f))
COUNTED(Isend, (const void *a, int b, MPI_Datatype c, int d, int e, MPI_Comm f, MPI_Request *g),
        (a, b, c, d, e, f, g))
COUNTED(Recv, (void *a, int b, MPI_Datatype c, int d, int e, MPI_Comm f, MPI_Status *g),
        (a, b, c, d, e, f, g))
COUNTED(Irecv, (void *a, int b, MPI_Datatype c, int d, int e, MPI_Comm f, MPI_Request *g),
        (a, b, c, d, e, f, g))
COUNTED(Barrier, (MPI_Comm a), (a))
COUNTED(Ibarrier, (MPI_Comm a, MPI_Request *b), (a, b))
COUNTED(Bcast, (void *a, int b, MPI_Datatype c, int d, MPI_Comm e), (a, b, c, d, e))
COUNTED(Allreduce, (const void *a, void *b, int c, MPI_Datatype d, MPI_Op e, MPI_Comm f),
        (a, b, c, d, e, f))
COUNTED(Allgather,
        (const void *a, int b, MPI_Datatype c, void *d, int e, MPI_Datatype f, MPI_Comm g),
        (a, b, c, d, e, f, g))
COUNTED(Gather,
        (const void *a, int b, MPI_Datatype c, void *d, int e, MPI_Datatype f, int g, MPI_Comm h),
        (a, b, c, d, e, f, g, h))
COUNTED(Comm_dup, (MPI_Comm a, MPI_Comm *b), (a, b))
COUNTED(Comm_create, (MPI_Comm a, MPI_Group b, MPI_Comm *c), (a, b, c))
COUNTED(Comm_split, (MPI_Comm a, int b, int c, MPI_Comm *d), (a, b, c, d))

int MPI_Comm_idup(MPI_Comm comm, MPI_Comm *made, MPI_Request *request)
{
    int (*real)(MPI_Comm, MPI_Comm *, MPI_Request *) = dlsym(RTLD_NEXT, "MPI_Comm_idup");
    int rc = real(comm, made, request);
    unfinished = *made;
    is_unfinished = 1;
    return rc;
}

int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    int (*real)(MPI_Request *, MPI_Status *) = dlsym(RTLD_NEXT, "MPI_Wait");
    is_unfinished = 0;
    return real(request, status);
}

#define ASKED(name, type)                                                                          \
    int PMPI_##name(MPI_Comm comm, type *out)                                                      \
    {                                                                                              \
        int (*real)(MPI_Comm, type *) = dlsym(RTLD_NEXT, "PMPI_" #name);                           \
        n_asked += is_unfinished && comm == unfinished;                                            \
        return real(comm, out);                                                                    \
    }

ASKED(Comm_rank, int)
ASKED(Comm_size, int)
ASKED(Comm_test_inter, int)
ASKED(Comm_group, MPI_Group)

int MPI_Finalize(void)
{
    int (*real)(void) = dlsym(RTLD_NEXT, "MPI_Finalize");
    n_before = n_all;
    return real();
}

__attribute__((destructor)) static void say(void)
{
    if (n_all)
        printf("wire %d %d\nasked %d\n", n_before, n_all, n_asked);
}
