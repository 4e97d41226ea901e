/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Files and windows by handle, for plugins that want objects (PCOLLECT_WANT_OBJECT). A file is
 * known by its name as the host interns it, a window by its number in this process, from 1: the
 * number is the same on all ranks if they make their windows in the same order. A window is also
 * known by the communicator that it was made over, whose members are its targets.
 *
 * A handle is entered when it is made and stays: a reused handle value is entered anew. MT-safe,
 * without a lock. The map is bounded: an object without room is object 0.
 */
#ifndef PC_ADAPTER_OBJECTS_H
#define PC_ADAPTER_OBJECTS_H

#include "libcollect/mpi/adapter_comm.h"

/* Sets event.object of a call on a handle. */
void pc_want_object(struct pc_call *call, uint64_t handle);

/* Notes a one-sided call on a window, if plugins want communicators or peers: `dest` is the target
 * that data goes to, `source` the target that data comes from, or MPI_PROC_NULL. */
void pc_want_window(struct pc_call *call, uint64_t handle, int dest, int source);

/* Rules of the calls that open files, make windows and name them. */
void pc_rule_opened(struct pc_call *call, const char *filename, const MPI_File *file);
void pc_rule_made_window(struct pc_call *call, MPI_Comm comm, const MPI_Win *window);
void pc_rule_named_window(struct pc_call *call, MPI_Win window, const char *name);

#endif
