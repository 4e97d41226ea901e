/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The entry points MPI_X and PMPI_X: each jumps through its slot of pc_mpi_slots, which
 * pc_mpi_resolve fills at the first call (libcollect/stub_asm.inc).
 *
 * The rows come from functions.tbl: PC_STUB(name, slot), in the order of slots. Called by all code
 * that calls MPI.
 */
#include "libcollect/stub_asm.inc"

#if PC_STUB_ASSEMBLY

        pc_slots_begin pc_mpi_slots

#define PC_STUB(name, slot) pc_slot_stub name, slot, pc_mpi_slots, resolve_common
#include "libcollect/mpi/stub_rows.h"

        pc_slots_end pc_mpi_slots
        pc_slot_resolver resolve_common, pc_mpi_resolve
        pc_slots_notes

#endif

#if defined __linux__
        .section .note.GNU-stack, "", %progbits
#endif
