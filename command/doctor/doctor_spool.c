/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pcollect doctor: the spools, and limits on them. Makes nothing: a missing folder would be made by
 * a job, so its parent is examined.
 */
#include "command/doctor/doctor.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define FS_TMPFS 0x01021994u
#define FS_RAMFS 0x858458f6u
#define FS_HUGETLBFS 0x958458f6u
#define MIB ((uint64_t)1 << 20)

static const char no_survival[] =
    "processes collect in /tmp or /var/tmp, or, if no file can be created there either, in plain "
    "memory: the data of a killed job is lost then";
static const char other_spool[] = "name a folder in a memory file system: [spool] path";

/* Reason why this user's own folder in the spool would be refused, or NULL. */
static const char *why_folder_refused(const char *folder)
{
    struct stat st;
    if (lstat(folder, &st) != 0)
        return NULL;
    if (!S_ISDIR(st.st_mode))
        return "is not a folder";
    if (st.st_uid != geteuid())
        return "belongs to another user";
    return st.st_mode & 022 ? "can be written by others" : NULL;
}

static void count_left(struct pct_examined *d, const char *folder)
{
    size_t n = 0;
    DIR *dir = opendir(folder);
    for (struct dirent *e; dir && (e = readdir(dir));)
        n += strstr(e->d_name, ".arena") != NULL;
    if (dir)
        closedir(dir);
    if (n)
        pct_doctor_add(d, PCT_LESS, "spool",
                       pct_text("%zu %s in %s, of jobs that run or that were killed", n,
                                n == 1 ? "arena is" : "arenas are", folder),
                       n == 1 ? "memory, until it is recovered"
                              : "memory, until they are recovered",
                       "pcollect recover");
}

static void check_space(struct pct_examined *d, const char *spool, const struct statfs *fs)
{
    uint64_t free_bytes = (uint64_t)fs->f_bavail * (uint64_t)fs->f_bsize;
    uint64_t wanted = d->config.collect_buffer_size;
    long n_cpus = sysconf(_SC_NPROCESSORS_ONLN);
    char *found = pct_text("%s: memory, %lu MiB free, up to %lu MiB a process", spool,
                           (unsigned long)(free_bytes / MIB), (unsigned long)(wanted / MIB));
    /* The whole buffer is hardly ever used: a quarter of it for each processor is taken as
     * enough. */
    if (fs->f_blocks && free_bytes < wanted / 4 * (uint64_t)(n_cpus > 0 ? n_cpus : 1))
        pct_doctor_add(d, PCT_LESS, "spool", found,
                       "with a process on each processor, some collect in plain memory, which does "
                       "not survive a kill, or collapse contexts",
                       "a larger memory file system, or a smaller [collect] buffer_size");
    else
        pct_doctor_add(d, PCT_GOOD, "spool", found, NULL, NULL);
}

static void check_folder(struct pct_examined *d)
{
    const char *spool = d->config.spool_path;
    char *folder = pct_text("%s/pcollect-%u", spool, (unsigned)geteuid());
    const char *why = why_folder_refused(folder);
    struct statfs fs;
    struct stat st;
    if (statfs(spool, &fs) != 0 || stat(spool, &st) != 0)
        pct_doctor_add(d, PCT_LESS, "spool", pct_text("%s: %s", spool, strerror(errno)),
                       no_survival, other_spool);
    else if (why)
        pct_doctor_add(d, PCT_LESS, "spool", pct_text("%s %s", folder, why), no_survival,
                       "have it removed, or name another folder: [spool] path");
    else if (access(folder, F_OK) != 0 && access(spool, W_OK | X_OK) != 0)
        pct_doctor_add(d, PCT_LESS, "spool", pct_text("%s: %s", spool, strerror(errno)),
                       no_survival, other_spool);
    else if ((uint32_t)fs.f_type != FS_TMPFS && (uint32_t)fs.f_type != FS_RAMFS &&
             (uint32_t)fs.f_type != FS_HUGETLBFS)
        pct_doctor_add(d, PCT_LESS, "spool", pct_text("%s is not in a memory file system", spool),
                       "pages are written to disk from time to time, which slows the program",
                       other_spool);
    else
        check_space(d, spool, &fs);
    count_left(d, folder);
    pct_free(folder);
}

static void check_limit(struct pct_examined *d, int resource, const char *name, uint64_t least,
                        const char *cost)
{
    struct rlimit limit;
    if (getrlimit((__rlimit_resource_t)resource, &limit) != 0 ||
        (limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < least))
        pct_doctor_add(d, PCT_LESS, "limits",
                       pct_text("%s is %lu; %lu is needed", name, (unsigned long)limit.rlim_cur,
                                (unsigned long)least),
                       cost, "ulimit, /etc/security/limits.conf, or the batch system's own");
    else
        pct_doctor_add(d, PCT_GOOD, "limits", pct_text("%s is enough", name), NULL, NULL);
}

void pct_doctor_spool(struct pct_examined *d)
{
    uint64_t wanted = d->config.collect_buffer_size;
    check_folder(d);
    check_limit(d, RLIMIT_FSIZE, "size of files", wanted,
                "less room for contexts, and profiles of large jobs may not be written");
    check_limit(d, RLIMIT_AS, "address space", 4 * wanted, "less room for contexts");
    check_limit(d, RLIMIT_NOFILE, "open files", 64, "counters cannot be opened in every thread");
}
