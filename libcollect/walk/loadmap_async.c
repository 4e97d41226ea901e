/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The table of modules, and the search by address.
 *
 * Entries are taken in order from chunks by an atomic counter, filled, and linked into the chain of
 * their load address by compare-and-swap; a linked entry never changes except for `seen`, `flags`
 * and `arena_ref`, and is never removed. Two threads that meet a module at the same time both fill
 * an entry; the one that links second finds the first and leaves its own unused. So a thread that
 * is interrupted while it fills an entry blocks nobody, not even a handler in the same thread.
 *
 * Called by the walker for a program counter that is new to it, and by code that needs the name of
 * a module. Every function of this file but pc_loadmap_prepare may run in a signal handler. Before
 * glibc 2.35 a handler that interrupts the loader must not ask it. There modules are found only as
 * they were at the last call of pc_loadmap_prepare, and no module is found between the beginning of
 * a dlopen or dlclose and the next call of it.
 */
#define _GNU_SOURCE 1

#include "format/team_runtime.h"
#include "libcollect/walk/loadmap_private.h"
#include "libcollect/walk/walk_private.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CHUNK 4096 /* entries: 5 MB, touched as modules are met */
#define N_CHUNKS 15
#define MAX_MODULES (CHUNK * N_CHUNKS)
#define N_CHAINS 1024
#define PAGE 4096u

_Static_assert(MAX_MODULES < UINT16_MAX, "rules hold index + 1 in 16 bits");

_Atomic uint32_t pc_loadmap_generation;

struct entry {
    struct pc_module module;
    uint16_t number;       /* index + 1 */
    uint32_t next;         /* index + 1 in the chain */
    _Atomic uint64_t seen; /* generation + 1 in which it was last found loaded */
};

static struct entry first_chunk[CHUNK];
static struct entry *_Atomic chunks[N_CHUNKS] = {first_chunk};

static struct entry *entry_at(uint32_t index)
{
    return &atomic_load_explicit(&chunks[index / CHUNK], memory_order_acquire)[index % CHUNK];
}

uint16_t pc_loadmap_number(const struct pc_module *module)
{
    return module ? ((const struct entry *)(const void *)module)->number : 0;
}

struct pc_module *pc_loadmap_numbered(uint16_t number)
{
    return number ? &entry_at(number - 1u)->module : NULL;
}

static _Atomic uint32_t n_taken;          /* their chunks are there */
static _Atomic uint32_t chains[N_CHAINS]; /* index + 1 by load address */
static _Atomic(pc_loadmap_is_mpi_fn) is_mpi;
static _Atomic bool search_all; /* the loader does not know all modules of the table */

static _Atomic uint32_t *chain_of(uintptr_t lo)
{
    return &chains[pc_hash_u64(lo / PAGE) % N_CHAINS];
}

/* PC_LOADMAP_BY_SCAN: as with a libc without _dl_find_object, for tests. */
#if defined __GLIBC_PREREQ && !defined PC_LOADMAP_BY_SCAN
#if __GLIBC_PREREQ(2, 35)
#define HAVE_DL_FIND_OBJECT 1
/* Weak, so that its address is resolved when the library is loaded and not in a handler; NULL with
 * an older libc. */
extern __typeof__(_dl_find_object) _dl_find_object __attribute__((weak));
static __typeof__(_dl_find_object) *const volatile find_object = _dl_find_object;
#endif
#endif

/* ---- What an object says of itself ----------------------------------------------------------- */

static bool find_bounds(const struct pc_loadmap_object *o, struct pc_module *m)
{
    m->lo = UINTPTR_MAX;
    for (unsigned i = 0; i < o->n_phdr; i++) {
        if (o->phdr[i].p_type != PT_LOAD)
            continue;
        uintptr_t lo = o->bias + o->phdr[i].p_vaddr, hi = lo + o->phdr[i].p_memsz;
        lo &= ~(uintptr_t)(PAGE - 1);
        m->lo = lo < m->lo ? lo : m->lo;
        m->hi = hi > m->hi ? hi : m->hi;
    }
    return m->lo < m->hi;
}

/* Looks for the build-id in one PT_NOTE: entries of three u32 (bytes of name, bytes of value,
 * type), name, value, the latter two padded to the alignment of the segment. */
static bool read_build_id(const uint8_t *note, size_t n, size_t align, struct pc_module *m)
{
    uint32_t head[3];
    align = align == 8 ? 8 : 4;
    while (n >= sizeof head) {
        memcpy(head, note, sizeof head);
        size_t name_bytes = ((size_t)head[0] + 3) & ~(size_t)3;
        size_t value_at = (sizeof head + name_bytes + align - 1) & ~(align - 1);
        size_t next = (value_at + head[1] + align - 1) & ~(align - 1);
        if (value_at > n || head[1] > n - value_at)
            return false;
        if (head[2] == NT_GNU_BUILD_ID && head[0] == 4 && !memcmp(note + sizeof head, "GNU", 4)) {
            m->build_id_bytes =
                head[1] < PCOLLECT_BUILD_ID_BYTES ? head[1] : PCOLLECT_BUILD_ID_BYTES;
            memcpy(m->build_id, note + value_at, m->build_id_bytes);
            return true;
        }
        if (next >= n)
            return false;
        note += next;
        n -= next;
    }
    return false;
}

/* True if a note is in memory. Tools that rewrite objects leave notes that no segment loads. */
static bool is_loaded(const struct pc_loadmap_object *o, const ElfW(Phdr) * part)
{
    for (unsigned i = 0; i < o->n_phdr; i++) {
        const ElfW(Phdr) *p = &o->phdr[i];
        if (p->p_type == PT_LOAD && p->p_flags & PF_R && part->p_vaddr >= p->p_vaddr &&
            part->p_memsz <= p->p_memsz && part->p_vaddr - p->p_vaddr <= p->p_memsz - part->p_memsz)
            return true;
    }
    return false;
}

/* Reads identity, build-id, and the addresses that the program headers give. */
static const ElfW(Dyn) * read_headers(const struct pc_loadmap_object *o, struct pc_module *m)
{
    const ElfW(Dyn) *dynamic = NULL;
    uint64_t hash = o->n_phdr;
    for (unsigned i = 0; i < o->n_phdr; i++) {
        const ElfW(Phdr) *p = &o->phdr[i];
        const uint8_t *at = (const uint8_t *)(o->bias + p->p_vaddr);
        uint64_t words[] = {p->p_type,   p->p_flags, p->p_offset, p->p_vaddr,
                            p->p_filesz, p->p_memsz, p->p_align};
        hash = pc_hash_bytes(words, sizeof words, hash);
        if (p->p_type == PT_GNU_EH_FRAME && p->p_memsz)
            m->eh_frame_hdr = at;
        else if (p->p_type == PT_DYNAMIC)
            dynamic = (const void *)at;
        else if (p->p_type == PT_NOTE && !m->build_id_bytes && is_loaded(o, p))
            read_build_id(at, p->p_memsz, p->p_align, m);
    }
    m->identity = hash;
    return dynamic;
}

/* glibc's loader relocates DT_STRTAB in place; musl's loader and the kernel's vdso do not: both
 * forms are understood. */
const char *pc_loadmap_read_soname(const ElfW(Dyn) * dynamic, const struct pc_module *m)
{
    uintptr_t strings = 0, name = 0;
    for (const ElfW(Dyn) *d = dynamic; d && d->d_tag != DT_NULL; d++) {
        if (d->d_tag == DT_STRTAB)
            strings = d->d_un.d_ptr;
        else if (d->d_tag == DT_SONAME)
            name = d->d_un.d_val;
    }
    if (strings < m->lo)
        strings += m->bias;
    if (!name || strings < m->lo || strings + name >= m->hi)
        return NULL;
    return (const char *)(strings + name);
}

static bool starts_with(const char *text, const char *prefix)
{
    return !strncmp(text, prefix, strlen(prefix));
}

/* ---- Paths ----------------------------------------------------------------------------------- */

static void append(char *out, size_t n, size_t at, const char *text)
{
    for (; at + 1 < n && *text; at++, text++)
        out[at] = *text;
    out[at < n ? at : n - 1] = '\0';
}

/* The program keeps the path under which it was met first: the file may be replaced meanwhile, and
 * then the kernel gives another path. */
static void make_exe_path(uintptr_t lo, char *out, size_t n)
{
    uint32_t i = atomic_load_explicit(chain_of(lo), memory_order_acquire);
    while (i && !(entry_at(i - 1)->module.flags & PCOLLECT_MODULE_EXE))
        i = entry_at(i - 1)->next;
    if (i) {
        append(out, n, 0, entry_at(i - 1)->module.path);
        return;
    }
    long got = syscall(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", out, n - 1);
    out[got > 0 ? got : 0] = '\0';
}

/* glibc keeps the name by which a library was opened. Since the process may have left the directory
 * of a relative one, the kernel is asked; without its answer the name is completed with the current
 * directory. */
static void make_path(const struct pc_loadmap_object *o, const char *soname, struct pc_module *m)
{
    const char *name = o->name;
    char *out = m->path;
    size_t n = sizeof m->path;
    out[0] = '\0';
    if (soname && (starts_with(soname, "linux-vdso.so") || starts_with(soname, "linux-gate.so"))) {
        append(out, n, 0, "[vdso]");
    } else if (name[0] == '\0') {
        make_exe_path(m->lo, out, n);
    } else if (name[0] == '/' || !strchr(name, '/')) {
        append(out, n, 0, name);
    } else if (!pc_loadmap_mapped_path(m->lo, out, n)) {
        long got = syscall(SYS_getcwd, out, n);
        size_t at = got > 0 ? (size_t)got - 1 : 0;
        if (at > 1)
            append(out, n, at++, "/");
        append(out, n, at, name + (starts_with(name, "./") ? 2 : 0));
    }
}

/* ---- Flags ----------------------------------------------------------------------------------- */

static bool begins_with_any(const char *name, const char *const *prefixes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (starts_with(name, prefixes[i]))
            return true;
    return false;
}

static bool is_libc(const char *name)
{
    static const char *const prefixes[] = {"libc.so", "libc-2.",       "ld-linux",  "ld-2.",
                                           "ld64.so", "libpthread.so", "libc.musl", "ld-musl"};
    return begins_with_any(name, prefixes, PC_ARRAY_LEN(prefixes));
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* True for the transports of MPI libraries, which make threads and call back, and which users do
 * not want to see in contexts: in that they are like the runtimes of OpenMP. They have these names,
 * or such with a sign or a digit behind them; libsharp and libeventgen are libraries of programs.
 */
static bool is_transport(const char *name)
{
    static const char *const stems[] = {
        "libucp",     "libucs",      "libuct",      "libucm",       "libucx", "libfabric",
        "libpmix",    "libevent",    "libhwloc",    "libpsm",       "libmlx", "librdmacm",
        "libibverbs", "libhcoll",    "libucc",      "libprrte",     "libcxi", "libxpmem",
        "libnuma",    "libopen-pal", "libopen-rte", "libsharp_coll"};
    for (size_t i = 0; i < PC_ARRAY_LEN(stems); i++) {
        size_t n = strlen(stems[i]);
        if (!strncmp(name, stems[i], n) && !is_letter(name[n]))
            return true;
    }
    return starts_with(name, "libmca_");
}

uint32_t pc_loadmap_kind(const char *path)
{
    const char *name = pc_base_name(path);
    if (is_libc(name))
        return PCOLLECT_MODULE_LIBC;
    if (pc_is_team_runtime(name))
        return PCOLLECT_MODULE_RUNTIME | PCOLLECT_MODULE_TEAM;
    return is_transport(name) ? PCOLLECT_MODULE_RUNTIME : 0;
}

/* True for the module of this library, which holds this function. */
static bool holds_us(const struct pc_module *m)
{
    uintptr_t here = (uintptr_t)&pc_loadmap_find;
    return here >= m->lo && here < m->hi;
}

/* Adapters and plugins are in the folder `pcollect` beside the library. */
static bool is_beside_us(const char *path)
{
    for (uint32_t i = 0, n = atomic_load(&n_taken); i < n; i++) {
        const struct pc_module *own = &entry_at(i)->module;
        if (!atomic_load_explicit(&entry_at(i)->seen, memory_order_acquire) || !holds_us(own))
            continue;
        size_t folder = (size_t)(pc_base_name(own->path) - own->path);
        return !strncmp(path, own->path, folder) && starts_with(path + folder, "pcollect/");
    }
    return false;
}

static uint32_t find_flags(const struct pc_loadmap_object *o, const char *soname,
                           const struct pc_module *m)
{
    uint32_t flags = 0;
    bool exe = o->name[0] == '\0' && m->path[0] != '[';
    if (exe)
        flags |= PCOLLECT_MODULE_EXE;
    else if (soname && is_libc(soname))
        flags |= PCOLLECT_MODULE_LIBC;
    else if (holds_us(m) || is_beside_us(m->path))
        flags |= PCOLLECT_MODULE_OWN;
    else
        flags |= pc_loadmap_kind(m->path);
    pc_loadmap_is_mpi_fn ask = atomic_load(&is_mpi);
    if (ask && ask(m))
        flags |= PCOLLECT_MODULE_MPI;
    return flags;
}

void pc_loadmap_ask_is_mpi(pc_loadmap_is_mpi_fn fn)
{
    atomic_store(&is_mpi, fn);
}

/* ---- The table ------------------------------------------------------------------------------- */

static bool same(const struct pc_module *a, const struct pc_module *b)
{
    return a->lo == b->lo && a->hi == b->hi && a->bias == b->bias && a->identity == b->identity &&
           a->build_id_bytes == b->build_id_bytes &&
           !memcmp(a->build_id, b->build_id, a->build_id_bytes) && !strcmp(a->path, b->path);
}

/* Marks an entry as loaded in this generation, unless a later generation is there. */
static void mark_seen(struct entry *e, uint32_t generation)
{
    uint64_t wanted = (uint64_t)generation + 1, seen = atomic_load(&e->seen);
    while (seen < wanted && !atomic_compare_exchange_weak(&e->seen, &seen, wanted))
        ;
}

static struct entry *find_same(uint32_t first, const struct pc_module *like)
{
    for (uint32_t i = first; i; i = entry_at(i - 1)->next) {
        if (same(&entry_at(i - 1)->module, like))
            return entry_at(i - 1);
    }
    return NULL;
}

/* Makes the chunk of an entry, unless it is there. */
static bool make_chunk(uint32_t index)
{
    struct entry *_Atomic *place = &chunks[index / CHUNK];
    struct entry *none = NULL;
    if (atomic_load(place))
        return true;
    int saved = errno;
    struct entry *chunk = pc_map_memory(NULL, CHUNK * sizeof *chunk);
    if (chunk && !atomic_compare_exchange_strong(place, &none, chunk))
        munmap(chunk, CHUNK * sizeof *chunk);
    errno = saved;
    return chunk != NULL;
}

/* Takes the next entry. False: there is none. */
static bool take_index(uint32_t *index_out)
{
    uint32_t index = atomic_load(&n_taken);
    do {
        if (index >= MAX_MODULES || !make_chunk(index))
            return false;
    } while (!atomic_compare_exchange_weak(&n_taken, &index, index + 1));
    *index_out = index;
    return true;
}

/* Links a new entry that holds *m, or returns the one that is already there. */
static struct entry *link_entry(const struct pc_module *m, uint32_t generation)
{
    _Atomic uint32_t *chain = chain_of(m->lo);
    uint32_t first = atomic_load_explicit(chain, memory_order_acquire);
    struct entry *found = find_same(first, m);
    if (found)
        return found;
    uint32_t index;
    if (!take_index(&index))
        return NULL;
    struct entry *e = entry_at(index);
    e->module = *m;
    e->number = (uint16_t)(index + 1);
    do {
        found = find_same(first, m);
        if (found) /* another thread was first: e stays unused, and unseen */
            return found;
        e->next = first;
    } while (!atomic_compare_exchange_weak(chain, &first, index + 1));
    mark_seen(e, generation);
    return e;
}

struct pc_module *pc_loadmap_enter(const struct pc_loadmap_object *object, uint32_t generation)
{
    struct pc_module m = {.bias = object->bias, .generation = generation};
    int saved = errno;
    if (!find_bounds(object, &m))
        return NULL;
    const char *soname = pc_loadmap_read_soname(read_headers(object, &m), &m);
    make_path(object, soname, &m);
    m.flags = find_flags(object, soname, &m);
    errno = saved;
    struct entry *e = link_entry(&m, generation);
    if (!e)
        return NULL;
    mark_seen(e, generation);
    return &e->module;
}

/* ---- Program headers ------------------------------------------------------------------------- */

/* True if the program headers are in the page of the ELF header. Some rewriting tools move them to
 * the end of the file: then their offset in the file does not give their address in memory. */
static bool are_headers_here(const ElfW(Ehdr) * ehdr)
{
    return !memcmp(ehdr->e_ident, ELFMAG, SELFMAG) && ehdr->e_phentsize == sizeof(ElfW(Phdr)) &&
           ehdr->e_phoff < PAGE && ehdr->e_phnum <= (PAGE - ehdr->e_phoff) / sizeof(ElfW(Phdr));
}

/* Finds the program headers from the ELF header at the start of the mapping. Those of the program,
 * whose headers need not be there, come from the kernel (auxiliary vector). */
static bool find_headers(uintptr_t start, bool exe, struct pc_loadmap_object *o)
{
    const ElfW(Ehdr) *ehdr = (const void *)start;
    if (are_headers_here(ehdr)) {
        o->phdr = (const void *)(start + ehdr->e_phoff);
        o->n_phdr = ehdr->e_phnum;
    } else if (exe) {
        o->phdr = (const void *)getauxval(AT_PHDR);
        o->n_phdr = (unsigned)getauxval(AT_PHNUM);
    }
    return o->phdr != NULL;
}

void pc_loadmap_image(const struct pc_module *module, struct pc_cfi_image *image_out)
{
    struct pc_loadmap_object o = {0};
    image_out->hdr = module->eh_frame_hdr;
    image_out->n_segments = 0;
    if (!image_out->hdr || !find_headers(module->lo, module->flags & PCOLLECT_MODULE_EXE, &o))
        return;
    for (unsigned i = 0; i < o.n_phdr && image_out->n_segments < PC_CFI_MAX_SEGMENTS; i++) {
        uintptr_t lo = module->bias + o.phdr[i].p_vaddr;
        if (o.phdr[i].p_type == PT_LOAD && (o.phdr[i].p_flags & PF_R))
            image_out->segments[image_out->n_segments++] =
                (struct pc_cfi_segment){lo, lo + o.phdr[i].p_memsz};
    }
}

/* ---- The search ------------------------------------------------------------------------------ */

static bool holds(const struct entry *e, uintptr_t pc, uint64_t seen)
{
    return atomic_load_explicit(&e->seen, memory_order_acquire) == seen && pc >= e->module.lo &&
           pc < e->module.hi;
}

#if defined HAVE_DL_FIND_OBJECT
static struct pc_module *find_by_loader(uintptr_t pc, uint32_t generation)
{
    struct dl_find_object found;
    if (find_object((void *)pc, &found) != 0)
        return NULL;
    uintptr_t lo = (uintptr_t)found.dlfo_map_start & ~(uintptr_t)(PAGE - 1);
    uint64_t seen = (uint64_t)generation + 1;
    uint32_t i = atomic_load_explicit(chain_of(lo), memory_order_acquire);
    for (; i; i = entry_at(i - 1)->next) {
        if (holds(entry_at(i - 1), pc, seen))
            return &entry_at(i - 1)->module;
    }
    struct pc_loadmap_object object = {.bias = found.dlfo_link_map->l_addr,
                                       .name = found.dlfo_link_map->l_name};
    if (!object.name || !find_headers(lo, object.name[0] == '\0', &object))
        return NULL;
    struct pc_module *m = pc_loadmap_enter(&object, generation);
    return m && pc >= m->lo && pc < m->hi ? m : NULL;
}
#endif

static struct pc_module *find_by_scan(uintptr_t pc, uint32_t generation)
{
    uint32_t n = atomic_load(&n_taken);
    for (uint32_t i = 0; i < n; i++) {
        if (holds(entry_at(i), pc, (uint64_t)generation + 1))
            return &entry_at(i)->module;
    }
    return NULL;
}

struct pc_module *pc_loadmap_find(uintptr_t pc)
{
    uint32_t generation = atomic_load(&pc_loadmap_generation);
#if defined HAVE_DL_FIND_OBJECT
    struct pc_module *m = find_object ? find_by_loader(pc, generation) : NULL;
    if (m || (find_object && !atomic_load_explicit(&search_all, memory_order_relaxed)))
        return m;
#endif
    return find_by_scan(pc, generation);
}

void pc_loadmap_search_all(void)
{
    atomic_store(&search_all, true);
}

void pc_loadmap_prepare(uintptr_t pc)
{
    uint32_t generation = atomic_load(&pc_loadmap_generation);
#if defined HAVE_DL_FIND_OBJECT
    if (PC_LIKELY(find_object != NULL))
        return;
#endif
    if (!find_by_scan(pc, generation))
        pc_loadmap_refresh(generation);
}
