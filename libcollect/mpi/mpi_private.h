/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Shared by the files of libcollect/mpi that are linked into libpcollect.so, and by their tests.
 * Nothing here knows an mpi.h.
 */
#ifndef PC_MPI_PRIVATE_H
#define PC_MPI_PRIVATE_H

#include "libcollect/adapter.h"
#include "libcollect/mpi/ops.h"
#include "libcollect/state/ops.h"
#include "libcollect/stub.h"
#include "libcollect/walk/loadmap.h"

#include <stdatomic.h>

/* Fortran names with stubs of their own, by slot - 2 * PC_N_OPS. */
extern const char *const pc_fortran_names[PC_N_FORTRAN];

/* Target of each entry point: a resolver entry, a wrapper or a real function. */
extern _Atomic(void *) pc_mpi_slots[PC_N_SLOTS];

/* Finds the target of a slot at its first call. Called by the resolver entries. MT-safe; keeps
 * errno. */
void *pc_mpi_resolve(unsigned slot);

/* ---- counts.c: calls of the program and of others ------------------------------------------- */

/* True if a call through `slot` with return address `ret` is the program's. Takes locks, not
 * AS-safe. */
bool pc_mpi_counts(unsigned slot, uintptr_t ret);

/* True if a module belongs to an MPI library: the library itself, its language bindings, its
 * components. AS-safe. */
bool pc_mpi_is_family(const struct pc_module *module);

#endif
