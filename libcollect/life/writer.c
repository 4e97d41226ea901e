/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Opens the module that writes the profile (merge/, which needs zlib) when it is first needed.
 */
#include "libcollect/context/thread.h"
#include "libcollect/life/life.h"
#include "libcollect/sampling/sampler.h"
#include "libcollect/state/state.h"
#include "merge/module.h"

#include <dlfcn.h>

static const struct pc_merge_module *module;

const struct pc_merge_module *pc_merge_module(void)
{
    char path[PCOLLECT_PATH_BYTES];
    if (module)
        return module;
    if (!pc_core_module_path(PC_MERGE_MODULE_FILE, path, sizeof path))
        return NULL;
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        pc_log("%s", dlerror()); /* names the file */
        return NULL;
    }
    const struct pc_merge_module *m = dlsym(handle, PC_MERGE_MODULE_SYMBOL);
    if (m && m->abi == PC_MERGE_MODULE_ABI && m->size >= sizeof *m)
        module = m;
    else
        pc_log("%s is of another version of pcollect", path);
    return module;
}

static void write_late(void *unused)
{
    struct pc_error error;
    (void)unused;
    pc_note_time();
    pc_sampler_tell_late(pc_thread_current);
    module->late(&pc_process.arena, &pc_process.merged, pc_process.destructed, &error);
}

void pc_write_late(void)
{
    static atomic_flag writing = ATOMIC_FLAG_INIT;
    if (!module || !pc_process.merged.path[0] || atomic_flag_test_and_set(&writing))
        return;
    pc_stack_run(write_late, NULL);
    atomic_flag_clear(&writing);
}
