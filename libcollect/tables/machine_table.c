/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The table `machine`: the sockets of each node and their processors, for plugins that want it
 * (PCOLLECT_WANT_MACHINE). Written by the least rank of the node, in the thread that merges; if
 * several ranks assume that they are the least, their rows are equal. Without the module the table
 * is missing; so are the rows of a process that has a seccomp filter, because hwloc makes system
 * calls of its own.
 */
#include "libcollect/machine/machine.h"

#include "libcollect/context/thread.h"
#include "libcollect/state/own_tables.h"
#include "libcollect/state/plugin_table.h"
#include "libcollect/state/state.h"
#include "libcollect/tables/process_tables.h"

#include <dlfcn.h>
#include <errno.h>

static bool is_wanted(void)
{
    return pc_process.core.wants & PCOLLECT_WANT_MACHINE;
}

int pc_machine_start(void)
{
    return is_wanted() ? pc_table_add("pcollect", &pc_table_machine) : PC_OK;
}

static void note_socket(void *unused, const struct pc_socket *s)
{
    const uint64_t keys[] = {pc_table_string(pc_header()->host), 1 + (uint64_t)s->number};
    uint64_t *v = pc_table_row(pc_thread_current(), &pc_table_machine, keys);
    (void)unused;
    if (!v)
        return;
    v[PC_MACHINE_CORES] = s->n_cores;
    v[PC_MACHINE_PROCESSORS] = s->n_processors;
    v[PC_MACHINE_MEMORIES] = s->n_memories;
    v[PC_MACHINE_MEMORY] = s->memory_bytes;
    v[PC_MACHINE_LIST] = pc_table_string(s->processors);
}

void pc_machine_note(void)
{
    char path[PCOLLECT_PATH_BYTES];
    int saved = errno;
    if (!is_wanted() || pc_control.filtered || !pc_process.presence.first_of_host ||
        !pc_core_module_path(PC_MACHINE_MODULE_FILE, path, sizeof path))
        return;
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const struct pc_machine_module *m = handle ? dlsym(handle, PC_MACHINE_MODULE_SYMBOL) : NULL;
    if (m && m->abi == PC_MACHINE_MODULE_ABI && m->size >= sizeof *m)
        m->read(note_socket, NULL);
    errno = saved;
}
