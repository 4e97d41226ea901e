/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Files and windows by handle, for plugins that want objects (PCOLLECT_WANT_OBJECT). A file is
 * known by its name as the host interns it, a window by its number in this process, from 1: where
 * all ranks make their windows in one order that is the same on all. A window is also known by the
 * communicator that it was made over, whose members are its targets.
 *
 * A handle is entered when it is made and stays: a handle value that is given out again is entered
 * anew. MT-safe, without a lock; bounded, what finds no room is object 0.
 */
#ifndef PC_ADAPTER_OBJECTS_H
#define PC_ADAPTER_OBJECTS_H

#include "libcollect/mpi/adapter_comm.h"

/* Sets event.object of a call on a handle. */
void pc_want_object(struct pc_call *call, uint64_t handle);

/* A one-sided call on a window, where plugins want communicators or peers: `dest` is the target to
 * which something goes, `source` the one from which something comes, or MPI_PROC_NULL. */
void pc_want_window(struct pc_call *call, uint64_t handle, int dest, int source);

/* Rules of the calls that make them. */
void pc_rule_opened(struct pc_call *call, const char *filename, const MPI_File *file);
void pc_rule_made_window(struct pc_call *call, MPI_Comm comm, const MPI_Win *window);

#endif
