/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The path cache's store: lookup and entry (path.h has the structure and its invariants).
 */
#include "libcollect/context/path.h"

#include "libcollect/state/ops.h"
#include "libcollect/state/state.h"

#include <string.h>

enum { FIRST_WORDS = 1024, FIRST_NODES = 256, FIRST_ROOTS = 1024, FIRST_CHILDREN = 256 };

/* Longer paths get no express node. */
enum { MAX_EXPRESS = 64 };

static bool reserve_words(struct pc_paths *p, uint32_t n)
{
    if (p->n_words + n <= p->word_capacity)
        return true;
    uint32_t capacity = p->word_capacity ? p->word_capacity : FIRST_WORDS;
    while (capacity < p->n_words + n)
        capacity *= 2;
    void *words =
        pc_memory_grow(p->words, p->word_capacity * sizeof *p->words, capacity * sizeof *p->words);
    if (!words)
        return false;
    p->words = words;
    void *resume = pc_memory_grow(p->resume, p->word_capacity * sizeof *p->resume,
                                  capacity * sizeof *p->resume);
    if (!resume) {
        pc_memory_free((char *)words + p->word_capacity * sizeof *p->words,
                       (capacity - p->word_capacity) * sizeof *p->words);
        return false;
    }
    p->resume = resume;
    p->word_capacity = capacity;
    return true;
}

bool pc_paths_reserve(struct pc_paths *p, uint32_t n)
{
    return p->n_words + n <= p->max_words && reserve_words(p, n);
}

static bool reserve_nodes(struct pc_paths *p, uint32_t n)
{
    if (p->n_nodes + n <= p->node_capacity)
        return true;
    uint32_t capacity = p->node_capacity ? p->node_capacity * 2 : FIRST_NODES;
    void *nodes =
        pc_memory_grow(p->nodes, p->node_capacity * sizeof *p->nodes, capacity * sizeof *p->nodes);
    if (!nodes)
        return false;
    p->nodes = nodes;
    p->node_capacity = capacity;
    return true;
}

/* Room for a table of children that is larger than that of `node`; 0: no node. */
static bool reserve_parts(struct pc_paths *p, uint32_t node)
{
    uint32_t mask = node && !p->nodes[node].leaf ? p->nodes[node].parts_mask : 0;
    uint32_t n = p->n_children + (mask ? 2 * (mask + 1) : PC_PATH_LEAST_PARTS);
    if (n <= p->child_capacity)
        return true;
    uint32_t capacity = p->child_capacity ? p->child_capacity : FIRST_CHILDREN;
    while (capacity < n)
        capacity *= 2;
    void *children = pc_memory_grow(p->children, p->child_capacity * sizeof *p->children,
                                    capacity * sizeof *p->children);
    if (!children)
        return false;
    p->children = children;
    p->child_capacity = capacity;
    return true;
}

/* An empty table of `size` entries: one that was left, or the next of the pool. */
static uint32_t take_table(struct pc_paths *p, uint32_t size)
{
    uint32_t *left = &p->free_parts[__builtin_ctz(size)], table = p->n_children;
    if (*left) {
        table = *left - 1;
        *left = p->children[table].child;
    } else {
        p->n_children += size;
    }
    memset(&p->children[table], 0, size * sizeof p->children[table]);
    return table;
}

static void leave_table(struct pc_paths *p, uint32_t table, uint32_t size)
{
    uint32_t *left = &p->free_parts[__builtin_ctz(size)];
    p->children[table].child = *left;
    *left = table + 1;
}

static struct pc_path_child *find_child(const struct pc_paths *p, const struct pc_path_node *n,
                                        uintptr_t value)
{
    struct pc_path_child *parts = p->children + n->parts;
    uint32_t i = pc_path_hash_child(value) & n->parts_mask;
    while (parts[i].child && parts[i].value != value)
        i = (i + 1) & n->parts_mask;
    return &parts[i];
}

static void fill_entry(struct pc_paths *p, const struct pc_path_node *n, struct pc_path_child *c,
                       uintptr_t value, uint32_t child)
{
    p->children[n->parts].n += !c->child;
    c->value = value;
    c->child = child;
}

/* Gives a node a table twice as large, or its first one. The caller has reserved the room. */
static void enlarge(struct pc_paths *p, struct pc_path_node *n)
{
    uint32_t old = n->parts, old_size = n->parts_mask ? n->parts_mask + 1 : 0;
    uint32_t size = old_size ? old_size * 2 : PC_PATH_LEAST_PARTS;
    n->parts = take_table(p, size);
    n->parts_mask = size - 1;
    if (!old_size) {
        fill_entry(p, n, find_child(p, n, n->last_value), n->last_value, n->last_child);
        return;
    }
    for (const struct pc_path_child *c = p->children + old; c != p->children + old + old_size; c++)
        if (c->child)
            fill_entry(p, n, find_child(p, n, c->value), c->value, c->child);
    leave_table(p, old, old_size);
}

/* The entry for a child: the one that has the value, or a free one. At most three quarters of a
 * table are in use. */
static struct pc_path_child *entry_for(struct pc_paths *p, struct pc_path_node *n, uintptr_t value)
{
    struct pc_path_child *c = n->parts_mask ? find_child(p, n, value) : NULL;
    if (c && (c->child || (p->children[n->parts].n + 1) * 4 <= (n->parts_mask + 1) * 3))
        return c;
    enlarge(p, n);
    return find_child(p, n, value);
}

static struct pc_path_root *find_root(const struct pc_paths *p, unsigned slot, uintptr_t ret)
{
    uint32_t i = pc_path_hash_root(slot, ret) & p->root_mask;
    while (p->roots[i].ret && (p->roots[i].ret != ret || p->roots[i].slot != slot))
        i = (i + 1) & p->root_mask;
    return &p->roots[i];
}

struct pc_path_root *pc_paths_known_root(const struct pc_paths *p, unsigned slot, uintptr_t ret)
{
    struct pc_path_root *r = find_root(p, slot, ret);
    return r->ret ? r : NULL;
}

/* At most a quarter of the table is used, so most roots are in their own places. */
static bool reserve_root(struct pc_paths *p)
{
    if ((p->n_roots + 1) * 4 <= p->root_mask + 1)
        return true;
    uint32_t old_size = p->root_mask + 1, size = old_size * 2;
    struct pc_path_root *old = p->roots, *bigger = pc_memory(size * sizeof *old);
    if (!bigger)
        return false;
    p->roots = bigger;
    p->root_mask = size - 1;
    for (uint32_t i = 0; i < old_size; i++)
        if (old[i].ret)
            *find_root(p, old[i].slot, old[i].ret) = old[i];
    pc_memory_free(old, old_size * sizeof *old);
    return true;
}

int pc_paths_init(struct pc_paths *p, uint32_t max_depth, uint32_t max_words)
{
    p->max_depth = max_depth;
    p->max_words = max_words;
    p->roots = pc_memory(FIRST_ROOTS * sizeof *p->roots);
    if (!p->roots || !reserve_parts(p, 0) || !reserve_words(p, 1) || !reserve_nodes(p, 2))
        return PC_ENOMEM;
    p->root_mask = FIRST_ROOTS - 1;
    p->n_nodes = 1;
    return PC_OK;
}

void pc_paths_clear(struct pc_paths *p)
{
    memset(p->roots, 0, (p->root_mask + 1) * sizeof *p->roots);
    memset(p->free_parts, 0, sizeof p->free_parts);
    p->clears++;
    p->n_roots = p->n_children = p->n_words = p->n_last = 0;
    p->n_nodes = 1;
}

struct pc_path_root *pc_paths_make_root(struct pc_paths *p, unsigned slot, uintptr_t ret)
{
    struct pc_path_root *r = find_root(p, slot, ret);
    if (r->ret)
        return r;
    bool counts = pc_process.is_counted(slot, ret);
    if (!reserve_root(p))
        return NULL;
    r = find_root(p, slot, ret);
    *r = (struct pc_path_root){.ret = ret, .slot = (uint16_t)slot};
    if (counts) {
        uint16_t op = PC_SLOT_OP(slot);
        r->head = (struct pc_event_head){sizeof(struct pcollect_event), op, pc_op_class(op)};
    }
    p->n_roots++;
    return r;
}

/* The value by which a child is chosen. It must not depend on the base of the child. */
static uintptr_t choice(const struct pc_paths *p, const struct pc_path_node *child)
{
    const struct pc_path_word *w = &p->words[child->first];
    return w->value + ((uintptr_t)(intptr_t)child->base & (uintptr_t)(intptr_t)w->relative);
}

const struct pc_path_node *pc_paths_find(struct pc_paths *p, uint32_t start, uintptr_t cfa,
                                         struct pc_path_miss *miss)
{
    uint32_t node = start;
    for (;;) {
        struct pc_path_node *n = &p->nodes[node];
        const struct pc_path_word *w = p->words + n->first;
        uint32_t i = 0;
        while (i < n->n_words && pc_path_read(cfa + (intptr_t)n->base, w + i) == w[i].value)
            i++;
        if (i == n->n_words && n->leaf)
            return n;
        uint32_t next = 0;
        if (i == n->n_words && n->last_child) {
            uintptr_t v = pc_path_branch(n, cfa);
            next = v == n->last_value ? n->last_child : pc_paths_next(p, n, v);
        }
        if (!next) {
            *miss = (struct pc_path_miss){node, i};
            return NULL;
        }
        node = next;
    }
}

/* The place of the first word of a run, in bytes from the call's stack address. */
static int64_t first_place(const struct pc_paths *p, uint32_t first, int32_t base)
{
    return (int64_t)base + p->words[first].place;
}

/* Makes `child` a child of `parent`, and replaces one that is chosen by the same value. The caller
 * has reserved the room of one that is new. */
static void link_child(struct pc_paths *p, uint32_t parent, uint32_t child)
{
    struct pc_path_node *node = &p->nodes[parent], *c = &p->nodes[child];
    uintptr_t value = choice(p, c);
    if (node->parts_mask || (node->last_child && node->last_value != value))
        fill_entry(p, node, entry_for(p, node, value), value, child);
    c->parent = parent;
    node->branch_place = (int32_t)first_place(p, c->first, c->base);
    node->branch_relative = p->words[c->first].relative != 0;
    pc_path_take_child(node, value, child);
}

/* Fills what depends on the words of a node: see struct pc_path_node. */
static void set_words(struct pc_path_node *n, struct pc_path_run run)
{
    n->first = run.first;
    n->base = run.base;
    n->n_words = run.n_words;
    n->n_plain = run.plain ? run.n_words : 0;
    n->record_at = n->leaf && run.plain && !n->flags ? n->record : NULL;
    if (!n->leaf)
        pc_path_take_child(n, n->last_value, n->last_child);
}

/* A part of a node's words. */
static struct pc_path_run part_of(const struct pc_paths *p, const struct pc_path_node *n,
                                  uint32_t from, uint32_t to)
{
    struct pc_path_run run = {n->first + from, to - from, n->base, n->n_plain == n->n_words};
    int32_t relative = 0;
    for (uint32_t i = from; !run.plain && i < to; i++)
        relative |= p->words[n->first + i].relative;
    run.plain = !relative;
    return run;
}

static uint32_t new_node(struct pc_paths *p, struct pc_path_run run)
{
    uint32_t node = p->n_nodes++;
    p->nodes[node] = (struct pc_path_node){0};
    set_words(&p->nodes[node], run);
    return node;
}

/* Cuts node `tail` before its k-th word: a new node takes the words before it and tail's place. */
static uint32_t split(struct pc_paths *p, struct pc_path_root *root, uint32_t tail, uint32_t k)
{
    struct pc_path_node *t = &p->nodes[tail];
    uint32_t head = new_node(p, part_of(p, t, 0, k));
    uint32_t parent = t->parent;
    if (parent)
        link_child(p, parent, head);
    else
        root->node = head;
    set_words(t, part_of(p, t, k, t->n_words));
    link_child(p, head, tail);
    return head;
}

/* Invariant 1: all children of a node read the same place. A walk that breaks this (something that
 * the words do not show has cut it) stays out of the cache. */
static bool fits(const struct pc_paths *p, struct pc_path_miss miss, const struct pc_path_run *run)
{
    if (!miss.node)
        return true;
    if (!run->n_words)
        return false;
    const struct pc_path_node *node = &p->nodes[miss.node];
    const struct pc_path_word *ours = &p->words[run->first];
    int64_t place = first_place(p, run->first, run->base);
    if (miss.word == node->n_words)
        return !node->leaf && node->branch_place == place &&
               node->branch_relative == (ours->relative != 0);
    uint32_t word = node->first + miss.word;
    return place == first_place(p, word, node->base) && ours->relative == p->words[word].relative;
}

/* True if a place is further away than a node can express. */
static bool too_far(const struct pc_paths *p, const struct pc_path_run *run)
{
    int64_t place = run->n_words ? first_place(p, run->first, run->base) : 0;
    return place != (int32_t)place;
}

void pc_paths_set_express(struct pc_paths *p, struct pc_path_root *root)
{
    const struct pc_path_node *n = &p->nodes[root->last];
    uint32_t n_words = n->n_words;
    root->express = n->express;
    if (root->express)
        return;
    for (uint32_t up = n->parent; up; up = p->nodes[up].parent)
        n_words += p->nodes[up].n_words;
    if (!n_words || n_words > MAX_EXPRESS || !pc_paths_reserve(p, n_words) || !reserve_nodes(p, 1))
        return;
    struct pc_path_word *at = p->words + p->n_words + n_words;
    for (uint32_t node = root->last; node; node = n->parent) {
        n = &p->nodes[node];
        for (uint32_t i = n->n_words; i-- > 0;) {
            int64_t place = first_place(p, n->first + i, n->base);
            if (place != (int32_t)place)
                return;
            *--at = (struct pc_path_word){p->words[n->first + i].value, (int32_t)place, 0};
        }
    }
    n = &p->nodes[root->last];
    p->nodes[root->last].express = root->express = p->n_nodes++;
    p->nodes[root->express] = (struct pc_path_node){.first = p->n_words,
                                                    .n_plain = n_words,
                                                    .leaf = n->leaf,
                                                    .record_at = n->record_at,
                                                    .n_words = n_words};
    p->n_words += n_words;
}

bool pc_paths_enter(struct pc_paths *p, struct pc_path_root *root, struct pc_path_miss miss,
                    const struct pc_path_run *runs, int n_runs, struct pc_path_leaf leaf)
{
    if (!fits(p, miss, &runs[0]) || too_far(p, &runs[0]) || too_far(p, &runs[n_runs - 1]) ||
        !reserve_nodes(p, 3) || !reserve_parts(p, miss.node))
        return false;
    uint32_t parent = miss.node;
    if (parent && miss.word < p->nodes[parent].n_words)
        parent = split(p, root, parent, miss.word);
    for (int i = 0; i < n_runs; i++) {
        uint32_t node = new_node(p, runs[i]);
        if (parent)
            link_child(p, parent, node);
        else
            root->node = node;
        parent = node;
    }
    struct pc_path_node *end = &p->nodes[parent];
    end->leaf = leaf.node;
    end->record = leaf.record;
    end->flags = (uint16_t)leaf.flags;
    end->record_at = end->n_plain == end->n_words && !end->flags ? leaf.record : NULL;
    return true;
}
