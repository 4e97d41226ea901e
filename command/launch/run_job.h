/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A run, as its three parts share it: the work before the job (run.c), the file by which the job
 * reports to this command (run_file.c), the work and the messages after it (run_end.c).
 */
#ifndef PCT_RUN_JOB_H
#define PCT_RUN_JOB_H

#include "command/launch/run.h"

/* Part of this command in the run. */
enum pct_run_part {
    PCT_RUN_WHOLE,   /* this command started all ranks, or the first of them */
    PCT_RUN_NODE,    /* first on a node without rank 0, of one for each rank */
    PCT_RUN_NOTHING, /* any other */
};

struct pct_run_job {
    const struct pct_command *self;
    struct pc_config config;
    const char *config_file; /* absolute, or NULL */
    char *pattern;           /* of -o, absolute, or NULL */
    char *old;               /* the existing profile, which will be renamed to FILE~; or NULL */
    char *library;
    uint64_t key;
    enum pct_run_part part;
    bool is_one_of_many; /* the launcher starts this command for each rank */
    bool has_all_ranks;  /* the job has no other node */
    bool alone_sampled;  /* a program without MPI is collected if this command starts it itself */
    const char *musl;    /* the word of a program that cannot load the library; or NULL */
    char **words;        /* of the job */
    char **variables;    /* for the ranks; "NAME=VALUE" */
    size_t n_variables, room;
};

/* ---- Options of the launcher (launcher_options.c) -------------------------------------------- */

/* False: with these options the launcher does not pass the variables (said). launcher NULL: not
 * known. init-only. */
bool pct_launcher_may_pass(const struct pct_run_job *r, const struct pct_launcher *launcher);

/* If Open MPI would take variables from its parameter mca_base_env_list, beside which it refuses
 * -x: a list of these variables and those of the job, in *out. False: they cannot be in one list
 * (said). init-only. */
bool pct_launcher_list(const struct pct_run_job *r, const struct pct_launcher *launcher,
                       struct pct_env_list *out);

/* ---- The file for reports of the job (run_file.c) -------------------------------------------- */

/* Makes the file of the run, <spool>/pcollect-<uid>/run-<key>.path, in the first spool where this
 * is possible, and locks it while this process runs. False: not possible. */
bool pct_run_file_hold(const struct pct_run_job *r);

/* Receives a report. path: a profile; wanted: the requested name if it differs, or NULL. path NULL:
 * a process collects in plain memory, or with a text in wanted, a `pcollect run` inside this one
 * has told what became of its job. */
typedef void (*pct_run_report_fn)(void *arg, const char *path, const char *wanted);

/* Reads and removes the files of this run in all folders. */
void pct_run_file_take(const struct pct_run_job *r, char *const *folders, size_t n,
                       pct_run_report_fn fn, void *arg);

/* Reports to the `pcollect run` in whose job this command runs, if there is one on this node, that
 * it need not tell what became of this job. */
void pct_run_file_tell_outer(const struct pct_run_job *r, char *const *folders, size_t n);

/* Reads and removes files of runs whose command no longer runs. */
void pct_run_file_sweep(char *const *folders, size_t n, pct_run_report_fn fn, void *arg);

/* ---- While the job runs (checkpoints.c) ------------------------------------------------------ */

struct pct_checkpoints;

/* Prepares checkpoints; NULL: this command writes none. */
struct pct_checkpoints *pct_checkpoints_new(const struct pct_run_job *r);
/* The watcher for pct_job_run; NULL for NULL. */
const struct pct_job_watcher *pct_checkpoints_watcher(const struct pct_checkpoints *c);
/* Called right after the job: cancels a checkpoint that is being written, unless it is finished
 * within a second. NULL is allowed. */
void pct_checkpoints_stop(struct pct_checkpoints *c);
/* Called after pct_run_end: names the last checkpoint if no profile has replaced it. NULL is
 * allowed.
 */
void pct_checkpoints_end(struct pct_checkpoints *c);

/* ---- After the job (run_end.c) --------------------------------------------------------------- */

/* Names the profiles, makes one from the data that the job left, or says what to check. held: the
 * job could report to this command. */
void pct_run_end(const struct pct_run_job *r, bool held, int status);

/* ---- Programs (linked_mpi.c) ----------------------------------------------------------------- */

/* The word as a path that execvp would take; NULL: there is none, or it is an option. Allocated. */
char *pct_program_file(const char *word);

/* True if the word is no option, and execvp would run a file of that name. */
bool pct_program_is(const char *word);

/* The MPI library that the first program among the words is linked with, as its loader finds it, or
 * NULL; the program is not run. *word_out: that word. Allocated. */
char *pct_program_mpi(char *const *words, const char **word_out);

/* The first of up to n words that names a statically linked program, into which nothing can be
 * loaded; or NULL. init-only. */
const char *pct_program_static(char *const *words, size_t n);

/* The first program that up to n words name, if it is linked with musl; or NULL. musl's loader
 * starts no program with the library, which needs glibc. init-only. */
const char *pct_program_musl(char *const *words, size_t n);

/* True if a shell runs the word: it is one, or a script that names one in its first line. */
bool pct_program_is_for_shell(const char *word);

/* True if the program of that word runs with rights that its user has not: setuid, setgid,
 * capabilities. The loader preloads nothing into it then. init-only. */
bool pct_program_gets_rights(const char *word);

#endif
