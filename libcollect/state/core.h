/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The core as the resolver of MPI functions sees it (libcollect/mpi/resolver.c). It names nothing
 * of the core's own state, so that a test can stand in for the core.
 */
#ifndef PC_CORE_H
#define PC_CORE_H

#include "libcollect/adapter.h"

#include <pthread.h>
#include <stdatomic.h>

/* The core's table; it is valid at all times. */
const struct pc_core *pc_core_table(void);

/* Starts collecting: configuration, arena, plugins. Called by the resolver when the process has an
 * MPI and first calls it, or from the constructor with `[collect] always = yes`. Idempotent,
 * MT-safe. False: this process is not to be measured (bad configuration, forked child, no memory):
 * every slot then gets the real function. Also false while another thread starts for longer than
 * pc_core_await waits. */
bool pc_core_start(void);

/* Waits until the thread that set `state` to `busy` sets another value, at most 10 s: the caller
 * may be in the constructor of a module, inside dlopen, and then holds the loader's lock, for which
 * the other thread may wait. A wait that ran out sets `late`, so that it is the only one. Does not
 * wait for itself (a signal handler). AS-safe, MT-safe. */
static inline void pc_core_await(_Atomic int *state, int busy, int late, pthread_t other)
{
    if (pthread_equal(other, pthread_self()))
        return;
    for (uint64_t end_ns = pc_mono_ns() + 10000000000u; pc_mono_ns() < end_ns; pc_nap_ns(1000000))
        if (atomic_load(state) != busy)
            return;
    atomic_compare_exchange_strong(state, &busy, late);
}

/* Tells the core that there is no adapter for the MPI that the process has loaded, so that no MPI
 * call will be measured. Called before any call was measured. */
void pc_core_abandon(void);

/* True if a call through `slot` with return address `ret` is the program's. Takes locks. */
typedef bool pc_core_is_counted_fn(unsigned slot, uintptr_t ret);

/* Sets the function that the core asks, once for each thread, slot and return address. Called
 * before any call is measured. */
void pc_core_set_counted(pc_core_is_counted_fn *is_counted);

/* True if the start was refused: nothing is measured here, but this process must still take part in
 * what the ranks of a job do together in MPI_Init and MPI_Finalize. */
bool pc_core_refused(void);

/* Prints one message per job, if the launcher tells the rank; otherwise one for each process. */
void pc_core_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Path of a file beside this library: <dir of libpcollect.so>/pcollect/<name>. False if
 * it does not fit. */
bool pc_core_module_path(const char *name, char *out, size_t n);

#endif
