/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Files are copied into memory by their program headers, without their code, which is not needed:
 * so a file that is overwritten meanwhile does no harm.
 */
#include "config.h"

#include "analysis/allocation.h"
#include "analysis/buffer.h"
#include "analysis/symbols/vdso.h"
#include "watch/code_files.h"
#include "watch/watch.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

enum { MOST_HEADERS = 64, MOST_KEPT = 500, PAGE = 4096, CODE_PATH_BYTES = 4096 + 64 };

/* Behind the path in the name of a file that is not there any more. */
static const char gone_word[] = " (gone)";

/* A segment of a file that is loaded. */
struct segment {
    uint64_t offset, bytes, address;
    bool code; /* it may be executed */
};

struct code_file {
    char *path; /* of a file that could not be opened: with the reason behind it */
    char *name; /* of its module in profiles */
    int fd;     /* it may be removed or replaced later; -1: not kept open */
    dev_t device;
    ino_t inode;
    off_t bytes;
    struct timespec written;
    const struct pc_module *module; /* NULL: it cannot be walked */
    bool go;                        /* it has functions of Go */
    struct segment *segments;
    size_t n_segments;
    struct pct_code_image image; /* the file for its names; NULL: none */
};

struct pct_code_files {
    struct code_file **files;
    size_t n, room, n_kept, most_kept;
    bool starved;                 /* descriptors were too few to open a file */
    size_t n_unnamed;             /* files for whose names there was no memory */
    struct pct_code_names *names; /* NULL: they cannot be known */
};

struct pct_code_range {
    uint64_t lo, hi;
    uint64_t shift;            /* our address minus the process's, modulo 2^64 */
    uint64_t copy, copy_bytes; /* our memory that holds the code; 0 bytes: none */
    bool made;                 /* anonymous memory: the process has made the code */
    bool go;                   /* functions of Go: they have frame pointers, and no unwind table */
    uint64_t offset;           /* of lo in the file */
    const char *gone;          /* name of a file that could not be opened; NULL: none */
};

/* All mappings of a process, ascending. */
struct mappings {
    struct pct_mapping *at;
    size_t n, room;
    char *text; /* that the paths are in */
};

/* The file of a mapping. */
struct opened {
    int fd;       /* -1: there is no such file, or it cannot be read */
    bool no_room; /* or there are too few descriptors */
    struct stat st;
    char path[CODE_PATH_BYTES]; /* by which it was opened */
    /* Its path as the process sees it. For one that could not be opened with the reason behind it,
     * so that no other file is taken for it later. */
    char name[CODE_PATH_BYTES];
};

/* ---- Files ----------------------------------------------------------------------------------- */

static bool read_whole(int fd, void *out, size_t n, uint64_t offset)
{
    for (size_t got = 0; got < n;) {
        ssize_t r = pread(fd, (char *)out + got, n - got, (off_t)(offset + got));
        if (r <= 0)
            return false;
        got += (size_t)r;
    }
    return true;
}

/* Reads the program headers of a file for this processor; returns their number, 0: no such file. */
static unsigned read_headers(int fd, ElfW(Phdr) * out)
{
    ElfW(Ehdr) e;
    static const ElfW(Half) machine =
#if defined __x86_64__
        EM_X86_64;
#elif defined __aarch64__
        EM_AARCH64;
#else
        EM_NONE;
#endif
    if (!read_whole(fd, &e, sizeof e, 0) || memcmp(e.e_ident, ELFMAG, SELFMAG) != 0 ||
        e.e_machine != machine || e.e_phentsize != sizeof *out || e.e_phnum > MOST_HEADERS ||
        !read_whole(fd, out, e.e_phnum * sizeof *out, e.e_phoff))
        return 0;
    return e.e_phnum;
}

static bool holds_table(const ElfW(Phdr) * p, unsigned n, const ElfW(Phdr) * part)
{
    for (unsigned i = 0; i < n; i++)
        if (p[i].p_type == PT_GNU_EH_FRAME && p[i].p_vaddr >= part->p_vaddr &&
            p[i].p_vaddr - part->p_vaddr < part->p_filesz)
            return true;
    return false;
}

/* Lays the file out as the loader does. Segments with only code stay empty. Returns the bias. */
static bool lay_out(int fd, const ElfW(Phdr) * p, unsigned n, uintptr_t *bias)
{
    uint64_t lo = UINT64_MAX, hi = 0;
    static const uint64_t most = (uint64_t)1 << 40;
    for (unsigned i = 0; i < n; i++) {
        if (p[i].p_type != PT_LOAD)
            continue;
        if (p[i].p_memsz > most || p[i].p_vaddr > most || p[i].p_filesz > p[i].p_memsz)
            return false;
        lo = p[i].p_vaddr < lo ? p[i].p_vaddr : lo;
        hi = p[i].p_vaddr + p[i].p_memsz > hi ? p[i].p_vaddr + p[i].p_memsz : hi;
    }
    if (lo >= hi)
        return false;
    lo &= ~(uint64_t)(PAGE - 1);
    char *at = mmap(NULL, hi - lo, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED)
        return false;
    bool done = true;
    for (unsigned i = 0; i < n && done; i++)
        if (p[i].p_type == PT_LOAD &&
            (!(p[i].p_flags & PF_X) || !p[i].p_offset || holds_table(p, n, &p[i])))
            done = read_whole(fd, at + (p[i].p_vaddr - lo), p[i].p_filesz, p[i].p_offset);
    if (!done)
        munmap(at, hi - lo);
    *bias = (uintptr_t)at - lo;
    return done;
}

/* Finds a section of a file. */
static bool find_section(int fd, const char *name, ElfW(Shdr) * out)
{
    char found[32];
    ElfW(Ehdr) e;
    ElfW(Shdr) names;
    size_t n = strlen(name) + 1;
    if (n > sizeof found || !read_whole(fd, &e, sizeof e, 0) || e.e_shentsize != sizeof *out ||
        e.e_shstrndx >= e.e_shnum ||
        !read_whole(fd, &names, sizeof names, e.e_shoff + e.e_shstrndx * sizeof names))
        return false;
    for (unsigned i = 0; i < e.e_shnum; i++)
        if (read_whole(fd, out, sizeof *out, e.e_shoff + i * sizeof *out) &&
            read_whole(fd, found, n, names.sh_offset + out->sh_name) && !memcmp(found, name, n))
            return true;
    return false;
}

/* Makes the header of an unwind table that has none: static programs need it for nothing. It takes
 * the place of the first instructions, which are not needed here. False: there is no table. */
static bool make_table_header(int fd, uintptr_t bias, const ElfW(Phdr) * p, unsigned n,
                              ElfW(Phdr) * out)
{
    uint8_t header[12] = {1, 0, 0xff, 0xff}; /* version 1, address as it is, no sorted rows */
    ElfW(Ehdr) e;
    ElfW(Shdr) table;
    if (!find_section(fd, ".eh_frame", &table) || !(table.sh_flags & SHF_ALLOC) ||
        !read_whole(fd, &e, sizeof e, 0))
        return false;
    uint64_t at = bias + table.sh_addr;
    memcpy(header + 4, &at, sizeof at);
    for (unsigned i = 0; i < n; i++) {
        if (p[i].p_type != PT_LOAD || e.e_entry < p[i].p_vaddr || p[i].p_filesz < sizeof header ||
            e.e_entry - p[i].p_vaddr > p[i].p_filesz - sizeof header)
            continue;
        memcpy((char *)bias + e.e_entry, header, sizeof header);
        *out = (ElfW(Phdr)){.p_type = PT_GNU_EH_FRAME,
                            .p_vaddr = e.e_entry,
                            .p_filesz = sizeof header,
                            .p_memsz = sizeof header};
        return true;
    }
    return false;
}

static bool has_table_header(const ElfW(Phdr) * p, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        if (p[i].p_type == PT_GNU_EH_FRAME && p[i].p_memsz)
            return true;
    return false;
}

static void keep_segments(struct code_file *f, const ElfW(Phdr) * p, unsigned n)
{
    f->segments = pct_alloc(n, sizeof *f->segments);
    for (unsigned i = 0; i < n; i++)
        if (p[i].p_type == PT_LOAD)
            f->segments[f->n_segments++] =
                (struct segment){p[i].p_offset, p[i].p_filesz, p[i].p_vaddr, p[i].p_flags & PF_X};
}

static void add_names(struct pct_code_files *files, struct code_file *f, int fd)
{
    if (!files->names || f->bytes <= 0)
        return;
    void *image = mmap(NULL, (size_t)f->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    if (image == MAP_FAILED) {
        files->n_unnamed += errno == ENOMEM;
        return;
    }
    f->image = (struct pct_code_image){image, (size_t)f->bytes};
    pct_code_names_add(files->names, f->module, &f->image);
}

/* Gives a library the name by which others need it, as the loader does, if that is beside the file
 * and leads to it: the kernel has libm.so.6 as libm-2.31.so. */
static void name_as_needed(struct code_file *f, const struct opened *o, const char *soname)
{
    struct stat st;
    struct pct_buf path = {0}, name = {0};
    pct_buf_put(&path, o->path, (size_t)(pc_base_name(o->path) - o->path));
    pct_buf_text(&path, soname);
    if (!stat(path.data, &st) && st.st_dev == o->st.st_dev && st.st_ino == o->st.st_ino) {
        pct_buf_put(&name, f->name, (size_t)(pc_base_name(f->name) - f->name));
        pct_buf_text(&name, soname);
        pct_free(f->name);
        f->name = pct_copy(name.data);
    }
    pct_buf_free(&path);
    pct_buf_free(&name);
}

/* Takes a file into our memory. f->module stays NULL if that fails. */
static void load(struct pct_code_files *files, struct code_file *f, const struct opened *o)
{
    int fd = o->fd;
    ElfW(Phdr) headers[MOST_HEADERS + 1];
    ElfW(Shdr) go;
    uintptr_t bias;
    unsigned n = read_headers(fd, headers);
    if (!n || !lay_out(fd, headers, n, &bias))
        return;
    n += !has_table_header(headers, n) && make_table_header(fd, bias, headers, n, &headers[n]);
    f->go = find_section(fd, ".gopclntab", &go);
    f->module = pc_loadmap_enter_copy(bias, f->path, headers, n);
    keep_segments(f, headers, n);
    if (!f->module)
        return;
    const char *soname = pc_loadmap_soname(f->module, headers, n);
    if (soname && !strchr(soname, '/'))
        name_as_needed(f, o, soname);
    add_names(files, f, fd);
}

/* True for the file of a mapping. Devices are not compared: those of overlay and btrfs are other
 * ones for stat than for mappings. */
static bool is_mapped(const struct pct_mapping *m, const struct stat *st)
{
    return S_ISREG(st->st_mode) && (!m->inode || m->inode == st->st_ino);
}

/* Opens a path that leads to the file of a mapping; -1 with errno, ESTALE for another file. */
static int open_mapped(const char *path, const struct pct_mapping *m, struct stat *st)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 || (!fstat(fd, st) && is_mapped(m, st)))
        return fd;
    close(fd);
    errno = ESTALE;
    return -1;
}

static void put_link(char *path, int pid, const struct pct_mapping *m)
{
    snprintf(path, CODE_PATH_BYTES, "/proc/%d/map_files/%llx-%llx", pid, (unsigned long long)m->lo,
             (unsigned long long)m->hi);
}

/* True if the process still has the mapping, of a file of that name. */
static bool is_still_there(int pid, const struct pct_mapping *m)
{
    char link[CODE_PATH_BYTES], path[4096];
    put_link(link, pid, m);
    ssize_t n = readlink(link, path, sizeof path);
    return n > 0 && (size_t)n == strlen(m->path) && !memcmp(path, m->path, (size_t)n);
}

/* True for files of which stat may tell another inode than the mapping has. */
static bool is_of_overlay(const char *path)
{
    struct statfs fs;
    return !statfs(path, &fs) && fs.f_type == OVERLAYFS_SUPER_MAGIC;
}

/* Tries the path of the file as the process sees it, which may be in a container; if the process
 * has ended, as we see it. Where another file is there, or none, it is opened by the mapping, if
 * the kernel allows it, or as the program that the process runs. On overlay, the file at the path
 * is taken at last: if another one is mounted there, that one. */
static int open_file(int pid, const struct pct_mapping *m, struct opened *out)
{
    char *path = out->path;
    struct pct_mapping any = *m;
    any.inode = 0;
    snprintf(path, CODE_PATH_BYTES, "/proc/%d/root%s", pid, m->path);
    int fd = open_mapped(path, m, &out->st);
    if (fd >= 0)
        return fd;
    snprintf(path, CODE_PATH_BYTES, "%s", m->path);
    fd = open_mapped(path, m, &out->st);
    if (fd >= 0)
        return fd;
    int why = errno;
    bool there = is_still_there(pid, m);
    put_link(path, pid, m);
    fd = open_mapped(path, there ? &any : m, &out->st);
    if (fd < 0) {
        snprintf(path, CODE_PATH_BYTES, "/proc/%d/exe", pid);
        fd = open_mapped(path, m, &out->st);
    }
    if (fd < 0 && there) {
        snprintf(path, CODE_PATH_BYTES, "/proc/%d/root%s", pid, m->path);
        fd = is_of_overlay(path) ? open_mapped(path, &any, &out->st) : -1;
    }
    errno = why;
    return fd;
}

/* Opens the file of a mapping. Another file that has taken its path is not opened. The caller
 * closes out->fd. */
static void open_code(int pid, const struct pct_mapping *m, struct opened *out)
{
    out->fd = open_file(pid, m, out);
    out->no_room = out->fd < 0 && (errno == EMFILE || errno == ENFILE);
    const char *why = out->fd >= 0 ? "" : errno == EACCES ? " (unreadable)" : gone_word;
    snprintf(out->name, sizeof out->name, "%.*s%s", (int)pct_watch_path_bytes(m->path), m->path,
             why);
}

size_t pct_code_gone_bytes(const char *name)
{
    size_t n = strlen(name), cut = sizeof gone_word - 1;
    return n > cut && !strcmp(name + n - cut, gone_word) ? n - cut : 0;
}

/* True if the file is found by the name of its module. */
static bool is_at_name(const struct code_file *f)
{
    struct stat st;
    return !stat(f->name, &st) && st.st_dev == f->device && st.st_ino == f->inode;
}

/* Adds a file, with a copy of its path and what else is known of it. */
static struct code_file *add_file(struct pct_code_files *files, const char *path,
                                  const struct stat *st)
{
    struct code_file *f = pct_alloc(1, sizeof *f);
    *f = (struct code_file){.path = pct_copy(path),
                            .name = pct_copy(path),
                            .fd = -1,
                            .device = st->st_dev,
                            .inode = st->st_ino,
                            .bytes = st->st_size,
                            .written = st->st_mtim};
    files->files = pct_grow(files->files, files->n, &files->room, sizeof *files->files);
    files->files[files->n++] = f;
    return f;
}

static bool is_written_then(const struct code_file *f, struct timespec time)
{
    return f->written.tv_sec == time.tv_sec && f->written.tv_nsec == time.tv_nsec;
}

static struct code_file *find_file(const struct pct_code_files *files, const char *path,
                                   const struct stat *st)
{
    for (size_t i = 0; i < files->n; i++) {
        struct code_file *f = files->files[i];
        if (f->device == st->st_dev && f->inode == st->st_ino && is_written_then(f, st->st_mtim) &&
            !strcmp(f->path, path))
            return f;
    }
    return NULL;
}

/* Names the newest file, which has no build-id. Files of one name would be one module, so it gets a
 * name of its own if its path was that of another file before. A copy, as in another container, has
 * the same size and time of writing. */
static void name_newest(struct pct_code_files *files)
{
    struct code_file *f = files->files[files->n - 1];
    unsigned n = 1;
    for (size_t i = 0; i + 1 < files->n; i++) {
        const struct code_file *other = files->files[i];
        if (!other->module || other->module->build_id_bytes || strcmp(other->path, f->path) != 0)
            continue;
        n++;
        if (other->bytes != f->bytes || !is_written_then(other, f->written))
            continue;
        pct_free(f->name);
        f->name = pct_copy(other->name);
        return;
    }
    if (n == 1)
        return;
    struct pct_buf name = {0};
    pct_buf_format(&name, "%s (file %u)", f->path, n);
    pct_free(f->name);
    f->name = pct_copy(name.data);
    pct_buf_free(&name);
}

/* Closes the file that was kept first. False: there is none. */
static bool close_oldest(struct pct_code_files *files)
{
    for (size_t i = 0; i < files->n; i++) {
        if (files->files[i]->fd < 0)
            continue;
        close(files->files[i]->fd);
        files->files[i]->fd = -1;
        files->n_kept--;
        return true;
    }
    return false;
}

/* The file of a mapping. One that cannot be opened has no module. */
static struct code_file *find_or_load(struct pct_code_files *files, int pid,
                                      const struct pct_mapping *m)
{
    static const struct stat none;
    struct opened o;
    do
        open_code(pid, m, &o);
    while (o.no_room && close_oldest(files));
    files->starved |= o.no_room;
    struct code_file *f = find_file(files, o.name, o.fd >= 0 ? &o.st : &none);
    if (f || o.fd < 0) {
        if (o.fd >= 0)
            close(o.fd);
        return f ? f : add_file(files, o.name, &none);
    }
    f = add_file(files, o.name, &o.st);
    load(files, f, &o);
    if (f->module && !f->module->build_id_bytes)
        name_newest(files);
    if (files->n_kept >= files->most_kept) {
        close(o.fd);
        return f;
    }
    f->fd = o.fd;
    files->n_kept++;
    return f;
}

struct pct_code_files *pct_code_files_new(void)
{
    struct pct_code_files *files = pct_alloc(1, sizeof *files);
    struct rlimit open_files;
    files->most_kept = MOST_KEPT;
    if (!getrlimit(RLIMIT_NOFILE, &open_files) && open_files.rlim_cur / 4 < MOST_KEPT)
        files->most_kept = open_files.rlim_cur / 4;
    files->names = pct_code_names_new();
    return files;
}

void pct_code_files_free(struct pct_code_files *files)
{
    if (!files)
        return;
    pct_code_names_free(files->names);
    for (size_t i = 0; i < files->n; i++) {
        if (files->files[i]->fd >= 0)
            close(files->files[i]->fd);
        pct_free(files->files[i]->path);
        pct_free(files->files[i]->name);
        if (files->files[i]->image.at)
            munmap(files->files[i]->image.at, files->files[i]->image.bytes);
        pct_free(files->files[i]->segments);
        pct_free(files->files[i]);
    }
    pct_free(files->files);
    pct_free(files);
}

void pct_code_files_show(const struct pct_code_files *files, const struct pc_profile *p,
                         struct pct_symbols *symbols)
{
    char here[64];
    for (size_t i = 0; i < files->n; i++) {
        const struct code_file *f = files->files[i];
        bool elsewhere = f->fd >= 0 && !is_at_name(f);
        snprintf(here, sizeof here, "/proc/self/fd/%d", f->fd);
        for (uint32_t m = 0; m < p->n_modules && elsewhere; m++)
            if (!strcmp(f->name, p->modules[m].path))
                pct_symbols_also_at(symbols, m, here);
    }
}

bool pct_code_files_starved(const struct pct_code_files *files)
{
    return files->starved;
}

size_t pct_code_files_unnamed(const struct pct_code_files *files)
{
    return files->n_unnamed;
}

bool pct_code_is_entry(const struct pc_module *module, uintptr_t pc)
{
    enum { FIRST_INSTRUCTIONS = 128 };
    ElfW(Ehdr) e;
    memcpy(&e, (const void *)module->lo, sizeof e);
    uintptr_t entry = module->bias + e.e_entry;
    return !memcmp(e.e_ident, ELFMAG, SELFMAG) && pc >= entry && pc - entry < FIRST_INSTRUCTIONS;
}

const char *pct_code_module_name(const struct pct_code_files *files, const struct pc_module *module)
{
    for (size_t i = 0; i < files->n; i++)
        if (files->files[i]->module == module)
            return files->files[i]->name;
    return module->path;
}

struct pct_code_names *pct_code_files_names(struct pct_code_files *files)
{
    return files->names;
}

/* ---- Mappings -------------------------------------------------------------------------------- */

/* Number of bytes of a segment that a mapping of its file contains. */
static uint64_t mapped_bytes(const struct segment *s, const struct pct_mapping *m)
{
    uint64_t end = s->offset + s->bytes, mapped_end = m->offset + (m->hi - m->lo);
    uint64_t lo = s->offset > m->offset ? s->offset : m->offset;
    uint64_t hi = end < mapped_end ? end : mapped_end;
    return lo < hi ? hi - lo : 0;
}

/* The segment for which an executable mapping was made; NULL: none. Two segments can share a page
 * of the file, as lld lays them out: each is mapped with the whole page, at its own address. So
 * code goes before all others, and then the segment of which the mapping contains most. Other
 * segments are executable if the personality makes all readable memory so. */
static const struct segment *find_segment(const struct code_file *f, const struct pct_mapping *m)
{
    const struct segment *best = NULL;
    for (size_t i = 0; i < f->n_segments; i++) {
        const struct segment *s = &f->segments[i];
        uint64_t mapped = mapped_bytes(s, m);
        if (!mapped || (best && best->code && !s->code))
            continue;
        if (!best || s->code > best->code || mapped > mapped_bytes(best, m))
            best = s;
    }
    return best;
}

/* True for memory without a file on a disk: "" or "//anon", and what memfd_create gives. */
static bool is_made(const char *path)
{
    return !*path || !strcmp(path, "//anon") || !strncmp(path, "/memfd:", 7) ||
           !strncmp(path, "[anon:", 6);
}

/* Finds the code of a mapping in this process. The kernel's own page of code is the same in all
 * processes. */
static void find_copy(struct pct_code_files *files, int pid, const struct pct_mapping *m,
                      struct pct_code_range *r)
{
    if (!strcmp(m->path, PCT_VDSO)) {
        r->copy = getauxval(AT_SYSINFO_EHDR);
        r->copy_bytes = r->copy ? m->hi - m->lo : 0;
        r->shift = r->copy - m->lo;
        return;
    }
    if (*m->path != '/' || m->path[1] == '/')
        return;
    const struct code_file *f = find_or_load(files, pid, m);
    const struct segment *s = f->module ? find_segment(f, m) : NULL;
    r->go = f->go;
    r->gone = f->inode || is_made(m->path) ? NULL : f->path;
    if (!s)
        return;
    r->copy = f->module->lo;
    r->copy_bytes = f->module->hi - f->module->lo;
    r->shift = f->module->bias + s->address - s->offset + m->offset - m->lo;
}

/* The part of a range from an address on. */
static struct pct_code_range from_on(struct pct_code_range r, uint64_t lo)
{
    r.offset += lo - r.lo;
    r.lo = lo;
    return r;
}

/* Removes [lo, hi) from the mappings. */
static void unmap(struct pct_code *c, uint64_t lo, uint64_t hi)
{
    size_t kept = 0;
    struct pct_code_range rest = {0};
    for (size_t i = 0; i < c->n; i++) {
        struct pct_code_range r = c->ranges[i];
        if (r.lo < lo && r.hi > hi)
            rest = from_on(r, hi);
        if (r.lo < lo && r.hi > lo)
            r.hi = lo;
        else if (r.lo >= lo && r.lo < hi)
            r = from_on(r, r.hi > hi ? hi : r.hi);
        if (r.lo < r.hi)
            c->ranges[kept++] = r;
    }
    c->n = kept;
    if (rest.lo < rest.hi) {
        c->ranges = pct_grow(c->ranges, c->n, &c->room, sizeof *c->ranges);
        c->ranges[c->n++] = rest;
    }
}

static int compare_ranges(const void *left, const void *right)
{
    const struct pct_code_range *a = left, *b = right;
    return (a->lo > b->lo) - (a->lo < b->lo);
}

void pct_code_map(struct pct_code *c, struct pct_code_files *files, int pid,
                  const struct pct_mapping *m)
{
    struct pct_code_range r = {.lo = m->lo, .hi = m->hi, .offset = m->offset};
    if (m->lo >= m->hi)
        return;
    find_copy(files, pid, m, &r);
    r.made = !r.copy_bytes && is_made(m->path);
    c->makes |= r.made;
    unmap(c, m->lo, m->hi);
    c->ranges = pct_grow(c->ranges, c->n, &c->room, sizeof *c->ranges);
    c->ranges[c->n++] = r;
    qsort(c->ranges, c->n, sizeof *c->ranges, compare_ranges);
}

/* False: they cannot be read; errno says why. The caller frees them. */
static bool read_mappings(int pid, struct mappings *out)
{
    size_t n;
    *out = (struct mappings){.text = pct_watch_file(pid, "maps", &n)};
    for (char *line = out->text, *rest; line && *line; line = rest) {
        unsigned long long lo, hi, offset, inode;
        char rights[8];
        int path_at = 0;
        rest = line + strcspn(line, "\n");
        if (*rest)
            *rest++ = '\0';
        if (sscanf(line, "%llx-%llx %7s %llx %*s %llu %n", &lo, &hi, rights, &offset, &inode,
                   &path_at) < 5 ||
            !path_at)
            continue;
        out->at = pct_grow(out->at, out->n, &out->room, sizeof *out->at);
        out->at[out->n++] = (struct pct_mapping){.lo = lo,
                                                 .hi = hi,
                                                 .offset = offset,
                                                 .inode = inode,
                                                 .path = line + path_at,
                                                 .code = rights[2] == 'x'};
    }
    return out->text != NULL;
}

static void free_mappings(struct mappings *m)
{
    pct_free(m->at);
    pct_free(m->text);
    *m = (struct mappings){0};
}

bool pct_code_read(struct pct_code *c, struct pct_code_files *files, int pid,
                   void (*tell)(void *arg, const struct pct_mapping *m), void *arg)
{
    struct mappings mappings;
    if (!read_mappings(pid, &mappings))
        return false;
    pct_code_clear(c);
    for (size_t i = 0; i < mappings.n; i++) {
        if (!mappings.at[i].code)
            continue;
        pct_code_map(c, files, pid, &mappings.at[i]);
        tell(arg, &mappings.at[i]);
    }
    free_mappings(&mappings);
    return true;
}

void pct_code_copy(struct pct_code *to, const struct pct_code *from)
{
    pct_code_clear(to);
    to->makes = from->makes;
    for (size_t i = 0; i < from->n; i++) {
        to->ranges = pct_grow(to->ranges, to->n, &to->room, sizeof *to->ranges);
        to->ranges[to->n++] = from->ranges[i];
    }
}

void pct_code_clear(struct pct_code *c)
{
    c->n = 0;
    c->makes = false;
}

void pct_code_free(struct pct_code *c)
{
    pct_free(c->ranges);
    *c = (struct pct_code){0};
}

static const struct pct_code_range *find_range(const struct pct_code *c, uint64_t pc)
{
    size_t lo = 0, hi = c->n;
    while (lo < hi) {
        size_t middle = lo + (hi - lo) / 2;
        const struct pct_code_range *r = &c->ranges[middle];
        if (pc >= r->lo && pc < r->hi)
            return r;
        if (pc < r->lo)
            hi = middle;
        else
            lo = middle + 1;
    }
    return NULL;
}

bool pct_code_is_made(const struct pct_code *c, uint64_t pc)
{
    const struct pct_code_range *r = find_range(c, pc);
    return r && r->made;
}

bool pct_code_has_pointers(const struct pct_code *c, uint64_t pc)
{
    const struct pct_code_range *r = find_range(c, pc);
    return r && (r->made || r->go);
}

bool pct_code_is_mapped(const struct pct_code *c, uint64_t pc)
{
    return find_range(c, pc) != NULL;
}

const char *pct_code_gone(const struct pct_code *c, uint64_t pc, uint64_t *offset)
{
    const struct pct_code_range *r = find_range(c, pc);
    if (!r || !r->gone)
        return NULL;
    *offset = pc - r->lo + r->offset;
    return r->gone;
}

uintptr_t pct_code_here(const struct pct_code *c, uint64_t pc)
{
    const struct pct_code_range *r = find_range(c, pc);
    uint64_t here = r ? pc + r->shift : 0;
    return r && here - r->copy < r->copy_bytes ? (uintptr_t)here : 0;
}
