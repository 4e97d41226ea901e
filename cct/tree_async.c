/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Calling-context trees: nodes and records in the arena, the index to find them in private memory.
 *
 * A node is found by (parent, kind, module and offset | op). If its parent has few children, as
 * most nodes have, they are compared one by one; otherwise a hash table of the tree is used. So a
 * chain of new frames touches only its own nodes. New nodes and records come from the tree's own
 * chunk: nodes from its low end, 32 bytes each and so two to a line, records from its high end,
 * whole lines each, so that neither needs gaps for the alignment of the other. A chunk belongs to
 * one tree: no line is written by two threads.
 *
 * Called by the thread that owns the tree, at a call or in a handler. Must not: call malloc, wait,
 * let errno change, touch another thread's tree, link what is not filled.
 */
#include "cct/cct_private.h"

#include <errno.h>
#include <sys/mman.h>

/* A tree and its first table share a page. */
#define TREE_PAGE_BYTES 4096u
#define FIRST_SLOTS_AT 2048u
#define FIRST_SLOTS ((TREE_PAGE_BYTES - FIRST_SLOTS_AT) / sizeof(struct pc_tree_slot))
#define MAX_SLOTS ((uint32_t)1 << 28)
/* Children of one node that are compared one by one; if there are more, all are in the index. */
#define MAX_LISTED 4u

_Static_assert(sizeof(struct pc_tree) <= FIRST_SLOTS_AT, "tree and table overlap");
_Static_assert(sizeof(struct pcollect_node) == 32, "two nodes to a line");
_Static_assert(sizeof(struct pcollect_thread) <= PC_ARENA_LINE, "thread record fills one line");

struct key {
    uint64_t offset;
    pcollect_ref parent, module;
    uint8_t kind;
    uint16_t op;
};

/* Source of the space for a node. */
enum source { FROM_ARENA, FROM_RESERVE };

/* ---- Index ---- */

static uint32_t hash_key(const struct key *k)
{
    uint64_t what = k->offset + ((uint64_t)k->kind << 48) + ((uint64_t)k->op << 52);
    uint64_t where = (uint64_t)k->parent << 32 | k->module;
    uint64_t h = (what + where * 0x9e3779b97f4a7c15u) * 0xd6e8feb86659fd93u;
    return (uint32_t)(h >> 32);
}

static bool is_key(const struct pcollect_node *n, const struct key *k)
{
    return n->parent == k->parent && n->offset == k->offset && n->module == k->module &&
           n->kind == k->kind && n->op == k->op;
}

static pcollect_ref find_indexed(const struct pc_tree *t, const struct key *k)
{
    uint32_t mask = t->n_slots - 1, hash = hash_key(k);
    for (uint32_t i = hash & mask; t->slots[i].node; i = (i + 1) & mask)
        if (t->slots[i].hash == hash && is_key(pc_tree_node(t, t->slots[i].node), k))
            return t->slots[i].node;
    return 0;
}

/* 0: there is no such node; *n_out: children of its parent, exact up to MAX_LISTED. */
static pcollect_ref find(const struct pc_tree *t, const struct key *k, uint32_t *n_out)
{
    const struct pcollect_node *parent = pc_tree_node(t, k->parent);
    *n_out = MAX_LISTED + 1;
    if (parent->flags & PCOLLECT_FLAG_INDEXED)
        return find_indexed(t, k);
    uint32_t n = 0;
    for (pcollect_ref child = parent->first_child; child; n++) {
        const struct pcollect_node *c = pc_tree_node(t, child);
        if (is_key(c, k))
            return child;
        child = c->next;
    }
    *n_out = n;
    return 0;
}

void pc_tree_put_slot(struct pc_tree_slot *slots, uint32_t n_slots, struct pc_tree_slot slot)
{
    uint32_t i = slot.hash & (n_slots - 1);
    while (slots[i].node)
        i = (i + 1) & (n_slots - 1);
    slots[i] = slot;
}

struct pc_tree_slot *pc_tree_grow_slots(const struct pc_tree_slot *old, uint32_t n_old,
                                        uint32_t n_new)
{
    if (n_new > MAX_SLOTS)
        return NULL;
    int saved = errno;
    struct pc_tree_slot *slots = pc_map_memory(NULL, n_new * sizeof *slots);
    errno = saved;
    for (uint32_t i = 0; slots && i < n_old; i++)
        if (old[i].node)
            pc_tree_put_slot(slots, n_new, old[i]);
    return slots;
}

void pc_tree_free_slots(struct pc_tree_slot *slots, uint32_t n_slots)
{
    int saved = errno;
    munmap(slots, n_slots * sizeof *slots);
    errno = saved;
}

static bool double_index(struct pc_tree *t)
{
    struct pc_tree_slot *slots = pc_tree_grow_slots(t->slots, t->n_slots, t->n_slots * 2);
    if (!slots)
        return false;
    if ((char *)t->slots != (char *)t + FIRST_SLOTS_AT)
        pc_tree_free_slots(t->slots, t->n_slots);
    t->slots = slots;
    t->n_slots *= 2;
    return true;
}

/* Slots needed for one more child of a parent that has n. */
static uint32_t slots_needed(uint32_t n)
{
    return n < MAX_LISTED ? 0 : n == MAX_LISTED ? MAX_LISTED + 1 : 1;
}

/* Makes sure that the table has room. Its last quarter is for nodes from the reserve, in case there
 * is no memory to double it; one slot stays empty, because every search ends at one. */
static bool has_slots(struct pc_tree *t, uint32_t n, enum source source)
{
    if (t->n_indexed + n <= t->n_slots / 4 * 3 || double_index(t))
        return true;
    return source == FROM_RESERVE && t->n_indexed + n < t->n_slots;
}

/* Enters the n newest children of a node. */
static void put_children(struct pc_tree *t, pcollect_ref child, uint32_t n)
{
    for (t->n_indexed += n; n > 0; n--) {
        const struct pcollect_node *c = pc_tree_node(t, child);
        const struct key k = {c->offset, c->parent, c->module, c->kind, c->op};
        pc_tree_put_slot(t->slots, t->n_slots, (struct pc_tree_slot){hash_key(&k), child});
        child = c->next;
    }
}

/* ---- Space ---- */

static bool new_chunk(struct pc_tree *t, uint64_t need)
{
    uint64_t bytes = t->chunk_bytes > need ? t->chunk_bytes : pc_round_up(need, PC_ARENA_LINE);
    pcollect_ref ref = pc_arena_alloc(t->arena, bytes);
    if (!ref && bytes > PC_TREE_CHUNK_FIRST) {
        bytes = need > PC_TREE_CHUNK_FIRST ? pc_round_up(need, PC_ARENA_LINE) : PC_TREE_CHUNK_FIRST;
        ref = pc_arena_alloc(t->arena, bytes);
    }
    if (!ref)
        return false;
    t->lo = (uint64_t)ref * PCOLLECT_REF_UNIT;
    t->hi = t->lo + bytes;
    if (t->chunk_bytes < PC_TREE_CHUNK_LAST)
        t->chunk_bytes *= 2;
    return true;
}

pcollect_ref pc_tree_take(struct pc_tree *t, uint64_t bytes)
{
    if (t->hi - t->lo < bytes && !new_chunk(t, bytes))
        return 0;
    pcollect_ref ref = (pcollect_ref)(t->lo / PCOLLECT_REF_UNIT);
    t->lo += bytes;
    return ref;
}

/* Space for a node and, if record_bytes is not 0, a record: both or none. */
static bool place(struct pc_tree *t, uint32_t record_bytes, enum source source,
                  pcollect_ref *node_out, pcollect_ref *record_out)
{
    uint64_t record_lines = pc_round_up(record_bytes, PC_ARENA_LINE);
    uint64_t need = sizeof(struct pcollect_node) + record_lines;
    if (t->hi - t->lo >= need || new_chunk(t, need)) {
        *node_out = (pcollect_ref)(t->lo / PCOLLECT_REF_UNIT);
        t->lo += sizeof(struct pcollect_node);
        t->hi -= record_lines;
        *record_out = record_bytes ? (pcollect_ref)(t->hi / PCOLLECT_REF_UNIT) : 0;
        return true;
    }
    if (source != FROM_RESERVE)
        return false;
    pcollect_ref ref = pc_arena_alloc_reserve(t->arena, PC_ARENA_LINE + record_lines);
    if (!ref)
        return false;
    *node_out = ref;
    *record_out = record_bytes ? ref + PC_ARENA_LINE / PCOLLECT_REF_UNIT : 0;
    return true;
}

/* ---- Nodes ---- */

static void set_flag(struct pcollect_node *n, uint8_t flag)
{
    __atomic_store_n(&n->flags, n->flags | flag, __ATOMIC_RELAXED);
}

static void fill(struct pcollect_node *n, const struct key *k, pcollect_ref record)
{
    n->offset = k->offset;
    n->module = k->module;
    n->kind = k->kind;
    n->op = k->op;
    n->parent = k->parent;
    n->record = record;
}

/* Makes a node; find has returned that its parent has n children. */
static pcollect_ref insert(struct pc_tree *t, const struct key *k, uint32_t n,
                           uint32_t record_bytes, enum source source)
{
    pcollect_ref ref, record;
    uint32_t n_slots = slots_needed(n);
    if ((n_slots && !has_slots(t, n_slots, source)) ||
        !place(t, record_bytes, source, &ref, &record))
        return 0;
    struct pcollect_node *parent = pc_tree_node(t, k->parent), *node = pc_tree_node(t, ref);
    fill(node, k, record);
    node->next = parent->first_child;
    __atomic_store_n(&parent->first_child, ref, __ATOMIC_RELEASE);
    if (n_slots) {
        put_children(t, ref, n_slots);
        set_flag(parent, PCOLLECT_FLAG_INDEXED);
    }
    return ref;
}

static pcollect_ref find_or_insert(struct pc_tree *t, const struct key *k, uint32_t record_bytes,
                                   enum source source)
{
    uint32_t n;
    pcollect_ref ref = find(t, k, &n);
    return ref ? ref : insert(t, k, n, record_bytes, source);
}

static __attribute__((noinline)) pcollect_ref find_frame(struct pc_tree *t, pcollect_ref parent,
                                                         pcollect_ref module, uint64_t offset)
{
    const struct key k = {offset, parent, module, PCOLLECT_NODE_FRAME, 0};
    return find_or_insert(t, &k, 0, FROM_ARENA);
}

/* Most frames of a new context are the first child of their parent, or the only one of a node that
 * was just made: nothing is looked up for them. */
pcollect_ref pc_tree_frame(struct pc_tree *t, pcollect_ref parent, pcollect_ref module,
                           uint64_t offset)
{
    struct pcollect_node *above = pc_tree_node(t, parent);
    pcollect_ref first = above->first_child;
    if (first) {
        const struct pcollect_node *c = pc_tree_node(t, first);
        if (c->offset == offset && c->module == module && c->kind == PCOLLECT_NODE_FRAME)
            return first;
    }
    if (first || t->hi - t->lo < sizeof(struct pcollect_node))
        return find_frame(t, parent, module, offset);
    pcollect_ref ref = (pcollect_ref)(t->lo / PCOLLECT_REF_UNIT);
    t->lo += sizeof(struct pcollect_node);
    fill(pc_tree_node(t, ref), &(const struct key){offset, parent, module, PCOLLECT_NODE_FRAME, 0},
         0);
    __atomic_store_n(&above->first_child, ref, __ATOMIC_RELEASE);
    return ref;
}

pcollect_ref pc_tree_cut(struct pc_tree *t, pcollect_ref parent)
{
    const struct key k = {0, parent, 0, PCOLLECT_NODE_CUT, 0};
    return find_or_insert(t, &k, 0, FROM_RESERVE);
}

pcollect_ref pc_tree_part(struct pc_tree *t, pcollect_ref parent, enum pcollect_node_kind kind,
                          uint64_t key)
{
    const struct key k = {key, parent, 0, (uint8_t)kind, 0};
    return find_or_insert(t, &k, 0, FROM_ARENA);
}

/* Adds a record to a node that was made without one: a node that stands for others needs it. */
static bool add_record(struct pc_tree *t, pcollect_ref node, uint32_t record_bytes)
{
    struct pcollect_node *n = pc_tree_node(t, node);
    if (n->record || !record_bytes)
        return true;
    pcollect_ref record = pc_arena_alloc_reserve(t->arena, record_bytes);
    __atomic_store_n(&n->record, record, __ATOMIC_RELEASE);
    return record != 0;
}

static pcollect_ref collapse(struct pc_tree *t, pcollect_ref from, uint16_t op,
                             uint32_t record_bytes)
{
    struct key k = {0, from, 0, PCOLLECT_NODE_OP, op};
    uint32_t n;
    pcollect_ref ref = find(t, &k, &n);
    while (!ref && k.parent != t->root) {
        k.parent = pc_tree_node(t, k.parent)->parent;
        ref = find(t, &k, &n);
    }
    if (!ref)
        ref = insert(t, &k, n, record_bytes, FROM_RESERVE);
    if (!ref || !add_record(t, ref, record_bytes))
        return 0;
    set_flag(pc_tree_node(t, ref), PCOLLECT_FLAG_COLLAPSED);
    return ref;
}

pcollect_ref pc_tree_op(struct pc_tree *t, pcollect_ref parent, uint16_t op, uint32_t record_bytes,
                        bool *collapsed)
{
    if (!*collapsed) {
        const struct key k = {0, parent, 0, PCOLLECT_NODE_OP, op};
        pcollect_ref ref = find_or_insert(t, &k, record_bytes, FROM_ARENA);
        if (ref && add_record(t, ref, record_bytes))
            return ref;
    }
    *collapsed = true;
    return collapse(t, parent, op, record_bytes);
}

pcollect_ref pc_tree_domain(struct pc_tree *t, pcollect_ref op, uint64_t domain,
                            uint32_t record_bytes, bool *collapsed)
{
    if (!*collapsed) {
        const struct key k = {domain, op, 0, PCOLLECT_NODE_DOMAIN, 0};
        pcollect_ref ref = find_or_insert(t, &k, record_bytes, FROM_ARENA);
        if (ref)
            return ref;
    }
    *collapsed = true;
    if (!add_record(t, op, record_bytes))
        return 0;
    set_flag(pc_tree_node(t, op), PCOLLECT_FLAG_COLLAPSED);
    return op;
}

pcollect_ref pc_tree_point(struct pc_tree *t, pcollect_ref parent, pcollect_ref module,
                           uint64_t offset, uint32_t record_bytes, bool *collapsed)
{
    if (!*collapsed) {
        const struct key k = {offset, parent, module, PCOLLECT_NODE_POINT, 0};
        pcollect_ref ref = find_or_insert(t, &k, record_bytes, FROM_ARENA);
        if (ref)
            return ref;
    }
    *collapsed = true;
    const struct key k = {0, t->root, 0, PCOLLECT_NODE_POINT, 0};
    pcollect_ref ref = find_or_insert(t, &k, record_bytes, FROM_RESERVE);
    if (ref)
        set_flag(pc_tree_node(t, ref), PCOLLECT_FLAG_COLLAPSED);
    return ref;
}

/* ---- Trees ---- */

static void set_owner(struct pcollect_thread *thread, int tid)
{
    thread->tid = tid;
    __atomic_store_n(&thread->n_adopted, thread->n_adopted + 1, __ATOMIC_RELAXED);
}

/* Makes root and thread record; the latter is allocated as if it were the root's record. */
static bool plant(struct pc_tree *t, int tid)
{
    struct pc_arena *a = t->arena;
    if (!place(t, sizeof(struct pcollect_thread), FROM_RESERVE, &t->root, &t->thread))
        return false;
    pc_tree_node(t, t->root)->kind = PCOLLECT_NODE_ROOT;
    struct pcollect_thread *thread = pc_tree_thread(t);
    thread->root = t->root;
    thread->late = t->late;
    set_owner(thread, tid);
    pc_arena_link_thread(a, t->thread);
    return true;
}

struct pc_tree *pc_tree_new(struct pc_arena *a, int tid, bool late)
{
    int saved = errno;
    struct pc_tree *t = pc_map_memory(NULL, TREE_PAGE_BYTES);
    if (t) {
        t->arena = a;
        t->late = late;
        t->chunk_bytes = PC_TREE_CHUNK_FIRST;
        t->slots = (struct pc_tree_slot *)((char *)t + FIRST_SLOTS_AT);
        t->n_slots = FIRST_SLOTS;
        if (plant(t, tid)) {
            t->number = atomic_fetch_add_explicit(&a->n_trees, 1, memory_order_relaxed);
        } else {
            munmap(t, TREE_PAGE_BYTES);
            t = NULL;
        }
    }
    errno = saved;
    return t;
}

/* The list of ended trees is a stack whose head is (page number of the first tree << 20) | count.
 * The count rises with every change, so that a thread that was stopped between reading `next_free`
 * and taking the head does not succeed with a stale `next_free` because the same tree has come back
 * meanwhile (ABA; it would take a multiple of 2^20 changes). User addresses of Linux have at most
 * 56 bits and trees start at page boundaries: 44 bits are enough. Trees are never unmapped, so
 * reading `next_free` of a tree that another thread has taken is harmless. */
#define COUNT_BITS 20
#define COUNT_MASK (((uint64_t)1 << COUNT_BITS) - 1)

static struct pc_tree *tree_of(uint64_t head)
{
    return (struct pc_tree *)(uintptr_t)(head >> COUNT_BITS << 12);
}

static uint64_t head_of(const struct pc_tree *t, uint64_t before)
{
    return (uint64_t)(uintptr_t)t >> 12 << COUNT_BITS | ((before + 1) & COUNT_MASK);
}

void pc_tree_retire(struct pc_tree *t)
{
    _Atomic uint64_t *list = &t->arena->free_trees[t->late];
    uint64_t head = atomic_load_explicit(list, memory_order_relaxed);
    if (pcollect_open_ticks(pc_tree_thread(t)))
        pc_tree_thread(t)->open_ticks = 0; /* the thread has left its call */
    do {
        atomic_store_explicit(&t->next_free, tree_of(head), memory_order_relaxed);
    } while (!atomic_compare_exchange_weak_explicit(list, &head, head_of(t, head),
                                                    memory_order_release, memory_order_relaxed));
}

struct pc_tree *pc_tree_adopt_any(struct pc_arena *a, int tid, bool late)
{
    _Atomic uint64_t *list = &a->free_trees[late];
    uint64_t head = atomic_load_explicit(list, memory_order_acquire), rest;
    struct pc_tree *t;
    do {
        t = tree_of(head);
        if (!t)
            return NULL;
        rest = head_of(atomic_load_explicit(&t->next_free, memory_order_relaxed), head);
    } while (!atomic_compare_exchange_weak_explicit(list, &head, rest, memory_order_acq_rel,
                                                    memory_order_acquire));
    set_owner(pc_tree_thread(t), tid);
    return t;
}

struct pc_tree *pc_tree_open(struct pc_arena *a, int tid, bool late)
{
    struct pc_tree *t = pc_tree_adopt_any(a, tid, late);
    return t ? t : pc_tree_new(a, tid, late);
}
