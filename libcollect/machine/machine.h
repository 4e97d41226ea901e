/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The interface of the module pcollect-machine.so, which reads the machine: only this module needs
 * hwloc. libpcollect.so opens it with RTLD_LOCAL | RTLD_NOW in one rank of each node, when it
 * merges, and calls it through one table. The call keeps errno and the CPU binding of the thread,
 * prints nothing, calls malloc, and is not AS-safe. hwloc's own components for PCI, GPUs and GL,
 * and the one that binds the thread to each processor in turn (x86), are off.
 */
#ifndef PC_MACHINE_H
#define PC_MACHINE_H

#include "base/base.h"

#define PC_MACHINE_MODULE_ABI 1u
#define PC_MACHINE_MODULE_FILE "pcollect-machine.so"
#define PC_MACHINE_MODULE_SYMBOL "pc_machine_module"

/* One socket of the node; a node whose sockets are not known counts as one socket. */
struct pc_socket {
    uint32_t number; /* from 0, in the order of the processors */
    uint32_t n_cores;
    uint32_t n_processors;
    uint32_t n_memories;    /* NUMA nodes */
    uint64_t memory_bytes;  /* 0: not known */
    const char *processors; /* their numbers, like 0-3,8; valid during the call */
};

typedef void pc_machine_fn(void *arg, const struct pc_socket *socket);

struct pc_machine_module {
    uint32_t abi; /* PC_MACHINE_MODULE_ABI */
    uint32_t size;
    /* Calls fn for each socket. PC_OK, or PC_ENOENT: hwloc gives no data. */
    int (*read)(pc_machine_fn *fn, void *arg);
};

#endif
