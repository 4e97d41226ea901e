/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pcollect recover: lists arenas, and makes profiles of the jobs that left them. The work on one
 * job is in recover_job.c; `pcollect run` uses the same code for its own job.
 */
#include "command/recover/recover.h"

#include "analysis/buffer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OPTION_LIST = 'l' };

static const struct pct_option options[] = {
    {'o', "output", "PATTERN",
     "path of the profile, as for pcollect run (default: the path that the job was given)",
     "Only a profile of the same job is replaced; otherwise a number is added, app.4.2.pcol."},
    {OPTION_LIST, "list", NULL, "list the jobs that left arenas; write and remove nothing",
     "The first line has the names of the columns, which are separated by tabs: program, processes "
     "on this node, ranks of the job, state (running, ended, merged), start in UTC, and path of "
     "the profile that would be written."},
    {0, NULL, NULL, NULL},
};

/* ---- Folders -------------------------------------------------------------------------------- */

static bool is_folder(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Refuses a folder of another user, because its contents decide which files this user writes. */
static bool check_owner(const struct pct_recovery *r, const char *folder)
{
    struct stat st;
    if (lstat(folder, &st) != 0)
        return true; /* missing: handled by the caller */
    if (S_ISLNK(st.st_mode)) {
        pct_say(r->self, "%s is a symbolic link: name the folder itself", folder);
        return false;
    }
    if (st.st_uid == geteuid())
        return true;
    pct_say(r->self, "%s belongs to user %u: only that user can recover from it", folder,
            (unsigned)st.st_uid);
    return false;
}

static void say_line(void *arg, const char *line)
{
    const struct pct_recovery *r = arg;
    pct_say(r->self, "%s", line);
}

static bool list_folders(const struct pct_recovery *r, char *const *folders, size_t n,
                         struct pc_merge_list *list)
{
    struct pc_error error;
    for (size_t i = 0; i < n; i++) {
        if (!check_owner(r, folders[i]))
            return false;
        /* A run does not report damaged files of other jobs. */
        pc_merge_say_fn say = r->run_key ? NULL : say_line;
        int err = pc_merge_list_add(list, folders[i], say, (void *)r, &error);
        if (err && err != PC_ENOENT) {
            pct_say(r->self, "%s", error.text);
            return false;
        }
    }
    return true;
}

static bool run_is_alive(const struct pct_recovery *r, const struct pc_merge_list *list)
{
    for (size_t i = 0; i < list->n; i++)
        if (list->found[i].alive && list->found[i].run_key == r->run_key)
            return true;
    return false;
}

/* ---- Jobs ----------------------------------------------------------------------------------- */

/* Takes the selected entries of job number `job`. */
static struct pct_job take_job(const struct pct_recovery *r, const struct pc_merge_list *list,
                               uint32_t job)
{
    struct pct_job j = {pct_alloc(list->n, sizeof *j.found), 0, 0};
    for (size_t i = 0; i < list->n; i++) {
        struct pc_merge_found *f = &list->found[i];
        if (f->job != job || (r->run_key && f->run_key != r->run_key))
            continue;
        j.found[j.n++] = f;
        j.n_alive += f->alive;
    }
    return j;
}

/* Recovers jobs with ranks first: processes without MPI_Init must not take their file names. */
static void recover_jobs(const struct pct_recovery *r, const struct pc_merge_list *list,
                         bool with_key, struct pct_recovered *out)
{
    for (uint32_t k = 0; k < list->n_jobs; k++) {
        struct pct_job job = take_job(r, list, k);
        if (job.n && (job.found[0]->job_key != 0) == with_key) {
            if (r->list_only)
                pct_job_list(r, &job);
            else
                pct_job_recover(r, &job, out);
        }
        free(job.found);
    }
}

/* ---- Recovery ------------------------------------------------------------------------------- */

static int by_inode(const void *a, const void *b)
{
    struct stat x, y;
    lstat(*(char *const *)a, &x);
    lstat(*(char *const *)b, &y);
    if (x.st_dev != y.st_dev)
        return x.st_dev < y.st_dev ? -1 : 1;
    return (x.st_ino > y.st_ino) - (x.st_ino < y.st_ino);
}

/* Locks all folders in one order, independent of the command line, and each once. */
static size_t lock_folders(const struct pct_recovery *r, char *const *folders, size_t n, int *locks)
{
    char **sorted = pct_alloc(n, sizeof *sorted);
    size_t n_there = 0, n_locks = 0;
    for (size_t i = 0; i < n; i++)
        if (is_folder(folders[i]))
            sorted[n_there++] = folders[i];
    qsort(sorted, n_there, sizeof *sorted, by_inode);
    for (size_t i = 0; i < n_there; i++)
        if (!i || by_inode(&sorted[i - 1], &sorted[i]) != 0)
            locks[n_locks++] = pct_recover_lock(r, sorted[i]);
    free(sorted);
    return n_locks;
}

static bool recover_locked(const struct pct_recovery *r, char *const *folders, size_t n,
                           struct pct_recovered *out)
{
    struct pc_merge_list list = {NULL, 0, 0};
    bool done = list_folders(r, folders, n, &list);
    if (done) {
        recover_jobs(r, &list, true, out);
        recover_jobs(r, &list, false, out);
    }
    pc_merge_list_free(&list);
    return done;
}

/* Waits for the ranks of a killed launcher, which take a moment to end. */
static void await_run(const struct pct_recovery *r, char *const *folders, size_t n)
{
    bool alive = r->run_key != 0;
    for (int tries = 0; alive && tries < 20; tries++) {
        struct pc_merge_list list = {NULL, 0, 0};
        alive = list_folders(r, folders, n, &list) && run_is_alive(r, &list);
        pc_merge_list_free(&list);
        if (alive)
            usleep(50000);
    }
}

bool pct_recover_folders(const struct pct_recovery *asked, char *const *folders, size_t n,
                         struct pct_recovered *out)
{
    struct pct_recovery with_locks = *asked, *r = &with_locks;
    int *locks = pct_alloc(n, sizeof *locks);
    size_t n_locks = 0;
    *out = (struct pct_recovered){0, 0, 0, 0};
    await_run(r, folders, n);
    if (!r->list_only)
        n_locks = lock_folders(r, folders, n, locks);
    r->locks = locks;
    r->n_locks = n_locks;
    bool done = recover_locked(r, folders, n, out);
    for (size_t i = 0; i < n_locks; i++)
        if (locks[i] >= 0)
            close(locks[i]);
    free(locks);
    return done;
}

/* ---- The command ---------------------------------------------------------------------------- */

/* The folders on the command line: each itself and, if it is a spool, this user's folder in it. */
static char **name_folders(const struct pct_command *self, char **words, size_t n, size_t *n_out)
{
    char **folders = pct_alloc(2 * n + 1, sizeof *folders);
    *n_out = 0;
    for (size_t i = 0; i < n; i++) {
        if (!is_folder(words[i])) {
            pct_refuse(self, "%s: %s", words[i],
                       access(words[i], F_OK) == 0 ? "is not a folder" : strerror(errno));
            free(folders);
            return NULL;
        }
        char *below = pct_text("%s/pcollect-%u", words[i], (unsigned)geteuid());
        folders[(*n_out)++] = is_folder(below) ? below : words[i];
    }
    return folders;
}

/* The folders of this user in the spools of the configuration. */
static char **default_folders(const struct pct_command *self, size_t *n_out)
{
    struct pc_config config;
    struct pc_error error;
    if (pc_config_load(&config, &error)) {
        pct_say(self, "%s", error.text);
        return NULL;
    }
    return pct_spool_folders(&config, n_out);
}

/* Removes report files of runs whose command was killed, and empty folders. */
static void sweep(const struct pct_recovery *r, char *const *folders, size_t n)
{
    pct_run_tell_earlier(r->self, folders, n);
    for (size_t i = 0; i < n; i++) {
        const char *slash = strrchr(folders[i], '/');
        if (strncmp(slash ? slash + 1 : folders[i], "pcollect-", 9) == 0)
            rmdir(folders[i]);
    }
}

static int recover(struct pct_recovery *r, char **folders, size_t n)
{
    struct pct_recovered found;
    pct_progress_show();
    if (r->list_only)
        fputs("program\tprocesses\tranks\tstate\tstarted\toutput\n", stdout);
    if (!pct_recover_folders(r, folders, n, &found))
        return PCT_CALL;
    if (!r->list_only)
        sweep(r, folders, n);
    if (!r->list_only && found.n_profiles + found.n_failed + found.n_alive == 0)
        for (size_t i = 0; i < n; i++)
            printf("nothing to recover in %s\n", folders[i]);
    return found.n_failed ? PCT_DATA : PCT_DONE;
}

static int take_option(const struct pct_command *self, const struct pct_option *o,
                       const char *value, void *request)
{
    struct pct_recovery *r = request;
    if (o->letter == OPTION_LIST) {
        r->list_only = true;
        return PCT_DONE;
    }
    r->pattern = pct_output_pattern(self, value);
    return r->pattern ? PCT_DONE : PCT_CALL;
}

static int run_recover(const struct pct_command *self, int argc, char **argv)
{
    struct pct_recovery r = {.self = self};
    struct pct_line line;
    size_t n = 0;
    if (!pct_line_read(self, argc, argv, &r, &line))
        return line.status;
    char **folders =
        line.n_words ? name_folders(self, line.words, line.n_words, &n) : default_folders(self, &n);
    return folders ? recover(&r, folders, n) : PCT_CALL;
}

const struct pct_command pct_recover = {
    .name = "recover",
    .synopsis = "[-o PATTERN] [--list] [FOLDER]...",
    .summary = "make profiles from what killed jobs left",
    .details = "FOLDER holds arenas, the files in which processes collect; the default is "
               "pcollect-UID in the spool, on each node where the job ran. Jobs that still run "
               "are left alone. Arenas are removed when their profile has been written.",
    .options = options,
    .argument = "FOLDER",
    .n_most = PCT_ANY_NUMBER,
    .take = take_option,
    .main = run_recover,
};
