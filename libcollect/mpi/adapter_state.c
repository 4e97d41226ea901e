/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What all of an adapter works on: the core, the functions of the MPI behind it, the world
 * (adapter_private.h). It calls nothing of the rest.
 */
#include "libcollect/mpi/adapter_private.h"

const struct pc_core *pc_core;
void *const *pc_mpi;
void *const *pc_pmpi;
void *const *pc_fortran;
void *(*pc_find_data)(const char *name);
int pc_world_rank = -1, pc_world_size;
