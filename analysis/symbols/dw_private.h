/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One file as read by symbols_dw.c, shared with tail_calls.c, which reads its debug information
 * too. Built with libdw only.
 */
#ifndef PCT_DW_PRIVATE_H
#define PCT_DW_PRIVATE_H

#include "analysis/symbols/symbols_private.h"

#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <stddef.h>

struct pct_dw_function {
    uint64_t lo, hi; /* in the debug file's addresses */
    Dwarf_Die die;
    uint32_t sites; /* of tail_calls.c; 0: not read yet */
};

/* A function whose name is made of its DIEs, and was asked for. */
struct pct_dw_named {
    const void *where; /* of its DIE */
    const char *name;
};

struct pct_dw_unit {
    struct pct_dw *file; /* that it is in */
    Dwarf_Die die;       /* has the lines */
    Dwarf_Die root;      /* has the functions: the same, or of the split file */
    struct pct_dw_function *functions;
    size_t n, room;
    struct pct_dw_named *named;
    size_t n_named, named_room;
    bool ready;
    bool fortran, cxx, assembler;
    bool types_sought, typed; /* has types: not built with -g1 */
};

struct pct_dw_range {
    uint64_t lo, hi;
    size_t unit;
};

struct pct_dw_symbol {
    uint64_t lo, hi;
    uint64_t reach; /* without a size (hi == lo): to the next symbol, or the end of its section */
    const char *name;
    int rank;    /* the least is preferred among symbols of one place */
    bool chosen; /* of a function that is chosen at load time (IFUNC), by the one that is here */
};

/* Code of a function. */
struct pct_dw_extent {
    uint64_t lo, hi;
};

/* A section of the file; it belongs to libelf. */
struct pct_dw_bytes {
    const uint8_t *data;
    size_t n;
    uint64_t address;
};

struct pct_dw {
    Dwfl *dwfl; /* NULL: the module belongs to another reader */
    Dwfl_Module *module;
    GElf_Addr elf_bias, dw_bias;
    struct pct_dw_unit *units;
    size_t n_units, units_room;
    size_t n_missing; /* units whose split file was not found */
    struct pct_dw_range *ranges;
    size_t n_ranges, ranges_room;
    struct pct_dw_symbol *symbols;
    size_t n_symbols, symbols_room;
    size_t n_stubs;         /* of the symbols: those of stubs_dw.c */
    struct pct_pool *names; /* of stubs */
    bool symbols_ready, unwind_ready, main_ready;
    uint64_t main_begin;
    struct pct_dw_bytes unwind_table, unwind_entries; /* of unwind_dw.c */
    struct pct_dw_extent *extents; /* in place of the table, where there is none */
    size_t n_extents, extents_room;
};

/* ---- Rows by address: rows_dw.c ---- */

_Static_assert(!offsetof(struct pct_dw_function, lo) && !offsetof(struct pct_dw_range, lo) &&
                   !offsetof(struct pct_dw_symbol, lo) && !offsetof(struct pct_dw_extent, lo),
               "rows begin with their lowest address");

/* Sorts rows that begin with `lo` by it. */
void pct_dw_sort_rows(void *rows, size_t n, size_t row_bytes);

/* The number of sorted rows that begin at the address or below it. */
static inline size_t pct_dw_rows_to(const void *rows, size_t n, size_t row_bytes, uint64_t address)
{
    size_t lo = 0, hi = n;
    while (lo < hi) {
        size_t middle = lo + (hi - lo) / 2;
        if (*(const uint64_t *)((const char *)rows + middle * row_bytes) <= address)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo;
}

/* ---- file_dw.c ---- */

/* The bytes of the file at a link-time address, to the end of their section; NULL: it has none. */
const uint8_t *pct_dw_bytes_at(struct pct_dw *d, uint64_t address, size_t *n_out);

/* True if a symbol with a size covers a link-time address; while symbols are read. */
bool pct_dw_has_symbol(const struct pct_dw *d, uint64_t address);

/* Adds a symbol for a function that has none; while symbols are read. The name lives as long as d.
 */
void pct_dw_add_function(struct pct_dw *d, uint64_t lo, uint64_t hi, const char *name);

/* ---- stubs_dw.c ---- */

/* Adds a symbol for each stub, as sin@plt. */
void pct_dw_read_stubs(struct pct_dw *d);

/* ---- starts_dw.c ---- */

/* Adds a symbol for the function in which threads of the C++ library begin, if it has none. */
void pct_dw_read_thread_start(struct pct_dw *d);

/* ---- python_methods_dw.c ---- */

/* Adds symbols for functions of an extension module of Python that Python can call, if they have
 * none. */
void pct_dw_read_python_methods(struct pct_dw *d);

/* ---- debug_file.c ---- */

/* Finds separate debug information, as libdwfl asks for it. Asks a server only where
 * pct_symbols_may_ask_servers. */
int pct_dw_find_debug_file(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base,
                           const char *file, const char *link, GElf_Word checksum, char **path_out);

/* ---- symbols_dw.c ---- */

/* The unit that has code at an address of the debug file, with its functions read; or NULL. */
struct pct_dw_unit *pct_dw_unit_at(struct pct_dw *d, uint64_t address);

/* Reads the functions of a unit, once; sorted by address. */
void pct_dw_functions(struct pct_dw_unit *u);

/* The function of the unit at an address of the debug file, or NULL. */
struct pct_dw_function *pct_dw_function_at(struct pct_dw_unit *u, uint64_t address);

/* True for the rest of a function that begins with a guard: gcc splits it, inlines the guard, and
 * calls the rest, as "work.part.0". */
bool pct_dw_is_rest(struct pct_dw *d, Dwarf_Die *die);

/* ---- names_dw.c ---- */

/* The name that the linker knows; NULL: the DIE has none. */
const char *pct_dw_linkage_name(Dwarf_Die *die);

/* The readable name of a function or an inlined call, kept in the pool; NULL: it has none. */
const char *pct_dw_function_name(struct pct_dw_unit *u, Dwarf_Die *die, struct pct_pool *pool);

/* The last DIE that a function, its copy or an inlined call refers to. */
Dwarf_Die pct_dw_origin(const Dwarf_Die *die);

/* Calls `see` for each function of a unit, and for those in it if `see` returns true. */
void pct_dw_each_function(Dwarf_Die *root, bool (*see)(void *arg, Dwarf_Die *die), void *arg);

/* True for a function of a class that is in a function, as a lambda. */
bool pct_dw_in_function(Dwarf_Die *die);

/* A name that was made for this origin: false, if none was kept. */
bool pct_dw_name_known(const struct pct_dw_unit *u, const Dwarf_Die *origin, const char **name_out);
void pct_dw_name_keep(struct pct_dw_unit *u, const Dwarf_Die *origin, const char *name);

/* The whole path of a source file that the unit names, kept in the pool. */
const char *pct_dw_path(struct pct_dw_unit *u, const char *path, struct pct_pool *pool);

/* The file that an attribute of `die` names by its number, kept in the pool; NULL: none. */
const char *pct_dw_file(struct pct_dw_unit *u, Dwarf_Die *die, unsigned name,
                        struct pct_pool *pool);

/* ---- regions_dw.c ---- */

/* As pct_dw_function_name; a region of OpenMP is named by the function that it is in. */
const char *pct_dw_frame_name(struct pct_dw_unit *u, Dwarf_Die *die, struct pct_pool *pool);

/* True if `inner`, inlined into the function `wrapper`, is the code of a region or a task that this
 * only calls. */
bool pct_dw_same_region(struct pct_dw_unit *u, Dwarf_Die *wrapper, Dwarf_Die *inner,
                        struct pct_pool *pool);

/* ---- symbols_dw.c ---- */

/* The names in the symbol tables of what is at a link-time address, at most n, those that can be
 * linked with first. */
size_t pct_dw_symbol_names(struct pct_dw *d, uint64_t address, const char **names, size_t n);

#endif
