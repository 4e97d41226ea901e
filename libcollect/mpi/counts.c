/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Decides whether a call is the program's, or one that an MPI library or a tool makes for itself.
 *
 *   from                       MPI_X     PMPI_X
 *   an MPI library             only from a Fortran binding of X, if X has no stub for Fortran
 *   a module before this one
 *   that itself defines MPI_X  counts    counts: the tool passes on the program's call
 *   anything else              counts    passed on: the caller wants to bypass all tools
 *
 * A Fortran binding converts the program's arguments and calls the C function X for it, and calls
 * other functions for itself (Comm_size to know the length of an array, Type_commit for a strided
 * section). The exported symbol that encloses the call distinguishes them: only a Fortran spelling
 * of X calls X for the program. MPICH's bindings with assumed-rank buffers call from functions that
 * are not exported: there MPI_X is the program's call and PMPI_X the binding's own.
 *
 * Called by the core once for each thread, slot and return address, and by the load map.
 */
#include "base/exports.h"
#include "libcollect/mpi/mpi_private.h"
#include "libcollect/state/ops.h"

#include <string.h>

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* The rest of s after a prefix in any case, or NULL. */
static const char *after(const char *s, const char *prefix)
{
    for (; *prefix; s++, prefix++)
        if (lower(*s) != lower(*prefix))
            return NULL;
    return s;
}

/* True if the rest of a name has only marks of Fortran bindings: underscores and these words. */
static bool is_suffix(const char *s)
{
    static const char *const words[] = {"f08ts", "f08", "f", "c", "cdesc", "large"};
    if (*s != '\0' && *s != '_')
        return false;
    while (*s) {
        while (*s == '_')
            s++;
        size_t n = strcspn(s, "_"), i = 0;
        for (; n > 0 && i < PC_ARRAY_LEN(words); i++)
            if (strlen(words[i]) == n && strncmp(s, words[i], n) == 0)
                break;
        if (i == PC_ARRAY_LEN(words))
            return false;
        s += n;
    }
    return true;
}

/* True if an exported name is a Fortran spelling of the primitive `name` ("MPI_Send"). */
static bool is_fortran_name(const char *symbol, void *name)
{
    const char *op = name;
    static const char *const prefixes[] = {"pmpir_", "pmpi_", "ompi_", "mpir_", "mpi_"};
    const char *c_name = symbol + (symbol[0] == 'P');
    size_t n = strlen(op);
    if (strncmp(c_name, op, n) == 0 && (c_name[n] == '\0' || strcmp(c_name + n, "_c") == 0))
        return false; /* the C function itself */
    for (size_t i = 0; i < PC_ARRAY_LEN(prefixes); i++) {
        const char *rest = after(symbol, prefixes[i]);
        rest = rest ? after(rest, op + sizeof "MPI_" - 1) : NULL;
        if (rest && is_suffix(rest))
            return true;
    }
    return false;
}

/* True for a file that only an MPI library loads: a component of Open MPI. */
static bool is_component(const char *path)
{
    const char *base = pc_base_name(path);
    return strncmp(base, "mca_", 4) == 0 || strncmp(base, "libmca_", 7) == 0 ||
           strncmp(base, "libopen-rte.", 12) == 0 || strncmp(base, "libopen-pal.", 12) == 0;
}

/* Symbols by which the library and its bindings are known. A tool may export mpi_init_, but hardly
 * the PMPI names, because that would hide the library's from other tools. */
static const char *const family_symbols[] = {"PMPI_Init", "pmpi_init_", "pmpi_init__",
                                             "PMPI_INIT", "pmpi_init",  "pmpi_init_f08_"};

static bool holds_this(const struct pc_module *module)
{
    uintptr_t here = (uintptr_t)&pc_mpi_is_family;
    return here >= module->lo && here < module->hi;
}

bool pc_mpi_is_family(const struct pc_module *module)
{
    if (holds_this(module))
        return false; /* this library exports them as well */
    if (is_component(module->path))
        return true;
    struct pc_exports elf;
    if (!pc_exports_open(&elf, module->bias, module->lo, module->hi))
        return false;
    for (size_t i = 0; i < PC_ARRAY_LEN(family_symbols); i++)
        if (pc_exports_find(&elf, family_symbols[i]))
            return true;
    return false;
}

/* True if a call from the MPI library counts. Functions with stubs for their Fortran names were
 * counted in those. */
static bool counts_from_family(const struct pc_exports *elf, unsigned slot, uintptr_t ret)
{
    int n_names;
    if (pc_op_rows[PC_SLOT_OP(slot)].fortran)
        return false;
    if (pc_exports_enclosing(elf, ret - 1, is_fortran_name,
                             (void *)pc_op_rows[PC_SLOT_OP(slot)].name, &n_names))
        return true;
    return n_names == 0 && !PC_SLOT_IS_PMPI(slot) && !pc_exports_find(elf, "PMPI_Init");
}

struct search {
    const struct pc_module *caller;
    bool before; /* the caller comes before this library */
};

static int search_order(struct pc_module *module, void *arg)
{
    struct search *s = arg;
    s->before = module == s->caller;
    return s->before || holds_this(module);
}

/* True for an adapter: a Fortran binding that calls C by a tail call returns to the wrapper of its
 * Fortran name. Calls from libpcollect.so itself are different: they come from stubs in C that the
 * compiler did not turn into tail calls. */
static bool is_adapter(const struct pc_module *module)
{
    return module->flags & PCOLLECT_MODULE_OWN && !holds_this(module);
}

bool pc_mpi_counts(unsigned slot, uintptr_t ret)
{
    pc_loadmap_prepare(ret - 1);
    struct pc_module *caller = pc_loadmap_find(ret - 1);
    if (!caller)
        return !PC_SLOT_IS_PMPI(slot); /* code generated at run time */
    if (is_adapter(caller))
        return false;
    struct pc_exports elf;
    bool open = pc_exports_open(&elf, caller->bias, caller->lo, caller->hi);
    if (pc_mpi_is_family(caller))
        return open && counts_from_family(&elf, slot, ret);
    if (!PC_SLOT_IS_PMPI(slot))
        return true;
    if (!open || !pc_exports_find(&elf, pc_op_rows[PC_SLOT_OP(slot)].name))
        return false;
    struct search s = {caller, false};
    pc_loadmap_each(search_order, &s);
    return s.before;
}
