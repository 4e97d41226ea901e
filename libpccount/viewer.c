/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A view is one of counting/ for each thread or processor.
 */
#define _GNU_SOURCE 1

#include "libpccount/libpccount_private.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

struct pccount_view {
    size_t n_events, n;
    struct pc_counting_view **parts;
    const char *_Atomic why; /* reason why the last call failed; "": it did not */
};

static void clear(struct pccount_view *v)
{
    for (size_t i = 0; i < v->n; i++)
        pc_counting_view_close(v->parts[i]);
    v->n = 0;
}

static int add(struct pccount_view *v, struct pccount *c, struct pc_counting_viewee who,
               struct pc_error *error)
{
    struct pc_counting_view **grown = realloc(v->parts, (v->n + 1) * sizeof *grown);
    if (!grown)
        return pc_error_set(error, PC_ENOMEM, "not enough memory");
    v->parts = grown;
    int err = pc_counting_view_open(c->counting, &who, &v->parts[v->n], error);
    v->n += !err;
    return err;
}

static int explain_unreadable(const char *path, int error_number, struct pc_error *error)
{
    return pc_error_set(error, PC_EIO, "%s cannot be read: %s%s", path, strerror(error_number),
                        error_number == EMFILE ? " (ulimit -n)" : "");
}

/* Opens each thread of a process; *seen: the sum of their ids plus their number, to notice
 * changes. */
static int add_threads(struct pccount_view *v, struct pccount *c, int pid, uint64_t *seen,
                       struct pc_error *error)
{
    char path[64];
    int err = PC_OK;
    snprintf(path, sizeof path, "/proc/%d/task", pid);
    DIR *dir = opendir(path);
    if (!dir && errno == ENOENT)
        return pc_error_set(error, PC_ENOENT, "%d: there is no such process", pid);
    if (!dir)
        return explain_unreadable(path, errno, error);
    *seen = 0;
    for (struct dirent *e; !err && (e = readdir(dir));) {
        int tid = atoi(e->d_name);
        if (tid <= 0)
            continue;
        *seen += (uint64_t)tid + (1ull << 32);
        err = v ? add(v, c, (struct pc_counting_viewee){tid, -1, false}, error) : PC_OK;
        err = err == PC_ENOENT ? PC_OK : err; /* the thread has ended */
    }
    closedir(dir);
    return err;
}

/* Counters of a thread are inherited by the threads that it starts. A thread that is started
 * meanwhile may be missing, or counted twice: then all are opened again. */
static int add_process(struct pccount_view *v, struct pccount *c, int pid, struct pc_error *error)
{
    enum { TRIES = 20 };
    uint64_t before, opened = 0, after = 1;
    int err = PC_OK;
    for (int i = 0; i < TRIES && !err && opened != after; i++) {
        clear(v);
        err = add_threads(NULL, c, pid, &before, error);
        err = err ? err : add_threads(v, c, pid, &opened, error);
        err = err ? err : add_threads(NULL, c, pid, &after, error);
        opened = before == after ? opened : ~after;
    }
    if (!err && opened != after)
        err = pc_error_set(error, PC_EIO, "%d: threads are started all the time; try again", pid);
    if (!err && !v->n)
        err = pc_error_set(error, PC_ENOENT, "%d: the process has ended", pid);
    return err;
}

struct opener {
    struct pccount_view *view;
    struct pccount *counts;
    struct pc_error *error;
    int err; /* of the first processor that cannot be opened */
};

static void add_processor(void *arg, int cpu)
{
    struct opener *o = arg;
    if (!o->err)
        o->err = add(o->view, o->counts, (struct pc_counting_viewee){-1, cpu, false}, o->error);
}

static int add_processors(struct pccount_view *v, struct pccount *c, struct pc_error *error)
{
    static const char online[] = "/sys/devices/system/cpu/online";
    struct opener o = {v, c, error, PC_OK};
    if (pc_online_processors(add_processor, &o) || o.err)
        return o.err;
    int fd = open(online, O_RDONLY | O_CLOEXEC); /* for the reason */
    if (fd < 0)
        return explain_unreadable(online, errno, error);
    close(fd);
    return pc_error_set(error, PC_EIO, "%s does not list the processors", online);
}

static int open_parts(struct pccount_view *v, struct pccount *c, enum pccount_view_of of, int id,
                      struct pc_error *error)
{
    if (id < 0 &&
        (of == PCCOUNT_THREAD || of == PCCOUNT_EXEC)) /* -1 is a processor's to the kernel */
        return pc_error_set(error, PC_ENOENT, "%d: there is no such %s", id,
                            of == PCCOUNT_THREAD ? "thread" : "process");
    switch (of) {
    case PCCOUNT_THREAD:
        id = id ? id : (int)syscall(SYS_gettid);
        return add(v, c, (struct pc_counting_viewee){id, -1, false}, error);
    case PCCOUNT_PROCESS:
        return add_process(v, c, id, error);
    case PCCOUNT_EXEC:
        return add(v, c, (struct pc_counting_viewee){id, -1, true}, error);
    case PCCOUNT_PROCESSOR:
        return add(v, c, (struct pc_counting_viewee){-1, id, false}, error);
    case PCCOUNT_MACHINE:
        return add_processors(v, c, error);
    }
    return pc_error_set(error, PC_EARG, "%d: there is no such kind of view", (int)of);
}

struct pccount_view *pccount_view_new(struct pccount *c, enum pccount_view_of of, int id,
                                      struct pccount_error *why)
{
    struct pc_error error = {""};
    int saved = errno;
    struct pccount_view *v = calloc(1, sizeof *v);
    int err = v ? PC_OK : pc_error_set(&error, PC_ENOMEM, "not enough memory");
    if (!err && pc_count_is_child())
        err = pc_error_set(&error, PC_EIO, "%s", pc_count_in_child);
    if (v) {
        v->n_events = c->n;
        atomic_init(&v->why, "");
    }
    err = err ? err : open_parts(v, c, of, id, &error);
    if (err && why)
        pc_escape_line(why->text, error.text);
    if (err) {
        pccount_view_free(v);
        v = NULL;
    }
    errno = saved;
    return v;
}

/* Keeps the reason; "": the call did not fail. */
static int explain(struct pccount_view *v, const char *why)
{
    atomic_store(&v->why, why);
    return *why ? -1 : 0;
}

/* Does nothing in a forked child: the counters are those of its parent. */
static int switch_to(struct pccount_view *v, uint32_t group)
{
    const char *why = pc_count_is_child() ? pc_count_in_child : "";
    int saved = errno;
    for (size_t i = 0; i < v->n && why != pc_count_in_child; i++)
        if (pc_counting_view_switch(v->parts[i], group))
            why = pc_count_closed;
    errno = saved;
    return explain(v, why);
}

int pccount_view_start(struct pccount_view *v)
{
    return switch_to(v, 0);
}

int pccount_view_stop(struct pccount_view *v)
{
    return switch_to(v, PC_COUNTING_NO_GROUP);
}

int pccount_view_read(struct pccount_view *v, struct pccount_values *out)
{
    const char *why = pc_count_is_child() ? pc_count_in_child : "";
    struct pccount_values sum = {.n_threads = 0};
    int saved = errno;
    for (size_t i = 0; i < v->n && !*why; i++) {
        struct pc_counting_values part;
        if (pc_counting_view_get(v->parts[i], 0, &part))
            why = pc_count_closed;
        else if (part.running_ns != part.enabled_ns)
            why = pc_count_taken;
        for (size_t k = 0; k < v->n_events && !*why; k++)
            sum.value[k] += part.value[k];
    }
    errno = saved;
    *out = *why ? (struct pccount_values){.n_threads = 0} : sum;
    return explain(v, why);
}

const char *pccount_view_why(const struct pccount_view *v)
{
    return atomic_load(&v->why);
}

void pccount_view_free(struct pccount_view *v)
{
    int saved = errno;
    if (v)
        clear(v);
    free(v ? v->parts : NULL);
    free(v);
    errno = saved;
}
