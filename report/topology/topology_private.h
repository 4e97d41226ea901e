/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What matrix.c and places.c share.
 */
#ifndef PCT_TOPOLOGY_PRIVATE_H
#define PCT_TOPOLOGY_PRIVATE_H

#include "report/topology/topology.h"

/* Index of a column, PC_NO_INDEX if there is none. */
uint32_t pct_topology_column(const struct pc_profile_table *t, const char *name);

/* A cell; 0 of a column that is not there. */
uint64_t pct_topology_cell(const struct pc_profile_table *t, uint32_t row, uint32_t column);

bool pct_topology_is_rank(const struct pct_topology *t, int32_t rank);

/* Fills places, nodes and sockets; n_ranks is set. */
void pct_topology_read_places(struct pct_topology *t, const struct pc_profile *p);

#endif
