/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE 1

#include "watch/copied_walk.h"
#include "libcollect/walk/walk.h"

#include <linux/perf_event.h>
#include <string.h>
#include <ucontext.h>

#if defined __x86_64__
#include <asm/perf_regs.h>
enum { N_REGISTERS = 17, AT_SP = PERF_REG_X86_SP, AT_PC = PERF_REG_X86_IP };

/* Fills the context from registers in the order of the kernel's numbers, without flags and
 * segments. */
static void fill_context(ucontext_t *uc, const uint64_t *registers)
{
    static const uint8_t at[N_REGISTERS] = {REG_RAX, REG_RBX, REG_RCX, REG_RDX, REG_RSI, REG_RDI,
                                            REG_RBP, REG_RSP, REG_RIP, REG_R8,  REG_R9,  REG_R10,
                                            REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
    for (int i = 0; i < N_REGISTERS; i++)
        uc->uc_mcontext.gregs[at[i]] = (greg_t)registers[i];
}
#elif defined __aarch64__
#include <asm/perf_regs.h>
enum { N_REGISTERS = 33, AT_SP = PERF_REG_ARM64_SP, AT_PC = PERF_REG_ARM64_PC };

static void fill_context(ucontext_t *uc, const uint64_t *registers)
{
    for (int i = 0; i < 31; i++)
        uc->uc_mcontext.regs[i] = registers[i];
    uc->uc_mcontext.sp = registers[AT_SP];
    uc->uc_mcontext.pc = registers[AT_PC];
}
#else
enum { N_REGISTERS = 2, AT_SP = 0, AT_PC = 1 };

static void fill_context(ucontext_t *uc, const uint64_t *registers)
{
    (void)uc, (void)registers;
}
#endif

enum { MOST_STACK = 1 << 16 };

/* The copy of a stack, whose first byte was at `from`, and the registers, with stack addresses
 * changed to those of the copy. */
struct moved {
    uint64_t registers[N_REGISTERS];
    uint64_t stack[MOST_STACK / 8] __attribute__((aligned(16)));
    size_t n_stack; /* bytes */
};

static uint64_t move(const struct moved *m, uint64_t from, uint64_t word)
{
    return word - from <= m->n_stack ? word - from + (uint64_t)(uintptr_t)m->stack : word;
}

static void copy_stack(struct moved *m, const struct pct_ring_record *s)
{
    uint64_t from = s->registers[AT_SP];
    m->n_stack = from % 8 ? 0 : s->n_stack / 8 * 8;
    m->n_stack = m->n_stack < MOST_STACK ? m->n_stack : MOST_STACK;
    memcpy(m->stack, s->stack, m->n_stack);
    for (size_t i = 0; i < m->n_stack / 8; i++)
        m->stack[i] = move(m, from, m->stack[i]);
    for (int i = 0; i < N_REGISTERS; i++)
        m->registers[i] = move(m, from, s->registers[i]);
}

static bool read_copy(const struct pc_walk *walk, uintptr_t at, uintptr_t *out)
{
    if (at % sizeof *out || at < walk->stack.lo || at >= walk->stack.hi)
        return false;
    memcpy(out, (const void *)at, sizeof *out);
    return true;
}

/* Finds the return address of a function of Go without a frame, as those that call nothing have
 * none: it is on top of the stack, behind a call of the code that runs. Other calls than direct
 * ones on x86-64 are not found: the step by pointer then passes over the caller. */
static bool find_on_top(const struct pc_walk *walk, const struct pct_code *code, uintptr_t *ra)
{
#if defined __x86_64__
    enum { CALL = 0xe8, CALL_BYTES = 5, NEAR = 4096 };
    int32_t distance;
    if (!walk->exact || !walk->pc || !read_copy(walk, walk->sp, ra))
        return false;
    const uint8_t *call = (const void *)pct_code_here(code, *ra - CALL_BYTES);
    if (!call || pct_code_here(code, *ra - 1) != (uintptr_t)call + CALL_BYTES - 1 || *call != CALL)
        return false;
    memcpy(&distance, call + 1, sizeof distance);
    return walk->pc - ((uintptr_t)call + CALL_BYTES + (uintptr_t)(intptr_t)distance) < NEAR;
#else
    (void)walk, (void)code, (void)ra;
    return false;
#endif
}

/* Steps from code without a table to its caller, by the frame pointer: it points to the caller's,
 * above which the return address is. The outermost caller's is 0. */
static enum pc_step_result step_by_pointer(struct pc_walk *walk, const struct pct_code *code)
{
    uintptr_t fp = walk->fp, ra;
    if (find_on_top(walk, code, &ra)) {
        walk->sp += sizeof ra;
        walk->pc = ra;
        walk->exact = false;
        return PC_STEP_OK;
    }
    if (walk->fp_loc && !read_copy(walk, walk->fp_loc, &fp))
        return PC_STEP_CUT;
    if (!fp)
        return PC_STEP_END;
    if (fp < walk->sp || !read_copy(walk, fp + sizeof fp, &ra) ||
        (!pct_code_here(code, ra - 1) && !pct_code_is_made(code, ra - 1)))
        return PC_STEP_CUT;
    walk->fp_loc = fp;
    walk->sp = fp + 2 * sizeof fp;
    walk->lr = 0;
    walk->pc = ra;
    walk->exact = false;
    return PC_STEP_OK;
}

/* True if a frame whose caller the unwind tables do not tell is taken to keep a frame pointer: made
 * code and that of Go, and in a process that makes code also functions of files without a table, as
 * a machine for scripts has them beside its made code. */
static bool has_pointer(const struct pc_walk *walk, const struct pct_code *code, uint64_t there)
{
    return pct_code_has_pointers(code, there) ||
           (walk->pc && code->makes && !pc_walk_function_start(walk->pc - !walk->exact));
}

size_t pct_copied_walk(const struct pct_ring_record *sample, const struct pct_code *code,
                       struct pct_walked *out, size_t n, bool *cut)
{
    static struct moved moved;
    ucontext_t context;
    struct pc_walk walk;
    struct pc_step step;
    size_t k = 0;
    uint64_t there = sample->registers[AT_PC];
    memset(&context, 0, sizeof context);
    copy_stack(&moved, sample);
    moved.registers[AT_PC] = pct_code_here(code, there);
    fill_context(&context, moved.registers);
    uintptr_t lo = (uintptr_t)moved.stack;
    pc_walk_from_context(&walk, &context, (struct pc_stack){lo, lo + moved.n_stack});
    walk.copied = true;
    *cut = true;
    while (k < n) {
        out[k++] = (struct pct_walked){walk.pc, there, walk.exact};
        enum pc_step_result result = walk.pc ? pc_walk_step(&walk, &step) : PC_STEP_CUT;
        if (result == PC_STEP_CUT && has_pointer(&walk, code, there - !walk.exact))
            result = step_by_pointer(&walk, code);
        *cut = result != PC_STEP_END;
        if (result != PC_STEP_OK)
            break;
        there = walk.pc;
        uintptr_t here = pct_code_here(code, there - !walk.exact);
        walk.pc = here ? here + !walk.exact : 0;
        walk.context = NULL; /* its code addresses are the other process's */
    }
    return k;
}
