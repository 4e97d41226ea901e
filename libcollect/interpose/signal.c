/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The program's own use of signals, where it meets the sampler's. The handler stays installed: what
 * the program asks for on that signal is kept, told when it asks, and given what is not ours.
 */
#include "libcollect/interpose/interpose.h"

#include "base/base.h"
#include "libcollect/sampler.h"

#include <dlfcn.h>
#include <errno.h>

void *pc_next(const char *name, void *_Atomic *slot)
{
    void *next = atomic_load_explicit(slot, memory_order_acquire);
    if (PC_LIKELY(next != NULL))
        return next;
    int saved = errno;
    next = dlsym(RTLD_NEXT, name);
    __asm__ volatile("" : "+r"(next)); /* dlsym looks at its return address: no tail call */
    errno = saved;
    atomic_store_explicit(slot, next, memory_order_release);
    return next;
}

int pc_next_sigaction(int signal, const struct sigaction *action, struct sigaction *old_out)
{
    static void *_Atomic slot;
    int (*next)(int, const struct sigaction *, struct sigaction *) = pc_next("sigaction", &slot);
    return next ? next(signal, action, old_out) : -1;
}
