/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The part of the load map that must not be called in a signal handler, because it goes through
 * dl_iterate_phdr and takes the loader's lock: the list of all modules, and the refresh of the map
 * if libc has no _dl_find_object. It also enters files of other processes. The table itself is in
 * loadmap_async.c.
 */
#define _GNU_SOURCE 1

#include "libcollect/walk/loadmap_private.h"

#include <string.h>

struct each {
    int (*fn)(struct pc_module *module, void *arg);
    void *arg;
    uint32_t generation;
    bool first;
};

static int enter_one(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct each *each = arg;
    struct pc_loadmap_object object = {info->dlpi_addr, info->dlpi_name, info->dlpi_phdr,
                                       info->dlpi_phnum};
    (void)size;
    struct pc_module *module = pc_loadmap_enter(&object, each->generation);
    return module && each->fn ? each->fn(module, each->arg) : 0;
}

int pc_loadmap_each(int (*fn)(struct pc_module *module, void *arg), void *arg)
{
    struct each each = {fn, arg, atomic_load(&pc_loadmap_generation), true};
    return dl_iterate_phdr(enter_one, &each);
}

static int mark_mpi(struct pc_module *module, void *arg)
{
    const pc_loadmap_is_mpi_fn *fn = arg;
    if ((*fn)(module))
        module->flags |= PCOLLECT_MODULE_MPI;
    return 0;
}

/* Goes through what is loaded, not through the table: fn reads the modules, and what was unloaded
 * is in the table, too. */
void pc_loadmap_set_is_mpi(pc_loadmap_is_mpi_fn fn)
{
    pc_loadmap_ask_is_mpi(fn);
    pc_loadmap_each(mark_mpi, &fn);
}

/* Does nothing if neither the loader's counters nor our generation have changed since the last
 * time. */
static int enter_if_new(struct dl_phdr_info *info, size_t size, void *arg)
{
    static _Atomic uint64_t last;
    struct each *each = arg;
    if (each->first) {
        uint64_t state[] = {info->dlpi_adds, info->dlpi_subs, each->generation};
        uint64_t now = pc_hash_bytes(state, sizeof state, 1);
        if (atomic_exchange(&last, now) == now)
            return 1;
        each->first = false;
    }
    return enter_one(info, size, arg);
}

void pc_loadmap_refresh(uint32_t generation)
{
    struct each each = {.generation = generation, .first = true};
    dl_iterate_phdr(enter_if_new, &each);
}

struct pc_module *pc_loadmap_enter_copy(uintptr_t bias, const char *path, const void *phdr,
                                        unsigned n_phdr)
{
    struct pc_loadmap_object object = {bias, path, phdr, n_phdr};
    pc_loadmap_search_all();
    return pc_loadmap_enter(&object, atomic_load(&pc_loadmap_generation));
}

const char *pc_loadmap_soname(const struct pc_module *module, const void *phdr, unsigned n_phdr)
{
    const ElfW(Phdr) *p = phdr;
    const char *name = NULL;
    for (unsigned i = 0; i < n_phdr && !name; i++)
        if (p[i].p_type == PT_DYNAMIC)
            name = pc_loadmap_read_soname((const void *)(module->bias + p[i].p_vaddr), module);
    /* The file may be damaged. */
    return name && memchr(name, '\0', module->hi - (uintptr_t)name) ? name : NULL;
}
