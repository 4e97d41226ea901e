/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Locks between recoveries: flock on the folder of arenas and on the folder of the profile. Without
 * support of the file system no lock is taken.
 */
#include "command/recover/recover.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LOCK_TRIES = 1000, LOCK_NAP_NS = 10000000 };

/* Opens the lock of one folder. A recovery that ends removes the folder, and the next one makes it
 * again: so the locked folder must be the one that has the name now. */
static int open_lock(const char *folder)
{
    return open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static bool has_the_name(int fd, const char *folder)
{
    struct stat is, named;
    return fstat(fd, &is) == 0 && lstat(folder, &named) == 0 && is.st_dev == named.st_dev &&
           is.st_ino == named.st_ino;
}

int pct_recover_lock(const struct pct_recovery *r, const char *folder)
{
    bool said = r->quiet;
    for (int fd = open_lock(folder); fd >= 0; fd = open_lock(folder)) {
        if (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
            if (!said)
                pct_say(r->self, "waits for another recovery in %s", folder);
            said = true;
            while (flock(fd, LOCK_EX) != 0 && errno == EINTR)
                ;
        }
        if (has_the_name(fd, folder))
            return fd;
        close(fd);
    }
    return -1;
}

/* True if this process holds the lock. flock belongs to the open file: a second one in the same
 * process would wait for the first. */
static bool is_held(const struct pct_recovery *r, int fd)
{
    struct stat asked, held;
    if (fstat(fd, &asked) != 0)
        return false;
    for (size_t i = 0; i < r->n_locks; i++)
        if (fstat(r->locks[i], &held) == 0 && held.st_dev == asked.st_dev &&
            held.st_ino == asked.st_ino)
            return true;
    return false;
}

/* Two recoveries that lock each other's folders must not deadlock. */
int pct_recover_lock_beside(const struct pct_recovery *r, const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = pct_text("%.*s", slash ? (int)(slash + 1 - path) : 1, slash ? path : ".");
    int fd = open_lock(folder);
    pct_free(folder);
    for (int i = 0; fd >= 0 && i < LOCK_TRIES && !is_held(r, fd); i++) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0)
            return fd;
        if (errno != EWOULDBLOCK && errno != EINTR)
            break;
        pc_nap_ns(LOCK_NAP_NS);
    }
    if (fd >= 0)
        close(fd);
    return -1;
}
