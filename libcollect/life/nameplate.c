/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The announcement of a process that has no arena in a file: a mapping of one page whose name, as
 * /proc/PID/maps shows it, contains the key of the launcher and the rank. It takes no descriptor
 * and no room in a file system, and ends with the process.
 *
 * Called by announce.c. Must not: read processes of other users, leave the mapping to a child.
 */
#include "libcollect/life/nameplate.h"

#include "libcollect/state/state.h"

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
 * the length of a name. */
static int find_plate(int maps, const char *name)
{
    static char text[READ_BYTES + 1]; /* only one thread of a process looks */
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

struct search {
    char name[NAME_BYTES];
    void (*see)(void *arg, int rank);
    void *arg;
};

static void look_at_process(void *arg, int pid)
{
    const struct search *search = arg;
    char path[NAME_BYTES];
    struct stat st;
    pc_format(path, sizeof path, "/proc/%d", pid);
    if (stat(path, &st) || st.st_uid != geteuid())
        return;
    pc_format(path, sizeof path, "/proc/%d/maps", pid);
    int maps = open(path, O_RDONLY | O_CLOEXEC);
    if (maps < 0)
        return;
    int rank = find_plate(maps, search->name);
    close(maps);
    if (rank >= 0)
        search->see(search->arg, rank);
}

void pc_nameplate_look(enum pc_plate what, uint64_t launch_key, void (*see)(void *arg, int rank),
                       void *arg)
{
    struct search search = {.see = see, .arg = arg};
    pc_format(search.name, sizeof search.name, "/memfd:" NAME_FORMAT, words[what],
              (unsigned long)launch_key);
    pc_proc_numbers("/proc", look_at_process, &search);
}
