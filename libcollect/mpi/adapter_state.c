/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The state of an adapter: the core, the functions of the MPI, the world (adapter_private.h). It
 * calls no other file of the adapter.
 */
#include "libcollect/mpi/adapter_private.h"

const struct pc_core *pc_core;
void *const *pc_mpi;
void *const *pc_pmpi;
void *const *pc_fortran;
void *(*pc_find_data)(const char *name);
int pc_world_rank = -1, pc_world_size;
