/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The minimum that any tool that times MPI calls must do: two time stamps and an addition around
 * the real function. Preloaded like a tool; the benchmarks give costs as ratios to it.
 */
#include <mpi.h>

#include <stdint.h>

uint64_t bare_ticks;

static inline uint64_t ticks(void)
{
#if defined __x86_64__
    uint32_t lo, hi;
    __asm__ volatile("rdtsc" : "=a"(lo), "=d"(hi));
    return (uint64_t)hi << 32 | lo;
#elif defined __aarch64__
    uint64_t t;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(t));
    return t;
#else
#error no counter is known for this processor
#endif
}

#define BARE(name, parameters, arguments)                                                          \
    int MPI_##name parameters                                                                      \
    {                                                                                              \
        uint64_t begin = ticks();                                                                  \
        int result = PMPI_##name arguments;                                                        \
        bare_ticks += ticks() - begin;                                                             \
        return result;                                                                             \
    }

BARE(Comm_rank, (MPI_Comm c, int *r), (c, r))
BARE(Iprobe, (int source, int tag, MPI_Comm c, int *flag, MPI_Status *s), (source, tag, c, flag, s))
BARE(Irecv, (void *b, int n, MPI_Datatype t, int source, int tag, MPI_Comm c, MPI_Request *r),
     (b, n, t, source, tag, c, r))
BARE(Send, (const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c),
     (b, n, t, to, tag, c))
BARE(Recv, (void *b, int n, MPI_Datatype t, int source, int tag, MPI_Comm c, MPI_Status *s),
     (b, n, t, source, tag, c, s))
BARE(Isend, (const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request *r),
     (b, n, t, to, tag, c, r))
BARE(Wait, (MPI_Request * r, MPI_Status *s), (r, s))
BARE(Waitall, (int n, MPI_Request r[], MPI_Status s[]), (n, r, s))
BARE(Allreduce, (const void *in, void *out, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c),
     (in, out, n, t, op, c))

/* Open MPI's Fortran binding calls PMPI_X, where no wrapper of MPI_X sees it. MPICH's calls MPI_X.
 */
#ifdef OPEN_MPI
#define BARE_FORTRAN(name, parameters, arguments)                                                  \
    void pmpi_##name##_ parameters;                                                                \
    void mpi_##name##_ parameters;                                                                 \
    void mpi_##name##_ parameters                                                                  \
    {                                                                                              \
        uint64_t begin = ticks();                                                                  \
        pmpi_##name##_ arguments;                                                                  \
        bare_ticks += ticks() - begin;                                                             \
    }

BARE_FORTRAN(comm_rank, (int *c, int *r, int *e), (c, r, e))
BARE_FORTRAN(iprobe, (int *source, int *tag, int *c, int *flag, int *s, int *e),
             (source, tag, c, flag, s, e))
BARE_FORTRAN(irecv, (void *b, int *n, int *t, int *source, int *tag, int *c, int *r, int *e),
             (b, n, t, source, tag, c, r, e))
BARE_FORTRAN(send, (void *b, int *n, int *t, int *to, int *tag, int *c, int *e),
             (b, n, t, to, tag, c, e))
BARE_FORTRAN(wait, (int *r, int *s, int *e), (r, s, e))
#endif
