/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Symbols that a loaded module exports, read from its dynamic section. All AS-safe, MT-safe; the
 * module stays loaded meanwhile.
 */
#ifndef PC_EXPORTS_H
#define PC_EXPORTS_H

#include "base/base.h"

struct pc_exports {
    uintptr_t bias;
    const void *symbols;
    const char *strings;
    const uint32_t *gnu_hash; /* either may be NULL */
    const uint32_t *sysv_hash;
};

/* False if [lo, hi) does not begin with the ELF header of a module with dynamic symbols. */
bool pc_exports_open(struct pc_exports *elf, uintptr_t bias, uintptr_t lo, uintptr_t hi);

/* Address of a defined, exported symbol, or 0. */
uintptr_t pc_exports_find(const struct pc_exports *elf, const char *name);

/* Calls fn with the name of each exported function that encloses addr; stops when it returns true
 * and returns that. *n_out counts the names. */
bool pc_exports_enclosing(const struct pc_exports *elf, uintptr_t addr,
                          bool (*fn)(const char *, void *), void *arg, int *n_out);

#endif
