/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The tree of the reduction: see route.h. Linked into libpcollect.so, where meet.c calls it, and
 * into the merge module. Needs base/ alone. Must not: call malloc.
 */
#include "merge/route.h"

#include "base/base.h"

#include <string.h>
#include <sys/mman.h>

static int rank_at(const int32_t *ranks, uint32_t position)
{
    return ranks ? ranks[position] : (int)position;
}

/* Adds the neighbours of a position in a binomial tree of n ranks; NULL: each has the position of
 * its number. */
static void add_neighbours(struct pc_route *route, const int32_t *ranks, int n, uint32_t at)
{
    if (at)
        route->parent = rank_at(ranks, at & (at - 1));
    for (uint32_t bit = 1; !(at & bit) && bit < (uint32_t)n - at; bit <<= 1)
        route->children[route->n_children++] = rank_at(ranks, at | bit);
}

void pc_route_by_rank(struct pc_route *route, int rank, int n_ranks)
{
    *route = (struct pc_route){.parent = -1};
    add_neighbours(route, NULL, n_ranks, (uint32_t)rank);
}

void pc_route_by_node(struct pc_route *route, const struct pc_nodes *nodes, int rank)
{
    int node = nodes->node_of[rank], begin = nodes->begin[node];
    int position = nodes->place[rank] - begin;
    *route = (struct pc_route){.parent = -1, .by_node = true};
    add_neighbours(route, nodes->ranks + begin, nodes->begin[node + 1] - begin, (uint32_t)position);
    if (!position)
        add_neighbours(route, nodes->first, nodes->n_nodes, (uint32_t)node);
}

/* ---- The nodes ------------------------------------------------------------------------------ */

/* At least twice as many slots as ranks, a power of two. */
static size_t count_slots(int n_ranks)
{
    size_t n = 2;
    while (n < 2 * (size_t)n_ranks)
        n *= 2;
    return n;
}

size_t pc_nodes_room(int n_ranks)
{
    return 3 * (size_t)n_ranks + 1 + count_slots(n_ranks);
}

/* The node of each rank; false if an id is 0. `slots` is a hash table of nodes, from 1; ranks and
 * places are written over it later. */
static bool number_nodes(struct pc_nodes *nodes, const uint64_t *ids, int32_t *slots)
{
    size_t mask = count_slots(nodes->n_ranks) - 1;
    for (int r = 0; r < nodes->n_ranks; r++) {
        if (!ids[r])
            return false;
        size_t slot = pc_hash_u64(ids[r]) & mask;
        while (slots[slot] && ids[nodes->first[slots[slot] - 1]] != ids[r])
            slot = (slot + 1) & mask;
        if (!slots[slot]) {
            nodes->first[nodes->n_nodes] = r;
            slots[slot] = ++nodes->n_nodes;
        }
        nodes->node_of[r] = slots[slot] - 1;
    }
    return true;
}

static void list_ranks(struct pc_nodes *nodes)
{
    for (int r = 0; r < nodes->n_ranks; r++)
        nodes->begin[nodes->node_of[r] + 1]++;
    for (int node = 0; node < nodes->n_nodes; node++)
        nodes->begin[node + 1] += nodes->begin[node];
    /* A begin advances to its end, which is the begin of the next node. */
    for (int r = 0; r < nodes->n_ranks; r++) {
        nodes->place[r] = nodes->begin[nodes->node_of[r]]++;
        nodes->ranks[nodes->place[r]] = r;
    }
    for (int node = nodes->n_nodes; node > 0; node--)
        nodes->begin[node] = nodes->begin[node - 1];
    nodes->begin[0] = 0;
}

bool pc_nodes_find(struct pc_nodes *nodes, const uint64_t *ids, int n_ranks, int32_t *room)
{
    size_t n = (size_t)n_ranks;
    int n_edges = 0; /* between nodes in the tree by rank */
    *nodes = (struct pc_nodes){.n_ranks = n_ranks,
                               .node_of = room,
                               .first = room + n,
                               .begin = room + 2 * n,
                               .ranks = room + 3 * n + 1,
                               .place = room + 4 * n + 1};
    if (!number_nodes(nodes, ids, nodes->ranks))
        return false;
    for (int r = 0; r < n_ranks; r++)
        n_edges += nodes->node_of[r] != nodes->node_of[r & (r - 1)];
    list_ranks(nodes);
    return n_edges > nodes->n_nodes - 1;
}

void pc_route_make(const struct pc_transport *t)
{
    int n = t->n_ranks;
    struct pc_nodes nodes;
    struct pc_route route;
    size_t bytes = (size_t)n * sizeof(uint64_t) + pc_nodes_room(n) * sizeof(int32_t);
    uint64_t *ids = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    bool by_node = ids != MAP_FAILED;
    for (int r = 0; by_node && r < n; r++)
        memcpy(&ids[r], t->with_word(t->self, PC_MEET_HERE, r), sizeof ids[r]);
    by_node = by_node && pc_nodes_find(&nodes, ids, n, (int32_t *)(ids + n));
    for (int r = 0; r < n; r++) {
        if (by_node)
            pc_route_by_node(&route, &nodes, r);
        else
            pc_route_by_rank(&route, r, n);
        memcpy(t->with_word(t->self, PC_MEET_OPEN, r), &route, pc_route_bytes(n));
    }
    if (ids != MAP_FAILED)
        munmap(ids, bytes);
}
