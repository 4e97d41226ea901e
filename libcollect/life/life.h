/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Start, announcement and end of the library in one process.
 */
#ifndef PC_LIFE_H
#define PC_LIFE_H

#include "libcollect/state/state.h"

/* ---- announce.c ---- */
/* Writes into the header the facts by which the other ranks of the node find this one. Before
 * MPI_Init. */
void pc_launch_announce(void);
/* This process measures nothing after all: tells the others not to wait for it. */
void pc_launch_withdraw(void);
/* This process takes no part in the end of the job: ranks that wait for it see this when they check
 * again. Its collected data stays. */
void pc_launch_leave(void);
/* The key of the job, by which the arenas of killed ranks are recognised as one group. The
 * launcher's own key is of one node, and a rank that looks for the launcher after it was killed
 * finds another key. */
uint64_t pc_launch_job(const struct pc_config_launch *l, uint64_t launch_key, bool one_node);
/* Prints a message if the launcher belongs to another MPI: it starts the processes, but they do not
 * find each other. After MPI_Init, while the header still holds what the launcher said. */
void pc_launch_check(const struct pc_transport *transport, const char *mpi);
/* True if this process only starts others: a shell, an MPI launcher. Collected programs without MPI
 * are not among them. Needs no configuration. */
bool pc_launch_is_starter(void);
/* Looks for the others; waits a little for those that its launcher promises. After MPI_Init. */
struct pc_presence pc_launch_presence(int n_ranks);

/* ---- core.c ---- */
/* Ends the collection for good: from here on no system call is made. `why` is the reason, an action
 * of the program, in words for the user. The collected data stays for recovery. Keeps errno. */
void pc_core_leave(const char *why);

/* ---- the module that writes (writer.c) ---- */
struct pc_merge_module;
/* NULL if it cannot be opened, which is said. */
const struct pc_merge_module *pc_merge_module(void);
/* Writes what happened since the merge into the profile. */
void pc_write_late(void);

/* ---- words to `pcollect run` (run_word.c) ---- */
/* Path of the profile of the job, and the name that it would have had, or NULL. False: there is no
 * `pcollect run`, or no way to it. */
bool pc_run_tell_profile(const char *path, const char *wanted);
/* That this process collects in plain memory. */
void pc_run_tell_memory(void);

/* ---- ends (finish.c) ---- */
void pc_init_begin(void);
void pc_init_end(const struct pc_transport *transport, const char *mpi);
void pc_finalize_begin(void);
void pc_merge_now(const struct pc_transport *transport);
void pc_finalize_end(uint64_t ticks);
/* From our destructor. */
void pc_process_exit(void);

#endif
