/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Names of parallel regions and tasks of OpenMP. LLVM calls their functions .omp_outlined. or
 * .omp_outlined._debug__, with a number that counts in the whole source and so changes with each
 * version of it. The line where such a function is declared says in which function the region is,
 * and which one of it: named here as GCC names them, "solve._omp_fn.0" for the first of solve().
 * A newer LLVM puts the symbol of the function in front of a parallel region, solve.omp_outlined,
 * with a number that is not that of the region: there the line says only which one it is.
 *
 * With debug information LLVM makes two functions of a region. The runtime library calls a wrapper,
 * declared at the directive, and this calls the one that has the code, ..._debug__, declared at
 * the statement below. Where that is inlined, the two are one frame. A task has .omp_task_entry.
 * for a wrapper. Seen with LLVM 14 and 19.
 */
#include "config.h"

#include "analysis/symbols/dw_private.h"
#include "analysis/symbols/short_name.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

static const char outlined[] = ".omp_outlined", debug[] = "_debug__", task[] = ".omp_task_entry";

/* A function of a region. */
struct place {
    const char *name;
    Dwarf_Word line;
    bool body;   /* it has the code: not a wrapper */
    bool called; /* it is not inlined */
};

struct search {
    struct pct_dw_unit *unit;
    struct pct_pool *pool;
    const char *file;         /* interned */
    Dwarf_Word line;          /* of the region */
    const char *owner;        /* begins with the symbol of its function, as the region's name */
    size_t owner_bytes;       /* of the symbol; 0: not known */
    Dwarf_Die function;       /* of that symbol, or the last that begins above it in its file */
    Dwarf_Word function_line; /* 0: none found */
    bool several;             /* instances of a template */
    struct place *places;     /* of all regions in the file */
    size_t n, room;
};

static const char *name_of(Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    return dwarf_formstring(dwarf_attr_integrate(die, DW_AT_name, &attribute));
}

static const char *symbol_of(Dwarf_Die *die)
{
    const char *linkage = pct_dw_linkage_name(die);
    return linkage ? linkage : name_of(die);
}

static Dwarf_Word number_of(Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute attribute;
    Dwarf_Word number = 0;
    return dwarf_formudata(dwarf_attr_integrate(die, name, &attribute), &number) ? 0 : number;
}

/* True for the function that has the code of a region. That of a region in another one begins with
 * the name of that. */
static bool is_body(const char *name)
{
    for (const char *next; (next = strstr(name + 1, outlined));)
        name = next;
    return strstr(name, debug) != NULL;
}

/* Bytes of the function's symbol in front of the name of a region. */
static size_t owner_bytes(const char *name)
{
    return (size_t)(strstr(name, outlined) - name);
}

/* True for a symbol of n bytes that is not that of the region's function. */
static bool is_foreign(const struct search *s, const char *symbol, size_t n)
{
    return n != s->owner_bytes || strncmp(symbol, s->owner, n) != 0;
}

/* True for a region that is known to be in another function. */
static bool is_elsewhere(const struct search *s, const struct place *p)
{
    size_t n = owner_bytes(p->name);
    return n && s->owner_bytes && is_foreign(s, p->name, n);
}

/* The line of a region. A newer LLVM does not declare a task, but inlines it into its wrapper. */
static Dwarf_Word find_line(struct pct_dw_unit *u, Dwarf_Die *die, struct pct_pool *pool,
                            const char **file_out)
{
    Dwarf_Word line = number_of(die, DW_AT_decl_line);
    *file_out = pct_dw_file(u, die, line ? DW_AT_decl_file : DW_AT_call_file, pool);
    return line ? line : number_of(die, DW_AT_call_line);
}

static void add_place(struct search *s, Dwarf_Die *die, const char *name)
{
    const char *file;
    Dwarf_Word line = find_line(s->unit, die, s->pool, &file);
    if (!line || file != s->file)
        return;
    s->places = pct_grow(s->places, s->n, &s->room, sizeof *s->places);
    s->places[s->n++] =
        (struct place){name, line, is_body(name),
                       dwarf_hasattr(die, DW_AT_low_pc) || dwarf_hasattr(die, DW_AT_ranges)};
}

/* Adds the region that is inlined into the wrapper of a task. */
static void add_task(struct search *s, Dwarf_Die *wrapper)
{
    Dwarf_Die die;
    if (dwarf_child(wrapper, &die))
        return;
    do {
        const char *name = dwarf_tag(&die) == DW_TAG_inlined_subroutine ? name_of(&die) : NULL;
        if (name && strstr(name, outlined))
            add_place(s, &die, name);
    } while (!dwarf_siblingof(&die, &die));
}

/* True for a function of a class that is in a function, as a lambda: nobody knows where it ends. */
static bool is_in_function(Dwarf_Die *die)
{
    return dwarf_hasattr_integrate(die, DW_AT_specification) && pct_dw_in_function(die);
}

/* True if no function that was seen before is more likely the one that the region is in. */
static bool may_own(const struct search *s, Dwarf_Die *die, Dwarf_Word line)
{
    const char *symbol = symbol_of(die);
    if (s->owner_bytes)
        return !is_foreign(s, symbol, strlen(symbol));
    return line <= s->line && line >= s->function_line && !is_in_function(die);
}

static bool see_function(void *arg, Dwarf_Die *die)
{
    struct search *s = arg;
    const char *name = name_of(die);
    Dwarf_Word line = number_of(die, DW_AT_decl_line);
    const char *symbol = symbol_of(die);
    if (name && strstr(name, outlined))
        add_place(s, die, name);
    else if (symbol && strstr(symbol, task))
        add_task(s, die);
    if (!name || *name == '.' || strstr(name, outlined) || !line ||
        pct_dw_file(s->unit, die, DW_AT_decl_file, s->pool) != s->file ||
        dwarf_hasattr(die, DW_AT_declaration) || !may_own(s, die, line))
        return false;
    s->several =
        line == s->function_line && (s->several || strcmp(name, name_of(&s->function)) != 0);
    s->function = *die;
    s->function_line = line;
    return false;
}

static int compare_places(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    return x->line < y->line ? -1 : x->line > y->line;
}

/* The number of directives in the function above the one at or above the region's line. Instances
 * of a template have each of them again. */
static size_t count_before(const struct search *s)
{
    size_t n = 0;
    Dwarf_Word last = 0;
    for (size_t i = 0; i < s->n && s->places[i].line <= s->line; i++) {
        const struct place *p = &s->places[i];
        if (p->body || is_elsewhere(s, p))
            continue;
        n += p->line >= s->function_line && p->line != last;
        last = p->line;
    }
    return n ? n - 1 : 0;
}

/* True if the code of the region at the line is in a function of its own, before the next region.
 */
static bool calls_body(const struct search *s)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->places[i].line > s->line && !is_elsewhere(s, &s->places[i]))
            return s->places[i].body && s->places[i].called;
    return false;
}

/* The name of the function that the region is in; NULL: it is not known. */
static const char *name_owner(const struct search *s)
{
    struct pct_buf b = {0};
    if (!s->function_line)
        return NULL;
    if (!s->owner_bytes)
        return pct_dw_function_name(s->unit, (Dwarf_Die *)&s->function, s->pool);
    pct_buf_put(&b, s->owner, s->owner_bytes);
    const char *name = pct_demangle(b.data, s->pool);
    pct_buf_free(&b);
    return name;
}

/* NULL: it keeps its name. */
static const char *name_region(struct pct_dw_unit *u, Dwarf_Die *die, const char *name,
                               struct pct_pool *pool)
{
    struct search s = {.unit = u, .pool = pool, .owner = name, .owner_bytes = owner_bytes(name)};
    struct pct_buf b = {0};
    s.line = find_line(u, die, pool, &s.file);
    if (!s.line || !s.file)
        return NULL;
    pct_dw_each_function(&u->root, see_function, &s);
    if (s.n)
        qsort(s.places, s.n, sizeof *s.places, compare_places);
    const char *function = name_owner(&s);
    if (function && !s.owner_bytes) {
        s.owner = symbol_of(&s.function);
        s.owner_bytes = strlen(s.owner);
    }
    bool wrapper = !is_body(name) && calls_body(&s);
    size_t number = count_before(&s);
    pct_free(s.places);
    if (!function || wrapper)
        return NULL;
    if (s.several)
        pct_name_of_instances(&b, function);
    else
        pct_buf_text(&b, function);
    pct_buf_format(&b, strchr(b.data, '(') ? " [clone ._omp_fn.%zu]" : "._omp_fn.%zu", number);
    function = pct_pool_intern(pool, b.data);
    pct_buf_free(&b);
    return function;
}

const char *pct_dw_frame_name(struct pct_dw_unit *u, Dwarf_Die *die, struct pct_pool *pool)
{
    const char *name = name_of(die), *kept;
    if (!name || !strstr(name, outlined))
        return pct_dw_function_name(u, die, pool);
    Dwarf_Die origin = pct_dw_origin(die);
    if (!pct_dw_name_known(u, &origin, &kept)) {
        kept = name_region(u, die, name, pool);
        pct_dw_name_keep(u, &origin, kept);
    }
    return kept ? kept : pct_dw_function_name(u, die, pool);
}

bool pct_dw_same_region(struct pct_dw_unit *u, Dwarf_Die *wrapper, Dwarf_Die *inner,
                        struct pct_pool *pool)
{
    const char *outer_name = symbol_of(wrapper), *name = name_of(inner);
    if (!outer_name || !name || !strstr(name, outlined))
        return false;
    return strstr(outer_name, task) ||
           (strstr(outer_name, outlined) &&
            pct_dw_frame_name(u, wrapper, pool) == pct_dw_frame_name(u, inner, pool));
}
