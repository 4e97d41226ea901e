/* SPDX-License-Identifier: BSD-3-Clause */
#include "watch/vdso_names.h"

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

static const struct vdso *vdso(void)
{
    static struct vdso v;
    if (v.at)
        return &v;
    v.at = (const char *)getauxval(AT_SYSINFO_EHDR);
    if (!v.at || memcmp(v.at, ELFMAG, SELFMAG) != 0)
        return NULL;
    v.bytes = loaded_bytes(v.at);
    find_tables(&v);
    return &v;
}

/* The function that contains an offset. Of two names, as clock_gettime and __vdso_clock_gettime,
 * the one that no other library has. */
static const char *find(const struct vdso *v, uint64_t offset)
{
    const char *found = NULL;
    for (size_t i = 0; v && i < v->n; i++) {
        const ElfW(Sym) *s = &v->symbols[i];
        const char *name = v->names + s->st_name;
        if (ELF64_ST_TYPE(s->st_info) == STT_FUNC && s->st_name < v->names_bytes &&
            offset - s->st_value < s->st_size && (!found || *name == '_'))
            found = name;
    }
    return found;
}

void pct_vdso_name(struct pct_named_places *places, struct pct_stack_frame *frame)
{
    if (!frame->module || strcmp(frame->module->path, PCT_VDSO) != 0)
        return;
    const char *name = find(vdso(), frame->offset - !frame->exact);
    frame->function = name ? name : PCT_VDSO;
    frame->offset =
        pct_named_make(places, frame->module, &(struct pct_frame){.function = frame->function}) -
        frame->exact;
}
