/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The parts of `pcollect run` and what it shares with `pcollect recover`.
 */
#ifndef PCT_RUN_H
#define PCT_RUN_H

#include "command/command.h"

/* ---- Launchers (launcher.c) ------------------------------------------------------------------ */

/* Ways in which a launcher gives variables to its ranks. */
enum pct_passing {
    PCT_PASS_INHERIT, /* ranks inherit the launcher's environment */
    PCT_PASS_X,       /* -x NAME=VALUE, for each application of the command line */
    PCT_PASS_GENV,    /* -genv NAME VALUE, once */
    PCT_PASS_E,       /* -e NAME=VALUE */
    PCT_PASS_BIG_E    /* -E NAME=VALUE */
};

struct pct_launcher {
    const char *mark; /* text in the output of --version, case-insensitive */
    const char *name;
    enum pct_passing passing;
    bool has_list; /* it may have a list of variables, mca_base_env_list, beside which 4.1.4 refuses
                      -x */
};

/* True if the base name is that of a launcher. No other program is ever run with --version. */
bool pct_launcher_is(const char *word);

/* Runs `word --version`, without input, for at most 20 s. NULL: it is no known launcher. */
const struct pct_launcher *pct_launcher_ask(const char *word);

/* A list of variables that replaces the user's. */
struct pct_env_list {
    size_t option; /* the word of the option that gives the user's list; 0: there is none */
    char *value;   /* allocated; NULL: no list is needed */
};

/* The words of the command line with the variables ("NAME=VALUE") put where the launcher wants
 * them, or with the list that contains them. An LD_PRELOAD that the user passes in the same way is
 * joined with ours. Allocated, with a NULL at its end. */
char **pct_launcher_words(enum pct_passing passing, char **words, char **variables,
                          const struct pct_env_list *list);

/* ---- The job (child.c) ----------------------------------------------------------------------- */

/* Callbacks of the process that watches a job from outside. */
struct pct_job_watcher {
    bool (*ready)(void *arg,
                  int pid);      /* the process waits for its exec; false: it must not begin */
    void (*running)(void *arg);  /* it has begun */
    uint64_t (*tick)(void *arg); /* while it runs; returns the ns to the next call at most */
    void *arg;
};

/* Runs a command with its standard streams untouched and the variables ("NAME=VALUE", up to NULL;
 * may be NULL) added to its environment; forwards signals sent to this process. Watcher NULL: none.
 * Returns the exit status, 128 + signal, 126 or 127 if it cannot be started (said).
 */
int pct_job_run(const struct pct_command *self, char **words, char **variables,
                const struct pct_job_watcher *watcher);

/* End of a process: by a signal, or, signal 0, by itself with a status. pid 0: unknown. */
struct pct_ended {
    int pid, signal, status;
};

/* The process of the last pct_job_run. */
struct pct_ended pct_job_ended(void);

/* Says so if a signal ended it, unless the user wanted an end. */
void pct_job_tell_killed(const struct pct_command *self, const char *word);

/* True if SIGINT, SIGTERM, SIGHUP or SIGQUIT has reached this process during a pct_job_run: the
 * user wants an end, even if the job handles the signal. */
bool pct_job_interrupted(void);

/* CPU time of commands that have ended, and of all that was waited for below them. */
struct pct_job_cpu {
    uint64_t user_ns, system_ns;
    uint64_t last_started; /* the newest process or thread of this pid namespace */
};
struct pct_job_cpu pct_job_cpu(void);

/* Says that the command `word` has used clearly more CPU time since `before` than the kernel has
 * counted of it. `done`: what was to be done with it. Returns these ns; 0: nothing was said. */
uint64_t pct_job_tell_uncounted(const struct pct_command *self, const char *word,
                                struct pct_job_cpu before, uint64_t counted_ns, const char *done);

/* Forks a process that works for this command: beside the job, from the watcher's tick, which is
 * called again when it has ended, or after the job. It has the initial signal state of this
 * command, and must end with _exit. The kernel ends it before any process of the job if memory runs
 * out, and when this command ends. Returns like fork. */
int pct_job_helper(void);

/* ---- Remains of a killed command (run_end.c) ------------------------------------------------ */

/* Names the profiles of jobs whose `pcollect run` was killed, and removes the files by which these
 * jobs reported to it. */
void pct_run_tell_earlier(const struct pct_command *self, char *const *folders, size_t n);

/* ---- Checkpoints of jobs (checkpoint_files.c) ------------------------------------------------ */

/* Removes the checkpoints of jobs whose profile has the requested name `wanted`, if a profile of
 * that name, or of that name with a number, contains their processes; or if `profile` does, which
 * may be NULL. */
void pct_checkpoint_drop(const char *wanted, const char *profile);

/* ---- Data that a job has left (recover_folders.c) ------------------------------------------- */

struct pct_recovery {
    const struct pct_command *self;
    uint64_t run_key;    /* only processes of that run; 0: all */
    const char *job;     /* only jobs that pct_job_is_called so; NULL: all */
    const char *pattern; /* of the output path; NULL: what the processes were given */
    bool named;          /* folders of other users are refused; else they are passed over */
    bool list_only;
    bool quiet;                                   /* print only errors and written files */
    void (*own)(void *arg, const char *path);     /* a profile that a job wrote itself; or NULL */
    void (*written)(void *arg, const char *path); /* called for a profile that was made; or NULL */
    void *arg;
    struct pct_ended ended; /* a process whose end is known */
    const int *locks;       /* locks that it holds, -1: none; set by pct_recover_folders */
    size_t n_locks;
};

/* Results of pct_recover_folders. */
struct pct_recovered {
    size_t n_jobs;               /* that were looked at */
    size_t n_profiles, n_failed; /* jobs */
    size_t n_alive;              /* processes of jobs that were left alone, because they run */
    size_t n_unmeasured; /* processes that called MPI and ended before anything was measured */
    size_t n_killed;     /* the same without MPI_Init: a signal, _exit or exec ended them */
};

/* Makes one profile for each job that has left arenas in the folders, and removes the arenas used.
 * Missing folders are skipped. False: a folder cannot be read (said). */
bool pct_recover_folders(const struct pct_recovery *r, char *const *folders, size_t n,
                         struct pct_recovered *out);

#endif
