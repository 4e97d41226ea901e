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
    pc_file_close(fd);
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

struct search {
    char names[PC_ARRAY_LEN(words)][NAME_BYTES];
    void (*see)(void *arg, enum pc_plate what, int rank);
    void *arg;
};

/* Sees the plate in the maps of a process: it has one at most. Reads in pieces that overlap by more
 * than the length of a name. */
static void look_at_maps(const struct search *search, int maps)
{
    static char text[READ_BYTES + 1]; /* only one thread of a process looks */
    size_t kept = 0;
    for (ssize_t n; (n = pc_file_read(maps, text + kept, READ_BYTES - kept)) > 0;) {
        size_t end = kept + (size_t)n;
        text[end] = '\0';
        for (unsigned what = 0; what < PC_ARRAY_LEN(words); what++) {
            const char *found = strstr(text, search->names[what]);
            if (found && strchr(found, '\n')) {
                search->see(search->arg, what, atoi(found + strlen(search->names[what])));
                return;
            }
        }
        kept = end < NAME_BYTES * 4 ? end : NAME_BYTES * 4;
        memmove(text, text + end - kept, kept);
    }
}

static void look_at_process(void *arg, int pid)
{
    char path[NAME_BYTES];
    struct stat st;
    pc_format(path, sizeof path, "/proc/%d", pid);
    if (stat(path, &st) || st.st_uid != geteuid())
        return;
    pc_format(path, sizeof path, "/proc/%d/maps", pid);
    int maps = pc_file_open(AT_FDCWD, path, O_RDONLY);
    if (maps < 0)
        return;
    look_at_maps(arg, maps);
    pc_file_close(maps);
}

void pc_nameplate_look(uint64_t launch_key, void (*see)(void *arg, enum pc_plate what, int rank),
                       void *arg)
{
    struct search search = {.see = see, .arg = arg};
    for (unsigned what = 0; what < PC_ARRAY_LEN(words); what++)
        pc_format(search.names[what], sizeof search.names[what], "/memfd:" NAME_FORMAT, words[what],
                  (unsigned long)launch_key);
    pc_proc_numbers("/proc", look_at_process, &search);
}
