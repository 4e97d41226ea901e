/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Shared by matrix.c and places.c.
 */
#ifndef PCT_TOPOLOGY_PRIVATE_H
#define PCT_TOPOLOGY_PRIVATE_H

#include "analysis/traffic/traffic.h"

static inline bool pct_topology_is_rank(const struct pct_topology *t, int32_t rank)
{
    return rank >= 0 && (uint32_t)rank < t->n_ranks;
}

/* Fills places, nodes and sockets; n_ranks is set. */
void pct_topology_read_places(struct pct_topology *t, const struct pc_profile *p);

#endif
