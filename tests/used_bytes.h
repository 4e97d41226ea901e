/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The bytes that the arena of this process uses, for programs under the library with
 * PCOLLECT_SPOOL_PATH.
 */
#ifndef TEST_USED_BYTES_H
#define TEST_USED_BYTES_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "include/pcollect/arena.h"

/* From the header of the file, which has the process id in its name; 0: there is none. */
static inline unsigned long used_bytes(void)
{
    char folder[500], file[1000], pid[32];
    struct pcollect_arena_header h = {.used_bytes = 0};
    const char *spool = getenv("PCOLLECT_SPOOL_PATH");
    snprintf(folder, sizeof folder, "%s/pcollect-%u", spool ? spool : "", (unsigned)geteuid());
    snprintf(pid, sizeof pid, ".%d.", (int)getpid());
    DIR *dir = opendir(folder);
    for (struct dirent *e; dir && (e = readdir(dir));) {
        snprintf(file, sizeof file, "%s/%s", folder, e->d_name);
        FILE *f = strstr(e->d_name, pid) ? fopen(file, "r") : NULL;
        if (f && fread(&h, sizeof h, 1, f) != 1)
            h.used_bytes = 0;
        if (f)
            fclose(f);
    }
    if (dir)
        closedir(dir);
    return (unsigned long)h.used_bytes;
}

#endif
