/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The bounds of functions that no symbol names, as those of stripped libraries: from .eh_frame_hdr,
 * a sorted table of the begins of functions with the place of each one's entry in .eh_frame, which
 * has its length. Called by symbols.c and starts_dw.c. Knows the forms of both that linkers write:
 * 32-bit offsets, of the table relative to itself (0x3b), of an entry relative to where it stands
 * (0x1b). A table of another form, or of another byte order than this machine's, is not used.
 *
 * Static programs have no .eh_frame_hdr: gcc asks the linker for none. Their entries are read once.
 */
#include "config.h"

#include "analysis/symbols/dw_private.h"

#include <stdlib.h>
#include <string.h>

enum {
    HEADER_BYTES = 12,
    ROW_BYTES = 8,
    COUNT_UDATA4 = 0x03,
    TABLE_DATAREL_SDATA4 = 0x3b,
    PCREL_SDATA4 = 0x1b
};

static uint32_t word_at(const struct pct_dw_bytes *of, uint64_t at)
{
    uint32_t word;
    memcpy(&word, of->data + at, sizeof word);
    return word;
}

/* The begin of a function (0), or the place of its entry (4), from row i of the table. */
static uint64_t row_at(const struct pct_dw_bytes *table, size_t i, unsigned column)
{
    uint32_t offset = word_at(table, HEADER_BYTES + i * ROW_BYTES + column);
    return table->address + (uint64_t)(int64_t)(int32_t)offset;
}

static bool is_native(Elf *elf)
{
    const uint16_t one = 1;
    const char *ident = elf_getident(elf, NULL);
    bool little = *(const uint8_t *)&one;
    return ident && ident[EI_DATA] == (little ? ELFDATA2LSB : ELFDATA2MSB);
}

/* ---- Without a table ------------------------------------------------------------------------- */

/* True if the functions of entries with these common data begin at an offset from where it
 * stands. */
static bool is_relative(const Dwarf_CIE *cie)
{
    const uint8_t *data = cie->augmentation_data, *end = data + cie->augmentation_data_size;
    if (!cie->augmentation || *cie->augmentation != 'z')
        return false;
    for (const char *c = cie->augmentation + 1; *c && data < end; c++) {
        if (*c == 'R')
            return *data == PCREL_SDATA4;
        /* The personality has four bytes behind its form; only the lowest 4 bits tell how many. */
        if (*c == 'P' && (*data & 0xf) != (PCREL_SDATA4 & 0xf))
            return false;
        data += *c == 'P' ? 5 : *c == 'L';
    }
    return false;
}

static void read_extents(struct pct_dw *d, Elf *elf, Elf_Data *section)
{
    const unsigned char *ident = (const unsigned char *)elf_getident(elf, NULL);
    const struct pct_dw_bytes *bytes = &d->unwind_entries;
    Dwarf_Off next, common = 0;
    Dwarf_CFI_Entry entry;
    bool relative = false;
    for (Dwarf_Off at = 0; !dwarf_next_cfi(ident, section, true, at, &next, &entry); at = next) {
        if (dwarf_cfi_cie_p(&entry)) {
            common = at;
            relative = is_relative(&entry.cie);
        } else if (relative && entry.fde.CIE_pointer == common &&
                   entry.fde.end - entry.fde.start >= 8) {
            uint64_t place = (uint64_t)(entry.fde.start - bytes->data);
            uint64_t lo =
                bytes->address + place + (uint64_t)(int64_t)(int32_t)word_at(bytes, place);
            d->extents = pct_grow(d->extents, d->n_extents, &d->extents_room, sizeof *d->extents);
            d->extents[d->n_extents++] = (struct pct_dw_extent){lo, lo + word_at(bytes, place + 4)};
        }
    }
    pct_dw_sort_rows(d->extents, d->n_extents, sizeof *d->extents);
}

static bool find_extent(const struct pct_dw *d, uint64_t address, uint64_t *lo_out,
                        uint64_t *hi_out)
{
    size_t n = pct_dw_rows_to(d->extents, d->n_extents, sizeof *d->extents, address);
    if (!n || address >= d->extents[n - 1].hi)
        return false;
    *lo_out = d->extents[n - 1].lo;
    *hi_out = d->extents[n - 1].hi;
    return true;
}

/* ---- By the table ---------------------------------------------------------------------------- */

static void read_tables(struct pct_dw *d)
{
    GElf_Addr bias;
    GElf_Shdr header;
    size_t names;
    Elf_Scn *section = NULL;
    Elf_Data *entries = NULL;
    Elf *elf = dwfl_module_getelf(d->module, &bias);
    d->unwind_ready = true;
    if (!elf || !is_native(elf) || elf_getshdrstrndx(elf, &names))
        return;
    while ((section = elf_nextscn(elf, section))) {
        const char *name = NULL;
        if (gelf_getshdr(section, &header) && header.sh_type != SHT_NOBITS)
            name = elf_strptr(elf, names, header.sh_name);
        bool table = name && !strcmp(name, ".eh_frame_hdr");
        Elf_Data *data =
            table || (name && !strcmp(name, ".eh_frame")) ? elf_rawdata(section, NULL) : NULL;
        if (!data || !data->d_buf)
            continue;
        *(table ? &d->unwind_table : &d->unwind_entries) =
            (struct pct_dw_bytes){data->d_buf, data->d_size, header.sh_addr};
        entries = table ? entries : data;
    }
    if (entries && !d->unwind_table.n)
        read_extents(d, elf, entries);
}

/* Number of rows of the table; 0: it has another form. */
static size_t count_rows(const struct pct_dw_bytes *table)
{
    if (table->n < HEADER_BYTES || table->data[0] != 1 || table->data[2] != COUNT_UDATA4 ||
        table->data[3] != TABLE_DATAREL_SDATA4)
        return 0;
    size_t n = word_at(table, HEADER_BYTES - 4), room = (table->n - HEADER_BYTES) / ROW_BYTES;
    return n < room ? n : room;
}

/* Bytes of the function that begins at `begin`, by its entry; 0: this has another form. */
static uint64_t length_of(const struct pct_dw_bytes *entries, uint64_t entry, uint64_t begin)
{
    enum { BEGIN = 8, LENGTH = 12, BYTES = 16 };
    uint64_t at = entry - entries->address;
    if (entry < entries->address || entries->n < BYTES || at > entries->n - BYTES ||
        entry + BEGIN + (uint64_t)(int64_t)(int32_t)word_at(entries, at + BEGIN) != begin)
        return 0;
    return word_at(entries, at + LENGTH);
}

bool pct_dw_unwind(struct pct_dw *d, uint64_t address, uint64_t *lo_out, uint64_t *hi_out)
{
    if (!d->unwind_ready)
        read_tables(d);
    if (d->n_extents)
        return find_extent(d, address, lo_out, hi_out);
    const struct pct_dw_bytes *table = &d->unwind_table;
    size_t lo = 0, hi = count_rows(table);
    while (lo < hi) {
        size_t middle = lo + (hi - lo) / 2;
        if (row_at(table, middle, 0) <= address)
            lo = middle + 1;
        else
            hi = middle;
    }
    uint64_t begin = lo ? row_at(table, lo - 1, 0) : 0;
    uint64_t bytes = begin ? length_of(&d->unwind_entries, row_at(table, lo - 1, 4), begin) : 0;
    if (!begin || address - begin >= bytes)
        return false;
    *lo_out = begin;
    *hi_out = begin + bytes;
    return true;
}
