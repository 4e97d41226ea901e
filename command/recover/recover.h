/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The two halves of recovery: listing jobs (recover_folders.c), recovering one job (recover_job.c).
 */
#ifndef PCT_RECOVER_H
#define PCT_RECOVER_H

#include "command/launch/run.h"
#include "merge/merge.h"

/* Arenas of one job, by rank. */
struct pct_job {
    struct pc_merge_found **found;
    size_t n, n_alive;
    bool by_exec; /* it is one process, and that went on as another program of the same run */
};

/* Writes the profile of a job whose processes have all ended and removes its arenas; prints what
 * was done and counts it in *out. */
void pct_job_recover(const struct pct_recovery *r, const struct pct_job *job,
                     struct pct_recovered *out);

/* Locks against other recoveries, held until the descriptor is closed; -1: no lock is possible, and
 * the work is done without one. pct_recover_lock: of a folder of arenas; pct_recover_lock_beside:
 * of the folder in which a profile is written, unless that is one of r->locks. */
int pct_recover_lock(const struct pct_recovery *r, const char *folder);
int pct_recover_lock_beside(const struct pct_recovery *r, const char *path);

/* The requested name of the profile of the process's job, in path (n bytes). PC_OK, or the errors
 * of pc_config_expand. */
int pct_job_path(const struct pct_recovery *r, const struct pc_merge_found *f, char *path, size_t n,
                 struct pc_error *error);

/* ---- Copies of arenas of jobs that run (job_copies.c) ---- */

/* Arenas of one job, `n` of a list from `found` on, and copies of them. */
struct pct_job_copies {
    const struct pc_merge_found *found;
    size_t n;
    struct pc_merge_copy *copies;
    size_t n_copies;
};

/* Those of the job that begins at this place of the list, without copies. */
struct pct_job_copies pct_job_copies(const struct pc_merge_list *list, size_t first);

/* Copies the arenas of that run (0: of any) that are of ranks. Fails as pc_merge_copy, with no copy
 * then: PC_ENOENT, the job has just ended. */
int pct_job_copy(struct pct_job_copies *j, uint64_t run_key, struct pc_error *error);
void pct_job_copies_drop(struct pct_job_copies *j);

/* Lets the kernel end this process before any process of a job if memory runs out. */
void pct_job_goes_first(void);

/* ---- checkpoint_files.c ---- */

/* True for a checkpoint: the job went on after it, so that it stands for none of its data. */
bool pct_is_checkpoint(const struct pc_profile *p);

/* Writes a checkpoint of a job whose profile is to have the name `wanted`: replaces a checkpoint of
 * the same processes, or takes the first free name, which `path` (PCOLLECT_PATH_BYTES) gets.
 * Returns like pc_pcol_write.
 */
int pct_checkpoint_write(const struct pc_profile *p, const char *wanted, char *path,
                         struct pc_error *error);

/* True for the name of the program, with its folder or without, the job's number in a batch system,
 * or the start as the list has it. */
bool pct_job_is_called(const struct pct_job *job, const char *name);

/* Prints one line on standard output, columns separated by tabs. */
void pct_job_list(const struct pct_recovery *r, const struct pct_job *job);

#endif
