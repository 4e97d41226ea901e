/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A library between the profiler and MPI whose functions do nothing: all actions during such calls
 * are those of the profiler. Counts allocations and locks of each thread, because MPI has its own.
 */
#include "tests/safety/quiet.h"

#include <mpi.h>
#include <stdlib.h>

extern void *__libc_malloc(size_t n);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *p, size_t n);

QUIET_OF_THREAD unsigned long n_allocations, n_locks;
_Atomic int quiet_fake;

void *malloc(size_t n)
{
    n_allocations++;
    return __libc_malloc(n);
}

void *calloc(size_t n, size_t size)
{
    n_allocations++;
    return __libc_calloc(n, size);
}

void *realloc(void *p, size_t n)
{
    n_allocations++;
    return __libc_realloc(p, n);
}

int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    static int (*_Atomic next)(pthread_mutex_t *);
    n_locks++;
    if (!next)
        next = (int (*)(pthread_mutex_t *))dlsym(RTLD_NEXT, "pthread_mutex_lock");
    return next(mutex);
}

int MPI_Comm_rank(MPI_Comm comm, int *rank)
{
    return quiet_fake ? MPI_SUCCESS : PMPI_Comm_rank(comm, rank);
}

int MPI_Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
    if (!quiet_fake)
        return PMPI_Iprobe(source, tag, comm, flag, status);
    *flag = 0;
    return MPI_SUCCESS;
}

int MPI_Send(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm)
{
    return quiet_fake ? MPI_SUCCESS : PMPI_Send(buf, count, type, dest, tag, comm);
}

int MPI_Allreduce(const void *send, void *recv, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm)
{
    return quiet_fake ? MPI_SUCCESS : PMPI_Allreduce(send, recv, count, type, op, comm);
}

int MPI_Barrier(MPI_Comm comm)
{
    return quiet_fake ? MPI_SUCCESS : PMPI_Barrier(comm);
}
