/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The next definitions of dlopen, dlmopen and dlclose, for the stubs in dl.S. On targets without
 * those stubs the load map's generation is not raised: there a closed module may be taken for one
 * that is opened later in its place.
 */
#include "base/base.h"

#include <dlfcn.h>
#include <errno.h>

void *pc_dl_resolve(unsigned long number);

static void *answer_null(void)
{
    return NULL;
}

/* Called once for each, by the stubs; any thread, keeps errno. Never NULL: a program without a
 * dynamic loader's interface gets a failure. */
void *pc_dl_resolve(unsigned long number)
{
    static const char *const names[] = {"dlopen", "dlmopen", "dlclose"};
    int saved = errno;
    void *next = dlsym(RTLD_NEXT, names[number]);
    __asm__ volatile("" : "+r"(next)); /* dlsym looks at its return address: no tail call */
    errno = saved;
    return next ? next : (void *)answer_null;
}
