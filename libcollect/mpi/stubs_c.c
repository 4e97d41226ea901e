/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The entry points for targets that have no assembly in stubs.S: one C function for each, made from
 * the prototypes in functions.tbl. Every parameter is passed on as a machine word: handles, int and
 * pointers are one register or one stack slot each on the 64-bit targets of Linux. The compiler
 * makes tail calls of them, so that the wrapper sees the caller's return address, as with the
 * assembly (stub.h).
 *
 * Unlike the assembly, a variadic call (MPI_Pcontrol) passes on words only, no doubles: its level
 * and five more, which are in registers or on the stack whether the call has them or not.
 */
#include "libcollect/mpi/mpi_private.h"

#if !PC_STUB_ASSEMBLY

_Static_assert(sizeof(uintptr_t) == 8, "stubs in C pass words: 64-bit targets only");

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

#define PC_C_STUB(name, slot, params, args)                                                        \
    static int resolve_##name params                                                               \
    {                                                                                              \
        int(*target) params = (int(*) params)pc_mpi_resolve(slot);                                 \
        PC_TAIL return target args;                                                                \
    }                                                                                              \
    PC_EXPORT int name params                                                                      \
    {                                                                                              \
        int(*target) params =                                                                      \
            (int(*) params)atomic_load_explicit(&pc_mpi_slots[slot], memory_order_acquire);        \
        PC_TAIL return target args;                                                                \
    }

#include "libcollect/mpi/stub_c_rows.h"

#undef PC_C_STUB
#define PC_C_STUB(name, slot, params, args) [slot] = (void *)resolve_##name,

_Atomic(void *) pc_mpi_slots[PC_N_SLOTS] = {
#include "libcollect/mpi/stub_c_rows.h"
};

#else
/* ISO C does not allow an empty file. */
typedef int pc_mpi_stubs_are_assembly;
#endif
