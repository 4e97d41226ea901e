/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The announcement of a process that has no arena in a file: a mapping of one page with a name, as
 * /proc/PID/maps shows it, in which stand the key of the launcher and the rank. It takes no
 * descriptor and no room in a file system, and goes with the process.
 *
 * Called by announce.c. Must not: read processes of other users, leave the mapping to a child.
 */
#include "libcollect/life/nameplate.h"

#include "libcollect/state/state.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME_FORMAT "pcollect-%s-%lx-"

static const char *const words[] = {[PC_PLATE_RANK] = "rank", [PC_PLATE_LEFT] = "left"};

enum { PAGE_BYTES = 4096, READ_BYTES = 16384, NAME_BYTES = 64 };

static void *plate;

void pc_nameplate_hang(enum pc_plate what, uint64_t launch_key, int rank)
{
    char name[NAME_BYTES];
    pc_format(name, sizeof name, NAME_FORMAT "%d", words[what], (unsigned long)launch_key, rank);
    int fd = plate ? -1 : memfd_create(name, MFD_CLOEXEC);
    if (fd < 0)
        return;
    plate = mmap(NULL, PAGE_BYTES, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (plate == MAP_FAILED)
        plate = NULL;
    else
        madvise(plate, PAGE_BYTES, MADV_DONTFORK);
}

void pc_nameplate_take_down(void)
{
    if (plate)
        munmap(plate, PAGE_BYTES);
    plate = NULL;
}

/* The rank behind `name` in the maps of a process, or -1. Reads in pieces that overlap by more than
 * a name. */
static int find_plate(int maps, const char *name)
{
    static char text[READ_BYTES + 1]; /* one thread of a process looks */
    size_t kept = 0;
    for (;;) {
        ssize_t n = read(maps, text + kept, READ_BYTES - kept);
        if (n <= 0)
            return -1;
        size_t end = kept + (size_t)n;
        text[end] = '\0';
        const char *found = strstr(text, name);
        if (found && strchr(found, '\n'))
            return atoi(found + strlen(name));
        kept = end < NAME_BYTES * 4 ? end : NAME_BYTES * 4;
        memmove(text, text + end - kept, kept);
    }
}

static int rank_of(int proc, const char *pid, const char *name)
{
    char path[NAME_BYTES];
    struct stat st;
    pc_format(path, sizeof path, "%s/maps", pid);
    if (fstatat(proc, pid, &st, 0) || st.st_uid != geteuid())
        return -1;
    int maps = openat(proc, path, O_RDONLY | O_CLOEXEC);
    if (maps < 0)
        return -1;
    int rank = find_plate(maps, name);
    close(maps);
    return rank;
}

void pc_nameplate_look(enum pc_plate what, uint64_t launch_key, void (*see)(void *arg, int rank),
                       void *arg)
{
    char name[NAME_BYTES];
    DIR *proc = opendir("/proc");
    pc_format(name, sizeof name, "/memfd:" NAME_FORMAT, words[what], (unsigned long)launch_key);
    for (struct dirent *e; proc && (e = readdir(proc));) {
        if (e->d_name[0] < '1' || e->d_name[0] > '9' || strlen(e->d_name) > 10)
            continue;
        int rank = rank_of(dirfd(proc), e->d_name, name);
        if (rank >= 0)
            see(arg, rank);
    }
    if (proc)
        closedir(proc);
}
