/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One file's symbols by libdw. Three sorted arrays make a look-up cheap, where libdw's own
 * look-ups walk the whole unit or the whole symbol table each time:
 *  - address ranges of all compilation units, from their DIEs (.debug_aranges is often missing);
 *  - for each unit met, the address ranges of its functions, wherever they are nested;
 *  - symbols with a size or a place, from all symbol tables that libdwfl finds, the stubs of
 *    stubs_dw.c, and the functions of starts_dw.c and python_methods_dw.c.
 * Addresses are link-time addresses of the main file; a separate debug file may be shifted
 * (dw_bias), and the address space of libdwfl too (elf_bias).
 */
#include "config.h"

#include "analysis/symbols/dw_private.h"
#include "analysis/symbols/short_name.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- Opening --------------------------------------------------------------------------------- */

static void set_language(struct pct_dw_unit *u, Dwarf_Die *die)
{
    switch (dwarf_srclang(die)) {
    case DW_LANG_Fortran77:
    case DW_LANG_Fortran90:
    case DW_LANG_Fortran95:
    case DW_LANG_Fortran03:
    case DW_LANG_Fortran08:
        u->fortran = true;
        break;
    case DW_LANG_C_plus_plus:
    case DW_LANG_C_plus_plus_03:
    case DW_LANG_C_plus_plus_11:
    case DW_LANG_C_plus_plus_14:
    case 0x2b: /* C++17 and C++20, which <dwarf.h> of elfutils 0.188 does not name */
    case 0x2c:
        u->cxx = true;
        break;
    case DW_LANG_Mips_Assembler:
        u->assembler = true;
        break;
    default:
        break;
    }
}

static void add_unit(struct pct_dw *d, Dwarf_Die *die)
{
    int tag = dwarf_tag(die);
    if (tag != DW_TAG_compile_unit && tag != DW_TAG_skeleton_unit)
        return;
    d->units = pct_grow(d->units, d->n_units, &d->units_room, sizeof *d->units);
    struct pct_dw_unit *u = &d->units[d->n_units];
    *u = (struct pct_dw_unit){.file = d, .die = *die, .root = *die};
    Dwarf_Die split;
    uint8_t type;
    if (!dwarf_cu_info(die->cu, NULL, &type, NULL, &split, NULL, NULL, NULL) &&
        type == DW_UT_skeleton) {
        if (dwarf_tag(&split) != DW_TAG_invalid) {
            u->root = split;
            dwarf_new_oom_handler(dwarf_cu_getdwarf(split.cu), pct_memory_refuse);
        } else {
            d->n_missing++;
        }
    }
    set_language(u, &u->root);
    Dwarf_Addr base, lo, hi;
    ptrdiff_t next = 0;
    while ((next = dwarf_ranges(die, next, &base, &lo, &hi)) > 0) {
        if (lo >= hi || !lo) /* code that the linker dropped is left at 0 */
            continue;
        d->ranges = pct_grow(d->ranges, d->n_ranges, &d->ranges_room, sizeof *d->ranges);
        d->ranges[d->n_ranges++] = (struct pct_dw_range){lo, hi, d->n_units};
    }
    d->n_units++;
}

static void read_units(struct pct_dw *d)
{
    Dwarf_Die *die = NULL;
    Dwarf_Addr bias;
    Dwarf *dwarf = dwfl_module_getdwarf(d->module, &bias);
    /* Without this handler libdw ends the program if memory is refused. libdw 0.188 still does so,
     * by an assertion, if its table of abbreviations cannot grow. */
    if (dwarf)
        dwarf_new_oom_handler(dwarf, pct_memory_refuse);
    while ((die = dwfl_module_nextcu(d->module, die, &bias))) {
        d->dw_bias = bias;
        add_unit(d, die);
    }
    pct_dw_sort_rows(d->ranges, d->n_ranges, sizeof *d->ranges);
}

/* Callback that finds no file, because the file itself is passed to dwfl_report_elf. */
static int find_no_elf(Dwfl_Module *m, void **user, const char *name, Dwarf_Addr base, char **file,
                       Elf **elf)
{
    (void)m, (void)user, (void)name, (void)base, (void)file, (void)elf;
    return -1;
}

static void end_dwfl(void *dwfl)
{
    dwfl_end(dwfl);
}

struct pct_dw *pct_dw_open(const char *path, struct pc_error *error)
{
    static const Dwfl_Callbacks callbacks = {.find_elf = find_no_elf,
                                             .find_debuginfo = pct_dw_find_debug_file};
    struct pct_dw *d = pct_alloc(1, sizeof *d);
    d->dwfl = pct_hold(dwfl_begin(&callbacks), end_dwfl);
    if (d->dwfl) {
        dwfl_report_begin(d->dwfl);
        d->module = dwfl_report_elf(d->dwfl, path, path, -1, 0, true);
        dwfl_report_end(d->dwfl, NULL, NULL);
    }
    if (!d->module || !dwfl_module_getelf(d->module, &d->elf_bias)) {
        pc_error_set(error, PC_EFORMAT, "%s", dwfl_errmsg(-1));
        pct_dw_close(d);
        return NULL;
    }
    read_units(d);
    return d;
}

void pct_dw_close(struct pct_dw *d)
{
    if (!d)
        return;
    for (size_t i = 0; i < d->n_units; i++) {
        pct_free(d->units[i].functions);
        pct_free(d->units[i].named);
    }
    pct_free(d->units);
    pct_free(d->ranges);
    pct_free(d->symbols);
    pct_free(d->extents);
    pct_pool_free(d->names);
    pct_end(d->dwfl, end_dwfl);
    pct_free(d);
}

size_t pct_dw_build_id(struct pct_dw *d, const uint8_t **id_out)
{
    GElf_Addr where;
    const unsigned char *id;
    int n = dwfl_module_build_id(d->module, &id, &where);
    if (n <= 0)
        return 0;
    *id_out = id;
    return (size_t)n;
}

size_t pct_dw_missing(const struct pct_dw *d)
{
    return d->n_missing;
}

/* ---- Symbol tables --------------------------------------------------------------------------- */

static int compare_symbols(const void *a, const void *b)
{
    const struct pct_dw_symbol *x = a, *y = b;
    if (x->lo != y->lo)
        return x->lo < y->lo ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return strcmp(x->name, y->name);
}

/* True for the second name that a function of MPI has, for tools. */
static bool is_profiling_name(const char *name)
{
    return !strncasecmp(name, "PMPI_", 5);
}

/* Rank of a symbol: what can be linked with before what is local; of these names without leading
 * underscores first, as munmap, which is weak, before __munmap, and MPI_Wtime, which is weak,
 * before PMPI_Wtime; then global before weak. */
static int rank_symbol(const GElf_Sym *symbol, const char *name)
{
    int bind = GELF_ST_BIND(symbol->st_info);
    int second = name[0] != '_' ? is_profiling_name(name) : name[1] != '_' ? 1 : 2;
    bool cxx = !strncmp(name, "_Z", 2), local = bind != STB_GLOBAL && bind != STB_WEAK;
    return (local ? 8 : 0) + 2 * (cxx ? 0 : second) + (bind == STB_WEAK);
}

/* Bytes from the symbol to the end of its section; 0 if that is not known. */
static uint64_t reach_of_symbol(Elf *elf, GElf_Word section, const GElf_Sym *symbol)
{
    GElf_Shdr header;
    Elf_Scn *scn = elf ? elf_getscn(elf, section) : NULL;
    if (!scn || !gelf_getshdr(scn, &header) || symbol->st_value < header.sh_addr)
        return 0;
    uint64_t within = symbol->st_value - header.sh_addr;
    return within < header.sh_size ? header.sh_size - within : 0;
}

static void read_symbols(struct pct_dw *d)
{
    int n = dwfl_module_getsymtab(d->module);
    for (int i = 1; i < n; i++) {
        GElf_Sym symbol;
        GElf_Addr address;
        GElf_Word section;
        Elf *elf;
        const char *name =
            dwfl_module_getsym_info(d->module, i, &symbol, &address, &section, &elf, NULL);
        int type = name ? GELF_ST_TYPE(symbol.st_info) : STT_OBJECT;
        if (!name || !*name || section == SHN_UNDEF || section == SHN_ABS ||
            (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE))
            continue;
        if (type == STT_NOTYPE && (name[0] == '$' || name[0] == '.'))
            continue; /* marks of the assembler */
        uint64_t lo = address - d->elf_bias;
        d->symbols = pct_grow(d->symbols, d->n_symbols, &d->symbols_room, sizeof *d->symbols);
        d->symbols[d->n_symbols++] = (struct pct_dw_symbol){
            lo,   lo + symbol.st_size,        lo + reach_of_symbol(elf, section, &symbol),
            name, rank_symbol(&symbol, name), type == STT_GNU_IFUNC};
    }
    pct_dw_read_stubs(d);
    pct_dw_read_thread_start(d);
    pct_dw_read_python_methods(d);
    if (d->n_symbols)
        qsort(d->symbols, d->n_symbols, sizeof *d->symbols, compare_symbols);
    d->symbols_ready = true;
}

/* The symbol that covers the address. One without a size is used only if no other symbol lies
 * between it and the address. */
static const struct pct_dw_symbol *find_symbol(struct pct_dw *d, uint64_t address)
{
    if (!d->symbols_ready)
        read_symbols(d);
    size_t n = pct_dw_rows_to(d->symbols, d->n_symbols, sizeof *d->symbols, address);
    if (!n)
        return NULL;
    uint64_t place = d->symbols[n - 1].lo;
    const struct pct_dw_symbol *sizeless = NULL, *found = NULL;
    /* Symbols may lie inside others (labels), so a few earlier ones are tried. */
    for (size_t i = n, tries = 0;
         i-- > 0 && tries < 64 && !(found && d->symbols[i].lo != found->lo); tries++) {
        const struct pct_dw_symbol *s = &d->symbols[i];
        if (address < s->hi)
            found = s;
        else if (s->hi == s->lo && s->lo == place && address < s->reach)
            sizeless = s;
    }
    return found ? found : sizeless;
}

/* The end of a symbol without a size: the next symbol, or the end of its section. */
static uint64_t end_of_sizeless(const struct pct_dw *d, const struct pct_dw_symbol *s)
{
    const struct pct_dw_symbol *end = d->symbols + d->n_symbols, *next = s + 1;
    while (next < end && next->lo == s->lo)
        next++;
    return next < end && next->lo < s->reach ? next->lo : s->reach;
}

enum pct_symbols_state pct_dw_state(struct pct_dw *d)
{
    if (d->n_ranges)
        return PCT_SYMBOLS_LINES;
    if (!d->symbols_ready)
        read_symbols(d);
    return d->n_symbols > d->n_stubs ? PCT_SYMBOLS_FUNCTIONS : PCT_SYMBOLS_NONE;
}

/* ---- Functions of a unit --------------------------------------------------------------------- */

static bool add_function(void *arg, Dwarf_Die *die)
{
    struct pct_dw_unit *u = arg;
    Dwarf_Addr base, lo, hi;
    ptrdiff_t next = 0;
    while ((next = dwarf_ranges(die, next, &base, &lo, &hi)) > 0) {
        if (lo >= hi)
            continue;
        u->functions = pct_grow(u->functions, u->n, &u->room, sizeof *u->functions);
        u->functions[u->n++] = (struct pct_dw_function){lo, hi, *die, 0};
    }
    return true;
}

/* Keeps the names of static functions of C++ that have the linkage of C, as DWARF does not tell:
 * those that have their bare name as symbol, or as "compare.part.0". */
static void keep_bare_names(struct pct_dw_unit *u)
{
    uint64_t shift = u->file->elf_bias - u->file->dw_bias;
    for (size_t i = 0; i < u->n; i++) {
        Dwarf_Die *die = &u->functions[i].die;
        Dwarf_Attribute attribute;
        if (dwarf_hasattr_integrate(die, DW_AT_external) || pct_dw_linkage_name(die))
            continue;
        const char *name = dwarf_formstring(dwarf_attr_integrate(die, DW_AT_name, &attribute));
        const struct pct_dw_symbol *s =
            name ? find_symbol(u->file, u->functions[i].lo - shift) : NULL;
        size_t n = s ? strlen(name) : 0;
        /* Functions with a dot are regions, which regions_dw.c names. */
        if (s && !strchr(name, '.') && !strncmp(s->name, name, n) &&
            (!s->name[n] || s->name[n] == '.')) {
            Dwarf_Die origin = pct_dw_origin(die);
            pct_dw_name_keep(u, &origin, NULL); /* no better one than the bare name */
        }
    }
}

void pct_dw_functions(struct pct_dw_unit *u)
{
    if (u->ready)
        return;
    pct_dw_each_function(&u->root, add_function, u);
    pct_dw_sort_rows(u->functions, u->n, sizeof *u->functions);
    if (u->cxx)
        keep_bare_names(u);
    u->ready = true;
}

struct pct_dw_unit *pct_dw_unit_at(struct pct_dw *d, uint64_t address)
{
    size_t n = pct_dw_rows_to(d->ranges, d->n_ranges, sizeof *d->ranges, address);
    if (!n || address >= d->ranges[n - 1].hi)
        return NULL;
    struct pct_dw_unit *u = &d->units[d->ranges[n - 1].unit];
    pct_dw_functions(u);
    return u;
}

struct pct_dw_function *pct_dw_function_at(struct pct_dw_unit *u, uint64_t address)
{
    size_t n = pct_dw_rows_to(u->functions, u->n, sizeof *u->functions, address);
    return n && address < u->functions[n - 1].hi ? &u->functions[n - 1] : NULL;
}

/* ---- Inlined calls --------------------------------------------------------------------------- */

/* The inlined call below *scope that holds the address, through blocks; false if there is none. */
static bool find_inlined(Dwarf_Die *scope, uint64_t address, Dwarf_Die *out, unsigned depth)
{
    Dwarf_Die die;
    if (depth > 200 || dwarf_child(scope, &die))
        return false;
    do {
        int tag = dwarf_tag(&die);
        bool block = tag == DW_TAG_lexical_block;
        if (!block && tag != DW_TAG_inlined_subroutine)
            continue;
        bool placed = dwarf_hasattr(&die, DW_AT_low_pc) || dwarf_hasattr(&die, DW_AT_ranges);
        if (placed ? dwarf_haspc(&die, address) <= 0 : !block)
            continue;
        if (!block) {
            *out = die;
            return true;
        }
        if (find_inlined(&die, address, out, depth + 1))
            return true;
    } while (!dwarf_siblingof(&die, &die));
    return false;
}

/* Place where the inlined call `die` was written. */
static void set_call_place(struct pct_dw_unit *u, Dwarf_Die *die, struct pct_pool *pool,
                           struct pct_frame *frame)
{
    Dwarf_Attribute attribute;
    Dwarf_Word line = 0;
    if (!dwarf_formudata(dwarf_attr(die, DW_AT_call_line, &attribute), &line))
        frame->line = (uint32_t)line;
    frame->file = pct_dw_file(u, die, DW_AT_call_file, pool);
}

static void set_line(struct pct_dw_unit *u, uint64_t address, struct pct_pool *pool,
                     struct pct_frame *frame)
{
    Dwarf_Line *line = dwarf_getsrc_die(&u->die, address);
    int number = 0;
    const char *path = line ? dwarf_linesrc(line, NULL, NULL) : NULL;
    if (!path)
        return;
    frame->file = pct_dw_path(u, path, pool);
    if (!dwarf_lineno(line, &number) && number > 0)
        frame->line = (uint32_t)number;
}

/* Sets the file that declares the function `die`, if that of the line is another. */
static void set_home(struct pct_dw_unit *u, Dwarf_Die *die, struct pct_pool *pool,
                     struct pct_frame *frame)
{
    const char *path = frame->file ? pct_dw_file(u, die, DW_AT_decl_file, pool) : NULL;
    frame->home = path != frame->file ? path : NULL;
}

/* The function that the call returning to `back` calls, of the calls in *scope and its blocks. */
static bool find_called(Dwarf_Die *scope, uint64_t back, Dwarf_Die *out, unsigned depth)
{
    Dwarf_Die die;
    if (depth > 200 || dwarf_child(scope, &die))
        return false;
    do {
        int tag = dwarf_tag(&die);
        bool gnu = tag == DW_TAG_GNU_call_site;
        Dwarf_Attribute attribute;
        Dwarf_Addr address;
        if (tag == DW_TAG_lexical_block && find_called(&die, back, out, depth + 1))
            return true;
        if ((gnu || tag == DW_TAG_call_site) &&
            !dwarf_formaddr(dwarf_attr(&die, gnu ? DW_AT_low_pc : DW_AT_call_return_pc, &attribute),
                            &address) &&
            address == back)
            return dwarf_attr(&die, gnu ? DW_AT_abstract_origin : DW_AT_call_origin, &attribute) &&
                   dwarf_formref_die(&attribute, out);
    } while (!dwarf_siblingof(&die, &die));
    return false;
}

bool pct_dw_is_rest(struct pct_dw *d, Dwarf_Die *die)
{
    Dwarf_Addr lo;
    const struct pct_dw_symbol *s =
        dwarf_lowpc(die, &lo) ? NULL : find_symbol(d, lo - d->elf_bias + d->dw_bias);
    return s && strstr(s->name, ".part.");
}

/* True if the inlined function *scope is left at `address` by a call of its own rest. Both are one
 * call of the function. A recursion calls it by another symbol. */
static bool calls_its_rest(struct pct_dw_unit *u, Dwarf_Die *scope, uint64_t address)
{
    Dwarf_Die called;
    return find_called(scope, address + 1, &called, 0) &&
           pct_dw_origin(&called).addr == pct_dw_origin(scope).addr &&
           pct_dw_is_rest(u->file, &called);
}

/* True for an inlined function of pcollect.h. It has no frame: GCC 12 counts a parallel region
 * behind it, whose entry has no line of its own, to it. */
static bool marks_regions(struct pct_dw_unit *u, Dwarf_Die *die, struct pct_pool *pool)
{
    static const char header[] = "/pcollect/pcollect.h";
    const char *path = pct_dw_file(u, die, DW_AT_decl_file, pool);
    size_t n = path ? strlen(path) : 0;
    return n >= sizeof header - 1 && !strcmp(path + n - (sizeof header - 1), header);
}

/* Fills frames from the function at `die` to the innermost inlined call; returns their number. An
 * inlined call that only calls its own rest has no frame: the rest has it. */
static size_t find_chain(struct pct_dw_unit *u, Dwarf_Die *die, uint64_t address,
                         struct pct_pool *pool, struct pct_frame *frames, size_t n_max)
{
    Dwarf_Die scope = *die, inner;
    size_t n = 0;
    frames[n] = (struct pct_frame){.function = pct_dw_frame_name(u, &scope, pool)};
    while (n + 1 < n_max && find_inlined(&scope, address, &inner, 0)) {
        if (!n && pct_dw_same_region(u, &scope, &inner, pool)) {
            scope = inner;
            frames[0].function = pct_dw_frame_name(u, &scope, pool);
            continue;
        }
        set_call_place(u, &inner, pool, &frames[n]);
        set_home(u, &scope, pool, &frames[n]);
        if (marks_regions(u, &inner, pool))
            return n + 1;
        scope = inner;
        frames[++n] =
            (struct pct_frame){.function = pct_dw_frame_name(u, &scope, pool), .inlined = true};
    }
    if (n && calls_its_rest(u, &scope, address))
        return n;
    set_line(u, address, pool, &frames[n]);
    set_home(u, &scope, pool, &frames[n]);
    return n + 1;
}

/* Names a function from the symbol table, if DWARF has no name; or only a short one, because it is
 * local to another function; or one of several, as of assembler, where each alias of a function is
 * one, and of MPI, whose functions have two. */
static void name_by_symbol(struct pct_dw *d, uint64_t address, struct pct_pool *pool,
                           struct pct_frame *frame, bool cxx, bool assembler)
{
    const char *name = frame->function;
    bool profiling = name && is_profiling_name(name);
    bool region = name && strncmp(name, "_Z", 2) && strstr(name, "._omp_fn.");
    if (region || (name && !cxx && !assembler && !profiling))
        return;
    const struct pct_dw_symbol *s = find_symbol(d, address);
    if (s && (!name || assembler || !strncmp(s->name, "_Z", 2) ||
              (profiling && !strcmp(s->name, name + 1))))
        frame->function = pct_demangle(s->name, pool);
}

size_t pct_dw_symbol_names(struct pct_dw *d, uint64_t address, const char **names, size_t n)
{
    const struct pct_dw_symbol *end, *first = find_symbol(d, address);
    size_t k = 0;
    end = d->symbols + d->n_symbols;
    for (const struct pct_dw_symbol *s = first; s && s < end && s->lo == first->lo && k < n; s++)
        names[k++] = s->name;
    return k;
}

size_t pct_dw_find(struct pct_dw *d, uint64_t address, struct pct_pool *pool,
                   struct pct_frame *frames, size_t n)
{
    uint64_t there = address + d->elf_bias - d->dw_bias;
    struct pct_dw_unit *u = pct_dw_unit_at(d, there);
    struct pct_dw_function *function = u ? pct_dw_function_at(u, there) : NULL;
    if (!function) {
        frames[0] = (struct pct_frame){0};
        if (u)
            set_line(u, there, pool, &frames[0]);
        name_by_symbol(d, address, pool, &frames[0], false, false);
        return frames[0].function ? 1 : 0;
    }
    size_t found = find_chain(u, &function->die, there, pool, frames, n);
    Dwarf_Attribute attribute;
    bool linked = dwarf_attr_integrate(&function->die, DW_AT_linkage_name, &attribute) != NULL;
    name_by_symbol(d, address, pool, &frames[0], u->cxx && !linked, u->assembler);
    return found;
}

bool pct_dw_bounds(struct pct_dw *d, uint64_t address, uint64_t *lo_out, uint64_t *hi_out)
{
    uint64_t shift = d->elf_bias - d->dw_bias;
    struct pct_dw_unit *u = pct_dw_unit_at(d, address + shift);
    struct pct_dw_function *function = u ? pct_dw_function_at(u, address + shift) : NULL;
    const struct pct_dw_symbol *s = function ? NULL : find_symbol(d, address);
    if (!function && !s)
        return false;
    *lo_out = function ? function->lo - shift : s->lo;
    *hi_out = function ? function->hi - shift : s->hi > s->lo ? s->hi : end_of_sizeless(d, s);
    return true;
}
