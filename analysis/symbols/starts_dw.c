/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Functions in which a program and its threads begin. They are the outermost frames of all
 * contexts, and no symbol names them once their file is stripped. Who starts them passes their
 * address as an argument:
 *  - _start, at which the kernel or the loader enters a program, passes main to __libc_start_main
 *    as the first one (seen in glibc 2.17 to 2.41). A static program has no symbol of that: its
 *    _start is known by its instructions;
 *  - std::thread::_M_start_thread, which has a symbol because programs call it, passes the function
 *    in which threads of std::thread, std::jthread and std::async begin to pthread_create as the
 *    third one.
 *
 * Supports x86-64 and aarch64. An address that tables for exceptions do not call the begin of a
 * function is not taken.
 */
#include "config.h"

#include "analysis/symbols/dw_private.h"

#include <string.h>

enum { MOST_BYTES = 64 }; /* of the code up to the call */
enum { LOAD_BYTES = 7 };  /* of the instruction that loads an argument, on x86-64 */

/* std::thread::_M_start_thread(std::unique_ptr<_State>, void (*)()), since GCC 6. */
static const char starter[] =
    "_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE";
static const char started[] = "execute_native_thread_routine";

/* Names of the register of an argument in instructions. */
struct argument {
    uint8_t lea[3], mov[3]; /* x86-64: lea distance(%rip), REGISTER; mov $address, REGISTER */
    uint32_t number;        /* aarch64 */
};

static const struct argument first = {{0x48, 0x8d, 0x3d}, {0x48, 0xc7, 0xc7}, 0};
static const struct argument third = {{0x48, 0x8d, 0x15}, {0x48, 0xc7, 0xc2}, 2};

/* The code from a link-time address on, at most MOST_BYTES. */
struct code {
    Elf *elf;
    int machine;
    const uint8_t *at;
    size_t n;
    uint64_t address;
};

static bool read_code(struct pct_dw *d, uint64_t address, struct code *out)
{
    GElf_Addr bias;
    GElf_Ehdr file;
    size_t n;
    Elf *elf = dwfl_module_getelf(d->module, &bias);
    const uint8_t *at = pct_dw_bytes_at(d, address, &n);
    if (!at || !elf || !gelf_getehdr(elf, &file))
        return false;
    *out = (struct code){.elf = elf,
                         .machine = file.e_machine,
                         .at = at,
                         .n = n < MOST_BYTES ? n : MOST_BYTES,
                         .address = address};
    return true;
}

/* The bytes in front of the instruction that loads the argument; SIZE_MAX: there is none. */
static size_t find_load(const struct code *c, const struct argument *argument)
{
    for (size_t i = 0; i + LOAD_BYTES <= c->n; i++)
        if (!memcmp(c->at + i, argument->lea, sizeof argument->lea) ||
            !memcmp(c->at + i, argument->mov, sizeof argument->mov))
            return i;
    return SIZE_MAX;
}

static uint64_t find_x86_64(const struct code *c, const struct argument *argument)
{
    size_t i = find_load(c, argument);
    int32_t number;
    if (i == SIZE_MAX)
        return 0;
    memcpy(&number, c->at + i + 3, sizeof number);
    bool lea = !memcmp(c->at + i, argument->lea, sizeof argument->lea);
    return (lea ? c->address + i + LOAD_BYTES : 0) + (uint64_t)(int64_t)number;
}

/* The address that the loader puts into a slot of the file, relative to the file; 0: none. */
static uint64_t address_in_slot(Elf *elf, uint64_t slot)
{
    GElf_Shdr header;
    for (Elf_Scn *s = elf_nextscn(elf, NULL); s; s = elf_nextscn(elf, s)) {
        Elf_Data *data = gelf_getshdr(s, &header) && header.sh_type == SHT_RELA && header.sh_entsize
                             ? elf_getdata(s, NULL)
                             : NULL;
        GElf_Rela r;
        for (int i = 0; data && (GElf_Xword)i < header.sh_size / header.sh_entsize; i++)
            if (gelf_getrela(data, i, &r) && r.r_offset == slot &&
                GELF_R_TYPE(r.r_info) == R_AARCH64_RELATIVE)
                return (uint64_t)r.r_addend;
    }
    return 0;
}

static uint32_t word_at(const struct code *c, size_t i)
{
    uint32_t word;
    memcpy(&word, c->at + i, sizeof word);
    return word;
}

/* adrp x2, page; add x2, x2, #offset, or ldr x2, [x2, #offset] for a slot with the address. Other
 * instructions can be between the two. */
static uint64_t find_aarch64(const struct code *c, const struct argument *argument)
{
    uint32_t x = argument->number, both = x << 5 | x;
    uint64_t page = 0;
    for (size_t i = 0; i + 4 <= c->n; i += 4) {
        uint32_t word = word_at(c, i), offset = word >> 10 & 0xfff;
        if ((word & 0x9f00001f) == (0x90000000 | x)) {
            uint32_t pages = (word >> 5 & 0x7ffff) << 2 | (word >> 29 & 3);
            int64_t distance = (int64_t)((uint64_t)pages << 43) >> 31; /* 21 bits with sign */
            page = ((c->address + i) & ~(uint64_t)0xfff) + (uint64_t)distance;
        } else if (page && (word & 0xffc003ff) == (0x91000000 | both)) {
            return page + offset;
        } else if (page && (word & 0xffc003ff) == (0xf9400000 | both)) {
            return address_in_slot(c->elf, page + UINT64_C(8) * offset);
        }
    }
    return 0;
}

/* The argument that a function passes; 0: unknown. */
static uint64_t find_argument(const struct code *c, const struct argument *argument)
{
    return c->machine == EM_X86_64    ? find_x86_64(c, argument)
           : c->machine == EM_AARCH64 ? find_aarch64(c, argument)
                                      : 0;
}

/* ---- The program ----------------------------------------------------------------------------- */

/* True if the program is started by the C library of another file. */
static bool needs_libc_start(struct pct_dw *d)
{
    static const char name[] = "__libc_start_main";
    GElf_Sym symbol;
    GElf_Word section;
    int n = dwfl_module_getsymtab(d->module);
    for (int i = 1; i < n; i++) {
        const char *found = dwfl_module_getsym(d->module, i, &symbol, &section);
        if (found && section == SHN_UNDEF && !strncmp(found, name, sizeof name - 1) &&
            (!found[sizeof name - 1] || found[sizeof name - 1] == '@'))
            return true;
    }
    return false;
}

/* True if the code is _start of glibc that calls a function of the same file: it sets the outermost
 * frame, takes the arguments from the stack, and calls with main as the first argument what never
 * returns. _start of other C libraries for static programs, as musl, passes no main. */
static bool is_static_start(const struct code *c)
{
    static const uint8_t x86_64[] = {0x31, 0xed, 0x49, 0x89, 0xd1, 0x5e, 0x48, 0x89,
                                     0xe2, 0x48, 0x83, 0xe4, 0xf0, 0x50, 0x54};
    static const uint32_t aarch64[] = {0xd280001d, 0xd280001e, 0xaa0003e5,
                                       0xf94003e1, 0x910023e2, 0x910003e6};
    static const uint8_t mark[] = {0xf3, 0x0f, 0x1e, 0xfa}; /* endbr64 */
    enum { CALL = 0xe8, CALL_BYTES = 5, SHORT_ADDRESS = 0x67, HLT = 0xf4 };
    if (c->machine == EM_AARCH64) {
        /* It may begin with nop or bti c. */
        size_t i =
            c->n >= 4 && (word_at(c, 0) == 0xd503201f || word_at(c, 0) == 0xd503245f) ? 4 : 0;
        return c->n >= i + sizeof aarch64 && !memcmp(c->at + i, aarch64, sizeof aarch64);
    }
    size_t i = c->n >= sizeof mark && !memcmp(c->at, mark, sizeof mark) ? sizeof mark : 0;
    size_t load = find_load(c, &first);
    if (c->machine != EM_X86_64 || c->n < i + sizeof x86_64 || load == SIZE_MAX ||
        memcmp(c->at + i, x86_64, sizeof x86_64) != 0)
        return false;
    size_t call = load + LOAD_BYTES;
    call += call < c->n && c->at[call] == SHORT_ADDRESS;
    return call + CALL_BYTES < c->n && c->at[call] == CALL && c->at[call + CALL_BYTES] == HLT;
}

/* On aarch64 glibc passes the address of two instructions: nop, or bti c; b main. */
static uint64_t pass_jump(struct pct_dw *d, uint64_t address)
{
    struct code c;
    if (!read_code(d, address, &c) || c.machine != EM_AARCH64 || c.n < 8 ||
        (word_at(&c, 0) != 0xd503201f && word_at(&c, 0) != 0xd503245f) || word_at(&c, 4) >> 26 != 5)
        return address;
    int64_t distance = (int64_t)((uint64_t)word_at(&c, 4) << 38) >> 36; /* 26 bits, in words */
    return address + 4 + (uint64_t)distance;
}

static uint64_t find_main(struct pct_dw *d)
{
    GElf_Addr bias;
    GElf_Ehdr file;
    struct code c;
    Elf *elf = d->main_ready ? NULL : dwfl_module_getelf(d->module, &bias);
    d->main_ready = true;
    if (elf && gelf_getehdr(elf, &file) && file.e_entry && read_code(d, file.e_entry, &c) &&
        (needs_libc_start(d) || is_static_start(&c)))
        d->main_begin = pass_jump(d, find_argument(&c, &first));
    return d->main_begin;
}

const char *pct_dw_begin(struct pct_dw *d, uint64_t address, uint64_t *begin_out)
{
    uint64_t end;
    *begin_out = 0;
    return pct_dw_unwind(d, address, begin_out, &end) && *begin_out == find_main(d) ? "main" : NULL;
}

/* ---- Threads --------------------------------------------------------------------------------- */

static const struct pct_dw_symbol *find_starter(const struct pct_dw *d)
{
    for (size_t i = 0; i < d->n_symbols; i++)
        if (!strcmp(d->symbols[i].name, starter))
            return &d->symbols[i];
    return NULL;
}

void pct_dw_read_thread_start(struct pct_dw *d)
{
    const struct pct_dw_symbol *by = find_starter(d);
    struct code c;
    uint64_t lo, hi, begin = by && read_code(d, by->lo, &c) ? find_argument(&c, &third) : 0;
    if (!begin || !pct_dw_unwind(d, begin, &lo, &hi) || lo != begin)
        return;
    if (!pct_dw_has_symbol(d, begin))
        pct_dw_add_function(d, lo, hi, started);
}
