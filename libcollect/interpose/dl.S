/* SPDX-License-Identifier: BSD-3-Clause
 *
 * dlopen, dlmopen, dlclose: each raises pc_loadmap_generation, before anything is mapped or
 * unmapped, and jumps to the next definition. The caller's return address stays in its place,
 * because the loader uses it to find the caller's RUNPATH, $ORIGIN and namespace.
 *
 * pc_dl_slots is filled by pc_dl_resolve (dl_next.c, which also holds the stubs in C).
 */
#include "libcollect/stub_asm.inc"

#if PC_STUB_ASSEMBLY

        .hidden pc_loadmap_generation

        pc_slots_begin pc_dl_slots
        pc_slot_stub dlopen, 0, pc_dl_slots, resolve_common, pc_loadmap_generation
        pc_slot_stub dlmopen, 1, pc_dl_slots, resolve_common, pc_loadmap_generation
        pc_slot_stub dlclose, 2, pc_dl_slots, resolve_common, pc_loadmap_generation
        pc_slots_end pc_dl_slots
        pc_slot_resolver resolve_common, pc_dl_resolve
        pc_slots_notes

#endif

#if defined __linux__
        .section .note.GNU-stack, "", %progbits
#endif
