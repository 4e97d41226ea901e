/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The slow half of the path cache: walk the stack, book the context in the thread's tree, enter the
 * path into the cache.
 *
 * A walk collects frames from the call outwards, the tree is entered from the outermost frame
 * inwards. Between the two the frames lie in the thread's scratch memory.
 */
#include "libcollect/core_private.h"

#include <string.h>
#include <sys/auxv.h>

struct frame {
    struct pc_module *module;
    uintptr_t pc;
    uint16_t op_plus_1;
};

struct pc_path_scratch {
    uint32_t n_frames, n_words;
    uint32_t max_frames, max_words;
    struct frame *frames;
    struct pc_path_word *words;
    struct pc_path_resume *resume;
    uint32_t *chain;
    uint32_t current;   /* index in resume[] of the word that led to the current frame */
    bool cacheable;     /* all that decided the walk can be put into words */
    bool cut, deep;     /* the outermost frames are missing */
    uint32_t n_matched; /* words of the current frame that the cache has already */
};

enum { NO_WORD = UINT32_MAX };

static struct pc_path_scratch *get_scratch(struct pc_paths *p)
{
    if (p->scratch)
        return p->scratch;
    uint32_t frames = p->max_depth + 1, words = frames * PC_STEP_MAX_WORDS;
    size_t bytes =
        sizeof(struct pc_path_scratch) + frames * sizeof(struct frame) +
        words * (sizeof(struct pc_path_word) + sizeof(struct pc_path_resume) + sizeof(uint32_t));
    struct pc_path_scratch *s = pc_memory(bytes);
    if (!s)
        return NULL;
    s->max_frames = frames;
    s->max_words = words;
    s->frames = (struct frame *)(s + 1);
    s->words = (struct pc_path_word *)(s->frames + frames);
    s->resume = (struct pc_path_resume *)(s->words + words);
    s->chain = (uint32_t *)(s->resume + words);
    return p->scratch = s;
}

/* Where a walk begins: the frame that made the call. */
static struct pc_walk first_frame(const struct pc_thread *t, const struct pc_call *call)
{
    return (struct pc_walk){.pc = call->ret,
                            .sp = call->cfa,
                            .fp = *(const uintptr_t *)call->fp,
                            .fp_loc = call->fp,
                            .stack = t->stack};
}

static void start_walk(struct pc_path_scratch *s, uintptr_t ret)
{
    s->n_words = s->n_matched = 0;
    s->n_frames = 1;
    s->frames[0] = (struct frame){.pc = ret};
    s->current = NO_WORD;
    s->cacheable = true;
    s->cut = s->deep = false;
}

/* Takes over the frames that the cache knows, up to where it missed, and moves the walk there. */
static void resume_walk(struct pc_path_scratch *s, const struct pc_paths *p,
                        struct pc_path_miss miss, uintptr_t cfa, struct pc_walk *walk)
{
    uint32_t n_chain = 0;
    for (uint32_t node = miss.node; node && n_chain < s->max_words; node = p->nodes[node].parent)
        s->chain[n_chain++] = node;
    while (n_chain) {
        uint32_t node = s->chain[--n_chain];
        uint32_t first = p->nodes[node].first;
        uint32_t n = n_chain ? p->nodes[node].n_words : miss.word;
        for (uint32_t w = first; w < first + n; w++) {
            if (p->words[w].place & 1) {
                s->n_matched++;
                continue;
            }
            const struct pc_path_resume *r = &p->resume[w];
            s->n_matched = 0;
            s->frames[s->n_frames++] = (struct frame){r->module, p->words[w].value, r->op_plus_1};
            walk->pc = p->words[w].value;
            walk->sp = cfa + (intptr_t)r->sp_place;
            walk->fp_loc = cfa + (intptr_t)r->fp_place;
            walk->fp = *(const uintptr_t *)walk->fp_loc;
            walk->exact = r->exact;
        }
    }
}

/* If the frame just left is one of our wrappers, its primitive + 1. */
static uint16_t wrapped_op(const struct pc_thread *t, const struct pc_module *module, uintptr_t sp)
{
    if (!module || !(module->flags & PCOLLECT_MODULE_OWN))
        return 0;
    for (uint32_t i = t->depth; i-- > 0;)
        if (t->active[i].cfa == sp)
            return (uint16_t)(t->active[i].op + 1);
    return 0;
}

static bool place_of(uintptr_t addr, uintptr_t cfa, int32_t *out)
{
    intptr_t distance = (intptr_t)(addr - cfa);
    *out = (int32_t)distance;
    return distance == *out && !(distance & 7);
}

/* Notes the words of one step, less those that the cache has matched already. */
static void note_words(struct pc_path_scratch *s, const struct pc_step *step,
                       const struct pc_walk *after, uintptr_t cfa)
{
    if (step->registers)
        s->cacheable = false;
    for (int i = (int)s->n_matched; i < step->n_words; i++) {
        const struct pc_word *from = &step->words[i];
        struct pc_path_word *w = &s->words[s->n_words];
        struct pc_path_resume *r = &s->resume[s->n_words++];
        *r = (struct pc_path_resume){.exact = after->exact};
        if (!place_of(from->addr, cfa, &w->place) || !place_of(after->sp, cfa, &r->sp_place) ||
            !place_of(after->fp_loc, cfa, &r->fp_place))
            s->cacheable = false;
        w->value = from->kind == PC_WORD_STACK ? from->value - cfa : from->value;
        w->place |= from->kind == PC_WORD_STACK;
        w->reserved = 0;
    }
    s->n_matched = 0;
    s->current = s->n_words - 1;
}

static void name_frame(struct pc_path_scratch *s, struct pc_module *module, uint16_t op_plus_1)
{
    struct frame *f = &s->frames[s->n_frames - 1];
    f->module = module;
    f->op_plus_1 = op_plus_1;
    if (s->current != NO_WORD) {
        s->resume[s->current].module = module;
        s->resume[s->current].op_plus_1 = op_plus_1;
    }
}

static void walk_outwards(const struct pc_thread *t, struct pc_path_scratch *s,
                          struct pc_walk *walk, uintptr_t cfa)
{
    for (;;) {
        struct pc_step step;
        enum pc_step_result result = pc_walk_step(walk, &step);
        if (result != PC_STEP_OK) {
            name_frame(s, step.module, 0);
            s->cut = result == PC_STEP_CUT;
            return;
        }
        name_frame(s, step.module, wrapped_op(t, step.module, walk->sp));
        if (s->n_frames == s->max_frames || s->n_words + PC_STEP_MAX_WORDS > s->max_words) {
            s->cut = s->deep = true;
            return;
        }
        note_words(s, &step, walk, cfa);
        s->frames[s->n_frames++] = (struct frame){.pc = walk->pc};
    }
}

/* The frames by which libc and the loader start the program or a thread say nothing to its author:
 * paths start at main, at the thread's function, or at the constructor that made the call. */
static uint32_t skip_start(const struct pc_path_scratch *s)
{
    uint32_t n = s->n_frames;
    while (n > 1 && s->frames[n - 1].module) {
        const struct frame *f = &s->frames[n - 1];
        bool start = f->module->flags & PCOLLECT_MODULE_LIBC;
        if (f->module->flags & PCOLLECT_MODULE_EXE)
            start = pc_walk_function_start(f->pc) == getauxval(AT_ENTRY);
        if (!start)
            break;
        n--;
    }
    return n;
}

/* The child of `parent` that stands for one frame: `parent` itself for frames that are not shown,
 * 0 if there is no room. */
static pcollect_ref book_frame(struct pc_thread *t, pcollect_ref parent, const struct frame *f)
{
    bool collapsed = false;
    if (f->op_plus_1)
        return pc_tree_op(t->tree, parent, (uint16_t)(f->op_plus_1 - 1), pc_process.record_bytes,
                          &collapsed);
    if (!f->module || f->module->flags & (PCOLLECT_MODULE_OWN | PCOLLECT_MODULE_MPI))
        return parent;
    pcollect_ref module = pc_publish_module(f->module);
    if (!module)
        return 0;
    return pc_tree_frame(t->tree, parent, module, f->pc - f->module->bias);
}

static struct pc_path_leaf book_path(struct pc_thread *t, const struct pc_path_scratch *s,
                                     uint16_t op)
{
    struct pc_path_leaf leaf = {0, 0, 0};
    pcollect_ref at = t->record->root;
    uint32_t n = s->cut ? s->n_frames : skip_start(s);
    if (s->cut) {
        pcollect_ref cut = pc_tree_cut(t->tree);
        at = cut ? cut : at;
    }
    while (n > 0) {
        pcollect_ref child = book_frame(t, at, &s->frames[--n]);
        if (!child) {
            leaf.flags = PC_PATH_COLLAPSED;
            break;
        }
        at = child;
    }
    bool collapsed = leaf.flags & PC_PATH_COLLAPSED;
    pc_publish_op(op);
    leaf.node = pc_tree_op(t->tree, at, op, pc_process.record_bytes, &collapsed);
    if (collapsed)
        leaf.flags = PC_PATH_COLLAPSED;
    if (leaf.node) {
        const struct pcollect_node *node = pc_arena_at(&pc_process.arena, leaf.node);
        leaf.record = node->record;
    }
    return leaf;
}

struct pc_path_leaf pc_paths_miss(struct pc_thread *t, const struct pc_call *call, unsigned slot,
                                  struct pc_path_root *root, struct pc_path_miss miss)
{
    struct pc_paths *p = &t->paths;
    struct pc_path_scratch *s = get_scratch(p);
    if (!s)
        return (struct pc_path_leaf){0, 0, 0};
    start_walk(s, call->ret);
    struct pc_walk walk = first_frame(t, call);
    resume_walk(s, p, miss, call->cfa, &walk);
    walk_outwards(t, s, &walk, call->cfa);
    if (s->n_frames > 0 && !s->frames[0].module)
        s->frames[0].module = pc_loadmap_find(call->ret);
    struct pc_path_leaf leaf = book_path(t, s, PC_SLOT_OP(slot));
    if (!leaf.node)
        return leaf;
    if (s->cut)
        pc_lost(s->deep ? PCOLLECT_LOST_DEEP : PCOLLECT_LOST_CUT, 1);
    if (!s->cacheable) {
        pc_lost(PCOLLECT_LOST_UNCACHED, 1);
    } else if (!pc_paths_enter(p, root, miss, s->words, s->resume, s->n_words, leaf)) {
        if (p->n_words + s->n_words > p->max_words)
            pc_paths_clear(p);
        else
            pc_lost(PCOLLECT_LOST_UNCACHED, 1);
    }
    return leaf;
}

struct pc_path_leaf pc_paths_walk(struct pc_thread *t, const struct pc_call *call, unsigned slot)
{
    struct pc_path_scratch *s = get_scratch(&t->paths);
    if (!s)
        return (struct pc_path_leaf){0, 0, 0};
    start_walk(s, call->ret);
    struct pc_walk walk = first_frame(t, call);
    walk_outwards(t, s, &walk, call->cfa);
    return book_path(t, s, PC_SLOT_OP(slot));
}
