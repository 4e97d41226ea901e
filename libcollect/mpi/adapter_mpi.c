/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Differences between the MPIs: their objects by name, and the sizes of predefined datatypes, which
 * MPICH encodes in the handle and which are kept by address for Open MPI.
 */
#include "libcollect/mpi/adapter_private.h"

static uint64_t ask_type_bytes(MPI_Datatype type)
{
    int n = 0;
    MPI_Count wide = 0;
    if (PC_REAL(Type_size)(type, &n) == MPI_SUCCESS && n >= 0)
        return (uint64_t)n;
    if (PC_REAL(Type_size_x)(type, &wide) == MPI_SUCCESS && wide >= 0)
        return (uint64_t)wide;
    return 0;
}

#if defined OPEN_MPI

struct pc_mpi_data pc_mpi_data;

int pc_mpi_find_data(void *(*data)(const char *name))
{
    struct pc_mpi_data d = {
        .comm_world = data("ompi_mpi_comm_world"),
        .comm_self = data("ompi_mpi_comm_self"),
        .comm_null = data("ompi_mpi_comm_null"),
        .request_null = data("ompi_request_null"),
        .request_empty = data("ompi_request_empty"),
        .datatype_null = data("ompi_mpi_datatype_null"),
        .byte = data("ompi_mpi_byte"),
        .errors_return = data("ompi_mpi_errors_return"),
        .op_no_op = data("ompi_mpi_op_no_op"),
        .comm_f2c = data("PMPI_Comm_f2c"),
    };
    if (!d.comm_world || !d.comm_self || !d.comm_null || !d.request_null || !d.datatype_null ||
        !d.byte || !d.errors_return)
        return PC_ENOENT;
    pc_mpi_data = d;
    return 0;
}

static const char *const type_names[] = {
    "byte",
    "char",
    "signed_char",
    "unsigned_char",
    "short",
    "unsigned_short",
    "int",
    "unsigned",
    "long",
    "unsigned_long",
    "long_long_int",
    "unsigned_long_long",
    "float",
    "double",
    "long_double",
    "wchar",
    "int8_t",
    "uint8_t",
    "int16_t",
    "uint16_t",
    "int32_t",
    "uint32_t",
    "int64_t",
    "uint64_t",
    "aint",
    "offset",
    "count",
    "c_bool",
    "c_complex",
    "c_float_complex",
    "c_double_complex",
    "c_long_double_complex",
    "cxx_bool",
    "cxx_cplex",
    "cxx_dblcplex",
    "packed",
    "2int",
    "float_int",
    "double_int",
    "long_int",
    "character",
    "logical",
    "integer",
    "real",
    "dblprec",
    "cplex",
    "dblcplex",
    "integer1",
    "integer2",
    "integer4",
    "integer8",
    "real4",
    "real8",
    "real16",
    "complex8",
    "complex16",
    "logical1",
    "logical2",
    "logical4",
    "logical8",
    "2integer",
    "2real",
    "2dblprec",
};

#define N_TYPES 256 /* a power of two, a few times the number of names */
static struct {
    uintptr_t handle;
    uint64_t bytes;
} known_types[N_TYPES];

static unsigned place_of(uintptr_t handle)
{
    return (unsigned)((handle >> 4) * 0x9e3779b97f4a7c15u >> 56) % N_TYPES;
}

/* A type whose place is taken is not remembered: its size is queried each time. */
void pc_mpi_learn_types(void *(*data)(const char *name))
{
    for (size_t i = 0; i < PC_ARRAY_LEN(type_names); i++) {
        char name[64];
        pc_format(name, sizeof name, "ompi_mpi_%s", type_names[i]);
        void *type = data(name);
        unsigned place = place_of((uintptr_t)type);
        if (!type || known_types[place].handle)
            continue;
        known_types[place].bytes = ask_type_bytes((MPI_Datatype)type);
        known_types[place].handle = (uintptr_t)type;
    }
}

uint64_t pc_type_bytes(MPI_Datatype type)
{
    unsigned place = place_of((uintptr_t)type);
    if (PC_LIKELY(known_types[place].handle == (uintptr_t)type))
        return known_types[place].bytes;
    return ask_type_bytes(type);
}

bool pc_type_is_predefined(MPI_Datatype type)
{
    return known_types[place_of((uintptr_t)type)].handle == (uintptr_t)type;
}

#else

int pc_mpi_find_data(void *(*data)(const char *name))
{
    (void)data;
    return 0;
}

void pc_mpi_learn_types(void *(*data)(const char *name))
{
    (void)data;
}

/* 0x4cxxSSxx is a predefined type of SS bytes, by the common ABI of this family. */
uint64_t pc_type_bytes(MPI_Datatype type)
{
    uint32_t handle = (uint32_t)type;
    if (PC_LIKELY(handle >> 24 == 0x4c))
        return handle >> 8 & 0xff;
    return ask_type_bytes(type);
}

bool pc_type_is_predefined(MPI_Datatype type)
{
    return (uint32_t)type >> 24 == 0x4c;
}

#endif
