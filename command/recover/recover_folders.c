/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Lists the arenas of folders, and recovers the jobs that left them: for `pcollect recover`, and
 * for `pcollect run` at the end of its own job. The work on one job is in recover_job.c.
 */
#include "command/recover/recover.h"

#include "analysis/buffer.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Folders -------------------------------------------------------------------------------- */

/* Refuses a folder of another user, because its contents decide which files this user writes. */
static bool check_owner(const struct pct_recovery *r, const char *folder)
{
    struct stat st;
    if (lstat(folder, &st) != 0)
        return true; /* missing: handled by the caller */
    bool is_link = S_ISLNK(st.st_mode), is_own = st.st_uid == geteuid();
    if (is_link && !r->quiet)
        pct_say(r->self, "%s is a symbolic link: name the folder itself", folder);
    else if (!is_own && !r->quiet)
        pct_say(r->self, "%s belongs to user %u: only that user can recover from it", folder,
                (unsigned)st.st_uid);
    return is_own && !is_link;
}

/* Puts the folders that may be used into `out`. False: one that was named may not. */
static bool check_folders(const struct pct_recovery *r, char *const *folders, size_t n, char **out,
                          size_t *n_out)
{
    *n_out = 0;
    for (size_t i = 0; i < n; i++) {
        if (check_owner(r, folders[i]))
            out[(*n_out)++] = folders[i];
        else if (r->named)
            return false;
    }
    return true;
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

/* True if the process began another program later, which left an arena as well. */
static bool went_on(const struct pc_merge_list *list, const struct pc_merge_found *f)
{
    for (size_t i = 0; f->run_key && i < list->n; i++) {
        const struct pc_merge_found *g = &list->found[i];
        if (g->run_key == f->run_key && g->pid == f->pid && !strcmp(g->host, f->host) &&
            g->realtime_0_ns > f->realtime_0_ns)
            return true;
    }
    return false;
}

/* Takes the selected entries of job number `job`. */
static struct pct_job take_job(const struct pct_recovery *r, const struct pc_merge_list *list,
                               uint32_t job)
{
    struct pct_job j = {.found = pct_alloc(list->n, sizeof *j.found)};
    for (size_t i = 0; i < list->n; i++) {
        struct pc_merge_found *f = &list->found[i];
        if (f->job != job || (r->run_key && f->run_key != r->run_key))
            continue;
        j.found[j.n++] = f;
        j.n_alive += f->alive;
    }
    j.by_exec = j.n == 1 && went_on(list, j.found[0]);
    return j;
}

/* Recovers jobs with ranks first: processes without MPI_Init must not take their file names. */
static void recover_jobs(const struct pct_recovery *r, const struct pc_merge_list *list,
                         bool with_key, struct pct_recovered *out)
{
    for (uint32_t k = 0; k < list->n_jobs; k++) {
        struct pct_job job = take_job(r, list, k);
        if (job.n && (job.found[0]->job_key != 0) == with_key &&
            (!r->job || pct_job_is_called(&job, r->job))) {
            out->n_jobs++;
            if (r->list_only)
                pct_job_list(r, &job);
            else
                pct_job_recover(r, &job, out);
        }
        pct_free(job.found);
    }
}

/* ---- Recovery ------------------------------------------------------------------------------- */

struct inode {
    dev_t device;
    ino_t number;
    const char *folder;
};

static int by_inode(const void *a, const void *b)
{
    const struct inode *x = a, *y = b;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

/* Locks all folders in one order, independent of the command line, and each once. Another recovery
 * may remove one meanwhile. */
static size_t lock_folders(const struct pct_recovery *r, char *const *folders, size_t n, int *locks)
{
    struct inode *sorted = pct_alloc(n, sizeof *sorted);
    struct stat st;
    size_t n_there = 0, n_locks = 0;
    for (size_t i = 0; i < n; i++)
        if (!stat(folders[i], &st) && S_ISDIR(st.st_mode))
            sorted[n_there++] = (struct inode){st.st_dev, st.st_ino, folders[i]};
    qsort(sorted, n_there, sizeof *sorted, by_inode);
    for (size_t i = 0; i < n_there; i++)
        if (!i || by_inode(&sorted[i - 1], &sorted[i]) != 0)
            locks[n_locks++] = pct_recover_lock(r, sorted[i].folder);
    pct_free(sorted);
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
            pc_nap_ns(50000000);
    }
}

bool pct_recover_folders(const struct pct_recovery *asked, char *const *folders, size_t n,
                         struct pct_recovered *out)
{
    struct pct_recovery with_locks = *asked, *r = &with_locks;
    int *locks = pct_alloc(n, sizeof *locks);
    char **own = pct_alloc(n, sizeof *own);
    size_t n_locks = 0, n_own;
    *out = (struct pct_recovered){.n_profiles = 0};
    bool done = check_folders(r, folders, n, own, &n_own);
    if (done)
        await_run(r, own, n_own);
    if (done && !r->list_only)
        n_locks = lock_folders(r, own, n_own, locks);
    r->locks = locks;
    r->n_locks = n_locks;
    done = done && recover_locked(r, own, n_own, out);
    for (size_t i = 0; i < n_locks; i++)
        if (locks[i] >= 0)
            close(locks[i]);
    pct_free(own);
    pct_free(locks);
    return done;
}
