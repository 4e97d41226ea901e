/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "analysis/allocation.h"
#include "analysis/symbols/file_names.h"
#include "watch/code_names.h"

#include <stdlib.h>
#include <string.h>

#ifdef HAVE_LIBDW

#include <dwarf.h>
#include <elfutils/libdwfl.h>

enum { KNOWN_PLACES = 4096 };

/* Cached answer about an instruction. */
struct known_place {
    uintptr_t key, begin; /* key: pc * 2 + exact; 0: none */
    enum pct_frame_place place;
};

/* File of a module, and its names, which are read when they are first asked for. */
struct named_file {
    const struct pct_code_image *image;
    struct pct_dw *names; /* NULL: the file is not read */
    bool ready;
};

struct pct_code_names {
    Dwfl *dwfl;
    struct named_file **files;
    size_t n, room;
    struct known_place places[KNOWN_PLACES]; /* by the hash of their keys */
};

/* Numbers of DWARF. */
#if defined __aarch64__
enum { REG_FP = 29, REG_SP = 31 };
#else
enum { REG_FP = 6, REG_SP = 7 };
#endif

static int find_image(Dwfl_Module *m, void **user, const char *name, Dwarf_Addr base, char **file,
                      Elf **elf)
{
    const struct named_file *of = *user;
    (void)m, (void)name, (void)base, (void)file;
    *elf = elf_memory(of->image->at, of->image->bytes);
    return -1;
}

/* libdwfl has no path of a file in memory; the module has its path as name. */
static int find_debug_file(Dwfl_Module *m, void **user, const char *name, Dwarf_Addr base,
                           const char *file, const char *link, GElf_Word crc, char **found)
{
    (void)file;
    return pct_file_names_find_debug(m, user, name, base, name, link, crc, found);
}

struct pct_code_names *pct_code_names_new(void)
{
    static const Dwfl_Callbacks callbacks = {.find_elf = find_image,
                                             .find_debuginfo = find_debug_file};
    Dwfl *dwfl = dwfl_begin(&callbacks);
    struct pct_code_names *names = dwfl ? pct_alloc(1, sizeof *names) : NULL;
    if (names)
        names->dwfl = dwfl;
    return names;
}

void pct_code_names_free(struct pct_code_names *names)
{
    if (!names)
        return;
    for (size_t i = 0; i < names->n; i++) {
        pct_file_names_free(names->files[i]->names);
        pct_free(names->files[i]);
    }
    dwfl_end(names->dwfl);
    pct_free(names->files);
    pct_free(names);
}

void pct_code_names_add(struct pct_code_names *names, const struct pc_module *module,
                        struct pct_code_image *image)
{
    void **user;
    if (!names)
        return;
    dwfl_report_begin_add(names->dwfl);
    Dwfl_Module *m = dwfl_report_module(names->dwfl, module->path, module->lo, module->hi);
    if (m && dwfl_module_info(m, &user, NULL, NULL, NULL, NULL, NULL, NULL)) {
        struct named_file *file = pct_alloc(1, sizeof *file);
        file->image = image;
        names->files = pct_grow(names->files, names->n, &names->room, sizeof(struct named_file *));
        names->files[names->n++] = *user = file;
    }
    dwfl_report_end(names->dwfl, NULL, NULL);
}

static Dwfl_Module *find_module(struct pct_code_names *names, uintptr_t pc)
{
    return names ? dwfl_addrmodule(names->dwfl, pc) : NULL;
}

const char *pct_code_names_function(struct pct_code_names *names, uintptr_t pc)
{
    void **user;
    Dwfl_Module *m = find_module(names, pc);
    if (!m || !dwfl_module_info(m, &user, NULL, NULL, NULL, NULL, NULL, NULL))
        return NULL;
    struct named_file *file = *user;
    if (!file->ready)
        file->names = pct_file_names_new(m);
    file->ready = true;
    return file->names ? pct_file_names_function(file->names, pc) : NULL;
}

uintptr_t pct_code_names_symbol(struct pct_code_names *names, uintptr_t pc, const char *symbol)
{
    GElf_Sym of;
    GElf_Addr address;
    Dwfl_Module *m = find_module(names, pc);
    for (int i = 0, n = m ? dwfl_module_getsymtab(m) : 0; i < n; i++) {
        const char *name = dwfl_module_getsym_info(m, i, &of, &address, NULL, NULL, NULL);
        if (name && !strcmp(name, symbol))
            return address;
    }
    return 0;
}

bool pct_code_names_is_init(struct pct_code_names *names, uintptr_t pc)
{
    Dwarf_Addr address = pc;
    GElf_Shdr header;
    GElf_Addr bias;
    Dwfl_Module *m = find_module(names, pc);
    Elf_Scn *section = m ? dwfl_module_address_section(m, &address, &bias) : NULL;
    Elf *elf = section ? dwfl_module_getelf(m, &bias) : NULL;
    size_t texts;
    if (!elf || elf_getshdrstrndx(elf, &texts) || !gelf_getshdr(section, &header))
        return false;
    const char *name = elf_strptr(elf, texts, header.sh_name);
    return name && (!strcmp(name, ".init") || !strcmp(name, ".fini"));
}

/* ---- .debug_frame ---------------------------------------------------------------------------- */

enum place { SAVED, SAME, UNDEFINED, OTHER };

/* Finds the caller's value of a register; SAVED: *off from the canonical frame address. */
static enum place find_register(Dwarf_Frame *frame, int number, int64_t *off)
{
    Dwarf_Op room[3], *ops = room;
    size_t n = 0;
    if (dwarf_frame_register(frame, number, room, &ops, &n))
        return OTHER;
    if (!n)
        return ops ? UNDEFINED : SAME;
    if (ops[0].atom != DW_OP_call_frame_cfa || n > 2 ||
        (n == 2 && ops[1].atom != DW_OP_plus_uconst))
        return OTHER;
    *off = n == 2 ? (int64_t)ops[1].number : 0;
    return SAVED;
}

static bool read_rule(Dwarf_Frame *frame, struct pct_code_rule *out)
{
    struct pct_code_rule rule = {0};
    Dwarf_Addr begin, end;
    Dwarf_Op *cfa;
    size_t n;
    bool signal;
    int ra = dwarf_frame_info(frame, &begin, &end, &signal);
    enum place of_ra = ra < 0 || signal ? OTHER : find_register(frame, ra, &rule.ra_off);
    enum place of_fp = find_register(frame, REG_FP, &rule.fp_off);
    rule.outermost = of_ra == UNDEFINED;
    if (!rule.outermost) {
        if (of_ra == OTHER || (of_fp != SAVED && of_fp != SAME) ||
            dwarf_frame_cfa(frame, &cfa, &n) || n != 1 || cfa->atom != DW_OP_bregx ||
            (cfa->number != REG_FP && cfa->number != REG_SP))
            return false;
        rule.by_fp = cfa->number == REG_FP;
        rule.cfa_off = (int64_t)cfa->number2;
        rule.ra_saved = of_ra == SAVED;
        rule.fp_saved = of_fp == SAVED;
    }
    *out = rule;
    return true;
}

bool pct_code_names_rule(struct pct_code_names *names, uintptr_t pc, struct pct_code_rule *out)
{
    Dwarf_Addr bias = 0;
    Dwarf_Frame *frame = NULL;
    Dwfl_Module *m = find_module(names, pc);
    Dwarf_CFI *table = m ? dwfl_module_dwarf_cfi(m, &bias) : NULL;
    if (!table || dwarf_cfi_addrframe(table, pc - bias, &frame))
        return false;
    bool known = read_rule(frame, out);
    free(frame);
    return known;
}

/* ---- Instructions ---------------------------------------------------------------------------- */

#if defined __x86_64__

/* Code of a file from an address on, to the end of its section; the number of bytes. */
static size_t read_code(struct pct_code_names *names, uintptr_t pc, const uint8_t **out)
{
    Dwarf_Addr at = pc, bias;
    Dwfl_Module *m = find_module(names, pc);
    Elf_Scn *section = m ? dwfl_module_address_section(m, &at, &bias) : NULL;
    const Elf_Data *data = section ? elf_rawdata(section, NULL) : NULL;
    if (!data || !data->d_buf || at >= data->d_size)
        return 0;
    *out = (const uint8_t *)data->d_buf + at;
    return data->d_size - at;
}

/* Number of bytes in front of the instruction in code of n bytes; n: there is none. */
static size_t find_bytes(const uint8_t *code, size_t n, const char *bytes, size_t n_bytes)
{
    for (size_t i = 0; i + n_bytes <= n; i++)
        if (!memcmp(code + i, bytes, n_bytes))
            return i;
    return n;
}

/* True if bytes may be instructions that move the stack pointer. */
static bool moves_stack(const uint8_t *code, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (code[i] >= 0x50 && code[i] <= 0x57) /* push */
            return true;
    return find_bytes(code, n, "\x48\x83\xec", 3) < n || find_bytes(code, n, "\x48\x81\xec", 3) < n;
}

/* `push %rbp`, and after it, with instructions between that leave the stack as it is, `mov %rsp,
 * %rbp`. The number of bytes from the push to the end of this; 0: code begins otherwise. */
static size_t sets_pointer(const uint8_t *code, size_t n)
{
    enum { FEW = 32, PUSH = 1, MOV = 3 };
    n = n < FEW ? n : FEW;
    if (!n || *code != 0x55)
        return 0;
    size_t mov = find_bytes(code, n, "\x48\x89\xe5", MOV);
    return mov < n && !moves_stack(code + PUSH, mov - PUSH) ? mov + MOV : 0;
}

/* True if the frame was set somewhere in code of n bytes. A function that first aligns its stack
 * has copied its return address. */
static bool was_set(const uint8_t *code, size_t n)
{
    size_t set = find_bytes(code, n, "\x55\x48\x89\xe5", 4);
    return set < n && find_bytes(code, set, "\x48\x83\xe4", 3) == set &&
           find_bytes(code, set, "\x48\x81\xe4", 3) == set;
}

/* True if a function may have restored the frame pointer, shortly before it returns. */
static bool may_leave(const uint8_t *code, size_t n)
{
    enum { NEAR = 24, POP = 0x5d, LEAVE = 0xc9 };
    for (size_t i = n > NEAR ? n - NEAR : 0; i < n; i++)
        if (code[i] == POP || code[i] == LEAVE)
            return true;
    return false;
}

static bool is_return_instruction(const uint8_t *code, size_t n)
{
    return code[0] == 0xc3 || code[0] == 0xc2 || (n > 1 && code[0] == 0xf3 && code[1] == 0xc3);
}

/* The place at the instruction i of n bytes of code, or in front of the end of a call. */
static enum pct_frame_place place_at(const uint8_t *code, size_t i, size_t n, bool exact)
{
    enum { ENDBR = 4 };
    size_t push = n > ENDBR && !memcmp(code, "\xf3\x0f\x1e\xfa", ENDBR) ? ENDBR : 0;
    size_t set = sets_pointer(code + push, n - push);
    bool is_set = set && i >= push + set;
    /* A function that sets it later, or not on all paths, has done so when it calls others. */
    if (!exact)
        return is_set || was_set(code, i) ? PCT_FRAME_SET : PCT_FRAME_UNKNOWN;
    if (is_return_instruction(code + i, n - i) || !moves_stack(code, i))
        return PCT_FRAME_TOP;
    if (set && !is_set)
        return PCT_FRAME_PUSHED;
    return is_set && !may_leave(code, i) ? PCT_FRAME_SET : PCT_FRAME_BY_CALL;
}

static enum pct_frame_place find_place(struct pct_code_names *names, uintptr_t pc, bool exact,
                                       uintptr_t *begin)
{
    enum { MOST = 65536 }; /* bytes of a function that are looked at */
    GElf_Off i;
    GElf_Sym symbol;
    const uint8_t *code;
    Dwfl_Module *m = find_module(names, pc);
    if (!m || !dwfl_module_addrinfo(m, pc, &i, &symbol, NULL, NULL, NULL))
        return PCT_FRAME_UNKNOWN;
    *begin = pc - i;
    size_t n = read_code(names, *begin, &code);
    return i < n && i < MOST ? place_at(code, i, n, exact) : PCT_FRAME_UNKNOWN;
}

enum pct_frame_place pct_code_names_place(struct pct_code_names *names, uintptr_t pc, bool exact,
                                          uintptr_t *begin)
{
    uintptr_t key = pc * 2 + exact;
    if (!names)
        return PCT_FRAME_UNKNOWN;
    struct known_place *known = &names->places[pc_hash_u64(key) % KNOWN_PLACES];
    if (known->key != key) {
        *known = (struct known_place){.key = key};
        known->place = find_place(names, pc, exact, &known->begin);
    }
    *begin = known->begin;
    return known->place;
}

/* Bytes of the call at the beginning of code of n bytes; 0: it is none. */
static size_t call_bytes(const uint8_t *code, size_t n)
{
    enum { DIRECT = 5 };
    if (n && *code == 0xe8)
        return DIRECT;
    size_t prefix = n && *code >= 0x40 && *code <= 0x4f;
    if (n < prefix + 2 || code[prefix] != 0xff || (code[prefix + 1] >> 3 & 7) != 2)
        return 0;
    unsigned mode = code[prefix + 1] >> 6, r = code[prefix + 1] & 7;
    size_t bytes = prefix + 2;
    if (mode < 3 && r == 4) {
        r = bytes < n ? code[bytes] & 7 : 0;
        bytes++;
    }
    return bytes + (mode == 1 ? 1 : mode == 2 || (mode == 0 && r == 5) ? 4 : 0);
}

bool pct_code_names_is_return(struct pct_code_names *names, uintptr_t pc)
{
    enum { LEAST = 2, MOST = 8 };
    const uint8_t *code;
    if (!read_code(names, pc - 1, &code))
        return true;
    for (size_t bytes = LEAST; bytes <= MOST; bytes++) {
        size_t n = read_code(names, pc - bytes, &code);
        if (n >= bytes && call_bytes(code, bytes) == bytes)
            return true;
    }
    return false;
}

bool pct_code_names_returns_from(struct pct_code_names *names, uintptr_t pc, uintptr_t begin)
{
    enum { CALL_BYTES = 5 };
    const uint8_t *code;
    int32_t distance;
    if (read_code(names, pc - CALL_BYTES, &code) < CALL_BYTES || *code != 0xe8)
        return false;
    memcpy(&distance, code + 1, sizeof distance);
    return pc + (uintptr_t)(intptr_t)distance == begin;
}

bool pct_code_names_is_behind_clone(struct pct_code_names *names, uintptr_t pc)
{
    enum { BYTES = 10, TEST_BYTES = 3, JUMP_BYTES = 6 };
    /* mov $NUMBER, %eax; syscall; test %rax, %rax */
    static const uint8_t calls[][BYTES] = {
        {0xb8, 0x38, 0x00, 0x00, 0x00, 0x0f, 0x05, 0x48, 0x85, 0xc0},
        {0xb8, 0xb3, 0x01, 0x00, 0x00, 0x0f, 0x05, 0x48, 0x85, 0xc0}};
    const uint8_t *code;
    for (uintptr_t n = BYTES - TEST_BYTES; n <= BYTES + JUMP_BYTES; n++)
        for (size_t i = 0; i < PC_ARRAY_LEN(calls); i++)
            if (read_code(names, pc - n, &code) >= BYTES && !memcmp(code, calls[i], BYTES))
                return true;
    return false;
}

#endif

#else

struct pct_code_names *pct_code_names_new(void)
{
    return NULL;
}

void pct_code_names_free(struct pct_code_names *names)
{
    (void)names;
}

void pct_code_names_add(struct pct_code_names *names, const struct pc_module *module,
                        struct pct_code_image *image)
{
    (void)names, (void)module, (void)image;
}

const char *pct_code_names_function(struct pct_code_names *names, uintptr_t pc)
{
    (void)names, (void)pc;
    return NULL;
}

uintptr_t pct_code_names_symbol(struct pct_code_names *names, uintptr_t pc, const char *symbol)
{
    (void)names, (void)pc, (void)symbol;
    return 0;
}

bool pct_code_names_is_init(struct pct_code_names *names, uintptr_t pc)
{
    (void)names, (void)pc;
    return false;
}

bool pct_code_names_rule(struct pct_code_names *names, uintptr_t pc, struct pct_code_rule *out)
{
    (void)names, (void)pc, (void)out;
    return false;
}

#endif

#if !defined HAVE_LIBDW || !defined __x86_64__

enum pct_frame_place pct_code_names_place(struct pct_code_names *names, uintptr_t pc, bool exact,
                                          uintptr_t *begin)
{
    (void)names, (void)pc, (void)exact, (void)begin;
    return PCT_FRAME_UNKNOWN;
}

bool pct_code_names_is_return(struct pct_code_names *names, uintptr_t pc)
{
    (void)names, (void)pc;
    return true;
}

bool pct_code_names_returns_from(struct pct_code_names *names, uintptr_t pc, uintptr_t begin)
{
    (void)names, (void)pc, (void)begin;
    return false;
}

bool pct_code_names_is_behind_clone(struct pct_code_names *names, uintptr_t pc)
{
    (void)names, (void)pc;
    return false;
}

#endif
