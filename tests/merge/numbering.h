/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ways in which launchers number the ranks of several nodes.
 */
#ifndef TESTS_MERGE_NUMBERING_H
#define TESTS_MERGE_NUMBERING_H

#include "base/base.h"

enum numbering { BY_NODE, ROUND_ROBIN, AT_RANDOM, UNEQUAL, N_NUMBERINGS };

/* The node of each rank, from 1. UNEQUAL: node k has k ranks, in the order of their numbers. */
static inline void number_nodes(enum numbering how, int n_ranks, int ranks_a_node, uint64_t *ids)
{
    int n_nodes = (n_ranks + ranks_a_node - 1) / ranks_a_node, node = 1, n_here = 0;
    for (int r = 0; r < n_ranks; r++) {
        ids[r] = 1 + (uint64_t)(how == ROUND_ROBIN ? r % n_nodes : r / ranks_a_node);
        if (how == UNEQUAL)
            ids[r] = (uint64_t)node;
        if (++n_here == node) {
            node++;
            n_here = 0;
        }
    }
    for (int r = n_ranks - 1; how == AT_RANDOM && r > 0; r--) {
        uint64_t other = pc_hash_u64((uint64_t)r * 77 + 5) % ((uint64_t)r + 1), id = ids[r];
        ids[r] = ids[other];
        ids[other] = id;
    }
}

#endif
