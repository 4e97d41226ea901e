/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The load map: which module holds a code address.
 *
 * Modules are found when an address in them is first met (glibc's _dl_find_object, lock-free and
 * async-signal-safe; elsewhere in a snapshot by dl_iterate_phdr, refreshed outside handlers) and
 * are kept for ever in a table of at most 61,440. A module that is closed and opened again
 * elsewhere is a new entry. `generation` rises before every dlopen and dlclose
 * (libcollect/interpose): what was derived from addresses of an older generation is void.
 */
#ifndef PC_LOADMAP_H
#define PC_LOADMAP_H

#include "base/base.h"
#include "include/pcollect/arena.h"

#include <stdatomic.h>

struct pc_module {
    uintptr_t bias; /* load address minus link address */
    uintptr_t lo, hi;
    const void *eh_frame_hdr; /* NULL: no unwind table */
    uint64_t identity;
    uint8_t build_id[PCOLLECT_BUILD_ID_BYTES];
    uint32_t build_id_bytes;
    uint32_t flags;                 /* enum pcollect_module_flag */
    uint32_t generation;            /* in which it was found */
    char path[PCOLLECT_PATH_BYTES]; /* absolute; "[vdso]" for the kernel's */
    _Atomic uint32_t arena_ref;     /* struct pcollect_module of this entry, 0: not yet published */
};

/* Raised by dlopen, dlmopen and dlclose before they do anything. */
extern PC_HIDDEN _Atomic uint32_t pc_loadmap_generation;

/* Says whether a module belongs to an MPI library; set once by libcollect/mpi. Called for each
 * module that is loaded now, and when another one is found; must be AS-safe. Setting it takes the
 * loader's lock: not AS-safe. */
typedef bool (*pc_loadmap_is_mpi_fn)(const struct pc_module *module);
void pc_loadmap_set_is_mpi(pc_loadmap_is_mpi_fn fn);

/* The flag that the name of a file tells: PCOLLECT_MODULE_LIBC or PCOLLECT_MODULE_RUNTIME; 0: none.
 * For processes that are watched from outside, too. AS-safe, MT-safe. */
uint32_t pc_loadmap_kind(const char *path);

/* The module that holds pc now, or NULL. AS-safe, MT-safe, no malloc, no lock. */
struct pc_module *pc_loadmap_find(uintptr_t pc);

/* Enters a file of another process, mapped here as the loader would map it, permanently: `phdr` are
 * its n_phdr program headers in memory, `path` is absolute. NULL: it has no code, or the table is
 * full. Not AS-safe. */
struct pc_module *pc_loadmap_enter_copy(uintptr_t bias, const char *path, const void *phdr,
                                        unsigned n_phdr);

/* The name by which other files need a module that pc_loadmap_enter_copy has entered, with the same
 * program headers; NULL: it has none. It is in the copy. */
const char *pc_loadmap_soname(const struct pc_module *module, const void *phdr, unsigned n_phdr);

/* Prepares a search outside of handlers. If libc has no _dl_find_object and the module that holds
 * pc is not known, it enters all modules that are loaded now, under the loader's lock: not
 * AS-safe. */
void pc_loadmap_prepare(uintptr_t pc);

/* A number below 2^16 that stands for a module in this process, 0 for NULL; and the module with a
 * number. AS-safe, MT-safe. */
uint16_t pc_loadmap_number(const struct pc_module *module);
struct pc_module *pc_loadmap_numbered(uint16_t number);

/* Calls fn for every module loaded now, in search order; stops when fn returns non-zero and
 * returns that. Takes the loader's lock: not AS-safe. */
int pc_loadmap_each(int (*fn)(struct pc_module *module, void *arg), void *arg);

#endif
