/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The path cache: finds the full calling context of an MPI call by comparing the stack words that a
 * walk would read.
 *
 * It is a trie walked from the call outwards. A root belongs to one entry point and one return
 * address. A node is a run of words that are compared in order; each word is a place on the stack
 * and the value expected there. Where paths diverge, a node has one child for each value seen: the
 * child taken last is tried first, the others are found by hash in a table of this node alone:
 * calls that follow each other mostly part at the same nodes, so their tables stay in the
 * processor's cache. A leaf is an OP node of the tree with its record.
 *
 * Runs are slices of one pool of words. Places, and values that are stack addresses, are relative
 * to a base that the node knows, so that contexts with the same outer part share its words.
 *
 * The last path is the path that was walked last, outermost word first, with the tree's node for
 * every frame. A walk ends where it meets the last path: if the words from there on outwards are
 * unchanged, frames, tree and words are the last path's.
 *
 * Invariants:
 *  1. The place of a word follows from the words before it alone, so the children of one node read
 *     the same place, and a word is only read when all before it have matched. By induction over
 *     the frames it is a word of a live frame: no bounds are needed.
 *  2. Words are all that the walk read: return addresses (compared as they are) and saved frame
 *     pointers or stack pointers that a frame address depends on (compared by distance).
 *  3. The first word of a child is the word by which it is chosen.
 *  4. Cache and last path are void when the load map's generation changes.
 *
 * One cache per thread, in private memory that grows by mmap; nothing here calls malloc. When the
 * cache outgrows its bound it is emptied and fills anew.
 */
#ifndef PC_PATH_H
#define PC_PATH_H

#include "base/base.h"
#include "libcollect/walk/loadmap.h"

struct pc_call;
struct pc_thread;

struct pc_path_word {
    uintptr_t value;
    int32_t place;    /* bytes from the node's base */
    int32_t relative; /* 0: `value` is compared as it is; -1: it is a distance from the base */
};

/* The frame that a word leads to: what is needed to go on walking from there, and to book it.
 * Places are in bytes from the word. */
struct pc_path_resume {
    int32_t sp_place;   /* stack pointer of the frame returned to */
    int32_t fp_place;   /* where its frame pointer was saved */
    uint16_t module;    /* the module that holds the address (pc_loadmap_number) */
    uint16_t op_plus_1; /* 1 + the primitive whose wrapper this frame is; 0: it is no wrapper */
    bool exact;         /* the frame was interrupted at this address; it is not a return address */
};

/* Flags of leaves. PC_PATH_COLLAPSED: the arena was full, the record is an ancestor's.
 * PC_PATH_PYTHON: the path has frames of Python's interpreter, so its words do not determine the
 * context (see pc_python_leaf). */
enum { PC_PATH_COLLAPSED = 1, PC_PATH_PYTHON = 2 };

/* Has the size of one cache line. */
struct pc_path_node {
    /* Members that a call from a known context reads (pc_path_follows). If the words of a node are
     * not all return addresses, or if a leaf needs more than its record, these members hold no
     * words, no record and no child, and the call goes to pc_paths_find. */
    uint32_t first;       /* in words[] */
    uint32_t n_plain;     /* words */
    int32_t base;         /* bytes from the call's stack address */
    int32_t branch_place; /* place that the children read, where paths diverge; bytes as above */
    uintptr_t last_value; /* value read there when a child was taken last */
    uint32_t plain_child; /* that child; 0: none, or it is chosen by a stack address */
    pcollect_ref leaf;    /* 0 but in leaves */
    void *record_at;      /* record of a leaf */
    /* Members that the other functions need. */
    union {
        void *record; /* of a leaf */
        struct {      /* of another node: the table of its children, from children[parts] on */
            uint32_t parts;
            uint32_t parts_mask; /* entries - 1; 0: an only child is known to the node alone */
        };
    };
    uint32_t n_words;
    uint32_t parent;
    union {
        uint32_t last_child; /* 0: none */
        uint32_t express;    /* of a leaf: its express node, or 0 */
    };
    uint16_t flags;
    uint16_t branch_relative; /* the children are chosen by a stack address */
} __attribute__((aligned(64)));

/* The first members of struct pcollect_event, which are the same in all calls from one place. */
struct pc_event_head {
    uint32_t size; /* 0: the calls are not the program's and are passed on (is_counted of struct
                      pc_process) */
    uint16_t op, op_class;
};

struct pc_path_root {
    uintptr_t ret; /* 0: free */
    uint16_t slot;
    uint16_t streak; /* calls in a row that ended at `last` */
    uint32_t node;   /* 0: nothing walked yet */
    struct pc_event_head head;
    uint32_t last;    /* leaf */
    uint32_t express; /* express node of `last`, if it is taken again and again, or 0 */
};

/* Paths that are taken so many times in a row get an express node: a copy of all words on the way
 * from the root to the leaf. The leaf keeps it for the next time. */
enum { PC_PATH_STREAK = 4 };

struct pc_path_child {
    uintptr_t value;
    uint32_t child; /* 0: free */
    uint32_t n;     /* entries in use, in the first entry of a table */
};

/* Tables of children have 4 entries, which fill a line of the processor's cache, or 8, 16, ... */
enum { PC_PATH_LEAST_PARTS = 4, PC_PATH_MAX_TABLES = 32 };

struct pc_last_path;

struct pc_paths {
    struct pc_path_root *roots;
    uint32_t root_mask, n_roots;
    struct pc_path_node *nodes; /* 0 is not used */
    struct pc_path_word *words;
    struct pc_path_resume *resume; /* parallel to words */
    struct pc_path_child *children;
    uint32_t n_children, child_capacity;
    uint32_t free_parts[PC_PATH_MAX_TABLES]; /* 1 + the last table of 2^i entries that was left for
                                                a larger one; its `child` has the one before */
    uint32_t n_nodes, node_capacity;
    uint32_t n_words, word_capacity;
    uint32_t max_words;
    uint32_t max_depth;
    uint32_t clears;                /* times that everything was forgotten */
    uint32_t n_last;                /* words of the last path */
    struct pc_last_path *last_path; /* defined in path_walk.c; NULL until the first walk */
};

/* Position in the cache where a lookup ended. */
struct pc_path_miss {
    uint32_t node; /* 0: the root has no node yet */
    uint32_t word; /* of that node: the first that differs; n_words: no child for the value */
};

static inline uintptr_t pc_path_read(uintptr_t base, const struct pc_path_word *w)
{
    uintptr_t v = *(const uintptr_t *)(base + (intptr_t)w->place);
    return v - (base & (uintptr_t)(intptr_t)w->relative);
}

/* One multiplication would put values at regular distances, as return addresses often are, into few
 * places of a small table. */
static inline uint32_t pc_path_hash_child(uintptr_t value)
{
    uint64_t h = value * 0xd6e8feb86659fd93u;
    return (uint32_t)((h ^ h >> 32) * 0x9e3779b97f4a7c15u >> 32);
}

static inline uint32_t pc_path_hash_root(unsigned slot, uintptr_t ret)
{
    return ((uint32_t)ret + slot * 8) * 0x9e3779b1u >> 12;
}

int pc_paths_init(struct pc_paths *p, uint32_t max_depth, uint32_t max_words);

/* Forgets everything, keeps the memory. */
void pc_paths_clear(struct pc_paths *p);

/* The root of a call, made if it is new; NULL: no memory. May call is_counted of struct pc_process.
 */
struct pc_path_root *pc_paths_make_root(struct pc_paths *p, unsigned slot, uintptr_t ret);

static inline struct pc_path_root *pc_paths_root(struct pc_paths *p, unsigned slot, uintptr_t ret)
{
    struct pc_path_root *r = &p->roots[pc_path_hash_root(slot, ret) & p->root_mask];
    return PC_LIKELY(r->ret == ret && r->slot == slot) ? r : pc_paths_make_root(p, slot, ret);
}

/* Returns the root if it is known, else NULL. A root may have been replaced by another one. */
struct pc_path_root *pc_paths_known_root(const struct pc_paths *p, unsigned slot, uintptr_t ret);

/* Returns the root if it is in its own place, else NULL. */
static inline struct pc_path_root *pc_paths_own_root(const struct pc_paths *p, unsigned slot,
                                                     uintptr_t ret)
{
    struct pc_path_root *r = &p->roots[pc_path_hash_root(slot, ret) & p->root_mask];
    return PC_LIKELY(r->ret == ret && r->slot == slot) ? r : NULL;
}

static inline bool pc_path_matches(const struct pc_path_word *w, uintptr_t base)
{
    return *(const uintptr_t *)(base + (intptr_t)w->place) == w->value;
}

static inline bool pc_path_matches_two(const struct pc_path_word *w, uintptr_t base)
{
    return pc_path_matches(w, base) && pc_path_matches(w + 1, base);
}

static inline bool pc_path_matches_four(const struct pc_path_word *w, uintptr_t base)
{
    return pc_path_matches_two(w, base) && pc_path_matches_two(w + 2, base);
}

/* True if all words of a node, which are return addresses, are on the stack. Takes four
 * instructions a word. */
static inline __attribute__((always_inline)) bool pc_path_holds(const struct pc_path_word *w,
                                                                uint32_t n_words, uintptr_t base)
{
    const struct pc_path_word *end = w + n_words;
    if (n_words & 1) {
        if (PC_UNLIKELY(!pc_path_matches(w, base)))
            return false;
        w++;
    }
    if (n_words & 2) {
        if (PC_UNLIKELY(!pc_path_matches_two(w, base)))
            return false;
        w += 2;
    }
    if (n_words & 4) {
        if (PC_UNLIKELY(!pc_path_matches_four(w, base)))
            return false;
        w += 4;
    }
    for (; w != end; w += 8)
        if (PC_UNLIKELY(!pc_path_matches_four(w, base) || !pc_path_matches_four(w + 4, base)))
            return false;
    return true;
}

static inline void pc_path_take_child(struct pc_path_node *n, uintptr_t v, uint32_t child)
{
    n->last_value = v;
    n->last_child = child;
    n->plain_child = n->branch_relative || n->n_plain != n->n_words ? 0 : child;
}

/* True if the words of a node are on the stack and all of them are return addresses. */
static inline bool pc_path_follows(const struct pc_paths *p, const struct pc_path_node *n,
                                   uintptr_t cfa)
{
    return pc_path_holds(p->words + n->first, n->n_plain, cfa + (intptr_t)n->base);
}

/* Key by which the children of a node are chosen. */
static inline uintptr_t pc_path_branch(const struct pc_path_node *n, uintptr_t cfa)
{
    uintptr_t v = *(const uintptr_t *)(cfa + (intptr_t)n->branch_place);
    return PC_UNLIKELY(n->branch_relative) ? v - cfa : v;
}

/* The child of a node that expects the value `v` where paths diverge, or 0. It is tried first the
 * next time. */
static inline uint32_t pc_paths_next(const struct pc_paths *p, struct pc_path_node *n, uintptr_t v)
{
    if (!n->parts_mask)
        return 0;
    const struct pc_path_child *parts = p->children + n->parts;
    uint32_t i = pc_path_hash_child(v) & n->parts_mask;
    while (parts[i].value != v && parts[i].child)
        i = (i + 1) & n->parts_mask;
    if (parts[i].child)
        pc_path_take_child(n, v, parts[i].child);
    return parts[i].child;
}

/* Gives a root the express node of its last leaf, if there is room. */
void pc_paths_set_express(struct pc_paths *p, struct pc_path_root *root);

/* Notes that the way from a root led to a leaf. */
static inline void pc_paths_took(struct pc_paths *p, struct pc_path_root *root, uint32_t leaf)
{
    if (root->last != leaf) {
        root->last = leaf;
        root->streak = 0;
        root->express = 0;
    } else if (++root->streak == PC_PATH_STREAK) {
        pc_paths_set_express(p, root);
    }
}

/* The leaf for the stack at cfa, found node by node. NULL: it is not known, or return addresses
 * alone do not determine it; then pc_paths_find goes on from node *stopped (0: there is none), of
 * which nothing needs to have matched. */
static inline const struct pc_path_node *pc_paths_hit(struct pc_paths *p, struct pc_path_root *root,
                                                      uintptr_t cfa, uint32_t *stopped)
{
    uint32_t node = root->node;
    struct pc_path_node *n = &p->nodes[node];
    while (node) {
        n = &p->nodes[node];
        if (PC_UNLIKELY(!pc_path_follows(p, n, cfa)))
            break;
        if (n->record_at) {
            pc_paths_took(p, root, node); /* may move the nodes */
            return &p->nodes[node];
        }
        node = n->plain_child;
        if (PC_UNLIKELY(!node))
            break;
        uintptr_t v = *(const uintptr_t *)(cfa + (intptr_t)n->branch_place);
        if (v != n->last_value)
            node = pc_paths_next(p, n, v);
    }
    *stopped = (uint32_t)(n - p->nodes);
    return NULL;
}

/* The leaf for the stack at cfa, searched from a node whose inner words match, or NULL with *miss.
 */
const struct pc_path_node *pc_paths_find(struct pc_paths *p, uint32_t start, uintptr_t cfa,
                                         struct pc_path_miss *miss);

/* The context of a call, found by walking. */
struct pc_path_leaf {
    pcollect_ref node; /* 0: no room even for a collapsed context */
    uint32_t flags;
    void *record;
};

/* Walks from where the lookup failed, books the context in the thread's tree, and enters it into
 * the cache. Keeps errno. */
struct pc_path_leaf pc_paths_miss(struct pc_thread *t, const struct pc_call *call, unsigned slot,
                                  struct pc_path_root *root, struct pc_path_miss miss);

/* Finds the context by a walk from the call on, without looking at or entering into the cache. The
 * last path is lost. */
struct pc_path_leaf pc_paths_walk(struct pc_thread *t, const struct pc_call *call, unsigned slot);

/* The context of the frame that made a call, which need not be a call of MPI; 0: no room. */
pcollect_ref pc_paths_context(struct pc_thread *t, const struct pc_call *call);

/* ---- Between path_walk.c and path.c ---- */

/* A run to be entered: n words of the pool from `first`. */
struct pc_path_run {
    uint32_t first, n_words;
    int32_t base;
    bool plain; /* all of them are return addresses */
};

/* Reserves room for n words at the end of the pool. The caller fills words and resume, and takes
 * the room by raising n_words. */
bool pc_paths_reserve(struct pc_paths *p, uint32_t n);

/* Enters a path behind `miss`: one run, or two of which the second follows the first (n_runs).
 * False: no room, or it contradicts what is there; then it is not cached. */
bool pc_paths_enter(struct pc_paths *p, struct pc_path_root *root, struct pc_path_miss miss,
                    const struct pc_path_run *runs, int n_runs, struct pc_path_leaf leaf);

#endif
