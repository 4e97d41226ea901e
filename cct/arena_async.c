/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The arena in use: handing out space, growth, publication, fork. All of it may run in a signal
 * handler and in many threads at once; nothing waits for another thread.
 *
 *     0 ... next     handed out; header->used_bytes follows
 *     next ... ready may be touched; new contexts leave pc_arena_reserve_bytes of it
 *     ready ... limit not taken from the system yet; touching it may be SIGBUS
 *     limit ... map_bytes refused by the system, or nothing
 *
 * Called by the tree, by the loader of plugins and by the code that publishes modules and
 * primitives. Must not: call malloc, take a lock, let errno change, raise a signal.
 */
#include "cct/cct_private.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif
#define KEEP_SIZE 1 /* FALLOC_FL_KEEP_SIZE of linux/falloc.h */

/* Linux undoes a piece of fallocate when a signal comes: pieces are small enough to end between two
 * interrupts of a sampler, and the number of tries is bounded. */
#define PIECE_BYTES ((uint64_t)64 << 10)
#define MAX_TRIES 1000

/* Raises *to to at least value. */
static void raise_to(_Atomic uint64_t *to, uint64_t value)
{
    uint64_t seen = atomic_load_explicit(to, memory_order_relaxed);
    while (seen < value && !atomic_compare_exchange_weak_explicit(
                               to, &seen, value, memory_order_release, memory_order_relaxed))
        ;
}

static void lower_to(_Atomic uint64_t *to, uint64_t value)
{
    uint64_t seen = atomic_load_explicit(to, memory_order_relaxed);
    while (seen > value && !atomic_compare_exchange_weak_explicit(
                               to, &seen, value, memory_order_release, memory_order_relaxed))
        ;
}

bool pc_arena_fd_is_ours(const struct pc_arena *a)
{
    struct stat st;
    return a->fd >= 0 && fstat(a->fd, &st) == 0 && st.st_dev == a->dev && st.st_ino == a->ino;
}

/* Allocates a piece. Between the check and the call another thread may still close the descriptor
 * and open a file with its number. KEEP_SIZE limits the harm: the other file gets blocks, but its
 * size and its bytes do not change. */
static int take_piece(struct pc_arena *a, uint64_t from, uint64_t to)
{
    if (a->growth == PC_ARENA_POPULATE)
        return madvise(a->base + from, to - from, MADV_POPULATE_WRITE);
    if (!pc_arena_fd_is_ours(a)) {
        errno = EBADF;
        return -1;
    }
    return (int)syscall(SYS_fallocate, a->fd, KEEP_SIZE, (off_t)from, (off_t)(to - from));
}

bool pc_arena_take(struct pc_arena *a, uint64_t from, uint64_t to)
{
    if (a->growth == PC_ARENA_FREE)
        return true;
    uint64_t piece =
        a->growth == PC_ARENA_FALLOCATE ? pc_round_up(PIECE_BYTES, a->granule_bytes) : to - from;
    int tries = 0;
    while (from < to) {
        uint64_t end = to - from > piece ? from + piece : to;
        if (take_piece(a, from, end) == 0) {
            from = end;
            tries = 0;
        } else if (errno != EINTR || ++tries == MAX_TRIES) {
            return false;
        }
    }
    return true;
}

/* True if the arena stays within its share: all arenas together get an eighth of the space that
 * would be free without them, which shrinks as the program takes shared memory for itself. Arenas
 * are assumed to have one size. A file system whose size is not known, or can no longer be queried,
 * refuses by itself. */
static bool leaves_room(const struct pc_arena *a, uint64_t ready, uint64_t target)
{
    struct statfs fs;
    if (!a->is_file || statfs(a->path, &fs) != 0 || fs.f_blocks == 0)
        return true;
    uint64_t n = a->n_sharing, free_bytes = (uint64_t)fs.f_bavail * (uint64_t)fs.f_bsize;
    return target * n <= (free_bytes + ready * n) / PC_ARENA_PART;
}

/* Makes bytes [0, need) safe to touch. False: refused, and the arena will not grow any more.
 * Several threads may grow the arena at once: each takes all of [the `ready` that it saw, its
 * target) itself before it raises `ready`. Taking bytes twice is harmless. */
static bool grow(struct pc_arena *a, uint64_t need)
{
    uint64_t ready = atomic_load_explicit(&a->ready, memory_order_acquire);
    if (need <= ready)
        return true;
    uint64_t limit = atomic_load_explicit(&a->limit, memory_order_acquire);
    if (need > limit)
        return false;
    int saved = errno;
    uint64_t exact = pc_round_up(need, a->granule_bytes);
    uint64_t target = pc_round_up(need, pc_round_up(PC_ARENA_STEP_BYTES, a->granule_bytes));
    if (target > limit)
        target = limit;
    if (exact > limit)
        exact = limit;
    if (!leaves_room(a, ready, target) || !pc_arena_take(a, ready, target)) {
        target = exact;
        if (!leaves_room(a, ready, target) || !pc_arena_take(a, ready, target))
            target = 0;
    }
    if (target)
        raise_to(&a->ready, target);
    else
        lower_to(&a->limit, ready);
    errno = saved;
    return target != 0;
}

static pcollect_ref take_space(struct pc_arena *a, size_t bytes, bool from_reserve)
{
    if (bytes == 0 || bytes > a->map_bytes)
        return 0;
    uint64_t n = pc_round_up(bytes, PC_ARENA_LINE), end;
    uint64_t next = atomic_load_explicit(&a->next, memory_order_relaxed);
    do {
        end = next + n;
        uint64_t need = from_reserve ? end : end + pc_arena_reserve_bytes(end);
        if (need > atomic_load_explicit(&a->ready, memory_order_acquire) && !grow(a, need))
            return 0;
    } while (!atomic_compare_exchange_weak_explicit(&a->next, &next, end, memory_order_relaxed,
                                                    memory_order_relaxed));
    /* Tells readers that this space is readable, before anything in it can be linked. */
    raise_to((_Atomic uint64_t *)&a->header->used_bytes, end);
    return (pcollect_ref)(next / PCOLLECT_REF_UNIT);
}

pcollect_ref pc_arena_alloc(struct pc_arena *a, size_t bytes)
{
    return take_space(a, bytes, false);
}

pcollect_ref pc_arena_alloc_reserve(struct pc_arena *a, size_t bytes)
{
    pcollect_ref ref = take_space(a, bytes, false);
    return ref ? ref : take_space(a, bytes, true);
}

/* Puts a filled object at the head of a list whose elements begin with `next`. */
static void link_first(struct pc_arena *a, pcollect_ref *head, pcollect_ref ref)
{
    pcollect_ref *next = pc_arena_at(a, ref);
    pcollect_ref seen = __atomic_load_n(head, __ATOMIC_RELAXED);
    do {
        *next = seen;
    } while (
        !__atomic_compare_exchange_n(head, &seen, ref, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED));
}

void pc_arena_link_thread(struct pc_arena *a, pcollect_ref ref)
{
    link_first(a, &a->header->threads, ref);
}

pcollect_ref pc_arena_add_op(struct pc_arena *a, uint16_t op, uint16_t op_class, const char *name)
{
    if (op >= PCOLLECT_MAX_OPS)
        return 0;
    pcollect_ref *slot = &a->header->ops[op];
    pcollect_ref seen = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
    if (seen)
        return seen;
    pcollect_ref ref = pc_arena_alloc_reserve(a, sizeof(struct pcollect_op));
    if (!ref)
        return 0;
    struct pcollect_op *o = pc_arena_at(a, ref);
    o->op = op;
    o->op_class = op_class;
    for (size_t i = 0; i + 1 < sizeof o->name && name[i]; i++)
        o->name[i] = name[i];
    /* A thread that lost the race leaves its copy unused: at most one per thread and primitive. */
    return __atomic_compare_exchange_n(slot, &seen, ref, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)
               ? ref
               : seen;
}

pcollect_ref pc_arena_add_module(struct pc_arena *a, const struct pcollect_module *module,
                                 const char *path)
{
    pcollect_ref ref = pc_arena_alloc(a, sizeof *module + module->path_bytes);
    if (!ref)
        return 0;
    struct pcollect_module *m = pc_arena_at(a, ref);
    memcpy(m, module, sizeof *m);
    memcpy(m->path, path, module->path_bytes);
    link_first(a, &a->header->modules, ref);
    return ref;
}

pcollect_ref pc_arena_add_plugin(struct pc_arena *a, const struct pcollect_plugin_rec *plugin,
                                 const struct pcollect_field_rec *fields)
{
    size_t field_bytes = plugin->n_fields * sizeof *fields;
    pcollect_ref ref = pc_arena_alloc(a, sizeof *plugin + field_bytes);
    if (!ref)
        return 0;
    struct pcollect_plugin_rec *p = pc_arena_at(a, ref);
    memcpy(p, plugin, sizeof *p);
    memcpy(p->fields, fields, field_bytes);
    link_first(a, &a->header->plugins, ref);
    return ref;
}

pcollect_ref pc_arena_add_table(struct pc_arena *a, const struct pcollect_table_rec *table,
                                const struct pcollect_column_rec *columns)
{
    size_t column_bytes = (size_t)(table->n_keys + table->n_values) * sizeof *columns;
    pcollect_ref ref = pc_arena_alloc(a, sizeof *table + column_bytes);
    if (!ref)
        return 0;
    struct pcollect_table_rec *t = pc_arena_at(a, ref);
    memcpy(t, table, sizeof *t);
    memcpy(t->columns, columns, column_bytes);
    link_first(a, &a->header->tables, ref);
    return ref;
}

int pc_arena_forget(struct pc_arena *a)
{
    if (!a->base || a->forgotten)
        return PC_OK;
    int saved = errno;
    if (pc_arena_fd_is_ours(a))
        pc_file_close(a->fd);
    a->fd = -1;
    a->is_file = false; /* the file is the parent's to unlink */
    a->forgotten = true;
    atomic_store(&a->limit, 0);
    atomic_store(&a->ready, 0);
    void *p = pc_map_memory(a->base, a->map_bytes);
    errno = saved;
    return p ? PC_OK : PC_ENOMEM;
}
