/* SPDX-License-Identifier: BSD-3-Clause */
#include "command/watched_jobs.h"
#include "analysis/allocation.h"
#include "analysis/symbols/symbols.h"
#include "base/launchers.h"
#include "watch/refusal.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

enum { COMMAND_BYTES = 4096 };

/* Words of a launcher's command, from this one on, by which `pcollect run` passes a variable. */
static size_t count_passing(const char *word, const char *end)
{
    static const char *const flags[] = {"-x", "-genv", "-e", "-E"};
    const char *name = word + strlen(word) + 1;
    bool passes = false;
    for (size_t i = 0; i < PC_ARRAY_LEN(flags); i++)
        passes |= strcmp(word, flags[i]) == 0;
    if (!passes || name >= end ||
        (strncmp(name, "PCOLLECT_", 9) != 0 && strncmp(name, "LD_PRELOAD", 10) != 0))
        return 0;
    return strcmp(word, "-genv") == 0 ? 3 : 2;
}

/* Reads the command of a process, as far as it fits, without what `pcollect run` added to it. */
static void read_command(int pid, char out[COMMAND_BYTES])
{
    char path[64], words[COMMAND_BYTES] = "";
    snprintf(path, sizeof path, "/proc/%d/cmdline", pid);
    const char *end = words + pc_read_small(path, words, sizeof words);
    bool by_run = memmem(words, (size_t)(end - words), "PCOLLECT_RUN", 12) != NULL;
    size_t n = 0, left_out = 0;
    for (const char *word = words; word < end; word += strlen(word) + 1) {
        left_out = left_out ? left_out : by_run ? count_passing(word, end) : 0;
        if (left_out)
            left_out--;
        else
            n += (size_t)snprintf(out + n, COMMAND_BYTES - n, "%s%s", n ? " " : "", word);
    }
    out[n] = '\0';
}

/* Prints a line of standard error: its beginning, and the command of a process behind it, which is
 * cut where lines must be. */
static void print_command(const char *begin, int pid)
{
    const struct pct_terminal terminal = pct_terminal_look_at(STDERR_FILENO);
    size_t taken = pct_text_cells(begin);
    size_t room = terminal.width > taken ? terminal.width - taken : 1;
    char command[COMMAND_BYTES];
    struct pct_buf shown = {0};
    read_command(pid, command);
    char *escaped = pct_text_escaped(command);
    pct_text_cut(&shown, escaped, terminal.cut ? room : SIZE_MAX, terminal.utf8);
    fprintf(stderr, "%s%s\n", begin, shown.data);
    pct_free(escaped);
    pct_buf_free(&shown);
}

static void list_jobs(const int *pids, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char begin[32];
        snprintf(begin, sizeof begin, "%9d  ", pids[i]);
        print_command(begin, pids[i]);
    }
}

static bool has_option(const struct pct_command *self, const char *name)
{
    const struct pct_option *o = self->options;
    while (o->name && strcmp(o->name, name) != 0)
        o++;
    return o->name != NULL;
}

/* Says which processes that are no ranks have the name. False: none has. */
static bool say_named(const struct pct_command *self, const char *name)
{
    int pid;
    size_t n = pct_watch_named(name, &pid);
    if (n == 1)
        pct_say(self, "%s: no MPI job has this name, but process %d: --pid %d takes it", name, pid,
                pid);
    else if (n)
        pct_say(self, "%s: no MPI job has this name, but %zu processes, as %d: --pid takes them",
                name, n, pid);
    return n > 0;
}

/* Prints that the name matches `n` jobs, not one. */
static int say_not_one(const struct pct_command *self, const char *job, size_t n)
{
    int *all;
    if (!n && has_option(self, "pid") && say_named(self, job))
        return PCT_DATA;
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
        char *begin = pct_text("pcollect %s: %d is the only job here: ", self->name, *pid);
        print_command(begin, *pid);
        pct_free(begin);
    } else if (n) {
        pct_say(self, "missing argument: JOB, one of these:");
        list_jobs(pids, n);
        status = pct_refuse_above(self);
    } else {
        status = pct_refuse(self, "missing argument: JOB; no MPI job of yours runs on this node");
    }
    pct_free(pids);
    return status;
}

int pct_say_several_jobs(const struct pct_command *self, const struct pct_watched_job *job)
{
    pct_say(self, "these are ranks of several jobs; give --whole-job and one of these:");
    for (size_t i = 0; i < job->n; i++) {
        size_t first = 0;
        while (job->processes[first].key != job->processes[i].key)
            first++;
        if (first == i)
            list_jobs(&job->processes[i].pid, 1);
    }
    return PCT_DATA;
}

static bool has_role(const char *path)
{
    return pc_launcher_role(pc_base_name(path)) != PC_LAUNCHER_NONE;
}

/* True for a process that is nothing but the way to its ranks: by its program, and by the first two
 * words of its command, because launchers are often scripts. */
static bool is_for_ranks(int pid)
{
    char program[COMMAND_BYTES], path[64], words[COMMAND_BYTES + 1] = "";
    pct_watch_exe(pid, program, sizeof program);
    snprintf(path, sizeof path, "/proc/%d/cmdline", pid);
    size_t n = pc_read_small(path, words, COMMAND_BYTES), second = strlen(words) + 1;
    const char *base = pc_base_name(program);
    return has_role(program) || has_role(words) || (second < n && has_role(words + second)) ||
           pc_is_shell(base) || pct_watch_role(pid) != PC_LAUNCHER_NONE;
}

/* Adds a process of the list of --pid: the ranks below it, if it is for them; else itself. Fails as
 * pct_watch_add. */
static int add_given(const struct pct_command *self, struct pct_watched_job *job, int pid,
                     struct pc_error *error)
{
    struct pct_watched_job below = {.world = -1, .all = job->all, .n_all = job->n_all};
    int err = PC_OK;
    if (is_for_ranks(pid))
        return pct_watch_add(job, pid, error);
    err = pct_watch_add(&below, pid, error);
    job->all = below.all;
    job->n_all = below.n_all;
    below.all = NULL; /* it is the job's */
    if (err || (below.n == 1 && below.processes[0].pid == pid)) {
        err = err ? err : pct_watch_add(job, pid, error);
    } else {
        pct_say(self,
                "%d is no launcher: it is taken itself, not the MPI ranks below it (%zu here), "
                "which --job %d takes",
                pid, below.n, pid);
        pct_watch_add_itself(job, pid);
    }
    pct_watch_job_free(&below);
    return err;
}

int pct_check_proc(const struct pct_command *self)
{
    enum { LEAST_FILES = 8 }; /* with fewer, processes seem to have ended */
    struct pc_error error;
    struct rlimit files;
    if (!getrlimit(RLIMIT_NOFILE, &files) && files.rlim_cur < LEAST_FILES)
        pc_error_set(&error, PC_EIO,
                     "the limit of open files is %llu, too low to look at processes; raise it "
                     "(ulimit -n)",
                     (unsigned long long)files.rlim_cur);
    else if (!pct_refusal_foreign(&error))
        return PCT_DONE;
    pct_say(self, "%s", error.text);
    return PCT_DATA;
}

int pct_given_processes(const struct pct_command *self, const char *list, bool is_job,
                        struct pct_watched_job *to)
{
    struct pc_error error = {""};
    int *pids;
    size_t n, n_gone = 0;
    int status = pct_value_ids(self, "pid", list, &pids, &n);
    status = status ? status : pct_check_proc(self);
    for (size_t i = 0; i < n && !status; i++)
        n_gone += (is_job ? pct_watch_add(to, pids[i], &error)
                          : add_given(self, to, pids[i], &error)) != PC_OK;
    const char *left_out = n_gone == n   ? ""
                           : n_gone == 1 ? ": it is left out"
                                         : ": they are left out";
    if (n_gone == 1)
        pct_say(self, "%s%s", error.text, left_out);
    else if (n_gone)
        pct_say(self, "%zu of these %zu processes do not run%s", n_gone, n, left_out);
    pct_free(pids);
    return status || n_gone < n ? status : PCT_DATA;
}

int pct_given_threads(const struct pct_command *self, const char *list, int **tids, size_t *n)
{
    struct pc_process_status p;
    int status = pct_value_ids(self, "thread", list, tids, n);
    status = status ? status : pct_check_proc(self);
    for (size_t i = 0; i < *n && !status; i++)
        if (!pc_process_look((*tids)[i], &p)) {
            pct_say(self, "%d: there is no such thread", (*tids)[i]);
            status = PCT_DATA;
        }
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
