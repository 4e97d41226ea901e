/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The tree of the reduction: to which rank a rank sends, and from which it receives. Each tree is
 * binomial: ranks have positions from 0, and the parent of a position is that position without its
 * lowest bit. There are two kinds:
 *
 *  - by rank: a position is the number of the rank, and a rank and those below it have consecutive
 *    numbers. Child i is the rank plus 2^i.
 *  - by node: the ranks of a node have positions among themselves, and so have the first ranks of
 *    nodes, both in the order of their numbers. Rank 0 is the first of the first node, and so the
 *    root. One edge leads from each other node to its parent: with n nodes n - 1 edges are between
 *    nodes. A rank has at most ceil(log2 n) children on other nodes, and ceil(log2 of its ranks) on
 *    its own.
 *
 * Rank 0 makes the trees of all ranks in the meeting and sends each its part with the word of OPEN
 * (meet.c): who votes yes has it. So all ranks of a job that merge use the same tree.
 */
#ifndef PC_MERGE_ROUTE_H
#define PC_MERGE_ROUTE_H

#include "merge/transport.h"

#include <stdbool.h>

enum { PC_ROUTE_CHILDREN = 62 }; /* 31 of the node and 31 of nodes */

struct pc_route {
    int parent; /* -1: this is rank 0 */
    int n_children;
    bool by_node;
    /* Those of the node first, each before the ones with more ranks below them. */
    int children[PC_ROUTE_CHILDREN];
};

/* Bytes of a route, from its beginning, that are used in a job of n_ranks. MT-safe. */
static inline size_t pc_route_bytes(int n_ranks)
{
    size_t most = 0; /* children on its node, or on others */
    while (most < 31 && (uint32_t)(n_ranks - 1) >> most)
        most++;
    return offsetof(struct pc_route, children) + 2 * most * sizeof(int);
}

/* Fills in the tree by rank. MT-safe. */
void pc_route_by_rank(struct pc_route *route, int rank, int n_ranks);

/* The ranks of a job by their nodes. */
struct pc_nodes {
    int n_ranks, n_nodes;
    int32_t *node_of; /* by rank; nodes are in the order of their first ranks */
    int32_t *first;   /* by node: its first rank */
    int32_t *ranks;   /* by node, then in the order of their numbers */
    int32_t *begin;   /* by node: where its ranks begin in `ranks`; and the end */
    int32_t *place;   /* by rank: where it is in `ranks` */
};

/* Finds the nodes. ids[r] is a number that ranks of a node have in common, 0: not known; `room` is
 * for pc_nodes_room(n_ranks) numbers, all 0, and is used by the result. True if a tree by node has
 * fewer edges between nodes than the one by rank; false as well if an id is 0. MT-safe. */
bool pc_nodes_find(struct pc_nodes *nodes, const uint64_t *ids, int n_ranks, int32_t *room);
size_t pc_nodes_room(int n_ranks);

/* Fills in the tree by node. MT-safe. */
void pc_route_by_node(struct pc_route *route, const struct pc_nodes *nodes, int rank);

/* Runs on rank 0: reads the node of each rank, which came with the word of HERE, and makes the
 * route of each, which is to go with the word of OPEN. Takes at most 36 bytes of memory a rank
 * until it returns; without it the tree is by rank. MT-safe. */
void pc_route_make(const struct pc_transport *t);

#endif
