/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The slow half of the path cache: walk the stack, book the context in the thread's tree, enter the
 * path into the cache.
 *
 * A path is collected from the call outwards: first the words that the cache matched, then those of
 * a walk, until the walk ends or meets the last path. The tree is entered from the outermost new
 * frame inwards. Then the path becomes the new last path.
 */
#include "libcollect/context/python.h"
#include "libcollect/context/shown.h"
#include "libcollect/state/publish.h"
#include "libcollect/state/state.h"

#include <string.h>

enum { NOT_IN_POOL = UINT32_MAX, NOT_JOINED = UINT32_MAX };

/* A shared run costs a step from node to node; shorter runs are stored again instead. */
enum { LEAST_SHARED = 12 };

/* One word of a path, with what is known of the frame that it leads to. The innermost frame, that
 * of the call, has no word; it is represented by a struct word without an address. */
struct word {
    uintptr_t addr, value;
    uintptr_t sp, fp_loc;
    struct pc_module *module;
    uint32_t pool;   /* index in words[], or NOT_IN_POOL */
    uint32_t frames; /* in the last path: frames outside of this word, and its own */
    pcollect_ref context;
    uint16_t op_plus_1;
    bool relative, exact;
    bool sliced; /* in the last path: this word and all outside of it are one slice of words[] */
    bool start;  /* part of libc's start-up: not shown */
    bool in_mpi; /* from one of our wrappers up to this frame there is only the MPI library */
};

struct pc_last_path {
    uint32_t capacity;
    struct word *last; /* outermost first; n_last of struct pc_paths */
    struct word *path; /* innermost first */
    uint32_t n_path, n_matched;
    uint32_t n_frames;
    struct word call; /* the frame that made the call */
    uint32_t joined;  /* index in last of the last word of path, or NOT_JOINED */
    uint32_t barrier; /* the last path cannot be joined at or inside of this index */
    bool cacheable;   /* all that decided the walk can be expressed as words */
    bool cut, deep;   /* the outermost frames are missing */
    bool python;      /* there are frames of an interpreter of Python */
    struct pc_python_booking booking;
};

static struct pc_last_path *get_last_path(struct pc_paths *p)
{
    if (p->last_path)
        return p->last_path;
    uint32_t n = (p->max_depth + 1) * PC_STEP_MAX_WORDS;
    size_t bytes = sizeof(struct pc_last_path) + n * 2 * sizeof(struct word);
    struct pc_last_path *s = pc_memory(bytes);
    if (!s)
        return NULL;
    s->capacity = n;
    s->last = (struct word *)(s + 1);
    s->path = s->last + n;
    return p->last_path = s;
}

static struct pc_walk start_path(struct pc_last_path *s, const struct pc_paths *p,
                                 const struct pc_thread *t, const struct pc_call *call)
{
    pc_loadmap_prepare(call->ret);
    s->n_path = s->n_matched = 0;
    s->n_frames = 1;
    s->call = (struct word){.value = call->ret};
    s->joined = NOT_JOINED;
    s->barrier = pc_interpreter ? 0 : p->n_last; /* 0: no join, because of Python */
    s->cacheable = true;
    s->cut = s->deep = s->python = false;
    return (struct pc_walk){.pc = call->ret,
                            .sp = call->cfa,
                            .fp = *(const uintptr_t *)call->fp,
                            .fp_loc = call->fp,
                            .stack = t->stack};
}

/* The word that led to the current frame of the walk. */
static struct word *current_frame(struct pc_last_path *s)
{
    for (uint32_t i = s->n_path; i-- > 0;)
        if (!s->path[i].relative)
            return &s->path[i];
    return &s->call;
}

static void from_pool(struct word *out, const struct pc_paths *p, uint32_t pool, uintptr_t base,
                      struct pc_module *module)
{
    const struct pc_path_word *w = &p->words[pool];
    const struct pc_path_resume *r = &p->resume[pool];
    out->addr = base + (intptr_t)w->place;
    out->value = w->value + (base & (uintptr_t)(intptr_t)w->relative);
    out->sp = base + (intptr_t)r->sp_place;
    out->fp_loc = base + (intptr_t)r->fp_place;
    out->module = module;
    out->pool = pool;
    out->op_plus_1 = r->op_plus_1;
    out->relative = w->relative;
    out->exact = r->exact;
}

/* Takes over the words that the cache matched, up to the miss, and moves the walk there. False: the
 * path is longer than any that could have been entered. */
static bool take_matched(struct pc_last_path *s, const struct pc_paths *p, struct pc_path_miss miss,
                         uintptr_t cfa, struct pc_walk *walk)
{
    uint32_t n = miss.node ? miss.word : 0;
    for (uint32_t up = miss.node ? p->nodes[miss.node].parent : 0; up; up = p->nodes[up].parent)
        n += p->nodes[up].n_words;
    if (n >= s->capacity)
        return false;
    s->n_path = s->n_matched = n;
    uint32_t in_node = miss.word;
    uint16_t number = 0;
    struct pc_module *module = NULL; /* of that number; mostly unchanged */
    for (uint32_t node = miss.node; node; node = p->nodes[node].parent) {
        const struct pc_path_node *from = &p->nodes[node];
        if (node != miss.node)
            in_node = from->n_words;
        while (in_node > 0) {
            uint32_t pool = from->first + --in_node;
            if (p->resume[pool].module != number) {
                number = p->resume[pool].module;
                module = pc_loadmap_numbered(number);
            }
            from_pool(&s->path[--n], p, pool, cfa + (intptr_t)from->base, module);
            s->n_frames += !s->path[n].relative;
        }
    }
    const struct word *at = current_frame(s);
    if (at != &s->call) {
        walk->pc = at->value;
        walk->sp = at->sp;
        walk->fp_loc = at->fp_loc;
        walk->fp = *(const uintptr_t *)at->fp_loc;
        walk->exact = at->exact;
    }
    return true;
}

/* 1 + the primitive if the frame just left is one of our wrappers, else 0. */
static uint16_t wrapped_op(const struct pc_thread *t, const struct pc_module *module, uintptr_t sp)
{
    if (!module || !(module->flags & PCOLLECT_MODULE_OWN))
        return 0;
    for (uint32_t i = t->depth; i-- > 0;)
        if (t->active[i].cfa == sp)
            return (uint16_t)(t->active[i].op + 1);
    return 0;
}

/* Adds the words of one step, except those of this frame that are already in the path: saved
 * addresses that the cache matched before it missed at the return address. */
static void add_words(struct pc_last_path *s, const struct pc_step *step,
                      const struct pc_walk *after)
{
    int known = 0;
    while (s->n_path > (uint32_t)known && s->n_path <= s->n_matched &&
           s->path[s->n_path - 1 - (uint32_t)known].relative)
        known++;
    for (int i = known; i < step->n_words; i++) {
        const struct pc_word *w = &step->words[i];
        s->path[s->n_path++] = (struct word){.addr = w->addr,
                                             .value = w->value,
                                             .sp = after->sp,
                                             .fp_loc = after->fp_loc,
                                             .pool = NOT_IN_POOL,
                                             .relative = w->kind == PC_WORD_STACK,
                                             .exact = after->exact};
    }
    if (step->registers)
        s->cacheable = false;
    s->n_frames++;
}

/* True if the walk has come to a frame of the last path outside of which nothing has changed. */
static bool join(struct pc_last_path *s, uint32_t max_depth)
{
    const struct word *w = &s->path[s->n_path - 1];
    uint32_t j = s->barrier;
    while (j > 0 && s->last[j - 1].addr < w->addr)
        j--;
    s->barrier = j;
    if (j-- == 0)
        return false;
    const struct word *v = &s->last[j];
    if (v->addr != w->addr || v->value != w->value || v->relative || v->sp != w->sp ||
        v->fp_loc != w->fp_loc || v->exact != w->exact || s->n_frames + v->frames > max_depth)
        return false;
    for (uint32_t k = j; k-- > 0;)
        if (*(const uintptr_t *)s->last[k].addr != s->last[k].value) {
            s->barrier = k;
            return false;
        }
    s->joined = j;
    return true;
}

static void walk_outwards(const struct pc_thread *t, struct pc_last_path *s, struct pc_walk *walk)
{
    uint32_t max_depth = t->paths.max_depth;
    struct word *frame = current_frame(s);
    for (;;) {
        struct pc_step step;
        enum pc_step_result result = pc_walk_step(walk, &step);
        frame->module = step.module;
        if (result != PC_STEP_OK) {
            s->cut = result == PC_STEP_CUT && !pc_shown_is_loader(step.module);
            return;
        }
        frame->op_plus_1 = wrapped_op(t, step.module, walk->sp);
        if (s->n_frames >= max_depth || s->n_path + PC_STEP_MAX_WORDS > s->capacity) {
            s->cut = s->deep = true;
            return;
        }
        add_words(s, &step, walk);
        frame = &s->path[s->n_path - 1];
        if (join(s, max_depth))
            return;
    }
}

/* ---- The tree -------------------------------------------------------------------------------- */

/* The child of `parent` that stands for one frame; `parent` itself if the frame is not shown, 0 if
 * there is no room. */
static inline __attribute__((always_inline)) pcollect_ref
book_frame(struct pc_thread *t, struct pc_last_path *s, pcollect_ref parent, const struct word *f)
{
    bool collapsed = false;
    if (s->booking.stack) {
        parent = pc_python_book(t, &s->booking, parent, f == &s->call ? 0 : f->sp);
        if (!parent || pc_python_is_folded(&s->booking, f->module))
            return parent;
    }
    if (f->op_plus_1) {
        uint16_t op = (uint16_t)(f->op_plus_1 - 1);
        return pc_tree_op(t->tree, parent, op, pc_process.record_bytes, &collapsed);
    }
    if (!f->module || f->in_mpi || f->module->flags & PC_SHOWN_NOT_IN_CALLS)
        return parent;
    pcollect_ref module = pc_published_module(f->module);
    if (!module)
        return 0;
    return pc_tree_frame(t->tree, parent, module, f->value - f->module->bias);
}

static bool is_in_mpi(const struct word *outside, const struct word *frame)
{
    if (!outside || !frame->module)
        return false;
    if (outside->start)
        return frame->module->flags & (PCOLLECT_MODULE_MPI | PCOLLECT_MODULE_RUNTIME);
    return (outside->in_mpi || outside->op_plus_1) &&
           (frame->module->flags & PC_SHOWN_INSIDE_MPI || pc_shown_is_vdso(frame->module));
}

/* The Python frames of the thread, where the path has frames of the interpreter. */
static void read_python(struct pc_thread *t, struct pc_last_path *s)
{
    s->booking = pc_python_begin(NULL);
    if (PC_LIKELY(!pc_interpreter))
        return;
    bool interrupted = false;
    s->python = s->call.module == pc_interpreter;
    for (uint32_t i = 0; i < s->n_path; i++) {
        s->python |= s->path[i].module == pc_interpreter;
        interrupted |= s->path[i].exact;
    }
    if (s->python)
        s->booking = pc_python_begin(pc_python_read(t, interrupted));
    if (s->python && interrupted)
        s->cacheable = false; /* pc_python_leaf assumes that no handler has interrupted the call */
    if (s->booking.stack) {
        s->cut |= s->booking.stack->cut;
        s->deep |= s->booking.stack->deep;
    }
}

/* Books the frames of the path, and notes at each word the context that ends with it. Returns the
 * innermost context that found room; *full says that it is not the call's own. */
static pcollect_ref book_frames(struct pc_thread *t, struct pc_last_path *s, bool *full)
{
    pcollect_ref at = t->scope;
    uint32_t i = s->n_path;
    const struct word *outside = NULL;
    *full = false;
    read_python(t, s);
    bool starting = !s->cut;
    if (s->joined != NOT_JOINED) {
        outside = &s->last[s->joined];
        at = s->last[s->joined].context;
        starting = s->last[s->joined].start;
        i--;
    } else if (s->cut) {
        pcollect_ref cut = pc_tree_cut(t->tree, t->scope);
        at = cut ? cut : at;
    }
    while (i-- > 0) {
        struct word *w = &s->path[i];
        if (w->relative)
            continue;
        w->start = starting = starting && pc_shown_is_start(w->module, w->value);
        w->in_mpi = is_in_mpi(outside, w);
        /* The frame outside was interrupted, it did not call: so this frame is the code from which
         * the kernel calls the handler, in libc or the vdso. */
        bool trampoline = outside && outside->exact;
        outside = w;
        if (!starting && !trampoline) {
            pcollect_ref child = book_frame(t, s, at, w);
            if (!child) {
                *full = true;
                return at;
            }
            at = child;
        }
        w->context = at;
    }
    pcollect_ref child = book_frame(t, s, at, &s->call);
    *full = !child;
    return child ? child : at;
}

static struct pc_path_leaf book_path(struct pc_thread *t, struct pc_last_path *s, uint16_t op)
{
    struct pc_path_leaf leaf = {0, 0, NULL};
    bool collapsed;
    if (!s->call.module)
        s->call.module = pc_loadmap_find(s->call.value);
    pcollect_ref at = book_frames(t, s, &collapsed);
    if (pc_publish_op(op))
        leaf.node = pc_tree_op(t->tree, at, op, pc_process.record_bytes, &collapsed);
    if (leaf.node)
        leaf.record = pc_tree_record(t->tree, leaf.node);
    leaf.flags = (collapsed ? PC_PATH_COLLAPSED : 0) | (s->python ? PC_PATH_PYTHON : 0);
    return leaf;
}

/* ---- The cache ------------------------------------------------------------------------------- */

static bool place_of(uintptr_t addr, uintptr_t base, int32_t *out)
{
    intptr_t distance = (intptr_t)(addr - base);
    *out = (int32_t)distance;
    return distance == *out && !(distance & 7);
}

/* Puts n words into the pool, from `w` on in steps of `step`. UINT32_MAX: no room, or a place
 * cannot be expressed. */
static uint32_t to_pool(struct pc_paths *p, struct word *w, uint32_t n, int step)
{
    uintptr_t base = w->addr;
    if (!pc_paths_reserve(p, n))
        return NOT_IN_POOL;
    uint32_t first = p->n_words;
    for (uint32_t i = 0; i < n; i++, w += step) {
        struct pc_path_word *word = &p->words[first + i];
        struct pc_path_resume *r = &p->resume[first + i];
        r->module = pc_loadmap_number(w->module);
        r->op_plus_1 = w->op_plus_1;
        r->exact = w->exact;
        if (!place_of(w->addr, base, &word->place) || !place_of(w->sp, base, &r->sp_place) ||
            !place_of(w->fp_loc, base, &r->fp_place)) {
            for (; i > 0; i--)
                (w -= step)->pool = NOT_IN_POOL;
            return NOT_IN_POOL;
        }
        word->relative = w->relative ? -1 : 0;
        word->value = w->relative ? w->value - base : w->value;
        w->pool = first + i;
    }
    p->n_words += n;
    return first;
}

static uintptr_t base_of(const struct pc_paths *p, const struct word *w)
{
    return w->addr - (uintptr_t)(intptr_t)p->words[w->pool].place;
}

/* True if a word of the last path and all outside of it are one slice of the pool. */
static bool is_sliced(const struct pc_paths *p, const struct word *last, uint32_t i)
{
    const struct word *w = &last[i];
    if (w->pool == NOT_IN_POOL || i == 0)
        return w->pool != NOT_IN_POOL;
    return w[-1].sliced && w[-1].pool == w->pool + 1 && base_of(p, w - 1) == base_of(p, w);
}

static bool make_run(struct pc_paths *p, struct word *w, uint32_t n, int step, uintptr_t cfa,
                     struct pc_path_run *run)
{
    bool shared = step < 0 && w->sliced && w->pool != NOT_IN_POOL;
    run->first = shared ? w->pool : to_pool(p, w, n, step);
    run->n_words = n;
    if (run->first != NOT_IN_POOL && step < 0)
        for (uint32_t i = 0; !shared && i < n; i++)
            w[-(ptrdiff_t)i].sliced = true;
    return run->first != NOT_IN_POOL && place_of(base_of(p, w), cfa, &run->base);
}

/* Copies a short outer part into the path itself. */
static void copy_short_tail(struct pc_last_path *s)
{
    uint32_t j = s->joined;
    if (j == NOT_JOINED || j + 1 >= LEAST_SHARED || s->n_path + j > s->capacity)
        return;
    s->path[s->n_path - 1] = s->last[j];
    while (j-- > 0)
        s->path[s->n_path++] = s->last[j];
    s->joined = NOT_JOINED;
}

static bool enter_path(struct pc_paths *p, struct pc_last_path *s, struct pc_path_root *root,
                       struct pc_path_miss miss, uintptr_t cfa, struct pc_path_leaf leaf)
{
    struct pc_path_run runs[2] = {{0, 0, 0}};
    int n_runs = 0;
    copy_short_tail(s);
    bool joined = s->joined != NOT_JOINED;
    uint32_t n_new = s->n_path - s->n_matched - joined;
    if (n_new && !make_run(p, &s->path[s->n_matched], n_new, 1, cfa, &runs[n_runs++]))
        return false;
    if (joined && !make_run(p, &s->last[s->joined], s->joined + 1, -1, cfa, &runs[n_runs++]))
        return false;
    return pc_paths_enter(p, root, miss, runs, n_runs ? n_runs : 1, leaf);
}

/* Makes the path the last path. */
static void keep_last_path(struct pc_paths *p, struct pc_last_path *s)
{
    uint32_t n = 0, i = s->n_path, frames = 0;
    if (s->joined != NOT_JOINED) {
        n = s->joined + 1;
        frames = s->last[s->joined].frames;
        i--;
    }
    if (n + i > s->capacity || s->cut || s->python)
        n = i = 0;
    while (i-- > 0) {
        frames += !s->path[i].relative;
        s->path[i].frames = frames;
        s->last[n] = s->path[i];
        s->last[n].sliced = is_sliced(p, s->last, n);
        n++;
    }
    p->n_last = n;
}

struct pc_path_leaf pc_paths_miss(struct pc_thread *t, const struct pc_call *call, unsigned slot,
                                  struct pc_path_root *root, struct pc_path_miss miss)
{
    struct pc_paths *p = &t->paths;
    struct pc_last_path *s = get_last_path(p);
    struct pc_path_leaf leaf = {0, 0, NULL};
    if (!s)
        return leaf;
    struct pc_walk walk = start_path(s, p, t, call);
    if (!take_matched(s, p, miss, call->cfa, &walk))
        return leaf;
    walk_outwards(t, s, &walk);
    leaf = book_path(t, s, PC_SLOT_OP(slot));
    bool entered = leaf.node && s->cacheable && enter_path(p, s, root, miss, call->cfa, leaf);
    if (s->cut)
        pc_lost(s->deep ? PCOLLECT_LOST_DEEP : PCOLLECT_LOST_CUT, 1);
    if (!entered)
        pc_lost(PCOLLECT_LOST_UNCACHED, 1);
    if (!entered && p->n_words + s->capacity > p->max_words)
        pc_paths_clear(p);
    else if (leaf.node && s->cacheable && !(leaf.flags & PC_PATH_COLLAPSED))
        keep_last_path(p, s);
    else
        p->n_last = 0;
    return leaf;
}

struct pc_path_leaf pc_paths_walk(struct pc_thread *t, const struct pc_call *call, unsigned slot)
{
    struct pc_last_path *s = get_last_path(&t->paths);
    if (!s)
        return (struct pc_path_leaf){0, 0, NULL};
    struct pc_walk walk = start_path(s, &t->paths, t, call);
    s->barrier = 0; /* the walk never joins the last path */
    walk_outwards(t, s, &walk);
    return book_path(t, s, PC_SLOT_OP(slot));
}

pcollect_ref pc_paths_context(struct pc_thread *t, const struct pc_call *call)
{
    struct pc_paths *p = &t->paths;
    struct pc_last_path *s = get_last_path(p);
    bool full;
    if (!s)
        return 0;
    struct pc_walk walk = start_path(s, p, t, call);
    walk_outwards(t, s, &walk);
    if (!s->call.module)
        s->call.module = pc_loadmap_find(s->call.value);
    pcollect_ref context = book_frames(t, s, &full);
    if (s->cacheable && !full)
        keep_last_path(p, s);
    else
        p->n_last = 0;
    return full ? 0 : context;
}
