/* SPDX-License-Identifier: BSD-3-Clause
 *
 * From an interrupted context to its POINT in the thread's tree.
 *
 * The path is walked from the interrupted instruction outwards until the walk ends or meets the
 * last path, the path of the previous sample: the same frame is in the same place, and all words
 * that the last path's walk read from there outwards are unchanged. From there on frames and
 * contexts are the last path's. Words are compared in order: when one has matched, the next belongs
 * to a live frame.
 *
 * Called only by the handler, with `busy` set. Takes no lock, calls no malloc.
 */
#include "libcollect/context/python.h"
#include "libcollect/context/shown.h"
#include "libcollect/sampling/sampler.h"
#include "libcollect/state/next.h"
#include "libcollect/state/publish.h"

enum { NOT_JOINED = UINT32_MAX };

/* ---- The walk -------------------------------------------------------------------------------- */

static void keep_state(struct pc_sample_frame *f, const struct pc_walk *walk)
{
    f->pc = walk->pc;
    f->sp = walk->sp;
    f->fp = walk->fp;
    f->fp_loc = walk->fp_loc;
    f->exact = walk->exact;
    f->n_words = 0;
    f->registers = false;
    f->module = NULL;
}

static void keep_step(struct pc_sample_frame *f, const struct pc_step *step)
{
    f->module = step->module;
    f->n_words = (uint8_t)step->n_words;
    f->registers = step->registers;
    for (int i = 0; i < step->n_words; i++) {
        f->words[i].addr = step->words[i].addr;
        f->words[i].value = step->words[i].value;
    }
}

static bool same_state(const struct pc_sample_frame *f, const struct pc_walk *walk)
{
    return f->pc == walk->pc && f->sp == walk->sp && f->fp_loc == walk->fp_loc &&
           f->exact == walk->exact && (walk->fp_loc || f->fp == walk->fp);
}

/* True if the words of a frame are unchanged. Words do not determine a step that used other
 * registers. */
static bool same_words(const struct pc_sample_frame *f)
{
    if (f->registers)
        return false;
    for (unsigned i = 0; i < f->n_words; i++)
        if (*(const uintptr_t *)f->words[i].addr != f->words[i].value)
            return false;
    return true;
}

static bool is_of_library(const struct pc_module *m)
{
    return m && m->flags & PCOLLECT_MODULE_OWN;
}

static bool is_runtime(const struct pc_sample_frame *f)
{
    return f->module && f->module->flags & PCOLLECT_MODULE_RUNTIME;
}

/* True if the walk has come to a frame of the last path outside of which nothing has changed.
 * `*inside` decreases: the last path cannot be joined at or inside of that index. A frame of a
 * runtime is never joined, because the frames inside of it decide whether it is shown. */
static bool join(struct pc_sampler *s, const struct pc_walk *walk, uint32_t *inside)
{
    uint32_t j = *inside;
    while (j > 0 && s->last[j - 1].sp < walk->sp)
        j--;
    *inside = j;
    if (j == 0 || is_runtime(&s->last[j - 1]) || !same_state(&s->last[j - 1], walk))
        return false;
    for (uint32_t k = j; k-- > 0;)
        if (!same_words(&s->last[k])) {
            *inside = k;
            return false;
        }
    s->joined = j - 1;
    return true;
}

static void walk_outwards(struct pc_sampler *s, struct pc_walk *walk)
{
    uint32_t inside = pc_interpreter ? 0 : s->n_last; /* 0: no join, because of Python */
    s->joined = NOT_JOINED;
    s->cut = s->deep = false;
    s->n_path = 0;
    for (;;) {
        struct pc_sample_frame *f = &s->path[s->n_path++];
        struct pc_step step;
        keep_state(f, walk);
        enum pc_step_result result = pc_walk_step(walk, &step);
        if (result != PC_STEP_OK)
            step.n_words = 0;
        keep_step(f, &step);
        if (result != PC_STEP_OK) {
            s->cut = result == PC_STEP_CUT && !pc_shown_is_loader(step.module);
            return;
        }
        if (join(s, walk, &inside))
            return;
        if (s->n_path == s->max_frames) {
            s->cut = s->deep = true;
            return;
        }
    }
}

/* ---- The tree -------------------------------------------------------------------------------- */

/* The innermost frame of the program: not one of a runtime, nor one of libc called by a runtime. */
static uint32_t find_program(const struct pc_sampler *s)
{
    uint32_t i = 0;
    while (i < s->n_path && (!s->path[i].module || s->path[i].module->flags & PC_SHOWN_NOT_PROGRAM))
        i++;
    return i;
}

/* True if there is a runtime of OpenMP inside the program's innermost frame, or without any frame
 * of the program. */
static bool is_in_team_runtime(const struct pc_sampler *s, uint32_t program)
{
    for (uint32_t i = 0; i < program; i++)
        if (s->path[i].module && s->path[i].module->flags & PCOLLECT_MODULE_TEAM)
            return true;
    return false;
}

/* True if the innermost frame of the program is one of the MPI library. `program` is its index; it
 * may be in the last path. A program that is linked to a static MPI is none of it. */
static bool is_in_mpi(const struct pc_sampler *s, uint32_t program)
{
    const struct pc_module *m = program < s->n_path ? s->path[program].module : NULL;
    for (uint32_t k = s->joined == NOT_JOINED ? 0 : s->joined + 1; !m && k-- > 0;)
        if (s->last[k].module && !(s->last[k].module->flags & PC_SHOWN_NOT_PROGRAM))
            m = s->last[k].module;
    return m && (m->flags & (PCOLLECT_MODULE_MPI | PCOLLECT_MODULE_EXE)) == PCOLLECT_MODULE_MPI;
}

/* True for frames that are left out (shown.h): those of this library; those of a threading runtime
 * at the start of a thread; the code from which the kernel calls a handler. */
static bool is_left_out(const struct pc_sample_frame *outside, const struct pc_sample_frame *f)
{
    if (!f->module || is_of_library(f->module) || (outside && outside->exact))
        return true;
    return outside && outside->start && is_runtime(f);
}

/* The child of `parent` that stands for one frame, and for those of Python that it runs; 0 if there
 * is no room. */
static pcollect_ref book_frame(struct pc_thread *t, struct pc_python_booking *b,
                               pcollect_ref parent, const struct pc_sample_frame *f)
{
    if (b->stack) {
        parent = pc_python_book(t, b, parent, f->sp);
        if (!parent || pc_python_is_folded(b, f->module))
            return parent;
        b->last = 0;
    }
    pcollect_ref module = pc_publish_module(f->module);
    return module ? pc_tree_frame(t->tree, parent, module, f->pc - f->module->bias) : 0;
}

/* Contexts of threads that the MPI library made hang below a region of their own. Those of the
 * program in a thread that has left a region of OpenMP are of a task of that region, which GNU's
 * runtime runs at the region's end. */
static pcollect_ref find_root(struct pc_thread *t, bool program)
{
    static const char name[] = PCOLLECT_HELPERS_REGION;
    pcollect_ref root = t->left && program ? t->left : t->scope, part = 0;
    if (PC_UNLIKELY(t->helper) && pc_arena_string(&pc_process.arena, name, sizeof name - 1))
        part = pc_tree_part(t->tree, root, PCOLLECT_NODE_REGION,
                            pc_hash_bytes(name, sizeof name - 1, 0));
    return part ? part : root;
}

/* The Python frames of the thread, which are read with the rest of the walk. */
static struct pc_python_booking read_python(struct pc_thread *t, struct pc_sampler *s)
{
    struct pc_python_booking b = pc_python_begin(pc_python_read(t, true));
    if (PC_UNLIKELY(b.stack != NULL)) {
        s->cut |= b.stack->cut;
        s->deep |= b.stack->deep;
    }
    return b;
}

/* Books the frames outside of the innermost one, and the Python frames that the innermost one runs.
 * Returns their context; *collapsed: it is only an ancestor of it. */
static pcollect_ref book_frames(struct pc_thread *t, struct pc_sampler *s,
                                struct pc_python_booking *b, bool *collapsed)
{
    const struct pc_sample_frame *outside = NULL;
    bool starting = !s->cut;
    uint32_t program = find_program(s);
    pcollect_ref at = find_root(t, program < s->n_path);
    *collapsed = false;
    if (s->joined != NOT_JOINED) {
        outside = &s->last[s->joined];
        at = outside->start ? at : outside->context;
        starting = outside->start;
    } else if (s->cut) {
        pcollect_ref cut = pc_tree_cut(t->tree, at);
        at = cut ? cut : at;
    }
    for (uint32_t i = s->n_path; i-- > 1;) {
        struct pc_sample_frame *f = &s->path[i];
        f->start = starting = starting && pc_shown_is_start(f->module, f->pc);
        bool left_out = starting || is_left_out(outside, f) || (i > program && is_runtime(f));
        pcollect_ref child = left_out ? at : book_frame(t, b, at, f);
        if (!child) {
            *collapsed = true;
            return at;
        }
        f->context = at = child;
        outside = f;
    }
    if (b->stack && b->left) {
        pcollect_ref child = pc_python_book(t, b, at, 0);
        *collapsed = !child;
        return child ? child : at;
    }
    return at;
}

/* Makes the path, without the interrupted frame itself, the last path. */
static void keep_last_path(struct pc_sampler *s, bool complete)
{
    uint32_t n = s->joined == NOT_JOINED ? 0 : s->joined + 1;
    if (!complete || s->cut || n + s->n_path - 1 > s->max_frames) {
        s->n_last = 0;
        return;
    }
    for (uint32_t i = s->n_path; i-- > 1;)
        s->last[n++] = s->path[i];
    s->n_last = n;
}

/* The frame that called the interrupted function, if it is the library's. */
static const struct pc_sample_frame *find_own_caller(const struct pc_sampler *s)
{
    const struct pc_sample_frame *caller = s->n_path > 1             ? &s->path[1]
                                           : s->joined != NOT_JOINED ? &s->last[s->joined]
                                                                     : NULL;
    return caller && is_of_library(caller->module) ? caller : NULL;
}

/* Puts the function in which the thread waited with our signal blocked in place of the system call
 * by which the library unblocks it: the interrupt was due there. A handler of the program may have
 * left the library by longjmp: then another caller than the library is found. */
static void return_to_wait(struct pc_sampler *s)
{
    struct pc_module *module = find_own_caller(s) ? pc_loadmap_find(s->waited_in) : NULL;
    if (!module) {
        s->waited_in = 0;
        return;
    }
    s->path[0].module = module;
    s->path[0].pc = s->waited_in + 1; /* as behind its first instruction */
}

/* Walks from the interrupted instruction outwards; its frame is s->path[0]. */
static void walk(struct pc_thread *t, struct pc_sampler *s, const void *context)
{
    struct pc_walk walk;
    uint32_t generation = atomic_load_explicit(&pc_loadmap_generation, memory_order_acquire);
    pc_walk_from_context(&walk, context, t->stack);
    if (s->generation != generation) {
        s->generation = generation;
        s->n_last = 0;
    }
    walk_outwards(s, &walk);
    if (PC_UNLIKELY(s->waited_in))
        return_to_wait(s);
}

/* True if the interrupt was in the library's own code, or in a system call of its own. */
static bool is_own(const struct pc_sampler *s)
{
    const struct pc_sample_frame *caller = s->waited_in ? NULL : find_own_caller(s);
    return is_of_library(s->path[0].module) ||
           (caller && pc_walk_function_start(caller->pc) == (uintptr_t)pc_own_syscall);
}

pcollect_ref pc_sampler_parent(struct pc_thread *t, struct pc_sampler *s, const void *context)
{
    bool collapsed;
    walk(t, s, context);
    if (is_own(s))
        return 0;
    struct pc_python_booking b = read_python(t, s);
    pcollect_ref parent = book_frames(t, s, &b, &collapsed);
    pc_python_is_point(&b, s->path[0].module, &parent);
    keep_last_path(s, !collapsed);
    return collapsed ? 0 : parent;
}

struct place {
    pcollect_ref module; /* 0: none, or no room */
    uint64_t offset;
};

/* The point where the sample was taken; *parent: its caller, as far as it has been booked. A point
 * is looked up like a return address behind it, so the offset of a Python frame is reduced by
 * one. */
static struct place find_place(const struct pc_python_booking *b, const struct pc_sample_frame *f,
                               pcollect_ref *parent)
{
    if (pc_python_is_point(b, f->module, parent))
        return (struct place){pc_python_module(), b->last - 1};
    pcollect_ref module = f->module ? pc_publish_module(f->module) : 0;
    return (struct place){module, module ? f->pc - f->module->bias : 0};
}

pcollect_ref pc_sampler_point(struct pc_thread *t, struct pc_sampler *s, const void *context)
{
    walk(t, s, context);
    if (is_own(s)) {
        pc_sampler_met_own(s);
        return 0;
    }
    const struct pc_sample_frame *f = &s->path[0];
    bool collapsed;
    uint32_t program = find_program(s);
    s->in_runtime = is_in_team_runtime(s, program);
    s->in_bindings = is_in_mpi(s, program);
    struct pc_python_booking b = read_python(t, s);
    pcollect_ref parent = book_frames(t, s, &b, &collapsed);
    struct place place = find_place(&b, f, &parent);
    collapsed |= f->module && !place.module;
    pcollect_ref point = pc_tree_point(t->tree, parent, place.module, place.offset,
                                       pc_process.record_bytes - pc_process.comm_bytes, &collapsed);
    keep_last_path(s, !collapsed);
    s->counts[PC_SAMPLE_CUT] += s->cut;
    s->counts[PC_SAMPLE_DEEP] += s->deep;
    s->counts[PC_SAMPLE_NO_CODE] += !f->module;
    s->counts[PC_SAMPLE_COLLAPSED] += collapsed && point;
    s->counts[point ? PC_SAMPLE_BOOKED : PC_SAMPLE_DROPPED]++;
    return point;
}
