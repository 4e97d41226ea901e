/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Files that subcommands write completely or not at all (format/new_file.h): a killed command
 * leaves nothing, if the file system has files without a name. Files that are read while they grow
 * are opened by pct_new_file.
 */
#include "command/whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static ssize_t write_all(void *stream, const char *data, size_t n)
{
    struct pct_stream *s = stream;
    size_t done = 0;
    while (done < n && !s->err) {
        ssize_t written = write(s->fd, data + done, n - done);
        if (written > 0)
            done += (size_t)written;
        else if (!written || errno != EINTR)
            s->err = written ? errno : EIO;
    }
    return (ssize_t)done;
}

FILE *pct_stream_open(struct pct_stream *s, int fd)
{
    enum { ROOM = 1 << 16 };
    *s = (struct pct_stream){.fd = fd};
    FILE *out = fopencookie(s, "w", (cookie_io_functions_t){.write = write_all});
    if (out)
        setvbuf(out, NULL, _IOFBF, ROOM);
    return out;
}

void pct_say_unwritten(const struct pct_command *self, const char *path, int err)
{
    struct pc_error cure;
    pc_new_file_cure(&cure, err, NULL);
    if (err == EEXIST)
        pct_say_exists(self, path);
    else
        pct_say(self, "%s: %s; %s", path, strerror(err), cure.text);
}

/* A descriptor of ours that has this file open; -1: none. Another descriptor of a file would begin
 * at its begin. */
static int find_own(const struct stat *of)
{
    struct stat st;
    for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++)
        if (!fstat(fd, &st) && st.st_dev == of->st_dev && st.st_ino == of->st_ino)
            return fd;
    return -1;
}

/* Opens a sink. -1: there is none; errno says why, EEXIST if there is another file. */
static int open_sink(const char *path)
{
    static const char devices[] = "/dev/";
    struct stat st;
    if (stat(path, &st) != 0)
        return -1;
    int own = strncmp(path, devices, sizeof devices - 1) ? -1 : find_own(&st);
    if (own >= 0)
        return fcntl(own, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (S_ISFIFO(st.st_mode) || S_ISCHR(st.st_mode))
        return open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC);
    errno = S_ISDIR(st.st_mode) ? EISDIR : EEXIST;
    return -1;
}

int pct_new_file(const struct pct_command *self, const char *path, bool *made_out)
{
    int fd = open_sink(path);
    *made_out = fd < 0 && errno == ENOENT;
    if (*made_out)
        fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0)
        pct_say_unwritten(self, path, errno);
    return fd;
}

static bool fail(const struct pct_whole_file *w, int err)
{
    pct_say_unwritten(w->self, w->path, err);
    return false;
}

bool pct_whole_file_open(struct pct_whole_file *w, const struct pct_command *self, const char *path,
                         bool replaces)
{
    *w = (struct pct_whole_file){.self = self, .path = path, .replaces = replaces};
    int fd = open_sink(path);
    w->sink = fd >= 0;
    if (fd < 0 && errno != ENOENT && !(replaces && errno == EEXIST))
        return fail(w, errno);
    int err = w->sink ? 0 : pc_new_file_open(&w->file, path);
    if (err)
        return fail(w, err);
    w->out = pct_stream_open(&w->stream, w->sink ? fd : w->file.fd);
    if (w->out)
        return true;
    if (w->sink)
        close(fd);
    else
        pc_new_file_drop(&w->file);
    return fail(w, ENOMEM);
}

bool pct_whole_file_close(struct pct_whole_file *w, bool keep)
{
    fclose(w->out);
    if (w->sink) {
        close(w->stream.fd);
        return w->stream.err ? fail(w, w->stream.err) : true;
    }
    int err = w->stream.err, late = pc_new_file_finish(&w->file);
    err = err ? err : late;
    if (!err && keep)
        err = w->replaces ? pc_new_file_replace(&w->file, w->path)
                          : pc_new_file_take(&w->file, w->path);
    pc_new_file_drop(&w->file);
    return err ? fail(w, err) : true;
}
