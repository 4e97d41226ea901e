/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Shared by the files of the walker and by their tests: the rule of one program counter, and the
 * unwind tables from which rules are made.
 */
#ifndef PC_WALK_PRIVATE_H
#define PC_WALK_PRIVATE_H

#include "libcollect/walk/walk.h"

/* Processors that the walker knows. On any other each step is cut. Numbers are DWARF's. */
#if defined __x86_64__
#define PC_WALK_KNOWN 1
#define PC_REG_FP 6
#define PC_REG_SP 7
#define PC_REG_RA 16
#define PC_N_REGISTERS 16 /* registers from which a CFA may be computed */
#elif defined __aarch64__ && defined __LP64__
#define PC_WALK_KNOWN 1
#define PC_REG_FP 29
#define PC_REG_RA 30
#define PC_REG_SP 31
#define PC_REG_RA_SIGNED 34
#elif defined __riscv && __riscv_xlen == 64
#define PC_WALK_KNOWN 1
#define PC_REG_RA 1
#define PC_REG_SP 2
#define PC_REG_FP 8
#elif defined __loongarch__ && __loongarch_grlen == 64
#define PC_WALK_KNOWN 1
#define PC_REG_RA 1
#define PC_REG_SP 3
#define PC_REG_FP 22
#elif defined __powerpc64__ && _CALL_ELF == 2
#define PC_WALK_KNOWN 1
#define PC_REG_SP 1
#define PC_REG_FP 31
#define PC_REG_RA 65
#else
#define PC_WALK_KNOWN 0
#endif
#if PC_WALK_KNOWN && !defined PC_N_REGISTERS
#define PC_N_REGISTERS 0
#endif
#if PC_WALK_KNOWN && !defined __x86_64__
#define PC_WALK_LINK_REGISTER 1 /* a call leaves the return address in a register */
#if !defined __aarch64__
#define PC_WALK_LIBC_BEGINS 1 /* libc's unwind tables do not mark where threads begin */
#endif
#endif

/* Rules by which the canonical frame address follows from the registers; k is cfa_off, k2
 * deref_off. Registers other than sp and fp are known only in walks that begin with an
 * interrupt. */
enum pc_rule_cfa {
    PC_CFA_NONE = 0, /* cannot be expressed, or there is no table: the walk is cut */
    PC_CFA_SP,       /* sp + k */
    PC_CFA_FP,       /* fp + k */
    PC_CFA_SP_DEREF, /* *(sp + k) + k2 */
    PC_CFA_FP_DEREF, /* *(fp + k) + k2 */
    PC_CFA_REGISTER  /* register number k2 + k */
};

/* Rules for a register of the caller. */
enum pc_rule_loc {
    PC_LOC_SAME = 0, /* still in the register; return address: in the link register */
    PC_LOC_UNDEFINED,
    PC_LOC_CFA,   /* in memory at CFA + off */
    PC_LOC_SP,    /* at sp + off */
    PC_LOC_FP,    /* at fp + off */
    PC_LOC_EXOTIC /* described by the table in a form that is not in this list */
};

/* The rule of one step: 24 bytes, three words of a cache entry. */
struct pc_rule {
    int32_t cfa_off;
    int32_t deref_off;
    int32_t ra_off;
    int32_t fp_off;
    uint16_t cfa : 3; /* enum pc_rule_cfa */
    uint16_t ra : 3;  /* enum pc_rule_loc */
    uint16_t fp : 3;
    uint16_t signal : 1;    /* frame of a signal: the caller was interrupted, not calling */
    uint16_t ra_signed : 1; /* aarch64: the return address carries pointer authentication */
    uint16_t uses_fp : 1;   /* CFA or a location depends on fp */
    uint16_t plain : 1;     /* CFA = sp|fp + k, return address at the CFA + off and not signed, fp
                               at the CFA + off or not moved; no signal */
    uint16_t valid : 1;     /* so that no rule is all zero */
    uint16_t module;        /* index + 1 in the table of modules; 0: none */
    uint32_t generation;    /* of the load map */
};

#define PC_CFI_MAX_SEGMENTS 8

/* The unwind tables of one module, and the memory ranges that may be read. */
struct pc_cfi_image {
    const uint8_t *hdr; /* .eh_frame_hdr */
    int n_segments;
    struct pc_cfi_segment {
        uintptr_t lo, hi;
    } segments[PC_CFI_MAX_SEGMENTS];
};

/* The readable segments of a module, from its program headers. AS-safe. */
void pc_loadmap_image(const struct pc_module *module, struct pc_cfi_image *image_out);

/* Finds the rule that holds at pc. False: the tables do not cover pc or are damaged, or the rule
 * cannot be expressed (then rule_out->cfa is PC_CFA_NONE). generation and module are 0. Reads
 * nothing outside of image->segments. AS-safe. */
bool pc_cfi_rule(const struct pc_cfi_image *image, uintptr_t pc, struct pc_rule *rule_out);

/* Rule for the caller's value, at pc, of a register other than sp, fp and the return address;
 * *off_out is set if it is in memory. PC_LOC_EXOTIC: not known, or the frame is a signal's.
 * AS-safe. */
enum pc_rule_loc pc_cfi_register(const struct pc_cfi_image *image, uintptr_t pc, unsigned reg,
                                 int64_t *off_out);

/* First address of the table entry that covers pc, or 0. AS-safe. */
uintptr_t pc_cfi_function_start(const struct pc_cfi_image *image, uintptr_t pc);

/* ---- Reading tables, bounded ----------------------------------------------------------------- */

/* Reading past the end gives zeros and sets `bad`; the cursor stays at the end. */
struct pc_reader {
    const uint8_t *p, *end;
    bool bad;
};

uint64_t pc_read_fixed(struct pc_reader *r, unsigned n_bytes);
uint64_t pc_read_uleb(struct pc_reader *r);
int64_t pc_read_sleb(struct pc_reader *r);

/* ---- DWARF expressions, as far as rules need them -------------------------------------------- */

enum pc_expr_base { PC_EXPR_CONST = 0, PC_EXPR_CFA, PC_EXPR_SP, PC_EXPR_FP, PC_EXPR_REGISTER };

/* base + off, or *(base + off) + deref_off. With another register as base, deref_off is its
 * number. */
struct pc_expr_value {
    enum pc_expr_base base;
    bool deref;
    int64_t off, deref_off;
};

/* Evaluates an expression at pc (which makes the instruction pointer a constant) with the
 * registers left symbolic. `on_cfa`: the stack starts with the CFA. False: no value of the above
 * form. AS-safe. */
bool pc_expr_evaluate(const uint8_t *code, size_t n, uintptr_t pc, bool on_cfa,
                      struct pc_expr_value *value_out);

#endif
