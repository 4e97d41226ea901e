/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Path of this library. Its adapters and modules are in the folder pcollect beside it.
 */
#include "libcollect/state/state.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char own_path[PCOLLECT_PATH_BYTES];

/* LD_PRELOAD may name a path relative to the folder in which the process started, and the program
 * may leave that folder: the path is made absolute first of all. */
void pc_where_start(void)
{
    Dl_info info;
    char folder[PATH_MAX];
    if (own_path[0] || !dladdr((void *)pc_where_start, &info) || !info.dli_fname)
        return;
    if (info.dli_fname[0] == '/')
        pc_format(own_path, sizeof own_path, "%s", info.dli_fname);
    else if (getcwd(folder, sizeof folder))
        pc_format(own_path, sizeof own_path, "%s/%s", folder, info.dli_fname);
}

/* Follows links at the first call. Threads that do this at the same time write the same bytes. */
static const char *find_real_path(void)
{
    static char real[PATH_MAX];
    static _Atomic bool is_found;
    char path[PATH_MAX];
    if (atomic_load_explicit(&is_found, memory_order_acquire))
        return real;
    pc_where_start();
    if (!realpath(own_path, path))
        return own_path;
    memcpy(real, path, strlen(path) + 1);
    atomic_store_explicit(&is_found, true, memory_order_release);
    return real;
}

bool pc_core_module_path(const char *name, char *out, size_t n)
{
    const char *path = find_real_path();
    const char *slash = strrchr(path, '/');
    if (!slash)
        return false;
    size_t folder = (size_t)(slash - path);
    if (folder + strlen(name) + sizeof "/pcollect/" > n)
        return false;
    memcpy(out, path, folder);
    pc_format(out + folder, n - folder, "/pcollect/%s", name);
    return true;
}
