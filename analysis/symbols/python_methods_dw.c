/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Functions of extension modules of Python that Python can call, as "Comm.Allreduce" of mpi4py: of
 * a stripped module no symbol names them. Python finds them by tables in the module: rows of
 * PyMethodDef, with the address of the name, that of the function, and flags. A static PyTypeObject
 * has the address of the table of its methods, and that of its own name. Their layouts are the same
 * in all versions of CPython 3 for 64 bits (seen: 3.11 to 3.13).
 *
 * Addresses in a file are relocations: of each one its place, and what the loader stores there,
 * relative to where it loads the file. They are the data structure here, by place. A row counts if
 * its name is an identifier, its function begins there by tables for exceptions, and its flags are
 * some of Python's. A function in several rows has the name of the first.
 *
 * Known hole: relocations in the packed form RELR are not read.
 */
#include "config.h"

#include "analysis/symbols/dw_private.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of PyMethodDef, and places in it. */
enum { ROW_BYTES = 32, OF_FUNCTION = 8, OF_FLAGS = 16 };
enum { MOST_FLAGS = 0x3ff }; /* METH_VARARGS to METH_METHOD */
/* Places in PyTypeObject: ob_size, which is 0, tp_name, tp_basicsize, tp_methods. */
enum { OF_ITEMS = 16, OF_NAME = 24, OF_BYTES = 32, OF_METHODS = 232 };

struct address {
    uint64_t at, value;
};

struct addresses {
    struct address *list; /* ascending */
    size_t n, room;
};

static int compare_addresses(const void *a, const void *b)
{
    const struct address *x = a, *y = b;
    return x->at < y->at ? -1 : x->at > y->at;
}

static bool is_relative(int machine, uint64_t type)
{
    return (machine == EM_X86_64 && type == R_X86_64_RELATIVE) ||
           (machine == EM_AARCH64 && type == R_AARCH64_RELATIVE);
}

static void read_section(struct addresses *out, int machine, Elf_Scn *section,
                         const GElf_Shdr *header)
{
    Elf_Data *data = elf_getdata(section, NULL);
    size_t n = data && header->sh_entsize ? data->d_size / header->sh_entsize : 0;
    for (size_t i = 0; i < n && i < INT32_MAX; i++) {
        GElf_Rela rela;
        if (!gelf_getrela(data, (int)i, &rela) || !is_relative(machine, GELF_R_TYPE(rela.r_info)))
            continue;
        out->list = pct_grow(out->list, out->n, &out->room, sizeof *out->list);
        out->list[out->n++] = (struct address){rela.r_offset, (uint64_t)rela.r_addend};
    }
}

static void read_addresses(struct pct_dw *d, struct addresses *out)
{
    GElf_Addr bias;
    GElf_Ehdr file;
    GElf_Shdr header;
    Elf *elf = dwfl_module_getelf(d->module, &bias);
    if (!elf || !gelf_getehdr(elf, &file))
        return;
    for (Elf_Scn *s = elf_nextscn(elf, NULL); s; s = elf_nextscn(elf, s))
        if (gelf_getshdr(s, &header) && header.sh_type == SHT_RELA && header.sh_flags & SHF_ALLOC)
            read_section(out, file.e_machine, s, &header);
    if (out->n)
        qsort(out->list, out->n, sizeof *out->list, compare_addresses);
}

/* The address that the loader stores at a place; 0: it stores none there. */
static uint64_t value_at(const struct addresses *a, uint64_t at)
{
    const struct address key = {.at = at},
                         *found = bsearch(&key, a->list, a->n, sizeof key, compare_addresses);
    return found ? found->value : 0;
}

/* The identifier at an address, with dots in it if they may be; NULL: there is none. */
static const char *identifier_at(struct pct_dw *d, uint64_t address, bool dotted)
{
    size_t n = 0, i = 0;
    const uint8_t *text = address ? pct_dw_bytes_at(d, address, &n) : NULL;
    while (i < n && (isalnum(text[i]) || text[i] == '_' || (dotted && text[i] == '.')))
        i++;
    return i && i < n && !text[i] && !isdigit(*text) ? (const char *)text : NULL;
}

/* True if a type is at the address, unless its name is none. */
static bool may_be_type(struct pct_dw *d, const struct addresses *a, uint64_t at)
{
    enum { MOST_BYTES = 1 << 20 };
    size_t n;
    uint64_t items, bytes;
    const uint8_t *in_type = pct_dw_bytes_at(d, at, &n);
    if (!in_type || n < OF_BYTES + sizeof bytes || value_at(a, at) || value_at(a, at + OF_ITEMS) ||
        value_at(a, at + OF_BYTES))
        return false;
    memcpy(&items, in_type + OF_ITEMS, sizeof items);
    memcpy(&bytes, in_type + OF_BYTES, sizeof bytes);
    return !items && bytes && bytes < MOST_BYTES;
}

/* True if a row is at the address. */
static bool is_row(struct pct_dw *d, const struct addresses *a, uint64_t at)
{
    size_t n;
    uint64_t lo, hi, flags, function = value_at(a, at + OF_FUNCTION);
    const uint8_t *in_row = function ? pct_dw_bytes_at(d, at + OF_FLAGS, &n) : NULL;
    if (!in_row || n < sizeof flags || value_at(a, at + OF_FLAGS))
        return false;
    memcpy(&flags, in_row, sizeof flags); /* an int and its padding */
    return flags && flags <= MOST_FLAGS && identifier_at(d, value_at(a, at), false) &&
           pct_dw_unwind(d, function, &lo, &hi) && lo == function;
}

/* The name of the type whose methods are in a table, without its module; NULL: they are functions
 * of the module, or the type is made when the program runs. */
static const char *find_type(struct pct_dw *d, const struct addresses *a, uint64_t table)
{
    for (size_t i = 0; i < a->n; i++) {
        uint64_t type = a->list[i].at - OF_METHODS;
        if (a->list[i].value != table || !may_be_type(d, a, type))
            continue;
        const char *name = identifier_at(d, value_at(a, type + OF_NAME), true);
        const char *dot = name ? strrchr(name, '.') : NULL;
        if (dot && dot[1])
            return dot + 1;
    }
    return NULL;
}

static void add_method(struct pct_dw *d, const char *type, const char *name, uint64_t function)
{
    struct pct_buf b = {0};
    uint64_t lo, hi;
    if (!pct_dw_unwind(d, function, &lo, &hi))
        return;
    pct_buf_text(&b, type ? type : "");
    pct_buf_text(&b, type ? "." : "");
    pct_buf_text(&b, name);
    if (!d->names)
        d->names = pct_pool_new();
    pct_dw_add_function(d, lo, hi, pct_pool_intern(d->names, b.data));
    pct_buf_free(&b);
}

static bool is_extension(const struct pct_dw *d)
{
    for (size_t i = 0; i < d->n_symbols; i++)
        if (!strncmp(d->symbols[i].name, "PyInit_", strlen("PyInit_")))
            return true;
    return false;
}

void pct_dw_read_python_methods(struct pct_dw *d)
{
    struct addresses a = {0};
    uint64_t next = 0; /* behind the last row */
    const char *type = NULL;
    if (!is_extension(d))
        return;
    read_addresses(d, &a);
    for (size_t i = 0; i < a.n; i++) {
        uint64_t at = a.list[i].at, function = value_at(&a, at + OF_FUNCTION);
        if (!is_row(d, &a, at))
            continue;
        if (at != next)
            type = find_type(d, &a, at);
        next = at + ROW_BYTES;
        if (!pct_dw_has_symbol(d, function))
            add_method(d, type, identifier_at(d, value_at(&a, at), false), function);
    }
    pct_free(a.list);
}
