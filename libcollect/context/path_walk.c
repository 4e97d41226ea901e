/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The slow half of the path cache: walk the stack, book the context in the thread's tree, enter the
 * path into the cache.
 *
 * A walk goes on where the cache missed, outwards until it ends or meets the last path. Then the
 * path becomes the last path: outside of where they meet both are the same, and what the walk has
 * found and what the cache had matched replace the rest. There the tree is entered from the
 * outermost new frame inwards, and from there the new words get into the cache.
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
    struct pc_path_resume to;
    uint32_t pool;   /* index in words[], or NOT_IN_POOL */
    uint32_t frames; /* in the last path: frames outside of this word, and its own */
    pcollect_ref context;
    bool relative;
    bool sliced; /* in the last path: this word and all outside of it are one slice of words[] */
    bool plain;  /* this word and those outside of it in its run are return addresses */
    bool start;  /* part of libc's start-up: not shown */
    bool in_mpi; /* from one of our wrappers up to this frame there is only the MPI library */
};

struct pc_last_path {
    uint32_t capacity;
    struct word *last;   /* outermost first; n_last of struct pc_paths */
    struct word *walked; /* words of the walk, from the first that differs outwards */
    uint32_t n_walked;
    uint32_t n_matched; /* words inside of them, which the cache has matched */
    uint32_t n_saved;   /* saved addresses among these that belong to the first step of the walk */
    uint32_t n_path;    /* words of the path when it is in `last` */
    uint32_t n_frames;
    struct word call; /* the frame that made the call */
    struct word from; /* the frame where the walk begins, if it is another one */
    uint32_t joined;  /* index in last of the last word of walked, or NOT_JOINED */
    uint32_t barrier; /* the last path cannot be joined at or inside of this index */
    bool cacheable;   /* all that decided the walk can be expressed as words */
    bool cut, deep;   /* the outermost frames are missing */
    bool python;      /* there are frames of an interpreter of Python */
    uint16_t number;  /* a module, and its number: mostly that of the next frame, too */
    struct pc_module *module;
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
    s->walked = s->last + n;
    return p->last_path = s;
}

static struct pc_walk start_path(struct pc_last_path *s, const struct pc_paths *p,
                                 const struct pc_thread *t, const struct pc_call *call)
{
    pc_loadmap_prepare(call->ret);
    s->n_walked = s->n_matched = s->n_saved = 0;
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

/* The module of the frame that a word leads to; NULL: none. */
static inline struct pc_module *module_of(struct pc_last_path *s, const struct word *w)
{
    if (PC_UNLIKELY(w->to.module != s->number)) {
        s->number = w->to.module;
        s->module = pc_loadmap_numbered(s->number);
    }
    return s->module;
}

/* Makes a word of the path of word `at` of the pool. */
static inline void from_pool(struct word *out, const struct pc_paths *p, uint32_t at,
                             uintptr_t base)
{
    const struct pc_path_word *word = &p->words[at];
    uintptr_t relative = (uintptr_t)(intptr_t)word->relative;
    out->addr = base + (intptr_t)word->place;
    out->value = word->value + (base & relative);
    out->to = p->resume[at];
    out->pool = at;
    out->relative = relative;
    out->sliced = out->start = out->in_mpi = false;
}

/* Return addresses among the first n words of a node. */
static uint32_t count_frames(const struct pc_paths *p, const struct pc_path_node *node, uint32_t n)
{
    uint32_t n_frames = n;
    if (node->n_plain != node->n_words)
        for (uint32_t i = 0; i < n; i++)
            n_frames += (uint32_t)p->words[node->first + i].relative;
    return n_frames;
}

/* Moves the walk to the outermost frame that the cache matched before the miss. False: the path is
 * longer than any that could have been entered. */
static bool skip_matched(struct pc_last_path *s, const struct pc_paths *p, struct pc_path_miss miss,
                         uintptr_t cfa, struct pc_walk *walk)
{
    struct word *at = &s->from;
    bool found = false;
    const struct pc_path_node *in = &p->nodes[miss.node];
    for (uint32_t n = miss.word; in != p->nodes; in = &p->nodes[in->parent], n = in->n_words) {
        s->n_matched += n;
        s->n_frames += count_frames(p, in, n);
        for (uint32_t i = n; !found && i-- > 0;) {
            found = !p->words[in->first + i].relative;
            if (found)
                from_pool(at, p, in->first + i, cfa + (intptr_t)in->base);
            else
                s->n_saved++;
        }
    }
    if (found) {
        walk->pc = at->value;
        walk->sp = at->addr + (intptr_t)at->to.sp_place;
        walk->fp_loc = at->addr + (intptr_t)at->to.fp_place;
        walk->fp = *(const uintptr_t *)walk->fp_loc;
        walk->exact = at->to.exact;
    }
    return s->n_matched < s->capacity;
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

/* A place as a distance; false: it is too far away. */
static bool place_of(uintptr_t addr, uintptr_t base, int32_t *out)
{
    intptr_t distance = (intptr_t)(addr - base);
    *out = (int32_t)distance;
    return distance == *out && !(distance & 7);
}

/* Adds the words of one step, except those of this frame that are already in the path: saved
 * addresses that the cache matched before it missed at the return address. */
static void add_words(struct pc_last_path *s, const struct pc_step *step,
                      const struct pc_walk *after)
{
    for (int i = (int)s->n_saved; i < step->n_words; i++) {
        const struct pc_word *w = &step->words[i];
        struct word *out = &s->walked[s->n_walked++];
        *out = (struct word){.addr = w->addr,
                             .value = w->value,
                             .to = {.exact = after->exact},
                             .pool = NOT_IN_POOL,
                             .relative = w->kind == PC_WORD_STACK};
        if (!place_of(after->sp, w->addr, &out->to.sp_place) ||
            !place_of(after->fp_loc, w->addr, &out->to.fp_place))
            s->cacheable = false;
    }
    if (step->registers)
        s->cacheable = false;
    s->n_saved = 0;
    s->n_frames++;
}

/* True if the walk has come to a frame of the last path outside of which nothing has changed. Looks
 * first where it is if both paths are equal inside of it. */
static bool join(struct pc_last_path *s, uint32_t n_last, uint32_t max_depth)
{
    const struct word *w = &s->walked[s->n_walked - 1];
    uint32_t n = s->n_matched + s->n_walked, j = s->barrier, likely = n_last - n + 1;
    if (n <= n_last && likely < j && s->last[likely].addr < w->addr)
        j = likely;
    while (j > 0 && s->last[j - 1].addr < w->addr)
        j--;
    s->barrier = j;
    if (j-- == 0)
        return false;
    const struct word *v = &s->last[j];
    if (v->addr != w->addr || v->value != w->value || v->relative ||
        v->to.sp_place != w->to.sp_place || v->to.fp_place != w->to.fp_place ||
        v->to.exact != w->to.exact || s->n_frames + v->frames > max_depth || j + n > s->capacity)
        return false;
    while (v != s->last) {
        v--;
        if (*(const uintptr_t *)v->addr != v->value) {
            s->barrier = (uint32_t)(v - s->last);
            return false;
        }
    }
    s->joined = j;
    return true;
}

static void walk_outwards(const struct pc_thread *t, struct pc_last_path *s, struct pc_walk *walk)
{
    uint32_t max_depth = t->paths.max_depth;
    struct word *frame = s->n_matched > s->n_saved ? &s->from : &s->call;
    for (;;) {
        struct pc_step step;
        enum pc_step_result result = pc_walk_step(walk, &step);
        frame->to.module = pc_loadmap_number(step.module);
        if (result != PC_STEP_OK) {
            s->cut = result == PC_STEP_CUT && !pc_shown_is_loader(step.module);
            return;
        }
        frame->to.op_plus_1 = wrapped_op(t, step.module, walk->sp);
        if (s->n_frames >= max_depth ||
            s->n_matched + s->n_walked + PC_STEP_MAX_WORDS > s->capacity) {
            s->cut = s->deep = true;
            return;
        }
        add_words(s, &step, walk);
        if (PC_UNLIKELY(!s->n_walked))
            continue; /* the step was decided by registers alone */
        frame = &s->walked[s->n_walked - 1];
        if (join(s, t->paths.n_last, max_depth))
            return;
    }
}

/* Makes the path the last path. */
static void lay_out(struct pc_last_path *s, const struct pc_paths *p, struct pc_path_miss miss,
                    uintptr_t cfa)
{
    struct word *out = s->last;
    uint32_t frames = 0, i = s->n_walked;
    if (s->joined != NOT_JOINED) {
        out += s->joined;
        frames = out++->frames;
        i--;
    }
    while (i-- > 0) {
        *out = s->walked[i];
        out->frames = frames += !out->relative;
        out++;
    }
    const struct pc_path_node *in = &p->nodes[miss.node];
    for (uint32_t n = miss.word; in != p->nodes; in = &p->nodes[in->parent], n = in->n_words) {
        uintptr_t base = cfa + (intptr_t)in->base;
        for (uint32_t at = in->first + n; at-- > in->first; out++) {
            from_pool(out, p, at, base);
            out->frames = frames += !out->relative;
        }
    }
    s->n_path = (uint32_t)(out - s->last);
}

/* ---- The tree -------------------------------------------------------------------------------- */

/* The child of `parent` that stands for one frame; `parent` itself if the frame is not shown, 0 if
 * there is no room. */
static pcollect_ref book_frame(struct pc_thread *t, struct pc_last_path *s, pcollect_ref parent,
                               const struct word *f)
{
    bool collapsed = false;
    struct pc_module *module = module_of(s, f);
    if (s->booking.stack) {
        uintptr_t sp = f == &s->call ? 0 : f->addr + (intptr_t)f->to.sp_place;
        parent = pc_python_book(t, &s->booking, parent, sp);
        if (!parent || pc_python_is_folded(&s->booking, module))
            return parent;
    }
    if (f->to.op_plus_1) {
        uint16_t op = (uint16_t)(f->to.op_plus_1 - 1);
        return pc_tree_op(t->tree, parent, op, pc_process.record_bytes, &collapsed);
    }
    if (!module || f->in_mpi || module->flags & PC_SHOWN_NOT_IN_CALLS)
        return parent;
    pcollect_ref published = pc_published_module(module);
    if (!published)
        return 0;
    return pc_tree_frame(t->tree, parent, published, f->value - module->bias);
}

static bool is_in_mpi(const struct word *outside, const struct pc_module *module)
{
    if (!outside || !module)
        return false;
    if (outside->start)
        return module->flags & (PCOLLECT_MODULE_MPI | PCOLLECT_MODULE_RUNTIME);
    return (outside->in_mpi || outside->to.op_plus_1) &&
           (module->flags & PC_SHOWN_INSIDE_MPI || pc_shown_is_vdso(module));
}

/* The Python frames of the thread, where the path has frames of the interpreter. */
static void read_python(struct pc_thread *t, struct pc_last_path *s)
{
    s->booking = pc_python_begin(NULL);
    if (PC_LIKELY(!pc_interpreter))
        return;
    bool interrupted = false;
    uint16_t interpreter = pc_loadmap_number(pc_interpreter);
    s->python = s->call.to.module == interpreter;
    for (uint32_t i = 0; i < s->n_path; i++) {
        s->python |= s->last[i].to.module == interpreter;
        interrupted |= s->last[i].to.exact;
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

/* Books the frame that a word of the path leads to, inside of that of `outside` (NULL: there is
 * none). Returns as book_frame does. */
static __attribute__((noinline)) pcollect_ref book_word(struct pc_thread *t, struct pc_last_path *s,
                                                        pcollect_ref at, const struct word *outside,
                                                        struct word *w)
{
    const struct pc_module *module = module_of(s, w);
    bool starting = outside ? outside->start : !s->cut;
    w->start = starting && pc_shown_is_start(module, w->value);
    w->in_mpi = is_in_mpi(outside, module);
    /* The frame outside was interrupted, it did not call: so this frame is the code from which the
     * kernel calls the handler, in libc or the vdso. */
    bool trampoline = outside && outside->to.exact;
    return w->start || trampoline ? at : book_frame(t, s, at, w);
}

/* The module of a frame, if frames of the same module inside of it are shown as they are. */
struct shown {
    uint16_t number; /* 0: they may not be */
    pcollect_ref published;
    uintptr_t bias;
};

static struct shown shown_inside(struct pc_last_path *s, const struct word *w)
{
    struct pc_module *module = module_of(s, w);
    if (s->booking.stack || w->start || w->in_mpi || w->to.op_plus_1 || w->to.exact || !module ||
        module->flags & PC_SHOWN_NOT_IN_CALLS)
        return (struct shown){0, 0, 0};
    pcollect_ref published = pc_published_module(module);
    return (struct shown){published ? w->to.module : 0, published, module->bias};
}

/* Books the frames of the path, and notes at each word the context that ends with it. Returns the
 * innermost context that found room; *full says that it is not the call's own. */
static pcollect_ref book_frames(struct pc_thread *t, struct pc_last_path *s, bool *full)
{
    pcollect_ref at = t->scope, child;
    struct word *w = s->last, *end = w + s->n_path;
    const struct word *outside = NULL;
    struct shown shown = {0, 0, 0};
    *full = false;
    read_python(t, s);
    if (s->joined != NOT_JOINED) {
        w += s->joined;
        outside = w++;
        shown = shown_inside(s, outside);
        at = outside->context;
    } else if (s->cut) {
        pcollect_ref cut = pc_tree_cut(t->tree, t->scope);
        at = cut ? cut : at;
    }
    for (; w != end; w++) {
        if (w->relative)
            continue;
        if (PC_LIKELY(shown.number && w->to.module == shown.number && !w->to.op_plus_1)) {
            child = pc_tree_frame(t->tree, at, shown.published, w->value - shown.bias);
            if (w->to.exact)
                shown.number = 0;
        } else {
            child = book_word(t, s, at, outside, w);
            shown = shown_inside(s, w);
        }
        *full = !child;
        if (!child)
            return at;
        at = w->context = child;
        outside = w;
    }
    child = book_frame(t, s, at, &s->call);
    *full = !child;
    return child ? child : at;
}

/* Finds the module of the frame that made the call, if no step has left it: mostly that of the
 * frame outside of it. */
static void find_call(struct pc_last_path *s)
{
    const struct pc_module *likely = s->n_path ? module_of(s, &s->last[s->n_path - 1]) : NULL;
    if (s->call.to.module)
        return;
    if (!likely || s->call.value < likely->lo || s->call.value >= likely->hi)
        likely = pc_loadmap_find(s->call.value);
    s->call.to.module = pc_loadmap_number(likely);
}

static struct pc_path_leaf book_path(struct pc_thread *t, struct pc_last_path *s, uint16_t op)
{
    struct pc_path_leaf leaf = {0, 0, NULL};
    bool collapsed;
    find_call(s);
    pcollect_ref at = book_frames(t, s, &collapsed);
    if (pc_publish_op(op))
        leaf.node = pc_tree_op(t->tree, at, op, pc_process.record_bytes, &collapsed);
    if (leaf.node)
        leaf.record = pc_tree_record(t->tree, leaf.node);
    leaf.flags = (collapsed ? PC_PATH_COLLAPSED : 0) | (s->python ? PC_PATH_PYTHON : 0);
    return leaf;
}

/* ---- The cache ------------------------------------------------------------------------------- */

/* Puts n words into the pool, from `w` outwards. NOT_IN_POOL: no room, or a place cannot be
 * expressed. */
static uint32_t to_pool(struct pc_paths *p, struct word *w, uint32_t n)
{
    uintptr_t base = w->addr;
    if (!pc_paths_reserve(p, n))
        return NOT_IN_POOL;
    uint32_t first = p->n_words;
    for (uint32_t i = 0; i < n; i++, w--) {
        struct pc_path_word *word = &p->words[first + i];
        p->resume[first + i] = w->to;
        if (!place_of(w->addr, base, &word->place)) {
            for (; i > 0; i--)
                (++w)->pool = NOT_IN_POOL;
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

/* A run of the n words from `w` outwards. `ends`: the last of them is the path's outermost; then a
 * slice that is in the pool already is used again. */
static bool make_run(struct pc_paths *p, struct word *w, uint32_t n, bool ends, uintptr_t cfa,
                     struct pc_path_run *run)
{
    bool shared = w->sliced && w->pool != NOT_IN_POOL;
    run->first = shared ? w->pool : to_pool(p, w, n);
    run->n_words = n;
    if (run->first == NOT_IN_POOL)
        return false;
    bool plain = true;
    for (struct word *v = w - n + 1; !shared && v <= w; v++) {
        v->sliced = ends;
        v->plain = plain = plain && !v->relative;
    }
    run->plain = w->plain;
    return place_of(base_of(p, w), cfa, &run->base);
}

static bool enter_path(struct pc_paths *p, struct pc_last_path *s, struct pc_path_root *root,
                       struct pc_path_miss miss, uintptr_t cfa, struct pc_path_leaf leaf)
{
    struct pc_path_run runs[2] = {{0, 0, 0, false}};
    int n_runs = 0;
    uint32_t n_new = s->n_path - s->n_matched, n_shared = 0;
    if (s->joined != NOT_JOINED && s->joined + 1 >= LEAST_SHARED)
        n_shared = s->joined + 1;
    n_new -= n_shared;
    if (n_new &&
        !make_run(p, &s->last[n_shared + n_new - 1], n_new, !n_shared, cfa, &runs[n_runs++]))
        return false;
    if (n_shared && !make_run(p, &s->last[n_shared - 1], n_shared, true, cfa, &runs[n_runs++]))
        return false;
    return pc_paths_enter(p, root, miss, runs, n_runs ? n_runs : 1, leaf);
}

/* Says how much of the last path holds, as the path is in its place. */
static void keep_last_path(struct pc_paths *p, const struct pc_last_path *s, bool valid)
{
    p->n_last = valid && s->cacheable && !s->cut && !s->python ? s->n_path : 0;
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
    if (!skip_matched(s, p, miss, call->cfa, &walk))
        return leaf;
    walk_outwards(t, s, &walk);
    lay_out(s, p, miss, call->cfa);
    leaf = book_path(t, s, PC_SLOT_OP(slot));
    bool entered = leaf.node && s->cacheable && enter_path(p, s, root, miss, call->cfa, leaf);
    if (s->cut)
        pc_lost(s->deep ? PCOLLECT_LOST_DEEP : PCOLLECT_LOST_CUT, 1);
    if (!entered)
        pc_lost(PCOLLECT_LOST_UNCACHED, 1);
    if (!entered && p->n_words + s->capacity > p->max_words)
        pc_paths_clear(p);
    else
        keep_last_path(p, s, leaf.node && !(leaf.flags & PC_PATH_COLLAPSED));
    return leaf;
}

struct pc_path_leaf pc_paths_walk(struct pc_thread *t, const struct pc_call *call, unsigned slot)
{
    struct pc_paths *p = &t->paths;
    struct pc_last_path *s = get_last_path(p);
    if (!s)
        return (struct pc_path_leaf){0, 0, NULL};
    struct pc_walk walk = start_path(s, p, t, call);
    s->barrier = 0; /* the walk never joins the last path */
    walk_outwards(t, s, &walk);
    lay_out(s, p, (struct pc_path_miss){0, 0}, call->cfa);
    p->n_last = 0; /* this path has overwritten it */
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
    lay_out(s, p, (struct pc_path_miss){0, 0}, call->cfa);
    find_call(s);
    pcollect_ref context = book_frames(t, s, &full);
    keep_last_path(p, s, !full);
    return full ? 0 : context;
}
