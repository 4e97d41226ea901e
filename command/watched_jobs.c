/* SPDX-License-Identifier: BSD-3-Clause */
#include "command/watched_jobs.h"
#include "analysis/allocation.h"
#include "watch/watch.h"

#include <stdlib.h>

/* Reads the command line of a process, as far as it fits. */
static void read_words(int pid, char *out, size_t n)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/cmdline", pid);
    size_t got = pc_read_small(path, out, n);
    for (size_t i = 0; i + 1 < got; i++)
        out[i] = out[i] ? out[i] : ' ';
}

static void list_jobs(const int *pids, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char words[1024] = "";
        read_words(pids[i], words, sizeof words);
        fprintf(stderr, "%9d  %s\n", pids[i], words);
    }
}

/* Prints that the name matches `n` jobs, not one. */
static int say_not_one(const struct pct_command *self, const char *job, size_t n)
{
    int *all;
    size_t n_all = pct_watch_jobs(&all);
    if (n)
        pct_say(self, "%s: %zu jobs have this name; give the process id of one launcher:", job, n);
    else if (n_all)
        pct_say(self, "%s: no such job on this node; those that run here:", job);
    else
        pct_say(self, "%s: no such job: no MPI job of yours runs on this node", job);
    list_jobs(all, n_all);
    pct_free(all);
    return PCT_DATA;
}

/* True if the word is a number; it is cut to those that a process may have. */
static bool read_number(const char *word, int *out)
{
    char *end;
    long number = strtol(word, &end, 10);
    *out = number > 0 && number <= INT32_MAX ? (int)number : 0;
    return end != word && !*end;
}

bool pct_find_process(const char *word, int *pid)
{
    struct pc_process_status p;
    return read_number(word, pid) && *pid && pc_process_look(*pid, &p);
}

int pct_find_job(const struct pct_command *self, const char *job, int *pid)
{
    int *pids, number;
    if (pct_find_process(job, pid))
        return PCT_DONE;
    size_t n = pct_watch_jobs_named(job, &pids);
    *pid = n ? pids[0] : 0;
    pct_free(pids);
    if (n == 1)
        return PCT_DONE;
    if (n || !read_number(job, &number))
        return say_not_one(self, job, n);
    pct_say(self, "%s: there is no such process", job);
    return PCT_DATA;
}

int pct_find_only_job(const struct pct_command *self, int *pid)
{
    int *pids, status = PCT_DONE;
    size_t n = pct_watch_jobs(&pids);
    *pid = n ? pids[0] : 0;
    if (n == 1) {
        char words[1024] = "";
        read_words(*pid, words, sizeof words);
        pct_say(self, "%d is the only job here: %s", *pid, words);
    } else if (n) {
        status = pct_refuse(self, "missing argument: JOB, one of these:");
        list_jobs(pids, n);
    } else {
        status = pct_refuse(self, "missing argument: JOB; no MPI job of yours runs on this node");
    }
    pct_free(pids);
    return status;
}

int pct_job_option(const struct pct_command *self, const char *value, char id[PCT_JOB_ID_BYTES],
                   const char **pids)
{
    int pid, status = pct_find_job(self, value, &pid);
    if (status)
        return status;
    snprintf(id, PCT_JOB_ID_BYTES, "%d", pid);
    *pids = id;
    return PCT_DONE;
}
