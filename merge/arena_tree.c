/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The trees of an arena's threads become one tree of a profile.
 *
 * First all trees are overlaid: nodes with equal keys under equal parents become one, and their
 * records are combined (arena_records.c). Then nodes without a used record in or below them are
 * left out, children are sorted, and the result is written in preorder.
 */
#include "merge/image.h"

#include <stdlib.h>
#include <string.h>

enum { NO_CHILD = 0 }; /* the root is not a child */

/* ---- The unified tree ------------------------------------------------------------------------ */

static uint64_t hash_node(const struct image_node *n)
{
    uint64_t below = pc_hash_u64((uint64_t)n->parent << 32 | n->what);
    return pc_hash_u64(below + n->offset + ((uint64_t)n->kind << 40));
}

static bool same_key(const struct image_node *a, const struct image_node *b)
{
    return a->parent == b->parent && a->kind == b->kind && a->what == b->what &&
           a->offset == b->offset;
}

static uint32_t *find_slot(const struct image *m, const struct image_node *key)
{
    uint32_t i = (uint32_t)hash_node(key) & (m->n_slots - 1);
    while (m->slots[i] && !same_key(&m->nodes[m->slots[i] - 1], key))
        i = (i + 1) & (m->n_slots - 1);
    return &m->slots[i];
}

static bool is_indexed(const struct image *m, uint32_t parent)
{
    return m->nodes[parent].n_children > PC_IMAGE_LISTED;
}

static bool reserve_nodes(struct image *m, uint32_t capacity)
{
    struct image_node *nodes = pc_pool_array(m->tree, capacity, sizeof *nodes);
    uint32_t *slots = pc_pool_array(m->tree, (size_t)capacity * 2, sizeof *slots);
    if (!nodes || !slots)
        return false;
    if (m->n_nodes)
        memcpy(nodes, m->nodes, m->n_nodes * sizeof *nodes);
    m->nodes = nodes;
    m->slots = slots;
    m->n_slots = capacity * 2;
    m->node_capacity = capacity;
    for (uint32_t i = 1; i < m->n_nodes; i++)
        if (is_indexed(m, nodes[i].parent))
            *find_slot(m, &nodes[i]) = i + 1;
    return true;
}

static uint32_t find_node(const struct image *m, const struct image_node *key)
{
    if (is_indexed(m, key->parent)) {
        uint32_t slot = *find_slot(m, key);
        return slot ? slot - 1 : PC_NO_INDEX;
    }
    for (uint32_t c = m->nodes[key->parent].first_child; c != NO_CHILD; c = m->nodes[c].next)
        if (same_key(&m->nodes[c], key))
            return c;
    return PC_NO_INDEX;
}

/* The node with that key, found or made; PC_NO_INDEX: no memory. */
static uint32_t unify(struct image *m, const struct image_node *key)
{
    uint32_t index = find_node(m, key);
    if (index != PC_NO_INDEX)
        return index;
    if (m->n_nodes == m->node_capacity && !reserve_nodes(m, 2 * m->node_capacity))
        return PC_NO_INDEX;
    index = m->n_nodes++;
    struct image_node *parent = &m->nodes[key->parent];
    m->nodes[index] = *key;
    m->nodes[index].next = parent->first_child;
    parent->first_child = index;
    if (is_indexed(m, key->parent)) {
        *find_slot(m, key) = index + 1;
        return index;
    }
    parent->n_children++;
    for (uint32_t c = index; is_indexed(m, key->parent) && c != NO_CHILD; c = m->nodes[c].next)
        *find_slot(m, &m->nodes[c]) = c + 1;
    return index;
}

static uint32_t module_index(const struct image *m, pcollect_ref ref)
{
    uint32_t lo = 0, hi = m->n_modules;
    while (lo < hi) {
        uint32_t mid = (lo + hi) / 2;
        if (m->modules[mid].ref == ref)
            return m->modules[mid].index;
        if (m->modules[mid].ref < ref)
            lo = mid + 1;
        else
            hi = mid;
    }
    return PC_NO_INDEX;
}

/* The key of an arena's node under `parent`; false: it is damaged. */
static bool key_of(const struct image *m, const struct pcollect_node *n, uint32_t parent,
                   struct image_node *key)
{
    *key = (struct image_node){.parent = parent, .kind = n->kind, .what = PC_NO_INDEX};
    unsigned above = m->nodes[parent].kind;
    switch (n->kind) {
    case PCOLLECT_NODE_FRAME:
    case PCOLLECT_NODE_POINT:
        key->what = module_index(m, n->module);
        key->offset = n->offset;
        return true;
    case PCOLLECT_NODE_DOMAIN:
        key->offset = n->offset;
        return above == PCOLLECT_NODE_OP;
    case PCOLLECT_NODE_PHASE:
        key->offset = n->offset;
        return above == PCOLLECT_NODE_ROOT;
    case PCOLLECT_NODE_REGION:
        key->offset = n->offset;
        return above == PCOLLECT_NODE_ROOT || above == PCOLLECT_NODE_PHASE ||
               above == PCOLLECT_NODE_REGION;
    case PCOLLECT_NODE_OP:
        key->what = n->op < PCOLLECT_MAX_OPS ? m->op_index[n->op] : PC_NO_INDEX;
        return key->what != PC_NO_INDEX;
    case PCOLLECT_NODE_CUT:
        return true;
    default:
        return false;
    }
}

void pc_image_need(struct image *m, uint32_t node)
{
    for (uint32_t up = node; !m->nodes[up].needed; up = m->nodes[up].parent)
        m->nodes[up].needed = true;
}

/* ---- Reading --------------------------------------------------------------------------------- */

struct pending {
    pcollect_ref first; /* first of a list of siblings */
    uint32_t parent;
};

struct pending_stack {
    struct pending *at;
    uint32_t depth, capacity;
};

static bool push(struct image *m, struct pending_stack *s, pcollect_ref first, uint32_t parent)
{
    if (s->depth == s->capacity) {
        uint32_t capacity = s->capacity ? s->capacity * 2 : 256;
        struct pending *at = pc_pool_array(m->scratch, capacity, sizeof *at);
        if (!at)
            return false;
        if (s->depth)
            memcpy(at, s->at, s->depth * sizeof *at);
        s->at = at;
        s->capacity = capacity;
    }
    s->at[s->depth++] = (struct pending){first, parent};
    return true;
}

/* One node and its record; its children are pushed. */
static int read_node(struct image *m, pcollect_ref ref, const struct pcollect_node *n,
                     const struct image_node *key, struct pending_stack *stack)
{
    uint32_t index = unify(m, key);
    if (index == PC_NO_INDEX)
        return PC_ENOMEM;
    m->nodes[index].flags |= n->flags & PCOLLECT_FLAG_COLLAPSED;
    if (ref < m->n_refs)
        m->node_of[ref] = index;
    pcollect_ref record = __atomic_load_n(&n->record, __ATOMIC_ACQUIRE);
    if (pcollect_node_has_record(n->kind) && pc_image_add_record(m, index, record))
        return PC_ENOMEM;
    if (m->nodes[index].record)
        pc_image_need(m, index);
    pcollect_ref first = __atomic_load_n(&n->first_child, __ATOMIC_ACQUIRE);
    return push(m, stack, first, index) ? PC_OK : PC_ENOMEM;
}

/* Overlays one thread's tree on the unified one. A damaged sibling is left out together with those
 * after it in the list. */
static int read_tree(struct image *m, pcollect_ref root, struct pending_stack *stack)
{
    const struct pcollect_node *r = pc_image_claim(m, root, sizeof *r);
    if (!r || r->kind != PCOLLECT_NODE_ROOT) {
        pc_image_damaged(m, "tree", root);
        return PC_OK;
    }
    if (!push(m, stack, __atomic_load_n(&r->first_child, __ATOMIC_ACQUIRE), 0))
        return PC_ENOMEM;
    while (stack->depth) {
        struct pending *top = &stack->at[stack->depth - 1];
        pcollect_ref ref = top->first;
        const struct pcollect_node *n = ref ? pc_image_claim(m, ref, sizeof *n) : NULL;
        struct image_node key;
        if (!n || !key_of(m, n, top->parent, &key)) {
            if (ref)
                pc_image_damaged(m, "context", ref);
            stack->depth--;
            continue;
        }
        top->first = n->next;
        if (read_node(m, ref, n, &key, stack))
            return PC_ENOMEM;
    }
    return PC_OK;
}

/* Frames from a node to the root of its tree; 0: the node does not lead to a root, or is one. */
static uint32_t path_length(const struct image *m, pcollect_ref ref)
{
    enum { MAX_PATH = 65536 };
    for (uint32_t n = 0; n < MAX_PATH; n++) {
        const struct pcollect_node *node = pc_image_at(m, ref, sizeof *node);
        if (!node)
            return 0;
        if (node->kind == PCOLLECT_NODE_ROOT)
            return n;
        ref = node->parent;
    }
    return 0;
}

/* Adds a context of a tree that is not read, from its root to `ref`. Claims nothing: the same bytes
 * may be read again. */
static int add_path(struct image *m, pcollect_ref ref, uint32_t *out)
{
    uint32_t n = path_length(m, ref), at = 0;
    const struct pcollect_node **path = pc_pool_array(m->scratch, n, sizeof *path);
    if (!path)
        return PC_ENOMEM;
    for (uint32_t i = 0; i < n; i++) {
        path[i] = pc_image_at(m, ref, sizeof **path);
        ref = path[i]->parent;
    }
    for (uint32_t i = n; i--;) {
        struct image_node key;
        if (!key_of(m, path[i], at, &key))
            return PC_OK;
        at = unify(m, &key);
        if (at == PC_NO_INDEX)
            return PC_ENOMEM;
    }
    *out = at;
    return PC_OK;
}

int pc_image_node_of(struct image *m, pcollect_ref ref, uint32_t *out)
{
    *out = 0;
    if (!ref || ref >= m->most / PCOLLECT_REF_UNIT)
        return PC_OK;
    if (ref < m->n_refs && m->node_of[ref]) {
        *out = m->node_of[ref];
        return PC_OK;
    }
    return add_path(m, ref, out);
}

/* A room for the nodes of the trees that are read. A node and its share of a record take more than
 * LEAST_BYTES in most arenas, so that it is enough. After the merge few nodes are made. */
static uint32_t first_room(const struct image *m, enum pc_merge_part part)
{
    enum { LEAST_BYTES = 64 };
    uint32_t room = 256;
    while (part != PC_MERGE_LATE && room < m->n / LEAST_BYTES)
        room *= 2;
    return room;
}

int pc_image_read_trees(struct image *m, enum pc_merge_part part)
{
    struct pending_stack stack = {NULL, 0, 0};
    if (!reserve_nodes(m, first_room(m, part)))
        return PC_ENOMEM;
    m->nodes[m->n_nodes++] = (struct image_node){
        .parent = PC_NO_INDEX, .kind = PCOLLECT_NODE_ROOT, .what = PC_NO_INDEX, .needed = true};
    pcollect_ref ref = m->threads;
    for (uint32_t i = 0; i < m->n_threads; i++) {
        const struct pcollect_thread *t = pc_image_at(m, ref, sizeof *t);
        if (pc_image_wants(t, part) && read_tree(m, t->root, &stack))
            return PC_ENOMEM;
        ref = t->next;
    }
    return PC_OK;
}

/* ---- Writing --------------------------------------------------------------------------------- */

/* The order of pc_node_compare, backwards. */
static int compare_backwards(const void *a, const void *b)
{
    const struct image_node *x = *(const struct image_node *const *)a;
    const struct image_node *y = *(const struct image_node *const *)b;
    if (x->kind != y->kind)
        return x->kind < y->kind ? 1 : -1;
    if (x->what != y->what)
        return x->what < y->what ? 1 : -1;
    return (x->offset < y->offset) - (x->offset > y->offset);
}

/* Pushes the needed children of a node, the first in order on top. */
static uint32_t push_children(const struct image *m, const struct image_node *node,
                              const struct image_node **stack, uint32_t depth)
{
    uint32_t first = depth;
    for (uint32_t c = node->first_child; c != NO_CHILD; c = m->nodes[c].next)
        if (m->nodes[c].needed)
            stack[depth++] = &m->nodes[c];
    if (depth - first == 2 && compare_backwards(&stack[first], &stack[first + 1]) > 0) {
        const struct image_node *swap = stack[first];
        stack[first] = stack[first + 1];
        stack[first + 1] = swap;
    } else if (depth - first > 2) {
        qsort(stack + first, depth - first, sizeof *stack, compare_backwards);
    }
    return depth;
}

/* A node of the profile. Its record is still where it was: `data` and `n_descendants` are its
 * number and is_sum. */
static struct pc_profile_node node_of(const struct image *m, const struct image_node *from)
{
    return (struct pc_profile_node){
        .parent = from->parent == PC_NO_INDEX ? PC_NO_INDEX : m->place[from->parent],
        .kind = from->kind,
        .flags = from->flags,
        .module = from->kind == PCOLLECT_NODE_OP ? PC_NO_INDEX : from->what,
        .op = from->kind == PCOLLECT_NODE_OP ? from->what : PC_NO_INDEX,
        .data = from->record ? from->record : PC_NO_INDEX,
        .n_descendants = from->is_sum,
        .offset = from->offset};
}

static bool write_nodes(struct image *m)
{
    struct pc_profile *p = m->profile;
    const struct image_node **stack = pc_pool_array(m->tree, m->n_nodes, sizeof *stack);
    m->place = pc_pool_array(m->scratch, m->n_nodes, sizeof *m->place);
    p->nodes = pc_pool_array(p->memory, m->n_nodes, sizeof *p->nodes);
    if (!stack || !m->place || !p->nodes)
        return false;
    uint32_t depth = 0;
    stack[depth++] = m->nodes;
    while (depth) {
        const struct image_node *from = stack[--depth];
        m->place[from - m->nodes] = p->n_nodes;
        p->nodes[p->n_nodes] = node_of(m, from);
        p->n_data += p->nodes[p->n_nodes++].data != PC_NO_INDEX;
        depth = push_children(m, from, stack, depth);
    }
    return true;
}

static bool write_records(struct image *m)
{
    struct pc_profile *p = m->profile;
    struct pc_buffer room = {0};
    p->records = pc_pool_new();
    p->data = p->records ? pc_pool_array(p->records, p->n_data, sizeof *p->data) : NULL;
    p->n_data = 0;
    bool ok = p->data != NULL;
    for (uint32_t i = 0; i < p->n_nodes && ok; i++) {
        struct pc_profile_node *n = &p->nodes[i];
        if (n->data != PC_NO_INDEX)
            ok = pc_image_write_record(m, (struct image_record){n->data, n->n_descendants}, n,
                                       &room);
    }
    free(room.data);
    return ok;
}

/* Nodes come first, and records when the unified tree is gone: they take its memory. */
int pc_image_write_tree(struct image *m)
{
    bool ok = write_nodes(m);
    pc_pool_free(m->tree);
    m->tree = NULL;
    m->nodes = NULL;
    m->slots = NULL;
    if (!ok || !write_records(m))
        return PC_ENOMEM;
    pc_profile_count_descendants(m->profile);
    return PC_OK;
}
