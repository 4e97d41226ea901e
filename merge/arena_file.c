/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Arena files as bytes in memory (arena_file.h).
 *
 * An arena can be copied while its owner writes because of how it writes: an object is filled, then
 * linked, and never moves. Later objects lie above earlier ones, contexts above their parents, and
 * records above their contexts. So a copy from low to high addresses contains each object that a
 * link in it leads to, if the link lies below the object. Only the links of threads to their rows
 * may lie above: they are read before everything else. Objects that contexts refer to without a
 * link, such as primitives by number, must have existed before the first context was copied: the
 * list heads in the header are compared with their values at the end, and the copy is repeated if a
 * list has grown. doc/internals/checkpoints.md has the argument.
 */
#include "merge/arena_file.h"
#include "base/networks.h"
#include "merge/arena_renew.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <time.h>
#include <unistd.h>

/* PC_EIO: errno says why; PC_EFORMAT: the file ends before. */
static int read_all(int fd, char *data, size_t n)
{
    size_t done = 0;
    while (done < n) {
        ssize_t got = pread(fd, data + done, n - done, (off_t)done);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got ? PC_EIO : PC_EFORMAT;
        done += (size_t)got;
    }
    return PC_OK;
}

/* Opens a file that begins as an arena does, and reads its header. */
static int open_arena(const char *path, int *fd_out, struct pcollect_arena_header *h,
                      size_t *bytes_out, struct pc_error *error)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 || fstat(fd, &st)) {
        int reason = errno;
        if (fd >= 0)
            close(fd);
        return pc_error_set(error, reason == ENOENT ? PC_ENOENT : PC_EIO, "%s: %s", path,
                            strerror(reason));
    }
    /* Files of other users are refused, because the contents decide which file is written. */
    if (st.st_uid != geteuid()) {
        close(fd);
        return pc_error_set(error, PC_EIO, "%s: left alone: it belongs to user %u", path,
                            (unsigned)st.st_uid);
    }
    if (!S_ISREG(st.st_mode) || (size_t)st.st_size < sizeof *h ||
        read_all(fd, (char *)h, sizeof *h) ||
        memcmp(h->magic, PCOLLECT_ARENA_MAGIC, sizeof PCOLLECT_ARENA_MAGIC)) {
        close(fd);
        return pc_error_set(error, PC_EFORMAT, "%s: this is not an arena of pcollect", path);
    }
    *fd_out = fd;
    *bytes_out = (size_t)st.st_size;
    return PC_OK;
}

static int no_memory(const char *path, size_t n, struct pc_error *error)
{
    return pc_error_set(error, PC_ENOMEM, "%s: no memory for %lu bytes", path, (unsigned long)n);
}

int pc_arena_file_read(const char *path, bool header_only, struct pc_arena_bytes *out,
                       struct pc_error *error)
{
    struct pcollect_arena_header h;
    size_t bytes;
    int fd, err = open_arena(path, &fd, &h, &bytes, error);
    if (err)
        return err;
    out->n = sizeof h;
    if (!header_only && h.used_bytes > sizeof h)
        out->n = h.used_bytes < bytes ? h.used_bytes : bytes;
    out->data = malloc(out->n);
    if (!out->data)
        err = no_memory(path, out->n, error);
    else
        err = read_all(fd, out->data, out->n);
    if (err && out->data)
        err = pc_error_set(error, PC_EIO, "%s: %s", path,
                           err == PC_EIO ? strerror(errno) : "it became shorter while it was read");
    if (err) {
        free(out->data);
        out->data = NULL;
    }
    close(fd);
    return err;
}

/* ---- Owners --------------------------------------------------------------------------------- */

/* The kernel grants a lease for reading only while no process has the file open or mapped for
 * writing (seen in Linux 6.18); over a network it may refuse one for other reasons. The lease is
 * given back at once. A process that opens the file for writing meanwhile has a signal sent: one
 * that is ignored, and not SIGIO, which ends this process.
 */
enum pc_arena_owner pc_arena_file_owner(const char *path)
{
    enum { TMPFS = 0x01021994 };
    enum pc_arena_owner owner = PC_OWNER_UNKNOWN;
    struct statfs fs;
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return owner;
    if (fstatfs(fd, &fs) == 0 && !pc_network_name((uint32_t)fs.f_type)) {
        if (fcntl(fd, F_SETSIG, SIGURG) == 0 && fcntl(fd, F_SETLEASE, F_RDLCK) == 0)
            owner = fs.f_type == TMPFS ? PC_OWNER_GONE : PC_OWNER_UNKNOWN;
        else
            owner = errno == EAGAIN ? PC_OWNER_ALIVE : PC_OWNER_UNKNOWN;
    }
    close(fd);
    return owner;
}

/* ---- Copies while the owner writes ---------------------------------------------------------- */

/* Copies that are made at most. The last one is used even if a list of the header has grown: data
 * that refers to its newest elements is then left out as damaged. */
enum { MOST_TRIES = 100, NAP_NS = 2000000 };

typedef uint64_t word __attribute__((may_alias));

/* Links of a thread, read before everything else. */
struct thread_link {
    pcollect_ref ref, rows;
};

struct live {
    const char *base; /* the mapping */
    size_t n;         /* its bytes, whole words */
    struct pcollect_arena_header first;
    struct thread_link *threads;
    size_t n_threads;
    char *copy;
    size_t copied, room;
};

/* Copies words in ascending order with acquire loads: if a link is seen, the object that it leads
 * to is seen, too. */
static void copy_words(void *to, const void *from, size_t bytes)
{
    word *a = to;
    const word *b = from;
    for (size_t i = 0; i < bytes / sizeof *a; i++)
        a[i] = __atomic_load_n(&b[i], __ATOMIC_ACQUIRE);
}

static const void *live_at(const struct live *l, pcollect_ref ref, size_t bytes)
{
    size_t at = (size_t)ref * PCOLLECT_REF_UNIT;
    return ref && at <= l->n && bytes <= l->n - at ? l->base + at : NULL;
}

static size_t used_bytes(const struct live *l)
{
    const struct pcollect_arena_header *h = (const void *)l->base;
    uint64_t used = __atomic_load_n(&h->used_bytes, __ATOMIC_ACQUIRE) & ~(uint64_t)7;
    used = used < sizeof *h ? sizeof *h : used;
    return used < l->n ? (size_t)used : l->n;
}

/* Reads the header, and the rows of its threads. */
static int read_links(struct live *l)
{
    size_t most = l->n / sizeof(struct pcollect_thread), room = 0;
    copy_words(&l->first, l->base, sizeof l->first);
    l->n_threads = 0;
    pcollect_ref ref = l->first.threads;
    while (l->n_threads < most) {
        const struct pcollect_thread *t = live_at(l, ref, sizeof *t);
        if (!t)
            break;
        if (l->n_threads == room) {
            room = room ? 2 * room : 64;
            struct thread_link *more = realloc(l->threads, room * sizeof *more);
            if (!more)
                return PC_ENOMEM;
            l->threads = more;
        }
        l->threads[l->n_threads++] =
            (struct thread_link){ref, __atomic_load_n(&t->rows, __ATOMIC_ACQUIRE)};
        ref = __atomic_load_n(&t->next, __ATOMIC_ACQUIRE);
    }
    return PC_OK;
}

/* Copies all used bytes, also those that come into use meanwhile: a link leads to bytes that were
 * used when it was copied. */
static int copy_body(struct live *l)
{
    l->copied = 0;
    for (size_t n = used_bytes(l); l->copied < n; n = used_bytes(l)) {
        if (n > l->room) {
            char *more = realloc(l->copy, n);
            if (!more)
                return PC_ENOMEM;
            l->copy = more;
            l->room = n;
        }
        copy_words(l->copy + l->copied, l->base + l->copied, n - l->copied);
        l->copied = n;
    }
    return PC_OK;
}

/* Reads the figures of threads again, after those of their contexts, so that the sum of the
 * contexts is not larger than the figure of the thread. */
static void renew_threads(struct live *l)
{
    for (size_t i = 0; i < l->n_threads; i++) {
        const struct thread_link *link = &l->threads[i];
        const struct pcollect_thread *from = live_at(l, link->ref, sizeof *from);
        struct pcollect_thread t;
        size_t at = (size_t)link->ref * PCOLLECT_REF_UNIT;
        if (!from || at + sizeof t > l->copied)
            continue;
        memcpy(&t, l->copy + at, sizeof t);
        t.rows = link->rows;
        t.mpi_ticks = __atomic_load_n(&from->mpi_ticks, __ATOMIC_ACQUIRE);
        t.mpi_calls = __atomic_load_n(&from->mpi_calls, __ATOMIC_ACQUIRE);
        t.open_ticks = __atomic_load_n(&from->open_ticks, __ATOMIC_ACQUIRE);
        t.open_node = __atomic_load_n(&from->open_node, __ATOMIC_ACQUIRE);
        t.end_ticks = __atomic_load_n(&from->end_ticks, __ATOMIC_ACQUIRE);
        if (t.open_ticks != __atomic_load_n(&from->open_ticks, __ATOMIC_ACQUIRE))
            t.open_ticks = 0; /* another call has begun */
        memcpy(l->copy + at, &t, sizeof t);
    }
}

/* Moves the second point of the clocks to now: a process writes down no time while it computes or
 * is in a call. Its counter is ours if both run at one rate. */
static void renew_clock(struct pcollect_arena_header *h)
{
    uint64_t ticks, ns;
    if (h->exit_ticks || h->flags & PCOLLECT_ARENA_OFF || h->ticks_1 <= h->ticks_0)
        return;
    pc_clock_init();
    if (pc_clock_is_counter == ((h->notes & PCOLLECT_NOTE_SLOW_CLOCK) != 0))
        return;
    pc_clock_pair(&ticks, &ns);
    double before = (double)(h->mono_1_ns - h->mono_0_ns) / (double)(h->ticks_1 - h->ticks_0);
    double now = (double)(ns - h->mono_0_ns) / (double)(ticks - h->ticks_0);
    if (ticks > h->ticks_1 && ns > h->mono_1_ns && now > 0.9 * before && now < 1.1 * before) {
        h->ticks_1 = ticks;
        h->mono_1_ns = ns;
    }
}

/* Reads the header until it is consistent: the owner writes the two points of the clocks one after
 * the other. */
static void read_header(const struct live *l, struct pcollect_arena_header *h)
{
    struct pcollect_arena_header again;
    copy_words(h, l->base, sizeof *h);
    for (int i = 0; i < MOST_TRIES; i++) {
        copy_words(&again, l->base, sizeof again);
        if (again.ticks_1 == h->ticks_1 && again.mono_1_ns == h->mono_1_ns)
            break;
        *h = again;
    }
}

/* True if no list of the header has grown, except that of threads, whose elements are found only by
 * links. */
static bool same_lists(const struct pcollect_arena_header *a, const struct pcollect_arena_header *b)
{
    return a->modules == b->modules && a->plugins == b->plugins && a->tables == b->tables &&
           memcmp(a->ops, b->ops, sizeof a->ops) == 0 &&
           memcmp(a->strings, b->strings, sizeof a->strings) == 0;
}

static void take_lists(struct pcollect_arena_header *h, const struct pcollect_arena_header *from)
{
    h->modules = from->modules;
    h->threads = from->threads;
    h->plugins = from->plugins;
    h->tables = from->tables;
    memcpy(h->ops, from->ops, sizeof h->ops);
    memcpy(h->strings, from->strings, sizeof h->strings);
}

static int copy_live(struct live *l, bool runs)
{
    struct pcollect_arena_header last;
    for (int i = 0;; i++) {
        int err = read_links(l);
        if (!err)
            err = copy_body(l);
        if (err)
            return err;
        pc_arena_renew_records(l->base, l->n, l->copy, l->copied);
        renew_threads(l);
        read_header(l, &last);
        if (i == MOST_TRIES || same_lists(&l->first, &last))
            break;
        pc_nap_ns(NAP_NS);
    }
    take_lists(&last, &l->first);
    last.used_bytes = l->copied;
    if (runs)
        renew_clock(&last);
    memcpy(l->copy, &last, sizeof last);
    return PC_OK;
}

int pc_arena_file_copy(const char *path, bool runs, struct pc_arena_bytes *out,
                       struct pc_error *error)
{
    struct pcollect_arena_header h;
    struct live l = {.n = 0};
    size_t bytes;
    int fd, err = open_arena(path, &fd, &h, &bytes, error);
    if (err)
        return err;
    void *base = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
    int reason = errno;
    close(fd);
    if (base == MAP_FAILED && reason == ENOMEM)
        return no_memory(path, bytes, error);
    if (base == MAP_FAILED)
        return pc_error_set(error, PC_EIO, "%s: %s", path, strerror(reason));
    l.base = base;
    l.n = bytes & ~(size_t)7;
    err = copy_live(&l, runs);
    if (err) {
        no_memory(path, used_bytes(&l), error);
        free(l.copy);
    } else {
        *out = (struct pc_arena_bytes){l.copy, l.copied};
    }
    free(l.threads);
    munmap(base, bytes);
    return err;
}
