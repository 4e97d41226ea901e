/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One MPI call: begin, pre, end. This is the measured path: once the context is known, it makes no
 * system call, takes no lock, calls no malloc and touches only cache lines of this thread.
 */
#include "libcollect/call/call.h"
#include "libcollect/context/copied_context.h"
#include "libcollect/context/python.h"
#include "libcollect/context/scope.h"
#include "libcollect/context/thread.h"
#include "libcollect/life/life.h"
#include "libcollect/state/ops.h"
#include "libcollect/state/state.h"
#include "plugins/plugins.h"

#include <errno.h>
#include <string.h>

static void book_call(struct pc_thread *t, const struct pc_call *call);

/* A call that was left before its end: it is counted, but its duration and its bytes are not
 * known. */
static void book_left_call(struct pc_thread *t, const struct pc_active *left)
{
    struct pc_call call = {.thread = t, .depth = t->depth, .record = left->record};
    if (left->stage != t->stage)
        return;
    call.event = (struct pcollect_event){.size = sizeof call.event,
                                         .op = left->op,
                                         .op_class = left->op_class,
                                         .begin = pc_ticks(),
                                         .peer = -1,
                                         .root = -1,
                                         .tag = -1};
    call.event.end = call.event.begin;
    pc_event_clear(&call.event, t, 0);
    book_call(t, &call);
}

/* Two addresses outside of the thread's own stack that are closer than this are taken to be on one
 * stack: few frames between a call and those that catch exceptions or jumps are larger, and the
 * same functions on two stacks of coroutines, side by side, are farther apart. */
enum { ONE_STACK_BYTES = 32768 };

/* True if a call in progress with stack address `old` has been left by longjmp or an exception, as
 * a new call with that of `cfa` shows. On one stack, a call inside another one is below it. And the
 * thread's own stack goes on when a coroutine, or a handler on another stack, has given control
 * back: calls that are still in progress there were left. A known hole: a callback of MPI on such a
 * stack may give control back in the middle of a call, which then counts twice.
 *
 * A call on another stack can be inside any call: MPI calls back, and the callback resumes a
 * coroutine. So if a call was left there, all are taken to be inside of it until one is made on its
 * stack or on the thread's own. */
static bool is_left(const struct pc_thread *t, uintptr_t old, uintptr_t cfa)
{
    if (pc_is_on_own_stack(t, cfa))
        return cfa >= old || !pc_is_on_own_stack(t, old);
    return !pc_is_on_own_stack(t, old) && cfa - old < ONE_STACK_BYTES;
}

/* True if both addresses are on stacks other than the thread's own, and not on the same. */
static bool are_apart(const struct pc_thread *t, uintptr_t old, uintptr_t cfa)
{
    return !pc_is_on_own_stack(t, old) && !pc_is_on_own_stack(t, cfa) &&
           cfa - old >= ONE_STACK_BYTES && old - cfa >= ONE_STACK_BYTES;
}

/* Drops calls that were left, which never reach their end. If there is no room for the new call,
 * the innermost calls on other stacks than its own are taken for left too: a thread that runs
 * nothing but coroutines may leave a call in each. */
static __attribute__((noinline)) void drop_left_calls(struct pc_thread *t, uintptr_t cfa)
{
    bool full = t->depth >= PC_MAX_DEPTH;
    while (t->depth) {
        const struct pc_active *left = &t->active[t->depth - 1];
        if (!is_left(t, left->cfa, cfa) && !(full && are_apart(t, left->cfa, cfa)))
            return;
        t->depth--;
        book_left_call(t, left);
    }
}

/* Counts a call that is passed on, unless none is counted at present. */
static void count_lost(enum pcollect_lost why)
{
    uint32_t stage = atomic_load_explicit(&pc_live->stage, memory_order_relaxed);
    if (stage && (stage != PC_STAGE_MAIN || !pc_scope_is_off()))
        pc_lost(why, 1);
}

/* The state of this thread, made or brought up to date; NULL if the call must be passed on
 * unmeasured. */
static __attribute__((noinline)) struct pc_thread *prepare(struct pc_thread *t)
{
    if (!t)
        t = pc_thread_enter();
    if (!t || t->busy) {
        count_lost(pc_thread_is_refused() ? PCOLLECT_LOST_CALLS : PCOLLECT_LOST_NESTED);
        return NULL;
    }
    return pc_thread_refresh(t) ? t : NULL;
}

/* Compares the context from the cache with the one that a walk finds, once in PC_CHECK_EVERY
 * calls. */
static __attribute__((noinline)) struct pc_path_leaf check_path(struct pc_thread *t,
                                                                const struct pc_call *call,
                                                                unsigned slot,
                                                                struct pc_path_leaf cached)
{
    int saved = errno;
    if (t->number == 0)
        pc_note_time();
    struct pc_path_leaf walked = pc_paths_walk(t, call, slot);
    errno = saved;
    if (!walked.node || walked.node == cached.node)
        return cached;
    pc_lost(PCOLLECT_LOST_DISAGREED, 1);
    pc_paths_clear(&t->paths);
    return walked;
}

static __attribute__((noinline)) struct pc_path_leaf
find_slowly(struct pc_thread *t, const struct pc_call *call, unsigned slot,
            struct pc_path_root *root, struct pc_path_miss miss)
{
    int saved = errno;
    struct pc_path_leaf walked = pc_paths_miss(t, call, slot, root, miss);
    errno = saved;
    return walked;
}

/* Adds the Python functions, which are not on the C stack. */
static __attribute__((noinline)) struct pc_path_leaf find_python(struct pc_thread *t,
                                                                 const struct pc_call *call,
                                                                 unsigned slot,
                                                                 const struct pc_path_node *n)
{
    int saved = errno;
    struct pc_path_leaf leaf = pc_python_leaf(t, call, slot, (uint32_t)(n - t->paths.nodes));
    errno = saved;
    return leaf;
}

static struct pc_path_leaf find_context(struct pc_thread *t, const struct pc_call *call,
                                        unsigned slot, struct pc_path_root *root, uint32_t start,
                                        bool check)
{
    struct pc_path_miss miss = {0, 0};
    const struct pc_path_node *n = NULL;
    if (PC_LIKELY(root->node))
        n = pc_paths_find(&t->paths, start ? start : root->node, call->cfa, &miss);
    if (PC_UNLIKELY(!n))
        return find_slowly(t, call, slot, root, miss);
    struct pc_path_leaf leaf = {n->leaf, n->flags, n->record};
    if (PC_UNLIKELY(leaf.flags & PC_PATH_PYTHON))
        leaf = find_python(t, call, slot, n);
    return PC_UNLIKELY(check) ? check_path(t, call, slot, leaf) : leaf;
}

/* Fills what all calls from one place have in common; needs only the root of their paths. The
 * wrapper sets end and result of the event. */
static inline void fill_common(struct pc_thread *t, struct pc_call *call,
                               const struct pc_event_head *head, uint32_t depth)
{
    struct pc_active *active = &t->active[depth];
    memcpy(&call->event, head, sizeof *head);
    memcpy(&active->op, &head->op, sizeof head->op + sizeof head->op_class);
    active->stage = t->stage;
    active->cfa = call->cfa;
    call->thread = t;
    call->epoch_depth = PC_PAIR(t->stage, depth);
    call->event.bytes_sent = call->event.bytes_received = 0;
    call->event.peer = call->event.root = call->event.tag = -1;
}

static inline void fill_context(struct pc_thread *t, struct pc_call *call, pcollect_ref node,
                                void *record, uint32_t depth)
{
    call->node = node;
    call->record = record;
    t->active[depth].record = record;
}

/* Notes the call that the process would be in if it was killed now. */
static inline void note_open(struct pc_thread *t, uint64_t begin, pcollect_ref node)
{
    struct pcollect_thread *r = t->record;
    r->open_node = node;
    barrier();
    r->open_ticks = begin;
}

/* Begins a call that is inside another call, or whose context is not known, or not known by return
 * addresses alone. The thread is busy. Its path is searched from node `start` on, 0: from its root.
 */
static __attribute__((noinline)) bool begin_any(struct pc_thread *t, struct pc_call *call,
                                                uint32_t start)
{
    unsigned slot = call->slot;
    bool counted = false, check = t->countdown == 0 || --t->countdown == 0;
    if (check)
        t->countdown = PC_CHECK_EVERY;
    struct pc_path_root *root = pc_paths_root(&t->paths, slot, call->ret);
    if (root && root->head.size) {
        drop_left_calls(t, call->cfa);
        struct pc_path_leaf leaf = {0, 0, NULL};
        struct pc_event_head head =
            root->head; /* a miss may empty the cache and the root with it */
        if (t->depth < PC_MAX_DEPTH)
            leaf = find_context(t, call, slot, root, start, check);
        counted = leaf.node != 0;
        if (counted) {
            fill_common(t, call, &head, t->depth);
            fill_context(t, call, leaf.node, leaf.record, t->depth);
            call->event.begin = pc_ticks();
            if (!t->depth)
                note_open(t, call->event.begin, leaf.node);
            t->depth++;
        }
        if (!counted)
            pc_lost(PCOLLECT_LOST_CALLS, 1);
        else if (leaf.flags & PC_PATH_COLLAPSED)
            pc_lost(PCOLLECT_LOST_COLLAPSED, 1);
    }
    barrier();
    t->busy = 0;
    return counted;
}

static __attribute__((noinline)) bool begin_unprepared(struct pc_thread *t, struct pc_call *call)
{
    if (!t || t->busy || t->stage != atomic_load_explicit(&pc_live->stage, memory_order_relaxed) ||
        t->generation != atomic_load_explicit(&pc_loadmap_generation, memory_order_relaxed)) {
        t = prepare(t);
        if (!t)
            return false;
    }
    t->busy = 1;
    barrier();
    return begin_any(t, call, 0);
}

/* Takes the time before the call is filled in. A time stamp takes some ten nanoseconds, during
 * which an out-of-order processor executes about a hundred other instructions, from before or after
 * it. So the instructions between the two time stamps of a call add almost nothing to its cost and
 * to its duration. Between the end of one call and the begin of the next there are already more
 * instructions than time stamps can hide. */
static inline bool begin_known(struct pc_thread *t, struct pc_call *call,
                               const struct pc_path_root *root, const struct pc_path_node *leaf,
                               bool by_counter)
{
    uint64_t begin = by_counter ? pc_counter() : pc_ticks();
    call->event.begin = begin;
    fill_common(t, call, &root->head, 0);
    fill_context(t, call, leaf->leaf, leaf->record_at, 0);
    note_open(t, begin, leaf->leaf);
    barrier();
    atomic_store_explicit(&t->use, PC_PAIR(0, 1), memory_order_relaxed);
    return true;
}

/* Looks the path up node by node; walks if it is not found. */
static __attribute__((noinline)) bool begin_by_nodes(struct pc_thread *t, struct pc_call *call,
                                                     uintptr_t cfa)
{
    struct pc_path_root *root = pc_paths_root(&t->paths, call->slot, call->ret);
    uint32_t stopped = 0;
    const struct pc_path_node *n = root ? pc_paths_hit(&t->paths, root, cfa, &stopped) : NULL;
    return PC_LIKELY(n != NULL) ? begin_known(t, call, root, n, false)
                                : begin_any(t, call, stopped);
}

/* Begins a call whose root is not in its own place of the table, because another root is there. */
static __attribute__((noinline)) bool begin_displaced(struct pc_thread *t, struct pc_call *call,
                                                      uintptr_t cfa)
{
    const struct pc_path_root *root = pc_paths_known_root(&t->paths, call->slot, call->ret);
    if (PC_UNLIKELY(!root || --t->countdown == 0))
        return begin_any(t, call, 0);
    const struct pc_path_node *n = &t->paths.nodes[root->express];
    if (PC_LIKELY(pc_path_holds(t->paths.words + n->first, n->n_plain, cfa) && n->record_at))
        return begin_known(t, call, root, n, false);
    return begin_by_nodes(t, call, cfa);
}

/* The fast path: a call that is not inside another one and comes along the path that was taken from
 * there the last times. All other cases are left to other functions by tail calls, so that this one
 * needs no frame and saves no register. */
static inline __attribute__((always_inline)) bool
begin(struct pc_call *call, unsigned slot, uintptr_t cfa, uintptr_t ret, bool by_counter)
{
    struct pc_thread *t = pc_self;
    call->slot = slot;
    call->cfa = cfa;
    call->ret = ret;
    if (PC_UNLIKELY(!t || atomic_load_explicit(&t->use, memory_order_relaxed) ||
                    t->stage != atomic_load_explicit(&pc_live->stage, memory_order_relaxed) ||
                    t->generation !=
                        atomic_load_explicit(&pc_loadmap_generation, memory_order_relaxed)))
        return begin_unprepared(t, call);
    t->busy = 1;
    barrier();
    const struct pc_path_root *root = pc_paths_own_root(&t->paths, slot, ret);
    if (PC_UNLIKELY(!root))
        return begin_displaced(t, call, cfa);
    if (PC_UNLIKELY(--t->countdown == 0))
        return begin_any(t, call, 0);
    const struct pc_path_node *n = &t->paths.nodes[root->express];
    if (PC_LIKELY(pc_path_holds(t->paths.words + n->first, n->n_plain, cfa) && n->record_at))
        return begin_known(t, call, root, n, by_counter);
    return begin_by_nodes(t, call, cfa);
}

bool pc_call_begin(struct pc_call *call, unsigned slot, uintptr_t cfa, uintptr_t ret)
{
    return begin(call, slot, cfa, ret, true);
}

bool pc_call_begin_by_clock(struct pc_call *call, unsigned slot, uintptr_t cfa, uintptr_t ret)
{
    return begin(call, slot, cfa, ret, false);
}

void pc_call_pre(struct pc_call *call)
{
    for (uint32_t i = 0; i < pc_process.n_plugins; i++) {
        const struct pc_loaded_plugin *p = &pc_process.plugins[i];
        if (p->comm->pre)
            p->comm->pre(p->state, &call->event, (char *)call->record + p->record_offset);
    }
}

/* Handles a call during which the merge ran, or which ends after the library's destructor. */
static bool end_late(struct pc_thread *t, struct pc_call *call)
{
    if (!pc_thread_refresh(t))
        return false;
    if (call->epoch != t->stage) {
        call->record = pc_twin_record(t, call->node);
        call->epoch = t->stage;
    }
    if (!call->depth) {
        call->event.begin += t->merge_ticks;
        t->merge_ticks = 0;
    }
    if (!call->record)
        pc_lost(PCOLLECT_LOST_CALLS, 1);
    return call->record != NULL;
}

static inline void book_thread(struct pc_thread *t, const struct pc_call *call)
{
    struct pcollect_thread *r = t->record;
    if (PC_UNLIKELY(call->depth))
        return;
    r->end_ticks = call->event.end; /* first: a killed process has the call once */
    barrier();
    r->mpi_ticks += call->event.end - call->event.begin;
    r->mpi_calls++;
}

static __attribute__((noinline)) void
run_more_hooks(const struct pc_hook *h, const struct pcollect_event *event, void *record)
{
    for (; h->hook; h++)
        h->hook(h->state, event, (char *)record + h->record_offset);
}

/* Runs the hooks of all plugins from `h` on. By default there is only one. */
static inline void run_hooks(const struct pc_hook *h, const struct pcollect_event *event,
                             void *record)
{
    if (PC_UNLIKELY(h->hook && h[1].hook))
        run_more_hooks(h, event, record);
    else if (h->hook)
        h->hook(h->state, event, (char *)record + h->record_offset);
}

static void book_call(struct pc_thread *t, const struct pc_call *call)
{
    book_thread(t, call);
    run_hooks(pc_process.posts, &call->event, call->record);
}

static __attribute__((noinline)) void end_slowly(struct pc_thread *t, struct pc_call *call,
                                                 uint32_t stage)
{
    int saved = errno;
    if (stage && end_late(t, call))
        book_call(t, call);
    if (stage == PC_STAGE_CLOSED && !call->depth)
        pc_write_late();
    errno = saved;
}

/* Ends any call, also one inside another, or one during which the merge ran. */
static __attribute__((noinline)) void end_call(struct pc_call *call)
{
    struct pc_thread *t = call->thread;
    uint32_t stage = atomic_load_explicit(&pc_live->stage, memory_order_relaxed);
    t->busy = 1;
    barrier();
    t->depth = call->depth;
    if (stage != call->epoch)
        end_slowly(t, call, stage);
    else
        book_call(t, call);
    barrier();
    t->busy = 0;
}

void pc_call_end(struct pc_call *call)
{
    end_call(call);
}

/* The end of a call after which the histogram is carried. */
static __attribute__((noinline)) void end_carrying(struct pc_thread *t, struct pc_time_record *r)
{
    pc_time_carry(r);
    barrier();
    atomic_store_explicit(&t->use, 0, memory_order_relaxed);
}

/* `alone`: `time` is the only plugin, or the call is quiet and the others need not be told of it;
 * end_call tells them all the same. Else `time` is the first of several. */
static inline __attribute__((always_inline)) void end_time(struct pc_call *call, bool alone)
{
    uint64_t stage = atomic_load_explicit(&pc_live->stage, memory_order_relaxed);
    if (PC_UNLIKELY(PC_PAIR(stage, 0) != call->epoch_depth)) {
        if (alone)
            pc_event_clear(&call->event, call->thread, call->node);
        end_call(call);
        return;
    }
    struct pc_thread *t = call->thread;
    struct pcollect_thread *r = t->record;
    uint64_t end = call->event.end, ticks = end - call->event.begin;
    t->busy = 1;
    barrier();
    r->end_ticks = end;
    barrier();
    r->mpi_ticks += ticks;
    r->mpi_calls++;
    pc_time_add(&call->event, ticks, call->record);
    if (!alone)
        run_hooks(pc_process.posts + 1, &call->event, call->record);
    barrier();
    if (PC_UNLIKELY(pc_time_carries(call->record))) {
        end_carrying(t, call->record);
        return;
    }
    atomic_store_explicit(&t->use, 0, memory_order_relaxed);
}

void pc_call_end_time(struct pc_call *call)
{
    end_time(call, true);
}

void pc_call_end_time_first(struct pc_call *call)
{
    end_time(call, false);
}

/* Sets the members of the thread's completion event that are equal for all completions of one
 * context. */
static __attribute__((noinline)) void name_arrival(struct pc_thread *t, pcollect_ref origin)
{
    const struct pcollect_node *n = pc_arena_at(&pc_process.arena, origin);
    pcollect_ref op = n->kind == PCOLLECT_NODE_DOMAIN ? n->parent : origin;
    n = pc_arena_at(&pc_process.arena, op);
    if (!t->arrival.size) {
        t->arrival =
            (struct pcollect_event){.size = sizeof t->arrival, .peer = -1, .root = -1, .tag = -1};
        pc_event_clear(&t->arrival, t, op);
    }
    t->arrival.op = n->op;
    t->arrival.op_class = pc_op_class(n->op);
    t->arrival.node = op;
    t->arrival_of = origin;
}

/* Runs all hooks, or only those after `time`, which comes first and is done already. */
static inline void book_arrival(const struct pc_call *by, char *record, uint32_t type,
                                uint64_t bytes, uint64_t domain, int32_t world_source,
                                const struct pc_hook *hooks)
{
    struct pc_thread *t = by->thread;
    t->arrival.end = by->event.end;
    t->arrival.type = type;
    t->arrival.bytes_received = bytes;
    t->arrival.domain = domain;
    t->arrival.world_source = world_source;
    run_hooks(hooks, &t->arrival, record);
    barrier();
    t->busy = 0;
}

void pc_call_complete(struct pc_call *by, const struct pc_start *start, uint64_t bytes,
                      uint64_t domain, int32_t world_source)
{
    struct pc_thread *t = by->thread;
    const struct pc_origin *origin = &start->origin;
    const struct pcollect_node *n = pc_arena_at(&pc_process.arena, origin->node);
    t->busy = 1;
    barrier();
    char *record = PC_LIKELY(origin->thread == t && origin->epoch == t->stage)
                       ? pc_arena_at(&pc_process.arena, n->record)
                       : pc_twin_record(t, origin->node);
    if (PC_UNLIKELY(!record)) {
        pc_lost(PCOLLECT_LOST_RECEIVES, 1);
        barrier();
        t->busy = 0;
        return;
    }
    if (t->arrival_of != origin->node)
        name_arrival(t, origin->node);
    book_arrival(by, record, start->type, bytes, domain, world_source, pc_process.completes);
}

/* The fast path: a receive that this thread has posted, and, if there are other plugins than
 * `time`, from the context whose receive completed last. All other cases are left to
 * pc_call_complete by a tail call, so that almost no register is saved. */
void pc_call_complete_time(struct pc_call *by, const struct pc_start *start, uint64_t bytes,
                           uint64_t domain, int32_t world_source)
{
    struct pc_thread *t = by->thread;
    const struct pc_origin *origin = &start->origin;
    const struct pc_hook *others = pc_process.completes + 1;
    if (PC_UNLIKELY(origin->thread != t || origin->epoch != t->stage ||
                    (others->hook && t->arrival_of != origin->node))) {
        pc_call_complete(by, start, bytes, domain, world_source);
        return;
    }
    const struct pcollect_node *n = pc_arena_at(&pc_process.arena, origin->node);
    char *record = pc_arena_at(&pc_process.arena, n->record);
    t->busy = 1;
    barrier();
    ((struct pc_time_record *)record)->bytes_received += bytes;
    book_arrival(by, record, start->type, bytes, domain, world_source, others);
}
