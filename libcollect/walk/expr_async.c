/* SPDX-License-Identifier: BSD-3-Clause
 *
 * DWARF expressions, evaluated with sp, fp and the CFA left symbolic: the result is a form that a
 * rule can hold, or nothing. The instruction pointer is a constant, because a rule belongs to one
 * program counter; by that the expression of a procedure linkage table becomes sp + 8 or sp + 16.
 *
 * Called by cfi_async.c. Every function of this file may run in a signal handler. No loop but the
 * one over the bytes of the expression: branches are not followed.
 */
#include "libcollect/walk/walk_private.h"

#if PC_WALK_KNOWN

#define MAX_DEPTH 16

enum op {
    OP_ADDR = 0x03,
    OP_DEREF = 0x06,
    OP_CONST1U = 0x08,
    OP_CONST8S = 0x0f,
    OP_CONSTU = 0x10,
    OP_CONSTS = 0x11,
    OP_DUP = 0x12,
    OP_DROP = 0x13,
    OP_OVER = 0x14,
    OP_PICK = 0x15,
    OP_SWAP = 0x16,
    OP_AND = 0x1a,
    OP_MINUS = 0x1c,
    OP_MUL = 0x1e,
    OP_NEG = 0x1f,
    OP_NOT = 0x20,
    OP_OR = 0x21,
    OP_PLUS = 0x22,
    OP_PLUS_UCONST = 0x23,
    OP_SHL = 0x24,
    OP_SHR = 0x25,
    OP_SHRA = 0x26,
    OP_XOR = 0x27,
    OP_EQ = 0x29,
    OP_GE = 0x2a,
    OP_GT = 0x2b,
    OP_LE = 0x2c,
    OP_LT = 0x2d,
    OP_NE = 0x2e,
    OP_LIT0 = 0x30,
    OP_LIT31 = 0x4f,
    OP_BREG0 = 0x70,
    OP_BREG31 = 0x8f,
    OP_BREGX = 0x92,
    OP_NOP = 0x96
};

struct machine {
    struct pc_reader r;
    struct pc_expr_value stack[MAX_DEPTH];
    int depth;
    bool failed;
    uintptr_t pc;
};

static void push(struct machine *m, struct pc_expr_value v)
{
    if (m->depth == MAX_DEPTH)
        m->failed = true;
    else
        m->stack[m->depth++] = v;
}

static void push_const(struct machine *m, int64_t n)
{
    push(m, (struct pc_expr_value){.off = n});
}

static struct pc_expr_value pop(struct machine *m)
{
    if (m->depth == 0) {
        m->failed = true;
        return (struct pc_expr_value){0};
    }
    return m->stack[--m->depth];
}

static void push_register(struct machine *m, uint64_t reg, int64_t off)
{
    struct pc_expr_value v = {.off = off};
    if (reg == PC_REG_SP)
        v.base = PC_EXPR_SP;
    else if (reg == PC_REG_FP)
        v.base = PC_EXPR_FP;
#if defined __x86_64__
    else if (reg == PC_REG_RA)
        v.off = (int64_t)((uint64_t)off + m->pc);
#endif
    else
        m->failed = true;
    push(m, v);
}

static void add_const(struct machine *m, struct pc_expr_value v, uint64_t n)
{
    int64_t *off = v.deref ? &v.deref_off : &v.off;
    *off = (int64_t)((uint64_t)*off + n);
    push(m, v);
}

static bool is_const(struct pc_expr_value v)
{
    return v.base == PC_EXPR_CONST && !v.deref;
}

static uint64_t fold(struct machine *m, uint8_t op, int64_t a, int64_t b)
{
    unsigned shift = (uint64_t)b < 64 ? (unsigned)b : 63;
    switch (op) {
    case OP_AND:
        return (uint64_t)(a & b);
    case OP_OR:
        return (uint64_t)(a | b);
    case OP_XOR:
        return (uint64_t)(a ^ b);
    case OP_MUL:
        return (uint64_t)a * (uint64_t)b;
    case OP_SHL:
        return (uint64_t)b < 64 ? (uint64_t)a << shift : 0;
    case OP_SHR:
        return (uint64_t)b < 64 ? (uint64_t)a >> shift : 0;
    case OP_SHRA:
        return (uint64_t)(a >> shift);
    case OP_EQ:
        return a == b;
    case OP_GE:
        return a >= b;
    case OP_GT:
        return a > b;
    case OP_LE:
        return a <= b;
    case OP_LT:
        return a < b;
    case OP_NE:
        return a != b;
    default:
        m->failed = true;
        return 0;
    }
}

static void binary(struct machine *m, uint8_t op)
{
    struct pc_expr_value b = pop(m), a = pop(m);
    if (op == OP_PLUS && is_const(b))
        add_const(m, a, (uint64_t)b.off);
    else if (op == OP_PLUS && is_const(a))
        add_const(m, b, (uint64_t)a.off);
    else if (op == OP_MINUS && is_const(b))
        add_const(m, a, -(uint64_t)b.off);
    else if (is_const(a) && is_const(b))
        push_const(m, (int64_t)fold(m, op, a.off, b.off));
    else
        m->failed = true;
}

static void unary(struct machine *m, uint8_t op)
{
    struct pc_expr_value v = pop(m);
    if (op == OP_DEREF && v.base != PC_EXPR_CONST && !v.deref) {
        v.deref = true;
        push(m, v);
    } else if (op == OP_PLUS_UCONST) {
        add_const(m, v, pc_read_uleb(&m->r));
    } else if (op == OP_NEG && is_const(v)) {
        push_const(m, (int64_t) - (uint64_t)v.off);
    } else if (op == OP_NOT && is_const(v)) {
        push_const(m, ~v.off);
    } else {
        m->failed = true;
    }
}

static void shuffle(struct machine *m, uint8_t op)
{
    if (op == OP_DROP) {
        pop(m);
        return;
    }
    if (op == OP_SWAP) {
        struct pc_expr_value b = pop(m), a = pop(m);
        push(m, b);
        push(m, a);
        return;
    }
    uint64_t at = op == OP_DUP ? 0 : op == OP_OVER ? 1 : pc_read_fixed(&m->r, 1);
    if (at >= (uint64_t)m->depth)
        m->failed = true;
    else
        push(m, m->stack[m->depth - 1 - (int)at]);
}

static void constant(struct machine *m, uint8_t op)
{
    if (op == OP_ADDR) {
        push_const(m, (int64_t)pc_read_fixed(&m->r, 8));
    } else if (op == OP_CONSTU) {
        push_const(m, (int64_t)pc_read_uleb(&m->r));
    } else if (op == OP_CONSTS) {
        push_const(m, pc_read_sleb(&m->r));
    } else { /* const1u, const1s, const2u, ... const8s */
        unsigned n_bytes = 1u << ((op - OP_CONST1U) / 2);
        uint64_t v = pc_read_fixed(&m->r, n_bytes);
        bool is_signed = (op - OP_CONST1U) % 2;
        unsigned unused = 64 - 8 * n_bytes;
        push_const(m, is_signed ? (int64_t)(v << unused) >> unused : (int64_t)v);
    }
}

static void execute(struct machine *m, uint8_t op)
{
    if (op >= OP_LIT0 && op <= OP_LIT31)
        push_const(m, op - OP_LIT0);
    else if (op >= OP_BREG0 && op <= OP_BREG31)
        push_register(m, op - OP_BREG0, pc_read_sleb(&m->r));
    else if (op == OP_ADDR || (op >= OP_CONST1U && op <= OP_CONSTS))
        constant(m, op);
    else if (op >= OP_DUP && op <= OP_SWAP)
        shuffle(m, op);
    else if (op == OP_DEREF || op == OP_NEG || op == OP_NOT || op == OP_PLUS_UCONST)
        unary(m, op);
    else if ((op >= OP_AND && op <= OP_XOR) || (op >= OP_EQ && op <= OP_NE))
        binary(m, op);
    else if (op == OP_BREGX) {
        uint64_t reg = pc_read_uleb(&m->r);
        push_register(m, reg, pc_read_sleb(&m->r));
    } else if (op != OP_NOP)
        m->failed = true;
}

bool pc_expr_evaluate(const uint8_t *code, size_t n, uintptr_t pc, bool on_cfa,
                      struct pc_expr_value *value_out)
{
    struct machine m = {.r = {code, code + n, false}, .pc = pc};
    if (on_cfa)
        push(&m, (struct pc_expr_value){.base = PC_EXPR_CFA});
    while (m.r.p < m.r.end && !m.failed)
        execute(&m, (uint8_t)pc_read_fixed(&m.r, 1));
    if (m.failed || m.r.bad || m.depth == 0)
        return false;
    *value_out = m.stack[m.depth - 1];
    return true;
}

#endif
