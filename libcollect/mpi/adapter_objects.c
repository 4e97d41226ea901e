/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The map from handles of files and windows to their ids (adapter_objects.h).
 */
#include "libcollect/mpi/adapter_objects.h"

#include <stdatomic.h>

enum { N_PLACES = 4096, MOST_PROBES = 64 };

static struct {
    _Atomic uint64_t handle; /* 0: free; once set it stays */
    _Atomic uint64_t id;
} places[N_PLACES];

static _Atomic uint64_t n_windows;

static uint32_t first_place(uint64_t handle)
{
    return (uint32_t)pc_hash_u64(handle) % N_PLACES;
}

static void enter(uint64_t handle, uint64_t id)
{
    uint32_t at = first_place(handle);
    for (unsigned i = 0; i < MOST_PROBES; i++, at = (at + 1) % N_PLACES) {
        uint64_t there = 0;
        if (atomic_compare_exchange_strong(&places[at].handle, &there, handle) || there == handle) {
            atomic_store(&places[at].id, id);
            return;
        }
    }
}

void pc_want_object(struct pc_call *call, uint64_t handle)
{
    uint32_t at = first_place(handle);
    if (!(pc_core->wants & PCOLLECT_WANT_OBJECT))
        return;
    for (unsigned i = 0; i < MOST_PROBES; i++, at = (at + 1) % N_PLACES) {
        uint64_t there = atomic_load_explicit(&places[at].handle, memory_order_acquire);
        if (there == handle)
            call->event.object = atomic_load_explicit(&places[at].id, memory_order_relaxed);
        if (!there || there == handle)
            return;
    }
}

void pc_rule_opened(struct pc_call *call, const char *filename, const MPI_File *file)
{
    if (!(pc_core->wants & PCOLLECT_WANT_OBJECT))
        return;
    call->event.object = pc_core->string(filename);
    enter((uint64_t)(uintptr_t)*file, call->event.object);
}

void pc_rule_made_window(struct pc_call *call, const MPI_Win *window)
{
    if (!(pc_core->wants & PCOLLECT_WANT_OBJECT))
        return;
    call->event.object = atomic_fetch_add(&n_windows, 1) + 1;
    enter((uint64_t)(uintptr_t)*window, call->event.object);
}
