/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "analysis/allocation.h"
#include "watch/code_names.h"

#include <stdlib.h>
#include <string.h>

#ifdef HAVE_LIBDW

#include <dwarf.h>
#include <elfutils/libdwfl.h>

struct pct_code_names {
    Dwfl *dwfl;
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
    const struct pct_code_image *image = *user;
    (void)m, (void)name, (void)base, (void)file;
    *elf = elf_memory(image->at, image->bytes);
    return -1;
}

static int find_no_debuginfo(Dwfl_Module *m, void **user, const char *name, Dwarf_Addr base,
                             const char *file, const char *link, GElf_Word crc, char **found)
{
    (void)m, (void)user, (void)name, (void)base, (void)file, (void)link, (void)crc, (void)found;
    return -1;
}

struct pct_code_names *pct_code_names_new(void)
{
    static const Dwfl_Callbacks callbacks = {.find_elf = find_image,
                                             .find_debuginfo = find_no_debuginfo};
    Dwfl *dwfl = dwfl_begin(&callbacks);
    struct pct_code_names *names = dwfl ? pct_alloc(1, sizeof *names) : NULL;
    if (names)
        names->dwfl = dwfl;
    return names;
}

void pct_code_names_free(struct pct_code_names *names)
{
    if (names)
        dwfl_end(names->dwfl);
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
    if (m && dwfl_module_info(m, &user, NULL, NULL, NULL, NULL, NULL, NULL))
        *user = image;
    dwfl_report_end(names->dwfl, NULL, NULL);
}

static Dwfl_Module *find_module(struct pct_code_names *names, uintptr_t pc)
{
    return names ? dwfl_addrmodule(names->dwfl, pc) : NULL;
}

const char *pct_code_names_function(struct pct_code_names *names, uintptr_t pc)
{
    Dwfl_Module *m = find_module(names, pc);
    return m ? dwfl_module_addrname(m, pc) : NULL;
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

bool pct_code_names_rule(struct pct_code_names *names, uintptr_t pc, struct pct_code_rule *out)
{
    (void)names, (void)pc, (void)out;
    return false;
}

#endif
