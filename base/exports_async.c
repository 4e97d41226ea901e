/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Looks up exported symbols in a mapped module by its own dynamic section: for questions that dlsym
 * cannot answer in a signal handler or does not answer at all (every name of one address).
 *
 * Reads the first page of the module (ELF and program headers), the dynamic section and what it
 * points to, all of which the loader keeps mapped. Every function may run in a signal handler.
 */
#include "base/exports.h"

#include <elf.h>
#include <link.h>
#include <string.h>

static bool is_elf(const ElfW(Ehdr) * header)
{
    return memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
           header->e_phentsize == sizeof(ElfW(Phdr));
}

static const ElfW(Dyn) * find_dynamic(uintptr_t bias, uintptr_t lo, uintptr_t hi)
{
    if (lo == 0 || hi - lo < sizeof(ElfW(Ehdr)))
        return NULL;
    const ElfW(Ehdr) *header = (const void *)lo;
    if (!is_elf(header) || header->e_phoff > 4096 ||
        header->e_phoff + header->e_phnum * sizeof(ElfW(Phdr)) > 4096)
        return NULL;
    const ElfW(Phdr) *ph = (const void *)(lo + header->e_phoff);
    for (int i = 0; i < header->e_phnum; i++)
        if (ph[i].p_type == PT_DYNAMIC && bias + ph[i].p_vaddr >= lo && bias + ph[i].p_vaddr < hi)
            return (const void *)(bias + ph[i].p_vaddr);
    return NULL;
}

/* The address in a dynamic entry. glibc adds the bias to it in place on most targets; the vdso and
 * some targets keep offsets. */
static const void *absolute(const ElfW(Dyn) * d, uintptr_t bias)
{
    uintptr_t p = (uintptr_t)d->d_un.d_ptr;
    return (const void *)(p < bias ? p + bias : p);
}

bool pc_exports_open(struct pc_exports *elf, uintptr_t bias, uintptr_t lo, uintptr_t hi)
{
    struct pc_exports found = {.bias = bias};
    const ElfW(Dyn) *d = find_dynamic(bias, lo, hi);
    for (; d && d->d_tag != DT_NULL; d++) {
        if (d->d_tag == DT_SYMTAB)
            found.symbols = absolute(d, bias);
        else if (d->d_tag == DT_STRTAB)
            found.strings = absolute(d, bias);
        else if (d->d_tag == DT_GNU_HASH)
            found.gnu_hash = absolute(d, bias);
        else if (d->d_tag == DT_HASH)
            found.sysv_hash = absolute(d, bias);
    }
    if (!found.symbols || !found.strings || (!found.gnu_hash && !found.sysv_hash))
        return false;
    *elf = found;
    return true;
}

static bool is_definition(const ElfW(Sym) * s)
{
    unsigned type = s->st_info & 15, bind = s->st_info >> 4;
    return s->st_shndx != SHN_UNDEF && s->st_value != 0 &&
           (bind == STB_GLOBAL || bind == STB_WEAK) &&
           (type == STT_FUNC || type == STT_OBJECT || type == STT_NOTYPE);
}

static uintptr_t find_gnu(const struct pc_exports *elf, const char *name)
{
    const ElfW(Sym) *symbols = elf->symbols;
    uint32_t n_buckets = elf->gnu_hash[0], first = elf->gnu_hash[1], n_bloom = elf->gnu_hash[2];
    const uint32_t *buckets = elf->gnu_hash + 4 + n_bloom * (sizeof(ElfW(Addr)) / 4);
    const uint32_t *chain = buckets + n_buckets;
    uint32_t hash = 5381;
    for (const char *p = name; *p; p++)
        hash = hash * 33 + (unsigned char)*p;
    if (n_buckets == 0)
        return 0;
    for (uint32_t i = buckets[hash % n_buckets]; i >= first && i != 0; i++) {
        uint32_t h = chain[i - first];
        if ((h | 1) == (hash | 1) && strcmp(elf->strings + symbols[i].st_name, name) == 0 &&
            is_definition(&symbols[i]))
            return elf->bias + symbols[i].st_value;
        if (h & 1)
            break;
    }
    return 0;
}

/* One more than the last symbol's index. A GNU hash table does not contain it: the end of the chain
 * that begins last is the end of the table. */
static uint32_t count_symbols(const struct pc_exports *elf)
{
    if (elf->sysv_hash)
        return elf->sysv_hash[1];
    uint32_t n_buckets = elf->gnu_hash[0], first = elf->gnu_hash[1], n_bloom = elf->gnu_hash[2];
    const uint32_t *buckets = elf->gnu_hash + 4 + n_bloom * (sizeof(ElfW(Addr)) / 4);
    const uint32_t *chain = buckets + n_buckets;
    uint32_t last = 0;
    for (uint32_t i = 0; i < n_buckets; i++)
        last = buckets[i] > last ? buckets[i] : last;
    if (last < first)
        return first;
    while ((chain[last - first] & 1) == 0)
        last++;
    return last + 1;
}

uintptr_t pc_exports_find(const struct pc_exports *elf, const char *name)
{
    if (elf->gnu_hash)
        return find_gnu(elf, name);
    const ElfW(Sym) *symbols = elf->symbols;
    uint32_t n = count_symbols(elf);
    for (uint32_t i = 0; i < n; i++)
        if (is_definition(&symbols[i]) && strcmp(elf->strings + symbols[i].st_name, name) == 0)
            return elf->bias + symbols[i].st_value;
    return 0;
}

bool pc_exports_enclosing(const struct pc_exports *elf, uintptr_t addr,
                          bool (*fn)(const char *, void *), void *arg, int *n_out)
{
    const ElfW(Sym) *symbols = elf->symbols;
    uint32_t n = count_symbols(elf);
    *n_out = 0;
    for (uint32_t i = 0; i < n; i++) {
        const ElfW(Sym) *s = &symbols[i];
        if (!is_definition(s) || (s->st_info & 15) == STT_OBJECT)
            continue;
        uintptr_t start = elf->bias + s->st_value;
        if (addr < start || addr - start >= s->st_size)
            continue;
        ++*n_out;
        if (fn(elf->strings + s->st_name, arg))
            return true;
    }
    return false;
}
