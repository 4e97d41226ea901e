/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The next definitions of the functions that are interposed.
 */
#include "libcollect/state/next.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <unistd.h>

#define NAME(name) #name,
#define NAME_OF_ROW(type, name, ...) #name,
static const char *const names[] = {PC_INTERPOSED(NAME, NAME_OF_ROW)};

static void *_Atomic found[PC_N_INTERPOSED];

static __attribute__((noinline)) void *find(enum pc_interposed which)
{
    int saved = errno;
    void *next = dlsym(RTLD_NEXT, names[which]);
    __asm__ volatile("" : "+r"(next)); /* dlsym looks at its return address: no tail call */
    atomic_store_explicit(&found[which], next, memory_order_release);
    errno = saved;
    return next;
}

void *pc_next(enum pc_interposed which)
{
    void *next = atomic_load_explicit(&found[which], memory_order_acquire);
    return PC_LIKELY(next != NULL) ? next : find(which);
}

void pc_next_find_all(void)
{
    for (int i = 0; i < PC_N_INTERPOSED; i++)
        if (!atomic_load_explicit(&found[i], memory_order_relaxed))
            find((enum pc_interposed)i);
}

__attribute__((noinline)) long pc_own_syscall(long number, long a, long b, long c, long d, long e)
{
    long result = PC_NEXT(syscall)(number, a, b, c, d, e);
    __asm__ volatile("" : "+r"(result)); /* the sampler looks at its return address: no tail call */
    return result;
}
