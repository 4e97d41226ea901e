/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The file by which the processes of a run report to `pcollect run` (its writer and its form:
 * libcollect/life/run_word.c). It is locked as long as the command runs, so that the next command
 * can recognise and remove the file of a killed one.
 */
#include "command/launch/run_job.h"

#include "analysis/buffer.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static char *name_file(const char *folder, uint64_t key)
{
    return pct_text("%s/run-%lx.path", folder, (unsigned long)key);
}

static bool has_the_name(int fd, int folder, const char *name)
{
    struct stat is, named;
    return fstat(fd, &is) == 0 && fstatat(folder, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
           is.st_dev == named.st_dev && is.st_ino == named.st_ino;
}

/* Makes and locks the file. Another command may remove it before it is locked: then it is made
 * again. */
static bool hold_in(const char *folder, uint64_t key)
{
    char *path = name_file(folder, key);
    const char *name = pc_base_name(path), *why;
    bool held = false;
    for (int tries = 0; !held && tries < 10; tries++) {
        mkdir(folder, 0700);
        int dir = pc_file_open_own_folder(folder, &why);
        int fd =
            dir < 0 ? -1 : pc_file_open(dir, name, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK);
        if (fd >= 0) {
            flock(fd, LOCK_EX | LOCK_NB); /* without file locks it may be removed too early */
            held = has_the_name(fd, dir, name);
        }
        if (fd >= 0 && !held)
            close(fd);
        if (dir >= 0)
            close(dir);
        if (fd < 0)
            break;
    }
    pct_free(path);
    return held;
}

bool pct_run_file_hold(const struct pct_run_job *r)
{
    const char *spool = pc_config_spool(&r->config, 0);
    bool held = false;
    for (unsigned i = 0; !held && spool; spool = pc_config_spool(&r->config, ++i)) {
        char *folder = pct_text("%s/pcollect-%u", spool, (unsigned)geteuid());
        held = hold_in(folder, r->key);
        pct_free(folder);
    }
    return held;
}

/* Reads the file, after removing it: later reports go to a new file. What is added while it is read
 * is not read. */
static void take(const char *file, bool unlocked_only, pct_run_report_fn fn, void *arg)
{
    struct stat st;
    char *strings[2] = {NULL, NULL};
    size_t room[2] = {0, 0};
    int fd = open(file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    FILE *reports = fd >= 0 ? fdopen(fd, "r") : NULL;
    if (reports == NULL)
        return;
    bool ours = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid();
    if (ours && (!unlocked_only || flock(fd, LOCK_EX | LOCK_NB) == 0)) {
        unlink(file);
        fstat(fd, &st); /* with what was added until then */
        while (ftell(reports) < st.st_size && getdelim(&strings[0], &room[0], '\0', reports) > 0 &&
               getdelim(&strings[1], &room[1], '\0', reports) > 0)
            fn(arg, *strings[0] ? strings[0] : NULL, *strings[1] ? strings[1] : NULL);
    }
    pct_free(strings[0]);
    pct_free(strings[1]);
    fclose(reports);
}

void pct_run_file_take(const struct pct_run_job *r, char *const *folders, size_t n,
                       pct_run_report_fn fn, void *arg)
{
    for (size_t i = 0; i < n; i++) {
        char *file = name_file(folders[i], r->key);
        take(file, false, fn, arg);
        pct_free(file);
    }
}

void pct_run_file_tell_outer(const struct pct_run_job *r, char *const *folders, size_t n)
{
    static const char told[] = "\0told"; /* two strings */
    for (size_t i = 0; r->config.run_key && i < n; i++) {
        char *file = name_file(folders[i], r->config.run_key);
        int fd = open(file, O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        bool written = fd >= 0 && write(fd, told, sizeof told) == sizeof told;
        if (fd >= 0)
            close(fd);
        pct_free(file);
        if (written)
            return;
    }
}

static bool is_run_file(const char *name)
{
    size_t n = strlen(name);
    return n > 9 && strncmp(name, "run-", 4) == 0 && strcmp(name + n - 5, ".path") == 0;
}

void pct_run_file_sweep(char *const *folders, size_t n, pct_run_report_fn fn, void *arg)
{
    for (size_t i = 0; i < n; i++) {
        DIR *dir = opendir(folders[i]);
        for (struct dirent *e; dir && (e = readdir(dir));) {
            char *file = pct_text("%s/%s", folders[i], e->d_name);
            if (is_run_file(e->d_name))
                take(file, true, fn, arg);
            pct_free(file);
        }
        if (dir)
            closedir(dir);
    }
}
