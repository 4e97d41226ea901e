/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Finds MPI jobs that run on this node by the names that users give.
 */
#ifndef PCT_WATCHED_JOBS_H
#define PCT_WATCHED_JOBS_H

#include "command/command.h"
#include "watch/watch.h"

/* The process that launched a job here, or any process, by its id; a job by its number in Slurm, or
 * by the name of its program or script. PCT_DONE, or PCT_DATA after listing the jobs. */
int pct_find_job(const struct pct_command *self, const char *job, int *pid);

/* True if the word is the id of a process on this node. */
bool pct_find_process(const char *word, int *pid);

/* The only one that runs here. PCT_DONE, which is said too, or PCT_CALL. */
int pct_find_only_job(const struct pct_command *self, int *pid);

/* Refuses ranks of several jobs, and lists a rank of each. Returns PCT_DATA. */
int pct_say_several_jobs(const struct pct_command *self, const struct pct_watched_job *job);

/* PCT_DONE, or PCT_DATA after saying why /proc does not show processes: it is that of another pid
 * namespace, or too few files may be open. */
int pct_check_proc(const struct pct_command *self);

/* Adds the processes of a list that --pid or, if `is_job`, --job has given. --job: of each the
 * ranks below it on this node. --pid: so of a launcher, of its helper, or of a shell that started
 * one; any other is added itself, and if there are ranks below it, this is said. Processes that
 * have ended are left out, with a message. PCT_DONE, or a status after a message: all of them have.
 */
int pct_given_processes(const struct pct_command *self, const char *list, bool is_job,
                        struct pct_watched_job *to);
/* Reads the list of --thread; all must exist. *tids is freed by the caller with pct_free, also on
 * failure. PCT_DONE, or a status after a message. */
int pct_given_threads(const struct pct_command *self, const char *list, int **tids, size_t *n);

/* An option that takes the process id of pct_find_job. */
#define PCT_OPTION_JOB(verb, n)                                                                    \
    {                                                                                              \
        'j', "job", "JOB", verb " the ranks of a running MPI job on this node",                    \
            "JOB is the process id of its launcher, its number in Slurm, or the name of its "      \
            "program or Python script.",                                                           \
            .group = (n)                                                                           \
    }
enum { PCT_JOB_ID_BYTES = 16 };
/* Takes its value, and sets *pids, whose text is in id, as the value of --pid. */
int pct_job_option(const struct pct_command *self, const char *value, char id[PCT_JOB_ID_BYTES],
                   const char **pids);

#endif
