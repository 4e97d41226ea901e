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

bool pc_core_module_path(const char *name, char *out, size_t n)
{
    char real[PATH_MAX];
    pc_where_start();
    const char *path = realpath(own_path, real) ? real : own_path;
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
