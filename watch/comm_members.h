/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Members of communicators: each rank knows its own place in its communicators (struct
 * pc_seen_comm), and the places of all ranks together show the members. There are none without
 * libpcollect.
 */
#ifndef PCT_COMM_MEMBERS_H
#define PCT_COMM_MEMBERS_H

#include <stddef.h>
#include <stdint.h>

/* A rank of MPI_COMM_WORLD in a communicator. */
struct pct_comm_place {
    uint64_t id;
    int world, rank, size;
};

struct pct_comm_places {
    struct pct_comm_place *at;
    size_t n, room;
};

/* Adds the places of a process, whose adapter's descriptor is at that address. */
void pct_comm_places_read(struct pct_comm_places *p, int pid, int world, uint64_t adapter);

/* The world ranks of a communicator by rank in it, to be freed with pct_free; NULL: not all are
 * known. */
int *pct_comm_members(const struct pct_comm_places *p, uint64_t id, int *n_out);

void pct_comm_places_free(struct pct_comm_places *p);

#endif
