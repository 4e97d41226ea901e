/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The module pcollect-machine.so: the sockets of this node as hwloc sees them.
 */
#include "libcollect/machine/machine.h"

#include <errno.h>
#include <hwloc.h>
#include <stdlib.h>
#include <unistd.h>

/* Parts of hwloc that talk to devices, start drivers or bind the thread. Components that this hwloc
 * lacks need not be switched off. hwloc has loaded its plugins by then: only environment variables
 * could prevent that, no call can. */
static const char *const off[] = {"x86",  "pci",  "opencl",    "cuda",
                                  "nvml", "rsmi", "levelzero", "gl"};

static hwloc_topology_t load(void)
{
    hwloc_topology_t t;
    /* Without this folder hwloc finds no sockets, and prints that to the program's standard
     * error. */
    if (access("/sys/devices/system/cpu", R_OK) || hwloc_topology_init(&t))
        return NULL;
    for (size_t i = 0; i < PC_ARRAY_LEN(off); i++)
        hwloc_topology_set_components(t, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, off[i]);
    hwloc_topology_set_all_types_filter(t, HWLOC_TYPE_FILTER_KEEP_NONE);
    hwloc_topology_set_type_filter(t, HWLOC_OBJ_PACKAGE, HWLOC_TYPE_FILTER_KEEP_ALL);
    hwloc_topology_set_type_filter(t, HWLOC_OBJ_CORE, HWLOC_TYPE_FILTER_KEEP_ALL);
    if (!hwloc_topology_load(t))
        return t;
    hwloc_topology_destroy(t);
    return NULL;
}

static uint32_t count(hwloc_topology_t t, hwloc_obj_t within, hwloc_obj_type_t type)
{
    int n = hwloc_get_nbobjs_inside_cpuset_by_type(t, within->cpuset, type);
    return n > 0 ? (uint32_t)n : 0;
}

static int tell(hwloc_topology_t t, hwloc_obj_t o, pc_machine_fn *fn, void *arg)
{
    char *processors;
    if (hwloc_bitmap_list_asprintf(&processors, o->cpuset) < 0)
        return PC_ENOMEM;
    int n = hwloc_bitmap_weight(o->cpuset);
    struct pc_socket s = {.number = o->type == HWLOC_OBJ_PACKAGE ? o->logical_index : 0,
                          .n_cores = count(t, o, HWLOC_OBJ_CORE),
                          .n_processors = n > 0 ? (uint32_t)n : 0,
                          .n_memories = count(t, o, HWLOC_OBJ_NUMANODE),
                          .memory_bytes = o->total_memory,
                          .processors = processors};
    fn(arg, &s);
    free(processors);
    return PC_OK;
}

static int read_machine(pc_machine_fn *fn, void *arg)
{
    int saved = errno, err = PC_OK;
    hwloc_topology_t t = load();
    hwloc_obj_t socket = NULL;
    if (t && !hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_PACKAGE))
        err = tell(t, hwloc_get_root_obj(t), fn, arg);
    while (t && !err && (socket = hwloc_get_next_obj_by_type(t, HWLOC_OBJ_PACKAGE, socket)))
        err = tell(t, socket, fn, arg);
    if (t)
        hwloc_topology_destroy(t);
    errno = saved;
    return t ? err : PC_ENOENT;
}

extern const struct pc_machine_module pc_machine_module;

PC_EXPORT const struct pc_machine_module pc_machine_module = {
    .abi = PC_MACHINE_MODULE_ABI,
    .size = sizeof(struct pc_machine_module),
    .read = read_machine,
};
