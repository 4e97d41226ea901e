/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Files and windows by handle, for plugins that want objects (PCOLLECT_WANT_OBJECT). A file is
 * known by its name as the host interns it, a window by its number in this process, from 1: where
 * all ranks make their windows in one order that is the same on all.
 *
 * A handle is entered when it is made and stays: a handle value that is given out again is entered
 * anew. MT-safe, without a lock; bounded, what finds no room is object 0.
 */
#ifndef PC_ADAPTER_OBJECTS_H
#define PC_ADAPTER_OBJECTS_H

#include "libcollect/mpi/adapter_private.h"

/* Sets event.object of a call on a handle. */
void pc_want_object(struct pc_call *call, uint64_t handle);

/* Rules of the calls that make them. */
void pc_rule_opened(struct pc_call *call, const char *filename, const MPI_File *file);
void pc_rule_made_window(struct pc_call *call, const MPI_Win *window);

#endif
