/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The map from handles of files and windows to their ids (adapter_objects.h).
 */
#include "libcollect/mpi/adapter_objects.h"

#include "libcollect/mpi/adapter_domain.h"
#include "libcollect/mpi/adapter_names.h"
#include "libcollect/mpi/adapter_want.h"

#include <stdatomic.h>

enum { N_PLACES = 4096, MOST_PROBES = 64 };

/* Limit on windows with a number of their own: otherwise a program that makes some in every step
 * would fill the arena with them. */
enum { MOST_WINDOWS = 1024 };

struct place {
    _Atomic uint64_t handle; /* 0: free; set once, never changed */
    _Atomic uint64_t id;
    _Atomic uint32_t comm; /* number of a window's communicator */
    _Atomic uint32_t name; /* of a window, as interned; 0: none */
};

static struct place places[N_PLACES];
static _Atomic uint64_t n_windows;

static uint32_t first_place(uint64_t handle)
{
    return (uint32_t)pc_hash_u64(handle) % N_PLACES;
}

static void enter(uint64_t handle, uint64_t id, uint32_t comm)
{
    uint32_t at = first_place(handle);
    for (unsigned i = 0; i < MOST_PROBES; i++, at = (at + 1) % N_PLACES) {
        struct place *p = &places[at];
        uint64_t there = 0;
        if (atomic_compare_exchange_strong(&p->handle, &there, handle) || there == handle) {
            atomic_store(&p->id, id);
            atomic_store(&p->comm, comm);
            atomic_store(&p->name, 0);
            return;
        }
    }
}

/* NULL: not known. */
static struct place *find(uint64_t handle)
{
    uint32_t at = first_place(handle);
    for (unsigned i = 0; i < MOST_PROBES; i++, at = (at + 1) % N_PLACES) {
        uint64_t there = atomic_load_explicit(&places[at].handle, memory_order_acquire);
        if (there == handle)
            return &places[at];
        if (!there)
            return NULL;
    }
    return NULL;
}

void pc_want_object(struct pc_call *call, uint64_t handle)
{
    if (!(pc_core->wants & PCOLLECT_WANT_OBJECT))
        return;
    const struct place *p = find(handle);
    if (!p)
        return;
    call->event.object = atomic_load_explicit(&p->id, memory_order_relaxed);
    call->event.window_name = atomic_load_explicit(&p->name, memory_order_relaxed);
}

void pc_want_window(struct pc_call *call, uint64_t handle, int dest, int source)
{
    pc_want_nothing(call);
    if (!pc_comm_is_wanted())
        return;
    const struct place *p = find(handle);
    if (p)
        pc_want_number(call, atomic_load_explicit(&p->comm, memory_order_relaxed), dest, source);
}

void pc_rule_opened(struct pc_call *call, const char *filename, const MPI_File *file)
{
    if (!(pc_core->wants & PCOLLECT_WANT_OBJECT))
        return;
    static struct pc_name_set names;
    call->event.object =
        pc_core->string(pc_name_is_kept(&names, filename) ? filename : "(other files)");
    enter((uint64_t)(uintptr_t)*file, call->event.object, PC_COMM_NONE);
}

void pc_rule_made_window(struct pc_call *call, MPI_Comm comm, const MPI_Win *window)
{
    if (!(pc_core->wants & PCOLLECT_WANT_OBJECT) && !pc_comm_is_wanted())
        return;
    uint64_t id = atomic_fetch_add(&n_windows, 1) + 1;
    id = id < MOST_WINDOWS ? id : MOST_WINDOWS;
    if (pc_core->wants & PCOLLECT_WANT_OBJECT) {
        call->event.object = id;
        call->event.window_name = 0;
    }
    enter((uint64_t)(uintptr_t)*window, id,
          pc_comm_is_wanted() ? pc_domain_keep(call, comm) : PC_COMM_NONE);
}

/* Names of the windows that share the last number are not kept. */
void pc_rule_named_window(struct pc_call *call, MPI_Win window, const char *name)
{
    struct place *p =
        pc_core->wants & PCOLLECT_WANT_OBJECT ? find((uint64_t)(uintptr_t)window) : NULL;
    if (!p || !name || atomic_load_explicit(&p->id, memory_order_relaxed) >= MOST_WINDOWS)
        return;
    static struct pc_name_set names;
    uint32_t kept = pc_core->string(pc_name_is_kept(&names, name) ? name : "(other windows)");
    atomic_store_explicit(&p->name, kept, memory_order_relaxed);
    call->event.window_name = kept;
}
