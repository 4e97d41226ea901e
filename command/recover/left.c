/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reports the data that killed jobs left in the spool, once, in the next command that runs. An
 * arena that was reported gets the sticky bit, which has no other meaning for a file.
 */
#include "command/recover/recover.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_own_folder(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
           !(st.st_mode & 022);
}

static bool is_told(const char *path)
{
    struct stat st;
    return lstat(path, &st) != 0 || !S_ISREG(st.st_mode) || st.st_mode & S_ISVTX;
}

/* True if job number k must be reported: it has ended, and has data. */
static bool is_news(const struct pc_merge_list *list, uint32_t k)
{
    bool news = false;
    for (size_t i = 0; i < list->n; i++) {
        const struct pc_merge_found *f = &list->found[i];
        if (f->job == k && f->alive)
            return false;
        news |= f->job == k && !f->asked_only && !is_told(f->path);
    }
    return news;
}

void pct_left_pass(const char *path)
{
    if (!is_told(path))
        chmod(path, S_IRUSR | S_IWUSR | S_ISVTX);
}

static void mark_told(const struct pc_merge_list *list, uint32_t k)
{
    for (size_t i = 0; i < list->n; i++)
        if (list->found[i].job == k)
            pct_left_pass(list->found[i].path);
}

void pct_left_tell(const struct pct_command *self, char *const *folders, size_t n)
{
    struct pc_error error;
    for (size_t i = 0; i < n; i++) {
        struct pc_merge_list list = {NULL, 0, 0};
        size_t n_news = 0;
        int err =
            !is_own_folder(folders[i]) || pc_merge_list_add(&list, folders[i], NULL, NULL, &error);
        for (uint32_t k = 0; !err && k < list.n_jobs; k++) {
            if (!is_news(&list, k))
                continue;
            mark_told(&list, k);
            n_news++;
        }
        if (n_news)
            pct_say(self,
                    "%zu %s that ended without a profile left %s data in %s: `pcollect recover` "
                    "makes profiles of it, `pcollect recover --list` shows it",
                    n_news, n_news == 1 ? "job" : "jobs", n_news == 1 ? "its" : "their",
                    folders[i]);
        pc_merge_list_free(&list);
    }
}

void pct_left_tell_all(const struct pct_command *self)
{
    struct pc_config config;
    struct pc_error error;
    size_t n;
    if (pc_config_load(&config, &error))
        return;
    char **folders = pct_spool_folders(&config, &n);
    pct_left_tell(self, folders, n);
    pct_spool_free(folders, n);
}
