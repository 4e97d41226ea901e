/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pcollect checkpoint: the profile of a running job so far, from copies of the arenas of its ranks
 * on this node. The job is not involved: doc/internals/checkpoints.md.
 */
#include "analysis/buffer.h"
#include "command/recover/recover.h"
#include "command/watched_jobs.h"

#include <string.h>
#include <sys/resource.h>

/* Beside the profile that the job will write. */
#define DEFAULT_NAME "%x.%n.checkpoint.pcol"

static const struct pct_option options[] = {
    {'o', "output", "PATTERN", "path of the profile (default: " DEFAULT_NAME ")",
     "It may have the parts %x, %n, ... of [output] path in pcollect.conf(5). No file is replaced: "
     "a number is added, app.4.checkpoint.2.pcol."},
    {0, NULL, NULL, NULL},
};

/* ---- The arenas of the job ------------------------------------------------------------------- */

struct arenas {
    char **mapped; /* paths of files that look like arenas, by the processes of the job */
    size_t n, room;
    struct pc_merge_list list; /* all arenas that lie in the same folders */
};

static bool is_listed(const struct arenas *a, const char *path)
{
    for (size_t i = 0; i < a->list.n; i++)
        if (!strcmp(a->list.found[i].path, path))
            return true;
    return false;
}

static void add_mapped(struct arenas *a, const char *path)
{
    struct pc_error error;
    a->mapped = pct_grow(a->mapped, a->n, &a->room, sizeof *a->mapped);
    a->mapped[a->n++] = pct_text("%s", path);
    if (is_listed(a, path))
        return;
    char *folder = pct_text("%.*s", (int)(strrchr(path, '/') - path), path);
    pc_merge_list_add(&a->list, folder, NULL, NULL, &error);
    pct_free(folder);
}

/* Finds what a process has mapped. A program may have other files with such a name. */
static void find_mapped(struct arenas *a, int pid)
{
    static const char end[] = ".arena";
    size_t n;
    char *maps = pct_watch_file(pct_watch_view(pid), "maps", &n), *rest = maps;
    for (char *line; rest && (line = strsep(&rest, "\n"));) {
        char *path = strchr(line, '/');
        size_t length = path ? strlen(path) : 0;
        if (length > strlen(end) && !strcmp(path + length - strlen(end), end))
            add_mapped(a, path);
    }
    pct_free(maps);
}

static void free_arenas(struct arenas *a)
{
    for (size_t i = 0; i < a->n; i++)
        pct_free(a->mapped[i]);
    pct_free(a->mapped);
    pc_merge_list_free(&a->list);
}

/* True if one of the processes is of this job. */
static bool is_theirs(const struct arenas *a, const struct pct_job_copies *j)
{
    for (size_t i = 0; i < j->n; i++)
        for (size_t k = 0; k < a->n; k++)
            if (!strcmp(a->mapped[k], j->found[i].path))
                return true;
    return false;
}

/* ---- The profile ----------------------------------------------------------------------------- */

static int write_profile(const struct pct_command *self, const struct pct_job_copies *j,
                         const struct pc_profile *p, const char *pattern, struct pc_error *error)
{
    const struct pct_recovery recovery = {.self = self, .pattern = pattern};
    char wanted[PCOLLECT_PATH_BYTES], path[PCOLLECT_PATH_BYTES];
    int err = pct_job_path(&recovery, j->found, wanted, sizeof wanted, error);
    if (!err)
        err = pc_pcol_write_new(p, wanted, 0, path, error);
    if (err)
        return err;
    pct_say_file("profile", path, strcmp(path, wanted) ? wanted : NULL);
    if (pct_embed_file(path, path, &(struct pct_embedded){0}, error))
        pct_say(self, "no symbols are stored in the profile: %s", error->text);
    if (p->n_ranks < p->world_size)
        pct_say(self, "it has %u of %u ranks: those whose data is in files on this node",
                p->n_ranks, p->world_size);
    return PC_OK;
}

/* Makes the profile of one job from its copies. */
static int take(const struct pct_command *self, const struct pct_job_copies *j, const char *pattern)
{
    struct pc_profile *p = NULL;
    struct pc_error error = {""};
    int err = pc_merge_copies(j->copies, j->n_copies, &p, &error);
    if (!err && p->n_data == 0)
        err = pc_error_set(&error, PC_ENOENT, "%s: nothing has been measured yet",
                           pc_base_name(j->found->exe));
    if (!err)
        err = write_profile(self, j, p, pattern, &error);
    if (err)
        pct_say(self, "%s", *error.text ? error.text : pc_err_text(err));
    pc_profile_free(p);
    return err ? PCT_DATA : PCT_DONE;
}

/* Copies the arenas of all jobs of the processes, a program and what it has spawned, before
 * anything else; returns their number. */
static size_t copy_all(const struct pct_command *self, const struct arenas *a,
                       struct pct_job_copies *jobs, int *status)
{
    struct pc_error error = {""};
    size_t n_jobs = 0;
    for (size_t at = 0, n; at < a->list.n; at += n) {
        struct pct_job_copies *j = &jobs[n_jobs];
        *j = pct_job_copies(&a->list, at);
        n = j->n;
        if (!is_theirs(a, j))
            continue;
        n_jobs++;
        if (pct_job_copy(j, 0, &error)) {
            pct_say(self, "%s", error.text);
            *status = PCT_DATA;
        }
    }
    return n_jobs;
}

static int take_all(const struct pct_command *self, const struct arenas *a, const char *pattern)
{
    int status = PCT_DONE;
    pct_job_goes_first();
    struct pct_job_copies *jobs = pct_alloc(a->list.n_jobs, sizeof *jobs);
    size_t n = copy_all(self, a, jobs, &status);
    setpriority(PRIO_PROCESS, 0, 19); /* the processors are the job's */
    for (size_t k = 0; k < n; k++) {
        if (jobs[k].n_copies && take(self, &jobs[k], pattern))
            status = PCT_DATA;
        pct_job_copies_drop(&jobs[k]);
    }
    pct_free(jobs);
    if (n)
        return status;
    pct_say(self, "no process of the job has its arena in a file here: it does not run under "
                  "pcollect, has called no MPI function yet, collects in memory, or is in a "
                  "container; `pcollect where` shows where it is");
    return PCT_DATA;
}

/* ---- The command ----------------------------------------------------------------------------- */

static int find_process(const struct pct_command *self, const struct pct_line *line,
                        struct pct_watched_job *job)
{
    struct pc_error error = {""};
    int pid, status = line->n_words ? pct_find_job(self, line->words[0], &pid)
                                    : pct_find_only_job(self, &pid);
    if (status || !pct_watch_add(job, pid, &error))
        return status;
    pct_say(self, "%s", error.text);
    return PCT_DATA;
}

static int take_option(const struct pct_command *self, const struct pct_option *o,
                       const char *value, void *request)
{
    (void)self;
    (void)o;
    *(const char **)request = value;
    return PCT_DONE;
}

static int run_checkpoint(const struct pct_command *self, int argc, char **argv)
{
    struct pct_line line;
    struct pct_watched_job job = {.world = -1};
    struct arenas arenas = {0};
    const char *output = DEFAULT_NAME;
    if (!pct_line_read(self, argc, argv, &output, &line))
        return line.status;
    char *pattern = pct_output_pattern(self, output, DEFAULT_NAME);
    int status = pattern ? find_process(self, &line, &job) : PCT_CALL;
    if (!status) {
        for (size_t i = 0; i < job.n; i++)
            find_mapped(&arenas, job.processes[i].pid);
        status = take_all(self, &arenas, pattern);
    }
    free_arenas(&arenas);
    pct_watch_job_free(&job);
    pct_free(pattern);
    return status;
}

const struct pct_command pct_checkpoint = {
    .name = "checkpoint",
    .synopsis = "[-o PATTERN] [JOB]",
    .summary = "make the profile of a running job so far",
    .details =
        "JOB is the process id of a launcher, of one of its ranks, or of any process under "
        "pcollect; a number in Slurm; or the name of an MPI program or Python script. "
        "Without it, the one MPI job of this node is taken. The profile has all ranks of "
        "the job on this node. The job goes on undisturbed, and writes its own profile at its end.",
    .options = options,
    .argument = "JOB",
    .n_most = 1,
    .take = take_option,
    .main = run_checkpoint,
};
