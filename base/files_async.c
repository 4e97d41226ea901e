/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Files and naps of the library inside a program, by bare system calls. The functions of libc are
 * cancellation points: a thread that the program has cancelled would end in the midst of the
 * library's work, in code of the program that has no such point. Every function of this file may
 * run in a signal handler.
 */
#define _GNU_SOURCE 1

#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

int pc_file_open(int folder, const char *path, int flags)
{
    return (int)syscall(SYS_openat, folder, path, flags | O_CLOEXEC | O_LARGEFILE, 0600);
}

int pc_file_open_own_folder(const char *path, const char **why)
{
    struct stat st;
    int fd = pc_file_open(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    *why = NULL;
    if (fd < 0) {
        if (errno == ELOOP || errno == ENOTDIR)
            *why = "is a link or a file: it must be a folder";
        return -1;
    }
    bool known = fstat(fd, &st) == 0;
    if (known && st.st_uid != geteuid())
        *why = "belongs to another user";
    else if (known && st.st_mode & (S_IWGRP | S_IWOTH))
        *why = "can be written by others";
    if (known && !*why)
        return fd;
    int error = errno;
    pc_file_close(fd);
    errno = error;
    return -1;
}

int pc_file_close(int fd)
{
    return (int)syscall(SYS_close, fd);
}

ssize_t pc_file_read(int fd, void *out, size_t n)
{
    return syscall(SYS_read, fd, out, n);
}

static uint64_t set_of(int signal)
{
    return (uint64_t)1 << (signal - 1);
}

/* The signal that a write which failed with this error has sent to its thread; 0: none. */
static uint64_t sent_with(int error)
{
    return error == EPIPE ? set_of(SIGPIPE) : error == EFBIG ? set_of(SIGXFSZ) : 0;
}

ssize_t pc_file_write(int fd, const void *data, size_t n)
{
    const uint64_t both = set_of(SIGPIPE) | set_of(SIGXFSZ);
    uint64_t mask = 0, waiting = 0;
    bool blocked = !syscall(SYS_rt_sigprocmask, SIG_BLOCK, &both, &mask, sizeof both);
    if (mask & both)
        syscall(SYS_rt_sigpending, &waiting, sizeof waiting);
    ssize_t written = syscall(SYS_write, fd, data, n);
    int error = errno;
    const uint64_t sent = written < 0 ? sent_with(error) & ~waiting : 0;
    if (sent) {
        const long now[2] = {0, 0};
        syscall(SYS_rt_sigtimedwait, &sent, NULL, now, sizeof sent);
    }
    if (blocked)
        syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, NULL, sizeof mask);
    errno = error;
    return written;
}

/* The kernel's own timespec is two longs. */
void pc_nap_ns(uint64_t ns)
{
    const long nap[2] = {(long)(ns / 1000000000u), (long)(ns % 1000000000u)};
    int saved = errno;
    syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, nap, NULL);
    errno = saved;
}
