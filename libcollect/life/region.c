/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The functions of pcollect.h that mark regions. They may be the first functions of the library
 * that the process calls.
 */
#include "libcollect/context/scope.h"
#include "libcollect/context/thread.h"
#include "libcollect/life/life.h"
#include "libcollect/state/state.h"

#include <errno.h>

static void mark(void (*what)(struct pc_thread *t, const char *name), const char *name)
{
    int saved = errno;
    struct pc_thread *t = NULL;
    if (pc_core_start() &&
        atomic_load_explicit(&pc_live->stage, memory_order_relaxed) == PC_STAGE_MAIN)
        t = pc_self ? pc_self : pc_thread_enter();
    if (t && !t->busy && t->stage == PC_STAGE_MAIN) {
        t->busy = 1;
        barrier();
        what(t, name && !*name ? "(no name)" : name);
        barrier();
        t->busy = 0;
    }
    errno = saved;
}

PC_EXPORT void pcollect_region_begin(const char *name);
PC_EXPORT void pcollect_region_end(const char *name);

void pcollect_region_begin(const char *name)
{
    mark(pc_scope_begin, name ? name : "");
}

void pcollect_region_end(const char *name)
{
    mark(pc_scope_end, name);
}
