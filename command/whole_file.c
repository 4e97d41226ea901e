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
#include <unistd.h>

static bool fail(const struct pct_whole_file *w, int err)
{
    if (err == EEXIST)
        pct_say_exists(w->self, w->path);
    else
        pct_say(w->self, "%s: %s", w->path, strerror(err));
    return false;
}

/* Opens the file. Text is written through a second descriptor, because a file without a name
 * disappears when its last descriptor is closed. */
bool pct_whole_file_open(struct pct_whole_file *w, const struct pct_command *self, const char *path,
                         bool replaces)
{
    *w = (struct pct_whole_file){.self = self, .path = path, .replaces = replaces};
    if (!replaces && access(path, F_OK) == 0)
        return fail(w, EEXIST);
    int err = pc_new_file_open(&w->file, path);
    if (err)
        return fail(w, err);
    int fd = fcntl(w->file.fd, F_DUPFD_CLOEXEC, 0);
    w->out = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (w->out)
        return true;
    err = errno;
    if (fd >= 0)
        close(fd);
    pc_new_file_drop(&w->file);
    return fail(w, err);
}

bool pct_whole_file_close(struct pct_whole_file *w, bool keep)
{
    int err = ferror(w->out) ? EIO : 0, late;
    if (fclose(w->out))
        err = errno;
    late = pc_new_file_finish(&w->file);
    err = err ? err : late;
    if (!err && keep)
        err = w->replaces ? pc_new_file_replace(&w->file, w->path)
                          : pc_new_file_take(&w->file, w->path);
    pc_new_file_drop(&w->file);
    return err ? fail(w, err) : true;
}
