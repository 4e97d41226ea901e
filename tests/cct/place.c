/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1 /* unshare */
#endif
#include "tests/cct/place.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define FS_TMPFS 0x01021994
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

static bool is_old_kernel;

/* In place of the C library's: Linux before 5.14 does not know this advice. */
int madvise(void *at, size_t bytes, int advice)
{
    if (is_old_kernel && advice == MADV_POPULATE_WRITE) {
        errno = EINVAL;
        return -1;
    }
    return (int)syscall(SYS_madvise, at, bytes, advice);
}

int place_open_on_old_kernel(struct pc_arena *a, const char *spool, size_t bytes,
                             struct pc_error *error)
{
    is_old_kernel = true;
    int err = pc_arena_open(a, spool, bytes, error);
    is_old_kernel = false;
    return err;
}

const open_fn place_ways[2] = {pc_arena_open, place_open_on_old_kernel};

int place_make(void **state)
{
    static struct place place;
    struct statfs fs;
    strcpy(place.spool, "/dev/shm/pc-test-XXXXXX");
    *state = NULL;
    if (statfs("/dev/shm", &fs) != 0 || fs.f_type != FS_TMPFS || !mkdtemp(place.spool))
        return 0;
    snprintf(place.folder, sizeof place.folder, "%s/pcollect-%u", place.spool, geteuid());
    *state = &place;
    return 0;
}

int place_remove(void **state)
{
    char command[200];
    const struct place *place = *state;
    if (!place)
        return 0;
    snprintf(command, sizeof command, "rm -rf '%s'", place->spool);
    return system(command);
}

void in_child(void (*fn)(struct place *place, open_fn open_it), struct place *place,
              open_fn open_it)
{
    int status;
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        fn(place, open_it);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (WIFSIGNALED(status))
        fail_msg("killed by signal %d", WTERMSIG(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

unsigned place_fill(struct pc_arena *a, size_t piece)
{
    unsigned n = 0;
    for (pcollect_ref ref; (ref = pc_arena_alloc_reserve(a, piece)); n++)
        memset(pc_arena_at(a, ref), 0x5a, piece);
    return n;
}

static const char *wrong_image(const void *data, size_t n)
{
    static struct image im;
    im.visit = NULL;
    return image_walk(&im, data, n) ? NULL : im.wrong;
}

const char *place_wrong(struct pc_arena *a)
{
    return wrong_image(a->base, a->map_bytes);
}

const char *place_wrong_file(const char *path)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) != 0)
        return "cannot be opened";
    char *data = malloc((size_t)st.st_size + 1);
    ssize_t n = read(fd, data, (size_t)st.st_size);
    const char *wrong = n == st.st_size ? wrong_image(data, (size_t)n) : "cannot be read";
    close(fd);
    free(data);
    return wrong;
}

bool place_mount(struct place *place, const char *type, const char *options)
{
    return unshare(CLONE_NEWNS) == 0 && mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           mount("none", place->spool, type, 0, options) == 0;
}

bool place_may_mount(struct place *place)
{
    int status = 1;
    pid_t pid = fork();
    if (pid == 0)
        _exit(!place_mount(place, "tmpfs", "size=1m"));
    return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

uint64_t place_free_bytes(const char *path)
{
    struct statfs fs;
    return statfs(path, &fs) == 0 ? (uint64_t)fs.f_bavail * (uint64_t)fs.f_bsize : 0;
}
