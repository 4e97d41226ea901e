/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A placement of ranks on nodes that sends less between them. Three beginnings (as it was; ranks
 * in order; nodes filled one after the other with the rank that talks most to those already there)
 * are improved by exchanges of two ranks as long as that helps; the best is taken. It is a
 * heuristic: nothing says that there is no better one.
 */
#include "analysis/traffic/traffic.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_PASSES = 32 };

/* Above this number of ranks times nodes no table of weights by rank and node is made: the best
 * beginning is taken as it is. */
#define MAX_CELLS ((size_t)1 << 27)

struct work {
    const struct pct_graph *g;
    uint32_t n_nodes;
    size_t *first;         /* by rank: index of its first neighbour; n + 1 entries */
    struct pct_edge *near; /* b is the neighbour */
    uint32_t *capacity;
    uint64_t *to; /* rank x node: weight to the ranks there */
};

static void make_neighbours(struct work *w)
{
    const struct pct_graph *g = w->g;
    w->first = pct_alloc((size_t)g->n + 2, sizeof *w->first);
    w->near = pct_alloc(2 * g->n_edges, sizeof *w->near);
    for (size_t i = 0; i < g->n_edges; i++) {
        w->first[g->edges[i].a + 2]++;
        w->first[g->edges[i].b + 2]++;
    }
    for (uint32_t r = 0; r < g->n; r++)
        w->first[r + 2] += w->first[r + 1];
    for (size_t i = 0; i < g->n_edges; i++) {
        struct pct_edge e = g->edges[i];
        w->near[w->first[e.a + 1]++] = e;
        w->near[w->first[e.b + 1]++] = (struct pct_edge){e.b, e.a, e.weight};
    }
}

static pc_u128 cost(const struct pct_graph *g, const uint32_t *node)
{
    pc_u128 sum = 0;
    for (size_t i = 0; i < g->n_edges; i++)
        if (node[g->edges[i].a] != node[g->edges[i].b])
            sum += g->edges[i].weight;
    return sum;
}

static uint64_t *to(const struct work *w, uint32_t rank, uint32_t node)
{
    return &w->to[(size_t)rank * w->n_nodes + node];
}

static void move(struct work *w, uint32_t *node, uint32_t rank, uint32_t target)
{
    for (size_t i = w->first[rank]; i < w->first[rank + 1]; i++) {
        *to(w, w->near[i].b, node[rank]) -= w->near[i].weight;
        *to(w, w->near[i].b, target) += w->near[i].weight;
    }
    node[rank] = target;
}

static uint64_t weight_between(const struct work *w, uint32_t a, uint32_t b)
{
    for (size_t i = w->first[a]; i < w->first[a + 1]; i++)
        if (w->near[i].b == b)
            return w->near[i].weight;
    return 0;
}

static int64_t gain(const struct work *w, const uint32_t *node, uint32_t rank, uint32_t target)
{
    return (int64_t)(*to(w, rank, target) - *to(w, rank, node[rank]));
}

/* Exchanges `rank` with the one for which the sum falls most; false: with none. */
static bool exchange(struct work *w, uint32_t *node, uint32_t rank)
{
    int64_t best = 0;
    uint32_t with = rank;
    for (uint32_t other = 0; other < w->g->n; other++) {
        if (node[other] == node[rank])
            continue;
        int64_t sum = gain(w, node, rank, node[other]) + gain(w, node, other, node[rank]);
        if (sum > best)
            sum -= 2 * (int64_t)weight_between(w, rank, other);
        if (sum > best) {
            best = sum;
            with = other;
        }
    }
    if (with == rank)
        return false;
    uint32_t mine = node[rank];
    move(w, node, rank, node[with]);
    move(w, node, with, mine);
    return true;
}

static void improve(struct work *w, uint32_t *node)
{
    memset(w->to, 0, (size_t)w->g->n * w->n_nodes * sizeof *w->to);
    for (size_t i = 0; i < w->g->n_edges; i++) {
        const struct pct_edge *e = &w->g->edges[i];
        *to(w, e->a, node[e->b]) += e->weight;
        *to(w, e->b, node[e->a]) += e->weight;
    }
    bool changed = true;
    for (int pass = 0; changed && pass < MAX_PASSES; pass++) {
        changed = false;
        for (uint32_t rank = 0; rank < w->g->n; rank++)
            if (w->first[rank] != w->first[rank + 1])
                changed |= exchange(w, node, rank);
    }
}

static void fill_in_order(const struct work *w, uint32_t *node)
{
    uint32_t rank = 0;
    for (uint32_t k = 0; k < w->n_nodes; k++)
        for (uint32_t i = 0; i < w->capacity[k]; i++)
            node[rank++] = k;
}

/* Each node is filled with the rank that talks most to those already there, else the lowest. */
static void fill_by_weight(const struct work *w, uint32_t *node)
{
    uint64_t *pull = pct_alloc(w->g->n, sizeof *pull);
    for (uint32_t r = 0; r < w->g->n; r++)
        node[r] = PC_NO_INDEX;
    for (uint32_t k = 0; k < w->n_nodes; k++) {
        memset(pull, 0, w->g->n * sizeof *pull);
        for (uint32_t i = 0; i < w->capacity[k]; i++) {
            uint32_t best = PC_NO_INDEX;
            for (uint32_t r = 0; r < w->g->n; r++)
                if (node[r] == PC_NO_INDEX && (best == PC_NO_INDEX || pull[r] > pull[best]))
                    best = r;
            node[best] = k;
            for (size_t j = w->first[best]; j < w->first[best + 1]; j++)
                pull[w->near[j].b] += w->near[j].weight;
        }
    }
    free(pull);
}

void pct_placement_find(const struct pct_graph *g, const uint32_t *node_of, uint32_t n_nodes,
                        struct pct_placement *out)
{
    *out = (struct pct_placement){0};
    struct work w = {.g = g, .n_nodes = n_nodes, .capacity = pct_alloc(n_nodes, sizeof(uint32_t))};
    uint32_t *node = pct_alloc(g->n, sizeof *node);
    bool small = (size_t)g->n * n_nodes <= MAX_CELLS && g->n <= 8192;
    make_neighbours(&w);
    for (uint32_t r = 0; r < g->n; r++)
        w.capacity[node_of[r]]++;
    if (small)
        w.to = pct_alloc((size_t)g->n * n_nodes, sizeof *w.to);
    out->node = pct_alloc(g->n, sizeof *out->node);
    memcpy(out->node, node_of, g->n * sizeof *node);
    out->before = out->after = cost(g, node_of);
    for (int beginning = 0; beginning < 3; beginning++) {
        memcpy(node, node_of, g->n * sizeof *node);
        if (beginning == 1)
            fill_in_order(&w, node);
        if (beginning == 2)
            fill_by_weight(&w, node);
        if (small)
            improve(&w, node);
        pc_u128 now = cost(g, node);
        if (now < out->after) {
            out->after = now;
            memcpy(out->node, node, g->n * sizeof *node);
        }
    }
    free(node);
    free(w.first);
    free(w.near);
    free(w.capacity);
    free(w.to);
}

void pct_placement_free(struct pct_placement *p)
{
    free(p->node);
    free(p->socket);
    *p = (struct pct_placement){0};
}
