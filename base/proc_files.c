/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reads data about processes from small files of /proc. Calls no malloc, because it is also used
 * while a process starts; only pc_proc_numbers does, because it opens a folder.
 */
#include "base/base.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

size_t pc_read_small(const char *path, char *out, size_t n)
{
    int keep = errno;
    int fd = pc_file_open(AT_FDCWD, path, O_RDONLY);
    ssize_t got = fd < 0 ? -1 : pc_file_read(fd, out, n - 1);
    if (fd >= 0)
        pc_file_close(fd);
    errno = keep;
    out[got > 0 ? got : 0] = '\0';
    return got > 0 ? (size_t)got : 0;
}

/* Rest of a limit; used: a field of statm, in pages. */
static uint64_t left_of(int resource, const char *used)
{
    struct rlimit limit;
    if (getrlimit(resource, &limit))
        return 0;
    if (limit.rlim_cur == RLIM_INFINITY)
        return UINT64_MAX;
    uint64_t pages = used ? strtoull(used, NULL, 10) : 0;
    uint64_t bytes = pages * (uint64_t)sysconf(_SC_PAGESIZE);
    return pages && bytes < limit.rlim_cur ? limit.rlim_cur - bytes : 0;
}

static const char *skip_fields(const char *at, int n)
{
    for (; at && n > 0; n--)
        at = strchr(at + 1, ' ');
    return at;
}

/* Fields 1 and 6 of statm are the address space and the data, with the stack. */
uint64_t pc_room_to_grow(bool is_private)
{
    char text[128];
    size_t n = pc_read_small("/proc/self/statm", text, sizeof text);
    uint64_t space = left_of(RLIMIT_AS, n ? text : NULL);
    uint64_t data = is_private ? left_of(RLIMIT_DATA, n ? skip_fields(text, 5) : NULL) : UINT64_MAX;
    return space < data ? space : data;
}

static bool read_stat(const char *path, int pid, struct pc_process_status *out)
{
    char text[1024];
    if (!pc_read_small(path, text, sizeof text))
        return false;
    const char *at = strrchr(text, ')'); /* the name may contain any character */
    if (!at || at[1] != ' ' || !at[2])
        return false;
    /* Fields 3, 4, 14, 15, 20 and 22 of proc(5). */
    const char *user = skip_fields(at, 12), *kernel = skip_fields(user, 1);
    const char *threads = skip_fields(kernel, 5), *start = skip_fields(threads, 2);
    if (!start)
        return false;
    bool zombie = at[2] == 'Z' || at[2] == 'X';
    *out = (struct pc_process_status){.pid = pid,
                                      .parent = (int)strtol(at + 3, NULL, 10),
                                      .state = at[2],
                                      .ended = zombie && strtol(threads, NULL, 10) < 2,
                                      .start = strtoull(start, NULL, 10),
                                      .cpu_ticks =
                                          strtoull(user, NULL, 10) + strtoull(kernel, NULL, 10)};
    return true;
}

bool pc_process_look(int pid, struct pc_process_status *out)
{
    char path[64];
    pc_format(path, sizeof path, "/proc/%d/stat", pid);
    return read_stat(path, pid, out);
}

bool pc_thread_look(int pid, int tid, struct pc_process_status *out)
{
    char path[64];
    pc_format(path, sizeof path, "/proc/%d/task/%d/stat", pid, tid);
    return read_stat(path, pid, out);
}

bool pc_proc_numbers(const char *folder, void (*see)(void *arg, int number), void *arg)
{
    DIR *dir = opendir(folder);
    for (struct dirent *e; dir && (e = readdir(dir));)
        if (e->d_name[0] >= '1' && e->d_name[0] <= '9')
            see(arg, atoi(e->d_name));
    if (dir)
        closedir(dir);
    return dir != NULL;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

bool pc_list_numbers(const char *list, void (*see)(void *arg, int number), void *arg)
{
    char *at = (char *)list;
    for (;; at++) {
        if (!is_digit(*at))
            return false;
        long first = strtol(at, &at, 10), last = first;
        if (*at == '-' && is_digit(at[1]))
            last = strtol(at + 1, &at, 10);
        if (last < first || last > INT_MAX)
            return false;
        for (long number = first; number <= last; number++)
            see(arg, (int)number);
        if (*at != ',')
            return !*at || !strcmp(at, "\n");
    }
}

bool pc_online_processors(void (*see)(void *arg, int number), void *arg)
{
    char list[4096];
    pc_read_small("/sys/devices/system/cpu/online", list, sizeof list);
    return pc_list_numbers(list, see, arg);
}

/* Compares the file, piece by piece, with NAME= or NAME=VALUE and its end. */
bool pc_process_has_variable(int pid, const char *name, const char *value)
{
    char path[64], text[4096], wanted[256];
    size_t at = 0, length = pc_format(wanted, sizeof wanted, "%s=%s", name, value ? value : "");
    bool matching = true, found = false;
    ssize_t n;
    pc_format(path, sizeof path, "/proc/%d/environ", pid);
    int fd = pc_file_open(AT_FDCWD, path, O_RDONLY);
    if (fd < 0)
        return false;
    while (!found && (n = pc_file_read(fd, text, sizeof text)) > 0)
        for (ssize_t i = 0; i < n && !found; i++) {
            found = matching && at + !value == length && text[i] == (value ? '\0' : '=');
            matching = text[i] == '\0' || (matching && at < length && text[i] == wanted[at]);
            at = text[i] == '\0' ? 0 : at + 1;
        }
    pc_file_close(fd);
    return found;
}
