/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Opens one event for each thread and processor; all events of a processor share one ring. This is
 * the only combination for which the kernel allows inherited events with a ring.
 *
 * A ring is in the order of time, but rings are read one after the other: a record may be older
 * than one read earlier from another ring. Records that are not newer than the newest record of the
 * previous round are in order, because all rings have been read since.
 */
#define _GNU_SOURCE 1

#include "watch/sample_rings.h"
#include "analysis/allocation.h"
#include "watch/watch.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#if defined __x86_64__
/* Registers to sample, without flags and segments: ax to ip, r8 to r15. */
#define REGISTER_MASK 0xff01ffULL
#elif defined __aarch64__
#define REGISTER_MASK 0x1ffffffffULL
#else
#define REGISTER_MASK 0ULL
#endif

/* Since Linux 6.0 an event counts its lost records; headers may be older. */
#define FORMAT_LOST (1U << 4)

/* Bytes of stack to copy, which cost time in the kernel and room in the ring with each sample. */
enum { DEEP_STACK = 60 << 10, SHALLOW_STACK = 16 << 10, DEEP_UP_TO_HZ = 250 };
enum { LEAST_SAMPLES = 8 };

/* Capacity of rings while we wait for a processor or read the tables of a library: 16 MiB are 1.4 s
 * at the default frequency. */
enum { ALL_RINGS = 64 << 20, MOST_RING = 16 << 20, LEAST_RING = LEAST_SAMPLES * SHALLOW_STACK };

/* Capacity of a ring without samples: 1,000 forks and as many execs. */
enum { RECORDS_RING = 128 << 10 };

struct ring {
    int cpu, fd; /* fd: event that owns the ring; -1: none yet */
    bool event;  /* has samples of the event; else those of the clock, and all other records */
    struct perf_event_mmap_page *head;
    uint8_t *data;
    size_t size;
};

/* A record that waits for its turn. */
struct waiting {
    uint64_t time_ns;
    size_t at; /* in bytes */
    bool event;
};

/* Event opened for a thread and a processor. */
struct opened {
    int fd;
    struct ring *ring;
};

struct pct_rings {
    struct perf_event_attr attrs[2]; /* clock, event */
    struct ring *rings;
    size_t n_rings;
    size_t ring_bytes; /* of each */
    struct opened *opened;
    size_t n_opened, opened_room;
    struct waiting *waiting;
    size_t n_waiting, waiting_room;
    uint8_t *bytes; /* of the waiting records, one behind the other */
    size_t n_bytes, bytes_room;
    uint64_t newest_ns; /* of the records that were read */
};

/* ---- Opening --------------------------------------------------------------------------------- */

/* Bytes of the page in front of the records of a ring. */
static size_t page_bytes(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

/* Reads kernel.perf_event_mlock_kb; 0: unknown. */
static size_t given_kb(void)
{
    char kb[32];
    return pc_read_small("/proc/sys/kernel/perf_event_mlock_kb", kb, sizeof kb)
               ? (size_t)strtoul(kb, NULL, 10)
               : 0;
}

/* Returns the limit of locked memory in bytes. */
static size_t locked_limit(void)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_MEMLOCK, &limit) == 0 ? (size_t)limit.rlim_cur : 0;
}

/* Chooses the size of rings. The kernel allows each user kernel.perf_event_mlock_kb per processor,
 * plus the limit of locked memory: rings of equal size, a power of two, share it. Root has no
 * limit. */
static size_t choose_bytes(size_t n_cpus, size_t n_rings)
{
    size_t all = ALL_RINGS, bytes = MOST_RING;
    if (geteuid() != 0 && locked_limit() < ALL_RINGS)
        all = locked_limit() + n_cpus * given_kb() * 1024;
    all = all < ALL_RINGS ? all : ALL_RINGS;
    while (bytes > LEAST_RING && bytes + page_bytes() > all / n_rings)
        bytes /= 2;
    return bytes;
}

static struct perf_event_attr attr_of(const struct pc_counting_term *term, uint64_t frequency,
                                      size_t ring_bytes)
{
    bool deep = frequency <= DEEP_UP_TO_HZ && ring_bytes >= (size_t)LEAST_SAMPLES * DEEP_STACK;
    struct perf_event_attr a = {
        .type = term->type,
        .size = sizeof(struct perf_event_attr),
        .config = term->config,
        .config1 = term->config1,
        .config2 = term->config2,
        .exclude_kernel = term->user_only != 0,
        .exclude_user = term->kernel_only != 0,
        .exclude_hv = !term->one_side,
        .exclude_idle = 1,
        .freq = 1,
        .sample_freq = frequency,
        .sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD |
                       PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
        .sample_regs_user = REGISTER_MASK,
        .sample_stack_user = deep ? DEEP_STACK : SHALLOW_STACK,
        .read_format = FORMAT_LOST,
        .sample_id_all = 1,
        .disabled = 1,
        .use_clockid = 1,
        .clockid = CLOCK_MONOTONIC,
    };
    if (!frequency) {
        a.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
        a.sample_regs_user = a.freq = 0;
        a.sample_stack_user = 0;
    }
    return a;
}

int pct_rings_new(const struct pct_rings_what *what, struct pct_rings **out, struct pc_error *error)
{
    size_t n;
    if (!REGISTER_MASK && what->frequency)
        return pc_error_set(error, PC_EIO,
                            "samples of other processes are taken on x86-64 and aarch64 only");
    int *cpus = pct_watch_processors(&n);
    if (!n)
        return pc_error_set(error, PC_EIO,
                            "/sys/devices/system/cpu/online does not list the processors");
    struct pct_rings *r = pct_alloc(1, sizeof *r);
    r->n_rings = what->with_event ? 2 * n : n;
    r->rings = pct_alloc(r->n_rings, sizeof *r->rings);
    r->ring_bytes = what->frequency ? choose_bytes(n, r->n_rings) : RECORDS_RING;
    r->attrs[0] = attr_of(&what->clock, what->frequency, r->ring_bytes);
    r->attrs[0].mmap = r->attrs[0].mmap2 = what->frequency != 0;
    r->attrs[0].comm = r->attrs[0].comm_exec = 1;
    r->attrs[0].task = 1;
    r->attrs[1] = attr_of(&what->event, what->frequency, r->ring_bytes);
    if (what->period) {
        r->attrs[1].freq = 0;
        r->attrs[1].sample_period = what->period;
        r->attrs[1].sample_stack_user = SHALLOW_STACK; /* their rate is not known */
        /* Linux samples each occurrence of a software event that has both flags. */
        r->attrs[1].sample_type &= ~(uint64_t)PERF_SAMPLE_PERIOD;
    }
    for (size_t i = 0; i < r->n_rings; i++)
        r->rings[i] = (struct ring){.cpu = cpus[i % n], .fd = -1, .event = i >= n};
    pct_free(cpus);
    *out = r;
    return PC_OK;
}

/* Maps a ring for its event. Returns 0 or an errno. */
static int map_ring(struct ring *g, size_t size)
{
    void *at = mmap(NULL, page_bytes() + size, PROT_READ | PROT_WRITE, MAP_SHARED, g->fd, 0);
    if (at == MAP_FAILED)
        return errno;
    g->head = at;
    g->data = (uint8_t *)at + g->head->data_offset;
    g->size = size;
    return 0;
}

static void unmap_ring(struct ring *g)
{
    if (g->head)
        munmap(g->head, page_bytes() + g->size);
    g->head = NULL;
}

/* Maps all rings that have an event, in the size of `ring_bytes`, in place of those that are
 * mapped: without its ring an event has no output. Nothing was sampled yet. */
static int map_rings(struct pct_rings *r)
{
    int err = 0;
    for (size_t i = 0; i < r->n_rings; i++)
        unmap_ring(&r->rings[i]);
    for (size_t i = 0; i < r->n_rings && !err; i++)
        if (r->rings[i].fd >= 0)
            err = map_ring(&r->rings[i], r->ring_bytes);
    for (size_t i = 0; i < r->n_opened && !err; i++)
        if (r->opened[i].fd != r->opened[i].ring->fd &&
            ioctl(r->opened[i].fd, PERF_EVENT_IOC_SET_OUTPUT, r->opened[i].ring->fd) != 0)
            err = errno;
    return err;
}

/* Maps a new ring; all rings get smaller until it has room too. */
static int add_ring(struct pct_rings *r, struct ring *g)
{
    size_t least_bytes = r->attrs[g->event].sample_stack_user ? LEAST_RING : page_bytes();
    int err = map_ring(g, r->ring_bytes);
    while ((err == EPERM || err == ENOMEM) && r->ring_bytes > least_bytes) {
        r->ring_bytes /= 2;
        err = map_rings(r);
    }
    return err;
}

/* Reports that the rings have no room in the memory that the user may lock. */
static int refuse_memory(const struct pct_rings *r, struct pc_error *error)
{
    size_t needed = r->n_rings * (r->ring_bytes + page_bytes());
    return pc_error_set(error, PC_EIO,
                        "no memory to sample into: %zu KiB are needed; the kernel gives each user "
                        "kernel.perf_event_mlock_kb, %zu KiB for each processor, and `ulimit -l`, "
                        "%zu KiB, which others of your programs may be using",
                        needed / 1024, given_kb(), locked_limit() / 1024);
}

static int refused(int tid, int why, struct pc_error *error)
{
    if (why == ESRCH)
        return pc_error_set(error, PC_ENOENT, "%d: there is no such thread", tid);
    if (why == EMFILE || why == ENFILE)
        return pc_error_set(error, PC_EIO,
                            "the limit of open files is too low: an event for each thread and "
                            "processor is needed; raise it with `ulimit -n`");
    struct pc_counting_paranoid now = pc_counting_paranoid();
    if ((why == EACCES || why == EPERM) && tid < 0)
        return pc_error_set(error, PC_EIO,
                            "the kernel does not let you sample processors: "
                            "kernel.perf_event_paranoid %s; CAP_PERFMON is needed, or the "
                            "administrator's `sysctl kernel.perf_event_paranoid=0`",
                            now.text);
    if (why == EACCES || why == EPERM)
        return pc_error_set(error, PC_EIO,
                            "%d: the kernel does not let you sample it: it belongs to another "
                            "user or runs with more rights, or "
                            "kernel.perf_event_paranoid, which %s, forbids it; root may, and up "
                            "to level 2 who has CAP_SYS_PTRACE",
                            tid, now.text);
    return pc_error_set(error, PC_EIO, "samples cannot be taken: %s", strerror(why));
}

static int open_event(struct pct_rings *r, const struct ring *g, int tid, bool from_exec)
{
    struct perf_event_attr a = r->attrs[g->event];
    a.inherit = tid >= 0;
    a.enable_on_exec = from_exec;
    int fd = (int)syscall(SYS_perf_event_open, &a, tid, g->cpu, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0 && errno == EINVAL && a.read_format) {
        r->attrs[g->event].read_format = a.read_format = 0;
        fd = (int)syscall(SYS_perf_event_open, &a, tid, g->cpu, -1, PERF_FLAG_FD_CLOEXEC);
    }
    return fd < 0 ? -errno : fd;
}

static int add_to_ring(struct pct_rings *r, struct ring *g, int tid, bool from_exec,
                       struct pc_error *error)
{
    int fd = open_event(r, g, tid, from_exec), err = 0;
    if (fd == -ENODEV) /* a processor that has gone offline */
        return PC_OK;
    if (fd < 0)
        return refused(tid, -fd, error);
    r->opened = pct_grow(r->opened, r->n_opened, &r->opened_room, sizeof *r->opened);
    r->opened[r->n_opened++] = (struct opened){fd, g};
    if (g->fd < 0) {
        g->fd = fd;
        err = add_ring(r, g);
    } else if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, g->fd) != 0) {
        err = errno;
    }
    if (err == EPERM || err == ENOMEM)
        return refuse_memory(r, error);
    return err ? refused(tid, err, error) : PC_OK;
}

int pct_rings_add(struct pct_rings *r, int tid, bool from_exec, struct pc_error *error)
{
    int err = PC_OK;
    for (size_t i = 0; i < r->n_rings && !err; i++)
        err = add_to_ring(r, &r->rings[i], tid, from_exec, error);
    return err;
}

void pct_rings_start(struct pct_rings *r)
{
    for (size_t i = 0; i < r->n_opened; i++)
        ioctl(r->opened[i].fd, PERF_EVENT_IOC_ENABLE, 0);
}

void pct_rings_stop(struct pct_rings *r)
{
    for (size_t i = 0; i < r->n_opened; i++)
        ioctl(r->opened[i].fd, PERF_EVENT_IOC_DISABLE, 0);
}

struct pct_rings_counts pct_rings_counts(const struct pct_rings *r)
{
    struct pct_rings_counts counts = {0};
    for (size_t i = 0; i < r->n_opened; i++) {
        uint64_t n[2] = {0}; /* what is counted; lost records */
        if (read(r->opened[i].fd, n, sizeof n) < (ssize_t)sizeof *n)
            continue;
        bool event = r->opened[i].ring->event;
        *(event ? &counts.events : &counts.clock_ns) += n[0];
        *(event ? &counts.n_lost_of_event : &counts.n_lost) += n[1];
    }
    return counts;
}

void pct_rings_free(struct pct_rings *r)
{
    if (!r)
        return;
    for (size_t i = 0; i < r->n_rings; i++)
        unmap_ring(&r->rings[i]);
    for (size_t i = 0; i < r->n_opened; i++)
        close(r->opened[i].fd);
    pct_free(r->rings);
    pct_free(r->opened);
    pct_free(r->waiting);
    pct_free(r->bytes);
    pct_free(r);
}

/* ---- Records --------------------------------------------------------------------------------- */

static uint64_t word_at(const uint8_t *p)
{
    uint64_t word;
    memcpy(&word, p, sizeof word);
    return word;
}

static int number_at(const uint8_t *p)
{
    int32_t number;
    memcpy(&number, p, sizeof number);
    return number;
}

/* True for a complete record, which begins with `n_fixed` bytes and ends with pid, tid and time. */
static bool is_whole(const struct perf_event_header *h, size_t n_fixed)
{
    return h->size >= sizeof *h + n_fixed + 16;
}

/* Reads a sample. After the header: pid, tid, time, the period if it is not fixed, then the
 * registers and the stack. fixed 0: not fixed. */
static bool read_sample(const uint8_t *p, const uint8_t *end, uint64_t fixed,
                        struct pct_ring_record *out)
{
    size_t n_registers = (size_t)__builtin_popcountll(REGISTER_MASK);
    if (end - p < 40 - (fixed ? 8 : 0))
        return false;
    out->pid = number_at(p);
    out->tid = number_at(p + 4);
    out->n = fixed ? fixed : word_at(p + 16);
    p += fixed ? 16 : 24;
    bool user = word_at(p) == PERF_SAMPLE_REGS_ABI_64;
    bool other = !user && word_at(p) != PERF_SAMPLE_REGS_ABI_NONE;
    p += 8;
    if (user || other) {
        out->registers = user ? (const uint64_t *)(const void *)p : NULL;
        p += n_registers * 8;
    }
    if (end - p < 8)
        return false;
    uint64_t n = word_at(p);
    p += 8;
    if (!n)
        return true;
    if (n > (uint64_t)(end - p) || (uint64_t)(end - p) - n < 8)
        return false;
    out->stack = p;
    out->n_stack = word_at(p + n) < n ? word_at(p + n) : n;
    return true;
}

/* Reads a mapping: pid, tid, address, bytes, offset, the file (device, inode, generation of the
 * inode) in 24 bytes, protection, flags, path. */
static bool read_map(const struct perf_event_header *h, const uint8_t *p,
                     struct pct_ring_record *out)
{
    enum { AT_PATH = 64 };
    if (!is_whole(h, AT_PATH) || h->misc & PERF_RECORD_MISC_MMAP_DATA)
        return false;
    out->pid = number_at(p);
    out->tid = number_at(p + 4);
    out->map = (struct pct_mapping){.lo = word_at(p + 8),
                                    .hi = word_at(p + 8) + word_at(p + 16),
                                    .offset = word_at(p + 24),
                                    .inode = word_at(p + 40),
                                    .path = (const char *)p + AT_PATH};
    return memchr(p + AT_PATH, '\0', h->size - sizeof *h - AT_PATH) != NULL;
}

static bool read_record(const uint8_t *at, uint64_t fixed, struct pct_ring_record *out)
{
    const struct perf_event_header *h = (const void *)at;
    const uint8_t *p = at + sizeof *h, *end = at + h->size;
    *out = (struct pct_ring_record){.type = PCT_RING_LOST};
    switch (h->type) {
    case PERF_RECORD_SAMPLE:
        out->type = PCT_RING_SAMPLE;
        return read_sample(p, end, fixed, out);
    case PERF_RECORD_MMAP2:
        out->type = PCT_RING_MAP;
        return read_map(h, p, out);
    case PERF_RECORD_COMM:
        out->type = PCT_RING_EXEC;
        out->pid = number_at(p);
        out->name = (const char *)p + 8;
        return h->misc & PERF_RECORD_MISC_COMM_EXEC && is_whole(h, 8) &&
               memchr(out->name, '\0', (size_t)(end - p) - 8);
    case PERF_RECORD_FORK:
    case PERF_RECORD_EXIT:
        out->type = h->type == PERF_RECORD_FORK ? PCT_RING_FORK : PCT_RING_EXIT;
        out->pid = number_at(p);
        out->parent = number_at(p + 4);
        out->tid = number_at(p + 8);
        return is_whole(h, 24);
    case PERF_RECORD_LOST:
        out->n = word_at(p + 8);
        out->pid = number_at(end - 16);
        return is_whole(h, 16);
    default:
        return false;
    }
}

static uint64_t time_of(const uint8_t *at)
{
    const struct perf_event_header *h = (const void *)at;
    return h->type == PERF_RECORD_SAMPLE ? word_at(at + sizeof *h + 8) : word_at(at + h->size - 8);
}

/* ---- Order ----------------------------------------------------------------------------------- */

/* Copies n bytes of a ring from a position on, which may be in two parts. */
static void copy_out(const struct ring *g, uint64_t from, void *out, size_t n)
{
    size_t at = (size_t)(from % g->size), first = g->size - at < n ? g->size - at : n;
    memcpy(out, g->data + at, first);
    memcpy((uint8_t *)out + first, g->data, n - first);
}

static void read_ring(struct pct_rings *r, const struct ring *g)
{
    uint64_t head = __atomic_load_n(&g->head->data_head, __ATOMIC_ACQUIRE);
    uint64_t tail = g->head->data_tail;
    while (tail < head) {
        struct perf_event_header h;
        copy_out(g, tail, &h, sizeof h);
        if (h.size < sizeof h + 8)
            break;
        r->bytes = pct_grow(r->bytes, r->n_bytes + h.size, &r->bytes_room, 1);
        copy_out(g, tail, r->bytes + r->n_bytes, h.size);
        r->waiting = pct_grow(r->waiting, r->n_waiting, &r->waiting_room, sizeof *r->waiting);
        r->waiting[r->n_waiting++] =
            (struct waiting){time_of(r->bytes + r->n_bytes), r->n_bytes, g->event};
        r->n_bytes += (h.size + 7u) & ~(size_t)7;
        tail += h.size;
    }
    __atomic_store_n(&g->head->data_tail, head, __ATOMIC_RELEASE);
}

static int compare_waiting(const void *left, const void *right)
{
    const struct waiting *a = left, *b = right;
    if (a->time_ns != b->time_ns)
        return a->time_ns < b->time_ns ? -1 : 1;
    return (a->at > b->at) - (a->at < b->at);
}

/* Moves the records from number `first` on to the front. */
static void keep_rest(struct pct_rings *r, size_t first)
{
    uint8_t *bytes = NULL;
    size_t n = 0, room = 0;
    for (size_t i = first; i < r->n_waiting; i++) {
        const struct perf_event_header *h = (const void *)(r->bytes + r->waiting[i].at);
        size_t whole = (h->size + 7u) & ~(size_t)7;
        bytes = pct_grow(bytes, n + whole, &room, 1);
        memcpy(bytes + n, h, h->size);
        r->waiting[i - first] = (struct waiting){r->waiting[i].time_ns, n, r->waiting[i].event};
        n += whole;
    }
    r->n_waiting -= first;
    pct_free(r->bytes);
    r->bytes = bytes;
    r->n_bytes = n;
    r->bytes_room = room;
}

void pct_rings_drain(struct pct_rings *r, bool all,
                     void (*take)(void *arg, const struct pct_ring_record *record), void *arg)
{
    uint64_t certain_ns = all ? UINT64_MAX : r->newest_ns;
    uint64_t period = r->attrs[1].freq ? 0 : r->attrs[1].sample_period;
    size_t n = 0;
    for (size_t i = 0; i < r->n_rings; i++)
        if (r->rings[i].head)
            read_ring(r, &r->rings[i]);
    if (r->n_waiting)
        qsort(r->waiting, r->n_waiting, sizeof *r->waiting, compare_waiting);
    for (; n < r->n_waiting && r->waiting[n].time_ns <= certain_ns; n++) {
        struct pct_ring_record record;
        if (!read_record(r->bytes + r->waiting[n].at, r->waiting[n].event ? period : 0, &record))
            continue;
        record.time_ns = r->waiting[n].time_ns;
        record.of_event = r->waiting[n].event;
        take(arg, &record);
    }
    if (r->n_waiting)
        r->newest_ns = r->waiting[r->n_waiting - 1].time_ns;
    if (n)
        keep_rest(r, n);
}
