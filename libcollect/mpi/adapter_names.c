/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Names of datatypes and operators (adapter_names.h). `known` maps handles of predefined objects to
 * interned names; a place is written once, name first, handle with release, and never changes.
 */
#include "libcollect/mpi/adapter_names.h"

#include <stdatomic.h>

/* ---- Names that the program gives ----------------------------------------------------------- */

/* The set is never full: a search ends at a free place. */
bool pc_name_is_kept(struct pc_name_set *set, const char *name)
{
    uint64_t hash = pc_hash_bytes(name, __builtin_strlen(name), 0) | 1;
    for (uint32_t at = (uint32_t)(hash >> 32);; at++) {
        _Atomic uint64_t *place = &set->hashes[at % (2 * PC_MOST_NAMES)];
        uint64_t there = atomic_load(place);
        if (!there && atomic_load(&set->n) >= PC_MOST_NAMES)
            return false;
        if (!there && atomic_compare_exchange_strong(place, &there, hash)) {
            atomic_fetch_add(&set->n, 1);
            return true;
        }
        if (there == hash)
            return true;
    }
}

#define N_KNOWN 512u /* a power of two, several times the number of predefined objects */
#define N_PROBES 8u

static struct {
    _Atomic uintptr_t handle; /* 0: free; 1: being written */
    _Atomic uint32_t name;
} known[N_KNOWN];

static unsigned place_of(uintptr_t handle, unsigned probe)
{
    return (unsigned)((pc_hash_u64(handle) + probe) % N_KNOWN);
}

static uint32_t find_known(uintptr_t handle)
{
    for (unsigned i = 0; i < N_PROBES; i++) {
        unsigned place = place_of(handle, i);
        uintptr_t at = atomic_load_explicit(&known[place].handle, memory_order_acquire);
        if (at == handle)
            return atomic_load_explicit(&known[place].name, memory_order_relaxed);
        if (at == 0)
            break;
    }
    return 0;
}

/* Enters a handle. Two threads may enter the same one: the second place is never found, which does
 * no harm. */
static void enter_known(uintptr_t handle, uint32_t name)
{
    for (unsigned i = 0; i < N_PROBES; i++) {
        unsigned place = place_of(handle, i);
        uintptr_t expected = 0;
        if (!atomic_compare_exchange_strong(&known[place].handle, &expected, 1))
            continue;
        atomic_store_explicit(&known[place].name, name, memory_order_relaxed);
        atomic_store_explicit(&known[place].handle, handle, memory_order_release);
        return;
    }
}

/* ---- Datatypes ------------------------------------------------------------------------------ */

static const struct {
    int combiner;
    const char *name;
} combiners[] = {
    {MPI_COMBINER_DUP, "(dup)"},
    {MPI_COMBINER_CONTIGUOUS, "(contiguous)"},
    {MPI_COMBINER_VECTOR, "(vector)"},
    {MPI_COMBINER_HVECTOR, "(hvector)"},
    {MPI_COMBINER_INDEXED, "(indexed)"},
    {MPI_COMBINER_HINDEXED, "(hindexed)"},
    {MPI_COMBINER_INDEXED_BLOCK, "(indexed_block)"},
    {MPI_COMBINER_HINDEXED_BLOCK, "(hindexed_block)"},
    {MPI_COMBINER_STRUCT, "(struct)"},
    {MPI_COMBINER_SUBARRAY, "(subarray)"},
    {MPI_COMBINER_DARRAY, "(darray)"},
    {MPI_COMBINER_F90_REAL, "(f90_real)"},
    {MPI_COMBINER_F90_COMPLEX, "(f90_complex)"},
    {MPI_COMBINER_F90_INTEGER, "(f90_integer)"},
    {MPI_COMBINER_RESIZED, "(resized)"},
};

static uint32_t name_of_combiner(MPI_Datatype type)
{
    static _Atomic uint32_t names[PC_ARRAY_LEN(combiners)];
    int integers, addresses, types, combiner = MPI_COMBINER_NAMED;
    PC_REAL(Type_get_envelope)(type, &integers, &addresses, &types, &combiner);
    for (size_t i = 0; i < PC_ARRAY_LEN(combiners); i++) {
        if (combiners[i].combiner != combiner)
            continue;
        uint32_t name = atomic_load_explicit(&names[i], memory_order_relaxed);
        if (!name) {
            name = pc_core->string(combiners[i].name);
            atomic_store_explicit(&names[i], name, memory_order_relaxed);
        }
        return name;
    }
    return pc_core->string("(derived)");
}

/* True for a name that Open MPI has given to a datatype which is not predefined (seen with 4.1.4):
 * "Dup " and the name of the other type to copies, also inside of MPI_Type_create_resized and its
 * kind, and "COMBINER MPI_DOUBLE" to the types of MPI_Type_create_f90_real and its kind. */
static bool is_given_by_mpi(const char *name)
{
#if defined OPEN_MPI
    return !__builtin_strncmp(name, "Dup ", 4) || !__builtin_strncmp(name, "COMBINER ", 9);
#else
    (void)name;
    return false;
#endif
}

static uint32_t name_of_type(MPI_Datatype type)
{
    uint32_t name = find_known((uintptr_t)type);
    if (PC_LIKELY(name))
        return name;
    char text[MPI_MAX_OBJECT_NAME] = "";
    int length = 0;
    PC_REAL(Type_get_name)(type, text, &length);
    bool is_predefined = pc_type_is_predefined(type);
    if (!text[0] || (!is_predefined && is_given_by_mpi(text)))
        return name_of_combiner(type);
    static struct pc_name_set names;
    if (!is_predefined && !pc_name_is_kept(&names, text))
        return pc_core->string("(other types)");
    name = pc_core->string(text);
    if (name && is_predefined)
        enter_known((uintptr_t)type, name);
    return name;
}

/* ---- Operators ------------------------------------------------------------------------------ */

#if defined OPEN_MPI
#define OPERATOR(name, symbol)                                                                     \
    {                                                                                              \
        "MPI_" #name, "ompi_mpi_op_" symbol, 0                                                     \
    }
#else
#define OPERATOR(name, symbol)                                                                     \
    {                                                                                              \
        "MPI_" #name, NULL, (uintptr_t)MPI_##name                                                  \
    }
#endif

static const struct {
    const char *name, *symbol;
    uintptr_t handle;
} operators[] = {
    OPERATOR(MAX, "max"),         OPERATOR(MIN, "min"),       OPERATOR(SUM, "sum"),
    OPERATOR(PROD, "prod"),       OPERATOR(LAND, "land"),     OPERATOR(BAND, "band"),
    OPERATOR(LOR, "lor"),         OPERATOR(BOR, "bor"),       OPERATOR(LXOR, "lxor"),
    OPERATOR(BXOR, "bxor"),       OPERATOR(MINLOC, "minloc"), OPERATOR(MAXLOC, "maxloc"),
    OPERATOR(REPLACE, "replace"), OPERATOR(NO_OP, "no_op"),
};

static uint32_t name_of_operator(MPI_Op op)
{
    uint32_t name = find_known((uintptr_t)op);
    if (PC_LIKELY(name))
        return name;
    for (size_t i = 0; i < PC_ARRAY_LEN(operators); i++) {
        uintptr_t handle = operators[i].symbol ? (uintptr_t)pc_find_data(operators[i].symbol)
                                               : operators[i].handle;
        if (handle != (uintptr_t)op)
            continue;
        name = pc_core->string(operators[i].name);
        if (name)
            enter_known((uintptr_t)op, name);
        return name;
    }
    return pc_core->string("(user's)");
}

/* ---- Events --------------------------------------------------------------------------------- */

void pc_note_type(struct pc_call *call, MPI_Datatype type, MPI_Count count, MPI_Op op)
{
    struct pcollect_event *e = &call->event;
    if (type == MPI_DATATYPE_NULL)
        return;
    e->type = name_of_type(type);
    if (op != PC_NO_OPERATOR)
        e->operator_ = name_of_operator(op);
    if (count == PC_COUNT_BY_BYTES) {
        uint64_t size = pc_type_bytes(type);
        uint64_t bytes = e->bytes_sent ? e->bytes_sent : e->bytes_received;
        e->n_elements = size ? bytes / size : 0;
    } else {
        e->n_elements = count > 0 ? (uint64_t)count : 0;
    }
}

void pc_note_moved(struct pc_call *call, MPI_Datatype type, MPI_Count count, MPI_Op op)
{
    if (call->event.bytes_sent || call->event.bytes_received)
        pc_note_type(call, type, count, op);
}

void pc_note_types(struct pc_call *call, const void *sendbuf, MPI_Datatype sendtype,
                   MPI_Count sendcount, MPI_Datatype recvtype, MPI_Count recvcount, MPI_Op op)
{
    const struct pcollect_event *e = &call->event;
    if (e->bytes_sent && sendbuf != MPI_IN_PLACE)
        pc_note_type(call, sendtype, sendcount, op);
    else if (e->bytes_received)
        pc_note_type(call, recvtype, recvcount, op);
}
