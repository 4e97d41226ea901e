/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Samples of the current edge: counts how many fell into each context. A small hash table of the
 * thread, emptied when the edge is booked.
 *
 * Every function of this file may run in a signal handler.
 */
#include "libcollect/sampling/edges.h"

/* Limits the samples, so that a search ends soon. */
enum { MOST_SAMPLES = PC_EDGES_SLOTS * 3 / 4 };

void pc_edges_sample(struct pc_edges *e, pcollect_ref node)
{
    pcollect_ref context = node ? node : e->call;
    uint32_t i = (uint32_t)pc_hash_u64(context) % PC_EDGES_SLOTS;
    while (e->samples[i].n && e->samples[i].node != context)
        i = (i + 1) % PC_EDGES_SLOTS;
    if (!e->samples[i].n) {
        if (e->n_samples == MOST_SAMPLES) {
            e->n_unplaced++;
            return;
        }
        e->n_samples++;
        e->samples[i].node = context;
    }
    e->samples[i].n++;
}
