/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Between the two halves of the load map: loadmap_async.c (what may run in a handler) and
 * loadmap.c (what takes the loader's lock).
 */
#ifndef PC_LOADMAP_PRIVATE_H
#define PC_LOADMAP_PRIVATE_H

#include "libcollect/walk/loadmap.h"

#include <link.h>

/* A module as the loader describes it. */
struct pc_loadmap_object {
    uintptr_t bias;
    const char *name;        /* the loader's; empty: the program itself */
    const ElfW(Phdr) * phdr; /* in memory */
    unsigned n_phdr;
};

/* The table's entry for this object, made if it is new; NULL if the object has no code or the
 * table is full. Marks it as loaded in this generation. AS-safe. */
struct pc_module *pc_loadmap_enter(const struct pc_loadmap_object *object, uint32_t generation);

/* DT_SONAME of a module, by its dynamic section in memory; NULL: it has none. AS-safe. */
const char *pc_loadmap_read_soname(const ElfW(Dyn) * dynamic, const struct pc_module *module);

/* Writes the absolute path of the file that is mapped at an address. False: it is not known.
 * mapped_path_async.c. AS-safe; errno is not kept. */
bool pc_loadmap_mapped_path(uintptr_t address, char *out, size_t n);

/* Makes a search that the loader cannot answer look through the table too, from now on: modules
 * were entered that the loader does not know. */
void pc_loadmap_search_all(void);

/* Asks fn of each module that is entered from now on. */
void pc_loadmap_ask_is_mpi(pc_loadmap_is_mpi_fn fn);

/* Enters all modules loaded now, if that has not been done in this generation: only for a libc
 * without _dl_find_object. Takes the loader's lock: not AS-safe. */
void pc_loadmap_refresh(uint32_t generation);

#endif
