/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The library's own tables: threads, resources, jobs, machine, place, and what was run.
 */
#ifndef PC_PROCESS_TABLES_H
#define PC_PROCESS_TABLES_H

#include "libcollect/state/state.h"

#include <sched.h>

/* ---- the table of threads (threads_table.c) ---- */
enum pc_thread_kind {
    PC_THREAD_PROGRAM = 0,
    PC_THREAD_MAIN,
    PC_THREAD_MPI,
    PC_THREAD_RUNTIME,
    PC_THREAD_WITHOUT /* alive at the merge, and never registered */
};
const char *pc_thread_kind_name(enum pc_thread_kind kind);
int pc_threads_table_start(void);
void pc_threads_table_init_begin(void);
void pc_threads_table_init_end(void);
/* Threads that the process had when MPI_Init began: at most 256. Returns their number. */
uint32_t pc_threads_table_early(const int32_t **tids);
/* A thread has been registered; `function`: in which it starts, or NULL. */
void pc_threads_table_enter(struct pc_thread *t, void *function);
void pc_threads_table_leave(struct pc_thread *t);
/* Called before the merge: counts running threads that were not counted so far, in rows of this
 * thread. */
void pc_threads_table_rest(void);

/* ---- the times of threads (thread_times_table.c) ---- */
int pc_thread_times_start(void);
/* Called after the table of threads, which finds the kind. */
void pc_thread_times_enter(struct pc_thread *t, void *function);
void pc_thread_times_leave(struct pc_thread *t);
/* Books, or drops, the CPU time of all threads up to now. A system call for each thread. */
void pc_thread_times_book(void);
void pc_thread_times_skip(void);
/* Forgets what was booked. */
void pc_thread_times_reset(void);
/* The end of MPI_Init: forgets what was booked, also for threads that register later. */
void pc_thread_times_init_end(void);
/* Called before the merge: books, with the names that threads have then. */
void pc_thread_times_settle(void);

/* ---- command line and configuration (run_tables.c) ---- */
int pc_run_tables_start(void);
/* Called when MPI_Init has returned, and before the merge. */
void pc_run_tables_note(void);

/* ---- resources of the process, as the kernel counts them (resources_table.c) ---- */
int pc_usage_start(void);
/* Begins to count: the start of a job is left out, because waits for processors at that time are
 * not the program's. */
void pc_usage_init_end(void);
/* Called around the time that MPI_Pcontrol leaves out, and when it begins the run anew. Some system
 * calls each. May change errno. Not AS-safe. */
void pc_usage_leave(void);
void pc_usage_return(void);
void pc_usage_reset(void);
/* Called before the merge. */
void pc_usage_note(void);

/* ---- jobs that this one started, was started by, or met (jobs_table.c) ---- */
/* Implements core->met_job. */
void pc_jobs_met(struct pc_call *call, const struct pc_meeting *met);
/* Another job of n_parents processes has spawned this one. Called on rank 0 when MPI_Init has
 * returned. */
void pc_jobs_spawned(int n_ranks, int n_parents);

/* ---- where the process may run (place_table.c) ---- */
/* Called after the start of the plugins. */
int pc_place_start(void);
/* Called when MPI_Init or the first MPI_Session_init has returned. */
void pc_place_note(void);

/* ---- sets of processors as text (cpu_list.c) ---- */
/* Formats a set like 0-3,8, which taskset accepts. Empty: it does not fit in n bytes; a part of it
 * would be taken for all. MT-safe. */
void pc_cpus_put(const cpu_set_t *set, char *out, size_t n);

/* ---- the table of sockets (machine_table.c) ---- */
/* Called after the start of the plugins. */
int pc_machine_start(void);
/* Called before the merge. */
void pc_machine_note(void);

#endif
