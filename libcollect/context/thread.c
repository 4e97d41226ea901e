/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Threads: each gets its state at its first MPI call. When it ends, the state with its tree waits
 * for the next new thread, which adopts both: a program that makes a hundred thousand threads one
 * after the other needs only the memory of those that ran at the same time.
 *
 * The waiting trees are the arena's (pc_tree_retire, pc_tree_adopt_any); `user` leads from a tree
 * to the state that belongs to it.
 */
#include "libcollect/context/thread.h"
#include "libcollect/context/scope.h"
#include "libcollect/state/next.h"
#include "libcollect/state/state.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Mark a thread that is being registered, and one that cannot be: it has no state, and its calls
 * are passed on. */
static struct pc_thread in_transit = {.busy = 1}, refused = {.busy = 1};

static _Atomic uint32_t n_threads;
static pthread_key_t end_key;
static bool has_end_key;

/* Facts about the calling thread from before it is registered: the bounds of its own stack, which
 * are 0, 0 if they are not known; the function that it began in, or NULL; the CPU time and the
 * delay up to which it was booked when it left, and its number + 1, 0 if it has not; a flag that
 * the MPI library made it for itself; and one that the bounds are being looked up. */
static __thread struct {
    struct pc_stack stack;
    void *function;
    uint64_t booked_ns, booked_delayed_ns;
    uint32_t left;
    bool helper, is_asking;
} own __attribute__((tls_model("initial-exec")));

/* A thread with its times that are not to be booked. */
struct early {
    int32_t tid;
    uint64_t cpu_ns, delayed_ns;
};

/* The main thread when the collection starts. The kernel counts from the start of the process, and
 * exec keeps that: the times may be those of another program. */
static struct early first;

/* Threads from before MPI_Init at its end: they register later, or never. */
static struct early *early;
static _Atomic uint32_t n_early; /* set last */

static const struct pc_thread_part *parts[PC_MAX_THREAD_PARTS];
static uint32_t n_parts;

/* Runs at the end of a thread. A later key destructor may make MPI calls: they register again. */
static void leave_thread(void *state)
{
    struct pc_thread *t = state;
    own.stack = (struct pc_stack){0, 0};
    if (t == &in_transit)
        return; /* the thread was never registered */
    if (!atomic_load_explicit(&pc_live->stage, memory_order_relaxed)) {
        pc_self = NULL;
        return; /* a forked child: the list is the parent's */
    }
    for (uint32_t i = n_parts; i-- > 0;)
        if (parts[i]->leave)
            parts[i]->leave(t);
    own.booked_ns = atomic_load(&t->cpu_from_ns);
    own.booked_delayed_ns = atomic_load(&t->delayed_from_ns);
    own.left = t->number + 1;
    pc_self = NULL;
    pc_scope_leave(t);
    t->depth = 0;
    pc_tree_retire(t->tree);
}

int pc_threads_start(void)
{
    if (!has_end_key)
        has_end_key = !pthread_key_create(&end_key, leave_thread);
    return has_end_key ? PC_OK : PC_ENOMEM;
}

void pc_threads_take_part(const struct pc_thread_part *part)
{
    if ((part->enter || part->leave) && n_parts < PC_MAX_THREAD_PARTS)
        parts[n_parts++] = part;
}

/* Finds the bounds of the stack. Calls malloc and takes a lock of the thread; a handler that
 * interrupts it does without the bounds. While they are 0, 0 the walker probes each page. */
static void find_stack(void)
{
    pthread_attr_t attr;
    void *lo;
    size_t size;
    if (own.stack.hi || own.is_asking)
        return;
    own.is_asking = true;
    if (!pthread_getattr_np(pthread_self(), &attr)) {
        if (!pthread_attr_getstack(&attr, &lo, &size))
            own.stack = (struct pc_stack){(uintptr_t)lo, (uintptr_t)lo + size};
        pthread_attr_destroy(&attr);
    }
    own.is_asking = false;
    if (pc_self && !pc_self->busy) /* a handler has made a call meanwhile */
        pc_self->stack = own.stack;
}

/* The value of the key makes libc allocate the place that a registration writes to. */
void pc_thread_begin(bool helper, void *function)
{
    own.helper = helper;
    own.function = function;
    find_stack();
    if (has_end_key)
        pthread_setspecific(end_key, &in_transit);
}

/* The stack of the main thread may not be able to grow as far as its bounds. */
bool pc_thread_has_room(uintptr_t sp)
{
    enum { ROOM_BYTES = 32768 };
    uintptr_t set = (sp - ROOM_BYTES) & ~(uintptr_t)7;
    return sp - own.stack.lo < own.stack.hi - own.stack.lo && sp - own.stack.lo >= ROOM_BYTES &&
           pc_own_can_read(set);
}

struct pc_stack pc_thread_stack(void)
{
    return own.stack;
}

static struct early note(int32_t tid)
{
    return (struct early){tid, pc_thread_cpu_ns(tid), pc_thread_delayed_ns(tid)};
}

void pc_threads_note_first(void)
{
    first = note((int32_t)getpid());
}

void pc_threads_note_early(const int32_t *tids, uint32_t n)
{
    if (n < 2 || early || !(early = pc_memory(n * sizeof *early)))
        return;
    for (uint32_t i = 0; i < n; i++)
        early[i] = note(tids[i]);
    atomic_store(&n_early, n);
}

/* The times of the calling thread that are not to be booked. A thread with less CPU time than was
 * noted has the id of one that has ended. */
static struct early times_before(int32_t tid)
{
    uint32_t n = atomic_load(&n_early), i = 0;
    if (own.booked_ns)
        return (struct early){tid, own.booked_ns, own.booked_delayed_ns};
    while (i < n && early[i].tid != tid)
        i++;
    const struct early *e = i < n ? &early[i] : &first;
    return e->tid == tid && pc_thread_cpu_ns(tid) >= e->cpu_ns ? *e : (struct early){tid, 0, 0};
}

/* Gives the state to a thread. Others read its times as soon as it has a tid
 * (thread_times_table.c). */
static void take_thread(struct pc_thread *t, int32_t tid)
{
    struct early before = times_before(tid);
    atomic_store(&t->cpu_from_ns, before.cpu_ns);
    atomic_store(&t->delayed_from_ns, before.delayed_ns);
    t->entered_ns = pc_mono_ns();
    t->tid = tid;
}

static bool is_late(uint32_t stage)
{
    return stage >= PC_STAGE_LATE;
}

static void take_tree(struct pc_thread *t, struct pc_tree *tree)
{
    if (t->record)
        t->record->open_ticks = 0; /* the call in progress ends in the new tree */
    t->tree = tree;
    t->record = pc_tree_thread(tree);
    t->stage = tree->late ? PC_STAGE_LATE : PC_STAGE_MAIN;
    tree->user = t;
    memset(t->twins, 0, sizeof t->twins);
    memset(t->domains, 0, sizeof t->domains);
    pc_scope_start(t);
}

static bool new_tree(struct pc_thread *t, uint32_t stage)
{
    struct pc_tree *tree = pc_tree_new(&pc_process.arena, t->tid, is_late(stage));
    if (tree)
        take_tree(t, tree);
    return tree != NULL;
}

/* The tree is made first: an arena that is full stays so, and a thread without a tree must take no
 * memory that the next one would take again. For the same reason no thread is made after one that
 * found no memory. */
static struct pc_thread *make_thread(uint32_t stage, int32_t tid)
{
    static _Atomic bool no_memory;
    const struct pc_config *c = &pc_process.config;
    if (atomic_load_explicit(&n_threads, memory_order_relaxed) >= PC_MAX_THREADS ||
        atomic_load_explicit(&no_memory, memory_order_relaxed))
        return NULL;
    struct pc_tree *tree = pc_tree_new(&pc_process.arena, tid, is_late(stage));
    if (!tree)
        return NULL;
    struct pc_thread *t = pc_memory(sizeof *t);
    if (!t || pc_paths_init(&t->paths, (uint32_t)c->collect_max_depth,
                            (uint32_t)(c->collect_buffer_size / 32))) {
        atomic_store(&no_memory, true);
        return NULL;
    }
    take_thread(t, tid);
    t->countdown = PC_CHECK_EVERY;
    take_tree(t, tree);
    pc_scope_made(t);
    t->number = atomic_fetch_add_explicit(&n_threads, 1, memory_order_relaxed);
    return t->number < PC_MAX_THREADS ? t : NULL;
}

static struct pc_thread *make_or_adopt(uint32_t stage)
{
    int32_t tid = (int32_t)syscall(SYS_gettid);
    struct pc_tree *left = pc_tree_adopt_any(&pc_process.arena, tid, is_late(stage));
    if (!left)
        return make_thread(stage, tid);
    struct pc_thread *t = left->user;
    if (own.left == t->number + 1) /* the same thread, which calls from a destructor */
        __atomic_fetch_sub(&pc_tree_thread(left)->n_adopted, 1, __ATOMIC_RELAXED);
    take_thread(t, tid);
    t->followed = 0;
    pc_scope_start(t);
    pc_paths_clear(&t->paths);
    return t;
}

static void move_on(_Atomic uint64_t *point, uint64_t ns)
{
    uint64_t from = atomic_load(point);
    while (from < ns && !atomic_compare_exchange_weak(point, &from, ns))
        ;
}

/* The end of MPI_Init in another thread notes the threads there are, then goes through the list. A
 * thread that it found in neither way looks at the notes once more, when it is in the list. */
static void leave_out_noted(struct pc_thread *t)
{
    struct early before = times_before(t->tid);
    move_on(&t->cpu_from_ns, before.cpu_ns);
    move_on(&t->delayed_from_ns, before.delayed_ns);
}

struct pc_thread *pc_thread_enter(void)
{
    int saved = errno, cancel = 0;
    uint32_t stage = atomic_load_explicit(&pc_live->stage, memory_order_acquire);
    struct pc_thread *t = NULL;
    /* Plugins may come to cancellation points: a thread that is cancelled as it starts must get as
     * far as its own cleanup handlers. */
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    pc_self = &in_transit;
    if (stage)
        t = make_or_adopt(stage);
    if (t) {
        leave_out_noted(t);
        find_stack();
        t->stack = own.stack;
        t->generation = atomic_load_explicit(&pc_loadmap_generation, memory_order_acquire);
        t->bumps = atomic_load(&pc_control.bumps);
        pc_scope_refresh(t);
        t->generation -= pc_scope_is_off(); /* makes its first call check again */
        t->bumps -= pc_scope_is_off();
        t->busy = 0;
        t->helper = own.helper;
        pthread_setspecific(end_key, t);
        pc_self = t;
        if (pc_lent_context)
            pc_scope_lend(t, pc_lent_context);
        for (uint32_t i = 0; i < n_parts; i++)
            if (parts[i]->enter)
                parts[i]->enter(t, own.function);
    } else {
        pc_self = &refused;
    }
    pthread_setcancelstate(cancel, NULL);
    errno = saved;
    return t;
}

bool pc_thread_is_refused(void)
{
    return pc_self == &refused;
}

struct pc_thread *pc_thread_current(void)
{
    struct pc_thread *t = pc_self;
    if ((t && t->busy) || !atomic_load_explicit(&pc_live->stage, memory_order_acquire))
        return NULL;
    if (!t && !(t = pc_thread_enter()))
        return NULL;
    return pc_thread_refresh(t) ? t : NULL;
}

bool pc_thread_refresh(struct pc_thread *t)
{
    uint32_t stage = atomic_load_explicit(&pc_live->stage, memory_order_acquire);
    if (!stage)
        return false;
    if (pc_scope_is_off() && stage == PC_STAGE_MAIN)
        return false;
    uint32_t bumps = atomic_load_explicit(&pc_control.bumps, memory_order_acquire);
    uint32_t wanted = is_late(stage) ? PC_STAGE_LATE : PC_STAGE_MAIN;
    uint32_t generation = atomic_load_explicit(&pc_loadmap_generation, memory_order_acquire);
    bool ok = true;
    if (t->stage != wanted) {
        int saved = errno;
        ok = new_tree(t, stage);
        pc_paths_clear(&t->paths);
        errno = saved;
    }
    if (t->generation != generation) {
        if (generation - t->generation != bumps - t->bumps)
            pc_paths_clear(&t->paths);
        t->generation = generation;
        t->bumps = bumps;
        t->followed = 0;
        pc_scope_refresh(t);
    }
    return ok;
}
