/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Finds the frames that tail calls removed, from the call sites in the debug information of one
 * file.
 *
 * The call before a return address names the function that it calls. If the stack shows another
 * function instead, the first one left by a tail call. The tail-call sites of all functions form a
 * graph; the only path in it from the called function to the one on the stack gives the missing
 * frames. doc/internals/tail-calls.md has the rules.
 *
 * Data structures: functions of all units by identity, sorted, made when the graph is first needed;
 * the call sites of a function, sorted by address, read when it is first met.
 */
#include "analysis/symbols/dw_private.h"

#include <dwarf.h>
#include <stdlib.h>

enum { MOST_DEPTH = 200, MOST_FRAMES = 16, MOST_STEPS = 4096 };

struct site {
    uint64_t address; /* in the debug file: where the call returns to, or the call itself */
    bool is_return;
    bool rest; /* calls the rest of a split function */
    bool tail;
    const void *origin; /* function that it calls; NULL: not known here */
};

struct sites {
    struct site *site;
    size_t n, room;
    bool complete; /* all tail calls of the function are in the list */
};

struct definition {
    const void *id;
    struct pct_dw_function *function;
};

struct pct_tails {
    struct pct_dw *dw;
    struct pct_pool *pool; /* shared by all files: equal names have one address */
    struct sites *sites;   /* by `sites` of a function, from 1 on */
    size_t n_sites, sites_room;
    struct definition *definitions;
    size_t n, room;
    bool ready;
};

struct pct_tails *pct_tails_new(struct pct_dw *dw, struct pct_pool *pool)
{
    struct pct_tails *t = pct_alloc(1, sizeof *t);
    *t = (struct pct_tails){.dw = dw, .pool = pool, .n_sites = 1};
    return t;
}

void pct_tails_free(struct pct_tails *t)
{
    if (!t)
        return;
    for (size_t i = 1; t->sites && i < t->n_sites; i++)
        pct_free(t->sites[i].site);
    pct_free(t->sites);
    pct_free(t->definitions);
    pct_free(t);
}

/* ---- Identity -------------------------------------------------------------------------------- */

/* True if other units can call the function. */
static bool is_external(Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    bool external = false;
    return !dwarf_formflag(dwarf_attr_integrate(die, DW_AT_external, &attribute), &external) &&
           external;
}

/* Identity of a function: its linkage name if other units can call it, else the DIE that all its
 * copies refer to. */
static const void *identify(const struct pct_tails *t, Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    Dwarf_Die top = *die;
    if (is_external(die)) {
        const char *name = pct_dw_linkage_name(die);
        if (!name)
            name = dwarf_formstring(dwarf_attr_integrate(die, DW_AT_name, &attribute));
        return name ? pct_pool_intern(t->pool, name) : NULL;
    }
    for (unsigned i = 0; i < MOST_FRAMES; i++) {
        if (!dwarf_attr(&top, DW_AT_abstract_origin, &attribute) &&
            !dwarf_attr(&top, DW_AT_specification, &attribute))
            break;
        if (!dwarf_formref_die(&attribute, &top))
            return NULL;
    }
    return top.addr;
}

static int compare_definitions(const void *a, const void *b)
{
    const struct definition *x = a, *y = b;
    uintptr_t i = (uintptr_t)x->id, k = (uintptr_t)y->id;
    return i < k ? -1 : i > k;
}

static void read_definitions(struct pct_tails *t)
{
    for (size_t i = 0; i < t->dw->n_units; i++) {
        struct pct_dw_unit *u = &t->dw->units[i];
        pct_dw_functions(u);
        for (size_t k = 0; k < u->n; k++) {
            const void *id = identify(t, &u->functions[k].die);
            if (!id)
                continue;
            t->definitions = pct_grow(t->definitions, t->n, &t->room, sizeof *t->definitions);
            t->definitions[t->n++] = (struct definition){id, &u->functions[k]};
        }
    }
    if (t->n)
        qsort(t->definitions, t->n, sizeof *t->definitions, compare_definitions);
    t->ready = true;
}

/* The first definition of a function; t->n: there is none in this file. */
static size_t find_definition(struct pct_tails *t, const void *id)
{
    if (!t->ready)
        read_definitions(t);
    size_t lo = 0, hi = t->n;
    while (lo < hi) {
        size_t middle = lo + (hi - lo) / 2;
        if ((uintptr_t)t->definitions[middle].id < (uintptr_t)id)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo < t->n && t->definitions[lo].id == id ? lo : t->n;
}

static struct pct_dw_function *function_at(struct pct_tails *t, uint64_t address)
{
    uint64_t there = address + t->dw->elf_bias - t->dw->dw_bias;
    struct pct_dw_unit *u = pct_dw_unit_at(t->dw, there);
    return u ? pct_dw_function_at(u, there) : NULL;
}

struct pct_callee pct_tails_identify(struct pct_tails *t, uint64_t address)
{
    struct pct_callee callee = {.n = 0};
    const char *names[PCT_CALLEE_IDS - 1];
    struct pct_dw_function *f = function_at(t, address);
    const void *id = f ? identify(t, &f->die) : NULL;
    if (id)
        callee.id[callee.n++] = id;
    /* A caller may know a function of a library by any of its symbols: libc's fsync is __GI_fsync
     * in its debug information. */
    size_t n = f && !is_external(&f->die)
                   ? 0
                   : pct_dw_symbol_names(t->dw, address, names, PC_ARRAY_LEN(names));
    for (size_t i = 0; i < n; i++)
        callee.id[callee.n++] = pct_pool_intern(t->pool, names[i]);
    return callee;
}

/* ---- Call sites ------------------------------------------------------------------------------ */

/* True if a DIE has the flag of DWARF 5, or of the GNU extension of DWARF 4 that it is based on. */
static bool has_flag(Dwarf_Die *die, unsigned name, unsigned gnu_name)
{
    Dwarf_Attribute attribute;
    bool flag = false;
    return (dwarf_attr_integrate(die, name, &attribute) ||
            dwarf_attr_integrate(die, gnu_name, &attribute)) &&
           !dwarf_formflag(&attribute, &flag) && flag;
}

static void add_site(const struct pct_tails *t, struct sites *s, Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    Dwarf_Addr address;
    Dwarf_Die origin;
    struct site site = {.is_return = true,
                        .tail = has_flag(die, DW_AT_call_tail_call, DW_AT_GNU_tail_call)};
    if (dwarf_formaddr(dwarf_attr(die, DW_AT_call_return_pc, &attribute), &address) &&
        dwarf_formaddr(dwarf_attr(die, DW_AT_low_pc, &attribute), &address)) {
        site.is_return = false;
        if (dwarf_formaddr(dwarf_attr(die, DW_AT_call_pc, &attribute), &address))
            return;
    }
    site.address = address;
    if ((dwarf_attr(die, DW_AT_call_origin, &attribute) ||
         dwarf_attr(die, DW_AT_abstract_origin, &attribute)) &&
        dwarf_formref_die(&attribute, &origin)) {
        site.origin = identify(t, &origin);
        site.rest = pct_dw_is_rest(t->dw, &origin);
    }
    s->site = pct_grow(s->site, s->n, &s->room, sizeof *s->site);
    s->site[s->n++] = site;
}

/* Call sites are in blocks and in inlined calls. Depth is bounded against damaged files. */
static void read_sites(const struct pct_tails *t, struct sites *s, Dwarf_Die *scope, unsigned depth)
{
    Dwarf_Die die;
    if (depth > MOST_DEPTH || dwarf_child(scope, &die))
        return;
    do {
        switch (dwarf_tag(&die)) {
        case DW_TAG_call_site:
        case DW_TAG_GNU_call_site:
            add_site(t, s, &die);
            break;
        case DW_TAG_lexical_block:
        case DW_TAG_inlined_subroutine:
            read_sites(t, s, &die, depth + 1);
            break;
        default:
            break;
        }
    } while (!dwarf_siblingof(&die, &die));
}

static int compare_sites(const void *a, const void *b)
{
    const struct site *x = a, *y = b;
    return x->address < y->address ? -1 : x->address > y->address;
}

static const struct sites *sites_of(struct pct_tails *t, struct pct_dw_function *f)
{
    if (f->sites)
        return &t->sites[f->sites];
    struct sites s = {.complete =
                          has_flag(&f->die, DW_AT_call_all_calls, DW_AT_GNU_all_call_sites)};
    s.complete |= has_flag(&f->die, DW_AT_call_all_tail_calls, DW_AT_GNU_all_tail_call_sites);
    read_sites(t, &s, &f->die, 0);
    if (s.n)
        qsort(s.site, s.n, sizeof *s.site, compare_sites);
    t->sites = pct_grow(t->sites, t->n_sites, &t->sites_room, sizeof *t->sites);
    f->sites = (uint32_t)t->n_sites;
    t->sites[t->n_sites++] = s;
    return &t->sites[f->sites];
}

/* The function that is called by the call returning to an address of the debug file; NULL: not
 * known. */
static const void *find_called(const struct sites *s, uint64_t there)
{
    size_t lo = 0, hi = s->n;
    while (lo < hi) {
        size_t middle = lo + (hi - lo) / 2;
        if (s->site[middle].address < there)
            lo = middle + 1;
        else
            hi = middle;
    }
    for (; lo < s->n && s->site[lo].address == there; lo++)
        if (s->site[lo].is_return && !s->site[lo].tail)
            return s->site[lo].origin;
    return NULL;
}

/* ---- Paths from one function to another ------------------------------------------------------ */

struct search {
    struct pct_tails *tails;
    const struct pct_callee *to;
    struct site way[MOST_FRAMES], found[MOST_FRAMES];
    size_t n_found; /* sites of the first path */
    unsigned n_ways, n_steps;
    bool unsure; /* a path cannot be followed to its end */
};

static bool is_callee(const struct pct_callee *callee, const void *id)
{
    for (size_t i = 0; i < callee->n; i++)
        if (callee->id[i] == id)
            return true;
    return false;
}

static bool is_on_way(const struct search *s, size_t n, const struct site *site)
{
    for (size_t i = 0; i < n; i++)
        if (s->way[i].address == site->address)
            return true;
    return false;
}

static void follow(struct search *s, const void *id, size_t n);

/* Follows one tail call, the n-th of the path. */
static void take_site(struct search *s, struct site site, size_t n)
{
    if (is_on_way(s, n, &site))
        return;
    if (!site.origin || n == MOST_FRAMES || ++s->n_steps > MOST_STEPS) {
        s->unsure = true;
        return;
    }
    s->way[n++] = site;
    if (!is_callee(s->to, site.origin)) {
        follow(s, site.origin, n);
    } else if (!s->n_ways++) {
        s->n_found = n;
        for (size_t i = 0; i < n; i++)
            s->found[i] = s->way[i];
    }
}

/* Follows each tail call of a function. A path ends at a function whose list is incomplete, and at
 * one of another file. */
static void follow(struct search *s, const void *id, size_t n)
{
    struct pct_tails *t = s->tails;
    for (size_t i = find_definition(t, id); i < t->n && t->definitions[i].id == id; i++) {
        struct sites sites = *sites_of(t, t->definitions[i].function);
        /* Copies of a function in several places have the same call sites. */
        bool again =
            i && t->definitions[i - 1].id == id &&
            t->definitions[i - 1].function->die.addr == t->definitions[i].function->die.addr;
        for (size_t k = 0; sites.complete && !again && k < sites.n; k++) {
            if (s->unsure || s->n_ways > 1)
                return;
            /* The guard of a function and its rest are one frame. */
            if (sites.site[k].tail && !(sites.site[k].rest && sites.site[k].origin == id))
                take_site(s, sites.site[k], n);
        }
    }
}

static size_t put_site(const struct pct_tails *t, const struct site *site, struct pct_frame *frames,
                       size_t n_max)
{
    uint64_t address = site->address - t->dw->elf_bias + t->dw->dw_bias - site->is_return;
    size_t n = pct_dw_find(t->dw, address, t->pool, frames, n_max);
    for (size_t i = 0; i < n; i++)
        frames[i].tail_call = true;
    return n;
}

size_t pct_tails_find(struct pct_tails *t, uint64_t return_address, const struct pct_callee *callee,
                      struct pct_frame *frames, size_t n_max)
{
    struct pct_dw_function *f = return_address ? function_at(t, return_address - 1) : NULL;
    const void *called =
        f ? find_called(sites_of(t, f), return_address + t->dw->elf_bias - t->dw->dw_bias) : NULL;
    if (!called || is_callee(callee, called))
        return 0;
    struct search s = {.tails = t, .to = callee};
    follow(&s, called, 0);
    size_t n = 0;
    for (size_t i = 0; !s.unsure && s.n_ways == 1 && i < s.n_found && n < n_max; i++)
        n += put_site(t, &s.found[i], frames + n, n_max - n);
    return n;
}
