/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The next definitions of dlopen, dlmopen and dlclose, for the stubs in dl.S; and the same stubs in
 * C for processors without assembly there. The stubs in C end in tail calls, so that the loader
 * sees the caller's return address. If the compiler makes ordinary calls of them (gcc without
 * optimisation), a library that is opened by its name alone is searched with the RUNPATH of this
 * library.
 */
#include "base/base.h"
#include "libcollect/stub.h"
#include "libcollect/walk/loadmap.h"

#include <dlfcn.h>
#include <errno.h>

extern _Atomic(void *) pc_dl_slots[3];
void *pc_dl_resolve(unsigned long number);

static void *answer_null(void)
{
    return NULL;
}

/* Fills a slot. Called once for each slot by the stubs, in any thread; keeps errno. Never NULL: a
 * program without a dynamic loader's interface gets a failure. */
void *pc_dl_resolve(unsigned long number)
{
    static const char *const names[] = {"dlopen", "dlmopen", "dlclose"};
    int saved = errno;
    void *next = dlsym(RTLD_NEXT, names[number]);
    __asm__ volatile("" : "+r"(next)); /* dlsym looks at its return address: no tail call */
    errno = saved;
    next = next ? next : (void *)answer_null;
    atomic_store_explicit(&pc_dl_slots[number], next, memory_order_release);
    return next;
}

#if !PC_STUB_ASSEMBLY

_Atomic(void *) pc_dl_slots[3];

static inline void *next_of(unsigned long number)
{
    atomic_fetch_add(&pc_loadmap_generation, 1);
    void *next = atomic_load_explicit(&pc_dl_slots[number], memory_order_acquire);
    return next ? next : pc_dl_resolve(number);
}

PC_EXPORT void *dlopen(const char *file, int mode)
{
    void *(*next)(const char *, int) = (void *(*)(const char *, int))next_of(0);
    PC_TAIL return next(file, mode);
}

/* glibc's Lmid_t is long; other libcs have neither. */
PC_EXPORT void *dlmopen(long space, const char *file, int mode)
{
    void *(*next)(long, const char *, int) = (void *(*)(long, const char *, int))next_of(1);
    PC_TAIL return next(space, file, mode);
}

PC_EXPORT int dlclose(void *handle)
{
    int (*next)(void *) = (int (*)(void *))next_of(2);
    PC_TAIL return next(handle);
}

#endif
