/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Names of parallel regions and tasks of OpenMP. LLVM calls their functions .omp_outlined. or
 * .omp_outlined._debug__, with a number that counts in the whole source and so changes with each
 * version of it. The line where such a function is declared says in which function the region is,
 * and which one of it: named here as GCC names them, "solve._omp_fn.0" for the first of solve().
 *
 * With debug information LLVM makes two functions of a region. The runtime library calls a wrapper,
 * declared at the directive, and this calls the one that has the code, ..._debug__, declared at
 * the statement below. Where that is inlined, the two are one frame. A task has .omp_task_entry.
 * for a wrapper. Seen with LLVM 14.
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
    Dwarf_Word line;
    bool body;   /* it has the code: not a wrapper */
    bool called; /* it is not inlined */
};

struct search {
    struct pct_dw_unit *unit;
    struct pct_pool *pool;
    const char *file;         /* interned */
    Dwarf_Word line;          /* of the region */
    Dwarf_Die function;       /* the last that begins above it in its file */
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

static Dwarf_Word number_of(Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute attribute;
    Dwarf_Word number = 0;
    return dwarf_formudata(dwarf_attr_integrate(die, name, &attribute), &number) ? 0 : number;
}

static void add_place(struct search *s, Dwarf_Die *die, const char *name)
{
    s->places = pct_grow(s->places, s->n, &s->room, sizeof *s->places);
    s->places[s->n++] =
        (struct place){number_of(die, DW_AT_decl_line), strstr(name, debug) != NULL,
                       dwarf_hasattr(die, DW_AT_low_pc) || dwarf_hasattr(die, DW_AT_ranges)};
}

/* True for a function of a class that is in a function, as a lambda: nobody knows where it ends. */
static bool is_in_function(Dwarf_Die *die)
{
    return dwarf_hasattr_integrate(die, DW_AT_specification) && pct_dw_in_function(die);
}

static bool see_function(void *arg, Dwarf_Die *die)
{
    struct search *s = arg;
    const char *name = name_of(die);
    Dwarf_Word line = number_of(die, DW_AT_decl_line);
    if (!name || !line || pct_dw_file(s->unit, die, DW_AT_decl_file, s->pool) != s->file)
        return false;
    if (strstr(name, outlined)) {
        add_place(s, die, name);
        return false;
    }
    if (line > s->line || line < s->function_line || *name == '.' ||
        dwarf_hasattr(die, DW_AT_declaration) || is_in_function(die))
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
        if (p->body)
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
        if (s->places[i].line > s->line)
            return s->places[i].body && s->places[i].called;
    return false;
}

/* NULL: it keeps its name. */
static const char *name_region(struct pct_dw_unit *u, Dwarf_Die *die, const char *name,
                               struct pct_pool *pool)
{
    struct search s = {.unit = u,
                       .pool = pool,
                       .file = pct_dw_file(u, die, DW_AT_decl_file, pool),
                       .line = number_of(die, DW_AT_decl_line)};
    struct pct_buf b = {0};
    if (!s.file)
        return NULL;
    pct_dw_each_function(&u->root, see_function, &s);
    if (s.n)
        qsort(s.places, s.n, sizeof *s.places, compare_places);
    bool wrapper = !strstr(name, debug) && calls_body(&s);
    size_t number = count_before(&s);
    pct_free(s.places);
    const char *function =
        s.function_line && !wrapper ? pct_dw_function_name(u, &s.function, pool) : NULL;
    if (!function)
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
        kept = name_region(u, &origin, name, pool);
        pct_dw_name_keep(u, &origin, kept);
    }
    return kept ? kept : pct_dw_function_name(u, die, pool);
}

bool pct_dw_same_region(struct pct_dw_unit *u, Dwarf_Die *wrapper, Dwarf_Die *inner,
                        struct pct_pool *pool)
{
    const char *outer_name = name_of(wrapper), *name = name_of(inner);
    if (!outer_name || !name || !strstr(name, outlined))
        return false;
    return strstr(outer_name, task) ||
           (strstr(outer_name, outlined) &&
            pct_dw_frame_name(u, wrapper, pool) == pct_dw_frame_name(u, inner, pool));
}
