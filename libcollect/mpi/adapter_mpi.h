/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The mpi.h that this adapter is built against, made harmless: handles that mpi.h defines as
 * addresses of the library's objects are redefined to addresses looked up when the adapter is
 * opened, so that the adapter has no undefined MPI symbol. What differs between the MPIs is here
 * and in adapter_mpi.c.
 */
#ifndef PC_ADAPTER_MPI_H
#define PC_ADAPTER_MPI_H

/* Switches off the deprecated C++ bindings and the warnings about old names. */
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include "libcollect/mpi/adapter_types_missing.h"

#include "libcollect/adapter.h"

#if defined OPEN_MPI

#define PC_ADAPTER_NAME "Open MPI"

/* Addresses of the MPI library's objects, by their names in its mpi.h. */
struct pc_mpi_data {
    void *comm_world, *comm_self, *comm_null;
    void *request_null, *request_empty;
    void *datatype_null, *byte;
    void *errors_return;
    void *op_no_op;
    void *comm_f2c; /* a function; NULL in a library without it */
};
extern struct pc_mpi_data pc_mpi_data;

#undef MPI_COMM_WORLD
#undef MPI_COMM_SELF
#undef MPI_COMM_NULL
#undef MPI_REQUEST_NULL
#undef MPI_DATATYPE_NULL
#undef MPI_BYTE
#undef MPI_ERRORS_RETURN
#undef MPI_NO_OP
#define MPI_COMM_WORLD ((MPI_Comm)pc_mpi_data.comm_world)
#define MPI_COMM_SELF ((MPI_Comm)pc_mpi_data.comm_self)
#define MPI_COMM_NULL ((MPI_Comm)pc_mpi_data.comm_null)
#define MPI_REQUEST_NULL ((MPI_Request)pc_mpi_data.request_null)
#define MPI_DATATYPE_NULL ((MPI_Datatype)pc_mpi_data.datatype_null)
#define MPI_BYTE ((MPI_Datatype)pc_mpi_data.byte)
#define MPI_ERRORS_RETURN ((MPI_Errhandler)pc_mpi_data.errors_return)
#define MPI_NO_OP ((MPI_Op)pc_mpi_data.op_no_op)

/* Handles of two requests that exist at the same time differ above these bits, because the objects
 * are larger than that. */
#define PC_REQUEST_SHIFT 6
/* Handles below are no requests under way. */
#define PC_REQUEST_LEAST UINT64_C(1)

/* A request as a number below 2^48, or 0 for one that cannot be remembered: Open MPI returns one
 * shared request for all operations that complete immediately. */
static inline uint64_t pc_request_key(MPI_Request r)
{
    uintptr_t key = (uintptr_t)r;
    if ((void *)r == pc_mpi_data.request_empty || (void *)r == pc_mpi_data.request_null)
        return 0;
    return key >> 48 ? 0 : key;
}

/* Other handles that are no requests under way. */
static inline void pc_request_none(uint64_t none[2])
{
    none[0] = (uintptr_t)pc_mpi_data.request_null;
    none[1] = (uintptr_t)pc_mpi_data.request_empty;
}

/* The C handle of a Fortran communicator: a number, which in mpi_f08 is the first word of a
 * type. */
static inline MPI_Comm pc_comm_of_fortran(const void *handle)
{
    return pc_mpi_data.comm_f2c
               ? ((MPI_Comm(*)(MPI_Fint))pc_mpi_data.comm_f2c)(*(const MPI_Fint *)handle)
               : MPI_COMM_NULL;
}

static inline bool pc_status_cancelled(const MPI_Status *s)
{
    return s->_cancelled;
}

static inline uint64_t pc_status_count(const MPI_Status *s)
{
    return s->_ucount;
}

static inline uint64_t pc_status_bytes(const MPI_Status *s)
{
    return s->_cancelled ? 0 : pc_status_count(s);
}

#elif defined MPICH_VERSION || defined I_MPI_VERSION || defined MVAPICH2_VERSION

#define PC_ADAPTER_NAME "MPICH"

#define PC_REQUEST_SHIFT 0
/* The top two bits of a handle are its kind: 0 is a null handle, 1 is built in, such as the shared
 * requests for operations that complete immediately. */
#define PC_REQUEST_LEAST (UINT64_C(2) << 30)

static inline uint64_t pc_request_key(MPI_Request r)
{
    return (uint32_t)r < PC_REQUEST_LEAST ? 0 : (uint32_t)r;
}

static inline void pc_request_none(uint64_t none[2])
{
    none[0] = none[1] = 0;
}

static inline MPI_Comm pc_comm_of_fortran(const void *handle)
{
    return (MPI_Comm) * (const MPI_Fint *)handle;
}

static inline bool pc_status_cancelled(const MPI_Status *s)
{
    return s->count_hi_and_cancelled & 1;
}

/* The count has 63 bits, above the bit for "cancelled", in two halves. */
static inline uint64_t pc_status_count(const MPI_Status *s)
{
    return (uint64_t)((uint32_t)s->count_hi_and_cancelled >> 1) << 32 | (uint32_t)s->count_lo;
}

static inline uint64_t pc_status_bytes(const MPI_Status *s)
{
    return s->count_hi_and_cancelled & 1 ? 0 : pc_status_count(s);
}

#else
#error "unknown mpi.h"
#endif

/* Looks up this MPI's objects. 0 on success. init-only. */
int pc_mpi_find_data(void *(*data)(const char *name));

/* Finds the sizes of predefined types, after MPI_Init. */
void pc_mpi_learn_types(void *(*data)(const char *name));

/* True if a datatype is known to exist as long as the MPI; false also for some that do. */
bool pc_type_is_predefined(MPI_Datatype type);

/* Bytes of one element of a datatype. */
uint64_t pc_type_bytes(MPI_Datatype type);

#endif
