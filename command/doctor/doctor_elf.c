/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Names of functions that a shared object exports and imports, from its file. Used to see whether
 * the Fortran routines of an MPI reach functions that can be measured; no code of the library runs.
 */
#include "command/doctor/doctor.h"

#include "analysis/buffer.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const void *part(const struct pct_elf *e, uint64_t at, uint64_t n)
{
    return at <= e->n_bytes && n <= e->n_bytes - at ? (const char *)e->map + at : NULL;
}

static const ElfW(Shdr) * section(const struct pct_elf *e, uint32_t i)
{
    const ElfW(Ehdr) *h = e->map;
    if (i >= h->e_shnum || h->e_shentsize != sizeof(ElfW(Shdr)))
        return NULL;
    return part(e, h->e_shoff + (uint64_t)i * sizeof(ElfW(Shdr)), sizeof(ElfW(Shdr)));
}

static void take_symbol(struct pct_elf *e, const ElfW(Sym) * s, const char *strings, uint64_t n)
{
    bool defined = s->st_shndx != SHN_UNDEF;
    if (s->st_name >= n || (defined && (s->st_info & 15) != STT_FUNC))
        return;
    char *name = (char *)strings + s->st_name;
    if (!*name || !memchr(name, 0, n - s->st_name))
        return;
    if (defined)
        e->defined[e->n_defined++] = name;
    else
        e->needed[e->n_needed++] = name;
}

static bool read_symbols(struct pct_elf *e, const ElfW(Shdr) * table)
{
    const ElfW(Shdr) *names = section(e, table->sh_link);
    uint64_t n = table->sh_size / sizeof(ElfW(Sym));
    const ElfW(Sym) *symbols = part(e, table->sh_offset, table->sh_size);
    const char *strings = names ? part(e, names->sh_offset, names->sh_size) : NULL;
    if (!symbols || !strings || (uintptr_t)symbols % _Alignof(ElfW(Sym)))
        return false;
    e->defined = pct_alloc(n, sizeof *e->defined);
    e->needed = pct_alloc(n, sizeof *e->needed);
    for (uint64_t i = 0; i < n; i++)
        take_symbol(e, &symbols[i], strings, names->sh_size);
    return true;
}

static bool read_file(struct pct_elf *e)
{
    const ElfW(Ehdr) *h = part(e, 0, sizeof *h);
    if (!h || memcmp(h->e_ident, ELFMAG, SELFMAG) || h->e_type != ET_DYN || h->e_shoff % 8 ||
        h->e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32))
        return false;
    for (uint32_t i = 0; i < h->e_shnum; i++) {
        const ElfW(Shdr) *s = section(e, i);
        if (s && s->sh_type == SHT_DYNSYM)
            return read_symbols(e, s);
    }
    return false;
}

bool pct_elf_open(struct pct_elf *e, const char *path)
{
    struct stat st;
    *e = (struct pct_elf){.map = MAP_FAILED};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, &st) == 0 && st.st_size > 0) {
        e->n_bytes = (size_t)st.st_size;
        e->map = mmap(NULL, e->n_bytes, PROT_READ, MAP_PRIVATE, fd, 0);
    }
    if (fd >= 0)
        close(fd);
    if (e->map != MAP_FAILED && read_file(e))
        return true;
    pct_elf_close(e);
    return false;
}

void pct_elf_close(struct pct_elf *e)
{
    if (e->map != MAP_FAILED)
        munmap(e->map, e->n_bytes);
    pct_free(e->defined);
    pct_free(e->needed);
    *e = (struct pct_elf){.map = MAP_FAILED};
}
