/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Counts the messages of the merge by their destinations. It is preloaded behind libpcollect.so,
 * which sends them by PMPI_Isend; the program must not use this name. Prints "edge FROM TO N" for
 * each rank that this one has sent N messages to, in the communicator of the merge, whose ranks are
 * those of MPI_COMM_WORLD.
 */
#define _GNU_SOURCE
#include <mpi.h>

#include <dlfcn.h>
#include <stdio.h>

enum { MAX = 64 };

static int rank, n_sent[MAX];

int PMPI_Isend(const void *data, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm,
               MPI_Request *request)
{
    int (*real)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *) =
        dlsym(RTLD_NEXT, "PMPI_Isend");
    PMPI_Comm_rank(comm, &rank);
    if (to < MAX)
        n_sent[to]++;
    return real(data, n, type, to, tag, comm, request);
}

__attribute__((destructor)) static void say(void)
{
    for (int to = 0; to < MAX; to++)
        if (n_sent[to])
            printf("edge %d %d %d\n", rank, to, n_sent[to]);
}
