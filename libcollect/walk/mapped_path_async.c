/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The path of the file that is mapped at an address, by the kernel's list. It is absolute, whatever
 * name the loader was given and whatever the current directory is now.
 */
#include "libcollect/walk/loadmap_private.h"

#include "base/base.h"

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>

/* A line of /proc/self/maps: "start-end ... path", as far as it was read. */
struct line {
    uintptr_t number, start;
    enum { START, END, FIELDS, PATH } at;
    size_t path_bytes;
};

static uintptr_t digit_of(char c)
{
    return (uintptr_t)(c >= 'a' ? c - 'a' + 10 : c - '0');
}

/* Reads one character of the list. True: the line that holds the address has ended, and its path is
 * in out. */
static bool take(struct line *l, char c, uintptr_t address, char *out, size_t n)
{
    bool ours = l->at > END && l->start <= address && address < l->number;
    if (c == '\n') {
        bool found = ours && l->at == PATH;
        *l = (struct line){.at = START};
        return found;
    }
    if (l->at == START && c == '-') {
        l->start = l->number;
        l->number = 0;
        l->at = END;
    } else if (l->at == END && c == ' ') {
        l->at = FIELDS;
    } else if (l->at <= END) {
        l->number = l->number << 4 | digit_of(c);
    } else if (l->at == PATH || c == '/') {
        l->at = PATH;
        if (ours && l->path_bytes + 1 < n) {
            out[l->path_bytes++] = c;
            out[l->path_bytes] = '\0';
        }
    }
    return false;
}

static void cut_mark(char *path)
{
    static const char mark[] = " (deleted)";
    size_t n = strlen(path), n_mark = sizeof mark - 1;
    if (n > n_mark && !strcmp(path + n - n_mark, mark))
        path[n - n_mark] = '\0';
}

bool pc_loadmap_mapped_path(uintptr_t address, char *out, size_t n)
{
    int fd = pc_file_open(AT_FDCWD, "/proc/self/maps", O_RDONLY);
    struct line line = {.at = START};
    char some[1024];
    bool found = false;
    ssize_t got = fd;
    while (got >= 0 && !found && (got = pc_file_read(fd, some, sizeof some)) > 0)
        for (ssize_t i = 0; i < got && !found; i++)
            found = take(&line, some[i], address, out, n);
    if (fd >= 0)
        pc_file_close(fd);
    if (found)
        cut_mark(out);
    return found;
}
