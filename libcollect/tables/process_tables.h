/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The library's own tables: threads, resources, jobs, machine, and what was run.
 */
#ifndef PC_PROCESS_TABLES_H
#define PC_PROCESS_TABLES_H

#include "libcollect/state/state.h"

/* ---- the table of threads (threads_table.c) ---- */
int pc_threads_table_start(void);
void pc_threads_table_init_begin(void);
void pc_threads_table_init_end(void);
/* A thread has been registered; `function`: in which it starts, or NULL. */
void pc_threads_table_enter(struct pc_thread *t, void *function);
void pc_threads_table_leave(struct pc_thread *t);
/* Before the merge: threads that run and were not counted so far, in rows of this one. */
void pc_threads_table_rest(void);

/* ---- command line and configuration (run_tables.c) ---- */
int pc_run_tables_start(void);
/* When MPI_Init has returned, and before the merge. */
void pc_run_tables_note(void);

/* ---- what the system says of the process (resources_table.c) ---- */
int pc_usage_start(void);
/* A start takes processors, and what waits for them then is not what the program does. */
void pc_usage_init_end(void);
/* Around what MPI_Pcontrol leaves out, and where it begins the run anew: four system calls each.
 * May change errno. Not AS-safe. */
void pc_usage_leave(void);
void pc_usage_return(void);
void pc_usage_reset(void);
/* Before the merge. */
void pc_usage_note(void);

/* ---- jobs that this one started, was started by, or met (jobs_table.c) ---- */
/* core->met_job. */
void pc_jobs_met(struct pc_call *call, int n_local, int n_remote, const char *port);
/* Another job of n_parents processes has spawned this one. Rank 0, when MPI_Init has returned. */
void pc_jobs_spawned(int n_ranks, int n_parents);

/* ---- the table of sockets (machine_table.c) ---- */
/* After the plugins. */
int pc_machine_start(void);
/* Before the merge. */
void pc_machine_note(void);

#endif
