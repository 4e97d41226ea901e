/* SPDX-License-Identifier: BSD-3-Clause */
#include "watch/jit_names.h"
#include "analysis/allocation.h"
#include "analysis/buffer.h"
#include "watch/jit_dump.h"
#include "watch/watch.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_BYTES = 64 << 20, MOST_RANGES = 1 << 20, LOOK_NS = 50000000, OVERLAPS = 8 };

struct pct_jit_range {
    uint64_t lo, hi;
    uint64_t number; /* in the order of reading */
    const char *name;
};

/* ---- The files ------------------------------------------------------------------------------- */

/* The number that the process has for itself: the last one of the line. */
static int own_number(int pid)
{
    size_t n;
    char *status = pct_watch_file(pid, "status", &n);
    char *line = status ? strstr(status, "\nNSpid:") : NULL;
    int number = pid;
    if (line) {
        line[1 + strcspn(line + 1, "\n")] = '\0';
        const char *last = strrchr(line, '\t');
        number = last ? atoi(last + 1) : pid;
    }
    pct_free(status);
    return number > 0 ? number : pid;
}

/* Opens a file at the path that the process has for it. Returns -1 if there is none, or if it
 * belongs to another user. */
static int open_file(int pid, const char *path, struct stat *st)
{
    char there[4096];
    struct stat owner;
    snprintf(there, sizeof there, "/proc/%d", pid);
    if (stat(there, &owner))
        owner.st_uid = geteuid(); /* it has ended */
    snprintf(there, sizeof there, "/proc/%d/root%s", pct_watch_view(pid), path);
    int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW, fd = open(there, flags);
    if (fd < 0)
        fd = open(path, flags);
    if (fd >= 0 && (fstat(fd, st) || !S_ISREG(st->st_mode) ||
                    (st->st_uid != 0 && st->st_uid != owner.st_uid))) {
        close(fd);
        fd = -1;
    }
    return fd;
}

static void add_range(struct pct_jit *jit, struct pct_named_places *places, uint64_t lo, uint64_t n,
                      const char *name)
{
    if (!n || lo + n < lo || !*name || jit->n == MOST_RANGES)
        return;
    jit->ranges = pct_grow(jit->ranges, jit->n, &jit->room, sizeof *jit->ranges);
    jit->ranges[jit->n] = (struct pct_jit_range){lo, lo + n, jit->n, pct_named_text(places, name)};
    jit->n++;
}

static void add_line(struct pct_jit *jit, struct pct_named_places *places, char *line)
{
    char *rest;
    uint64_t lo = strtoull(line, &rest, 16), n = *rest == ' ' ? strtoull(rest, &rest, 16) : 0;
    while (*rest == ' ')
        rest++;
    add_range(jit, places, lo, n, rest);
}

/* Takes the whole lines of a text, and returns their bytes. */
static size_t add_lines(struct pct_jit *jit, struct pct_named_places *places, char *text)
{
    char *line = text, *end;
    for (; (end = strchr(line, '\n')); line = end + 1) {
        *end = '\0';
        add_line(jit, places, line);
    }
    return (size_t)(line - text);
}

static int compare_ranges(const void *left, const void *right)
{
    const struct pct_jit_range *a = left, *b = right;
    if (a->lo != b->lo)
        return a->lo < b->lo ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

static void forget_ranges(struct pct_jit *jit)
{
    pct_free(jit->ranges);
    jit->ranges = NULL;
    jit->n = jit->room = 0;
    jit->n_read = jit->n_dump_read = 0;
}

/* Reads what is new in the map. One that has become shorter is read from its begin. */
static void read_map(struct pct_jit *jit, int pid, struct pct_named_places *places)
{
    struct stat st;
    char path[64];
    snprintf(path, sizeof path, "/tmp/perf-%d.map", own_number(pid));
    int fd = open_file(pid, path, &st);
    if (fd < 0)
        return;
    uint64_t size = st.st_size < MOST_BYTES ? (uint64_t)st.st_size : MOST_BYTES;
    if (size < jit->n_read)
        forget_ranges(jit);
    char *text = size > jit->n_read ? pct_alloc(size - jit->n_read + 1, 1) : NULL;
    ssize_t got = text ? pread(fd, text, size - jit->n_read, (off_t)jit->n_read) : -1;
    close(fd);
    if (got > 0) {
        text[got] = '\0';
        jit->n_read += add_lines(jit, places, text);
    }
    pct_free(text);
}

struct reading {
    struct pct_jit *jit;
    struct pct_named_places *places;
};

static void add_code(void *arg, uint64_t address, uint64_t bytes, const char *name)
{
    const struct reading *r = arg;
    add_range(r->jit, r->places, address, bytes, name);
}

static void read_dump(struct pct_jit *jit, int pid, struct pct_named_places *places)
{
    struct stat st;
    struct reading r = {jit, places};
    int fd = jit->dump ? open_file(pid, jit->dump, &st) : -1;
    if (fd < 0)
        return;
    jit->n_dump_read = pct_jit_dump_read(fd, jit->n_dump_read, (uint64_t)st.st_size, add_code, &r);
    close(fd);
}

static void look(struct pct_jit *jit, int pid, struct pct_named_places *places)
{
    uint64_t read = jit->n_read, dump_read = jit->n_dump_read;
    read_map(jit, pid, places);
    read_dump(jit, pid, places);
    if (jit->n && (jit->n_read != read || jit->n_dump_read != dump_read))
        qsort(jit->ranges, jit->n, sizeof *jit->ranges, compare_ranges);
}

void pct_jit_note(struct pct_jit *jit, const char *path)
{
    if (jit->dump || !pct_jit_dump_is(path))
        return;
    jit->dump = pct_copy(path);
}

void pct_jit_clear(struct pct_jit *jit)
{
    pct_free(jit->ranges);
    pct_free(jit->dump);
    *jit = (struct pct_jit){0};
}

/* ---- Frames ---------------------------------------------------------------------------------- */

/* The range that holds an address, of several that with the highest begin; NULL: there is none. */
static const struct pct_jit_range *find(const struct pct_jit *jit, uint64_t address)
{
    size_t lo = 0, hi = jit->n;
    while (lo < hi) {
        size_t middle = lo + (hi - lo) / 2;
        if (jit->ranges[middle].lo <= address)
            lo = middle + 1;
        else
            hi = middle;
    }
    for (size_t i = lo; i-- > 0 && lo - i <= OVERLAPS;)
        if (address < jit->ranges[i].hi)
            return &jit->ranges[i];
    return NULL;
}

bool pct_jit_name(struct pct_jit *jit, int pid, struct pct_named_places *places,
                  struct pct_stack_modules *modules, struct pct_stack_frame *frame)
{
    uint64_t now = pc_mono_ns();
    if (now >= jit->next_look_ns) {
        look(jit, pid, places);
        jit->next_look_ns = now + LOOK_NS;
    }
    const struct pct_jit_range *r = find(jit, frame->offset - !frame->exact);
    if (!r)
        return false;
    frame->module = pct_stack_module(modules, PCOLLECT_MODULE_JIT, NULL, 0);
    frame->function = r->name;
    frame->offset =
        pct_named_make(places, frame->module, &(struct pct_frame){.function = r->name}) -
        frame->exact;
    return true;
}
