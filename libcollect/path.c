/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The path cache's store: lookup and entry (path.h has the structure and its invariants).
 */
#include "libcollect/path.h"

#include "libcollect/core_private.h"

#include <string.h>

enum { FIRST_WORDS = 1024, FIRST_NODES = 256, FIRST_ROOTS = 64, FIRST_CHILDREN = 256 };

/* Replaces *memory by a zero-filled one of twice the capacity that begins with its `used` bytes. */
static bool grow(void **memory, size_t used, size_t old_bytes, size_t new_bytes)
{
    void *bigger = pc_memory(new_bytes);
    if (!bigger)
        return false;
    if (*memory) {
        memcpy(bigger, *memory, used);
        pc_memory_free(*memory, old_bytes);
    }
    *memory = bigger;
    return true;
}

static bool reserve_words(struct pc_paths *p, uint32_t n)
{
    if (p->n_words + n <= p->word_capacity)
        return true;
    uint32_t capacity = p->word_capacity ? p->word_capacity : FIRST_WORDS;
    while (capacity < p->n_words + n)
        capacity *= 2;
    void *words = p->words, *resume = p->resume;
    if (!grow(&words, p->n_words * sizeof *p->words, p->word_capacity * sizeof *p->words,
              capacity * sizeof *p->words))
        return false;
    p->words = words;
    /* If this fails the words are larger than they need be, which harms nothing. */
    if (!grow(&resume, p->n_words * sizeof *p->resume, p->word_capacity * sizeof *p->resume,
              capacity * sizeof *p->resume))
        return false;
    p->resume = resume;
    p->word_capacity = capacity;
    return true;
}

static bool reserve_nodes(struct pc_paths *p, uint32_t n)
{
    if (p->n_nodes + n <= p->node_capacity)
        return true;
    uint32_t capacity = p->node_capacity ? p->node_capacity * 2 : FIRST_NODES;
    void *nodes = p->nodes;
    if (!grow(&nodes, p->n_nodes * sizeof *p->nodes, p->node_capacity * sizeof *p->nodes,
              capacity * sizeof *p->nodes))
        return false;
    p->nodes = nodes;
    p->node_capacity = capacity;
    return true;
}

static struct pc_path_child *find_child(const struct pc_paths *p, uint32_t node, uintptr_t value)
{
    uint32_t i = pc_path_hash_child(node, value) & p->child_mask;
    while (p->children[i].child && (p->children[i].node != node || p->children[i].value != value))
        i = (i + 1) & p->child_mask;
    return &p->children[i];
}

static bool reserve_children(struct pc_paths *p, uint32_t n)
{
    if ((p->n_children + n) * 2 <= p->child_mask + 1)
        return true;
    uint32_t old_size = p->child_mask + 1, size = old_size * 2;
    struct pc_path_child *old = p->children, *bigger = pc_memory(size * sizeof *old);
    if (!bigger)
        return false;
    p->children = bigger;
    p->child_mask = size - 1;
    for (uint32_t i = 0; i < old_size; i++)
        if (old[i].child)
            *find_child(p, old[i].node, old[i].value) = old[i];
    pc_memory_free(old, old_size * sizeof *old);
    return true;
}

static struct pc_path_root *find_root(const struct pc_paths *p, unsigned slot, uintptr_t ret)
{
    uint32_t i = pc_path_hash_root(slot, ret) & p->root_mask;
    while (p->roots[i].ret && (p->roots[i].ret != ret || p->roots[i].slot != slot))
        i = (i + 1) & p->root_mask;
    return &p->roots[i];
}

static bool reserve_root(struct pc_paths *p)
{
    if ((p->n_roots + 1) * 2 <= p->root_mask + 1)
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
    p->children = pc_memory(FIRST_CHILDREN * sizeof *p->children);
    if (!p->roots || !p->children || !reserve_words(p, 1) || !reserve_nodes(p, 2))
        return PC_ENOMEM;
    p->root_mask = FIRST_ROOTS - 1;
    p->child_mask = FIRST_CHILDREN - 1;
    p->n_nodes = 1;
    return PC_OK;
}

void pc_paths_clear(struct pc_paths *p)
{
    memset(p->roots, 0, (p->root_mask + 1) * sizeof *p->roots);
    memset(p->children, 0, (p->child_mask + 1) * sizeof *p->children);
    p->clears++;
    p->n_roots = p->n_children = p->n_words = p->n_spine = 0;
    p->n_nodes = 1;
}

struct pc_path_root *pc_paths_make_root(struct pc_paths *p, unsigned slot, uintptr_t ret)
{
    struct pc_path_root *r = find_root(p, slot, ret);
    if (r->ret)
        return r;
    bool counts = pc_mpi_counts(slot, ret);
    if (!reserve_root(p))
        return NULL;
    r = find_root(p, slot, ret);
    *r = (struct pc_path_root){.ret = ret, .slot = slot};
    if (counts) {
        uint16_t op = PC_SLOT_OP(slot);
        r->head = (struct pc_event_head){sizeof(struct pcollect_event), op, pc_op_class(op)};
    }
    p->n_roots++;
    return r;
}

/* The value by which a child is chosen: it must not depend on the child's base. */
static uintptr_t choice(const struct pc_paths *p, const struct pc_path_node *child)
{
    const struct pc_path_word *w = &p->words[child->first];
    return w->value + ((uintptr_t)(intptr_t)child->base & (uintptr_t)(intptr_t)w->relative);
}

uint32_t pc_paths_next(const struct pc_paths *p, uint32_t node, uintptr_t cfa)
{
    const struct pc_path_node *last = &p->nodes[p->nodes[node].last_child];
    const struct pc_path_word *w = &p->words[last->first];
    uintptr_t v = *(const uintptr_t *)(cfa + (intptr_t)last->base + (intptr_t)w->place);
    v -= cfa & (uintptr_t)(intptr_t)w->relative;
    return find_child(p, node, v)->child;
}

uint32_t pc_paths_append(struct pc_paths *p, const struct pc_path_word *words,
                         const struct pc_path_resume *resume, uint32_t n)
{
    if (p->n_words + n > p->max_words || !reserve_words(p, n))
        return UINT32_MAX;
    uint32_t first = p->n_words;
    memcpy(p->words + first, words, n * sizeof *words);
    memcpy(p->resume + first, resume, n * sizeof *resume);
    p->n_words += n;
    return first;
}

/* Makes `child` a child of `parent`. Room was reserved. */
static void link_child(struct pc_paths *p, uint32_t parent, uint32_t child)
{
    uintptr_t value = choice(p, &p->nodes[child]);
    struct pc_path_child *c = find_child(p, parent, value);
    if (!c->child)
        p->n_children++;
    *c = (struct pc_path_child){value, parent, child};
    p->nodes[child].parent = parent;
    p->nodes[parent].last_child = child;
}

static bool is_plain(const struct pc_path_word *w, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (w[i].relative)
            return false;
    return true;
}

static uint32_t new_node(struct pc_paths *p, struct pc_path_run run)
{
    uint32_t node = p->n_nodes++;
    p->nodes[node] = (struct pc_path_node){.first = run.first,
                                           .n_words = run.n_words,
                                           .base = run.base,
                                           .plain = is_plain(p->words + run.first, run.n_words)};
    return node;
}

/* Cuts node `tail` before its k-th word: a new node takes the words before it and tail's place. */
static uint32_t split(struct pc_paths *p, struct pc_path_root *root, uint32_t tail, uint32_t k)
{
    struct pc_path_node *t = &p->nodes[tail];
    uint32_t head = new_node(p, (struct pc_path_run){t->first, k, t->base});
    uint32_t parent = t->parent;
    if (parent)
        link_child(p, parent, head);
    else
        root->node = head;
    t->first += k;
    t->n_words -= k;
    link_child(p, head, tail);
    return head;
}

/* Invariant 1: what is read at a branch is read at one place. A walk that breaks it (it was cut by
 * something that the words do not tell) stays out of the cache. */
static bool fits(const struct pc_paths *p, struct pc_path_miss miss, const struct pc_path_run *run)
{
    if (!miss.node)
        return true;
    if (!run->n_words)
        return false;
    const struct pc_path_node *node = &p->nodes[miss.node];
    uint32_t word = node->first + miss.word;
    if (miss.word == node->n_words) {
        if (node->leaf)
            return false;
        node = &p->nodes[node->last_child];
        word = node->first;
    }
    const struct pc_path_word *ours = &p->words[run->first], *theirs = &p->words[word];
    return ours->place + run->base == theirs->place + node->base &&
           ours->relative == theirs->relative;
}

bool pc_paths_enter(struct pc_paths *p, struct pc_path_root *root, struct pc_path_miss miss,
                    const struct pc_path_run *runs, int n_runs, struct pc_path_leaf leaf)
{
    if (!fits(p, miss, &runs[0]) || !reserve_nodes(p, 3) || !reserve_children(p, 4))
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
    p->nodes[parent].leaf = leaf.node;
    p->nodes[parent].record = leaf.record;
    p->nodes[parent].flags = (uint16_t)leaf.flags;
    return true;
}
