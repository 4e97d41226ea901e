/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The trees of several runs as one: see join_tree.h. Nodes of the join are taken in their order;
 * each finds or makes the node that it is part of, among the children of that of its parent.
 * Children are linked in the order in which they were made.
 */
#include "analysis/compare/join_tree.h"

#include "analysis/hash_index.h"
#include "analysis/tree/label.h"
#include "analysis/tree/samples.h"

#include <stdlib.h>
#include <string.h>

struct maker {
    struct pct_join_tree *tree;
    struct pct_hash_index by_name;
    uint32_t *last_child; /* by node */
    size_t last_room;
};

/* The name of a node. Computation is part of the function that computes: of the node of its calls,
 * or of a separate one. */
static const char *name_of(const struct pct_join *j, uint32_t node)
{
    const struct pct_join_node *n = &j->nodes[node];
    struct pct_buf b = {0};
    bool frame = n->kind == PCOLLECT_NODE_FRAME || n->kind == PCOLLECT_NODE_POINT;
    if (node == j->compute)
        return j->divided ? "(time outside MPI without a sample)" : "(computation outside MPI)";
    if (!frame)
        return n->label;
    if (n->function)
        pct_text_escape(&b, n->function, PCT_ESCAPE_CELL);
    else
        pct_label_put_nameless(&b, n->label);
    const char *name = pct_pool_intern(j->pool, b.data);
    pct_buf_free(&b);
    return name;
}

static struct pct_join_tree_node describe(const struct pct_join *j, uint32_t node)
{
    const struct pct_join_node *n = &j->nodes[node];
    bool computes = n->kind == PCOLLECT_NODE_POINT;
    return (struct pct_join_tree_node){.first_child = PC_NO_INDEX,
                                       .next = PC_NO_INDEX,
                                       .of = node,
                                       .name = name_of(j, node),
                                       .kind = computes ? PCOLLECT_NODE_FRAME : n->kind,
                                       .inlined = n->inlined,
                                       .sampled = computes,
                                       .waits = n->waits};
}

static bool is_same(const struct pct_join *j, const struct pct_join_tree_node *a,
                    const struct pct_join_tree_node *b)
{
    const struct pct_join_node *x = &j->nodes[a->of], *y = &j->nodes[b->of];
    return a->parent == b->parent && a->kind == b->kind && a->name == b->name &&
           x->file == y->file && pct_join_call_file(x) == pct_join_call_file(y) &&
           pct_join_call_line(x) == pct_join_call_line(y) && x->site.number == y->site.number;
}

/* Adds a node as the last child of its parent. */
static uint32_t add_node(struct maker *m, const struct pct_join_tree_node *node)
{
    struct pct_join_tree *t = m->tree;
    uint32_t at = (uint32_t)t->n++;
    t->nodes = pct_grow(t->nodes, at, &t->room, sizeof *t->nodes);
    t->nodes[at] = *node;
    m->last_child = pct_grow(m->last_child, at, &m->last_room, sizeof *m->last_child);
    m->last_child[at] = PC_NO_INDEX;
    if (node->parent == PC_NO_INDEX)
        return at;
    uint32_t last = m->last_child[node->parent];
    if (last == PC_NO_INDEX)
        t->nodes[node->parent].first_child = at;
    else
        t->nodes[last].next = at;
    m->last_child[node->parent] = at;
    return at;
}

/* Finds the child of its parent that is like this one, or adds it. */
static uint32_t find_or_add(struct maker *m, const struct pct_join_tree_node *like)
{
    const struct pct_join *j = m->tree->join;
    const struct pct_join_node *place = &j->nodes[like->of];
    uint64_t from = (uint64_t)like->parent << 32 | pct_join_call_line(place);
    uint64_t name = pc_hash_u64((uintptr_t)like->name ^ place->site.number);
    struct pct_hash_search search = {.hash = (uint32_t)pc_hash_u64(from ^ name)};
    uint32_t c;
    while ((c = pct_hash_next(&m->by_name, &search)) != PC_NO_INDEX)
        if (is_same(j, &m->tree->nodes[c], like))
            return c;
    c = add_node(m, like);
    pct_hash_add(&m->by_name, search.hash, c);
    return c;
}

static void take_node(struct maker *m, uint32_t node)
{
    const struct pct_join *j = m->tree->join;
    struct pct_join_tree_node like = describe(j, node);
    like.parent = m->tree->part_of[j->nodes[node].parent];
    uint32_t at = find_or_add(m, &like);
    m->tree->nodes[at].inlined |= like.inlined;
    m->tree->nodes[at].sampled |= like.sampled;
    m->tree->nodes[at].waits |= like.waits;
    m->tree->part_of[node] = at;
}

static void sum_up(struct pct_join_tree *t,
                   double (*figure)(const struct pct_join_node *node, const struct pct_cost *cost))
{
    size_t n = t->join->n_runs;
    t->own = pct_alloc(t->n * n, sizeof *t->own);
    t->below = pct_alloc(t->n * n, sizeof *t->below);
    t->few = pct_alloc(t->n, sizeof *t->few);
    t->few_below = pct_alloc(t->n, sizeof *t->few_below);
    double *samples = pct_alloc(t->n, sizeof *samples);
    for (uint32_t i = 0; i < t->join->n; i++)
        for (size_t k = 0; k < n; k++) {
            const struct pct_cost *cost = pct_join_cost(t->join, i, k);
            t->own[t->part_of[i] * n + k] += figure(&t->join->nodes[i], cost);
            samples[t->part_of[i]] += cost->samples;
        }
    for (uint32_t i = 0; i < t->n; i++)
        t->few[i] = samples[i] > 0 && samples[i] < PCT_SAMPLES_FEW;
    for (size_t i = t->n; i-- > 0;) {
        t->few_below[i] = samples[i] < PCT_SAMPLES_FEW;
        if (i)
            samples[t->nodes[i].parent] += samples[i];
    }
    pct_free(samples);
    memcpy(t->below, t->own, t->n * n * sizeof *t->own);
    for (size_t i = t->n; i-- > 1;)
        for (size_t k = 0; k < n; k++)
            t->below[t->nodes[i].parent * n + k] += t->below[i * n + k];
}

struct pct_join_tree *pct_join_tree_new(const struct pct_join *j,
                                        double (*figure)(const struct pct_join_node *node,
                                                         const struct pct_cost *cost))
{
    struct pct_join_tree *t = pct_alloc(1, sizeof *t);
    struct maker m = {.tree = t};
    t->join = j;
    t->part_of = pct_alloc(j->n, sizeof *t->part_of);
    add_node(&m, &(struct pct_join_tree_node){.parent = PC_NO_INDEX,
                                              .first_child = PC_NO_INDEX,
                                              .next = PC_NO_INDEX,
                                              .kind = PCOLLECT_NODE_ROOT,
                                              .name = ""});
    for (uint32_t i = 1; i < j->n; i++)
        take_node(&m, i);
    sum_up(t, figure);
    pct_hash_free(&m.by_name);
    pct_free(m.last_child);
    return t;
}

void pct_join_tree_free(struct pct_join_tree *t)
{
    if (!t)
        return;
    pct_free(t->nodes);
    pct_free(t->part_of);
    pct_free(t->own);
    pct_free(t->below);
    pct_free(t->few);
    pct_free(t->few_below);
    pct_free(t);
}

/* ---- Order ----------------------------------------------------------------------------------- */

struct ordered {
    double value;
    uint32_t node;
};

static int compare_ordered(const void *a, const void *b)
{
    const struct ordered *x = a, *y = b;
    if (x->value != y->value)
        return x->value > y->value ? -1 : 1;
    return x->node < y->node ? -1 : x->node > y->node;
}

void pct_join_tree_sort(struct pct_join_tree *t, const double *order)
{
    struct ordered *list = pct_alloc(t->n, sizeof *list);
    for (size_t i = 0; i < t->n; i++) {
        size_t n = 0;
        for (uint32_t c = t->nodes[i].first_child; c != PC_NO_INDEX; c = t->nodes[c].next)
            list[n++] = (struct ordered){order[c], c};
        if (n < 2)
            continue;
        qsort(list, n, sizeof *list, compare_ordered);
        t->nodes[i].first_child = list[0].node;
        for (size_t k = 0; k < n; k++)
            t->nodes[list[k].node].next = k + 1 < n ? list[k + 1].node : PC_NO_INDEX;
    }
    pct_free(list);
}
