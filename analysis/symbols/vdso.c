/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/symbols/vdso.h"

#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>

/* The page in this process: what its program headers load, and the tables in it. */
struct vdso {
    const char *at;
    size_t bytes;
    const ElfW(Sym) * symbols;
    size_t n;
    const char *names;
    size_t names_bytes;
    const uint8_t *id; /* the build-id */
    size_t id_bytes;
};

static size_t loaded_bytes(const char *at)
{
    enum { PAGE = 4096 };
    const ElfW(Ehdr) *e = (const void *)at;
    const ElfW(Phdr) *p = (const void *)(at + e->e_phoff);
    size_t bytes = 0;
    for (unsigned i = 0; i < e->e_phnum; i++)
        if (p[i].p_type == PT_LOAD && p[i].p_offset + p[i].p_filesz > bytes)
            bytes = p[i].p_offset + p[i].p_filesz;
    return (bytes + PAGE - 1) / PAGE * PAGE;
}

static bool is_loaded(const struct vdso *v, const ElfW(Shdr) * section)
{
    return section->sh_offset <= v->bytes && section->sh_size <= v->bytes - section->sh_offset;
}

static void find_tables(struct vdso *v)
{
    const ElfW(Ehdr) *e = (const void *)v->at;
    const ElfW(Shdr) *sections = (const void *)(v->at + e->e_shoff);
    if (e->e_shentsize != sizeof *sections || e->e_shoff > v->bytes ||
        (v->bytes - e->e_shoff) / sizeof *sections < e->e_shnum)
        return;
    for (unsigned i = 0; i < e->e_shnum; i++) {
        const ElfW(Shdr) *names = &sections[sections[i].sh_link];
        if (sections[i].sh_type != SHT_DYNSYM || sections[i].sh_link >= e->e_shnum ||
            !is_loaded(v, &sections[i]) || !is_loaded(v, names))
            continue;
        v->symbols = (const void *)(v->at + sections[i].sh_offset);
        v->n = sections[i].sh_size / sizeof *v->symbols;
        v->names = v->at + names->sh_offset;
        v->names_bytes = names->sh_size;
    }
}

/* Names and values of notes are padded to four bytes. */
static void find_build_id(struct vdso *v, const ElfW(Phdr) * notes)
{
    size_t at = notes->p_offset, end = at + notes->p_filesz, value, next;
    for (; end <= v->bytes && at + sizeof(ElfW(Nhdr)) <= end; at = next) {
        const ElfW(Nhdr) *n = (const void *)(v->at + at);
        value = at + sizeof *n + ((n->n_namesz + (size_t)3) & ~(size_t)3);
        next = value + ((n->n_descsz + (size_t)3) & ~(size_t)3);
        if (next > end || next <= at)
            return;
        if (n->n_type != NT_GNU_BUILD_ID || strcmp((const char *)(n + 1), "GNU") != 0)
            continue;
        v->id = (const uint8_t *)v->at + value;
        v->id_bytes = n->n_descsz;
    }
}

/* Symbols are few, and places are kept by those that ask: so the tables are found anew each time.
 */
static struct vdso read_vdso(void)
{
    struct vdso v = {.at = (const char *)getauxval(AT_SYSINFO_EHDR)};
    if (!v.at || memcmp(v.at, ELFMAG, SELFMAG) != 0)
        return (struct vdso){0};
    const ElfW(Ehdr) *e = (const void *)v.at;
    const ElfW(Phdr) *p = (const void *)(v.at + e->e_phoff);
    v.bytes = loaded_bytes(v.at);
    find_tables(&v);
    for (unsigned i = 0; i < e->e_phnum; i++)
        if (p[i].p_type == PT_NOTE)
            find_build_id(&v, &p[i]);
    return v;
}

bool pct_vdso_is(const uint8_t *id, size_t n)
{
    struct vdso v = read_vdso();
    return n && v.id_bytes == n && !memcmp(v.id, id, n);
}

/* Chooses of two names, as clock_gettime and __vdso_clock_gettime, that which no other library has.
 */
const char *pct_vdso_function(uint64_t offset)
{
    struct vdso v = read_vdso();
    const char *found = NULL;
    for (size_t i = 0; i < v.n; i++) {
        const ElfW(Sym) *s = &v.symbols[i];
        const char *name = v.names + s->st_name;
        if (ELF64_ST_TYPE(s->st_info) == STT_FUNC && s->st_name < v.names_bytes &&
            offset - s->st_value < s->st_size && (!found || *name == '_'))
            found = name;
    }
    return found;
}
