/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Unwind tables: finds the entry (FDE) that covers a program counter, executes its call frame
 * instructions up to there, and turns the resulting row into a rule.
 *
 * Only what the walker needs is kept of a row: the CFA, the return address, the frame pointer, and
 * whether the caller's sp is the CFA as usual. Nothing is trusted: every read is bounded by the
 * segment that holds the table, every loop consumes a byte of it, the store for remembered rows has
 * a fixed size. Called by walk_async.c for a program counter that is not in its cache. Every
 * function of this file may run in a signal handler.
 */
#include "libcollect/walk/walk_private.h"

#include <string.h>

#if PC_WALK_KNOWN

#define MAX_REMEMBERED 8
#define NO_REGISTER UINT64_MAX

enum encoding {
    ENC_ABS = 0x00,
    ENC_ULEB = 0x01,
    ENC_UDATA2 = 0x02,
    ENC_UDATA4 = 0x03,
    ENC_UDATA8 = 0x04,
    ENC_SLEB = 0x09,
    ENC_SDATA2 = 0x0a,
    ENC_SDATA4 = 0x0b,
    ENC_SDATA8 = 0x0c,
    ENC_FORM = 0x0f,
    ENC_PCREL = 0x10,
    ENC_DATAREL = 0x30,
    ENC_ALIGNED = 0x50,
    ENC_BASE = 0x70,
    ENC_INDIRECT = 0x80,
    ENC_OMIT = 0xff
};

struct loc {
    enum pc_rule_loc kind;
    int64_t off;
};

struct row {
    bool cfa_known;
    struct pc_expr_value cfa;
    struct loc ra, fp, sp;
    struct loc wanted; /* of the register that is asked for */
    bool ra_signed;
};

struct cie {
    uint64_t code_align;
    int64_t data_align;
    uint64_t ra_reg;
    uint8_t fde_encoding;
    bool augmented; /* 'z': the length of the augmentation data is given */
    bool signal;
    struct pc_reader code;
};

struct fde {
    struct cie cie;
    uintptr_t begin, end;
    struct pc_reader code;
};

/* The execution of call frame instructions. */
struct execution {
    struct pc_reader r;
    const struct cie *cie;
    const struct row *initial; /* the row after the CIE's instructions; NULL while they run */
    uintptr_t at, pc;          /* the row is valid from `at` on; the row at `pc` is wanted */
    uint64_t wanted;           /* register, NO_REGISTER: none */
    struct row row;
    struct row remembered[MAX_REMEMBERED];
    int n_remembered;
    bool failed;
};

/* ---- Finding the entry ----------------------------------------------------------------------- */

/* A reader from addr to the end of its segment; empty and bad if addr is in none. */
static struct pc_reader reader_at(const struct pc_cfi_image *image, uintptr_t addr)
{
    for (int i = 0; i < image->n_segments; i++) {
        const struct pc_cfi_segment *s = &image->segments[i];
        if (addr >= s->lo && addr < s->hi)
            return (struct pc_reader){(const uint8_t *)addr, (const uint8_t *)s->hi, false};
    }
    return (struct pc_reader){NULL, NULL, true};
}

/* Reads a pointer that is not indirect. `data` is what data-relative ones are relative to. */
static uintptr_t read_encoded(struct pc_reader *r, uint8_t encoding, uintptr_t data)
{
    if ((encoding & ENC_BASE) == ENC_ALIGNED) {
        while (((uintptr_t)r->p & 7) && r->p < r->end)
            r->p++;
        return pc_read_fixed(r, 8);
    }
    uintptr_t here = (uintptr_t)r->p;
    uintptr_t v = 0;
    switch (encoding & ENC_FORM) {
    case ENC_ABS:
    case ENC_UDATA8:
    case ENC_SDATA8:
        v = pc_read_fixed(r, 8);
        break;
    case ENC_ULEB:
        v = pc_read_uleb(r);
        break;
    case ENC_SLEB:
        v = (uintptr_t)pc_read_sleb(r);
        break;
    case ENC_UDATA2:
        v = pc_read_fixed(r, 2);
        break;
    case ENC_SDATA2:
        v = (uintptr_t)(int16_t)pc_read_fixed(r, 2);
        break;
    case ENC_UDATA4:
        v = pc_read_fixed(r, 4);
        break;
    case ENC_SDATA4:
        v = (uintptr_t)(int32_t)pc_read_fixed(r, 4);
        break;
    default:
        r->bad = true;
    }
    if ((encoding & ENC_BASE) == ENC_PCREL)
        v += here;
    else if ((encoding & ENC_BASE) == ENC_DATAREL)
        v += data;
    else if ((encoding & ENC_BASE) != ENC_ABS)
        r->bad = true;
    return v;
}

/* Length field of a CIE or FDE: cuts the reader to the entry. Returns the width of the field that
 * follows (4, or 8 in the 64-bit format), 0 at the end of the table or if it is damaged. */
static unsigned enter_entry(struct pc_reader *r)
{
    unsigned width = 4;
    uint64_t length = pc_read_fixed(r, 4);
    if (length == 0xffffffff) {
        length = pc_read_fixed(r, 8);
        width = 8;
    }
    if (r->bad || length == 0 || length > (uint64_t)(r->end - r->p))
        return 0;
    r->end = r->p + length;
    return width;
}

/* Reads the augmentation letters of a CIE and the data that they announce. */
static bool parse_augmentation(struct pc_reader *r, const char *letters, struct cie *cie)
{
    cie->fde_encoding = ENC_ABS;
    cie->augmented = letters[0] == 'z';
    if (!cie->augmented)
        return letters[0] == '\0';
    uint64_t n = pc_read_uleb(r);
    if (n > (uint64_t)(r->end - r->p))
        return false;
    struct pc_reader data = {r->p, r->p + n, false};
    r->p += n;
    for (letters++; *letters; letters++) {
        if (*letters == 'R') {
            cie->fde_encoding = (uint8_t)pc_read_fixed(&data, 1);
        } else if (*letters == 'L') {
            pc_read_fixed(&data, 1);
        } else if (*letters == 'P') {
            uint8_t encoding = (uint8_t)pc_read_fixed(&data, 1);
            if (encoding != ENC_OMIT)
                read_encoded(&data, encoding & (uint8_t)~ENC_INDIRECT, 0);
        } else if (*letters == 'S') {
            cie->signal = true;
        } else if (*letters != 'B' && *letters != 'G') { /* keys and tags of aarch64 */
            return false;
        }
    }
    return !data.bad;
}

static bool parse_cie(const struct pc_cfi_image *image, uintptr_t addr, struct cie *cie_out)
{
    struct cie cie = {0};
    struct pc_reader r = reader_at(image, addr);
    unsigned width = enter_entry(&r);
    if (!width || pc_read_fixed(&r, width) != 0)
        return false;
    uint64_t version = pc_read_fixed(&r, 1);
    if (version != 1 && version != 3 && version != 4)
        return false;
    const char *letters = (const char *)r.p;
    while (r.p < r.end && *r.p)
        r.p++;
    pc_read_fixed(&r, 1);
    if (version == 4 && pc_read_fixed(&r, 2) != 8) /* size of an address, of a segment selector */
        return false;
    cie.code_align = pc_read_uleb(&r);
    cie.data_align = pc_read_sleb(&r);
    cie.ra_reg = version == 1 ? pc_read_fixed(&r, 1) : pc_read_uleb(&r);
    if (r.bad || !parse_augmentation(&r, letters, &cie) || r.bad)
        return false;
    cie.code = r;
    *cie_out = cie;
    return true;
}

/* Parses the FDE at addr. False: damaged, or (in a linear scan) a CIE. *next_out: the entry after
 * it, 0 at the end of the table. */
static bool parse_fde(const struct pc_cfi_image *image, uintptr_t addr, struct fde *fde_out,
                      uintptr_t *next_out)
{
    struct pc_reader r = reader_at(image, addr);
    unsigned width = enter_entry(&r);
    *next_out = width ? (uintptr_t)r.end : 0;
    uintptr_t here = (uintptr_t)r.p;
    uint64_t distance = width ? pc_read_fixed(&r, width) : 0;
    if (distance == 0)
        return false;
    struct fde fde;
    if (!parse_cie(image, here - distance, &fde.cie) || (fde.cie.fde_encoding & ENC_INDIRECT))
        return false;
    fde.begin = read_encoded(&r, fde.cie.fde_encoding, (uintptr_t)image->hdr);
    fde.end = fde.begin + read_encoded(&r, fde.cie.fde_encoding & ENC_FORM, 0);
    if (fde.cie.augmented) {
        uint64_t n = pc_read_uleb(&r);
        if (n > (uint64_t)(r.end - r.p))
            return false;
        r.p += n;
    }
    fde.code = r;
    if (r.bad)
        return false;
    *fde_out = fde;
    return true;
}

/* The last row of the sorted table (pairs of i32, both relative to hdr) that starts at or before
 * pc. Returns the address of its FDE, or 0. */
static uintptr_t search_table(const struct pc_cfi_image *image, const uint8_t *table, uint64_t n,
                              uintptr_t pc)
{
    int64_t wanted = (int64_t)(pc - (uintptr_t)image->hdr);
    uint64_t lo = 0, hi = n; /* the row is in [lo, hi) or there is none */
    int32_t pair[2];
    while (lo < hi) {
        uint64_t mid = lo + (hi - lo) / 2;
        memcpy(pair, table + mid * sizeof pair, sizeof pair);
        if (pair[0] <= wanted)
            lo = mid + 1;
        else
            hi = mid;
    }
    if (lo == 0)
        return 0;
    memcpy(pair, table + (lo - 1) * sizeof pair, sizeof pair);
    return (uintptr_t)image->hdr + (uintptr_t)(intptr_t)pair[1];
}

static bool scan_entries(const struct pc_cfi_image *image, uintptr_t eh_frame, uintptr_t pc,
                         struct fde *fde_out)
{
    for (uintptr_t at = eh_frame, next; at; at = next) {
        if (parse_fde(image, at, fde_out, &next) && pc >= fde_out->begin && pc < fde_out->end)
            return true;
    }
    return false;
}

static bool find_fde(const struct pc_cfi_image *image, uintptr_t pc, struct fde *fde_out)
{
    struct pc_reader r = reader_at(image, (uintptr_t)image->hdr);
    if (pc_read_fixed(&r, 1) != 1)
        return false;
    uint8_t frame_encoding = (uint8_t)pc_read_fixed(&r, 1);
    uint8_t count_encoding = (uint8_t)pc_read_fixed(&r, 1);
    uint8_t table_encoding = (uint8_t)pc_read_fixed(&r, 1);
    if (frame_encoding & ENC_INDIRECT)
        return false;
    uintptr_t eh_frame = read_encoded(&r, frame_encoding, (uintptr_t)image->hdr);
    if (r.bad)
        return false;
    if (count_encoding == ENC_OMIT || table_encoding != (ENC_DATAREL | ENC_SDATA4))
        return scan_entries(image, eh_frame, pc, fde_out);
    uint64_t n = read_encoded(&r, count_encoding, (uintptr_t)image->hdr);
    if (r.bad || n > (uint64_t)(r.end - r.p) / 8)
        return false;
    uintptr_t at = search_table(image, r.p, n, pc), next;
    return at && parse_fde(image, at, fde_out, &next) && pc >= fde_out->begin && pc < fde_out->end;
}

/* ---- Executing it ---------------------------------------------------------------------------- */

static struct loc *loc_of(struct execution *x, struct row *row, uint64_t reg)
{
    if (reg == x->cie->ra_reg)
        return &row->ra;
    if (reg == PC_REG_FP)
        return &row->fp;
    if (reg == PC_REG_SP)
        return &row->sp;
    return reg == x->wanted ? &row->wanted : NULL;
}

static void set_loc(struct execution *x, uint64_t reg, enum pc_rule_loc kind, int64_t off)
{
    struct loc *loc = loc_of(x, &x->row, reg);
    if (loc)
        *loc = (struct loc){kind, off};
}

static void restore_loc(struct execution *x, uint64_t reg)
{
    static const struct row nothing;
    struct row from = x->initial ? *x->initial : nothing;
    struct loc *to = loc_of(x, &x->row, reg);
    if (to)
        *to = *loc_of(x, &from, reg);
}

static void set_cfa(struct execution *x, uint64_t reg, int64_t off)
{
    bool other = reg != PC_REG_SP && reg != PC_REG_FP;
    x->row.cfa_known = !other || reg + 1 <= PC_N_REGISTERS;
    x->row.cfa = (struct pc_expr_value){.base = other              ? PC_EXPR_REGISTER
                                                : reg == PC_REG_FP ? PC_EXPR_FP
                                                                   : PC_EXPR_SP,
                                        .off = off,
                                        .deref_off = other ? (int64_t)reg : 0};
}

/* Takes an expression with its length off the code. */
static bool take_expression(struct execution *x, bool on_cfa, struct pc_expr_value *value_out)
{
    uint64_t n = pc_read_uleb(&x->r);
    if (n > (uint64_t)(x->r.end - x->r.p)) {
        x->failed = true;
        return false;
    }
    const uint8_t *code = x->r.p;
    x->r.p += n;
    return pc_expr_evaluate(code, n, x->pc, on_cfa, value_out);
}

static void set_loc_by_expression(struct execution *x, uint64_t reg, bool is_value)
{
    struct pc_expr_value v;
    bool known = take_expression(x, true, &v);
#if defined PC_REG_RA_SIGNED
    if (is_value && reg == PC_REG_RA_SIGNED && known && v.base == PC_EXPR_CONST)
        x->row.ra_signed = v.off & 1;
#endif
    if (!known || is_value || v.deref || v.base == PC_EXPR_CONST)
        set_loc(x, reg, PC_LOC_EXOTIC, 0);
    else
        set_loc(x, reg,
                v.base == PC_EXPR_CFA  ? PC_LOC_CFA
                : v.base == PC_EXPR_SP ? PC_LOC_SP
                                       : PC_LOC_FP,
                v.off);
}

/* DW_CFA_register: the caller's `reg` is in `other`. */
static void set_loc_by_register(struct execution *x, uint64_t reg, uint64_t other)
{
    bool same = reg == other;
#if defined __aarch64__
    same = same || (reg == x->cie->ra_reg && other == PC_REG_RA);
#endif
    set_loc(x, reg, same ? PC_LOC_SAME : PC_LOC_EXOTIC, 0);
}

enum cfa_op {
    CFA_NOP = 0x00,
    CFA_SET_LOC = 0x01,
    CFA_ADVANCE_LOC1 = 0x02,
    CFA_ADVANCE_LOC2 = 0x03,
    CFA_ADVANCE_LOC4 = 0x04,
    CFA_OFFSET_EXTENDED = 0x05,
    CFA_RESTORE_EXTENDED = 0x06,
    CFA_UNDEFINED = 0x07,
    CFA_SAME_VALUE = 0x08,
    CFA_REGISTER = 0x09,
    CFA_REMEMBER_STATE = 0x0a,
    CFA_RESTORE_STATE = 0x0b,
    CFA_DEF_CFA = 0x0c,
    CFA_DEF_CFA_REGISTER = 0x0d,
    CFA_DEF_CFA_OFFSET = 0x0e,
    CFA_DEF_CFA_EXPRESSION = 0x0f,
    CFA_EXPRESSION = 0x10,
    CFA_OFFSET_EXTENDED_SF = 0x11,
    CFA_DEF_CFA_SF = 0x12,
    CFA_DEF_CFA_OFFSET_SF = 0x13,
    CFA_VAL_OFFSET = 0x14,
    CFA_VAL_OFFSET_SF = 0x15,
    CFA_VAL_EXPRESSION = 0x16,
    CFA_NEGATE_RA_STATE_PC = 0x2c,
    CFA_NEGATE_RA_STATE = 0x2d,
    CFA_ARGS_SIZE = 0x2e,
    CFA_NEGATIVE_OFFSET_EXTENDED = 0x2f,
    CFA_ADVANCE_LOC = 0x40,
    CFA_OFFSET = 0x80,
    CFA_RESTORE = 0xc0
};

static void advance(struct execution *x, uint64_t n_units)
{
    x->at += n_units * x->cie->code_align;
}

static int64_t scaled(struct execution *x, uint64_t n)
{
    return (int64_t)(n * (uint64_t)x->cie->data_align);
}

static bool names_register(uint8_t op)
{
    return (op >= CFA_OFFSET_EXTENDED && op <= CFA_REGISTER) || op == CFA_EXPRESSION ||
           op == CFA_OFFSET_EXTENDED_SF || (op >= CFA_VAL_OFFSET && op <= CFA_VAL_EXPRESSION) ||
           op == CFA_NEGATIVE_OFFSET_EXTENDED;
}

/* Executes an instruction that says where a register is saved. */
static void execute_register(struct execution *x, uint8_t op)
{
    uint64_t reg = pc_read_uleb(&x->r);
    switch (op) {
    case CFA_OFFSET_EXTENDED:
        set_loc(x, reg, PC_LOC_CFA, scaled(x, pc_read_uleb(&x->r)));
        break;
    case CFA_OFFSET_EXTENDED_SF:
        set_loc(x, reg, PC_LOC_CFA, scaled(x, (uint64_t)pc_read_sleb(&x->r)));
        break;
    case CFA_NEGATIVE_OFFSET_EXTENDED:
        set_loc(x, reg, PC_LOC_CFA, scaled(x, -pc_read_uleb(&x->r)));
        break;
    case CFA_RESTORE_EXTENDED:
        restore_loc(x, reg);
        break;
    case CFA_UNDEFINED:
        set_loc(x, reg, PC_LOC_UNDEFINED, 0);
        break;
    case CFA_SAME_VALUE:
        set_loc(x, reg, PC_LOC_SAME, 0);
        break;
    case CFA_REGISTER:
        set_loc_by_register(x, reg, pc_read_uleb(&x->r));
        break;
    case CFA_EXPRESSION:
    case CFA_VAL_EXPRESSION:
        set_loc_by_expression(x, reg, op == CFA_VAL_EXPRESSION);
        break;
    default: /* val_offset: gives the value itself, not its address */
        pc_read_uleb(&x->r);
        set_loc(x, reg, PC_LOC_EXOTIC, 0);
    }
}

/* Executes an instruction that defines the CFA. False: op is none of them. */
static bool execute_cfa(struct execution *x, uint8_t op)
{
    struct pc_expr_value *cfa = &x->row.cfa;
    uint64_t reg;
    switch (op) {
    case CFA_DEF_CFA:
        reg = pc_read_uleb(&x->r);
        set_cfa(x, reg, (int64_t)pc_read_uleb(&x->r));
        return true;
    case CFA_DEF_CFA_SF:
        reg = pc_read_uleb(&x->r);
        set_cfa(x, reg, scaled(x, (uint64_t)pc_read_sleb(&x->r)));
        return true;
    case CFA_DEF_CFA_REGISTER:
        set_cfa(x, pc_read_uleb(&x->r), cfa->off);
        return true;
    case CFA_DEF_CFA_OFFSET:
        cfa->off = (int64_t)pc_read_uleb(&x->r);
        return true;
    case CFA_DEF_CFA_OFFSET_SF:
        cfa->off = scaled(x, (uint64_t)pc_read_sleb(&x->r));
        return true;
    case CFA_DEF_CFA_EXPRESSION:
        x->row.cfa_known =
            take_expression(x, false, cfa) && (cfa->base == PC_EXPR_SP || cfa->base == PC_EXPR_FP);
        return true;
    default:
        return false;
    }
}

/* Executes an instruction without a register: advances of the location, remember and restore,
 * extensions. */
static void execute_other(struct execution *x, uint8_t op)
{
    switch (op) {
    case CFA_NOP:
        break;
    case CFA_SET_LOC:
        x->at = read_encoded(&x->r, x->cie->fde_encoding, 0);
        break;
    case CFA_ADVANCE_LOC1:
        advance(x, pc_read_fixed(&x->r, 1));
        break;
    case CFA_ADVANCE_LOC2:
        advance(x, pc_read_fixed(&x->r, 2));
        break;
    case CFA_ADVANCE_LOC4:
        advance(x, pc_read_fixed(&x->r, 4));
        break;
    case CFA_REMEMBER_STATE:
        if (x->n_remembered < MAX_REMEMBERED)
            x->remembered[x->n_remembered++] = x->row;
        else
            x->failed = true;
        break;
    case CFA_RESTORE_STATE:
        if (x->n_remembered > 0)
            x->row = x->remembered[--x->n_remembered];
        else
            x->failed = true;
        break;
    case CFA_ARGS_SIZE:
        pc_read_uleb(&x->r);
        break;
#if defined __aarch64__
    case CFA_NEGATE_RA_STATE_PC:
    case CFA_NEGATE_RA_STATE:
        x->row.ra_signed = !x->row.ra_signed;
        break;
#endif
    default:
        x->failed = true;
    }
}

/* Runs until the row at x->pc stands or the code ends. */
static bool execute(struct execution *x)
{
    while (x->r.p < x->r.end && !x->failed) {
        uint8_t op = *x->r.p++;
        if ((op & 0xc0) == CFA_ADVANCE_LOC)
            advance(x, op & 0x3f);
        else if ((op & 0xc0) == CFA_OFFSET)
            set_loc(x, op & 0x3f, PC_LOC_CFA, scaled(x, pc_read_uleb(&x->r)));
        else if ((op & 0xc0) == CFA_RESTORE)
            restore_loc(x, op & 0x3f);
        else if (names_register(op))
            execute_register(x, op);
        else if (!execute_cfa(x, op))
            execute_other(x, op);
        if (x->at > x->pc)
            break;
    }
    return !x->failed && !x->r.bad;
}

/* ---- Turning the row into a rule ------------------------------------------------------------- */

/* True if the caller's sp is the CFA: nothing is said of it, or it was saved where the CFA was
 * read. */
static bool sp_is_cfa(const struct row *row)
{
    if (row->sp.kind == PC_LOC_SAME)
        return true;
    enum pc_rule_loc where = row->cfa.base == PC_EXPR_SP ? PC_LOC_SP : PC_LOC_FP;
    return row->cfa.deref && row->cfa.deref_off == 0 && row->sp.kind == where &&
           row->sp.off == row->cfa.off;
}

static bool fits(int64_t off)
{
    return off >= INT32_MIN && off <= INT32_MAX;
}

static bool make_rule(const struct row *row, bool signal, struct pc_rule *rule)
{
    const struct pc_expr_value *cfa = &row->cfa;
    bool by_fp = cfa->base == PC_EXPR_FP;
    rule->signal = signal;
    rule->ra_signed = row->ra_signed;
    rule->ra = row->ra.kind;
    rule->fp = fits(row->fp.off) ? row->fp.kind : PC_LOC_EXOTIC;
    if (row->ra.kind == PC_LOC_UNDEFINED) {
        rule->cfa = PC_CFA_SP; /* the outermost frame: not used */
        return true;
    }
    if (!row->cfa_known || !sp_is_cfa(row) || row->ra.kind == PC_LOC_EXOTIC || !fits(cfa->off) ||
        !fits(cfa->deref_off) || !fits(row->ra.off))
        return false;
#if defined __x86_64__
    if (row->ra.kind == PC_LOC_SAME) /* there is no link register */
        return false;
#endif
    rule->cfa_off = (int32_t)cfa->off;
    rule->deref_off = (int32_t)cfa->deref_off;
    rule->ra_off = (int32_t)row->ra.off;
    rule->fp_off = (int32_t)row->fp.off;
    rule->uses_fp = by_fp || rule->ra == PC_LOC_FP || rule->fp == PC_LOC_FP;
    if (cfa->base == PC_EXPR_REGISTER)
        rule->cfa = PC_CFA_REGISTER;
    else if (cfa->deref)
        rule->cfa = by_fp ? PC_CFA_FP_DEREF : PC_CFA_SP_DEREF;
    else
        rule->cfa = by_fp ? PC_CFA_FP : PC_CFA_SP;
    return true;
}

/* The row at pc, with the place of the register `wanted`. */
static bool find_row(const struct pc_cfi_image *image, uintptr_t pc, uint64_t wanted,
                     struct row *row_out, bool *signal_out)
{
    struct fde fde;
    if (!find_fde(image, pc, &fde))
        return false;
    struct execution x = {.r = fde.cie.code, .cie = &fde.cie, .pc = pc, .wanted = wanted};
    if (!execute(&x))
        return false;
    struct row initial = x.row;
    x.r = fde.code;
    x.initial = &initial;
    x.at = fde.begin;
    if (!execute(&x))
        return false;
    *row_out = x.row;
    *signal_out = fde.cie.signal;
    return true;
}

bool pc_cfi_rule(const struct pc_cfi_image *image, uintptr_t pc, struct pc_rule *rule_out)
{
    struct row row;
    bool signal;
    *rule_out = (struct pc_rule){.valid = 1};
    return find_row(image, pc, NO_REGISTER, &row, &signal) && make_rule(&row, signal, rule_out);
}

enum pc_rule_loc pc_cfi_register(const struct pc_cfi_image *image, uintptr_t pc, unsigned reg,
                                 int64_t *off_out)
{
    struct row row;
    bool signal;
    if (!find_row(image, pc, reg, &row, &signal) || signal)
        return PC_LOC_EXOTIC;
    *off_out = row.wanted.off;
    return row.wanted.kind;
}

uintptr_t pc_cfi_function_start(const struct pc_cfi_image *image, uintptr_t pc)
{
    struct fde fde;
    return find_fde(image, pc, &fde) ? fde.begin : 0;
}

#endif
