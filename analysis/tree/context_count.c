/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Counts the contexts of MPI calls: see context_count.h. A context is the path of labels that
 * tree.c would give it; here it is a hash of that path, made from the hash of its caller and its
 * own label. Two of a million are equal by chance with a probability of 3e-8. Contexts are read in
 * their order, so that only the hashes above one are kept.
 */
#include "analysis/tree/context_count.h"

#include "analysis/tree/label.h"
#include "format/contexts.h"

#include <stdlib.h>

/* A node of the tree that would be made. */
struct place {
    uint64_t path;  /* hash */
    uint32_t depth; /* frames from the root to here */
};

struct counting {
    const struct pc_profile *profile;
    struct pc_contexts *contexts;
    struct pct_symbols *symbols;
    const struct pct_tree_options *options;
    struct place *places; /* by level */
    size_t room;
    bool several;    /* programs */
    uint64_t *calls; /* paths of OP nodes */
    size_t n_calls, calls_room;
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

/* The node around the one that was read last, or NULL. */
static const struct pc_profile_node *above(const struct counting *c)
{
    uint32_t level = c->contexts->level;
    return level ? pc_contexts_at(c->contexts, level - 1) : NULL;
}

static struct place add_program(struct counting *c, struct place at)
{
    const struct pc_profile_node *n = c->contexts->node;
    if (!c->several || !pct_label_begins_program(c->profile, n, above(c)))
        return at;
    pct_buf_clear(&c->label);
    pct_label_program(&c->label, c->profile, n->module, false);
    return child(c, at, PCOLLECT_NODE_FRAME);
}

static struct place add_frames(struct counting *c, struct place at)
{
    const struct pc_profile_node *own = c->contexts->node, *up = above(c);
    struct pct_place place = pct_symbols_node_once(c->symbols, own, up);
    at = add_program(c, at);
    for (uint32_t i = 0; i < place.n_frames && !is_deepest(c, at); i++) {
        const struct pct_frame *f = &place.frames[i];
        pct_buf_clear(&c->label);
        pct_label_frame(&c->label, c->profile, f->tail_call ? up : own, f,
                        PCT_LABEL_LINE | (c->options->full_paths ? PCT_LABEL_FULL_PATHS : 0));
        at = child(c, at, PCOLLECT_NODE_FRAME);
    }
    return at;
}

static struct place add_other(struct counting *c, struct place at)
{
    pct_buf_clear(&c->label);
    pct_label_other(&c->label, c->profile, c->contexts->node);
    return child(c, at, c->contexts->node->kind);
}

/* The place of the node that was read last, which is below `at`. */
static struct place add_node(struct counting *c, struct place at)
{
    switch (c->contexts->node->kind) {
    case PCOLLECT_NODE_FRAME:
        return add_frames(c, at);
    case PCOLLECT_NODE_OP:
        at = add_other(c, add_frames(c, at));
        c->calls = pct_grow(c->calls, c->n_calls, &c->calls_room, sizeof *c->calls);
        c->calls[c->n_calls++] = at.path;
        return at;
    case PCOLLECT_NODE_CUT:
    case PCOLLECT_NODE_PHASE:
    case PCOLLECT_NODE_REGION:
        return is_deepest(c, at) ? at : add_other(c, at);
    default:
        return at;
    }
}

/* Symbols may be refused memory: then the owner ends the reading. */
static void add_nodes(struct counting *c)
{
    c->contexts = pct_hold(pc_contexts_new(c->profile), pc_contexts_free);
    while (c->contexts && pc_contexts_next(c->contexts)) {
        uint32_t level = c->contexts->level;
        c->places = pct_grow(c->places, level, &c->room, sizeof *c->places);
        c->places[level] = level ? add_node(c, c->places[level - 1]) : (struct place){0, 0};
    }
    if (!c->contexts || pc_contexts_close(c->contexts))
        pct_memory_refuse();
    pct_end(c->contexts, pc_contexts_free);
}

static int compare(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

size_t pct_context_count(const struct pct_totals *m, struct pct_symbols *s,
                         const struct pct_tree_options *options)
{
    struct counting c = {.profile = m->profile, .symbols = s, .options = options};
    size_t n = 0;
    for (uint32_t op = 0; op < m->profile->n_ops; op++)
        c.calls_room += m->ops[op].n_contexts;
    c.several = m->programs.n > 1;
    c.calls = pct_alloc(c.calls_room, sizeof *c.calls);
    add_nodes(&c);
    if (c.n_calls)
        qsort(c.calls, c.n_calls, sizeof *c.calls, compare);
    for (size_t i = 0; i < c.n_calls; i++)
        n += !i || c.calls[i - 1] != c.calls[i];
    pct_free(c.calls);
    pct_free(c.places);
    pct_buf_free(&c.label);
    return n;
}
