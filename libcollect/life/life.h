/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Start, announcement and end of the library in one process.
 */
#ifndef PC_LIFE_H
#define PC_LIFE_H

#include "libcollect/state/state.h"

/* ---- announce.c ---- */
/* Writes into the header the data by which the other ranks of the node find this one. Called before
 * MPI_Init. */
void pc_launch_announce(void);
/* MPI_Init begins, at this moment: from here on the other ranks take this process for a rank that
 * is measured. */
void pc_launch_arrive(void);
/* Tells the other ranks not to wait for this process, which measures nothing after all. */
void pc_launch_withdraw(void);
/* Announces that this process takes no part in the end of the job: ranks that wait for it see this
 * when they check again. Its collected data stays. */
void pc_launch_leave(void);
/* The key of the job, by which the arenas of killed ranks are recognised as one group. The
 * launcher's own key is valid on one node only, and a rank that looks for the launcher after that
 * was killed finds another key. */
uint64_t pc_launch_job(const struct pc_config_launch *l, uint64_t launch_key, bool one_node);
/* Prints a message if the launcher belongs to another MPI, so that the processes do not find each
 * other. Called after MPI_Init, while the header still holds the launcher's data. */
void pc_launch_check(const struct pc_transport *transport, const char *mpi);
/* True if this process only starts others: a shell or an MPI launcher, but not a program that is
 * collected without MPI. Needs no configuration. */
bool pc_launch_is_starter(void);
/* Looks for the other ranks; waits a little for those that the launcher's numbers promise. Called
 * after MPI_Init. */
struct pc_presence pc_launch_presence(int n_ranks);

/* ---- core.c ---- */
/* Ends the collection for good: from here on no system call is made. `why` is the reason for the
 * user, an action of the program. The collected data stays for recovery. Keeps errno. */
void pc_core_leave(const char *why);

/* ---- a stack for the end (roomy_stack.c) ---- */
/* Reserves it; without memory there is none. Init-only: in MPI_Init, because the program may limit
 * its memory later. */
void pc_stack_reserve(void);
/* Calls run(arg), on the reserved stack if the calling thread's own may be too small. MT-safe. */
void pc_stack_run(void (*run)(void *arg), void *arg);

/* ---- the module that writes (writer.c) ---- */
struct pc_merge_module;
/* NULL, with a message, if it cannot be opened. */
const struct pc_merge_module *pc_merge_module(void);
/* Writes what was collected since the merge into the profile. */
void pc_write_late(void);

/* ---- reports to `pcollect run` (run_word.c) ---- */
/* Reports the path of the job's profile, and the requested name if it differs, or NULL. False:
 * there is no `pcollect run`, or it cannot be reached. */
bool pc_run_tell_profile(const char *path, const char *wanted);
/* Reports that this process collects in plain memory. */
void pc_run_tell_memory(void);

/* ---- ends (finish.c) ---- */
void pc_init_begin(void);
void pc_init_end(const struct pc_transport *transport, const char *mpi);
void pc_finalize_begin(void);
/* The process is alive, and waits for other ranks: recovery takes this for the last moment known.
 */
void pc_note_alive(void);
void pc_merge_now(const struct pc_transport *transport);
void pc_finalize_end(uint64_t ticks);
/* Called from the library's destructor. */
void pc_process_exit(void);

#endif
