/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Counts the contexts of MPI calls: see context_count.h. A context is the path of labels that
 * tree.c would give it; here it is a hash of that path, made from the hash of its caller and its
 * own label. Two of a million are equal by chance with a probability of 3e-8. Nodes of the profile
 * are in preorder, so that only the hashes above a node are kept.
 */
#include "analysis/tree/context_count.h"

#include "analysis/tree/label.h"

#include <stdlib.h>

/* A node of the tree that would be made. */
struct place {
    uint64_t path;  /* hash */
    uint32_t depth; /* frames from the root to here */
};

/* A node of the profile, and where it is in the tree. */
struct level {
    uint32_t node;
    struct place at;
};

struct counting {
    const struct pc_profile *profile;
    struct pct_symbols *symbols;
    const struct pct_tree_options *options;
    struct level *above; /* from the root on */
    size_t n_above, room;
    bool several;    /* programs */
    uint64_t *calls; /* paths of OP nodes */
    size_t n_calls;
    struct pct_buf label;
};

static bool is_deepest(const struct counting *c, struct place at)
{
    return c->options->depth && at.depth >= c->options->depth;
}

/* The child with the label in the buffer. */
static struct place child(const struct counting *c, struct place at, uint16_t kind)
{
    uint64_t seed = pc_hash_u64(at.path ^ kind);
    return (struct place){pc_hash_bytes(c->label.data, c->label.n, seed),
                          at.depth + (kind != PCOLLECT_NODE_OP)};
}

static struct place add_program(struct counting *c, struct place at, uint32_t node)
{
    const struct pc_profile_node *n = &c->profile->nodes[node];
    if (!c->several || !pct_label_begins_program(c->profile, n))
        return at;
    pct_buf_clear(&c->label);
    pct_label_program(&c->label, c->profile, n->module, false);
    return child(c, at, PCOLLECT_NODE_FRAME);
}

static struct place add_frames(struct counting *c, struct place at, uint32_t node)
{
    const struct pc_profile_node *own = &c->profile->nodes[node];
    struct pct_place place = pct_symbols_node_once(c->symbols, node);
    at = add_program(c, at, node);
    for (uint32_t i = 0; i < place.n_frames && !is_deepest(c, at); i++) {
        const struct pct_frame *f = &place.frames[i];
        const struct pc_profile_node *n = f->tail_call ? &c->profile->nodes[own->parent] : own;
        pct_buf_clear(&c->label);
        pct_label_frame(&c->label, c->profile, n, f,
                        PCT_LABEL_LINE | (c->options->full_paths ? PCT_LABEL_FULL_PATHS : 0));
        at = child(c, at, PCOLLECT_NODE_FRAME);
    }
    return at;
}

static struct place add_other(struct counting *c, struct place at, uint32_t node)
{
    pct_buf_clear(&c->label);
    pct_label_other(&c->label, c->profile, &c->profile->nodes[node]);
    return child(c, at, c->profile->nodes[node].kind);
}

/* The place of a node, which is below `at`. */
static struct place add_node(struct counting *c, struct place at, uint32_t node)
{
    switch (c->profile->nodes[node].kind) {
    case PCOLLECT_NODE_FRAME:
        return add_frames(c, at, node);
    case PCOLLECT_NODE_OP:
        at = add_other(c, add_frames(c, at, node), node);
        c->calls[c->n_calls++] = at.path;
        return at;
    case PCOLLECT_NODE_CUT:
    case PCOLLECT_NODE_PHASE:
    case PCOLLECT_NODE_REGION:
        return is_deepest(c, at) ? at : add_other(c, at, node);
    default:
        return at;
    }
}

static void add_nodes(struct counting *c)
{
    const struct pc_profile *p = c->profile;
    for (uint32_t i = 0; i < p->n_nodes; i++) {
        while (c->n_above && c->above[c->n_above - 1].node != p->nodes[i].parent)
            c->n_above--;
        struct place at = {0, 0};
        if (c->n_above)
            at = add_node(c, c->above[c->n_above - 1].at, i);
        c->above = pct_grow(c->above, c->n_above, &c->room, sizeof *c->above);
        c->above[c->n_above++] = (struct level){i, at};
    }
}

static int compare(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

size_t pct_context_count(const struct pc_profile *p, struct pct_symbols *s,
                         const struct pct_tree_options *options)
{
    struct counting c = {.profile = p, .symbols = s, .options = options};
    size_t n_ops = 0, n = 0;
    for (uint32_t i = 0; i < p->n_nodes; i++)
        n_ops += p->nodes[i].kind == PCOLLECT_NODE_OP;
    c.several = pct_label_programs(p, NULL) > 1;
    c.calls = pct_alloc(n_ops, sizeof *c.calls);
    add_nodes(&c);
    if (n_ops)
        qsort(c.calls, n_ops, sizeof *c.calls, compare);
    for (size_t i = 0; i < n_ops; i++)
        n += !i || c.calls[i - 1] != c.calls[i];
    pct_free(c.calls);
    pct_free(c.above);
    pct_buf_free(&c.label);
    return n;
}
