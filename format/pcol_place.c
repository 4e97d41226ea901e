/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Checks what an output path names. A path that does not exist, or a complete profile of this user,
 * is accepted. Everything else is refused: a device, a FIFO, a link, a file of another kind or of
 * another user, one that is read-only.
 *
 * Called by the writer of a profile right before the rename, and by the command before it starts a
 * job. Must not: open anything but a regular file, follow a link, change anything.
 */
#include "format/build.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *name_kind(mode_t mode)
{
    switch (mode & S_IFMT) {
    case S_IFDIR:
        return "a folder";
    case S_IFLNK:
        return "a symbolic link";
    case S_IFIFO:
        return "a FIFO";
    case S_IFSOCK:
        return "a socket";
    default:
        return "a device";
    }
}

/* True if the file, opened with these flags, begins with the header of a profile and has the length
 * given there. If it cannot be opened, errno says why. */
static bool is_whole(const char *path, int flags, struct pc_pcol_header *h)
{
    uint8_t data[PC_PCOL_HEADER_BYTES];
    struct pc_error error;
    struct stat st;
    size_t n = 0;
    errno = 0;
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | flags);
    if (fd < 0)
        return false;
    bool whole = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
                 pc_pcol_read_at(fd, data, sizeof data, 0, &n) == 0 &&
                 pc_pcol_header_decode(data, n, h, &error) == PC_OK &&
                 h->file_bytes == (uint64_t)st.st_size;
    close(fd);
    return whole;
}

bool pc_pcol_is_of_job(const char *path, uint64_t job_key)
{
    struct pc_pcol_header h;
    return is_whole(path, 0, &h) && h.job_key == job_key;
}

static int refuse(struct pc_error *error, const char *path, const char *is, const char *cure,
                  unsigned flags)
{
    return pc_error_set(error, PC_EIO,
                        "%s: cannot be written: there is %s; %schoose another name (%s)", path, is,
                        cure, pc_pcol_elsewhere(flags));
}

int pc_pcol_may_write(const char *path, unsigned flags, struct pc_error *error)
{
    struct pc_pcol_header h;
    struct stat st;
    char text[80];
    int saved = errno, err = PC_OK;
    if (lstat(path, &st) != 0) {
        if (errno != ENOENT)
            err = pc_pcol_system_error(error, path, "cannot be written", errno, flags);
    } else if (!S_ISREG(st.st_mode)) {
        err = refuse(error, path, name_kind(st.st_mode), "", flags);
    } else if (st.st_uid != geteuid()) {
        pc_format(text, sizeof text, "a file of user %u", (unsigned)st.st_uid);
        err = refuse(error, path, text, "", flags);
    } else if (!is_whole(path, O_NOFOLLOW, &h)) {
        err = errno == EMFILE
                  ? pc_pcol_system_error(error, path, "cannot be read", errno, flags)
                  : refuse(error, path, "a file that is not a whole profile of pcollect",
                           "remove it, or ", flags);
    } else if (!(st.st_mode & S_IWUSR)) {
        err = refuse(error, path, "a profile that is read-only",
                     "make it writable (chmod u+w), or ", flags);
    }
    errno = saved;
    return err;
}

int pc_pcol_number(const char *path, unsigned i, char *out, size_t n, struct pc_error *error)
{
    char whole[PCOLLECT_PATH_BYTES];
    size_t end = pc_pcol_stem(path), length;
    pc_format(whole, sizeof whole, "%s", path);
    if (i > 1 && end < sizeof whole) {
        whole[end] = '\0';
        length = pc_format(out, n, "%s.%u%s", whole, i, path + end);
    } else {
        length = pc_format(out, n, "%s", whole);
    }
    if (strlen(path) >= sizeof whole || length + 1 >= n)
        return pc_error_set(error, PC_EARG, "%s: the path is too long", path);
    return PC_OK;
}
