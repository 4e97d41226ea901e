/* SPDX-License-Identifier: BSD-3-Clause */
#include "watch/comm_members.h"

#include "analysis/allocation.h"
#include "libcollect/adapter.h"
#include "watch/caught.h"
#include "watch/mpi_call.h"

void pct_comm_places_read(struct pct_comm_places *p, int pid, int world, uint64_t adapter)
{
    struct pc_adapter a;
    if (!pct_mpi_adapter_read(pid, adapter, &a))
        return;
    struct pc_seen_comm *seen = pct_alloc(PC_SEEN_COMMS, sizeof *seen);
    size_t n = pct_caught_read(pid, (uintptr_t)a.comms, seen, PC_SEEN_COMMS * sizeof *seen);
    for (size_t i = 0; i < n / sizeof *seen; i++) {
        if (seen[i].size <= 0 || seen[i].rank >= (uint32_t)seen[i].size)
            continue;
        p->at = pct_grow(p->at, p->n, &p->room, sizeof *p->at);
        p->at[p->n++] = (struct pct_comm_place){seen[i].id, world, (int)seen[i].rank, seen[i].size};
    }
    pct_free(seen);
}

/* NULL also for several communicators with one id and different members. */
int *pct_comm_members(const struct pct_comm_places *p, uint64_t id, int *n_out)
{
    int *members = NULL, size = 0, n = 0;
    for (size_t i = 0; i < p->n; i++) {
        const struct pct_comm_place *at = &p->at[i];
        if (at->id != id)
            continue;
        if (!members) {
            if ((size_t)at->size > p->n) /* not all of them have been read */
                return NULL;
            size = at->size;
            members = pct_alloc((size_t)size, sizeof *members);
            for (int k = 0; k < size; k++)
                members[k] = -1;
        }
        if (at->size != size || (members[at->rank] >= 0 && members[at->rank] != at->world)) {
            n = -1;
            break;
        }
        n += members[at->rank] < 0;
        members[at->rank] = at->world;
    }
    if (members && n == size) {
        *n_out = size;
        return members;
    }
    pct_free(members);
    return NULL;
}

void pct_comm_places_free(struct pct_comm_places *p)
{
    pct_free(p->at);
    *p = (struct pct_comm_places){0};
}
