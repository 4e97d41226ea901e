/* SPDX-License-Identifier: BSD-3-Clause
 *
 * For tests only, preloaded by tests/lib.sh: MPICH on UCX polls without ever yielding, so that with
 * more ranks than cores a message costs a time slice. Here a poll that found nothing yields.
 */
#include <dlfcn.h>
#include <sched.h>
#include <unistd.h>

unsigned ucp_worker_progress(void *worker);

unsigned ucp_worker_progress(void *worker)
{
    static unsigned (*next)(void *);
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "ucp_worker_progress");
    if (!next) /* a host that opened MPICH for itself alone */
        *(void **)&next =
            dlsym(dlopen("libucp.so.0", RTLD_LAZY | RTLD_NOLOAD), "ucp_worker_progress");
    unsigned n = next(worker);
    if (!n)
        sched_yield();
    return n;
}
