/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The nodes and sockets on which ranks are placed, those of the run or hypothetical ones, and the
 * placement on sockets: within each node the ranks that were put there are placed on its sockets in
 * the same way as ranks on nodes (placement.c).
 */
#include "analysis/traffic/traffic.h"

#include <string.h>

/* ---- Slots ---------------------------------------------------------------------------------- */

/* Makes hypothetical nodes, filled in the order of ranks, with the same number of ranks or one less
 * on each. */
static void imagine_nodes(struct pct_slots *s, uint32_t n)
{
    s->n_nodes = n;
    s->nodes = pct_alloc(s->n_nodes, sizeof *s->nodes);
    for (uint32_t i = 0; i < s->n_nodes; i++) {
        char name[16];
        pc_format(name, sizeof name, "NODE%u", i);
        s->nodes[i] = pct_copy(name);
    }
    for (uint32_t r = 0; r < s->n_ranks; r++)
        s->node_of[r] = (uint32_t)((uint64_t)r * n / s->n_ranks);
}

static void take_nodes(struct pct_slots *s, const struct pct_topology *t)
{
    s->n_nodes = t->n_nodes;
    s->nodes = pct_alloc(s->n_nodes, sizeof *s->nodes);
    for (uint32_t i = 0; i < s->n_nodes; i++)
        s->nodes[i] = pct_copy(t->nodes[i]);
    for (uint32_t r = 0; r < s->n_ranks; r++)
        s->node_of[r] = t->places[r].node;
}

static void imagine_sockets(struct pct_slots *s, uint32_t each)
{
    s->n_sockets = s->n_nodes * each;
    s->numbers = pct_alloc(s->n_sockets, sizeof *s->numbers);
    for (uint32_t i = 0; i <= s->n_nodes; i++)
        s->first_socket[i] = i * each;
    for (uint32_t i = 0; i < s->n_sockets; i++)
        s->numbers[i] = i % each;
}

static void take_sockets(struct pct_slots *s, const struct pct_topology *t)
{
    s->n_sockets = t->n_sockets;
    s->numbers = pct_alloc(s->n_sockets, sizeof *s->numbers);
    memcpy(s->first_socket, t->first_socket, (t->n_nodes + (size_t)1) * sizeof *s->first_socket);
    for (uint32_t i = 0; i < s->n_sockets; i++)
        s->numbers[i] = t->sockets[i].number;
    for (uint32_t r = 0; r < s->n_ranks; r++)
        s->socket_of[r] = t->places[r].socket < 0 ? PC_NO_INDEX : (uint32_t)t->places[r].socket;
}

struct pct_slots *pct_slots_new(const struct pct_topology *t, uint32_t n_nodes, uint32_t n_sockets)
{
    struct pct_slots *s = pct_alloc(1, sizeof *s);
    s->n_ranks = t->n_ranks;
    s->node_of = pct_alloc(t->n_ranks, sizeof *s->node_of);
    s->socket_of = pct_alloc(t->n_ranks, sizeof *s->socket_of);
    memset(s->socket_of, 0xff, t->n_ranks * sizeof *s->socket_of);
    if (n_nodes)
        imagine_nodes(s, n_nodes);
    else
        take_nodes(s, t);
    s->first_socket = pct_alloc(s->n_nodes + (size_t)1, sizeof *s->first_socket);
    if (n_sockets)
        imagine_sockets(s, n_sockets);
    else if (!n_nodes)
        take_sockets(s, t);
    for (uint32_t i = 0; i < s->n_nodes; i++)
        s->has_choice |= s->first_socket[i + 1] - s->first_socket[i] > 1;
    return s;
}

void pct_slots_free(struct pct_slots *s)
{
    if (!s)
        return;
    for (uint32_t i = 0; i < s->n_nodes; i++)
        pct_free(s->nodes[i]);
    pct_free(s->nodes);
    pct_free(s->node_of);
    pct_free(s->socket_of);
    pct_free(s->first_socket);
    pct_free(s->numbers);
    pct_free(s);
}

/* ---- Sockets -------------------------------------------------------------------------------- */

/* Ranks by their node, in order of rank. */
struct node_ranks {
    uint32_t *first;    /* by node; one more at the end */
    uint32_t *ranks;    /* by position */
    uint32_t *position; /* by rank */
};

static void make_node_ranks(struct node_ranks *c, const struct pct_slots *s, const uint32_t *node)
{
    c->first = pct_alloc(s->n_nodes + (size_t)2, sizeof *c->first);
    c->ranks = pct_alloc(s->n_ranks, sizeof *c->ranks);
    c->position = pct_alloc(s->n_ranks, sizeof *c->position);
    for (uint32_t r = 0; r < s->n_ranks; r++)
        c->first[node[r] + 2]++;
    for (uint32_t i = 2; i < s->n_nodes + 2; i++)
        c->first[i] += c->first[i - 1];
    for (uint32_t r = 0; r < s->n_ranks; r++) {
        c->position[r] = c->first[node[r] + 1]++;
        c->ranks[c->position[r]] = r;
    }
}

static void free_node_ranks(struct node_ranks *c)
{
    pct_free(c->first);
    pct_free(c->ranks);
    pct_free(c->position);
}

/* Sets the sockets of the ranks of one node, counted from its first: those of the run if all are
 * known, else blocks of equal size in the order of ranks. */
static void slot_as_it_was(const struct pct_slots *s, const struct node_ranks *c, uint32_t node,
                           uint32_t *slot)
{
    uint32_t first = s->first_socket[node], n = s->first_socket[node + 1] - first;
    uint32_t begin = c->first[node], end = c->first[node + 1];
    bool known = true;
    for (uint32_t i = begin; i < end; i++) {
        uint32_t socket = s->socket_of[c->ranks[i]];
        slot[i - begin] = socket - first;
        known &= socket != PC_NO_INDEX && socket - first < n;
    }
    for (uint32_t i = begin; !known && i < end; i++)
        slot[i - begin] = (uint32_t)((uint64_t)(i - begin) * n / (end - begin));
}

/* Makes the initial arrangement: that of the run if the ranks are the same, else in the order of
 * ranks, with the same number on each socket. */
static void slot_in_order(const struct pct_slots *s, const struct node_ranks *old,
                          const struct node_ranks *c, uint32_t node, uint32_t *slot)
{
    uint32_t n = c->first[node + 1] - c->first[node], at = 0;
    uint32_t n_sockets = s->first_socket[node + 1] - s->first_socket[node];
    uint32_t *room = pct_alloc(n_sockets, sizeof *room);
    slot_as_it_was(s, old, node, slot);
    if (!memcmp(&old->ranks[old->first[node]], &c->ranks[c->first[node]], n * sizeof *slot)) {
        pct_free(room);
        return;
    }
    for (uint32_t i = 0; i < n; i++)
        room[slot[i]]++;
    for (uint32_t k = 0; k < n_sockets; k++)
        for (uint32_t i = 0; i < room[k]; i++)
            slot[at++] = k;
    pct_free(room);
}

/* Edges within one node, between positions in it. The graph's edges are sorted by their nodes
 * first. */
static struct pct_graph *split_by_node(const struct pct_graph *g, const struct pct_slots *s,
                                       const uint32_t *node, const struct node_ranks *c)
{
    struct pct_graph *of = pct_alloc(s->n_nodes, sizeof *of);
    for (size_t i = 0; i < g->n_edges; i++)
        if (node[g->edges[i].a] == node[g->edges[i].b])
            of[node[g->edges[i].a]].n_edges++;
    for (uint32_t k = 0; k < s->n_nodes; k++) {
        of[k].n = c->first[k + 1] - c->first[k];
        of[k].edges = pct_alloc(of[k].n_edges, sizeof *of[k].edges);
        of[k].n_edges = 0;
    }
    for (size_t i = 0; i < g->n_edges; i++) {
        struct pct_edge e = g->edges[i];
        uint32_t k = node[e.a];
        if (k != node[e.b])
            continue;
        e.a = c->position[e.a] - c->first[k];
        e.b = c->position[e.b] - c->first[k];
        of[k].edges[of[k].n_edges++] = e;
    }
    return of;
}

static pc_u128 cost_as_it_was(const struct pct_graph *g, const struct pct_slots *s,
                              const struct node_ranks *old)
{
    pc_u128 sum = 0;
    struct pct_graph *of = split_by_node(g, s, s->node_of, old);
    uint32_t *slot = pct_alloc(s->n_ranks, sizeof *slot);
    for (uint32_t k = 0; k < s->n_nodes; k++) {
        bool choice = s->first_socket[k + 1] - s->first_socket[k] > 1;
        if (choice)
            slot_as_it_was(s, old, k, slot);
        for (size_t i = 0; choice && i < of[k].n_edges; i++)
            if (slot[of[k].edges[i].a] != slot[of[k].edges[i].b])
                sum += of[k].edges[i].weight;
        pct_graph_free(&of[k]);
    }
    pct_free(slot);
    pct_free(of);
    return sum;
}

/* Places the ranks of one node on its sockets; `slot` is by position in the node. */
static pc_u128 place_on_sockets(const struct pct_graph *g, uint32_t *slot, uint32_t n_sockets)
{
    struct pct_placement p;
    pct_placement_find(g, slot, n_sockets, &p);
    memcpy(slot, p.node, g->n * sizeof *slot);
    pc_u128 after = p.after;
    pct_placement_free(&p);
    return after;
}

void pct_slots_place(const struct pct_graph *g, const struct pct_slots *s,
                     struct pct_placement *out)
{
    struct node_ranks old, now;
    pct_placement_find(g, s->node_of, s->n_nodes, out);
    out->socket = pct_alloc(s->n_ranks, sizeof *out->socket);
    make_node_ranks(&old, s, s->node_of);
    make_node_ranks(&now, s, out->node);
    struct pct_graph *of = split_by_node(g, s, out->node, &now);
    uint32_t *slot = pct_alloc(s->n_ranks, sizeof *slot);
    out->sockets_before = cost_as_it_was(g, s, &old);
    for (uint32_t k = 0; k < s->n_nodes; k++) {
        uint32_t first = s->first_socket[k], n = s->first_socket[k + 1] - first;
        if (n) {
            slot_in_order(s, &old, &now, k, slot);
            out->sockets_after += place_on_sockets(&of[k], slot, n);
        }
        for (uint32_t i = now.first[k]; i < now.first[k + 1]; i++)
            out->socket[now.ranks[i]] = n ? first + slot[i - now.first[k]] : PC_NO_INDEX;
        pct_graph_free(&of[k]);
    }
    pct_free(slot);
    pct_free(of);
    free_node_ranks(&old);
    free_node_ranks(&now);
}
