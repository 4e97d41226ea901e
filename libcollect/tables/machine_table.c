/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The table `machine`: the sockets of each node and their processors, for plugins that want it
 * (PCOLLECT_WANT_MACHINE). Written by the least rank of the node, in the thread that merges; if
 * several ranks assume that they are the least, their rows are equal. Without the module the table
 * is missing.
 */
#include "libcollect/machine/machine.h"

#include "libcollect/context/thread.h"
#include "libcollect/state/plugin_table.h"
#include "libcollect/state/state.h"
#include "libcollect/tables/process_tables.h"

#include <dlfcn.h>
#include <errno.h>

#define VALUE(name, doc, unit)                                                                     \
    {                                                                                              \
        name, doc, PCOLLECT_COLUMN_NUMBER, PCOLLECT_MAX, PCOLLECT_UNIT_##unit, 0                   \
    }

enum { CORES, PROCESSORS, MEMORIES, MEMORY, LIST, N_VALUES };

static const struct pcollect_column columns[] = {
    {"host", "node", PCOLLECT_COLUMN_STRING, 0, PCOLLECT_UNIT_COUNT, 0},
    {"socket", "1 + its number, in the order of the processors", PCOLLECT_COLUMN_NUMBER, 0,
     PCOLLECT_UNIT_COUNT, 0},
    [2 + CORES] = VALUE("cores", "cores of the socket", COUNT),
    [2 + PROCESSORS] = VALUE("processors", "hardware threads of the socket", COUNT),
    [2 + MEMORIES] = VALUE("memories", "NUMA nodes of the socket", COUNT),
    [2 + MEMORY] = VALUE("memory", "memory of the socket; 0: not known", BYTES),
    [2 + LIST] = {"list", "numbers of its processors", PCOLLECT_COLUMN_STRING, PCOLLECT_MIN,
                  PCOLLECT_UNIT_COUNT, 0},
};

static const struct pcollect_table table = {.name = "machine",
                                            .doc = "sockets of the nodes",
                                            .columns = columns,
                                            .n_keys = 2,
                                            .n_values = N_VALUES};

static bool is_wanted(void)
{
    return pc_process.core.wants & PCOLLECT_WANT_MACHINE;
}

int pc_machine_start(void)
{
    return is_wanted() ? pc_table_add("pcollect", &table) : PC_OK;
}

static void note_socket(void *unused, const struct pc_socket *s)
{
    const uint64_t keys[] = {pc_table_string(pc_header()->host), 1 + (uint64_t)s->number};
    uint64_t *v = pc_table_row(pc_thread_current(), &table, keys);
    (void)unused;
    if (!v)
        return;
    v[CORES] = s->n_cores;
    v[PROCESSORS] = s->n_processors;
    v[MEMORIES] = s->n_memories;
    v[MEMORY] = s->memory_bytes;
    v[LIST] = pc_table_string(s->processors);
}

void pc_machine_note(void)
{
    char path[PCOLLECT_PATH_BYTES];
    int saved = errno;
    if (!is_wanted() || !pc_process.presence.first_of_host ||
        !pc_core_module_path(PC_MACHINE_MODULE_FILE, path, sizeof path))
        return;
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const struct pc_machine_module *m = handle ? dlsym(handle, PC_MACHINE_MODULE_SYMBOL) : NULL;
    if (m && m->abi == PC_MACHINE_MODULE_ABI && m->size >= sizeof *m)
        m->read(note_socket, NULL);
    errno = saved;
}
