/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Files without a name (O_TMPFILE), which a killed process does not leave behind. If the file
 * system does not support them, or if there is no /proc, which is needed to give them a name, the
 * file has a hidden name meanwhile, and a killed process leaves it behind. This may also happen
 * between the two calls that replace another file.
 */
#include "format/new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TRIES = 100 };

static int folder_bytes(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (int)(slash + 1 - path) : 0;
}

static bool hidden_name(char name[PC_NEW_FILE_BYTES], const char *path, int i)
{
    return snprintf(name, PC_NEW_FILE_BYTES, "%.*s.pcollect-%d-%d.tmp", folder_bytes(path), path,
                    (int)getpid(), i) < PC_NEW_FILE_BYTES;
}

static void own_link(const struct pc_new_file *f, char link[32])
{
    snprintf(link, 32, "/proc/self/fd/%d", f->fd);
}

/* Lets this user read and write the file, whatever the umask of the program is. */
static void make_usable(int fd)
{
    struct stat st;
    if (fstat(fd, &st) == 0 && (st.st_mode & 0600) != 0600)
        (void)!fchmod(fd, (st.st_mode & 07777) | 0600);
}

static bool open_unnamed(struct pc_new_file *f, const char *path)
{
    char link[32];
    snprintf(f->name, sizeof f->name, "%.*s", folder_bytes(path), path);
    f->fd = open(f->name[0] ? f->name : ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
    f->name[0] = '\0';
    if (f->fd < 0)
        return false;
    own_link(f, link);
    make_usable(f->fd);
    if (!access(link, F_OK))
        return true;
    close(f->fd);
    return false;
}

int pc_new_file_open(struct pc_new_file *f, const char *path)
{
    if (open_unnamed(f, path))
        return 0;
    for (int i = 0; i < TRIES; i++) {
        if (!hidden_name(f->name, path, i))
            return ENAMETOOLONG;
        f->fd = open(f->name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
        if (f->fd >= 0) {
            make_usable(f->fd);
            return 0;
        }
        if (errno != EEXIST)
            break;
    }
    f->name[0] = '\0';
    return errno;
}

int pc_new_file_finish(struct pc_new_file *f)
{
    if (!f->name[0]) /* it disappears when it is closed */
        return 0;
    int fd = f->fd;
    f->fd = -1;
    return close(fd) && errno != EINTR ? errno : 0;
}

static int link_unnamed(const struct pc_new_file *f, const char *path)
{
    char link[32];
    own_link(f, link);
    return linkat(AT_FDCWD, link, AT_FDCWD, path, AT_SYMLINK_FOLLOW) ? errno : 0;
}

/* Gives the name by link(2), which succeeds in one process only. Over NFS the reply may be lost,
 * but then the file has two names. */
int pc_new_file_take(struct pc_new_file *f, const char *path)
{
    struct stat st;
    if (!f->name[0])
        return link_unnamed(f, path);
    if (link(f->name, path) == 0 ||
        (errno == EEXIST && stat(f->name, &st) == 0 && st.st_nlink == 2)) {
        unlink(f->name);
        f->name[0] = '\0';
        return 0;
    }
    if (errno == EEXIST || errno == ENOENT || errno == ENOSPC || errno == EDQUOT)
        return errno;
    /* The file system has no links: an empty file reserves the name. */
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (fd < 0)
        return errno;
    close(fd);
    int err = pc_new_file_replace(f, path);
    if (err)
        unlink(path);
    return err;
}

int pc_new_file_replace(struct pc_new_file *f, const char *path)
{
    int err = f->name[0] ? 0 : link_unnamed(f, path);
    if (!err && !f->name[0])
        return 0;
    for (int i = 0; err == EEXIST && i < TRIES; i++)
        err = hidden_name(f->name, path, i) ? link_unnamed(f, f->name) : ENAMETOOLONG;
    if (err)
        f->name[0] = '\0';
    else if (rename(f->name, path))
        err = errno;
    else
        f->name[0] = '\0';
    return err;
}

void pc_new_file_drop(struct pc_new_file *f)
{
    if (f->name[0])
        unlink(f->name);
    if (f->fd >= 0)
        close(f->fd);
    f->fd = -1;
}

/* True if another path is a cure, too. */
static bool choose(int err, const char **text)
{
    switch (err) {
    case EACCES:
    case EPERM:
    case EROFS:
        *text = "choose a place that you may use";
        return true;
    case ENOENT:
    case ENOTDIR:
        *text = "make the folder, or choose another";
        return true;
    case ENOSPC:
    case EDQUOT:
        *text = "free some space, or choose another place";
        return true;
    case EFBIG:
        *text = "raise the limit (ulimit -f)";
        return false;
    case EMFILE:
        *text = "raise the limit (ulimit -n)";
        return false;
    case ENAMETOOLONG:
    case EISDIR:
    case ELOOP:
        *text = "choose another name";
        return true;
    default:
        *text = "choose another place";
        return true;
    }
}

void pc_new_file_cure(struct pc_error *cure, int err, const char *by)
{
    const char *text;
    bool named = choose(err, &text) && by;
    pc_format(cure->text, sizeof cure->text, "%s%s%s%s", text, named ? " (" : "", named ? by : "",
              named ? ")" : "");
}
