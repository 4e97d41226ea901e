/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The path cache: the full calling context of an MPI call at the price of comparing the words of
 * stack that a walk would read.
 *
 * It is a trie walked from the call outwards. A root belongs to one entry point and one return
 * address. A node is a run of words that are compared in order; each word is a place on the stack
 * and the value expected there. Where paths part, a node has one child for each value met: the one
 * taken last is tried first, the others by one hash probe. A leaf is an OP node of the tree with
 * its record.
 *
 * Runs are slices of one pool of words. Places, and values that are stack addresses, are relative
 * to a base that the node knows, so that contexts with the same outer part share its words.
 *
 * The spine is the path that was walked last, outermost word first, with the tree's node for every
 * frame. A walk ends where it meets the spine: if the words from there on outwards are unchanged,
 * frames, tree and words are the spine's.
 *
 * Invariants:
 *  1. The place of a word follows from the words before it alone, so the children of one node read
 *     the same place, and a word is only read when all before it have matched. By induction over
 *     the frames it is a word of a live frame: no bounds are needed.
 *  2. Words are all that the walk read: return addresses (compared as they are) and saved frame
 *     pointers or stack pointers that a frame address depends on (compared by distance).
 *  3. The first word of a child is the word by which it is chosen.
 *  4. Cache and spine are void when the load map's generation changes.
 *
 * One cache per thread, in private memory that grows by mmap; nothing here calls malloc. When the
 * cache outgrows its bound it is emptied and fills anew.
 */
#ifndef PC_PATH_H
#define PC_PATH_H

#include "base/base.h"
#include "libcollect/loadmap.h"

struct pc_call;
struct pc_thread;

struct pc_path_word {
    uintptr_t value;
    int32_t place;    /* bytes from the node's base */
    int32_t relative; /* -1: value is an address, its distance from the base; 0: as it is */
};

/* What is needed to go on walking behind a word that is a return address. */
struct pc_path_resume {
    struct pc_module *module; /* that holds the address */
    int32_t sp_place;         /* stack pointer of the frame returned to, from the node's base */
    int32_t fp_place;         /* where its frame pointer was saved */
    uint16_t op_plus_1;       /* the frame is our wrapper of that primitive; 0: it is not */
    bool exact;               /* the address is not a return address but interrupted there */
};

enum { PC_PATH_COLLAPSED = 1 }; /* the arena was full: the record is an ancestor's */

struct pc_path_node {
    uint32_t first, n_words; /* in words[] */
    int32_t base;            /* bytes from the call's stack address */
    uint32_t last_child;     /* 0: none */
    uint32_t parent;
    pcollect_ref leaf, record; /* 0 but in leaves */
    uint16_t flags;
    uint16_t plain; /* return addresses only */
};

/* The first members of struct pcollect_event, which are the same in all calls from one place. */
struct pc_event_head {
    uint32_t size; /* 0: the calls are not the program's and are passed on (pc_mpi_counts) */
    uint16_t op, op_class;
};

struct pc_path_root {
    uintptr_t ret; /* 0: free */
    uint32_t slot;
    uint32_t node; /* 0: nothing walked yet */
    struct pc_event_head head;
};

struct pc_path_child {
    uintptr_t value;
    uint32_t node, child; /* child 0: free */
};

struct pc_spine;

struct pc_paths {
    struct pc_path_root *roots;
    uint32_t root_mask, n_roots;
    struct pc_path_node *nodes; /* 0 is not used */
    struct pc_path_word *words;
    struct pc_path_resume *resume; /* parallel to words */
    struct pc_path_child *children;
    uint32_t child_mask, n_children;
    uint32_t n_nodes, node_capacity;
    uint32_t n_words, word_capacity;
    uint32_t max_words;
    uint32_t max_depth;
    uint32_t clears;        /* times that everything was forgotten */
    uint32_t n_spine;       /* words of the spine */
    struct pc_spine *spine; /* path_walk.c; NULL until the first walk */
};

/* Where a lookup left the cache. */
struct pc_path_miss {
    uint32_t node; /* 0: the root has no node yet */
    uint32_t word; /* of that node: the first that differs; n_words: no child for the value */
};

static inline uintptr_t pc_path_read(uintptr_t base, const struct pc_path_word *w)
{
    uintptr_t v = *(const uintptr_t *)(base + (intptr_t)w->place);
    return v - (base & (uintptr_t)(intptr_t)w->relative);
}

static inline uint32_t pc_path_hash_child(uint32_t node, uintptr_t value)
{
    uint64_t h = (value + node * 0x9e3779b97f4a7c15u) * 0xd6e8feb86659fd93u;
    return (uint32_t)(h >> 32);
}

static inline uint32_t pc_path_hash_root(unsigned slot, uintptr_t ret)
{
    uint64_t h = (ret + (uintptr_t)slot * 0x51ed27u) * 0x9e3779b97f4a7c15u;
    return (uint32_t)(h >> 32);
}

int pc_paths_init(struct pc_paths *p, uint32_t max_depth, uint32_t max_words);

/* Forgets everything, keeps the memory. */
void pc_paths_clear(struct pc_paths *p);

/* The root of a call, made if it is new; NULL: no memory. May call pc_mpi_counts. */
struct pc_path_root *pc_paths_make_root(struct pc_paths *p, unsigned slot, uintptr_t ret);

static inline struct pc_path_root *pc_paths_root(struct pc_paths *p, unsigned slot, uintptr_t ret)
{
    struct pc_path_root *r = &p->roots[pc_path_hash_root(slot, ret) & p->root_mask];
    return PC_LIKELY(r->ret == ret && r->slot == slot) ? r : pc_paths_make_root(p, slot, ret);
}

/* Of the children of a node the one that expects what is on the stack, or 0. */
uint32_t pc_paths_next(const struct pc_paths *p, uint32_t node, uintptr_t cfa);

static inline bool pc_path_matches(const struct pc_path_word *w, uintptr_t base)
{
    return *(const uintptr_t *)(base + (intptr_t)w->place) == w->value;
}

/* The first word of a node that is not on the stack; its end if all are. */
static inline const struct pc_path_word *
pc_path_compare(const struct pc_path_word *w, const struct pc_path_node *n, uintptr_t base)
{
    const struct pc_path_word *end = w + n->n_words;
    if (PC_UNLIKELY(!n->plain)) {
        while (w < end && PC_LIKELY(pc_path_read(base, w) == w->value))
            w++;
        return w;
    }
    for (; end - w >= 4; w += 4) {
        if (PC_UNLIKELY(!pc_path_matches(w, base)))
            return w;
        if (PC_UNLIKELY(!pc_path_matches(w + 1, base)))
            return w + 1;
        if (PC_UNLIKELY(!pc_path_matches(w + 2, base)))
            return w + 2;
        if (PC_UNLIKELY(!pc_path_matches(w + 3, base)))
            return w + 3;
    }
    while (w < end && PC_LIKELY(pc_path_matches(w, base)))
        w++;
    return w;
}

/* The leaf for the stack at cfa, or NULL with *miss. Of the path of every call; inline for that. */
static inline const struct pc_path_node *pc_paths_find(struct pc_paths *p, uint32_t start,
                                                       uintptr_t cfa, struct pc_path_miss *miss)
{
    uint32_t node = start;
    for (;;) {
        const struct pc_path_node *n = &p->nodes[node];
        const struct pc_path_word *first = p->words + n->first;
        const struct pc_path_word *w = pc_path_compare(first, n, cfa + (intptr_t)n->base);
        if (PC_LIKELY(w == first + n->n_words)) {
            if (n->leaf)
                return n;
            node = n->last_child;
            continue;
        }
        *miss = (struct pc_path_miss){node, (uint32_t)(w - first)};
        if (w > first || !n->parent)
            return NULL;
        *miss = (struct pc_path_miss){n->parent, p->nodes[n->parent].n_words};
        node = pc_paths_next(p, n->parent, cfa);
        if (!node)
            return NULL;
        p->nodes[n->parent].last_child = node;
    }
}

/* The context of a call, found by walking. */
struct pc_path_leaf {
    pcollect_ref node, record; /* 0: no room even for a collapsed context */
    uint32_t flags;
};

/* Walks from where the lookup failed, books the context in the thread's tree, and enters it into
 * the cache. Keeps errno. */
struct pc_path_leaf pc_paths_miss(struct pc_thread *t, const struct pc_call *call, unsigned slot,
                                  struct pc_path_root *root, struct pc_path_miss miss);

/* The same by a walk from the call on, without looking at or entering into the cache. */
struct pc_path_leaf pc_paths_walk(struct pc_thread *t, const struct pc_call *call, unsigned slot);

/* ---- Between path_walk.c and path.c ---- */

/* A run to be entered: n words of the pool from `first`. */
struct pc_path_run {
    uint32_t first, n_words;
    int32_t base;
};

/* Appends words to the pool; UINT32_MAX: no room. */
uint32_t pc_paths_append(struct pc_paths *p, const struct pc_path_word *words,
                         const struct pc_path_resume *resume, uint32_t n);

/* Enters a path behind `miss`: one run, or two of which the second follows the first (n_runs).
 * False: no room, or it does not fit what is there; it is not cached then. */
bool pc_paths_enter(struct pc_paths *p, struct pc_path_root *root, struct pc_path_miss miss,
                    const struct pc_path_run *runs, int n_runs, struct pc_path_leaf leaf);

#endif
