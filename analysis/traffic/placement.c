/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Finds a placement of ranks on nodes with less traffic between nodes. Three initial placements
 * (that of the run; ranks in order; nodes filled one after the other with the rank that
 * communicates most with those already there) are improved by exchanging pairs of ranks as long as
 * this helps; the best is used. It is a heuristic: a better one may exist.
 */
#include "analysis/traffic/traffic.h"

#include <string.h>

enum { MAX_PASSES = 32 };

/* Above this number of ranks times nodes no table of weights by rank and node is made: the best
 * initial placement is used unchanged. */
#define MAX_CELLS ((size_t)1 << 27)

struct work {
    const struct pct_graph *g;
    uint32_t n_nodes;
    size_t *first;         /* by rank: index of its first neighbour; n + 1 entries */
    struct pct_edge *near; /* b is the neighbour */
    uint32_t *capacity;
    uint64_t *to; /* rank x node: weight to the ranks there */
    /* While ranks are exchanged: those of node k are ranks[begin[k]] to ranks[begin[k + 1] - 1]. */
    uint32_t *begin, *ranks;
    uint32_t *place;   /* by rank: index into ranks */
    uint32_t *visitor; /* by node: 1 + the rank that looked at it last */
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
        w->near[w->first[e.b + 1]++] = (struct pct_edge){e.b, e.a, e.weight, 0};
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

struct partner {
    uint32_t rank;
    int64_t gain; /* decrease of the sum */
};

/* Finds the rank on that node with which an exchange gains most, if it gains more than `best`. */
static void find_partner(const struct work *w, const uint32_t *node, uint32_t rank, uint32_t target,
                         struct partner *best)
{
    int64_t own = gain(w, node, rank, target);
    for (uint32_t i = w->begin[target]; i < w->begin[target + 1]; i++) {
        uint32_t other = w->ranks[i];
        int64_t sum = own + gain(w, node, other, node[rank]);
        if (sum > best->gain)
            sum -= 2 * (int64_t)weight_between(w, rank, other);
        if (sum > best->gain)
            *best = (struct partner){other, sum};
    }
}

/* Exchanges `rank` with the rank on the nodes of its neighbours for which the sum decreases most;
 * false: there is none. Ranks on other nodes that would gain find `rank` in their own turn. */
static bool exchange(struct work *w, uint32_t *node, uint32_t rank)
{
    struct partner best = {rank, 0};
    for (size_t i = w->first[rank]; i < w->first[rank + 1]; i++) {
        uint32_t target = node[w->near[i].b];
        if (target == node[rank] || w->visitor[target] == rank + 1)
            continue;
        w->visitor[target] = rank + 1;
        find_partner(w, node, rank, target, &best);
    }
    if (best.rank == rank)
        return false;
    uint32_t mine = node[rank], place = w->place[rank];
    move(w, node, rank, node[best.rank]);
    move(w, node, best.rank, mine);
    w->place[rank] = w->place[best.rank];
    w->place[best.rank] = place;
    w->ranks[w->place[rank]] = rank;
    w->ranks[place] = best.rank;
    return true;
}

/* Lists ranks by node. */
static void list_ranks(struct work *w, const uint32_t *node)
{
    for (uint32_t k = 0; k < w->n_nodes; k++)
        w->begin[k + 1] = w->begin[k] + w->capacity[k];
    for (uint32_t rank = w->g->n; rank-- > 0;) {
        w->place[rank] = --w->begin[node[rank] + 1];
        w->ranks[w->place[rank]] = rank;
    }
    for (uint32_t k = 0; k < w->n_nodes; k++)
        w->begin[k + 1] = w->begin[k] + w->capacity[k];
    memset(w->visitor, 0, w->n_nodes * sizeof *w->visitor);
}

static void improve(struct work *w, uint32_t *node)
{
    memset(w->to, 0, (size_t)w->g->n * w->n_nodes * sizeof *w->to);
    for (size_t i = 0; i < w->g->n_edges; i++) {
        const struct pct_edge *e = &w->g->edges[i];
        *to(w, e->a, node[e->b]) += e->weight;
        *to(w, e->b, node[e->a]) += e->weight;
    }
    list_ranks(w, node);
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

/* ---- Binary heap of ranks without a node that communicate with the node being filled --------- */

struct heap {
    uint32_t *rank; /* rank[0] communicates most; of equal ones the lowest */
    uint32_t *at;   /* by rank: its position in the heap; PC_NO_INDEX: none */
    uint64_t *pull; /* by rank: weight to the node; 0 if not in the heap */
    uint32_t n;
};

static bool comes_first(const struct heap *h, uint32_t a, uint32_t b)
{
    return h->pull[a] != h->pull[b] ? h->pull[a] > h->pull[b] : a < b;
}

static void put(struct heap *h, uint32_t at, uint32_t rank)
{
    h->rank[at] = rank;
    h->at[rank] = at;
}

static void rise(struct heap *h, uint32_t at, uint32_t rank)
{
    while (at && comes_first(h, rank, h->rank[(at - 1) / 2])) {
        put(h, at, h->rank[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    put(h, at, rank);
}

static void sink(struct heap *h, uint32_t at, uint32_t rank)
{
    for (uint32_t child; (child = 2 * at + 1) < h->n; at = child) {
        if (child + 1 < h->n && comes_first(h, h->rank[child + 1], h->rank[child]))
            child++;
        if (!comes_first(h, h->rank[child], rank))
            break;
        put(h, at, h->rank[child]);
    }
    put(h, at, rank);
}

static void pull_more(struct heap *h, uint32_t rank, uint64_t weight)
{
    h->pull[rank] += weight;
    rise(h, h->at[rank] == PC_NO_INDEX ? h->n++ : h->at[rank], rank);
}

static uint32_t take_first(struct heap *h)
{
    uint32_t first = h->rank[0], last = h->rank[--h->n];
    if (h->n)
        sink(h, 0, last);
    h->at[first] = PC_NO_INDEX;
    h->pull[first] = 0;
    return first;
}

static void empty_heap(struct heap *h)
{
    for (uint32_t i = 0; i < h->n; i++) {
        h->at[h->rank[i]] = PC_NO_INDEX;
        h->pull[h->rank[i]] = 0;
    }
    h->n = 0;
}

/* Fills each node with the rank that communicates most with those already there, else the
 * lowest. */
static void fill_by_weight(const struct work *w, uint32_t *node)
{
    size_t n = w->g->n;
    struct heap h = {pct_alloc(n, sizeof *h.rank), pct_alloc(n, sizeof *h.at),
                     pct_alloc(n, sizeof *h.pull), 0};
    uint32_t lowest = 0;
    memset(h.at, 0xff, n * sizeof *h.at);
    memset(node, 0xff, n * sizeof *node);
    for (uint32_t k = 0; k < w->n_nodes; k++) {
        for (uint32_t i = 0; i < w->capacity[k]; i++) {
            while (node[lowest] != PC_NO_INDEX)
                lowest++;
            uint32_t best = h.n ? take_first(&h) : lowest;
            node[best] = k;
            for (size_t j = w->first[best]; j < w->first[best + 1]; j++)
                if (node[w->near[j].b] == PC_NO_INDEX)
                    pull_more(&h, w->near[j].b, w->near[j].weight);
        }
        empty_heap(&h);
    }
    pct_free(h.rank);
    pct_free(h.at);
    pct_free(h.pull);
}

static void make_room(struct work *w, size_t n)
{
    w->to = pct_alloc(n * w->n_nodes, sizeof *w->to);
    w->begin = pct_alloc((size_t)w->n_nodes + 1, sizeof *w->begin);
    w->ranks = pct_alloc(n, sizeof *w->ranks);
    w->place = pct_alloc(n, sizeof *w->place);
    w->visitor = pct_alloc(w->n_nodes, sizeof *w->visitor);
}

static void free_work(struct work *w)
{
    pct_free(w->first);
    pct_free(w->near);
    pct_free(w->capacity);
    pct_free(w->to);
    pct_free(w->begin);
    pct_free(w->ranks);
    pct_free(w->place);
    pct_free(w->visitor);
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
        make_room(&w, g->n);
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
    pct_free(node);
    free_work(&w);
}

void pct_placement_free(struct pct_placement *p)
{
    pct_free(p->node);
    pct_free(p->socket);
    *p = (struct pct_placement){0};
}
