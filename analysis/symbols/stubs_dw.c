/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The stubs by which a file calls functions of other files, as the linker makes them (.plt): named
 * after the function that they call, sin@plt. No symbol table has them. Stubs of the file's own
 * functions that are chosen at load time (IFUNC) are named after the symbol whose function chooses,
 * or [plt], if the file has none. Other code of these sections is named .plt, as perf and objdump
 * do: it calls the loader, which finds a function when it is first called.
 *
 * A stub jumps to the address in a slot of the file's table of addresses. Its instructions contain
 * the slot; the file's relocations contain the function of the slot. So the order and size of stubs
 * do not matter, which differ between linkers. Supports x86-64 and aarch64; on other processors
 * stubs have no name.
 *
 * Data structure: the slots by address, while the stubs are read.
 */
#include "config.h"

#include "analysis/symbols/dw_private.h"

#include <stdlib.h>
#include <string.h>

struct slot {
    uint64_t address;
    const char *function; /* of the file's strings; "": chosen, without a symbol; NULL: not known */
};

struct slots {
    const struct pct_dw *d;
    Elf *elf;
    struct slot *list;
    size_t n, room;
};

static int compare_slots(const void *a, const void *b)
{
    const struct slot *x = a, *y = b;
    return x->address < y->address ? -1 : x->address > y->address;
}

/* The symbol of a function that is chosen at load time by the one at an address. */
static const char *find_chosen(const struct pct_dw *d, uint64_t chooser)
{
    const struct pct_dw_symbol *best = NULL;
    for (size_t i = 0; i < d->n_symbols; i++) {
        const struct pct_dw_symbol *s = &d->symbols[i];
        if (!s->chosen || s->lo != chooser)
            continue;
        if (!best || s->rank < best->rank ||
            (s->rank == best->rank && strcmp(s->name, best->name) < 0))
            best = s;
    }
    return best ? best->name : "";
}

static void add_slot(struct slots *s, uint64_t address, const char *function)
{
    s->list = pct_grow(s->list, s->n, &s->room, sizeof *s->list);
    s->list[s->n++] = (struct slot){address, function};
}

/* Adds the slots of one section of relocations, by the symbols that it names. */
static void read_slots(struct slots *out, Elf_Scn *section, const GElf_Shdr *header)
{
    GElf_Shdr table;
    Elf_Scn *linked = elf_getscn(out->elf, header->sh_link);
    Elf_Data *relocations = elf_getdata(section, NULL), *symbols = elf_getdata(linked, NULL);
    if (!relocations || !symbols || !gelf_getshdr(linked, &table) || !header->sh_entsize)
        return;
    for (int i = 0; (GElf_Xword)i < header->sh_size / header->sh_entsize; i++) {
        GElf_Rela relocation;
        GElf_Sym symbol;
        if (!gelf_getrela(relocations, i, &relocation))
            continue;
        uint64_t type = GELF_R_TYPE(relocation.r_info), named = GELF_R_SYM(relocation.r_info);
        if (!named && (type == R_X86_64_IRELATIVE || type == R_AARCH64_IRELATIVE))
            add_slot(out, relocation.r_offset, find_chosen(out->d, (uint64_t)relocation.r_addend));
        if (!named || !gelf_getsym(symbols, (int)named, &symbol))
            continue;
        const char *name = elf_strptr(out->elf, table.sh_link, symbol.st_name);
        if (name && *name)
            add_slot(out, relocation.r_offset, name);
    }
}

/* True if a stub begins at `at`, where there are n bytes; *slot_out: the slot that it jumps by. */
static bool read_stub_x86_64(const uint8_t *at, size_t n, uint64_t address, uint64_t *slot_out)
{
    static const uint8_t mark[] = {0xf3, 0x0f, 0x1e, 0xfa}; /* endbr64, with branch protection */
    size_t i = n >= sizeof mark && !memcmp(at, mark, sizeof mark) ? sizeof mark : 0;
    i += i < n && at[i] == 0xf2; /* the jump's prefix, with that */
    if (i + 6 > n || at[i] != 0xff || at[i + 1] != 0x25)
        return false;
    uint32_t distance = at[i + 2] | (uint32_t)at[i + 3] << 8 | (uint32_t)at[i + 4] << 16 |
                        (uint32_t)at[i + 5] << 24;
    *slot_out = address + i + 6 + (uint64_t)(int64_t)(int32_t)distance;
    return true;
}

/* adrp x16, page; ldr x17, [x16, #offset] */
static bool read_stub_aarch64(const uint8_t *at, size_t n, uint64_t address, uint64_t *slot_out)
{
    uint32_t code[2];
    if (n < sizeof code)
        return false;
    memcpy(code, at, sizeof code);
    if ((code[0] & 0x9f00001f) != 0x90000010 || (code[1] & 0xffc003ff) != 0xf9400211)
        return false;
    uint32_t pages = (code[0] >> 5 & 0x7ffff) << 2 | (code[0] >> 29 & 3);
    int64_t distance = (int64_t)((uint64_t)pages << 43) >> 31; /* 21 bits with sign, in pages */
    *slot_out = (address & ~(uint64_t)0xfff) + (uint64_t)distance + (code[1] >> 10 & 0xfff) * 8;
    return true;
}

static void add_stub(struct pct_dw *d, uint64_t lo, uint64_t hi, const char *function)
{
    struct pct_buf b = {0};
    const char *name = !function ? ".plt" : "[plt]";
    if (hi <= lo)
        return;
    if (function && *function) {
        pct_buf_format(&b, "%s@plt", function);
        name = b.data;
    }
    if (!d->names)
        d->names = pct_pool_new();
    pct_dw_add_function(d, lo, hi, pct_pool_intern(d->names, name));
    d->n_stubs++;
    pct_buf_free(&b);
}

/* True if a stub begins at `at`, where there are n bytes; *slot_out: what it jumps by. */
static bool read_stub(const struct slots *slots, int machine, const uint8_t *at, size_t n,
                      uint64_t address, struct slot *slot_out)
{
    struct slot key = {0}, *slot = NULL;
    if (!(machine == EM_X86_64 ? read_stub_x86_64(at, n, address, &key.address)
                               : read_stub_aarch64(at, n, address, &key.address)))
        return false;
    if (slots->n)
        slot = bsearch(&key, slots->list, slots->n, sizeof key, compare_slots);
    *slot_out = slot ? *slot : key;
    return true;
}

/* A stub reaches to the next one, whose function may not be known. */
static void read_stubs(struct pct_dw *d, int machine, Elf_Scn *section, const GElf_Shdr *header,
                       const struct slots *slots)
{
    enum { STEP = 4 }; /* stubs begin at multiples of it */
    Elf_Data *data = elf_getdata(section, NULL);
    struct slot here = {0}, next;
    uint64_t lo = header->sh_addr;
    for (size_t i = 0; data && data->d_buf && i < data->d_size; i += STEP) {
        uint64_t address = header->sh_addr + i;
        if (!read_stub(slots, machine, (const uint8_t *)data->d_buf + i, data->d_size - i, address,
                       &next) ||
            next.address == here.address) /* the second: the jump behind its mark */
            continue;
        add_stub(d, lo, address, here.function);
        lo = address;
        here = next;
    }
    add_stub(d, lo, header->sh_addr + header->sh_size, here.function);
}

void pct_dw_read_stubs(struct pct_dw *d)
{
    GElf_Addr bias;
    GElf_Ehdr file;
    GElf_Shdr header;
    Elf *elf = dwfl_module_getelf(d->module, &bias);
    struct slots slots = {.d = d, .elf = elf};
    size_t names;
    if (!elf || !gelf_getehdr(elf, &file) || elf_getshdrstrndx(elf, &names) ||
        (file.e_machine != EM_X86_64 && file.e_machine != EM_AARCH64))
        return;
    for (Elf_Scn *s = elf_nextscn(elf, NULL); s; s = elf_nextscn(elf, s))
        if (gelf_getshdr(s, &header) && header.sh_type == SHT_RELA && header.sh_flags & SHF_ALLOC)
            read_slots(&slots, s, &header);
    if (slots.n)
        qsort(slots.list, slots.n, sizeof *slots.list, compare_slots);
    for (Elf_Scn *s = elf_nextscn(elf, NULL); s; s = elf_nextscn(elf, s)) {
        const char *name = gelf_getshdr(s, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;
        if (name && header.sh_type == SHT_PROGBITS && !strncmp(name, ".plt", 4))
            read_stubs(d, file.e_machine, s, &header, &slots);
    }
    pct_free(slots.list);
}
